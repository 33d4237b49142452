//! Modes of strips so thin that rounding of their shear stiffness is as large as their bending stiffness, and of modal bodies in fields.

use sarrus::analysis::{ModeKind, ModesReport, OperatingPoint, modes};
use sarrus::prelude::*;
use std::f64::consts::TAU;
use std::sync::Arc;

fn report(text: &str, about: OperatingPoint) -> ModesReport {
    let text = format!("format = 'sarrus/1'\n{text}");
    let model =
        load_str("test.toml", &text, &LoadOptions::default()).unwrap_or_else(|e| panic!("{}", e.render()));
    let system = Arc::new(compile(&model).unwrap());
    modes(&model, &system, about).unwrap()
}

fn frequencies(report: &ModesReport) -> Vec<f64> {
    report.modes.iter().filter_map(|mode| mode.frequency).collect()
}

fn count(report: &ModesReport, kind: ModeKind) -> usize {
    report.modes.iter().filter(|mode| mode.kind == kind).count()
}

/// A steel strip 1 m long and `h` thick, clamped at its start, bending across its thickness.
fn strip(planar: bool, h: f64, member: &str, start: &str) -> String {
    let (space, zero, sides) = if planar {
        ("planar", "0, 0", format!("width = 0.01, height = {h:e}"))
    } else {
        ("spatial", "0, 0, 0", format!("width = {h:e}, height = 0.01"))
    };
    let to = zero.replacen('0', "1", 1);
    format!(
        "space = '{space}'\ngravity = [{zero}]\nsections.s = {{ kind = 'rectangle', {sides} }}\n\
         flexible.b = {{ from = [{zero}], to = [{to}], section = 's', material = 'steel', {member} }}\n\
         joints.c = {{ kind = 'fixed', bodies = ['ground', '{start}'], at = [{zero}] }}\n"
    )
}

/// f = β² h/(2π l²) √(E/12ρ): the error of the mesh is the same for every thickness, and so is that of a thick strip.
#[test]
fn a_clamped_strip_bends_with_its_frequency_down_to_a_micrometre() {
    let per_thickness = (210e9_f64 / 12.0 / 7850.0).sqrt() / TAU;
    for (planar, member, start, coarse) in [
        (true, "kind = 'beam', elements = 4", "b.start", 8e-3),
        (true, "kind = 'beam', elements = 16", "b.start", 6e-4),
        (true, "kind = 'beam', elements = 40", "b.start", 1e-4),
        (false, "kind = 'beam', elements = 8", "b.start", 2e-3),
        (false, "kind = 'beam', elements = 16", "b.start", 6e-4),
        (true, "kind = 'beam', elements = 4, order = 3", "b.start", 1e-4),
        (false, "kind = 'beam', elements = 3, order = 3", "b.start", 1e-4),
        (true, "kind = 'segmented_rod', segments = 10", "b.seg1", 0.12),
        (false, "kind = 'segmented_rod', segments = 6", "b.seg1", 0.25),
    ] {
        let mut relative: Option<f64> = None;
        for h in [1e-3, 1e-4, 1e-5, 3e-6, 1e-6] {
            let found = report(&strip(planar, h, member, start), OperatingPoint::Equilibrium);
            assert_eq!(found.stable, Some(true), "{member}, {h}: {:?}", found.notes);
            assert_eq!(frequencies(&found).len(), found.positions, "{member}, {h}");
            let exact = 1.875_104_f64.powi(2) * h * per_thickness;
            let here = frequencies(&found)[0] / exact;
            assert!((here - 1.0).abs() < coarse, "{member}, {h}: {here}");
            let thick = *relative.get_or_insert(here);
            assert!((here - thick).abs() < 2e-4, "{member}, {h}: {here}, of the thickest {thick}");
        }
    }
}

