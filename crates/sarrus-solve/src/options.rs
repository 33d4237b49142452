//! Options of a method by name, in the order given: numbers and words.

use crate::error::MethodError;
use std::fmt;

/// One option's value.
#[derive(Debug, Clone, PartialEq)]
pub enum OptionValue {
    /// A number.
    Number(f64),
    /// A word.
    Text(String),
}

impl fmt::Display for OptionValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OptionValue::Number(x) => write!(f, "{x}"),
            OptionValue::Text(s) => write!(f, "`{s}`"),
        }
    }
}

impl From<f64> for OptionValue {
    fn from(x: f64) -> Self {
        OptionValue::Number(x)
    }
}

impl From<&str> for OptionValue {
    fn from(s: &str) -> Self {
        OptionValue::Text(s.to_string())
    }
}

/// An option that a kind knows: for its constructor's checks and for `sarrus list`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OptionDoc {
    /// Name.
    pub name: &'static str,
    /// Default, as it would be written.
    pub default: &'static str,
    /// One line on what it does.
    pub doc: &'static str,
}

/// Options by name, in the order given.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Options {
    entries: Vec<(String, OptionValue)>,
}

impl Options {
    /// No options.
    pub fn new() -> Options {
        Options::default()
    }

    /// Sets `name`, over an earlier value if there is one.
    pub fn set(&mut self, name: impl Into<String>, value: impl Into<OptionValue>) -> &mut Options {
        let (name, value) = (name.into(), value.into());
        match self.entries.iter_mut().find(|(n, _)| *n == name) {
            Some(entry) => entry.1 = value,
            None => self.entries.push((name, value)),
        }
        self
    }

    /// The value of `name`, if set.
    pub fn get(&self, name: &str) -> Option<&OptionValue> {
        self.entries.iter().find(|(n, _)| n == name).map(|(_, v)| v)
    }

    /// Every option, in the order given.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &OptionValue)> {
        self.entries.iter().map(|(n, v)| (n.as_str(), v))
    }

    /// Returns whether nothing is set.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Refuses every option that `known` does not name.
    pub fn check(&self, kind: &'static str, known: &[OptionDoc]) -> Result<(), MethodError> {
        match self.entries.iter().find(|(n, _)| known.iter().all(|k| k.name != n)) {
            None => Ok(()),
            Some((option, _)) => Err(MethodError::UnknownOption {
                kind,
                option: option.clone(),
                known: known.iter().map(|k| k.name).collect(),
            }),
        }
    }

    /// The number `option`, if set; a word, or a number that `accept` refuses, is an error saying `expected`.
    pub fn number(
        &self,
        kind: &'static str,
        option: &'static str,
        expected: &'static str,
        accept: impl Fn(f64) -> bool,
    ) -> Result<Option<f64>, MethodError> {
        match self.get(option) {
            None => Ok(None),
            Some(&OptionValue::Number(x)) if accept(x) => Ok(Some(x)),
            Some(value) => Err(MethodError::BadOption { kind, option, value: value.to_string(), expected }),
        }
    }

    /// The position in `words` of the word `option`, if set; anything else is an error saying `expected`.
    pub fn word(
        &self,
        kind: &'static str,
        option: &'static str,
        expected: &'static str,
        words: &[&str],
    ) -> Result<Option<usize>, MethodError> {
        match self.get(option) {
            None => Ok(None),
            Some(value) => {
                let position = match value {
                    OptionValue::Text(text) => words.iter().position(|w| w == text),
                    OptionValue::Number(_) => None,
                };
                position.map(Some).ok_or_else(|| MethodError::BadOption {
                    kind,
                    option,
                    value: value.to_string(),
                    expected,
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &[OptionDoc] = &[
        OptionDoc { name: "alpha", default: "1", doc: "rate" },
        OptionDoc { name: "beta", default: "1", doc: "rate" },
    ];

    #[test]
    fn an_unknown_option_is_refused_with_the_known_ones() {
        let mut o = Options::new();
        o.set("alpha", 2.0).set("gamma", 3.0);
        let error = o.check("baumgarte", KNOWN).unwrap_err();
        assert_eq!(error.to_string(), "`baumgarte` has no option `gamma` (known: alpha, beta)");
    }

    #[test]
    fn a_later_value_replaces_an_earlier_one_in_its_place() {
        let mut o = Options::new();
        o.set("alpha", 2.0).set("beta", "auto").set("alpha", 3.0);
        let all: Vec<_> = o.iter().map(|(n, v)| format!("{n} = {v}")).collect();
        assert_eq!(all, ["alpha = 3", "beta = `auto`"]);
    }

    #[test]
    fn a_number_out_of_range_is_refused() {
        let mut o = Options::new();
        o.set("alpha", -1.0);
        let error = o.number("baumgarte", "alpha", "positive", |x| x > 0.0).unwrap_err();
        assert_eq!(error.to_string(), "option `alpha` of `baumgarte` is -1, must be positive");
    }
}
