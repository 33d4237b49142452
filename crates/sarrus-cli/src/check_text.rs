//! Describes what `sarrus check` says, as text.

use crate::printer::{constraints, group, number, plural, short, shorten, table, time, wrap};
use crate::style::Painter;
use sarrus::analysis::{
    AlongReport, CheckReport, DistributionReport, GroupReport, RankSpan, ReactionReport, UniquenessReport,
};
use std::collections::HashMap;

/// Elements or sets that are listed one by one; more are counted by what they have in common.
const LISTED: usize = 24;
/// Names in a row.
const NAMES: usize = 12;

/// Everything, notes last in lines of so many characters.
pub fn check_with_notes(r: &CheckReport, all: bool, paint: Painter, width: usize) -> String {
    let mut text = check(r, all, paint);
    for note in &r.notes {
        text += &format!("\n  {}\n", wrap(note, width.saturating_sub(2)).replace('\n', "\n  "));
    }
    text
}

/// Everything but the notes.
pub fn check(r: &CheckReport, all: bool, paint: Painter) -> String {
    let mut text = format!("{}\n\n{}", paint.bold(&r.model), table(&facts(r)));
    text += &reactions(r, all, paint);
    text += &sets(&r.redundant_sets, &r.redundant_groups, all, paint);
    if !r.assembly_errors.is_empty() {
        text += "\n  assembly: distance between what the model pose says and what the constraints want\n";
        let worst = r.assembly_errors.iter().take(if all { usize::MAX } else { 10 });
        let rows: Vec<[String; 2]> = worst.map(|e| [format!("  {}", e.name), number(e.error)]).collect();
        text += &table(&rows);
    }
    if let Some(distribution) = &r.distribution {
        text += &distributed(distribution, all);
    }
    if let Some(along) = &r.along {
        text += &over_time(along, all);
    }
    text
}

fn facts(r: &CheckReport) -> Vec<[String; 2]> {
    let c = &r.constraints;
    let mut by = match (c.rank_tolerance, c.rank_margin) {
        (Some(t), Some(m)) => {
            format!("{}, tolerance {}, margin {}", c.rank_method, number(t), number(m))
        }
        (Some(t), None) => format!("{}, tolerance {}, no margin needed", c.rank_method, number(t)),
        _ => c.rank_method.to_string(),
    };
    if let (Some(u), false) = (&r.uniqueness, c.rank_method.starts_with("singular")) {
        let (estimate, error) = (u.dimension.round() as u64, u.dimension_error.ceil() as u64);
        by += &format!("; random multipliers say {} ± {} redundant", group(estimate), group(error));
    }
    let dof_text = |d: Option<usize>| d.map_or("not determined".to_string(), |d| group(d as u64));
    let (here, structural) = (dof_text(r.mobility.here), dof_text(r.mobility.structural));
    let mobility = if here == structural {
        format!("{here}, in this position and in those around it")
    } else {
        format!("{here} in this position, {structural} in those around it")
    };
    let mut rows = vec![
        ["space".to_string(), r.space.to_string()],
        ["bodies".to_string(), group(r.size.bodies as u64)],
        ["joints".to_string(), group(r.size.joints as u64)],
        ["velocities".to_string(), group(r.size.velocities as u64)],
        ["constraints".to_string(), constraints(c.rows, c.rank, None)],
        ["rank by".to_string(), by],
        ["mobility".to_string(), mobility],
        ["counted mobility".to_string(), r.counted_mobility.to_string()],
        [
            "assembly".to_string(),
            format!("moved {} m, turned {} rad", number(r.assembly.moved), number(r.assembly.rotation)),
        ],
        ["method".to_string(), r.method.clone()],
    ];
    if let Some(closed) = &r.closed_contacts {
        let rank = closed.rank.map_or(String::new(), |rank| format!(", rank {rank}"));
        let text = format!("{} bear; with them {} rows{rank}", plural(closed.points, "point"), closed.rows);
        rows.push(["closed contacts".to_string(), text]);
    }
    if !r.events.is_empty() {
        rows.push(["events".to_string(), shorten(&r.events, NAMES)]);
    }
    if r.size.states > 0 {
        rows.insert(4, ["states".to_string(), group(r.size.states as u64)]);
    }
    rows
}

