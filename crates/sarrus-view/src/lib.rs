//! Describes what users see: the viewer's server, `report.html`, and animations as glTF.
//!
//! A [`Scene`] says what there is (bodies with their shapes, joints, flexible members), a [`PoseTable`] how it moves; [`frames`] has the
//! bytes in which the page reads it. The page itself is TypeScript, in the folder `page` of this crate with the contract
//! `PROTOCOL.md`; it is built by npm and embedded ([`page`]). Where it could not be built everything else works, and says so.
//!
//! - [`Viewer`] serves runs to a browser: finished ones ([`Folder`]) and ones that continue ([`Live`]).
//! - [`report::html`] writes one file that needs no server and no network.
//! - [`gltf::binary`] writes the animation for other programs.
//!
//! Nothing here changes a run: it listens ([`SampleObserver`]) and never waits for a browser.

pub mod between;
pub mod extras;
pub mod folder;
pub mod frames;
pub mod gltf;
pub mod live;
pub mod motion;
pub mod observer;
pub mod page;
pub mod report;
pub mod sample_meter;
pub mod scene;
pub mod server;
mod solids;
pub mod table;
pub mod thin;

pub use extras::SampleExtras;
pub use folder::{Folder, FolderError};
pub use live::Live;
pub use motion::{Missing, PoseTable};
pub use observer::SampleObserver;
pub use sample_meter::SampleMeter;
pub use scene::Scene;
pub use server::{ServerOptions, Viewer, ViewerError};
pub use table::ColumnTable;
