//! Small kinds that read what the tests write, as the real ones do.

use sarrus_model::expr::{Bind, Binding};
use sarrus_model::key::{Key, KeyType};
use sarrus_model::reader::{ComponentMap, MARKER_KEYS, MarkerFrame};
use sarrus_model::{Frame, Model, Reader, Result, Section};

const fn key(name: &'static str, ty: KeyType) -> Key {
    Key::new(name, ty, "", "")
}

const SHAPE: &[Key] = &[key("radius", KeyType::Number), key("on", KeyType::Local)];
const BODY: &[Key] = &[
    key("from", KeyType::Point),
    key("to", KeyType::Point),
    key("at", KeyType::Point),
    key("angle", KeyType::Number),
    key("orientation", KeyType::Orientation),
    key("mass", KeyType::Number),
    key("inertia", KeyType::Inertia),
    key("com", KeyType::Local),
    key("material", KeyType::Name),
    key("shape", KeyType::Tables(SHAPE)),
    key("markers", KeyType::Map(&KeyType::Table(MARKER_KEYS))),
];
const STOP: &[Key] = &[key("stiffness", KeyType::Number), key("damping", KeyType::Number)];
const JOINT: &[Key] = &[
    key("bodies", KeyType::Bodies),
    key("at", KeyType::Point),
    key("on", KeyType::Local),
    key("axis", KeyType::Axial),
    key("stiffness", KeyType::Number),
    key("damping", KeyType::Number),
    key("limits", KeyType::Numbers),
    key("stop", KeyType::Table(STOP)),
];
const FORCE: &[Key] = &[
    key("body", KeyType::Body),
    key("at", KeyType::Point),
    key("force", KeyType::Expressions),
    key("torque", KeyType::Expression),
];
const DRIVER: &[Key] = &[
    key("joint", KeyType::Name),
    key("body", KeyType::Body),
    key("at", KeyType::Point),
    key("angle", KeyType::Expression),
    key("position", KeyType::Expressions),
];
const MEASURE: &[Key] = &[key("expression", KeyType::Expression)];

/// Every number that was read, in order, as bits.
#[derive(Default, Debug, PartialEq)]
pub struct Numbers(pub Vec<(String, u64)>);

impl Numbers {
    fn write(&mut self, name: &str, values: &[f64]) {
        self.0.extend(values.iter().map(|x| (name.to_string(), x.to_bits())));
    }

    fn frame(&mut self, name: &str, f: &Frame) {
        self.write(name, &f.p);
        self.write(name, &f.q);
        self.write(name, &[f.angle]);
    }
}

fn markers(n: &mut Numbers, r: &Reader<'_>, body: &Frame, meant: Option<&Frame>, prefix: &str) -> Result<()> {
    for (name, m) in r.map_of_tables("markers", MARKER_KEYS)? {
        let MarkerFrame { p, q } = m.marker_frame(body, meant)?;
        n.write(&format!("{prefix}{name}"), &p);
        n.write(&format!("{prefix}{name}"), &q);
    }
    Ok(())
}