/// D = β K, so that ζ = β ω/2 of every mode.
#[test]
fn a_thin_strip_keeps_the_damping_of_its_slow_modes() {
    let beta = 1e-2;
    for h in [1e-3, 1e-4, 1e-5] {
        for planar in [true, false] {
            let member = format!("kind = 'beam', elements = 8, damping = {beta}");
            let found = report(&strip(planar, h, &member, "b.start"), OperatingPoint::Equilibrium);
            for mode in found.modes.iter().take(2) {
                let [ratio, omega] = [mode.damping_ratio.unwrap(), TAU * mode.frequency.unwrap()];
                assert!((ratio / (0.5 * beta * omega) - 1.0).abs() < 1e-5, "{h}: {ratio} at {omega}");
            }
        }
    }
}

/// A beam that nothing holds, in a field, as itself or as a modal body.
fn floating(planar: bool, modal: bool, field: &[&str]) -> String {
    let (space, zero, twist) =
        if planar { ("planar", "0, 0", "") } else { ("spatial", "0, 0, 0", ", GJ = 1") };
    let to = zero.replacen('0', "1", 1);
    let field: Vec<String> = field.iter().map(|f| format!("'{f}'")).collect();
    let (reduced, body) = if modal {
        let keys = "kind = 'modal', members = ['mesh'], interface = ['mesh.start'], modes = 4, damping = 0";
        (format!("flexible.b = {{ {keys} }}\n"), "b")
    } else {
        (String::new(), "mesh")
    };
    format!(
        "space = '{space}'\ngravity = [{zero}]\n\
         sections.s = {{ kind = 'given', EA = 1e4, GA = 1e4, EI = 1, rhoA = 1, rhoI = 1e-3{twist} }}\n\
         flexible.mesh = {{ kind = 'beam', from = [{zero}], to = [{to}], section = 's', elements = 8 }}\n{reduced}\
         forces.g = {{ kind = 'field', bodies = ['{body}'], force = [{}] }}\n",
        field.join(", ")
    )
}

/// A field -k m r draws the centre of mass with ω² = k and lets the body turn; every degree of freedom is one mode.
#[test]
fn a_free_modal_body_in_a_field_has_as_many_modes_as_freedoms() {
    let central = ["-4*mass*(x - 0.5)", "-4*mass*y", "-4*mass*z"];
    let far = ["-4*mass*x", "-4*mass*y", "-4*mass*z"];
    for (planar, field, free, slow) in [
        (true, &central[..2], 1, [2.0, 2.0]),
        (false, &central[..], 3, [2.0, 2.0]),
        (true, &far[..2], 1, [2.0, 2.0]),
        (false, &far[..], 3, [2.0, 2.0]),
        (false, &["0", "0", "-9*mass*z"], 4, [2.982, 3.0]),
        (true, &["0", "0"], 3, [22.31, 63.04]),
        (false, &["0", "0", "0"], 6, [22.38, 22.38]),
    ] {
        for about in [OperatingPoint::Equilibrium, OperatingPoint::Start] {
            if about == OperatingPoint::Start && field[0] == far[0] {
                continue;
            }
            let found = report(&floating(planar, true, field), about);
            assert_eq!(found.modes.len(), found.positions, "{field:?}");
            assert!(found.equilibrium && found.stable != Some(false), "{field:?}: {:?}", found.notes);
            // where the search for rest has moved it, what is left of the forces may leave them open
            let undecided = count(&found, ModeKind::Undecided);
            assert_eq!(count(&found, ModeKind::Free) + undecided, free, "{field:?}");
            assert!(undecided == 0 || field[0] == far[0], "{field:?}: {:?}", found.notes);
            assert_eq!(found.stable, (undecided == 0).then_some(true), "{field:?}: {:?}", found.notes);
            for (f, omega) in frequencies(&found).iter().zip(slow) {
                assert!((TAU * f / omega - 1.0).abs() < 1e-3, "{field:?}: {} is not {omega}", TAU * f);
            }
        }
        // as the mesh itself
        let [modal, mesh] =
            [true, false].map(|modal| report(&floating(planar, modal, field), OperatingPoint::Equilibrium));
        for (modal, mesh) in frequencies(&modal).iter().zip(frequencies(&mesh)).take(2) {
            assert!((modal / mesh - 1.0).abs() < 5e-3, "{field:?}: {modal} of the modal body, {mesh}");
        }
    }
}
