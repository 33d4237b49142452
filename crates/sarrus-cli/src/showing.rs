//! Describes what `run --view`, `view` and `report.html` share: a scene before the run, frames on the way, a server until Ctrl-C.

use crate::args::ServeArgs;
use crate::exit::Exit;
use crate::printer::Printer;
use crate::progress::{listen, rearm, stopped};
use crate::results::{Results, ResultsError};
use sarrus::analysis::{Outcome, RunOverrides, Settings, Status, Watch};
use sarrus::model::{Diagnostic, Model};
use sarrus::system::{Columns, System};
use sarrus_view::extras::{CONTACTS, STEPS};
use sarrus_view::motion::{PoseTable, check_pose_columns, drawn};
use sarrus_view::observer::StreamColumns;
use sarrus_view::{
    ColumnTable, Live, SampleExtras, SampleMeter, SampleObserver, Scene, ServerOptions, Viewer, gltf, page,
    report,
};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// A model that is about to be run and shown.
pub struct Showing {
    /// Holds what there is, with its report once the run is over.
    pub scene: Scene,
    columns: StreamColumns,
    /// Columns of the trajectory.
    names: Vec<String>,
    system: Arc<System>,
    /// True if the columns show where bodies are.
    has_poses: bool,
    live: Option<Arc<Live>>,
    extras: SampleExtras,
}

impl Showing {
    /// Of a model that will be run with `overrides`.
    pub fn new(
        model: &Model,
        system: &Arc<System>,
        overrides: &RunOverrides,
    ) -> Result<Showing, Vec<Diagnostic>> {
        let mut scene = Scene::new(model, system)?;
        let settings = Settings::read(model, overrides).map_err(|error| error.diagnostics())?;
        let columns = Columns::new(model, system, &settings.columns)?;
        let diagnostics = SampleMeter::new(system, &scene.loads, &columns.names);
        let stream_columns =
            StreamColumns::new(&system.directory, &columns.names, &columns.units, &diagnostics);
        stream_columns.describe(&mut scene);
        scene.t = Some([settings.t_start, settings.t_end]);
        let has_poses = check_pose_columns(&system.directory, &columns.names).is_ok();
        Ok(Showing {
            scene,
            columns: stream_columns,
            names: columns.names,
            system: system.clone(),
            has_poses,
            live: None,
            extras: SampleExtras::default(),
        })
    }

    /// Frames that a server can hand out while the run continues.
    pub fn live(&mut self) -> Arc<Live> {
        let bodies = drawn(&self.system.directory).count();
        let live = Live::begin(&self.scene, bodies);
        self.live = Some(live.clone());
        live
    }

    /// Runs something with whatever has to listen between it and `watch`.
    pub fn listening<T>(
        &mut self,
        keep: bool,
        watch: &mut dyn Watch,
        run: impl FnOnce(&mut dyn Watch) -> T,
    ) -> T {
        let diagnostics = SampleMeter::new(&self.system, &self.scene.loads, &self.names);
        let mut observer = SampleObserver::new(self.system.directory.clone(), diagnostics, watch);
        if let Some(live) = &self.live {
            observer = observer.streaming(live.clone(), self.columns.clone());
        }
        if keep {
            observer = observer.keeping(!self.has_poses);
        }
        let done = run(&mut observer);
        self.extras = observer.into_extras();
        done
    }

    /// Takes note of how a run ended, and tells the observer.
    pub fn finish(&mut self, outcome: &Outcome) {
        self.scene.set_report(serde_json::to_value(&outcome.report).unwrap_or_default());
        if let Some(live) = &self.live {
            let failed = outcome.report.status == Status::Failed;
            live.finish(&self.scene, failed.then_some((outcome.report.reason.as_str(), None)));
        }
    }

    /// Informs the observer that the run could not begin.
    pub fn refuse(&self, why: &str) {
        if let Some(live) = &self.live {
            live.finish(&self.scene, Some((why, None)));
        }
    }

