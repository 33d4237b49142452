"""DART: joint coordinates of a spanning tree by articulated bodies, loops by ball-joint constraints on velocities (an LCP),
semi-implicit Euler. It has no springs between points.

Options: `h` step.
"""

import dartpy as dart
import numpy as np

from mechanism import GROUND


def isometry(R, p):
    X = dart.math.Isometry3()
    X.set_rotation(R)
    X.set_translation(p)
    return X


def build(mechanism, options):
    order, loops = mechanism.spanning_tree()
    assert not mechanism.springs
    world = dart.simulation.World()
    world.setGravity(list(mechanism.gravity))
    world.setTimeStep(options["h"])
    skeleton, nodes, joints = dart.dynamics.Skeleton("mechanism"), {GROUND: None}, {}
    for k, parent, child in order:
        joint, b = mechanism.joints[k], mechanism.bodies[child]
        if joint.kind == "revolute":
            properties, create = dart.dynamics.RevoluteJointProperties(), skeleton.createRevoluteJointAndBodyNodePair
            properties.mAxis = list(joint.axis)
        elif joint.kind == "spherical":
            properties, create = dart.dynamics.BallJointProperties(), skeleton.createBallJointAndBodyNodePair
        else:
            raise NotImplementedError(f"{joint.kind} joints")
        properties.mName = f"j{child}"
        properties.mT_ParentBodyToJoint = isometry(mechanism.pose(parent)[0].T, mechanism.local(parent, joint.point))
        properties.mT_ChildBodyToJoint = isometry(b.R.T, mechanism.local(child, joint.point))
        joints[child], nodes[child] = create(nodes[parent], properties)
        inertia = dart.dynamics.Inertia()
        inertia.setMass(b.mass)
        inertia.setMoment(np.diag(b.inertia))
        nodes[child].setInertia(inertia)
        turning = mechanism.turning(parent, child)
        if joint.kind == "revolute":
            joints[child].setVelocity(0, float(turning @ joint.axis))
        else:
            joints[child].setVelocities(turning)
    world.addSkeleton(skeleton)
    for k in loops:
        j = mechanism.joints[k]
        closed = dart.constraint.BallJointConstraint(nodes[j.first], nodes[j.second], list(j.point))
        world.getConstraintSolver().addConstraint(closed)
    return world, nodes, joints


def simulate(mechanism, options, times, clock):
    world, nodes, joints = build(mechanism, options)
    done, poses = 0, []
    for t in times:
        steps = round(t / options["h"])
        with clock:
            for _ in range(steps - done):
                if mechanism.torque:
                    joints[mechanism.torque[0]].setForce(0, mechanism.torque[1])
                for body, force in mechanism.forces:
                    nodes[body].addExtForce(force)
                world.step()
        done = steps
        X = [nodes[i].getTransform() for i in range(len(mechanism.bodies))]
        poses.append((np.array([x.translation() for x in X]), np.array([x.rotation() for x in X])))
    return dict(poses=poses, steps=done)
