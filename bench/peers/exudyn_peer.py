"""Exudyn: maximal coordinates (planar bodies in the plane, Euler parameters in space), index-3 generalized-α, its default.

Options: `h` step; `rho` spectral radius (0.9). Modified Newton; a sparse solver above ten bodies.
"""

import exudyn as exu
import exudyn.itemInterface as item
from exudyn.rigidBodyUtilities import RigidBodyInertia
import numpy as np

from problems import GROUND


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
            raise NotImplementedError("spatial revolute joints are in none of the mechanisms")
    if mechanism.torque:
        body, torque = mechanism.torque
        rigid = mbs.AddMarker(item.MarkerBodyRigid(bodyNumber=objects[body]))
        mbs.AddLoad(item.LoadTorqueVector(markerNumber=rigid, loadVector=[0, 0, torque]))
    for s in mechanism.springs:
        pair = [marker(s.first, s.ends[0]), marker(s.second, s.ends[1])]
        mbs.AddObject(item.ObjectConnectorSpringDamper(
            markerNumbers=pair, stiffness=s.stiffness, damping=0, referenceLength=s.rest))
    mbs.Assemble()
    return container, mbs, objects


def simulate(mechanism, options, clock):
    container, mbs, objects = build(mechanism)
    settings = exu.SimulationSettings()
    time = settings.timeIntegration
    time.endTime = mechanism.t_end
    time.numberOfSteps = round(mechanism.t_end / options["h"])
    time.verboseMode = 0
    time.generalizedAlpha.spectralRadius = options.get("rho", 0.9)
    time.newton.useModifiedNewton = True
    settings.solutionSettings.writeSolutionToFile = False
    settings.solutionSettings.sensorsWritePeriod = 1e10
    settings.parallel.numberOfThreads = 1
    sparse = len(mechanism.bodies) > 10
    settings.linearSolverType = exu.LinearSolverType.EigenSparse if sparse else exu.LinearSolverType.EXUdense
    with clock:
        mbs.SolveDynamic(settings, storeSolver=True, showHints=False)
    solver = mbs.sys["dynamicSolver"].it
    positions = [mbs.GetObjectOutputBody(o, exu.OutputVariableType.Position, [0, 0, 0]) for o in objects]
    return dict(positions=positions, steps=solver.currentStepIndex, iterations=solver.newtonStepsCount)
