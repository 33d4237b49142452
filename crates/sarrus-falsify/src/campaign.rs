//! Many scenes on several threads: verdicts counted by oracle and by kind, findings shrunk and written.

use crate::generate::generate;
use crate::oracles::{ORACLES, Oracle, OracleVerdict, SceneRun};
use crate::rng::Rng;
use crate::run::{RunEnd, guarded};
use crate::scene::{SceneFile, SceneValue, tokens};
use crate::shrink::shrink;
use sarrus::analysis::Status;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Oracles that make runs of their own, of each scene.
const ROUNDS: usize = 2;
/// Findings of one kind that are shrunk; others are counted.
const SHRUNK: usize = 3;
/// A judgement that takes longer hangs: runs have limits of their own. Beside other work an idle priority gets little of the processor.
const HANGS: Duration = Duration::from_secs(600);

/// Holds what is asked for.
#[derive(Clone, Debug)]
pub struct Campaign {
    /// Seed of all scenes.
    pub seed: u64,
    /// Index of the first.
    pub first: u64,
    /// Describes how many.
    pub scenes: u64,
    /// The oracles that judge; all of them where none is named.
    pub only: Vec<String>,
    /// Threads.
    pub jobs: usize,
    /// Marks where findings are written.
    pub out: Option<PathBuf>,
}

/// Something that is wrong.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The oracle's name.
    pub oracle: &'static str,
    /// Index of the scene.
    pub index: u64,
    /// Holds what disagrees.
    pub what: String,
    /// The model file, shrunk where it is one of the first of its kind.
    pub scene: SceneFile,
}

impl Finding {
    /// The finding without numbers and names: what it has in common with others.
    pub fn signature(&self) -> String {
        signature(self.oracle, &self.what)
    }

    /// The model file, with what disagrees as a comment.
    pub fn toml(&self) -> String {
        let included = self.scene.files.iter().map(|(n, t)| format!("\n# {n}:\n{}", commented(t)));
        let comment = commented(&format!("{}: {}", self.oracle, self.what));
        format!("{comment}{}{}", self.scene.toml(), included.collect::<String>())
    }
}

fn commented(text: &str) -> String {
    text.lines().map(|line| format!("# {line}\n")).collect()
}

/// Returns whether findings of an oracle differ by what is said of them.
fn is_exact(oracle: &str) -> bool {
    ["panic", "hint"].contains(&oracle)
}

fn signature(oracle: &str, what: &str) -> String {
    let words = tokens(what).filter(|t| !t.chars().any(|c| c.is_ascii_digit()) && t.len() > 1);
    let head: Vec<&str> = words.take(if is_exact(oracle) { 12 } else { 1 }).collect();
    format!("{oracle}: {}", head.join(" "))
}

/// Holds what became of one scene.
#[derive(Clone, Debug)]
pub struct Judged {
    /// Its index.
    pub index: u64,
    /// Holds what was generated.
    pub flavour: &'static str,
    /// Describes how its run ended: `certified`, `refused`, ...
    pub ended: &'static str,
    /// Section and kind of its elements, each once.
    pub kinds: Vec<(String, String)>,
    /// Holds what the oracles said.
    pub verdicts: Vec<(&'static str, OracleVerdict)>,
    /// The scene.
    pub scene: SceneFile,
}

/// Returns how a run ended, in a word.
pub fn ended(run: &RunEnd) -> &'static str {
    match run {
        RunEnd::Refused(_) => "refused",
        RunEnd::Panicked(_) => "panicked",
        RunEnd::Done(outcome) => match outcome.report.status {
            Status::Failed => "failed",
            Status::Stopped => "stopped",
            Status::Completed if outcome.report.certificate.passed => "certified",
            Status::Completed => "uncertified",
        },
    }
}

