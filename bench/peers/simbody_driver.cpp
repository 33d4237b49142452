// Simbody: reads a mechanism from standard input, integrates it, prints poses. Text, numbers apart by blanks; bodies count from 0, the ground is -1:
//   gravity(3) | t_end samples | method accuracy tolerance project(0/1)
//   bodies | each: mass inertia(3) p(3) R(9, by rows)
//   tree joints, parents first | each: kind parent child point(3) frame(9) turning(3, world)   kind: 0 revolute, 1 spherical, 2 prismatic, 3 cylindrical, along z of the frame
//   loops | each: mode(0 ball, 1 in the plane) first second point(3)
//   springs | each: first second end(3) end(3) stiffness rest;   forces | each: body force(3);   torques | each: body torque
// Prints a line "cpu wall steps realizations", then for each sample the poses, 12 numbers a body.
#include <Simbody.h>

#include <cstdio>
#include <ctime>
#include <iostream>
#include <memory>

using namespace SimTK;

template <int N> Vec<N> read() {
    Vec<N> x;
    for (int i = 0; i < N; i++) std::cin >> x[i];
    return x;
}

double number() { return read<1>()[0]; }
int whole() { return int(number()); }

Rotation rotation() {
    Vec<9> x = read<9>();
    return Rotation(Mat33(x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8]), true);
}

double seconds(clockid_t which) {
    timespec t;
    clock_gettime(which, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

int main() try {
    MultibodySystem system;
    SimbodyMatterSubsystem matter(system);
    GeneralForceSubsystem forces(system);
    matter.setShowDefaultGeometry(false);
    Vec3 gravity = read<3>();
    if (gravity.norm() > 0) Force::UniformGravity(forces, matter, gravity);
    double t_end = number();
    int samples = whole();
    std::string method;
    std::cin >> method;
    double accuracy = number(), tolerance = number();
    bool project = whole() != 0;

    int n = whole();
    std::vector<Body::Rigid> rigid;
    std::vector<Transform> at;
    for (int i = 0; i < n; i++) {
        double mass = number();
        Vec3 inertia = read<3>(), p = read<3>();
        at.emplace_back(rotation(), p);
        rigid.emplace_back(MassProperties(mass, Vec3(0), Inertia(inertia)));
    }
    std::vector<MobilizedBody> body(n);
    auto get = [&](int i) -> MobilizedBody& { return i < 0 ? static_cast<MobilizedBody&>(matter.updGround()) : body[i]; };
    auto local = [&](int i, const Vec3& x) { return i < 0 ? x : ~at[i] * x; };
    auto frame = [&](int i, const Rotation& R, const Vec3& x) { return Transform(i < 0 ? R : Rotation(~at[i].R() * R), local(i, x)); };

    struct Start { int child; Vec3 rate; bool ball; };
    std::vector<Start> start;
    int joints = whole();
    for (int k = 0; k < joints; k++) {
        int kind = whole(), parent = whole(), child = whole();
        Vec3 point = read<3>();
        Rotation R = rotation();
        Vec3 turning = ~R * read<3>();
        Transform X = frame(parent, R, point), Y = frame(child, R, point);
        if (kind == 0) body[child] = MobilizedBody::Pin(get(parent), X, rigid[child], Y);
        else if (kind == 1) body[child] = MobilizedBody::Ball(get(parent), X, rigid[child], Y);
        else if (kind == 2) {  // slides along x
            Rotation turn(Pi / 2, CoordinateAxis(1));
            turn = Rotation(~turn);
            body[child] = MobilizedBody::Slider(get(parent), X * Transform(turn), rigid[child], Y * Transform(turn));
        } else body[child] = MobilizedBody::Cylinder(get(parent), X, rigid[child], Y);
        if (kind < 2) start.push_back({child, kind == 0 ? Vec3(turning[2], 0, 0) : turning, kind == 1});
    }
    for (int k = whole(); k > 0; k--) {
        int mode = whole(), a = whole(), b = whole();
        Vec3 x = read<3>();
        if (mode == 0) Constraint::Ball(get(a), local(a, x), get(b), local(b, x));
        else for (int axis = 0; axis < 2; axis++) {
            Vec3 e(axis == 0, axis == 1, 0), p = local(a, x);
            UnitVec3 normal(a < 0 ? e : ~at[a].R() * e);
            Constraint::PointInPlane(get(a), normal, dot(normal, p), get(b), local(b, x));
        }
    }
    for (int k = whole(); k > 0; k--) {
        int a = whole(), b = whole();
        Vec3 x = read<3>(), y = read<3>();
        double stiffness = number(), rest = number();
        Force::TwoPointLinearSpring(forces, get(a), local(a, x), get(b), local(b, y), stiffness, rest);
    }
    for (int k = whole(); k > 0; k--) {
        int b = whole();
        Force::ConstantForce(forces, get(b), Vec3(0), read<3>());
    }
    for (int k = whole(); k > 0; k--) {
        int b = whole();
        Force::MobilityConstantForce(forces, get(b), 0, number());
    }
    if (!std::cin) throw std::runtime_error("the description ends too early");

    system.realizeTopology();
    State state = system.getDefaultState();
    system.realizeModel(state);
    for (const Start& s : start)
        for (int i = 0; i < (s.ball ? 3 : 1); i++) body[s.child].setOneU(state, i, s.rate[i]);

    std::unique_ptr<Integrator> integrator;
    if (method == "rkf") integrator.reset(new RungeKuttaFeldbergIntegrator(system));
    else if (method == "rk3") integrator.reset(new RungeKutta3Integrator(system));
    else if (method == "cpodes") integrator.reset(new CPodesIntegrator(system, CPodes::Adams));
    else integrator.reset(new RungeKuttaMersonIntegrator(system));
    integrator->setAccuracy(accuracy);
    if (tolerance > 0) integrator->setConstraintTolerance(tolerance);
    integrator->setProjectEveryStep(project);

    std::vector<double> poses;
    double cpu = -seconds(CLOCK_PROCESS_CPUTIME_ID), wall = -seconds(CLOCK_MONOTONIC);
    TimeStepper stepper(system, *integrator);
    stepper.initialize(state);
    for (int k = 1; k <= samples; k++) {
        stepper.stepTo(t_end * k / samples);
        const State& now = integrator->getState();
        system.realize(now, Stage::Position);
        for (int i = 0; i < n; i++) {
            const Transform& X = body[i].getBodyTransform(now);
            for (int r = 0; r < 3; r++) poses.push_back(X.p()[r]);
            for (int r = 0; r < 3; r++)
                for (int c = 0; c < 3; c++) poses.push_back(X.R()[r][c]);
        }
    }
    cpu += seconds(CLOCK_PROCESS_CPUTIME_ID), wall += seconds(CLOCK_MONOTONIC);
    std::printf("%.9g %.9g %d %d\n", cpu, wall, integrator->getNumStepsTaken(), integrator->getNumRealizations());
    for (double x : poses) std::printf("%.17g\n", x);
} catch (const std::exception& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
}
