//! Run-time expressions, bound to what they read.

use crate::at::At;
use crate::file_placement::{self, AffineMap, AffineReading, FilePlacement, Purpose};
use crate::names::Directory;
use crate::signal::Signal;
use sarrus_math::{Enclosure, Interval, Real};
use sarrus_model::expr::{Binding, Choice, Expr, Program, TimeShape, TimeSlot};
use sarrus_model::scope::ScopeData;
use sarrus_model::{Diagnostic, Model, RuntimeExpr, RuntimeVector, Span};

/// An expression and the signals in its slots.
#[derive(Clone, Debug)]
pub struct Formula {
    program: Program,
    signals: Vec<Signal>,
}

impl Formula {
    /// An expression over named signals; none where the text is no number over these.
    pub fn of(text: &str, signals: Vec<(&str, Signal)>) -> Option<Formula> {
        let slot = |path: &str| signals.iter().position(|(name, _)| *name == path);
        let mut bind = |path: &str| match slot(path) {
            Some(slot) => Ok(Binding::Scalar(slot as u32)),
            None => Err(format!("`{path}` is unknown")),
        };
        let programs = Expr::parse(text).ok()?.compile(&ScopeData::default(), &mut bind, false).ok()?;
        let [program] = <[Program; 1]>::try_from(programs).ok()?;
        Some(Formula { program, signals: signals.into_iter().map(|(_, signal)| signal).collect() })
    }

    /// The value at an instant.
    pub fn eval<R: Real>(&self, at: &At<R>) -> R {
        self.program.eval(&|slot: u32| self.signals[slot as usize].eval(at))
    }

    /// Bounds on the value over an interval of time.
    pub fn enclose(&self, at: &At<Enclosure>) -> Enclosure {
        self.program.enclose(&|slot: u32| self.signals[slot as usize].enclose(at))
    }

    /// Returns whether there are such: functions given by a program have none.
    pub fn is_bounded(&self) -> bool {
        let nested = self.signals.iter().all(|signal| match signal {
            Signal::Nested(formula) => formula.is_bounded(),
            _ => true,
        });
        nested && self.program.functions().next().is_none()
    }

    /// Calls `found` with the name of each function given by a program that it calls, itself or through a measure.
    pub fn functions(&self, found: &mut dyn FnMut(&str)) {
        for signal in &self.signals {
            if let Signal::Nested(formula) = signal {
                formula.functions(found);
            }
        }
        self.program.functions().for_each(|function| found(function.name()));
    }

    /// Calls `found` with the place of each body that it reads.
    pub fn bodies(&self, found: &mut dyn FnMut(usize)) {
        self.signals.iter().for_each(|signal| signal.bodies(found));
    }

    /// Its value if it depends on nothing.
    pub fn constant(&self) -> Option<f64> {
        self.program.is_constant()
    }

    /// Returns whether it reads velocities.
    pub fn needs_velocity(&self) -> bool {
        self.signals.iter().any(Signal::needs_velocity)
    }

    /// Returns whether it reads more of bodies than velocities.
    pub fn needs_pose(&self) -> bool {
        self.signals.iter().any(Signal::needs_pose)
    }

    /// Returns whether it reads controllers.
    pub fn needs_controller(&self) -> bool {
        self.signals.iter().any(Signal::needs_controller)
    }

    /// Adds the places among the controllers' outputs that it reads, itself or through a measure.
    pub fn outputs(&self, into: &mut Vec<usize>) {
        for signal in &self.signals {
            match signal {
                Signal::Output(slot) => into.push(*slot),
                Signal::Nested(formula) => formula.outputs(into),
                _ => {}
            }
        }
    }

    /// Returns whether it reads nothing but the time, itself or through a measure.
    pub fn needs_only_time(&self) -> bool {
        self.signals.iter().all(|s| match s {
            Signal::Time | Signal::Constant(_) => true,
            Signal::Nested(formula) => formula.needs_only_time(),
            _ => false,
        })
    }

