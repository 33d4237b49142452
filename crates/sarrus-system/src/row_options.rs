//! Options of the rows themselves: how fast their violations are to decay, and how compliant the joint behind them is.
//!
//! Neither changes the mechanism. `baumgarte` is read by the stabilization of that name, `compliance` by the distribution
//! of reactions that the rows alone leave open.

use sarrus_model::value::Data;
use sarrus_model::{Key, KeyType, Reader, Result};

/// Options of joints, constraints and drivers.
pub static ROW_KEYS: &[Key] = &[Key::new(
    "baumgarte",
    KeyType::Numbers,
    "that of the stabilization",
    "rates [alpha, beta] of its own for Baumgarte's stabilization [1/s]",
)];

/// Options of joints alone.
pub static JOINT_KEYS: &[Key] = &[Key::new(
    "compliance",
    KeyType::Table(COMPLIANCE_KEYS),
    "none",
    "of the joint, to distribute reactions that are not unique",
)];

const NUMBER_OR_LIST: KeyType = KeyType::Either(&KeyType::Number, &KeyType::Numbers);

/// The keys of `compliance`.
const COMPLIANCE_KEYS: &[Key] = &[
    Key::new(
        "force",
        NUMBER_OR_LIST,
        "0",
        "displacement per force [m/N], or three: in the joint's axes, the third along `axis`",
    ),
    Key::new(
        "torque",
        NUMBER_OR_LIST,
        "0",
        "rotation per torque [rad/(N m)], or three: in the joint's axes, the third about `axis`",
    ),
];

/// Describes how far a joint gives way under its reaction, in the axes of its frame M on the second body, of which the third is
/// along `axis`. Zero is rigid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Compliance {
    /// Displacement per force \[m/N\].
    pub force: [f64; 3],
    /// Rotation per torque \[rad/(N m)\].
    pub torque: [f64; 3],
}

/// `baumgarte = [alpha, beta]`, both positive \[1/s\].
pub fn rates(reader: &Reader) -> Result<Option<[f64; 2]>> {
    let Some(rates) = reader.array::<2>("baumgarte").map_err(|e| e.hint("[alpha, beta], in 1/s"))? else {
        return Ok(None);
    };
    if let Some(bad) = rates.iter().find(|rate| **rate <= 0.0) {
        let message = format!("`baumgarte` of {} must be positive rates, one is {bad}", reader.title());
        return Err(reader
            .error("baumgarte", message)
            .hint("leave it out: the element then has the rates of `run.stabilization`"));
    }
    Ok(Some(rates))
}

/// `compliance = { force, torque }` of a joint.
pub fn compliance(reader: &Reader) -> Result<Option<Compliance>> {
    let Some(table) = reader.sub("compliance", COMPLIANCE_KEYS)? else { return Ok(None) };
    let (planes, axes): (&[usize], &[usize]) =
        if reader.is_planar() { (&[0, 1], &[2]) } else { (&[0, 1, 2], &[0, 1, 2]) };
    let compliance = Compliance {
        force: components(&table, "force", planes)?,
        torque: components(&table, "torque", axes)?,
    };
    if compliance.force.iter().chain(&compliance.torque).all(|c| *c == 0.0) {
        let message = format!("{} says nothing: all of it is zero", table.title());
        return Err(reader
            .error("compliance", message)
            .hint("give `force` (m/N) or `torque` (rad/(N m)), or both"));
    }
    Ok(Some(compliance))
}

/// A number for all of the components `places`, or one each; zero where not given.
fn components(table: &Reader, key: &str, indices: &[usize]) -> Result<[f64; 3]> {
    let mut all = [0.0; 3];
    match table.value(key).map(|value| &value.data) {
        Some(Data::List(_)) => {
            let given = table.numbers(key)?.unwrap_or_default();
            if given.len() != indices.len() {
                let message = format!(
                    "`{key}` of {}: expected a number or {} numbers, found {}",
                    table.title(),
                    indices.len(),
                    given.len()
                );
                return Err(table.error(key, message).hint("the joint's own axes, the third along `axis`"));
            }
            indices.iter().zip(given).for_each(|(&i, c)| all[i] = c);
        }
        _ => {
            let c = table.number_or(key, 0.0)?;
            indices.iter().for_each(|&i| all[i] = c);
        }
    }
    match all.iter().find(|c| **c < 0.0) {
        Some(c) => {
            Err(table.error(key, format!("`{key}` of {} must not be negative, it is {c}", table.title())))
        }
        None => Ok(all),
    }
}