/// Returns which components are unique, element by element, or counted by pattern where there are many.
fn reactions(r: &CheckReport, all: bool, paint: Painter) -> String {
    if r.reactions.is_empty() {
        return String::new();
    }
    if r.reactions.iter().all(|e| e.not_unique.is_empty()) {
        return "\n  reactions: all of them are unique\n".into();
    }
    let mut text = format!(
        "\n  {}: in world axes at the joint's point; what a joint cannot exert is left out\n",
        paint.bold("reactions")
    );
    let line = |name: String, e: &ReactionReport| {
        let words = |list: &[String], word: &str| {
            if list.is_empty() { String::new() } else { format!("{} {word}", list.join(" ")) }
        };
        let free = words(&e.not_unique, "NOT unique");
        let free = if free.is_empty() { free } else { paint.yellow(&free) };
        let directions = if e.directions_not_unique > 0 {
            format!("{} of {}", e.directions_not_unique, plural(e.directions, "direction"))
        } else {
            String::new()
        };
        [format!("  {name}"), words(&e.unique, "unique"), free, directions]
    };
    let rows: Vec<[String; 4]> = if all || r.reactions.len() <= LISTED {
        r.reactions.iter().map(|e| line(label(e), e)).collect()
    } else {
        let mut patterns: Vec<(&ReactionReport, usize)> = Vec::new();
        let mut known = HashMap::new();
        for e in &r.reactions {
            let key = (e.family, &e.unique, &e.not_unique, e.directions_not_unique);
            let i = *known.entry(key).or_insert(patterns.len());
            if i == patterns.len() {
                patterns.push((e, 0));
            }
            patterns[i].1 += 1;
        }
        patterns
            .into_iter()
            .map(|(e, n)| {
                let name = if n == 1 {
                    label(e)
                } else {
                    format!("{} {}s such as {}", group(n as u64), e.family, e.name)
                };
                line(name, e)
            })
            .collect()
    };
    text += &table(&rows);
    if let Some(clear) = &r.uniqueness {
        text += &format!("    {}\n", clearness(clear));
    }
    text
}

/// A name, with its family where it is not a joint.
fn label(e: &ReactionReport) -> String {
    if e.family == "joint" { e.name.clone() } else { format!("{} {}", e.family, e.name) }
}

/// Returns how far the two clusters are apart.
fn clearness(u: &UniquenessReport) -> String {
    let mut parts = Vec::new();
    if let Some(zero) = u.zero {
        parts.push(format!("at most {} if unique", number(zero)));
    }
    if let Some(nonzero) = u.nonzero {
        parts.push(format!("at least {} if not", short(nonzero)));
    }
    if let Some(margin) = u.margin {
        parts.push(format!("margin {}", number(margin)));
    }
    format!("decided by parts in the null space of the constraints: {}", parts.join(", "))
}

/// The sets that share redundancies; many are counted by their size.
fn sets(sets: &[GroupReport], groups: &[GroupReport], all: bool, paint: Painter) -> String {
    if sets.is_empty() {
        return String::new();
    }
    let mut text = format!(
        "\n  {}: without any one of its elements, a set has none\n",
        paint.bold("sets that share redundancies")
    );
    if all || sets.len() <= LISTED {
        for set in sets {
            let names = if all { set.elements.join(", ") } else { shorten(&set.elements, NAMES) };
            text += &format!("    {} shared by {names}\n", redundancies(set.redundant));
        }
        return text + &totals(sets, groups, all);
    }
    let mut kinds: Vec<(&GroupReport, usize)> = Vec::new();
    let mut known = HashMap::new();
    for set in sets {
        let i = *known.entry((set.redundant, set.elements.len())).or_insert(kinds.len());
        if i == kinds.len() {
            kinds.push((set, 0));
        }
        kinds[i].1 += 1;
    }
    for (set, n) in kinds {
        let (times, such) = match n {
            1 => (String::new(), ""),
            n => (format!("{} times ", group(n as u64)), "such as "),
        };
        text += &format!(
            "    {times}{} shared by {}, {such}{}\n",
            redundancies(set.redundant),
            plural(set.elements.len(), "element"),
            shorten(&set.elements, NAMES)
        );
    }
    text + &totals(sets, groups, all)
}

/// Returns what elements have together whose sets overlap, where the numbers of the sets are not the whole of it.
fn totals(sets: &[GroupReport], groups: &[GroupReport], all: bool) -> String {
    let of: HashMap<&str, usize> = groups
        .iter()
        .enumerate()
        .flat_map(|(i, g)| g.elements.iter().map(move |e| (e.as_str(), i)))
        .collect();
    let mut sums = vec![0; groups.len()];
    for set in sets {
        if let Some(&i) = set.elements.first().and_then(|e| of.get(e.as_str())) {
            sums[i] += set.redundant;
        }
    }
    let differing: Vec<&GroupReport> =
        groups.iter().zip(sums).filter(|(g, sum)| g.redundant != *sum).map(|(g, _)| g).collect();
    if differing.is_empty() {
        return String::new();
    }
    let mut text = "    in all, as sets that overlap do not add up:\n".to_string();
    let shown = if all { differing.len() } else { differing.len().min(LISTED) };
    for group in &differing[..shown] {
        let names = if all { group.elements.join(", ") } else { shorten(&group.elements, NAMES) };
        text += &format!("      {} among {names}\n", redundancies(group.redundant));
    }
    if shown < differing.len() {
        text += &format!("      ... {} more with --all\n", differing.len() - shown);
    }
    text
}

