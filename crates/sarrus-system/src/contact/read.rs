//! Reads `[contacts.X]`.

use super::candidates::MOST_STATES;
use super::friction::FrictionLaw;
use super::laws::{Damping, Elastic, NormalForceLaw, restitution};
use super::rigid::{ImpactRule, Rigid};
use super::surface::{farthest, rounding};
use super::{Contact, ContactSides, SurfaceEntry, Touchable};
use crate::constraint::Constraint;
use crate::constraints::expression::ExpressionConstraint;
use crate::context::Context;
use crate::formula::ReadLevel;
use crate::names::{Directory, Named};
use sarrus_model::reader::SideNames;
use sarrus_model::record::ResolvedValue;
use sarrus_model::{Data, Diagnostic, Element, Key, KeyType, Model, Reader, Result, Section, Span};
use std::sync::Arc;

/// The only kind of `[contacts]`: name and one line on what it is.
pub const KIND: (&str, &str) = ("contact", "what happens where surfaces overlap, or where a gap closes");

const DAMPINGS: &[&str] = &["hunt_crossley", "lankarani_nikravesh", "flores", "exact"];
const ELASTIC: &[&str] = &["hertz", "linear"];
const RULES: &[&str] = &["newton", "poisson"];
const FRICTIONS: &[&str] = &["coulomb", "bristle", "lugre"];

/// The keys of `law`.
pub const LAW_KEYS: &[Key] = &[
    Key::new("kind", KeyType::Choice(ELASTIC), "hertz", "`hertz`: K δ^1.5; `linear`: K δ"),
    Key::new("stiffness", KeyType::Number, "hertz: from the materials", "K [N/m^1.5; linear N/m]"),
    Key::new(
        "damping",
        KeyType::Any,
        "`exact` with a `restitution`, else none",
        "`hunt_crossley` `lankarani_nikravesh` `flores` `exact` with `restitution` or `factor`; or a number [N s/m]",
    ),
    Key::new("restitution", KeyType::Number, "the materials' smallest", "nominal restitution, 0 to 1 [1]"),
    Key::new("factor", KeyType::Number, "", "instead of `restitution`: K δⁿ (1 + factor·δ̇) [s/m]"),
];

/// The keys of `friction`.
pub const FRICTION_KEYS: &[Key] = &[
    Key::new(
        "kind",
        KeyType::Choice(FRICTIONS),
        "coulomb",
        "`bristle` sticks, `coulomb` creeps below `slip_speed`",
    ),
    Key::new("mu", KeyType::Number, "the materials' smallest `friction`", "coefficient of friction [1]"),
    Key::new(
        "slip_speed",
        KeyType::Number,
        "0.001",
        "coulomb: speed at which 76 % of it act; lugre: of the fall from `mu_static` [m/s]",
    ),
    Key::new("mu_static", KeyType::Number, "`mu`", "lugre: to set off [1]"),
    Key::new(
        "stiffness",
        KeyType::Number,
        "that of a linear law; lugre 1e5",
        "bristle: of the spring [N/m]; lugre: per normal force [1/m]",
    ),
    Key::new(
        "damping",
        KeyType::Number,
        "critical",
        "bristle: while it sticks [N s/m]; lugre: per normal force [s/m]",
    ),
];

/// The keys of `[contacts.X]`.
pub const KEYS: &[Key] = &[
    Key::new(
        "between",
        KeyType::Any,
        "",
        "two sides: a body, member, `body.shape`, a list of these, or \"*\"; of an included file `left.ground`, \"left.*\"",
    ),
    Key::new("gap", KeyType::Expression, "", "instead of `between`: a gap of positions, closed below 0 [m]"),
    Key::new("law", KeyType::Table(LAW_KEYS), "hertz, from the materials", "the normal force"),
    Key::new("friction", KeyType::Table(FRICTION_KEYS), "none", "the force across the normal"),
    Key::new("method", KeyType::Choice(&["compliant", "impulsive"]), "compliant", "how impacts are resolved"),
    Key::new(
        "restitution",
        KeyType::Number,
        "the materials' smallest, or 0",
        "impulsive: speed after an impact over that before, 0 to 1 [1]",
    ),
    Key::new(
        "rule",
        KeyType::Choice(RULES),
        "newton",
        "impulsive: what restitution is of, velocities (`newton`) or impulses (`poisson`)",
    ),
    Key::new(
        "acts_at",
        KeyType::Choice(&["surface", "centre"]),
        "surface",
        "where forces act: `centre` is that of the ball, end or capsule that touches",
    ),
];

