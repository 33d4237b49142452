//! `[run]` and `[output]`: what was asked for. What was not is left to the method.

use crate::Result;
use crate::diagnostic::Span;
use crate::expr::Quantity;
use crate::key::{Key, KeyType};
use crate::model::Model;
use crate::reader::Reader;
use crate::record::ResolvedValue;
use crate::shown::UNIT_KEYS;
use crate::value::Data;

/// The keys of `[run]`.
pub const RUN_KEYS: &[Key] = &[
    Key::new("t_start", KeyType::Number, "0", "time at which the run begins [s]"),
    Key::new("t_end", KeyType::Number, "10", "time at which it ends [s]"),
    Key::new("max_steps", KeyType::Number, "none", "most steps that are taken [1]"),
    Key::new("wall_limit", KeyType::Number, "none", "longest time the computer may take [s]"),
    Key::new("integrator", KeyType::Method, "auto", "how time is stepped"),
    Key::new("formulation", KeyType::Method, "auto", "how constraint forces are found"),
    Key::new("stabilization", KeyType::Method, "auto", "how drift is removed"),
    Key::new(
        "rtol",
        KeyType::Number,
        "certify.energy / 100",
        "relative tolerance of a step [1]; 1e-6 for implicit integrators, 1e-9 for bdf",
    ),
    Key::new("atol", KeyType::Number, "rtol / 100", "absolute tolerance of a step; at most 1e-8"),
    Key::new(
        "step",
        KeyType::Number,
        "chosen",
        "of fixed-step methods; of the others the first and largest [s]",
    ),
    Key::new(
        "coordinates",
        KeyType::Choice(&["absolute", "joint"]),
        "absolute",
        "coordinates that the run is made in: a pose per body, or those of the joints",
    ),
    Key::new(
        "rotation",
        KeyType::Choice(&["quaternion", "euler_zxz"]),
        "quaternion",
        "how orientations are integrated",
    ),
    Key::new(
        "regularize",
        KeyType::Either(&KeyType::Flag, &KeyType::Choice(&Regularization::NAMES)),
        "auto",
        "through singular positions",
    ),
    Key::new(
        "assembly",
        KeyType::Choice(&["full", "velocity", "none"]),
        "full",
        "what is made consistent before the run",
    ),
    Key::new("certify", KeyType::Table(CERTIFY_KEYS), "", "limits of the certificate"),
];

/// The keys of `run.certify`.
pub const CERTIFY_KEYS: &[Key] = &[
    Key::new(
        "level",
        KeyType::Choice(&Certification::NAMES),
        "standard",
        "how much is certified: `full` estimates the accuracy from a more accurate run, `basic` does not estimate it",
    ),
    Key::new("position", KeyType::Number, "1e-8", "largest violation of the constraints"),
    Key::new("velocity", KeyType::Number, "1e-7", "largest violation of their first derivatives"),
    Key::new("energy", KeyType::Number, "1e-6", "largest relative error of the energy balance [1]"),
    Key::new(
        "accuracy",
        KeyType::Number,
        "1e-3",
        "largest estimated error of a column, relative to the largest value of its kind [1]",
    ),
    Key::new(
        "mesh",
        KeyType::Number,
        "1e-2",
        "largest mesh error of a beam over its length, as estimated [1]",
    ),
];

/// The keys of `[output]`.
pub const OUTPUT_KEYS: &[Key] = &[
    Key::new("every", KeyType::Number, "1/1000 of the run", "time between two rows [s]"),
    Key::new("columns", KeyType::Names, "[\"*\"]", "patterns of columns, such as \"crank.*\" and \"!*.q?\""),
    Key::new("peaks", KeyType::Flag, "true", "whether least and largest values of columns are looked for"),
];

/// The keys of `[view]`.
pub const VIEW_KEYS: &[Key] = &[
    Key::new("trace", KeyType::Names, "", "markers whose paths are drawn"),
    Key::new("follow", KeyType::Name, "", "body that the camera follows"),
    Key::new("camera", KeyType::Any, "", "where the camera stands"),
    Key::new("units", KeyType::Table(UNIT_KEYS), "SI", "units in which summaries and plots show results"),
];

/// A method by name, with its options in the order of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MethodChoice {
    /// Its name; `auto` leaves the choice to the program.
    pub kind: String,
    /// Its options.
    pub options: Vec<(String, WrittenOption)>,
    /// Marks where it is asked for; [`Span::NONE`] on the command line.
    pub span: Span,
}

/// The value of an option.
#[derive(Clone, Debug, PartialEq)]
pub enum WrittenOption {
    /// A number; a flag is 1 or 0.
    Number(f64),
    /// A name, such as `auto`.
    Name(String),
}

/// Describes how a run starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Assembly {
    /// Positions and velocities are made consistent.
    #[default]
    Full,
    /// Positions stay as written.
    Velocity,
    /// Everything stays as written.
    None,
}

/// Describes how singular positions are passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Regularization {
    /// As the program thinks best.
    #[default]
    Auto,
    /// By higher derivatives of the constraints, with Taylor coefficients of motion and tangents.
    Jets,
    /// By one more derivative of the rows that vanish; to compare with.
    Amirouche,
    /// Not at all.
    Off,
}

