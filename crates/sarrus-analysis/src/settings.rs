//! Describes what is asked of a run: the file's `[run]` and `[output]`, and over them what the caller says.

use crate::error::SetupError;
use sarrus_model::record::ResolvedValue;
use sarrus_model::settings::{
    Assembly, Certification, Certify, Coordinates, MethodChoice, OutputSettings, Regularization, RunSettings,
    WrittenOption,
};
use sarrus_model::{Model, Span};
use std::str::FromStr;

/// Holds what a caller says over the file; the command line's flags.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunOverrides {
    /// In place of `run.formulation`.
    pub formulation: Option<MethodChoice>,
    /// In place of `run.stabilization`.
    pub stabilization: Option<MethodChoice>,
    /// In place of `run.integrator`.
    pub integrator: Option<MethodChoice>,
    /// In place of `run.coordinates`.
    pub coordinates: Option<Coordinates>,
    /// In place of `run.regularize`.
    pub regularize: Option<Regularization>,
    /// In place of `run.rtol`.
    pub rtol: Option<f64>,
    /// In place of `run.atol`.
    pub atol: Option<f64>,
    /// In place of `run.step` \[s\].
    pub step: Option<f64>,
    /// In place of `run.t_end` \[s\].
    pub t_end: Option<f64>,
    /// In place of `run.certify.level`.
    pub certify: Option<Certification>,
    /// In place of `output.every` \[s\].
    pub every: Option<f64>,
    /// In place of `output.columns`.
    pub columns: Option<Vec<String>>,
    /// In place of `output.peaks`.
    pub peaks: Option<bool>,
}