/// Of a contact that is rigid.
const NO_LAW: NormalForceLaw =
    NormalForceLaw { elastic: Elastic::Linear, stiffness: Some(0.0), damping: Damping::Dashpot(0.0) };

/// Surfaces of two sides, and bodies that do not touch each other.
type Sides = ([Vec<u32>; 2], Vec<[u32; 2]>);

/// Holds what reading a contact needs of the model.
pub(crate) struct Surfaces<'a> {
    /// Names.
    pub directory: &'a Directory,
    /// All surfaces of the model, those of a body one after the other.
    pub all: &'a [SurfaceEntry],
}

/// Every surface of the model.
pub(crate) fn surfaces(directory: &Directory) -> Vec<SurfaceEntry> {
    let own = directory.bodies.iter().enumerate().flat_map(|(id, body)| {
        body.surfaces.iter().map(move |touchable| {
            let material = touchable.material.as_ref();
            let compliance = material.and_then(|m| {
                let nu = m.poisson.unwrap_or(0.3);
                m.young.map(|young| (1.0 - nu * nu) / young)
            });
            SurfaceEntry {
                body: id as u32,
                surface: touchable.surface.clone(),
                compliance: compliance.unwrap_or(0.0),
                far: farthest(&touchable.surface),
            }
        })
    });
    own.collect()
}

/// Returns whether a shape is called `wanted`; `left.ground` calls all that the ground of `left` brings, files in it included.
fn is_called(name: &str, wanted: &str) -> bool {
    name == wanted
        || wanted.strip_suffix("ground").is_some_and(|file| file.ends_with('.') && name.starts_with(file))
}