impl Regularization {
    /// Its names, in the order of the variants; `false` is the last.
    pub const NAMES: [&'static str; 4] = ["auto", "jets", "amirouche", "false"];

    /// The one called `name`.
    pub fn from_name(name: &str) -> Option<Regularization> {
        use Regularization::*;
        let all = [Auto, Jets, Amirouche, Off];
        Self::NAMES.iter().position(|n| *n == name).map(|i| all[i])
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

/// Describes how orientations of spatial bodies are integrated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rotation {
    /// Unit quaternions.
    #[default]
    Quaternion,
    /// Euler angles zxz, singular where the second is a multiple of half a revolution.
    EulerZxz,
}

/// Coordinates that a run is made in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Coordinates {
    /// A pose per body.
    #[default]
    Absolute,
    /// Those of the joints of a spanning tree; loops are cut.
    Joint,
}

impl Coordinates {
    /// As files and flags write it.
    pub fn name(self) -> &'static str {
        match self {
            Coordinates::Absolute => "absolute",
            Coordinates::Joint => "joint",
        }
    }
}

/// Describes how much of a run is certified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Certification {
    /// Holds what the run itself shows: constraints, energy, rotations, gaps.
    Basic,
    /// Also its accuracy, estimated at little cost.
    #[default]
    Standard,
    /// Also its accuracy, estimated from all rows of a more accurate run.
    Full,
}

impl Certification {
    /// As files and flags write them.
    pub const NAMES: [&str; 3] = ["basic", "standard", "full"];

    /// The one called `name`.
    pub fn from_name(name: &str) -> Option<Certification> {
        let all = [Certification::Basic, Certification::Standard, Certification::Full];
        Certification::NAMES.iter().position(|own| *own == name).map(|i| all[i])
    }
}

/// Limits of the certificate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Certify {
    /// The certified part.
    pub level: Certification,
    /// Largest ‖Φ‖.
    pub position: f64,
    /// Largest ‖Φ̇‖.
    pub velocity: f64,
    /// Largest relative error of the energy balance.
    pub energy: f64,
    /// Largest estimated error of a column, relative to the scale of its unit.
    pub accuracy: f64,
    /// Largest mesh error of a beam over its length, as estimated.
    pub mesh: f64,
}

impl Default for Certify {
    fn default() -> Self {
        Certify {
            level: Certification::Standard,
            position: 1e-8,
            velocity: 1e-7,
            energy: 1e-6,
            accuracy: 1e-3,
            mesh: 1e-2,
        }
    }
}

/// `[run]`, with nothing filled in that the file leaves out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunSettings {
    /// Default 0 (s).
    pub t_start: Option<f64>,
    /// Default 10 (s).
    pub t_end: Option<f64>,
    /// Most steps.
    pub max_steps: Option<u64>,
    /// Longest time the computer may take (s).
    pub wall_limit: Option<f64>,
    /// None: auto.
    pub integrator: Option<MethodChoice>,
    /// None: auto.
    pub formulation: Option<MethodChoice>,
    /// None: auto.
    pub stabilization: Option<MethodChoice>,
    /// Default 1e-6.
    pub rtol: Option<f64>,
    /// Default 1e-8.
    pub atol: Option<f64>,
    /// Step of fixed-step methods (s).
    pub step: Option<f64>,
    /// Coordinates that the run is made in.
    pub coordinates: Coordinates,
    /// Describes how orientations are integrated.
    pub rotation: Rotation,
    /// Describes how singular positions are passed.
    pub regularize: Regularization,
    /// Describes how the run starts.
    pub assembly: Assembly,
    /// Limits of the certificate.
    pub certify: Certify,
}

/// `[output]`, with nothing filled in that the file leaves out.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputSettings {
    /// Time between two rows (s); default 1/1000 of the run.
    pub every: Option<f64>,
    /// Patterns of columns; default all.
    pub columns: Option<Vec<String>>,
    /// True if least and largest values of columns are searched for.
    pub peaks: bool,
}

