"""MuJoCo and PyBullet on what `contact.py` lets fall: balls in a box, and a chain of capsules over a floor.

Each function takes a `Scene` and a step, and returns processor time of the loop, steps, the sum over the steps of the number of places that
touch, the deepest overlap at the end [m] and the mean height [m]. Balls of density 1000 kg/m³, friction 0.3 everywhere.
"""

import time

import numpy as np


def mujoco(scene, h):
    """Soft contacts of its own, default solver and cone; a chain as free bodies with `connect` equalities, since a tree 1000 deep
    makes its mass matrix dense."""
    import mujoco as mj

    spec = mj.MjSpec()
    spec.option.timestep = h
    spec.memory = 2**31
    for normal, offset in scene.walls:
        turn = np.zeros(4)
        mj.mju_quatZ2Vec(turn, np.array(normal, float))
        geom = spec.worldbody.add_geom(type=mj.mjtGeom.mjGEOM_PLANE, size=[1, 1, 1], friction=[scene.mu, 0, 0])
        geom.pos, geom.quat = np.array(normal) * offset, turn
    bodies = []
    for p in scene.centres:
        body = spec.worldbody.add_body(name=f"b{len(bodies)}", pos=p)
        body.add_freejoint()
        if scene.half:
            body.add_geom(type=mj.mjtGeom.mjGEOM_CAPSULE, fromto=[-scene.half, 0, 0, scene.half, 0, 0], size=[scene.radius, 0, 0],
                          density=1000, friction=[scene.mu, 0, 0])
        else:
            body.add_geom(type=mj.mjtGeom.mjGEOM_SPHERE, size=[scene.radius, 0, 0], density=1000, friction=[scene.mu, 0, 0])
        bodies.append(body)
    if scene.half:
        for i in range(1, len(bodies)):
            equality = spec.add_equality(type=mj.mjtEq.mjEQ_CONNECT, objtype=mj.mjtObj.mjOBJ_BODY)
            equality.name1, equality.name2 = f"b{i}", f"b{i - 1}"
            data = np.zeros_like(equality.data)
            data[:3] = [-scene.half, 0, 0]
            equality.data = data
            spec.add_exclude(bodyname1=f"b{i - 1}", bodyname2=f"b{i}")
    model = spec.compile()
    data = mj.MjData(model)
    steps, places = round(scene.t_end / h), 0
    begin = time.process_time()
    for _ in range(steps):
        mj.mj_step(model, data)
        places += data.ncon
    cpu = time.process_time() - begin
    deepest = max(0.0, -min(data.contact.dist, default=0.0))
    return dict(cpu_s=cpu, steps=steps, places=places, deepest=deepest, height=float(np.mean(data.xpos[1:, 2])))


def pybullet(scene, h):
    """Rigid contacts by its sequential impulses, its default 50 iterations; a chain of free bodies with point constraints."""
    import pybullet as pb

    world = pb.connect(pb.DIRECT)
    try:
        pb.setGravity(0, 0, -9.81)
        pb.setTimeStep(h)
        for normal, offset in scene.walls:
            shape = pb.createCollisionShape(pb.GEOM_PLANE, planeNormal=normal)
            wall = pb.createMultiBody(0, shape, basePosition=list(np.array(normal) * offset))
            pb.changeDynamics(wall, -1, lateralFriction=scene.mu)
        volume = 4 / 3 * np.pi * scene.radius**3 + 2 * scene.half * np.pi * scene.radius**2
        if scene.half:
            shape = pb.createCollisionShape(pb.GEOM_CAPSULE, radius=scene.radius, height=2 * scene.half,
                                            collisionFrameOrientation=pb.getQuaternionFromEuler([0, np.pi / 2, 0]))
        else:
            shape = pb.createCollisionShape(pb.GEOM_SPHERE, radius=scene.radius)
        bodies = [pb.createMultiBody(1000 * volume, shape, basePosition=list(p)) for p in scene.centres]
        for body in bodies:
            pb.changeDynamics(body, -1, lateralFriction=1.0, linearDamping=0, angularDamping=0)
        if scene.half:
            for a, b in zip(bodies, bodies[1:]):
                pb.createConstraint(a, -1, b, -1, pb.JOINT_POINT2POINT, [0, 0, 0], [scene.half, 0, 0], [-scene.half, 0, 0])
                pb.setCollisionFilterPair(a, b, -1, -1, 0)
        steps = round(scene.t_end / h)
        # counting places costs far more than a step: it is done now and then, outside the clock
        every, cpu, seen = max(1, steps // 20), 0.0, []
        for k in range(steps):
            begin = time.process_time()
            pb.stepSimulation()
            cpu += time.process_time() - begin
            if k % every == 0 or k == steps - 1:
                seen.append([c[8] for c in pb.getContactPoints()])
        places = round(steps * float(np.mean([sum(d <= 0 for d in s) for s in seen])))
        deepest = max(0.0, -min(seen[-1], default=0.0))
        height = float(np.mean([pb.getBasePositionAndOrientation(b)[0][2] for b in bodies]))
        return dict(cpu_s=cpu, steps=steps, places=places, deepest=deepest, height=height)
    finally:
        pb.disconnect(world)