    /// Returns whether it reads the time, itself or through a measure.
    pub fn needs_time(&self) -> bool {
        self.signals.iter().any(|s| match s {
            Signal::Time => true,
            Signal::Nested(formula) => formula.needs_time(),
            _ => false,
        })
    }

    /// Adds the times between `from` and `to` at which it switches because of the time alone, as
    /// [`Program::breakpoints`] does. Returns what it is as a function of time.
    pub fn breakpoints(&self, from: f64, to: f64, breaks: &mut Vec<f64>) -> TimeShape {
        let at = |t| At { t, poses: &[], twists: &[], ids: &[], discrete: &[], outs: &[] };
        let functions: Vec<SignalOfTime> = self
            .signals
            .iter()
            .map(|signal| -> SignalOfTime {
                match signal {
                    Signal::Time => (TimeShape::Affine, Box::new(|t| t)),
                    Signal::Constant(x) => (TimeShape::Constant, Box::new(|_| *x)),
                    Signal::Nested(formula) => {
                        let shape = formula.breakpoints(from, to, breaks);
                        (shape, Box::new(move |t| formula.eval(&at(t))))
                    }
                    _ => (TimeShape::Other, Box::new(|_| f64::NAN)),
                }
            })
            .collect();
        let slot = |slot: u32| match &functions[slot as usize] {
            (TimeShape::Other, _) => TimeSlot::Other,
            (shape, function) => TimeSlot::Function(*shape, function),
        };
        self.program.breakpoints(&slot, from, to, breaks)
    }

    /// Adds times around short features of what depends on the time alone, as [`Program::features`] does; `breaks` are the switches.
    pub fn features(&self, span: [f64; 2], breaks: &[f64], found: &mut Vec<f64>) {
        let read = |slot: u32, time: Interval| match &self.signals[slot as usize] {
            signal @ (Signal::Time | Signal::Constant(_)) => Some(signal.enclose(&during(time))),
            Signal::Nested(formula) if formula.needs_only_time() && formula.is_bounded() => {
                Some(formula.enclose(&during(time)))
            }
            _ => None,
        };
        self.program.features(&read, span, breaks, found);
    }

    /// Calls `found` with each choice by value that it makes, itself or through a measure, and the formula that makes it.
    pub fn choices(&self, found: &mut dyn FnMut(&Formula, Choice)) {
        for signal in &self.signals {
            if let Signal::Nested(formula) = signal {
                formula.choices(found);
            }
        }
        self.program.choices().for_each(|choice| found(self, choice));
    }

    /// Returns whether it is a polynomial of what it reads between its choices.
    pub fn is_polynomial(&self) -> bool {
        let nested = self.signals.iter().all(|signal| match signal {
            Signal::Nested(formula) => formula.is_polynomial(),
            _ => true,
        });
        nested && self.program.is_polynomial()
    }

    /// The argument of a choice of its own.
    pub fn argument(&self, choice: Choice, at: &At<f64>) -> f64 {
        self.program.argument(choice, &|slot: u32| self.signals[slot as usize].eval(at))
    }

    /// Bounds on it over an interval of time.
    pub fn enclose_argument(&self, choice: Choice, at: &At<Enclosure>) -> Enclosure {
        self.program.enclose_argument(choice, &|slot: u32| self.signals[slot as usize].enclose(at))
    }

    /// The expression, for the resolved file.
    pub fn program(&self) -> &Program {
        &self.program
    }
}

/// An interval of time, with nothing but the time.
fn during(time: Interval) -> At<'static, Enclosure> {
    let t = Enclosure { v: time, d: Interval::ONE, dd: Interval::ZERO };
    At { t, poses: &[], twists: &[], ids: &[], discrete: &[], outs: &[] }
}

/// A signal as a function of time.
type SignalOfTime<'a> = (TimeShape, Box<dyn Fn(f64) -> f64 + 'a>);