impl RunSettings {
    /// Reads `[run]`.
    pub fn read(model: &Model) -> Result<RunSettings> {
        let reader = Reader::new(model, &model.run, RUN_KEYS)?;
        let coordinates = match reader.choice("coordinates", &["absolute", "joint"])? {
            Some(1) => Coordinates::Joint,
            _ => Coordinates::Absolute,
        };
        let rotation = match reader.choice("rotation", &["quaternion", "euler_zxz"])? {
            Some(1) => Rotation::EulerZxz,
            _ => Rotation::Quaternion,
        };
        let regularize = match reader.value("regularize").map(|v| &v.data) {
            Some(Data::Bool(false)) => {
                reader.record("regularize", || ResolvedValue::Flag(false));
                Regularization::Off
            }
            Some(Data::Bool(true)) => {
                let names = "\"auto\", \"jets\", \"amirouche\" or false";
                return Err(reader.error("regularize", "`regularize = true` does not say how").hint(names));
            }
            // as the flag of the command line has it, `false` may stand in quotes
            _ => match reader.choice("regularize", &Regularization::NAMES)? {
                Some(1) => Regularization::Jets,
                Some(2) => Regularization::Amirouche,
                Some(3) => Regularization::Off,
                _ => Regularization::Auto,
            },
        };
        let assembly = match reader.choice("assembly", &["full", "velocity", "none"])? {
            Some(1) => Assembly::Velocity,
            Some(2) => Assembly::None,
            _ => Assembly::Full,
        };
        let mut certify = Certify::default();
        if let Some(table) = reader.sub("certify", CERTIFY_KEYS)? {
            certify.position = table.positive_opt("position")?.unwrap_or(certify.position);
            certify.velocity = table.positive_opt("velocity")?.unwrap_or(certify.velocity);
            certify.energy = table.positive_opt("energy")?.unwrap_or(certify.energy);
            if let Some(i) = table.choice("level", &Certification::NAMES)? {
                certify.level = Certification::from_name(Certification::NAMES[i]).unwrap_or_default();
            }
            certify.accuracy = table.positive_opt("accuracy")?.unwrap_or(certify.accuracy);
            certify.mesh = table.positive_opt("mesh")?.unwrap_or(certify.mesh);
        }
        let settings = RunSettings {
            t_start: reader.number_opt("t_start")?,
            t_end: reader.number_opt("t_end")?,
            max_steps: reader.count_opt("max_steps")?,
            wall_limit: reader.positive_opt("wall_limit")?,
            integrator: reader.method("integrator")?,
            formulation: reader.method("formulation")?,
            stabilization: reader.method("stabilization")?,
            rtol: reader.positive_opt("rtol")?,
            atol: reader.positive_opt("atol")?,
            step: reader.positive_opt("step")?,
            coordinates,
            rotation,
            regularize,
            assembly,
            certify,
        };
        let (start, end) = (settings.t_start(), settings.t_end());
        if end <= start {
            let key = if reader.has("t_end") { "t_end" } else { "t_start" };
            return Err(reader
                .error(key, format!("time cannot go backwards: the run is from t = {start} to t = {end}"))
                .hint("`t_end` must be above `t_start`"));
        }
        Ok(settings)
    }

    /// The time at which the run begins (s).
    pub fn t_start(&self) -> f64 {
        self.t_start.unwrap_or(0.0)
    }

    /// The time at which it ends (s).
    pub fn t_end(&self) -> f64 {
        self.t_end.unwrap_or(10.0)
    }
}

impl OutputSettings {
    /// Reads `[output]`.
    pub fn read(model: &Model) -> Result<OutputSettings> {
        let reader = Reader::new(model, &model.output, OUTPUT_KEYS)?;
        let columns = match reader.value("columns").map(|v| &v.data) {
            Some(Data::Text(_)) => reader.text("columns")?.map(|t| vec![t.to_string()]),
            _ => reader.texts("columns")?.map(|list| list.into_iter().map(str::to_string).collect()),
        };
        let (every, peaks) = (reader.positive_opt("every")?, reader.flag_or("peaks", true)?);
        Ok(OutputSettings { every, columns, peaks })
    }
}

impl Reader<'_> {
    /// A method: a name, or a table with `kind` and options.
    pub fn method(&self, key: &str) -> Result<Option<MethodChoice>> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let span = value.span;
        match &value.data {
            Data::Text(name) => {
                self.record(key, || ResolvedValue::Text(name.to_string()));
                Ok(Some(MethodChoice { kind: name.to_string(), options: Vec::new(), span }))
            }
            Data::Table(_) => {
                let Some(inner) = self.map(key)? else { return Ok(None) };
                let kind = inner.text("kind")?.ok_or_else(|| inner.missing("kind"))?.to_string();
                let mut options = Vec::new();
                for entry in &inner.table().entries {
                    if ["kind", "note", "extra"].contains(&&*entry.key) {
                        continue;
                    }
                    options.push((entry.key.to_string(), inner.option(&entry.key)?));
                }
                Ok(Some(MethodChoice { kind, options, span }))
            }
            _ => Err(self.error(
                key,
                format!("`{key}`: expected a name or a table with `kind`, found {}", value.describe()),
            )),
        }
    }

    /// A number or a name: a string that evaluates to a number is one.
    fn option(&self, key: &str) -> Result<WrittenOption> {
        let Some(value) = self.value(key) else { return Err(self.missing(key)) };
        if let Data::Text(text) = &value.data {
            let number = self.context().evaluate(text, value.span).ok();
            if !matches!(number, Some(Quantity::Number(_))) {
                self.record(key, || ResolvedValue::Text(text.to_string()));
                return Ok(WrittenOption::Name(text.to_string()));
            }
        }
        if let Data::Bool(b) = value.data {
            self.record(key, || ResolvedValue::Flag(b));
            return Ok(WrittenOption::Number(f64::from(u8::from(b))));
        }
        Ok(WrittenOption::Number(self.number(key)?))
    }
}
