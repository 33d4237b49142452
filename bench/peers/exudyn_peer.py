"""Exudyn: maximal coordinates (planar bodies in the plane, Euler parameters in space), index-3 generalized-α, its default.

Options: `h` step; `rho` spectral radius (0.9); `method`: `trapezoidal` (index 2) in place of generalized-α. Modified Newton; a sparse
solver above ten bodies. Of the beam: `n` elements, `beam`: `cable` (ANCF) or `shear` (geometrically exact), and `method` also an
explicit one, `rk44` or `dopri5`, which hold no joints.
"""

import exudyn as exu
import exudyn.itemInterface as item
from exudyn.beams import GenerateStraightLineANCFCable2D
from exudyn.rigidBodyUtilities import RigidBodyInertia
import numpy as np

import flexible
from mechanism import GROUND, rotation_to

SOLVERS = dict(trapezoidal=exu.DynamicSolverType.TrapezoidalIndex2, rk44=exu.DynamicSolverType.RK44, dopri5=exu.DynamicSolverType.DOPRI5)
# along z: two turns, one turn and the slide, or both are left free
FREE = dict(revolute=[1, 1, 1, 1, 1, 0], prismatic=[1, 1, 0, 1, 1, 1], cylindrical=[1, 1, 0, 1, 1, 0])


def build(mechanism):
    container = exu.SystemContainer()
    mbs = container.AddSystem()
    ground = mbs.AddObject(item.ObjectGround())
    gravity, objects = list(mechanism.gravity), []
    for b in mechanism.bodies:
        if mechanism.planar:
            node = mbs.AddNode(item.NodeRigidBody2D(
                referenceCoordinates=[b.p[0], b.p[1], b.angle], initialVelocities=[b.v[0], b.v[1], b.w[2]]))
            body = mbs.AddObject(item.RigidBody2D(nodeNumber=node, physicsMass=b.mass, physicsInertia=b.inertia[2]))
            if np.any(mechanism.gravity):
                marker = mbs.AddMarker(item.MarkerBodyMass(bodyNumber=body))
                mbs.AddLoad(item.LoadMassProportional(markerNumber=marker, loadVector=gravity))
        else:
            body = mbs.CreateRigidBody(
                inertia=RigidBodyInertia(mass=b.mass, inertiaTensor=np.diag(b.inertia)), referencePosition=list(b.p),
                referenceRotationMatrix=b.R, initialVelocity=list(b.v), initialAngularVelocity=list(b.w), gravity=gravity)
        objects.append(body)

    def marker(body, point):
        kind = item.MarkerBodyPosition if mechanism.planar else item.MarkerBodyRigid
        number = ground if body == GROUND else objects[body]
        return mbs.AddMarker(kind(bodyNumber=number, localPosition=list(mechanism.local(body, point))))

    for j in mechanism.joints:
        pair = [marker(j.first, j.point), marker(j.second, j.point)]
        if mechanism.planar:
            mbs.AddObject(item.RevoluteJoint2D(markerNumbers=pair))
        elif j.kind == "spherical":
            mbs.AddObject(item.ObjectJointSpherical(markerNumbers=pair, constrainedAxes=[1, 1, 1]))
        else:
            turned = [mechanism.pose(b)[0].T @ rotation_to(j.axis) for b in (j.first, j.second)]
            mbs.AddObject(item.ObjectJointGeneric(
                markerNumbers=pair, constrainedAxes=FREE[j.kind], rotationMarker0=turned[0], rotationMarker1=turned[1]))
    if mechanism.torque:
        body, torque = mechanism.torque
        rigid = mbs.AddMarker(item.MarkerBodyRigid(bodyNumber=objects[body]))
        mbs.AddLoad(item.LoadTorqueVector(markerNumber=rigid, loadVector=[0, 0, torque]))
    for body, force in mechanism.forces:
        mbs.AddLoad(item.LoadForceVector(markerNumber=marker(body, mechanism.bodies[body].p), loadVector=list(force)))
    for s in mechanism.springs:
        pair = [marker(s.first, s.ends[0]), marker(s.second, s.ends[1])]
        mbs.AddObject(item.ObjectConnectorSpringDamper(
            markerNumbers=pair, stiffness=s.stiffness, damping=0, referenceLength=s.rest))
    mbs.Assemble()
    return container, mbs, objects


