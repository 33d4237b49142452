//! Describes what happened in a run, for the time line: events, singular positions, an early end.

use serde::Serialize;
use serde_json::Value;

/// Something at an instant.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Happening {
    /// Time \[s\].
    pub t: f64,
    /// Its name.
    pub name: String,
    /// `event`, `singular` or `stop`.
    pub kind: &'static str,
    /// In words.
    pub text: String,
}

/// Reads `events`, `singular` and the end from a report.
pub fn happenings(report: &Value) -> Vec<Happening> {
    let list = |key: &str| report[key].as_array().cloned().unwrap_or_default();
    let words = |value: &Value| {
        let all = value.as_array().into_iter().flatten().filter_map(Value::as_str);
        all.collect::<Vec<_>>().join(", ")
    };
    let singular = list("singular");
    let mut found: Vec<Happening> = Vec::new();
    for event in list("events") {
        let (Some(t), Some(name)) = (event["t"].as_f64(), event["name"].as_str()) else { continue };
        // singular positions stand among the events too, and say more below
        if singular.iter().any(|s| s["t"].as_f64() == Some(t)) {
            continue;
        }
        found.push(Happening { t, name: name.into(), kind: "event", text: words(&event["actions"]) });
    }
    for position in &singular {
        let Some(t) = position["t"].as_f64() else { continue };
        let outcome = match position["outcome"].as_str().unwrap_or_default() {
            "passed" => "branches cross, the run kept to its own",
            "near_miss" => "constraints nearly lost rank",
            "end_of_range" => "there was no way on",
            "rest" => "at rest where more than one motion can follow",
            other => other,
        };
        let at = words(&position["elements"]);
        let text = if at.is_empty() { outcome.to_string() } else { format!("{outcome}: {at}") };
        found.push(Happening { t, name: "singular position".into(), kind: "singular", text });
    }
    if let (Some(status @ ("stopped" | "failed")), Some(t)) =
        (report["status"].as_str(), report["t_end"].as_f64())
    {
        let text = report["reason"].as_str().unwrap_or_default().to_string();
        found.push(Happening { t, name: status.into(), kind: "stop", text });
    }
    found.sort_by(|a, b| a.t.total_cmp(&b.t));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn events_singular_positions_and_an_early_end_come_in_the_order_of_time() {
        let report = json!({
            "status": "failed", "reason": "no way on", "t_end": 2.0,
            "events": [{ "t": 1.5, "name": "latch", "actions": ["lock A"] }, { "t": 0.5, "name": "singular" }],
            "singular": [{ "t": 0.5, "outcome": "passed", "elements": ["joint `B`"] }],
        });
        let found = happenings(&report);
        let kinds: Vec<&str> = found.iter().map(|h| h.kind).collect();
        assert_eq!(kinds, ["singular", "event", "stop"]);
        assert_eq!(found[1].text, "lock A");
        assert_eq!(found[2].text, "no way on");
    }
}
