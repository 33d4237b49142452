//! What `run --view`, `view` and `report.html` share: a scene before the run, frames on the way, a server until Ctrl-C.

use crate::args::ServeArgs;
use crate::exit::Exit;
use crate::printer::Printer;
use crate::progress::{listen, rearm, stopped};
use sarrus::analysis::{Outcome, Overrides, Settings, Status, Watch};
use sarrus::model::{Diagnostic, Model};
use sarrus::system::{Columns, System};
use sarrus_view::motion::{Motion, drawn, tell_poses};
use sarrus_view::tap::{Feed, Poses};
use sarrus_view::{Live, Options, Scene, Table, Tap, Viewer, gltf, page, report};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// A model that is about to be run and shown.
pub struct Showing {
    /// What there is, with its report once the run is over.
    pub scene: Scene,
    feed: Feed,
    system: Arc<System>,
    /// Whether the columns tell where bodies are.
    columns_tell: bool,
    live: Option<Arc<Live>>,
    poses: Vec<f32>,
}

impl Showing {
    /// Of a model that will be run with `overrides`.
    pub fn new(
        model: &Model,
        system: &Arc<System>,
        overrides: &Overrides,
    ) -> Result<Showing, Vec<Diagnostic>> {
        let mut scene = Scene::new(model, system)?;
        let settings = Settings::read(model, overrides).map_err(|error| error.diagnostics())?;
        let columns = Columns::new(model, system, &settings.columns)?;
        let feed = Feed::new(&system.directory, &columns.names, &columns.units);
        feed.describe(&mut scene);
        scene.t = Some([settings.t_start, settings.t_end]);
        let columns_tell = tell_poses(&system.directory, &columns.names).is_ok();
        Ok(Showing { scene, feed, system: system.clone(), columns_tell, live: None, poses: Vec::new() })
    }

    /// Frames that a server can hand out while the run goes on.
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
        let directory = &self.system.directory;
        let mut poses = Poses::new(directory.clone(), watch);
        let keeps = keep && !self.columns_tell;
        let watch: &mut dyn Watch = if keeps { &mut poses } else { poses.inner() };
        let done = match &self.live {
            Some(live) => run(&mut Tap::new(live.clone(), directory.clone(), self.feed.clone(), watch)),
            None => run(watch),
        };
        self.poses = poses.poses;
        done
    }

    /// Takes note of how a run ended, and tells whoever looks at it.
    pub fn finish(&mut self, outcome: &Outcome) {
        self.scene.set_report(serde_json::to_value(&outcome.report).unwrap_or_default());
        if let Some(live) = &self.live {
            let failed = outcome.report.status == Status::Failed;
            live.finish(&self.scene, failed.then_some((outcome.report.reason.as_str(), None)));
        }
    }

    /// Tells whoever looks that the run could not begin.
    pub fn refuse(&self, why: &str) {
        if let Some(live) = &self.live {
            live.finish(&self.scene, Some((why, None)));
        }
    }

    /// How it moved.
    pub fn motion(&self, outcome: &Outcome) -> Option<Motion> {
        let table = Table::from(&outcome.trajectory);
        if self.columns_tell {
            return Motion::from_columns(&self.system.directory, table).ok();
        }
        let bodies = drawn(&self.system.directory).count();
        let whole = self.poses.len() == table.len() * bodies * sarrus_view::motion::POSE;
        whole.then(|| Motion { table, bodies, poses: self.poses.clone() })
    }

    /// The scene, with its report.
    pub fn into_scene(self) -> Scene {
        self.scene
    }

    /// `report.html`.
    pub fn html(&self, motion: &Motion) -> String {
        report::html(&[report::thinned(self.scene.clone(), &self.system.directory, motion)])
    }

    /// A binary glTF file.
    pub fn gltf(&self, motion: &Motion) -> Vec<u8> {
        gltf::binary(&self.scene, motion)
    }
}

/// What a path that is no folder asks for, by its ending.
pub fn single_file(path: &Path) -> Option<&'static str> {
    let ending = path.extension()?.to_str()?.to_ascii_lowercase();
    ["glb", "html"].into_iter().find(|known| *known == ending)
}

/// Starts the viewer, says where it is, and opens a browser.
pub fn serve(
    args: &ServeArgs,
    runs: Vec<(String, Arc<Live>)>,
    printer: &mut Printer,
) -> Result<Viewer, Exit> {
    let options = Options { host: args.host.clone(), port: args.port };
    let viewer = match Viewer::start(&options, runs) {
        Ok(viewer) => viewer,
        Err(error) => {
            printer.error(&error);
            printer.hint("--port 0 takes any port that is free; without --host it is this machine's own");
            return Err(Exit::Input);
        }
    };
    printer.say("view", viewer.url());
    if !viewer.is_private() {
        printer.say(
            "note",
            "other machines can reach this: whoever knows the whole address sees the results, unencrypted",
        );
    }
    if !page::is_built() {
        printer.say("note", format!("the viewer's page is not in this program; {}", page::HOW_TO_BUILD));
    } else if !args.no_open && !viewer.open() {
        printer.hint("open that address in a browser");
    }
    Ok(viewer)
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
