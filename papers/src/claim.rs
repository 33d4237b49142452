//! Claims, their verdicts, and what a reproduction leaves behind.

use crate::table::Table;
use sarrus_plot::Figure;
use serde::Serialize;
use std::fmt;

/// A number, or words where a number does not say it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// A number.
    Number(f64),
    /// Words.
    Text(String),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Number(x) if *x == 0.0 || (0.01..1e5).contains(&x.abs()) => {
                let text = format!("{x:.3}");
                f.write_str(text.trim_end_matches('0').trim_end_matches('.'))
            }
            Value::Number(x) => write!(f, "{x:.1e}"),
            Value::Text(text) => f.write_str(text),
        }
    }
}

impl From<f64> for Value {
    fn from(x: f64) -> Value {
        Value::Number(x)
    }
}

impl From<usize> for Value {
    fn from(x: usize) -> Value {
        Value::Number(x as f64)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::Text(text)
    }
}

/// What became of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It holds here too.
    Reproduced,
    /// It does not hold here, and it is known why.
    Differs,
    /// Ours is wrong, or it is not known why.
    Failed,
}

impl Verdict {
    /// As written in tables.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Reproduced => "reproduced",
            Verdict::Differs => "differs",
            Verdict::Failed => "failed",
        }
    }
}

/// One claim of a paper against what comes out here.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Claim {
    /// What is claimed, and where.
    pub claim: String,
    /// Their number.
    pub theirs: Value,
    /// Ours.
    pub ours: Value,
    /// How near counts as the same.
    pub tolerance: Value,
    /// What became of it.
    pub verdict: Verdict,
    /// Why it differs, or what the number means.
    pub why: String,
}

impl Claim {
    /// A claim that is reproduced where `holds`; where not it is `otherwise`, for the reason `why`.
    pub fn new(
        claim: impl Into<String>,
        theirs: impl Into<Value>,
        ours: impl Into<Value>,
        tolerance: impl Into<Value>,
        holds: bool,
        otherwise: Verdict,
        why: impl Into<String>,
    ) -> Claim {
        Claim {
            claim: claim.into(),
            theirs: theirs.into(),
            ours: ours.into(),
            tolerance: tolerance.into(),
            verdict: if holds { Verdict::Reproduced } else { otherwise },
            why: why.into(),
        }
    }
}

/// What a reproduction leaves behind.
#[derive(Debug, Clone, Serialize)]
pub struct Reproduction {
    /// The paper's folder.
    pub name: String,
    /// Authors, year and title.
    pub title: String,
    /// Claim by claim.
    pub claims: Vec<Claim>,
    /// What the paper leaves unsaid and what was assumed in its place.
    pub unsaid: Vec<String>,
    /// Tables of numbers.
    pub tables: Vec<Table>,
    /// Figures by file name, without extension.
    #[serde(skip)]
    pub figures: Vec<(String, Figure)>,
}

impl Reproduction {
    /// Whether no claim failed.
    pub fn passed(&self) -> bool {
        self.claims.iter().all(|c| c.verdict != Verdict::Failed)
    }

    /// As Markdown: claims, tables, figures by name, and what the paper leaves unsaid.
    pub fn markdown(&self) -> String {
        let mut text = format!("# {}\n\n{}\n\n", self.name, self.title);
        let mut claims = Table::new("Claims", &["claim", "theirs", "ours", "tolerance", "verdict", "why"]);
        for c in &self.claims {
            claims.rows.push(vec![
                c.claim.clone(),
                c.theirs.to_string(),
                c.ours.to_string(),
                c.tolerance.to_string(),
                c.verdict.name().into(),
                c.why.clone(),
            ]);
        }
        for table in std::iter::once(&claims).chain(&self.tables) {
            text += &table.markdown();
        }
        if !self.figures.is_empty() {
            text += "## Figures\n\n";
            for (file, figure) in &self.figures {
                text += &format!("![{}]({file}.svg)\n\n", figure.title);
            }
        }
        text += "## What the paper leaves unsaid\n\n";
        for line in &self.unsaid {
            text += &format!("- {line}\n");
        }
        text
    }
}

/// A reproduction could not be made.
#[derive(Debug, thiserror::Error)]
pub enum PaperError {
    /// A model of the paper could not be run.
    #[error("{what}: {reason}")]
    Run {
        /// Which run.
        what: String,
        /// Why.
        reason: String,
    },
    /// Somebody stopped it.
    #[error("interrupted")]
    Interrupted,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_short() {
        assert_eq!(Value::from(4.0).to_string(), "4");
        assert_eq!(Value::from(3.35).to_string(), "3.35");
        assert_eq!(Value::from(1.24e-9).to_string(), "1.2e-9");
        assert_eq!(Value::from(30_usize).to_string(), "30");
    }

    #[test]
    fn one_failed_claim_fails_the_paper() {
        let claim = |holds| Claim::new("c", 1.0, 1.0, 0.0, holds, Verdict::Failed, "");
        let mut r = Reproduction {
            name: "p".into(),
            title: "t".into(),
            claims: vec![claim(true)],
            unsaid: vec![],
            tables: vec![],
            figures: vec![],
        };
        assert!(r.passed());
        r.claims.push(claim(false));
        assert!(!r.passed());
    }
}