/// `3 redundancies`
fn redundancies(n: usize) -> String {
    if n == 1 { "1 redundancy".into() } else { format!("{} redundancies", group(n as u64)) }
}

/// Reactions both ways.
fn distributed(d: &DistributionReport, all: bool) -> String {
    let mut text = format!(
        "\n  reactions at the start in N and N m: of minimum norm, and distributed by stiffness over {}\n  \
         (what has no compliance is given {} of the smallest one, as rigid)\n",
        plural(d.compliant, "joint"),
        number(d.rigid)
    );
    let shown = if all { d.reactions.len() } else { d.reactions.len().min(LISTED) };
    let head = |names: &[&str]| -> Vec<String> {
        [String::new(), String::new()].into_iter().chain(names.iter().map(|n| format!("{n:>9}"))).collect()
    };
    let mut rows: Vec<Vec<String>> = Vec::new();
    for r in &d.reactions[..shown] {
        if rows.is_empty() {
            rows.push(head(&r.components));
        }
        for (name, label, values) in
            [(r.name.as_str(), "minimum norm", &r.minimum_norm), ("", "distributed", &r.distributed)]
        {
            let size = r.distributed.iter().chain(&r.minimum_norm).fold(0.0_f64, |m, x| m.max(x.abs()));
            // rounding of the others is no force
            let value =
                |x: &f64| format!("{:>9}", if x.abs() < 1e-9 * size { "0".into() } else { short(*x) });
            let mut row = vec![format!("  {name}"), label.to_string()];
            row.extend(values.iter().map(value));
            rows.push(row);
        }
    }
    text += &table_of(&rows);
    if shown < d.reactions.len() {
        text += &format!("    ... {} more with --all\n", plural(d.reactions.len() - shown, "joint"));
    }
    text
}

/// Rows of any width, aligned.
fn table_of(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |i: usize| rows.iter().filter_map(|r| r.get(i)).map(|c| c.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    rows.iter()
        .map(|row| {
            let cells: Vec<String> = row.iter().zip(&widths).map(|(c, w)| format!("{c:<w$}")).collect();
            format!("  {}\n", cells.join("  ").trim_end())
        })
        .collect()
}

/// Returns what a run met on its way.
fn over_time(a: &AlongReport, all: bool) -> String {
    let mut text = format!(
        "\n  along the motion: {} instants from t = {} s to {} s, run {}\n",
        group(a.samples as u64),
        time(a.span[0]),
        time(a.span[1]),
        a.status
    );
    if a.status != "completed" {
        text += &format!("    {}\n", a.reason);
    }
    let rank = |span: &RankSpan| {
        span.rank.map_or("rank not determined".into(), |r| {
            format!("rank {}, {} redundant", group(r as u64), span.rows - r)
        })
    };
    let mut lines = Vec::new();
    match &a.rank[..] {
        [] => {}
        [one] => lines.push([format!("  {} throughout", rank(one)), String::new()]),
        several => {
            let shown = if all { several.len() } else { several.len().min(LISTED) };
            for span in &several[..shown] {
                let when = if span.from == span.to {
                    format!("at t = {} s", time(span.from))
                } else {
                    format!("from {} s to {} s", time(span.from), time(span.to))
                };
                lines.push([format!("  {}", rank(span)), when]);
            }
            if shown < several.len() {
                lines.push([format!("  ... {} more spans with --all", several.len() - shown), String::new()]);
            }
        }
    }
    text += &table(&lines);
    if let Some((margin, t)) = a.least_margin {
        text += &format!("    least margin of the rank: {} at t = {} s\n", number(margin), time(t));
    }
    let names = |list: &[String]| {
        if list.is_empty() {
            "none".to_string()
        } else if all {
            list.join(", ")
        } else {
            shorten(list, NAMES)
        }
    };
    text += &format!("    never unique: {}\n", names(&a.always));
    let times: Vec<String> =
        a.at_times.iter().map(|(name, part)| format!("{name} ({:.0} %)", 100.0 * part)).collect();
    text += &format!("    not unique at times: {}\n", names(&times));
    text
}
