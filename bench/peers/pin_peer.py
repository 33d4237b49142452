"""Pinocchio: joint coordinates of a spanning tree, articulated-body algorithm; loops by its proximal `constraintDynamics` with
Baumgarte's correction. It has no integrator, so classical RK4 is written here; Python's share of the time is part of what a user
of the wheel pays.

Options: `h` step; `kp` gain of the correction (1e4); `plain`: 1 takes ball joints as if rotations commuted within a step: cheaper, of lower order.
"""

import numpy as np
import pinocchio as pin

from mechanism import GROUND


def joint_model(joint, R):
    """A joint in the axes of the child at the start."""
    axis = R.T @ joint.axis
    if joint.kind == "spherical":
        return pin.JointModelSpherical()
    if joint.kind == "revolute":
        return pin.JointModelRZ() if np.allclose(axis, [0, 0, 1]) else pin.JointModelRevoluteUnaligned(axis)
    if joint.kind == "prismatic":
        return pin.JointModelPrismaticUnaligned(axis)
    both = pin.JointModelComposite(pin.JointModelPrismaticUnaligned(axis))
    both.addJoint(pin.JointModelRevoluteUnaligned(axis))
    return both


def cross(a, b):
    return a[:, [1, 2, 0]] * b[:, [2, 0, 1]] - a[:, [2, 0, 1]] * b[:, [1, 2, 0]]


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
            number = m.addJoint(self.id[parent], joint_model(joint, b.R), pin.SE3(R.T @ b.R, R.T @ (joint.point - p)), f"j{child}")
            inertia = pin.Inertia(b.mass, np.zeros(3), np.diag(b.inertia))
            m.appendBodyToJoint(number, inertia, pin.SE3(np.eye(3), b.R.T @ (b.p - joint.point)))
            self.id[child], self.frame[child] = number, (b.R, joint.point)
        self.loaded = bool(mechanism.springs or mechanism.forces)
        if self.loaded:
            self.m2 = m.copy()
            self.d2 = self.m2.createData()
            m.gravity.linear = np.zeros(3)
        points = [(b, x) for s in mechanism.springs for b, x in zip((s.first, s.second), s.ends)] + [(b, mechanism.bodies[b].p) for b, _ in mechanism.forces]
        self.arms = {(b, tuple(x)): self.frame[b][0].T @ (x - self.frame[b][1]) for b, x in points}
        self.d = m.createData()
        self.q, self.v, self.tau = pin.neutral(m), np.zeros(m.nv), np.zeros(m.nv)
        for k, parent, child in order:
            slot = m.joints[self.id[child]]
            joint, turning = mechanism.joints[k], mechanism.turning(parent, child)
            if joint.kind == "revolute":
                self.v[slot.idx_v] = turning @ joint.axis
            elif joint.kind == "spherical":
                self.v[slot.idx_v : slot.idx_v + 3] = mechanism.bodies[child].R.T @ turning
        balls = [] if options.get("plain") else [child for k, _, child in order if mechanism.joints[k].kind == "spherical"]
        self.balls = np.array([m.joints[self.id[c]].idx_v + np.arange(3) for c in balls], int)
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

    def place(self, data, body, point):
        """A point fixed to a body, given at the start, where the body is now."""
        return np.asarray(point) if body == GROUND else data.oMi[self.id[body]].act(self.arms[body, tuple(point)])

    def load(self, body, place, force):
        if body != GROUND:
            X = self.d2.oMi[self.id[body]]
            self.outside[self.id[body]] += X.actInv(pin.Force(force, np.cross(place, force)))

    def loads(self, q):
        """Weight, springs and forces at once, as joint torques: the opposite of what would hold the mechanism still."""
        self.outside = pin.StdVec_Force([pin.Force.Zero() for _ in range(self.m.njoints)])
        pin.forwardKinematics(self.m2, self.d2, q)
        for body, force in self.mechanism.forces:
            self.load(body, self.place(self.d2, body, self.mechanism.bodies[body].p), force)
        for s in self.mechanism.springs:
            ends = [self.place(self.d2, b, x) for b, x in zip((s.first, s.second), s.ends)]
            along = ends[1] - ends[0]
            length = np.sqrt(along @ along)
            pull = s.stiffness * (1 - s.rest / length) * along
            self.load(s.first, ends[0], pull)
            self.load(s.second, ends[1], -pull)
        return self.tau - pin.computeStaticTorque(self.m2, self.d2, q, self.outside)

    def acceleration(self, q, v):
        tau = self.loads(q) if self.loaded else self.tau
        if len(self.constraints) == 0:
            return pin.aba(self.m, self.d, q, v, tau).copy()
        return pin.constraintDynamics(
            self.m, self.d, q, v, tau, self.constraints, self.constraint_data, self.proximal).copy()

    def rate(self, u, v):
        """Rate of u, where a ball joint has turned by exp(u) since the start of the step: v + ½ u × v + ¹⁄₁₂ u × (u × v)."""
        if len(self.balls) == 0:
            return v
        first = cross(u[self.balls], v[self.balls])
        rate = v.copy()
        rate[self.balls] += first / 2 + cross(u[self.balls], first) / 12
        return rate

    def step(self, h):
        """Classical RK4, on the rotation group for ball joints (Munthe-Kaas)."""
        m, q, v = self.m, self.q, self.v
        u1, a1 = v, self.acceleration(q, v)
        v2, u = v + h / 2 * a1, h / 2 * u1
        u2, a2 = self.rate(u, v2), self.acceleration(pin.integrate(m, q, u), v2)
        v3, u = v + h / 2 * a2, h / 2 * u2
        u3, a3 = self.rate(u, v3), self.acceleration(pin.integrate(m, q, u), v3)
        v4, u = v + h * a3, h * u3
        u4, a4 = self.rate(u, v4), self.acceleration(pin.integrate(m, q, u), v4)
        self.q = pin.integrate(m, q, h / 6 * (u1 + 2 * u2 + 2 * u3 + u4))
        self.v = v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)


def simulate(mechanism, options, times, clock):
    model = Model(mechanism, options)
    done, poses, data = 0, [], model.m.createData()
    for t in times:
        steps = round(t / options["h"])
        with clock:
            for _ in range(steps - done):
                model.step(options["h"])
        done = steps
        pin.forwardKinematics(model.m, data, model.q)
        n = range(len(mechanism.bodies))
        poses.append(([model.centre(data, i) for i in n], [data.oMi[model.id[i]].rotation.copy() for i in n]))
    return dict(poses=poses, steps=done)