impl RunOverrides {
    /// Returns what they say about `[run]`, for the resolved file.
    pub fn run_entries(&self) -> Vec<(&'static str, ResolvedValue)> {
        let number = |key, x: Option<f64>| x.map(|x| (key, ResolvedValue::Number(x)));
        let method = |key, m: &Option<MethodChoice>| m.as_ref().map(|m| (key, plain(m)));
        [
            number("t_end", self.t_end),
            method("integrator", &self.integrator),
            method("formulation", &self.formulation),
            method("stabilization", &self.stabilization),
            self.coordinates.map(|c| ("coordinates", ResolvedValue::Text(c.name().into()))),
            self.regularize.map(|r| match r {
                Regularization::Off => ("regularize", ResolvedValue::Flag(false)),
                r => ("regularize", ResolvedValue::Text(r.name().into())),
            }),
            number("rtol", self.rtol),
            number("atol", self.atol),
            number("step", self.step),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// A method as a file writes it.
fn plain(method: &MethodChoice) -> ResolvedValue {
    if method.options.is_empty() {
        return ResolvedValue::Text(method.kind.clone());
    }
    let mut table = vec![("kind".to_string(), ResolvedValue::Text(method.kind.clone()))];
    for (name, value) in &method.options {
        let value = match value {
            WrittenOption::Number(x) => ResolvedValue::Number(*x),
            WrittenOption::Name(text) => ResolvedValue::Text(text.clone()),
        };
        table.push((name.clone(), value));
    }
    ResolvedValue::Table(table)
}

/// Holds what is asked of a run, defaults of times and tolerances filled in, methods still by name.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Time at the start \[s\].
    pub t_start: f64,
    /// Time at the end \[s\].
    pub t_end: f64,
    /// Time between samples \[s\].
    pub every: f64,
    /// Patterns of columns.
    pub columns: Vec<String>,
    /// True if peaks of columns are searched for.
    pub peaks: bool,
    /// None: left to the program, as is `auto`.
    pub formulation: Option<MethodChoice>,
    /// None: left to the program.
    pub stabilization: Option<MethodChoice>,
    /// None: left to the program.
    pub integrator: Option<MethodChoice>,
    /// Coordinates that the run is made in.
    pub coordinates: Coordinates,
    /// Describes how singular positions are passed.
    pub regularize: Regularization,
    /// Relative tolerance.
    pub rtol: f64,
    /// Absolute tolerance.
    pub atol: f64,
    /// True if a tolerance was asked for.
    pub tolerance_given: bool,
    /// Step \[s\].
    pub step: Option<f64>,
    /// Most steps.
    pub max_steps: Option<u64>,
    /// Longest wall time \[s\].
    pub wall_limit: Option<f64>,
    /// Holds what is made consistent before the run.
    pub assembly: Assembly,
    /// Limits of the certificate.
    pub certify: Certify,
}

/// Default relative tolerance over the certificate's limit on the energy balance. Local errors add up over a run; on the shipped
/// models the balance is off by up to 20 times the tolerance.
const SHARE: f64 = 1e-2;

/// Default absolute tolerance over the relative one, for coordinates in metres and radians.
const ABSOLUTE: f64 = 1e-2;

/// Default relative tolerance of implicit integrators, and the largest of the others.
const LOW_ORDER: f64 = 1e-6;
/// Default relative tolerance of implicit multistep methods over that of explicit ones. With 1e-9 the energy of the shipped models is off by
/// 0.01e-6 to 0.35e-6; with 1e-8 by up to 7e-6.
const MULTISTEP: f64 = 0.1;

impl Settings {
    /// Reads `[run]` and `[output]` of `model` and lays `over` over them.
    pub fn read(model: &Model, over: &RunOverrides) -> Result<Settings, SetupError> {
        let run = RunSettings::read(model)?;
        let output = OutputSettings::read(model)?;

        let positive = |flag: &'static str, x: Option<f64>| match x {
            Some(x) if !(x.is_finite() && x > 0.0) => Err(SetupError::NotPositive { flag, value: x }),
            x => Ok(x),
        };
        let (rtol, atol) = (positive("rtol", over.rtol)?, positive("atol", over.atol)?);
        let (t_start, t_end) = (run.t_start(), over.t_end.unwrap_or(run.t_end()));
        if !(t_end > t_start && t_end.is_finite()) {
            return Err(SetupError::Backwards { t_start, t_end });
        }
        let chosen = |over: &Option<MethodChoice>, file: Option<MethodChoice>| {
            over.clone().or(file).filter(|c| c.kind != "auto" || !c.options.is_empty())
        };
        let relative = rtol.or(run.rtol).unwrap_or((SHARE * run.certify.energy).clamp(1e-13, LOW_ORDER));
        Ok(Settings {
            t_start,
            t_end,
            every: positive("every", over.every)?.or(output.every).unwrap_or((t_end - t_start) / 1000.0),
            columns: over.columns.clone().or(output.columns).unwrap_or_else(|| vec!["*".into()]),
            peaks: over.peaks.unwrap_or(output.peaks),
            formulation: chosen(&over.formulation, run.formulation),
            stabilization: chosen(&over.stabilization, run.stabilization),
            integrator: chosen(&over.integrator, run.integrator),
            coordinates: over.coordinates.unwrap_or(run.coordinates),
            regularize: over.regularize.unwrap_or(run.regularize),
            tolerance_given: rtol.or(atol).or(run.rtol).or(run.atol).is_some(),
            rtol: relative,
            atol: atol.or(run.atol).unwrap_or((ABSOLUTE * relative).min(1e-8)),
            step: positive("step", over.step)?.or(run.step),
            max_steps: run.max_steps,
            wall_limit: run.wall_limit,
            assembly: run.assembly,
            certify: Certify { level: over.certify.unwrap_or(run.certify.level), ..run.certify },
        })
    }

    /// Relative and absolute tolerance of implicit integrators. Their order is low and their steps follow stiff members: unless
    /// a tolerance is asked for, it is not below 1e-6. Multistep formulas of low order damp the motion a little at every step: theirs is
    /// a tenth of that of explicit integrators.
    pub fn implicit_tolerance(&self, is_multistep: bool) -> (f64, f64) {
        let rtol = match is_multistep {
            true => (MULTISTEP * self.rtol).max(1e-13),
            false => LOW_ORDER.max(self.rtol),
        };
        if self.tolerance_given { (self.rtol, self.atol) } else { (rtol, ABSOLUTE * rtol) }
    }

    /// Relative tolerance of work that keeps the energy balance within its limit.
    pub fn work_tolerance(&self) -> f64 {
        SHARE * self.certify.energy
    }

    /// Returns how many samples the run will have.
    pub fn samples(&self) -> f64 {
        ((self.t_end - self.t_start) / self.every).ceil() + 1.0
    }
}

/// A method as the command line writes it: `rk4`, `baumgarte:alpha=5,beta=5`.
#[derive(Debug, Clone, PartialEq)]
pub struct MethodText(pub MethodChoice);

/// A method could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a method; write a name, or name:option=value,...")]
pub struct MethodTextError {
    /// Holds what was given.
    pub text: String,
}

impl FromStr for MethodText {
    type Err = MethodTextError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bad = || MethodTextError { text: text.to_string() };
        let (kind, rest) = match text.split_once(':') {
            Some((kind, rest)) => (kind, Some(rest)),
            None => (text, None),
        };
        let is_name = |s: &str| !s.is_empty() && s.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !is_name(kind.trim()) {
            return Err(bad());
        }
        let mut options = Vec::new();
        for option in rest.into_iter().flat_map(|rest| rest.split(',')) {
            let (name, value) = option.split_once('=').ok_or_else(bad)?;
            let (name, value) = (name.trim(), value.trim());
            if !is_name(name) || value.is_empty() {
                return Err(bad());
            }
            let value = match value.parse() {
                Ok(number) => WrittenOption::Number(number),
                Err(_) => WrittenOption::Name(value.to_string()),
            };
            options.push((name.to_string(), value));
        }
        Ok(MethodText(MethodChoice { kind: kind.trim().to_string(), options, span: Span::NONE }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_is_a_name_with_options() {
        let MethodText(m) = "baumgarte:alpha=5, beta=auto".parse().unwrap();
        assert_eq!(m.kind, "baumgarte");
        let expected = [
            ("alpha".to_string(), WrittenOption::Number(5.0)),
            ("beta".to_string(), WrittenOption::Name("auto".into())),
        ];
        assert_eq!(m.options, expected);
        assert!("rk4".parse::<MethodText>().unwrap().0.options.is_empty());
    }

    #[test]
    fn a_malformed_method_is_refused() {
        for bad in ["", ":", "rk4:", "rk4:step", "rk4:step=", "rk4:=3", "rk 4", "rk4:a=1,,b=2", "a:b:c"] {
            assert!(bad.parse::<MethodText>().is_err(), "{bad}");
        }
    }
}
