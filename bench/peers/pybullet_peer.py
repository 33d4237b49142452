"""PyBullet: joint coordinates of a spanning tree (at most 127 links, more are left out in silence), loops by point-to-point
constraints, semi-implicit Euler. It has no springs between points, no cylindrical joints.

Options: `h` step; `iterations` of its solver (200).
"""

import numpy as np
import pybullet as pb

from mechanism import GROUND, quaternion

KINDS = dict(revolute=pb.JOINT_REVOLUTE, spherical=pb.JOINT_SPHERICAL, prismatic=pb.JOINT_PRISMATIC)


def scalar_last(R):
    w, x, y, z = quaternion(R)
    return [x, y, z, w]


def build(mechanism, options):
    order, loops = mechanism.spanning_tree()
    assert not mechanism.springs and not mechanism.forces
    pb.resetSimulation()
    pb.setGravity(*map(float, mechanism.gravity))
    pb.setPhysicsEngineParameter(
        fixedTimeStep=options["h"], numSubSteps=0, numSolverIterations=int(options.get("iterations", 200)), solverResidualThreshold=0)
    link, frames, of = {GROUND: -1}, {GROUND: (np.eye(3), np.zeros(3))}, {key: [] for key in (
        "linkMasses", "linkPositions", "linkOrientations", "linkInertialFramePositions", "linkParentIndices", "linkJointTypes", "linkJointAxis")}
    for number, (k, parent, child) in enumerate(order):
        joint, b = mechanism.joints[k], mechanism.bodies[child]
        R, o = frames[parent]
        link[child], frames[child] = number, (b.R, joint.point)
        of["linkMasses"].append(b.mass)
        of["linkPositions"].append(list(R.T @ (joint.point - o)))
        of["linkOrientations"].append(scalar_last(R.T @ b.R))
        of["linkInertialFramePositions"].append(list(b.R.T @ (b.p - joint.point)))
        of["linkParentIndices"].append(link[parent] + 1)
        of["linkJointTypes"].append(KINDS[joint.kind])
        of["linkJointAxis"].append(list(b.R.T @ joint.axis))
    n = len(order)
    body = pb.createMultiBody(
        0, -1, -1, [0, 0, 0], [0, 0, 0, 1], linkCollisionShapeIndices=[-1] * n, linkVisualShapeIndices=[-1] * n,
        linkInertialFrameOrientations=[[0, 0, 0, 1]] * n, **of)
    if pb.getNumJoints(body) != n:
        raise RuntimeError(f"it made {pb.getNumJoints(body)} of {n} links")
    pb.changeDynamics(body, -1, linearDamping=0, angularDamping=0)
    for k, parent, child in order:
        joint, b, number = mechanism.joints[k], mechanism.bodies[child], link[child]
        pb.changeDynamics(
            body, number, localInertiaDiagonal=list(map(float, b.inertia)), linearDamping=0, angularDamping=0, jointDamping=0)
        turning = mechanism.turning(parent, child)
        if joint.kind == "spherical":
            pb.resetJointStateMultiDof(body, number, [0, 0, 0, 1], list(b.R.T @ turning))
            pb.setJointMotorControlMultiDof(
                body, number, pb.POSITION_CONTROL, targetPosition=[0, 0, 0, 1], targetVelocity=[0, 0, 0], positionGain=0, velocityGain=0,
                force=[0, 0, 0])
        else:
            pb.resetJointState(body, number, 0.0, float(turning @ joint.axis) if joint.kind == "revolute" else 0.0)
            pb.setJointMotorControl2(body, number, pb.VELOCITY_CONTROL, force=0)
    for k in loops:
        j = mechanism.joints[k]
        ends = [list(mechanism.local(b, j.point)) for b in (j.first, j.second)]
        closed = pb.createConstraint(body, link[j.first], body, link[j.second], pb.JOINT_POINT2POINT, [0, 0, 0], *ends)
        pb.changeConstraint(closed, maxForce=1e10)
    return body, link


def simulate(mechanism, options, times, clock):
    client = pb.connect(pb.DIRECT)
    body, link = build(mechanism, options)
    n, done, poses = len(mechanism.bodies), 0, []
    for t in times:
        steps = round(t / options["h"])
        with clock:
            for _ in range(steps - done):
                if mechanism.torque:
                    pb.setJointMotorControl2(body, link[mechanism.torque[0]], pb.TORQUE_CONTROL, force=mechanism.torque[1])
                pb.stepSimulation()
        done = steps
        states = pb.getLinkStates(body, [link[i] for i in range(n)], computeForwardKinematics=1)
        R = [np.reshape(pb.getMatrixFromQuaternion(s[1]), (3, 3)) for s in states]
        poses.append((np.array([s[0] for s in states]), np.array(R)))
    pb.disconnect(client)
    return dict(poses=poses, steps=done)
