"""MuJoCo: joint coordinates of a spanning tree, the other joints as soft `connect` equalities, RK4.

Options: `h` step; `solref`, `solimp` of the equalities. With its defaults the loops are soft springs that stand open by
millimetres; `cases.py` gives the stiffest that stay stable, which is what makes MuJoCo accurate on loops.
"""

import sys

import mujoco as mj
import numpy as np

from problems import GROUND

sys.setrecursionlimit(100_000)


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
        quat = np.zeros(4)
        mj.mju_mat2Quat(quat, (R.T @ b.R).ravel())
        bodies[child] = bodies[parent].add_body(
            name=f"b{child}", pos=R.T @ (b.p - p), quat=quat, mass=b.mass, ipos=[0, 0, 0], iquat=[1, 0, 0, 0],
            inertia=b.inertia, explicitinertial=True)
        kind = mj.mjtJoint.mjJNT_HINGE if joint.kind == "revolute" else mj.mjtJoint.mjJNT_BALL
        bodies[child].add_joint(name=f"j{child}", type=kind, pos=b.local(joint.point), axis=b.R.T @ [0, 0, 1])
    for k in loops:
        joint = mechanism.joints[k]
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
            bodies[body].add_site(name=f"s{k}{side}", pos=mechanism.local(body, point))
            tendon.wrap_site(f"s{k}{side}")
    model = spec.compile()
    data = mj.MjData(model)
    for k, parent, child in order:
        first = model.jnt_dofadr[model.joint(f"j{child}").id]
        turning = mechanism.bodies[child].R.T @ (mechanism.omega(child) - mechanism.omega(parent))
        if mechanism.joints[k].kind == "revolute":
            data.qvel[first] = turning[2]
        else:
            data.qvel[first : first + 3] = turning
    if mechanism.torque:
        body, torque = mechanism.torque
        data.qfrc_applied[model.jnt_dofadr[model.joint(f"j{body}").id]] = torque
    return model, data


def simulate(mechanism, options, clock):
    model, data = build(mechanism, options)
    steps = round(mechanism.t_end / options["h"])
    with clock:
        mj.mj_step(model, data, steps)
    mj.mj_kinematics(model, data)
    positions = [data.xpos[model.body(f"b{i}").id] for i in range(len(mechanism.bodies))]
    return dict(positions=positions, steps=steps)