/// Sections and kinds of a scene.
pub fn kinds(scene: &SceneFile) -> Vec<(String, String)> {
    let mut out: Vec<(String, String)> = Vec::new();
    for e in &scene.elements {
        let kind = match &e.value {
            SceneValue::Raw(text) => text.split('\'').nth(1).unwrap_or("").to_string(),
            _ => e.kind().to_string(),
        };
        out.push((e.section.to_string(), kind));
    }
    for (k, v) in &scene.run {
        let name = match v {
            SceneValue::Table(table) => crate::scene::get(table, "kind").and_then(SceneValue::text),
            value => value.text(),
        };
        if let Some(name) = name {
            out.push((k.clone(), name.to_string()));
        }
    }
    out.sort();
    out.dedup();
    out
}

fn stream(oracle: &Oracle, seed: u64, index: u64) -> Rng {
    let number = ORACLES.iter().position(|o| o.name == oracle.name).unwrap_or(0) as u64;
    Rng::new(seed.wrapping_add(1 + number), index)
}

/// The oracles that judge a scene: cheap ones, and some of the others in turn.
fn chosen(campaign: &Campaign, index: u64) -> Vec<&'static Oracle> {
    if !campaign.only.is_empty() {
        return ORACLES.iter().filter(|o| campaign.only.iter().any(|n| n == o.name)).collect();
    }
    let (cheap, mut others): (Vec<_>, Vec<_>) = ORACLES.iter().partition(|o| o.cheap);
    Rng::new(campaign.seed ^ 0x7ab1e, index).shuffle(&mut others);
    cheap.into_iter().chain(others.into_iter().take(ROUNDS)).collect()
}

/// Runs and judges one scene.
pub fn judge(campaign: &Campaign, index: u64) -> Judged {
    judge_with(campaign, index, &chosen(campaign, index))
}

