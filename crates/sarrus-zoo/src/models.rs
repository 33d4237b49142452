//! The repository's `models/` folder, embedded, with the counts that each model must show.

macro_rules! embed {
    ($($name:literal),* $(,)?) => {
        /// Name and text of every file in `models/`, by name.
        pub static MODELS: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../../models/", $name, ".toml")))),*];

        /// Name and picture of every model, as WebP: made by `scripts/gallery` with the viewer.
        pub static PICTURES: &[(&str, &[u8])] =
            &[$(($name, include_bytes!(concat!("../../../models/pictures/", $name, ".webp")))),*];
    };
}

embed![
    "andrews",
    "beam_pendulum",
    "bennett",
    "bouncing_ball",
    "chain",
    "chain_on_floor",
    "coupler",
    "coupler_spatial",
    "crane",
    "deployment",
    "door",
    "double_pendulum",
    "four_bar",
    "four_bar_spatial",
    "governor",
    "gyroscope",
    "heavy_top",
    "incline",
    "mcpherson",
    "mcpherson_overconstrained",
    "n_four_bar",
    "n_four_bar_spatial",
    "newton_cradle",
    "pendulum",
    "pile",
    "rolling_ball",
    "rolling_disc",
    "sarrus",
    "slider_crank",
    "slider_crank_equal",
    "spinning_blade",
    "strandbeest",
    "trolley",
    "two_arm_robot",
];

/// Text of a shipped model.
pub fn model(name: &str) -> Option<&'static str> {
    MODELS.iter().find(|(n, _)| *n == name).map(|(_, text)| *text)
}

/// Picture of a shipped model, as WebP.
pub fn picture(name: &str) -> Option<&'static [u8]> {
    PICTURES.iter().find(|(n, _)| *n == name).map(|(_, bytes)| *bytes)
}

/// Sizes of a model at its start, found with a separate program from the rows of its joints and constraints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelSizes {
    /// Name of the shipped model.
    pub model: &'static str,
    /// Velocity coordinates of all bodies.
    pub velocities: usize,
    /// Constraint rows, those of drivers included.
    pub rows: usize,
    /// Rank of the rows.
    pub rank: usize,
}

const fn counts(model: &'static str, velocities: usize, rows: usize, rank: usize) -> ModelSizes {
    ModelSizes { model, velocities, rows, rank }
}

/// Counts of every shipped model with its default parameters.
pub static COUNTS: &[ModelSizes] = &[
    counts("andrews", 21, 20, 20),
    counts("beam_pendulum", 27, 2, 2),
    counts("bennett", 18, 20, 17),
    counts("bouncing_ball", 6, 0, 0),
    counts("chain", 60, 30, 30),
    counts("chain_on_floor", 30, 12, 12),
    counts("coupler", 12, 12, 11),
    counts("coupler_spatial", 24, 30, 23),
    counts("crane", 69, 33, 33),
    counts("deployment", 9, 6, 6),
    counts("door", 6, 10, 5),
    counts("double_pendulum", 12, 6, 6),
    counts("four_bar", 9, 8, 8),
    counts("four_bar_spatial", 18, 20, 17),
    counts("governor", 30, 26, 26),
    counts("gyroscope", 24, 21, 21),
    counts("heavy_top", 6, 3, 3),
    counts("incline", 3, 0, 0),
    counts("mcpherson", 30, 26, 26),
    counts("mcpherson_overconstrained", 30, 31, 26),
    counts("n_four_bar", 15, 14, 14),
    counts("n_four_bar_spatial", 30, 35, 29),
    counts("newton_cradle", 15, 10, 10),
    counts("pendulum", 3, 2, 2),
    counts("pile", 48, 0, 0),
    counts("rolling_ball", 6, 4, 4),
    counts("rolling_disc", 6, 3, 3),
    counts("sarrus", 30, 30, 29),
    counts("slider_crank", 9, 8, 8),
    counts("slider_crank_equal", 9, 8, 8),
    counts("spinning_blade", 18, 12, 12),
    counts("strandbeest", 111, 111, 111),
    counts("trolley", 6, 4, 4),
    counts("two_arm_robot", 6, 6, 6),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn every_file_of_the_folder_is_embedded() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
        let mut files: Vec<String> = std::fs::read_dir(folder)
            .expect("the models folder")
            .filter_map(|entry| {
                let path = entry.expect("a readable entry").path();
                let stem = path.file_stem()?.to_str()?.to_owned();
                (path.extension()? == "toml").then_some(stem)
            })
            .collect();
        files.sort();
        let names: Vec<&str> = MODELS.iter().map(|(name, _)| *name).collect();
        assert_eq!(files, names);
    }

    /// All of them go into the binary, so they stay small.
    #[test]
    fn every_model_has_a_small_picture_and_no_picture_is_left_over() {
        for (name, picture) in PICTURES {
            assert!(picture.starts_with(b"RIFF") && picture.get(8..12) == Some(b"WEBP"), "{name}");
            assert!((1_000..40_000).contains(&picture.len()), "{name}: {} bytes", picture.len());
        }
        assert!(PICTURES.iter().map(|(_, picture)| picture.len()).sum::<usize>() < 800_000);
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/pictures");
        let files = std::fs::read_dir(folder).expect("the pictures folder").count();
        assert_eq!(files, MODELS.len());
    }

    #[test]
    fn every_model_opens_with_what_it_shows_what_to_expect_and_a_command() {
        for (name, text) in MODELS {
            let opening: String = text.lines().take_while(|l| l.starts_with('#')).collect();
            assert!(opening.len() > 200, "{name}");
            assert!(opening.contains("Expect: "), "{name}");
            assert!(opening.contains(&format!("sarrus run models/{name}.toml")), "{name}");
        }
    }

    #[test]
    fn every_model_has_its_counts() {
        let counted: Vec<&str> = COUNTS.iter().map(|c| c.model).collect();
        let names: Vec<&str> = MODELS.iter().map(|(name, _)| *name).collect();
        assert_eq!(counted, names);
    }
}
