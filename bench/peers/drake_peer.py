"""Drake: joint coordinates of a spanning tree. Trees are continuous, with error control: `integrator` (`runge_kutta3`, `runge_kutta5`,
`bogacki_shampine3`, …) and `rtol`, its accuracy. Loops are closed by ball constraints, which the discrete plant with the SAP solver
holds (`h` step, first order).
"""

import numpy as np
from pydrake.common.value import Value
from pydrake.math import RigidTransform, RotationMatrix
from pydrake.multibody.math import SpatialForce
from pydrake.multibody import tree
from pydrake.multibody.plant import DiscreteContactApproximation, ExternallyAppliedSpatialForce, MultibodyPlant
from pydrake.systems.analysis import ResetIntegratorFromFlags, Simulator

from mechanism import GROUND


def build(mechanism, options):
    order, loops = mechanism.spanning_tree()
    plant = MultibodyPlant(options["h"] if "h" in options else 0.0)
    plant.mutable_gravity_field().set_gravity_vector(mechanism.gravity)
    if "h" in options:
        plant.set_discrete_contact_approximation(DiscreteContactApproximation.kSap)
    bodies, joints, made = {GROUND: plant.world_body()}, {}, 0
    for i, b in enumerate(mechanism.bodies):
        inertia = tree.SpatialInertia(b.mass, np.zeros(3), tree.UnitInertia(*(b.inertia / b.mass)))
        bodies[i] = plant.AddRigidBody(f"b{i}", inertia)

    def frame(body, point, label):
        turned = RotationMatrix(mechanism.pose(body)[0].T)  # along the world's axes at the start
        return plant.AddFrame(tree.FixedOffsetFrame(label, bodies[body], RigidTransform(turned, mechanism.local(body, point))))

    for k, parent, child in order:
        joint = mechanism.joints[k]
        ends = frame(parent, joint.point, f"p{child}"), frame(child, joint.point, f"c{child}")
        if joint.kind == "cylindrical":  # a slide and a hinge, with a body between them that weighs nothing
            between = plant.AddRigidBody(f"between{child}", tree.SpatialInertia(0.0, np.zeros(3), tree.UnitInertia(0, 0, 0)))
            plant.AddJoint(tree.PrismaticJoint(f"slide{child}", ends[0], between.body_frame(), joint.axis))
            joints[child] = plant.AddJoint(tree.RevoluteJoint(f"j{child}", between.body_frame(), ends[1], joint.axis))
        elif joint.kind == "spherical":
            joints[child] = plant.AddJoint(tree.BallRpyJoint(f"j{child}", *ends))
        else:
            kind = tree.RevoluteJoint if joint.kind == "revolute" else tree.PrismaticJoint
            joints[child] = plant.AddJoint(kind(f"j{child}", *ends, joint.axis))
    for k in loops:
        j = mechanism.joints[k]
        plant.AddBallConstraint(bodies[j.first], mechanism.local(j.first, j.point), bodies[j.second], mechanism.local(j.second, j.point))
    for s in mechanism.springs:
        (a, x), (b, y) = ((b, mechanism.local(b, x)) for b, x in zip((s.first, s.second), s.ends))
        plant.AddForceElement(tree.LinearSpringDamper(bodies[a], x, bodies[b], y, s.rest, s.stiffness, 0.0))
    if mechanism.torque:
        plant.AddJointActuator("motor", joints[mechanism.torque[0]])
    plant.Finalize()
    return plant, bodies, joints, order


def simulate(mechanism, options, times, clock):
    plant, bodies, joints, order = build(mechanism, options)
    simulator = Simulator(plant)
    context = simulator.get_mutable_context()
    for k, parent, child in order:
        joint, turning = mechanism.joints[k], mechanism.turning(parent, child)
        if joint.kind == "revolute":
            joints[child].set_angular_rate(context, float(turning @ joint.axis))
        elif joint.kind == "spherical":
            joints[child].set_angular_velocity(context, turning)
    if mechanism.torque:
        plant.get_actuation_input_port().FixValue(context, [mechanism.torque[1]])
    if mechanism.forces:
        applied = []
        for body, force in mechanism.forces:
            one = ExternallyAppliedSpatialForce()
            one.body_index, one.p_BoBq_B, one.F_Bq_W = bodies[body].index(), np.zeros(3), SpatialForce(np.zeros(3), force)
            applied.append(one)
        plant.get_applied_spatial_force_input_port().FixValue(context, Value(applied))
    if "integrator" in options:
        ResetIntegratorFromFlags(simulator, options["integrator"], mechanism.t_end)
        simulator.get_mutable_integrator().set_target_accuracy(options["rtol"])
    simulator.Initialize()
    poses = []
    for t in times:
        with clock:
            simulator.AdvanceTo(t)
        X = [plant.EvalBodyPoseInWorld(context, bodies[i]) for i in range(len(mechanism.bodies))]
        poses.append(([x.translation() for x in X], [x.rotation().matrix() for x in X]))
    return dict(poses=poses, steps=simulator.get_num_steps_taken())