/// Holds what an expression may read, by where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReadLevel {
    /// Time only: positions of drivers.
    Time,
    /// Time only: speeds of drivers.
    Rate,
    /// Time and positions: constraints.
    Position,
    /// Time, positions, velocities, controllers: forces.
    Force,
}

/// Binds expressions of one element, collecting the bodies they read.
pub struct Binder<'a> {
    model: &'a Model,
    directory: &'a Directory,
    level: ReadLevel,
    /// The element's bodies.
    pub ids: Vec<u32>,
    /// Measures being bound, to stop at cycles.
    nesting: Vec<String>,
    /// Names local to the element, such as `length` and `speed` of a spring, or `x y z` of a curve.
    locals: Vec<(String, Signal)>,
    /// Vectors among these, and how the element's file means them.
    vectors: Vec<([Option<String>; 3], AffineMap)>,
}

impl<'a> Binder<'a> {
    /// A binder for an element on the bodies `ids`.
    pub fn new(model: &'a Model, directory: &'a Directory, level: ReadLevel, ids: Vec<u32>) -> Self {
        Binder { model, directory, level, ids, nesting: Vec::new(), locals: Vec::new(), vectors: Vec::new() }
    }

    /// Makes `name` readable in the element's own expressions.
    pub fn local(&mut self, name: &str, signal: Signal) {
        self.locals.push((name.to_owned(), signal));
    }

    /// Makes a vector readable there, by the names of its components; `map` leads to what the element's file means by them.
    pub fn local_vector(&mut self, names: &[&str], signal: impl Fn(usize) -> Signal, map: Option<AffineMap>) {
        for (i, name) in names.iter().enumerate() {
            self.local(name, signal(i));
        }
        let names = std::array::from_fn(|i| names.get(i).map(|name| (*name).to_owned()));
        self.vectors.extend(map.map(|map| (names, map)));
    }

    /// Index of a body in the element's list, added if it is new.
    pub fn body_index(&mut self, body: u32) -> usize {
        match self.ids.iter().position(|&id| id == body) {
            Some(index) => index,
            None => {
                self.ids.push(body);
                self.ids.len() - 1
            }
        }
    }

    /// Binds a number.
    pub fn scalar(&mut self, expr: &RuntimeExpr) -> Result<Formula, Diagnostic> {
        let (model, own) = (self.model, self.own());
        let own: Vec<&str> = own.iter().map(String::as_str).collect();
        let mut signals = Vec::new();
        let mut bind = |path: &str| self.bind_in(expr.scope, path, &mut signals);
        let program = model.compile(expr, &own, &mut bind)?;
        self.check_derivatives(&program, |name| expr.span_of_call(name))?;
        let formula = Formula { program, signals };
        self.note(&formula);
        Ok(formula)
    }

    /// Binds the components of a vector, 2 or 3; none where one is free.
    pub fn vector(&mut self, vector: &RuntimeVector) -> Result<Vec<Option<Formula>>, Diagnostic> {
        let (model, own) = (self.model, self.own());
        let own: Vec<&str> = own.iter().map(String::as_str).collect();
        let mut signals = Vec::new();
        let scope = vector.scope();
        let mut bind = |path: &str| self.bind_in(scope, path, &mut signals);
        let programs = model.compile_vector(vector, &own, &mut bind)?;
        for program in programs.iter().flatten() {
            self.check_derivatives(program, |_| vector.span)?;
        }
        let formula = |program| {
            let formula = Formula { program, signals: signals.clone() };
            self.note(&formula);
            formula
        };
        Ok(programs.into_iter().map(|program| program.map(formula)).collect())
    }