impl Surfaces<'_> {
    /// Reads an entry.
    pub fn read(&self, model: &Model, element: &Element) -> Result<Contact> {
        let reader = Reader::new(model, element, KEYS)?;
        if element.kind != KIND.0 {
            let error = reader.error("kind", format!("{} takes no `kind`", reader.title()));
            return Err(error.hint("`law` and `friction` have kinds"));
        }
        let rigid = reader.choice("method", &["compliant", "impulsive"])? == Some(1);
        self.refuse(&reader, rigid)?;
        let at_centre = reader.choice("acts_at", &["surface", "centre"])? == Some(1);
        let name = element.name.clone();
        if reader.require_one_of(&["between", "gap"])? == "gap" {
            for (key, why) in
                [("friction", "has no direction to slip in"), ("acts_at", "acts on all that it names")]
            {
                if reader.has(key) {
                    let message = format!("{} has a `gap`, which {why}: it takes no `{key}`", reader.title());
                    return Err(reader.error(key, message).hint("give `between` instead, or leave it out"));
                }
            }
            let (law, rigid) = match rigid {
                true => (NO_LAW, Some(self.rigid(&reader, None)?)),
                false => (self.law(&reader, None)?, None),
            };
            return Ok(Contact { name, what: self.gap(reader)?, law, friction: None, at_centre, rigid });
        }
        let (sides, apart) = self.sides(&reader)?;
        if rigid {
            let rigid = Some(self.rigid(&reader, Some(&sides))?);
            let what = ContactSides::Surfaces { sides, apart };
            return Ok(Contact { name, what, law: NO_LAW, friction: None, at_centre, rigid });
        }
        let law = self.law(&reader, Some(&sides))?;
        let friction = self.friction(&reader, &law, &sides)?;
        Ok(Contact {
            name,
            what: ContactSides::Surfaces { sides, apart },
            law,
            friction,
            at_centre,
            rigid: None,
        })
    }

    /// Refuses keys of the other method.
    fn refuse(&self, reader: &Reader, rigid: bool) -> Result<()> {
        let (keys, method, hint) = match rigid {
            true => (
                ["law", "acts_at"],
                "impulsive",
                "its impacts have a `restitution`, and no force of an overlap",
            ),
            false => (["restitution", "rule"], "compliant", "in `law`; or `method = \"impulsive\"`"),
        };
        match keys.iter().find(|key| reader.has(key)) {
            None => Ok(()),
            Some(key) => {
                let message = format!("{} is {method}: it takes no `{key}`", reader.title());
                Err(reader.error(key, message).hint(hint))
            }
        }
    }

    /// Reads how rigid surfaces meet.
    fn rigid(&self, reader: &Reader, sides: Option<&[Vec<u32>; 2]>) -> Result<Rigid> {
        let materials = || sides.and_then(|sides| self.smallest(sides, |m| m.restitution));
        let restitution = match reader.number_opt("restitution")? {
            Some(e) if !(0.0..=1.0).contains(&e) => {
                let message = format!("`restitution` of {} lies between 0 and 1, it is {e}", reader.title());
                return Err(reader.error("restitution", message));
            }
            own => own.or_else(materials).unwrap_or(0.0),
        };
        let rule =
            if reader.choice("rule", RULES)? == Some(1) { ImpactRule::Poisson } else { ImpactRule::Newton };
        let mut mu = 0.0;
        if let (Some(friction), Some(sides)) = (reader.sub("friction", FRICTION_KEYS)?, sides) {
            for key in ["slip_speed", "stiffness", "damping"] {
                if friction.has(key) {
                    let message = format!("{} is impulsive: its friction takes no `{key}`", reader.title());
                    return Err(friction.error(key, message).hint("it is Coulomb's, and sticks; give `mu`"));
                }
            }
            if friction.choice("kind", FRICTIONS)?.unwrap_or(0) != 0 {
                let message = format!("{} is impulsive: its friction is Coulomb's", reader.title());
                return Err(friction.error("kind", message).hint("`coulomb`; it sticks truly"));
            }
            mu = match friction.not_negative_opt("mu")?.or_else(|| self.smallest(sides, |m| m.friction)) {
                Some(mu) => mu,
                None => {
                    return Err(friction.missing("mu").hint("or give a body a `material` with `friction`"));
                }
            };
        }
        Ok(Rigid { restitution, rule, mu })
    }

    fn gap(&self, reader: Reader) -> Result<ContactSides> {
        let ctx = Context::new(reader, self.directory);
        let expr = ctx.reader.require_expression("gap")?;
        let mut binder = ctx.binder(ReadLevel::Position, Vec::new());
        let formula = binder.scalar(&expr)?;
        let ids = std::mem::take(&mut binder.ids);
        if ids.iter().all(|&id| id == 0) {
            let error = ctx.reader.error("gap", "names no body or joint, so nothing can touch");
            return Err(error.hint("write positions such as `guide.position` or `ball.y`"));
        }
        let rows = ExpressionConstraint(formula);
        debug_assert_eq!(Constraint::rows(&rows), 1);
        Ok(ContactSides::Gap { ids, rows: Arc::new(rows) })
    }

    /// Surfaces of the two sides, and bodies that do not touch each other.
    fn sides(&self, reader: &Reader) -> Result<Sides> {
        let two = "two sides, such as `[\"ball\", \"ground\"]`, or `[\"*\", \"*\"]` for all against all";
        let names = reader.sides("between").map_err(|error| hinted(error, two))?;
        let names = names.ok_or_else(|| reader.missing("between"))?;
        let mut sides = [Vec::new(), Vec::new()];
        for (side, names) in sides.iter_mut().zip(&names) {
            for (name, span) in names {
                side.extend(self.side(reader, name, *span)?);
            }
            side.sort_unstable();
            side.dedup();
        }
        let side = |names: &SideNames| match &names[..] {
            [(name, _)] => ResolvedValue::Text(name.clone()),
            names => {
                ResolvedValue::List(names.iter().map(|(name, _)| ResolvedValue::Text(name.clone())).collect())
            }
        };
        reader.record("between", || ResolvedValue::List(names.iter().map(side).collect()));
        let any = names.iter().flatten().any(|(name, _)| name.ends_with('*'));
        let directory = self.directory;
        let together = |[a, b]: [u32; 2]| {
            any || directory.flexible.iter().any(|m| m.all.contains(&a) && m.all.contains(&b))
        };
        let jointed = directory.joints.iter().map(|joint| joint.bodies).filter(|pair| together(*pair));
        let mut apart: Vec<[u32; 2]> = jointed.map(|[a, b]| [a.min(b), a.max(b)]).collect();
        apart.sort_unstable();
        apart.dedup();
        let can = |a: &u32, b: &u32| {
            let [a, b] = [*a, *b].map(|i| self.all[i as usize].body);
            a != b && apart.binary_search(&[a.min(b), a.max(b)]).is_err()
        };
        if !sides[0].iter().any(|a| sides[1].iter().any(|b| can(a, b))) {
            let message = format!("nothing of {} can touch", reader.title());
            let hint = if any {
                "bodies need a `shape`; those that a joint connects are left out"
            } else {
                "name two different bodies"
            };
            return Err(reader.error("between", message).hint(hint));
        }
        Ok((sides, apart))
    }

    /// Surfaces that a name of a side stands for.
    fn side(&self, reader: &Reader, name: &str, span: Span) -> Result<Vec<u32>> {
        if let Some(file) = name.strip_suffix('*') {
            return Ok(self.of_file(file));
        }
        let shapeless = |what: &str| {
            let error = reader.at(span, format!("{what} has nothing that can touch"));
            error.hint("give it a `shape`, such as `{ kind = \"sphere\", radius = 0.1 }`, whose `role` is `all` or `contact`")
        };
        if let Some(member) = self.directory.member(name) {
            let own: Vec<u32> = member.all.clone().flat_map(|id| self.of_body(id)).collect();
            return if own.is_empty() {
                Err(shapeless(&format!("flexible member `{name}`")))
            } else {
                Ok(own)
            };
        }
        if let Some(id) = self.directory.body(name) {
            let own = self.of_body(id);
            return if own.is_empty() { Err(shapeless(&format!("body `{name}`"))) } else { Ok(own) };
        }
        let mut parts = name.match_indices('.').map(|(dot, _)| (&name[..dot], &name[dot + 1..]));
        if let Some((id, body, shape)) =
            parts.find_map(|(body, shape)| Some((self.directory.body(body)?, body, shape)))
        {
            let mut own = self.of_body(id);
            own.retain(|&i| self.touchable(i).name.as_deref().is_some_and(|name| is_called(name, shape)));
            if !own.is_empty() {
                return Ok(own);
            }
            if let Some(file) = shape.strip_suffix(".ground") {
                let error = reader.at(span, format!("the `[ground]` of `{file}` has nothing that can touch"));
                return Err(error.hint(
                    "an included file touches the shapes of its own `[ground]`; those of another file are named where it is included",
                ));
            }
            let surfaces = &self.directory.bodies[id as usize].surfaces;
            let names = surfaces.iter().filter_map(|s| s.name.as_deref());
            let message = format!("body `{body}` has no shape `{shape}` that can touch");
            let near = sarrus_model::suggest::did_you_mean(shape, names);
            let hint = near.unwrap_or_else(|| "a shape is called by its `name`".into());
            return Err(reader.at(span, message).hint(hint));
        }
        let error = reader.model().unknown(name, span, &[Section::Bodies, Section::Flexible]);
        Err(error.maybe_hint(sarrus_model::suggest::did_you_mean(name, ["ground"])))
    }

    fn of_body(&self, id: u32) -> Vec<u32> {
        let first = self.all.partition_point(|s| s.body < id);
        let last = self.all.partition_point(|s| s.body <= id);
        (first as u32..last as u32).collect()
    }

    /// Surfaces of the bodies of an included file, and of what its ground brings to others; of all for the file itself.
    fn of_file(&self, prefix: &str) -> Vec<u32> {
        let of_body = |i: u32| &self.directory.bodies[self.all[i as usize].body as usize].name;
        let brought = |i: u32| self.touchable(i).name.as_deref().is_some_and(|name| name.starts_with(prefix));
        (0..self.all.len() as u32).filter(|&i| of_body(i).starts_with(prefix) || brought(i)).collect()
    }

    /// A surface as its body has it.
    fn touchable(&self, i: u32) -> &Touchable {
        let body = self.all[i as usize].body;
        let first = self.all.partition_point(|s| s.body < body);
        &self.directory.bodies[body as usize].surfaces[i as usize - first]
    }

    /// The smallest of a property of the materials on both sides.
    fn smallest(
        &self,
        sides: &[Vec<u32>; 2],
        property: impl Fn(&sarrus_model::materials::Material) -> Option<f64>,
    ) -> Option<f64> {
        let surfaces = sides.iter().flatten().map(|&i| self.touchable(i));
        surfaces.filter_map(|s| property(s.material.as_deref()?)).reduce(f64::min)
    }

    /// `law`; without sides that of a gap.
    pub fn law(&self, outer: &Reader, sides: Option<&[Vec<u32>; 2]>) -> Result<NormalForceLaw> {
        let table = "`law = { kind = \"linear\", stiffness = 1e6 }`";
        let inner = outer.sub("law", LAW_KEYS).map_err(|error| hinted(error, table))?;
        let Some(reader) = &inner else {
            let restitution = sides.and_then(|sides| self.smallest(sides, |m| m.restitution));
            let damping = match restitution {
                Some(e) => exact(outer, "between", e)?,
                None => Damping::Dashpot(0.0),
            };
            let law = NormalForceLaw { elastic: Elastic::Hertz, stiffness: None, damping };
            self.check_stiffness(outer, "law", &law, sides)?;
            return Ok(law);
        };
        let elastic = match reader.choice("kind", ELASTIC)? {
            Some(1) => Elastic::Linear,
            _ => Elastic::Hertz,
        };
        let stiffness = reader.positive_opt("stiffness")?;
        let damping = self.damping(reader, sides)?;
        let law = NormalForceLaw { elastic, stiffness, damping };
        self.check_stiffness(reader, "kind", &law, sides)?;
        Ok(law)
    }

    /// Refuses a law whose stiffness neither the file nor the materials give.
    fn check_stiffness(
        &self,
        reader: &Reader,
        key: &str,
        law: &NormalForceLaw,
        sides: Option<&[Vec<u32>; 2]>,
    ) -> Result<()> {
        if law.stiffness.is_some() {
            return Ok(());
        }
        let missing = |why: &str, hint: &str| {
            let message = format!("{} needs `stiffness`: {why}", reader.title());
            let error =
                if reader.has(key) { reader.error(key, message) } else { reader.element_error(message) };
            Err(error.hint(hint))
        };
        let Some(sides) = sides else {
            return missing("a gap has no materials", "`law = { kind = \"linear\", stiffness = 1e6 }` [N/m]");
        };
        if law.elastic == Elastic::Linear {
            return missing(
                "a linear law has none from materials",
                "in N/m; `hertz` takes it from the materials",
            );
        }
        // two surfaces, one of each side, that both lack something
        let lacking = |lacks: &dyn Fn(&SurfaceEntry) -> bool| {
            let of = |side: &Vec<u32>| -> Vec<u32> {
                let bodies = side.iter().map(|i| &self.all[*i as usize]).filter(|s| lacks(s));
                bodies.map(|s| s.body).collect()
            };
            let [first, second] = sides.each_ref().map(of);
            let other = |a: &u32| second.iter().find(|b| *b != a).map(|b| [*a, *b]);
            let pair = first.iter().find_map(other)?;
            let [a, b] = pair.map(|id| self.directory.bodies[id as usize].name.as_str());
            Some(format!("neither `{a}` nor `{b}`"))
        };
        if let Some(neither) = lacking(&|s| s.compliance == 0.0) {
            let why = format!("{neither} has a material with a Young's modulus");
            return missing(&why, "give `stiffness` [N/m^1.5], or a body a `material`; one without is rigid");
        }
        if let Some(neither) = lacking(&|s| rounding(&s.surface.geometry) == 0.0) {
            let why = format!("{neither} is round there, and Hertz's is of round surfaces");
            return missing(&why, "give `stiffness` [N/m^1.5], or take a linear law");
        }
        Ok(())
    }

    fn damping(&self, reader: &Reader, sides: Option<&[Vec<u32>; 2]>) -> Result<Damping> {
        let own = match reader.number_opt("restitution")? {
            Some(e) if !(0.0..=1.0).contains(&e) => {
                let message = format!("`restitution` of {} lies between 0 and 1, it is {e}", reader.title());
                return Err(reader.error("restitution", message));
            }
            own => own,
        };
        let factor = reader.not_negative_opt("factor")?;
        reader.one_of(&["restitution", "factor"])?;
        let word = match reader.value("damping").map(|value| &value.data) {
            Some(Data::Text(text)) => DAMPINGS.iter().find(|name| **name == text.as_str()),
            _ => None,
        };
        if word.is_none() && reader.has("damping") {
            let hint = "a number [N s/m], or one of: hunt_crossley lankarani_nikravesh flores exact";
            let d = reader.not_negative_opt("damping").map_err(|e| e.hint(hint))?.unwrap_or(0.0);
            for key in ["restitution", "factor"] {
                if reader.has(key) {
                    let message =
                        format!("{} has a number as `damping`: it takes no `{key}`", reader.title());
                    return Err(reader.error(key, message).hint("name a damping, or leave one of them out"));
                }
            }
            return Ok(Damping::Dashpot(d));
        }
        if let Some(word) = word {
            reader.record("damping", || ResolvedValue::Text((*word).to_string()));
        }
        if let Some(factor) = factor {
            return match word {
                None | Some(&"hunt_crossley") => Ok(Damping::Factor(factor)),
                Some(word) => {
                    let message = format!("damping `{word}` of {} takes no `factor`", reader.title());
                    Err(reader
                        .error("factor", message)
                        .hint("`hunt_crossley` does; others take `restitution`"))
                }
            };
        }
        let materials = || sides.and_then(|sides| self.smallest(sides, |m| m.restitution));
        let Some(e) = own.or_else(materials) else {
            return match word {
                None => Ok(Damping::Dashpot(0.0)),
                Some(word) => {
                    let message = format!("damping `{word}` of {} needs `restitution`", reader.title());
                    Err(reader.error("damping", message).hint("0 to 1, here or of a material"))
                }
            };
        };
        let chi = match word {
            None | Some(&"exact") => return exact(reader, "restitution", e),
            Some(&"hunt_crossley") => restitution::hunt_crossley(e),
            Some(&"lankarani_nikravesh") => restitution::lankarani_nikravesh(e),
            _ => restitution::flores(e),
        };
        let kind = word.copied().unwrap_or("exact");
        if !(chi <= MOST) {
            return Err(too_small(reader, kind, e));
        }
        Ok(Damping::Restitution { kind, chi, nominal: e })
    }

    fn friction(
        &self,
        outer: &Reader,
        law: &NormalForceLaw,
        sides: &[Vec<u32>; 2],
    ) -> Result<Option<FrictionLaw>> {
        let table = "`friction = { mu = 0.3 }`";
        let inner = outer.sub("friction", FRICTION_KEYS).map_err(|error| hinted(error, table))?;
        let Some(reader) = inner else { return Ok(None) };
        let kind = reader.choice("kind", FRICTIONS)?.unwrap_or(0);
        let mu = match reader.not_negative_opt("mu")?.or_else(|| self.smallest(sides, |m| m.friction)) {
            Some(mu) => mu,
            None => return Err(reader.missing("mu").hint("or give a body a `material` with `friction`")),
        };
        let refuse = |keys: &[&str], hint: &str| -> Result<()> {
            match keys.iter().find(|key| reader.has(key)) {
                None => Ok(()),
                Some(key) => {
                    let message = format!("{} is {}: it takes no `{key}`", reader.title(), FRICTIONS[kind]);
                    Err(reader.error(key, message).hint(hint))
                }
            }
        };
        match kind {
            0 => {
                refuse(&["stiffness", "damping", "mu_static"], "`bristle` has a spring, `lugre` both")?;
                let slip_speed = reader.positive_opt("slip_speed")?.unwrap_or(1e-3);
                Ok(Some(FrictionLaw::Coulomb { mu, slip_speed }))
            }
            1 => {
                refuse(&["slip_speed", "mu_static"], "it sticks; `coulomb` creeps below it")?;
                let of_law = law.stiffness.filter(|_| law.elastic == Elastic::Linear);
                let Some(stiffness) = reader.positive_opt("stiffness")?.or(of_law) else {
                    let hint =
                        "that of the bristle across the normal [N/m], about that of the contact along it";
                    return Err(reader.missing("stiffness").hint(hint));
                };
                let damping = reader.not_negative_opt("damping")?;
                Ok(Some(FrictionLaw::Bristle { mu, stiffness, damping }))
            }
            _ => {
                let slip_speed = reader.positive_opt("slip_speed")?.unwrap_or(1e-3);
                let mu_static = reader.not_negative_opt("mu_static")?.unwrap_or(mu);
                let stiffness = reader.positive_opt("stiffness")?.unwrap_or(1e5);
                // critical under its own weight
                let damping = reader.not_negative_opt("damping")?.unwrap_or(2.0 * (stiffness / 9.81).sqrt());
                Ok(Some(FrictionLaw::Lugre { mu, mu_static, slip_speed, stiffness, damping }))
            }
        }
    }

    /// Refuses states for more points than a model can carry.
    pub fn check_states(&self, reader: &Reader, count: usize) -> Result<()> {
        if count <= 3 * MOST_STATES {
            return Ok(());
        }
        let message = format!(
            "friction `lugre` of {} has a state for every place that may touch, here more than {MOST_STATES}",
            reader.title()
        );
        let hint = "name fewer bodies in `between`, or take `bristle`, which has none";
        Err(reader.error("friction", message).hint(hint))
    }
}