/// Reads the whole model; programs are evaluated with slot = its number + 0.5.
pub fn read_all(m: &Model) -> Result<Numbers> {
    let mut n = Numbers::default();
    let mut slots: Vec<String> = Vec::new();
    let mut bind = |path: &str| -> std::result::Result<Binding, String> {
        let head = path.split('.').next().unwrap_or(path);
        let known = head == "t" || m.names.keys().any(|k| path.starts_with(&format!("{k}.")) || k == path);
        if !known {
            return Err(format!("`{path}` does not exist"));
        }
        let slot = slots.iter().position(|s| s == path).unwrap_or_else(|| {
            slots.push(path.to_string());
            slots.len() - 1
        });
        Ok(Binding::Scalar(slot as u32))
    };
    let bind: &mut Bind<'_> = &mut bind;
    let read = |slot: u32| f64::from(slot) + 0.5;

    for e in &m.bodies {
        let r = Reader::new(m, e, BODY)?;
        let f = r.body_frame()?;
        n.frame(&e.name, &f.frame);
        let mass = match r.positive_opt("mass")? {
            Some(mass) => mass,
            None => r.material("material")?.and_then(|m| m.density).ok_or_else(|| r.missing("mass"))?,
        };
        n.write(&e.name, &[mass]);
        if let Some(com) = r.own_point("com")? {
            n.write(&e.name, &com);
        }
        if let Some(sarrus_model::reader::WrittenInertia::Tensor(i)) = r.inertia("inertia")? {
            n.write(&e.name, i.as_flattened());
        }
        for s in r.subs("shape", SHAPE)? {
            n.write(&e.name, &[s.positive("radius")?]);
            s.own_point("on")?;
        }
        // the places of markers are compared by name: an attached one has none of its own here
        markers(&mut n, &r, &f.frame, None, &format!("{}.", e.name))?;
    }
    for a in &m.attachments {
        let frame = m.frame_of(&a.body)?;
        let meant = (!a.prefix.is_empty()).then_some(&a.frame);
        let r = Reader::open(m, &a.element);
        markers(&mut n, &r, &frame, meant, &format!("{}.{}", a.body, a.prefix))?;
    }
    for e in &m.joints {
        let r = Reader::new(m, e, JOINT)?;
        let bodies = r.bodies2("bodies")?;
        match r.require_one_of(&["at", "on"])? {
            "at" => n.write(&e.name, &r.point("at")?.unwrap_or_default()),
            _ => {
                for local in r.locals2("on", &bodies)?.into_iter().flatten() {
                    if let sarrus_model::BodyPoint::At(p) = local {
                        n.write(&e.name, &p);
                    }
                }
            }
        }
        n.write(&e.name, &r.axis_or("axis", [0.0, 0.0, 1.0])?);
        n.write(&e.name, &[r.number_or("stiffness", 0.0)?, r.number_or("damping", 0.0)?]);
        n.write(&e.name, &r.limits("limits")?.unwrap_or_default());
        if let Some(s) = r.sub("stop", STOP)? {
            n.write(&e.name, &[s.positive("stiffness")?, s.number_or("damping", 0.0)?]);
        }
    }
    for e in &m.forces {
        let r = Reader::new(m, e, FORCE)?;
        r.require_body("body")?;
        if let Some(p) = r.point("at")? {
            n.write(&e.name, &p);
        }
        if let Some(v) = r.expressions("force", ComponentMap::Polar, false)? {
            for p in m.compile_vector(&v, &[], bind)?.into_iter().flatten() {
                n.write(&e.name, &[p.eval(&read)]);
            }
        }
        if let Some(x) = r.axial_expression("torque")? {
            n.write(&e.name, &[m.compile(&x, &[], bind)?.eval(&read)]);
        }
    }
    for e in &m.drivers {
        let r = Reader::new(m, e, DRIVER)?;
        r.element_named("joint", &[Section::Joints])?;
        r.body("body")?;
        r.point("at")?;
        if let Some(x) = r.expression("angle")? {
            n.write(&e.name, &[m.compile(&x, &[], bind)?.eval(&read)]);
        }
        if let Some(v) = r.expressions("position", ComponentMap::Point, true)? {
            for p in m.compile_vector(&v, &[], bind)?.into_iter().flatten() {
                n.write(&e.name, &[p.eval(&read)]);
            }
        }
    }
    for e in &m.measures {
        let r = Reader::new(m, e, MEASURE)?;
        let x = r.require_expression("expression")?;
        n.write(&e.name, &[m.compile(&x, &[], bind)?.eval(&read)]);
    }
    for s in m.initial.iter().chain(&m.guess) {
        let r = Reader::setting(m, s);
        let column = s.path.rsplit('.').next().unwrap_or("");
        match column {
            "velocity" => n.write(&s.path, &r.vector("value")?.unwrap_or_default()),
            "x" | "y" | "z" | "vx" => n.write(&s.path, &[r.column("value", column)?]),
            _ => n.write(&s.path, &[r.number("value")?]),
        }
    }
    Ok(n)
}