    /// Writes the files that stand beside a trajectory, and returns their names. Those of an earlier run are taken away.
    pub fn write_companions(
        &self,
        results: &Results,
        outcome: &Outcome,
    ) -> Result<Vec<&'static str>, ResultsError> {
        let mut names = Vec::new();
        let t = || outcome.trajectory.rows().map(|row| row[0]);
        // no one has listened where there is nothing
        if outcome.trajectory.is_empty() || self.extras.rows.is_empty() {
            results.remove(STEPS)?;
        } else {
            results.write(STEPS, |out| self.extras.write_steps(t(), out))?;
            names.push(STEPS);
        }
        if self.scene.contacts.is_empty() {
            results.remove(CONTACTS)?;
        } else {
            let of: Vec<&str> = self.scene.contacts.iter().map(|contact| contact.name.as_str()).collect();
            results.write(CONTACTS, |out| self.extras.write_contacts(t(), &of, out))?;
            names.push(CONTACTS);
        }
        Ok(names)
    }

    /// Takes away what an earlier run has left in a folder that only a trajectory and its report go to.
    pub fn remove_companions(results: &Results) -> Result<(), ResultsError> {
        [STEPS, CONTACTS, "report.html"].iter().try_for_each(|name| results.remove(name))
    }

    /// Returns what a user should know of what was kept.
    pub fn note(&self) -> Option<String> {
        self.extras.note()
    }

    /// Returns how it moved.
    pub fn motion(&self, outcome: &Outcome) -> Option<PoseTable> {
        let mut table = ColumnTable::from(&outcome.trajectory);
        self.extras.join(&mut table);
        let touches = self.extras.touches.clone();
        if self.has_poses {
            let motion = PoseTable::from_columns(&self.system.directory, table).ok()?;
            return Some(PoseTable { touches, ..motion });
        }
        let bodies = drawn(&self.system.directory).count();
        let whole = self.extras.poses.len() == table.len() * bodies * sarrus_view::motion::POSE;
        let (poses, rates) = (self.extras.poses.clone(), self.extras.rates.clone());
        whole.then_some(PoseTable { table, bodies, poses, rates, touches })
    }

    /// The scene, with its report.
    pub fn into_scene(self) -> Scene {
        self.scene
    }

    /// `report.html`.
    pub fn html(&self, motion: &PoseTable) -> String {
        report::html(&[report::thinned(self.scene.clone(), &self.system.directory, motion)])
    }

    /// A binary glTF file.
    pub fn gltf(&self, motion: &PoseTable) -> Vec<u8> {
        gltf::binary(&self.scene, motion)
    }
}

/// Returns what a path that is no folder asks for, by its ending.
pub fn single_file(path: &Path) -> Option<&'static str> {
    let ending = path.extension()?.to_str()?.to_ascii_lowercase();
    ["glb", "html"].into_iter().find(|known| *known == ending)
}

/// Starts the viewer, so that nothing is run in vain; no one is reported yet.
pub fn serve(
    args: &ServeArgs,
    runs: Vec<(String, Arc<Live>)>,
    printer: &mut Printer,
) -> Result<Viewer, Exit> {
    let options = ServerOptions { host: args.host.clone(), port: args.port };
    let viewer = match Viewer::start(&options, runs) {
        Ok(viewer) => viewer,
        Err(error) => {
            printer.error(&error);
            printer.hint("--port 0 takes any port that is free; without --host it is this machine's own");
            return Err(Exit::Input);
        }
    };
    Ok(viewer)
}

/// Says where the viewer is, and opens a browser.
pub fn announce(viewer: &Viewer, args: &ServeArgs, printer: &mut Printer) {
    printer.say("view", viewer.url());
    if !viewer.is_private() {
        printer.say(
            "note",
            "other machines can reach this: everyone who knows the whole address sees the results, unencrypted",
        );
    }
    if !page::is_built() {
        printer.say("note", format!("the viewer's page is not in this program; {}", page::HOW_TO_BUILD));
    } else if !args.no_open && !viewer.open() {
        printer.hint("open that address in a browser");
    }
}

/// Waits for Ctrl-C; one that ended a run does not count.
pub fn wait(printer: &mut Printer) {
    listen();
    rearm();
    printer.say("view", "Ctrl-C ends the viewer");
    while !stopped() {
        std::thread::sleep(Duration::from_millis(50));
    }
}