/// The largest χ that is taken: it stands for a restitution of a thousandth.
const MOST: f64 = 1600.0;

/// An error with a hint, unless it has one.
fn hinted(error: Diagnostic, hint: &str) -> Diagnostic {
    if error.hint.is_some() { error } else { error.hint(hint) }
}

fn exact(reader: &Reader, key: &str, e: f64) -> Result<Damping> {
    if e < 1e-3 {
        let error = too_small(reader, "exact", e);
        return Err(if reader.has(key) { error } else { error.note("it is that of a material") });
    }
    Ok(Damping::Restitution { kind: "exact", chi: restitution::needed(e), nominal: e })
}

fn too_small(reader: &Reader, kind: &str, e: f64) -> sarrus_model::Diagnostic {
    let message = format!("{}: damping `{kind}` cannot deliver a restitution of {e}", reader.title());
    let hint = "it takes damping without end; 0.001 is the least, `hunt_crossley` takes 0 and delivers 0.49";
    let error = if reader.has("restitution") {
        reader.error("restitution", message)
    } else {
        reader.element_error(message)
    };
    error.hint(hint)
}

/// Returns what a name of `[contacts]` stands for in expressions of forces: its readings are known in results only.
pub(crate) fn named() -> Named {
    Named::Other("contact")
}
