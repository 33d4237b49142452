"""Exudyn on stiff mechanisms: its implicit second-order methods, and explicit ones where it has them.

Options: `method` (`generalized_alpha`, index 3, its default; `trapezoidal`, index 2; an explicit one by its name in Exudyn), `h` step, or
`rtol` where an explicit method follows it; `rho` spectral radius. Modified Newton, dense solver, as the mechanisms are small. Constraints other than of single
coordinates shut out its explicit methods.
"""

import exudyn as exu
import exudyn.itemInterface as item
import numpy as np
from exudyn.rigidBodyUtilities import InertiaCuboid, RotationMatrixY

from peers import exudyn_peer
from problems import PROBLEMS


def governor():
    """Two arms with balls, shaft, sleeve and struts; the heights of sleeve and first ball."""
    container = exu.SystemContainer()
    mbs = container.AddSystem()
    gravity, spin, tilt = [0, 0, -9.81], [0, 0, 2 * np.pi], np.pi / 6
    ground = mbs.CreateGround()
    box = lambda size: InertiaCuboid(density=3000, sideLengths=size)
    turning = dict(gravity=gravity, initialAngularVelocity=spin)
    shaft = mbs.CreateRigidBody(inertia=box([0.01, 0.01, 1]), referencePosition=[0, 0, 0.5], **turning)
    sleeve = mbs.CreateRigidBody(inertia=box([0.1, 0.1, 0.1]), referencePosition=[0, 0, 0.5], **turning)
    mbs.CreateRevoluteJoint(bodyNumbers=[ground, shaft], position=[0, 0, 0], axis=[0, 0, 1])
    mbs.CreatePrismaticJoint(bodyNumbers=[shaft, sleeve], position=[0, 0, 0.5], axis=[0, 0, 1])
    balls = []
    for side in (1, -1):
        pin = np.array([0.05 * side, 0, 1])
        along = np.array([side * np.cos(tilt), 0, -np.sin(tilt)])
        middle, end = pin + along / 2, pin + along
        at = lambda p: dict(referencePosition=list(p), initialVelocity=list(np.cross(spin, p)))
        turn = RotationMatrixY(tilt if side > 0 else np.pi - tilt)
        arm = mbs.CreateRigidBody(inertia=box([1, 0.01, 0.01]), referenceRotationMatrix=turn, **at(middle), **turning)
        ball = mbs.CreateMassPoint(physicsMass=5, gravity=gravity, **at(end))
        mbs.CreateRevoluteJoint(bodyNumbers=[shaft, arm], position=list(pin), axis=[0, 1, 0], useGlobalFrame=True)
        mbs.CreateSphericalJoint(bodyNumbers=[arm, ball], position=list(end))
        mbs.CreateSpringDamper(
            bodyNumbers=[sleeve, arm], localPosition0=[0.05 * side, 0, 0], localPosition1=[0, 0, 0], referenceLength=0.5, stiffness=8e5,
            damping=4e4)
        balls.append(ball)
    return container, mbs, [sleeve, balls[0]], [2], 10.0


def andrews():
    mechanism = PROBLEMS["squeezer"](None)
    container, mbs, objects = exudyn_peer.build(mechanism)
    return container, mbs, objects, [0, 1], mechanism.t_end


def beam_pendulum():
    """Four geometrically exact elements; the position of the tip. Its masses are not spread as those of Sarrus are."""
    container = exu.SystemContainer()
    mbs = container.AddSystem()
    radius, young, density, nu, n = 0.03, 5e6, 1100.0, 0.49, 4
    area, second = np.pi * radius**2, np.pi * radius**4 / 4
    shear = 6 * (1 + nu) / (7 + 6 * nu) * young / (2 * (1 + nu)) * area
    nodes = [mbs.AddNode(item.NodeRigidBody2D(referenceCoordinates=[k / n, 0, 0])) for k in range(n + 1)]
    for a, b in zip(nodes, nodes[1:]):
        element = mbs.AddObject(item.ObjectBeamGeometricallyExact2D(
            nodeNumbers=[a, b], physicsLength=1 / n, physicsMassPerLength=density * area, physicsCrossSectionInertia=density * second,
            physicsBendingStiffness=young * second, physicsAxialStiffness=young * area, physicsShearStiffness=shear))
        marker = mbs.AddMarker(item.MarkerBodyMass(bodyNumber=element))
        mbs.AddLoad(item.LoadMassProportional(markerNumber=marker, loadVector=[0, -9.81, 0]))
    held = mbs.AddMarker(item.MarkerNodeCoordinate(
        nodeNumber=mbs.AddNode(item.NodePointGround()), coordinate=0))
    for k in (0, 1):
        mbs.AddObject(item.CoordinateConstraint(
            markerNumbers=[held, mbs.AddMarker(item.MarkerNodeCoordinate(nodeNumber=nodes[0], coordinate=k))]))
    return container, mbs, [nodes[-1]], [0, 1], 0.5


BUILD = dict(governor=governor, andrews=andrews, beam_pendulum=beam_pendulum)
SECOND = dict(generalized_alpha=exu.DynamicSolverType.GeneralizedAlpha, trapezoidal=exu.DynamicSolverType.TrapezoidalIndex2)


def simulate(problem, options, every, clock):
    container, mbs, bodies, components, t_end = BUILD[problem]()
    if problem == "beam_pendulum":
        sensors = [mbs.AddSensor(item.SensorNode(nodeNumber=b, storeInternal=True, outputVariableType=exu.OutputVariableType.Position)) for b in bodies]
    else:
        sensors = [mbs.AddSensor(item.SensorBody(bodyNumber=b, storeInternal=True, outputVariableType=exu.OutputVariableType.Position)) for b in bodies]
    mbs.Assemble()
    settings = exu.SimulationSettings()
    time = settings.timeIntegration
    time.endTime = t_end
    method = options["method"]
    explicit = method not in SECOND
    time.numberOfSteps = round(t_end / options.get("h", every))
    time.verboseMode = 0
    time.generalizedAlpha.spectralRadius = options.get("rho", 0.9)
    time.newton.useModifiedNewton = options.get("newton", "modified") == "modified"
    if "rtol" in options:
        time.automaticStepSize = True
        time.relativeTolerance, time.absoluteTolerance = options["rtol"], options["rtol"] / 100
    if explicit:
        time.explicitIntegration.eliminateConstraints = True
        time.explicitIntegration.dynamicSolverType = getattr(exu.DynamicSolverType, method)
    settings.solutionSettings.writeSolutionToFile = False
    settings.solutionSettings.sensorsWritePeriod = every
    settings.parallel.numberOfThreads = 1
    settings.linearSolverType = exu.LinearSolverType.EXUdense
    kind = getattr(exu.DynamicSolverType, method) if explicit else SECOND[method]
    with clock:
        done = mbs.SolveDynamic(settings, solverType=kind, storeSolver=True, showHints=False)
    if not done:
        raise RuntimeError("Exudyn's solver failed")
    solver = mbs.sys["dynamicSolver"].it
    values = []
    for sensor in sensors:
        stored = mbs.GetSensorStoredData(sensor)
        wanted = np.arange(1, round(t_end / every) + 1) * every
        rows = [stored[np.argmin(abs(stored[:, 0] - t))] for t in wanted]
        assert max(abs(row[0] - t) for row, t in zip(rows, wanted)) < 1e-6 * every, "samples lie elsewhere"
        values.append([[row[1 + c] for c in components] for row in rows])
    return dict(values=np.array(values), steps=solver.currentStepIndex, iterations=solver.newtonStepsCount)
