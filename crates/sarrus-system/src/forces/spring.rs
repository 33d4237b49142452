//! A spring-damper between two points, or along a joint coordinate.
//!
//! Tension T(l, l̇) of [`super::tension`] pulls the points together, the coordinate to smaller values.

use super::prelude::*;
use super::tension::{Only, Tension, TensionLaw};
use sarrus_model::record::ResolvedValue;

/// The force.
#[derive(Clone, Debug)]
pub struct Spring {
    /// Holds what it acts along.
    pub along: LineOfAction,
    /// Its law.
    pub tension: Tension,
}

impl Force for Spring {
    fn wrench<R: Real>(&self, at: &At<R>, out: &mut [Wrench<R>]) {
        self.along.add_wrench(at, -self.tension.value(at, &self.along), out);
    }

    fn potential<R: Real>(&self, at: &At<R>) -> R {
        self.tension.stored(self.along.length(at))
    }

    fn dissipation<R: Real>(&self, at: &At<R>) -> R {
        self.tension.heat(at, &self.along)
    }

    fn accounts_for_power(&self) -> bool {
        self.tension.accounts_for_power()
    }

    fn dissipates_without_motion(&self) -> bool {
        self.tension.is_one_sided_damper()
    }

    fn laws(&self, found: &mut dyn FnMut(&Formula, [f64; 2])) {
        self.tension.laws(&self.along, found);
    }

    fn record(&self) -> Option<LoadRecord> {
        let LineOfAction::Line(line) = &self.along else { return None };
        let TensionLaw::Linear { stiffness, damping, rest, preload } = self.tension.law else { return None };
        let p = [stiffness, damping, rest, preload];
        (self.tension.only == Only::Both).then_some(LoadRecord {
            kind: LoadKind::Spring,
            bodies: [line.a, line.b],
            r_A: line.r_A,
            r_B: line.r_B,
            p,
            timed: None,
        })
    }

    fn readings(&self) -> &'static [(&'static str, &'static str)] {
        if self.along.is_angle() {
            &[("length", "rad"), ("speed", "rad/s"), ("force", "N m")]
        } else {
            &[("length", "m"), ("speed", "m/s"), ("force", "N")]
        }
    }

    fn reading(&self, k: usize, at: &At<f64>) -> f64 {
        match k {
            0 => self.along.length(at),
            1 => self.along.speed(at),
            _ => self.tension.value(at, &self.along),
        }
    }
}

/// Reads `stiffness`, `damping` and `rest`; none where neither of the first two is given.
pub(super) fn linear(
    ctx: &Context,
    reader: &Reader,
    along: &LineOfAction,
    ids: &[u32],
    preload: f64,
) -> Result<Option<TensionLaw>> {
    let hint = "a law of another kind: `[forces] kind = \"spring\"` with `tension`";
    let stiffness = reader.not_negative_opt("stiffness").map_err(|e| e.hint(hint))?;
    let damping = reader.not_negative_opt("damping").map_err(|e| e.hint(hint))?;
    let rest = reader.number_opt("rest")?;
    if stiffness.is_none() && damping.is_none() && preload == 0.0 {
        return match rest {
            Some(_) => Err(reader.error("rest", format!("{} has `rest` but no `stiffness`", reader.title()))),
            None => Ok(None),
        };
    }
    let rest = match rest {
        Some(rest) => rest,
        None => {
            let length = along.model_length(ctx, ids);
            reader.record("rest", || ResolvedValue::Number(length));
            length
        }
    };
    let (stiffness, damping) = (stiffness.unwrap_or(0.0), damping.unwrap_or(0.0));
    Ok(Some(TensionLaw::Linear { stiffness, damping, rest, preload }))
}

fn read(ctx: &mut Context) -> Result<BuiltForce> {
    let (mut ids, along) = LineOfAction::read(ctx)?;
    let named = along.named(&ids);
    let only = match ctx.reader.choice("only", &["pull", "push"])? {
        None => Only::Both,
        Some(0) => Only::Pull,
        Some(_) => Only::Push,
    };
    let law = match ctx.reader.expression("tension")? {
        Some(expr) => {
            for key in ["stiffness", "damping", "rest", "preload"] {
                ctx.reader.one_of(&["tension", key])?;
            }
            let mut binder = ctx.binder(ReadLevel::Force, ids);
            let [length, speed] = along.signals();
            binder.local("length", length);
            binder.local("speed", speed);
            let formula = binder.scalar(&expr)?;
            ids = binder.ids;
            TensionLaw::Expression(formula)
        }
        None => {
            let preload = ctx.reader.number_or("preload", 0.0)?;
            linear(ctx, &ctx.reader, &along, &ids, preload)?.ok_or_else(|| {
                let message =
                    format!("{} needs `stiffness`, `damping`, `preload` or `tension`", ctx.reader.title());
                ctx.reader.element_error(message)
            })?
        }
    };
    Ok(BuiltForce { named, ..BuiltForce::new(ids, Spring { along, tension: Tension { law, only } }) })
}

/// `kind = "spring"`
pub const KIND: ForceKind = ForceKind {
    name: "spring",
    doc: "spring-damper between two points or along a joint coordinate, linear or of any law",
    keys: &[
        Key::new("bodies", KeyType::Bodies, "", "the two bodies"),
        Key::new("ends", KeyType::Points, "", "a point on each, in the world"),
        Key::new("on", KeyType::Local, "", "a point on each, in its body or a marker"),
        Key::new("joint", KeyType::Name, "", "instead of bodies: a joint with one coordinate, or `A.angle`"),
        Key::new("stiffness", KeyType::Number, "0", "of the spring [N/m, N m/rad]"),
        Key::new("damping", KeyType::Number, "0", "of the damper [N s/m, N m s/rad]"),
        Key::new(
            "rest",
            KeyType::Number,
            "length in the model pose",
            "length without elastic tension [m, rad]",
        ),
        Key::new("preload", KeyType::Number, "0", "tension added; of a compressed spring negative [N, N m]"),
        Key::new("tension", KeyType::Expression, "", "instead: any law of `length` and `speed` [N, N m]"),
        Key::new("only", KeyType::Choice(&["pull", "push"]), "both", "`pull`: a cable; `push`: a stop"),
    ],
    planar: &[
        "bodies = ['a', 'b'], ends = [[0.1, 0.2], [1.2, -0.1]], stiffness = 100, damping = 3, rest = 0.5",
        "joint = 'h', stiffness = 20, damping = 0.3, preload = 1",
        "joint = 'h', tension = '5*length^3 + 0.1*speed', only = 'push'",
    ],
    spatial: &[
        "bodies = ['a', 'b'], ends = [[0.1, 0.2, 0.3], [1.2, -0.1, 0.4]], stiffness = 100, damping = 3, rest = 0.5, preload = 2",
        "bodies = ['a', 'b'], on = [[0.1, 0.2, 0.3], [0, 0.1, 0]], stiffness = 100, damping = 30, only = 'pull'",
        "bodies = ['a', 'b'], ends = [[0, 0, 0], [1, 0, 0]], tension = '5*length^3 + 0.1*speed*a.x'",
        "joint = 'h', stiffness = 20, damping = 0.3, only = 'push'",
    ],
    read,
};