/// The same by oracles that are named.
pub fn judge_with(campaign: &Campaign, index: u64, oracles: &[&'static Oracle]) -> Judged {
    let scene = generate(campaign.seed, index);
    let mut case = SceneRun::new(scene.clone());
    let verdicts = oracles.iter().map(|oracle| {
        let mut rng = stream(oracle, campaign.seed, index);
        let verdict = guarded(|| (oracle.judge)(&mut case, &mut rng));
        (
            oracle.name,
            verdict.unwrap_or_else(|panic| OracleVerdict::Wrong(format!("the oracle panics: {panic}"))),
        )
    });
    let verdicts: Vec<_> = verdicts.collect();
    let ended = ended(&case.run);
    Judged { index, flavour: scene.flavour, ended, kinds: kinds(&scene), verdicts, scene }
}

/// Shrinks a finding; `beat` is called with every run.
pub fn shrunk(campaign: &Campaign, finding: &Finding, beat: &dyn Fn()) -> Finding {
    let Some(oracle) = ORACLES.iter().find(|o| o.name == finding.oracle) else { return finding.clone() };
    let exact = is_exact(oracle.name).then(|| finding.signature());
    let mut what = finding.what.clone();
    let scene = shrink(&finding.scene, &mut |scene| {
        beat();
        let mut rng = stream(oracle, campaign.seed, finding.index);
        let verdict = guarded(|| (oracle.judge)(&mut SceneRun::new(scene.clone()), &mut rng));
        match verdict {
            Ok(OracleVerdict::Wrong(now))
                if exact.as_ref().is_none_or(|s| *s == signature(oracle.name, &now)) =>
            {
                what = now;
                true
            }
            _ => false,
        }
    });
    Finding { scene, what, ..finding.clone() }
}

/// Counts of a campaign.
#[derive(Clone, Debug, Default)]
pub struct CampaignTally {
    /// Scenes.
    pub scenes: u64,
    /// Agrees, undecided, wrong by oracle.
    pub oracles: BTreeMap<&'static str, [u64; 3]>,
    /// Scenes and certified ones by section and kind.
    pub kinds: BTreeMap<(String, String), [u64; 2]>,
    /// Scenes by what was generated and how the run ended.
    pub ends: BTreeMap<(&'static str, &'static str), u64>,
    /// Holds what was found.
    pub findings: Vec<Finding>,
}

impl CampaignTally {
    /// Adds a scene.
    pub fn add(&mut self, judged: &Judged) {
        self.scenes += 1;
        *self.ends.entry((judged.flavour, judged.ended)).or_default() += 1;
        for kind in &judged.kinds {
            let counts = self.kinds.entry(kind.clone()).or_default();
            counts[0] += 1;
            counts[1] += u64::from(judged.ended == "certified");
        }
        for (oracle, verdict) in &judged.verdicts {
            let counts = self.oracles.entry(oracle).or_default();
            match verdict {
                OracleVerdict::Silent => {}
                OracleVerdict::Agrees => counts[0] += 1,
                OracleVerdict::Undecided => counts[1] += 1,
                OracleVerdict::Wrong(_) => counts[2] += 1,
            }
        }
    }

    /// The table of the end.
    pub fn table(&self) -> String {
        let mut out = format!("{:<16}{:>9}{:>11}{:>8}\n", "oracle", "agrees", "undecided", "wrong");
        for oracle in ORACLES {
            if let Some([agrees, undecided, wrong]) = self.oracles.get(oracle.name) {
                out += &format!("{:<16}{agrees:>9}{undecided:>11}{wrong:>8}\n", oracle.name);
            }
        }
        let ends = ["certified", "uncertified", "stopped", "failed", "refused", "panicked"];
        out += &format!("\n{:<16}{}\n", "scenes", ends.map(|e| format!("{e:>12}")).concat());
        let mut flavours: Vec<_> = self.ends.keys().map(|k| k.0).collect();
        flavours.dedup();
        for flavour in flavours {
            let counts = ends.map(|e| format!("{:>12}", self.ends.get(&(flavour, e)).unwrap_or(&0)));
            out += &format!("{flavour:<16}{}\n", counts.concat());
        }
        out += &format!("\n{:<40}{:>9}{:>11}\n", "kind", "scenes", "certified");
        for ((section, kind), [scenes, certified]) in &self.kinds {
            out += &format!("{:<40}{scenes:>9}{certified:>11}\n", format!("{section} {kind}"));
        }
        let mut by_signature: BTreeMap<String, Vec<u64>> = BTreeMap::new();
        for finding in &self.findings {
            by_signature.entry(finding.signature()).or_default().push(finding.index);
        }
        for (signature, scenes) in by_signature {
            let some: Vec<String> = scenes.iter().take(8).map(u64::to_string).collect();
            out += &format!("\nfound {} times: {signature}\n    scenes {}\n", scenes.len(), some.join(" "));
        }
        out
    }
}

/// Holds what the threads share.
struct CampaignState {
    campaign: Campaign,
    next: AtomicU64,
    seen: Mutex<HashMap<String, usize>>,
    /// Of each thread, the scene that it works on and since when.
    busy: Mutex<Vec<Option<(u64, Instant)>>>,
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn work(shared: &CampaignState, slot: usize, send: &Sender<(Judged, Vec<Finding>)>) {
    let campaign = &shared.campaign;
    loop {
        let index = campaign.first + shared.next.fetch_add(1, Ordering::Relaxed);
        if index >= campaign.first + campaign.scenes {
            break;
        }
        let beat = || locked(&shared.busy)[slot] = Some((index, Instant::now()));
        beat();
        let judged = judge(campaign, index);
        let mut findings = Vec::new();
        for (oracle, verdict) in &judged.verdicts {
            let OracleVerdict::Wrong(what) = verdict else { continue };
            let scene = judged.scene.clone();
            let mut finding = Finding { oracle, index, what: what.clone(), scene };
            let seen = {
                let mut all = locked(&shared.seen);
                let count = all.entry(finding.signature()).or_default();
                *count += 1;
                *count
            };
            if seen <= SHRUNK {
                finding = shrunk(campaign, &finding, &beat);
                if let Some(out) = &campaign.out {
                    write(out, campaign.seed, &finding);
                }
            }
            findings.push(finding);
        }
        if send.send((judged, findings)).is_err() {
            break;
        }
    }
    locked(&shared.busy)[slot] = None;
}

/// Writes a finding; where that fails it is printed.
fn write(out: &Path, seed: u64, finding: &Finding) {
    let path = out.join(format!("{}_{seed}_{}.toml", finding.oracle, finding.index));
    let written = std::fs::create_dir_all(out).and_then(|()| std::fs::write(&path, finding.toml()));
    if let Err(error) = written {
        eprintln!("{}: {error}\n{}", path.display(), finding.toml());
    }
}

/// Runs a campaign; `progress` is called with the tally after every scene.
pub fn run(campaign: &Campaign, progress: &mut dyn FnMut(&CampaignTally)) -> CampaignTally {
    let jobs = campaign.jobs.max(1);
    let shared = Arc::new(CampaignState {
        campaign: campaign.clone(),
        next: AtomicU64::new(0),
        seen: Mutex::default(),
        busy: Mutex::new(vec![None; jobs]),
    });
    let (send, receive) = channel();
    let start = |slot: usize| {
        let (shared, send) = (shared.clone(), send.clone());
        std::thread::spawn(move || work(&shared, slot, &send));
    };
    (0..jobs).for_each(start);
    let mut tally = CampaignTally::default();
    while tally.scenes < campaign.scenes {
        match receive.recv_timeout(Duration::from_secs(1)) {
            Ok((judged, findings)) => {
                tally.add(&judged);
                tally.findings.extend(findings);
                progress(&tally);
            }
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                for (index, slot) in hanging(&shared) {
                    let what = format!("no verdict within {} s", HANGS.as_secs());
                    let scene = generate(campaign.seed, index);
                    let finding = Finding { oracle: "hang", index, what, scene };
                    if let Some(out) = &campaign.out {
                        write(out, campaign.seed, &finding);
                    }
                    tally.findings.push(finding);
                    tally.scenes += 1;
                    // the thread is left to itself; another takes over
                    start(slot);
                }
            }
        }
    }
    tally.findings.sort_by_key(|f| f.index);
    tally
}

/// Threads that hang, with their scenes; each is given a place of its own, so that it is reported once.
fn hanging(shared: &CampaignState) -> Vec<(u64, usize)> {
    let mut busy = locked(&shared.busy);
    let late: Vec<(u64, usize)> = busy
        .iter()
        .enumerate()
        .filter_map(|(slot, b)| b.filter(|(_, since)| since.elapsed() > HANGS).map(|(i, _)| (i, slot)))
        .collect();
    late.into_iter()
        .map(|(index, slot)| {
            busy[slot] = None;
            busy.push(None);
            (index, busy.len() - 1)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slice_of_scenes_agrees_with_all_oracles() {
        let campaign = Campaign { seed: 5, first: 0, scenes: 60, only: Vec::new(), jobs: 2, out: None };
        let tally = run(&campaign, &mut |_| ());
        let found: Vec<String> = tally.findings.iter().map(Finding::toml).collect();
        assert!(found.is_empty(), "{}", found.join("\n"));
        let certified: u64 = tally.ends.iter().filter(|(k, _)| k.1 == "certified").map(|(_, n)| n).sum();
        assert!(certified >= 25, "{}", tally.table());
        let judged = |name| tally.oracles.get(name).map_or(0, |n: &[u64; 3]| n[0]);
        assert!(ORACLES.iter().filter(|o| judged(o.name) > 0).count() >= 12, "{}", tally.table());
    }

    #[test]
    fn findings_of_one_kind_have_one_signature() {
        let one = signature("hint", "refused without a hint: body `b7` is 3.5 m away");
        assert_eq!(one, signature("hint", "refused without a hint: body `b12` is 0.2 m away"));
        assert_ne!(one, signature("hint", "refused without a hint: joint `b12` is 0.2 m away"));
    }
}