def settings_for(t_end, options, sparse):
    settings = exu.SimulationSettings()
    time = settings.timeIntegration
    time.endTime = t_end
    time.numberOfSteps = round(t_end / options["h"])
    time.verboseMode = 0
    time.generalizedAlpha.spectralRadius = options.get("rho", 0.9)
    time.newton.useModifiedNewton = True
    settings.solutionSettings.writeSolutionToFile = False
    settings.solutionSettings.sensorsWritePeriod = 1e10
    settings.parallel.numberOfThreads = 1
    settings.linearSolverType = exu.LinearSolverType.EigenSparse if sparse else exu.LinearSolverType.EXUdense
    return settings


def solve(mbs, settings, options, clock):
    method = SOLVERS.get(options.get("method"), exu.DynamicSolverType.GeneralizedAlpha)
    with clock:
        mbs.SolveDynamic(settings, solverType=method, storeSolver=True, showHints=False)
    solver = mbs.sys["dynamicSolver"].it
    return dict(steps=solver.currentStepIndex, iterations=solver.newtonStepsCount)


def simulate(mechanism, options, times, clock):
    container, mbs, objects = build(mechanism)
    settings = settings_for(mechanism.t_end, options, sparse=len(mechanism.bodies) > 10)
    poses, output = [], exu.OutputVariableType

    def pose(mbs):
        p = [mbs.GetObjectOutputBody(o, output.Position, [0, 0, 0]) for o in objects]
        R = [np.reshape(mbs.GetObjectOutputBody(o, output.RotationMatrix, [0, 0, 0]), (3, 3)) for o in objects]
        poses.append((np.array(p), np.array(R)))

    if len(times) > 1:  # not timed
        every, last = times[0], [0]

        def look(mbs, t):
            if round(t / every, 6) >= last[0] + 1:
                last[0] += 1
                pose(mbs)
            return True

        mbs.SetPreStepUserFunction(look)
    took = solve(mbs, settings, options, clock)
    pose(mbs)
    return dict(took, poses=poses)


def simulate_beam(options, clock):
    f, n, kind = flexible, int(options["n"]), options["beam"]
    container = exu.SystemContainer()
    mbs = container.AddSystem()
    gravity = [0, -f.GRAVITY, 0]
    if kind == "cable":
        cable = item.Cable2D(
            physicsMassPerLength=f.RHO_A, physicsBendingStiffness=f.EI, physicsAxialStiffness=f.EA, useReducedOrderIntegration=0)
        made = GenerateStraightLineANCFCable2D(
            mbs=mbs, positionOfNode0=[0, 0, 0], positionOfNode1=[f.LENGTH, 0, 0], numberOfElements=n, cableTemplate=cable,
            massProportionalLoad=gravity, fixedConstraintsNode0=[1, 1, 0, 0])
        tip = made[0][-1]
    else:
        nodes = [mbs.AddNode(item.NodeRigidBody2D(referenceCoordinates=[f.LENGTH * k / n, 0, 0])) for k in range(n + 1)]
        for a, b in zip(nodes, nodes[1:]):
            element = mbs.AddObject(item.ObjectBeamGeometricallyExact2D(
                nodeNumbers=[a, b], physicsLength=f.LENGTH / n, physicsMassPerLength=f.RHO_A, physicsCrossSectionInertia=f.RHO_I,
                physicsBendingStiffness=f.EI, physicsAxialStiffness=f.EA, physicsShearStiffness=f.GA))
            marker = mbs.AddMarker(item.MarkerBodyMass(bodyNumber=element))
            mbs.AddLoad(item.LoadMassProportional(markerNumber=marker, loadVector=gravity))
        ground = mbs.AddMarker(item.MarkerNodeCoordinate(nodeNumber=mbs.AddNode(item.NodePointGround()), coordinate=0))
        for k in (0, 1):
            held = mbs.AddMarker(item.MarkerNodeCoordinate(nodeNumber=nodes[0], coordinate=k))
            mbs.AddObject(item.CoordinateConstraint(markerNumbers=[ground, held]))
        tip = nodes[-1]
    mbs.Assemble()
    settings = settings_for(f.T_END, options, sparse=n > 8)
    took = solve(mbs, settings, options, clock)
    return dict(took, tip=mbs.GetNodeOutput(tip, exu.OutputVariableType.Position), continuum=kind)
