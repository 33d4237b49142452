"""Pinocchio: joint coordinates of a spanning tree, articulated-body algorithm; loops by its proximal `constraintDynamics` with
Baumgarte's correction. It has no integrator, so classical RK4 is written here; Python's share of the time is part of what a user
of the wheel pays.

Options: `h` step; `kp` gain of the correction (1e4).
"""

import numpy as np
import pinocchio as pin

from problems import GROUND


class Model:
    def __init__(self, mechanism, options):
        self.mechanism = mechanism
        order, loops = mechanism.spanning_tree()
        m = self.m = pin.Model()
        m.gravity.linear, m.gravity.angular = np.array(mechanism.gravity), np.zeros(3)
        self.id, self.frame = {GROUND: 0}, {GROUND: (np.eye(3), np.zeros(3))}
        for k, parent, child in order:
            joint, b = mechanism.joints[k], mechanism.bodies[child]
            R, p = self.frame[parent]
            kind = pin.JointModelRZ() if joint.kind == "revolute" else pin.JointModelSpherical()
            number = m.addJoint(self.id[parent], kind, pin.SE3(R.T @ b.R, R.T @ (joint.point - p)), f"j{child}")
            inertia = pin.Inertia(b.mass, np.zeros(3), np.diag(b.inertia))
            m.appendBodyToJoint(number, inertia, pin.SE3(np.eye(3), b.R.T @ (b.p - joint.point)))
            self.id[child], self.frame[child] = number, (b.R, joint.point)
        self.d = m.createData()
        self.q, self.v, self.tau = pin.neutral(m), np.zeros(m.nv), np.zeros(m.nv)
        for k, parent, child in order:
            slot = m.joints[self.id[child]]
            turning = mechanism.bodies[child].R.T @ (mechanism.omega(child) - mechanism.omega(parent))
            self.v[slot.idx_v : slot.idx_v + slot.nv] = turning[2:] if slot.nv == 1 else turning
        if mechanism.torque:
            body, torque = mechanism.torque
            self.tau[m.joints[self.id[body]].idx_v] = torque
        self.constraints = pin.StdVec_RigidConstraintModel()
        kp = options.get("kp", 1e4)
        for k in loops:
            joint = mechanism.joints[k]
            ends = []
            for body in (joint.first, joint.second):
                R, p = self.frame[body]
                ends += [self.id[body], pin.SE3(np.eye(3), R.T @ (joint.point - p))]
            constraint = pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, m, *ends, pin.ReferenceFrame.LOCAL)
            constraint.setBaumgarteCorrectorParameters(pin.BaumgarteCorrectorParameters(kp, 2 * np.sqrt(kp)))
            self.constraints.append(constraint)
        self.constraint_data = pin.StdVec_RigidConstraintData()
        for constraint in self.constraints:
            self.constraint_data.append(constraint.createData())
        if loops:
            pin.initConstraintDynamics(m, self.d, self.constraints, self.constraint_data)
        self.proximal = pin.ProximalSettings(1e-12, 1e-10, 10)

    def centre(self, data, body):
        R, p = self.frame[body]
        return data.oMi[self.id[body]].act(R.T @ (self.mechanism.bodies[body].p - p))

    def end(self, body, point):
        """A point fixed to a body, given at the start, where the body is now."""
        if body == GROUND:
            return np.asarray(point)
        R, p = self.frame[body]
        return self.d.oMi[self.id[body]].act(R.T @ (point - p))

    def spring_torque(self, q):
        total = np.zeros(self.m.nv)
        pin.forwardKinematics(self.m, self.d, q)
        for s in self.mechanism.springs:
            ends = [self.end(b, x) for b, x in zip((s.first, s.second), s.ends)]
            along = ends[1] - ends[0]
            length = np.linalg.norm(along)
            pull = s.stiffness * (length - s.rest) * along / length
            for body, end, force in ((s.first, ends[0], pull), (s.second, ends[1], -pull)):
                if body != GROUND:
                    X = self.d.oMi[self.id[body]]
                    jacobian = pin.computeJointJacobian(self.m, self.d, q, self.id[body])
                    local = X.rotation.T @ force
                    arm = X.rotation.T @ (end - X.translation)
                    total += jacobian.T @ np.concatenate([local, np.cross(arm, local)])
        return total

    def acceleration(self, q, v):
        tau = self.tau + self.spring_torque(q) if self.mechanism.springs else self.tau
        if len(self.constraints) == 0:
            return pin.aba(self.m, self.d, q, v, tau).copy()
        return pin.constraintDynamics(
            self.m, self.d, q, v, tau, self.constraints, self.constraint_data, self.proximal).copy()

    def step(self, h):
        m, q, v = self.m, self.q, self.v
        a1 = self.acceleration(q, v)
        v2 = v + h / 2 * a1
        a2 = self.acceleration(pin.integrate(m, q, h / 2 * v), v2)
        v3 = v + h / 2 * a2
        a3 = self.acceleration(pin.integrate(m, q, h / 2 * v2), v3)
        v4 = v + h * a3
        a4 = self.acceleration(pin.integrate(m, q, h * v3), v4)
        self.q = pin.integrate(m, q, h / 6 * (v + 2 * v2 + 2 * v3 + v4))
        self.v = v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)


def simulate(mechanism, options, clock):
    model = Model(mechanism, options)
    steps = round(mechanism.t_end / options["h"])
    with clock:
        for _ in range(steps):
            model.step(options["h"])
    data = model.m.createData()
    pin.forwardKinematics(model.m, data, model.q)
    positions = [model.centre(data, i) for i in range(len(mechanism.bodies))]
    return dict(positions=positions, steps=steps)
