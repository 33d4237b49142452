"""MuJoCo: joint coordinates of a spanning tree, the other joints as soft `connect` equalities, RK4.

Options: `h` step; `solref`, `solimp` of the equalities. With its defaults the loops are soft springs that stand open by
millimetres; `cases.py` gives the stiffest that stay stable, which is what makes MuJoCo accurate on loops.
"""

import sys

import mujoco as mj
import numpy as np

from mechanism import GROUND, quaternion

sys.setrecursionlimit(100_000)
SLIDE, HINGE = mj.mjtJoint.mjJNT_SLIDE, mj.mjtJoint.mjJNT_HINGE
KINDS = dict(revolute=[HINGE], prismatic=[SLIDE], cylindrical=[SLIDE, HINGE], spherical=[mj.mjtJoint.mjJNT_BALL])


def build(mechanism, options):
    order, loops = mechanism.spanning_tree()
    spec = mj.MjSpec()
    spec.option.timestep = options["h"]
    spec.option.gravity = mechanism.gravity
    spec.option.integrator = mj.mjtIntegrator.mjINT_RK4
    spec.option.iterations, spec.option.tolerance = 100, 1e-12
    spec.option.disableflags |= mj.mjtDisableBit.mjDSBL_CONTACT
    bodies = {GROUND: spec.worldbody}
    for k, parent, child in order:
        joint, b = mechanism.joints[k], mechanism.bodies[child]
        R, p = mechanism.pose(parent)
        bodies[child] = bodies[parent].add_body(
            name=f"b{child}", pos=R.T @ (b.p - p), quat=quaternion(R.T @ b.R), mass=b.mass, ipos=[0, 0, 0], iquat=[1, 0, 0, 0],
            inertia=b.inertia, explicitinertial=True)
        for part, kind in enumerate(KINDS[joint.kind]):
            bodies[child].add_joint(name=f"j{child}" + "x" * part, type=kind, pos=b.local(joint.point), axis=b.R.T @ joint.axis)
    for k in loops:
        joint = mechanism.joints[k]
        assert joint.kind == "spherical" or mechanism.planar
        first, second = (joint.first, joint.second) if joint.second != GROUND else (joint.second, joint.first)
        equality = spec.add_equality(type=mj.mjtEq.mjEQ_CONNECT, objtype=mj.mjtObj.mjOBJ_BODY)
        equality.name1 = f"b{second}"
        equality.name2 = "world" if first == GROUND else f"b{first}"
        data = np.zeros_like(equality.data)
        data[:3] = mechanism.local(second, joint.point)
        equality.data = data
        for key in ("solref", "solimp"):
            if key in options:
                setattr(equality, key, [float(x) for x in options[key].split(",")])
    for k, s in enumerate(mechanism.springs):
        tendon = spec.add_tendon(name=f"t{k}", stiffness=s.stiffness, springlength=[s.rest, s.rest])
        for side, (body, point) in enumerate(zip((s.first, s.second), s.ends)):
            (spec.worldbody if body == GROUND else bodies[body]).add_site(name=f"s{k}{side}", pos=mechanism.local(body, point))
            tendon.wrap_site(f"s{k}{side}")
    model = spec.compile()
    data = mj.MjData(model)
    for k, parent, child in order:
        first = model.jnt_dofadr[model.joint(f"j{child}").id]
        turning, kind = mechanism.turning(parent, child), mechanism.joints[k].kind
        if kind == "revolute":
            data.qvel[first] = turning @ mechanism.joints[k].axis
        elif kind == "spherical":
            data.qvel[first : first + 3] = mechanism.bodies[child].R.T @ turning
    for body, force in mechanism.forces:
        data.xfrc_applied[model.body(f"b{body}").id, :3] = force
    if mechanism.torque:
        body, torque = mechanism.torque
        data.qfrc_applied[model.jnt_dofadr[model.joint(f"j{body}").id]] = torque
    return model, data


def simulate(mechanism, options, times, clock):
    model, data = build(mechanism, options)
    ids = [model.body(f"b{i}").id for i in range(len(mechanism.bodies))]
    done, poses = 0, []
    for t in times:
        steps = round(t / options["h"])
        with clock:
            mj.mj_step(model, data, steps - done)
        done = steps
        mj.mj_kinematics(model, data)
        poses.append((data.xpos[ids].copy(), data.xmat[ids].reshape(-1, 3, 3).copy()))
    return dict(poses=poses, steps=done)
