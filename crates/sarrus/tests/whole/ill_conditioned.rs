//! A redundant row that rounding and bad conditioning make look independent.

use sarrus::model::settings::MethodChoice;
use sarrus::prelude::*;
use std::sync::Arc;

/// A body on a planar and a spherical joint, with others hanging on it. The row that both joints share leaves a pivot of 10⁻¹⁰ where
/// it should leave none; with fewer digits in these numbers it is smaller.
const MODEL: &str = r#"
format = "sarrus/1"
[bodies]
b0 = { at = [-2.367335295274321, -0.1726069665080679, 1.0005145486452647], mass = 2.902291124774469, inertia = [0.1,0.12,0.15] }
b1 = { at = [0.7310712185689157, -1.9010867712349593, -1.4997988104965467], mass = 1.597976977780797, inertia = [0.1,0.12,0.15] }
b2 = { at = [-0.8784259434200402, -0.9755228749535986, 0.5087262583058474], mass = 2.3505625410157553, inertia = [0.1,0.12,0.15] }
b3 = { at = [-0.8278494706350589, -0.31854709293883743, -1.113694471609258], mass = 1.755986025263542, inertia = [0.1,0.12,0.15] }
b4 = { at = [0.09351322926728178, -1.5554240702344204, 0.7296057488941069], mass = 1.5049487799384114, inertia = [0.1,0.12,0.15] }
[joints]
J0 = { kind = "planar", bodies = ["ground","b0"], at = [-0.5282887497969585, -0.021932153990291046, -0.5408454299748574], axis = [-0.06441476872788644, 0.997921248744945, 0.001979614372205476], axis2 = [0.9979212487449448, 0.06441845044405385, -0.001855948737638905] }
J1 = { kind = "spherical", bodies = ["b0","b1"], at = [-0.450433028480166, 0.7913966629533773, 1.4533244186650889] }
J2 = { kind = "prismatic", bodies = ["b0","b2"], at = [0.43150531989809726, -1.7805479558769732, -0.7533934522855434], axis = [0.6278282959208481, -0.36170652827086136, -0.6892024508425407] }
J3 = { kind = "spherical", bodies = ["ground","b3"], at = [-0.13317232405412333, -0.8678653293020057, -0.18110913692434571] }
J4 = { kind = "spherical", bodies = ["b3","b4"], at = [0.6998721208599713, -0.05642876425356041, 0.4581089491496073] }
J5 = { kind = "spherical", bodies = ["b0","ground"], at = [2.1414064519414038, -0.5653686116961304, 1.0515941898943304] }
[run]
t_end = 0.01
rtol = 1e-10
atol = 1e-12
"#;

/// The values of least norm are one answer for every method: without knowing how many rows are redundant `proximal` would
/// be off by more than 100 N here.
#[test]
fn multipliers_are_of_least_norm_where_pivots_do_not_tell() {
    let model =
        load_str("model.toml", MODEL, &LoadOptions::default()).unwrap_or_else(|e| panic!("{}", e.render()));
    let system = Arc::new(compile(&model).unwrap());
    let run = |name: &str| {
        let formulation = Some(MethodChoice { kind: name.into(), ..MethodChoice::default() });
        let overrides = RunOverrides { formulation, ..RunOverrides::default() };
        simulate(&model, &system, &Simulate { overrides, record: true }, &mut ()).unwrap()
    };
    let (a, b) = (run("proximal"), run("least_squares_1"));
    assert_eq!(a.report.constraints.redundant, Some(1));
    for name in ["J0.fx", "J0.fy", "J0.fz", "J5.fx", "J5.fy", "J5.fz"] {
        let (a, b) = (a.trajectory.column(name).unwrap(), b.trajectory.column(name).unwrap());
        for (a, b) in a.zip(b) {
            // the row is dependent to 10⁻¹⁰ of its diagonal, and forces are some 100 N
            assert!((a - b).abs() < 1e-4, "{name}: {a} {b}");
        }
    }
}