    /// Refuses a function given by a program where its second derivatives are part of the motion and it gives none: differences would
    /// be good to some six digits only, and nothing would show it.
    fn check_derivatives(&self, program: &Program, path_of: impl Fn(&str) -> Span) -> Result<(), Diagnostic> {
        let is_position = matches!(self.level, ReadLevel::Time | ReadLevel::Position);
        if !is_position || program.slots().next().is_none() {
            return Ok(());
        }
        let Some(function) = program.functions().find(|f| f.order() < 2) else { return Ok(()) };
        let (name, missing) = (function.name(), ["first and second", "second"][function.order().min(1)]);
        let message = format!(
            "function `{name}` comes without {missing} derivatives, which are needed where it gives positions"
        );
        let hint = match self.level {
            ReadLevel::Time => "give them with the function, or prescribe the speed instead",
            _ => "give them with the function",
        };
        Err(Diagnostic::new(path_of(name), message).hint(hint))
    }

    /// Keeps a formula that may switch with time; one inside another comes with that.
    fn note(&self, formula: &Formula) {
        if self.nesting.is_empty() && formula.needs_time() {
            self.directory.note(formula);
        }
    }

    fn own(&self) -> Vec<String> {
        self.locals.iter().map(|(name, _)| name.clone()).collect()
    }

    /// Binds a name as the file with this scope means it.
    fn bind_in(&mut self, scope: u32, path: &str, signals: &mut Vec<Signal>) -> Result<Binding, String> {
        match self.in_file(scope, path)? {
            Some(readings) => file_placement::bound(&readings, &mut |name: &str| self.bind(name, signals)),
            None => self.bind(path, signals),
        }
    }

    fn in_file(&self, scope: u32, path: &str) -> Result<Option<Vec<AffineReading>>, String> {
        if self.nesting.is_empty() && self.locals.iter().any(|(name, _)| name == path) {
            let own = |names: &[Option<String>; 3]| names.iter().position(|n| n.as_deref() == Some(path));
            let mut vectors = self.vectors.iter();
            return Ok(vectors.find_map(|(names, map)| Some(vec![map.sum(own(names)?, names)])));
        }
        match FilePlacement::of(self.model, self.directory, scope) {
            Some(file) => file.read(path, Purpose::Expression),
            None => Ok(None),
        }
    }

    fn bind(&mut self, path: &str, signals: &mut Vec<Signal>) -> Result<Binding, String> {
        let mut slot = |signal: Signal| {
            signals.push(signal);
            signals.len() as u32 - 1
        };
        if self.nesting.is_empty()
            && let Some((_, signal)) = self.locals.iter().find(|(name, _)| name == path)
        {
            return Ok(Binding::Scalar(slot(signal.clone())));
        }
        if path == "t" {
            return Ok(Binding::Scalar(slot(Signal::Time)));
        }
        if matches!(self.level, ReadLevel::Time | ReadLevel::Rate) {
            return Err(format!(
                "`{path}` cannot be read here: a driver is a function of `t` and parameters"
            ));
        }
        let directory = self.directory;
        if let Some(expr) = directory.measure(path) {
            if self.nesting.iter().any(|name| name == path) {
                return Err(format!("measure `{path}` depends on itself"));
            }
            self.nesting.push(path.to_owned());
            let formula = self.scalar(expr).map_err(|e| format!("in measure `{path}`: {}", e.message));
            self.nesting.pop();
            return Ok(Binding::Scalar(slot(Signal::Nested(Box::new(formula?)))));
        }
        let level = self.level;
        let readings = directory.read(path, &mut |body| self.body_index(body))?;
        for signal in &readings {
            if level == ReadLevel::Position && signal.needs_velocity() {
                return Err(format!("`{path}` is a velocity; a constraint reads positions and `t`"));
            }
            if level == ReadLevel::Position && signal.needs_controller() {
                return Err(format!(
                    "`{path}` belongs to a controller; a constraint reads positions and `t`"
                ));
            }
        }
        let slots: Vec<u32> = readings.into_iter().map(&mut slot).collect();
        match slots[..] {
            [one] => Ok(Binding::Scalar(one)),
            [x, y, z] => Ok(Binding::Vector([x, y, z])),
            _ => Err(format!("`{path}` cannot be read as a number")),
        }
    }
}
