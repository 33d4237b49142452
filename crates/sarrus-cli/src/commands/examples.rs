//! `sarrus examples`

use crate::args::{ExamplesArgs, ListFamily};
use crate::commands::list;
use crate::exit::Exit;
use crate::gallery;
use crate::printer::Printer;
use sarrus::model::suggest::did_you_mean;
use std::io::Write;
use std::path::PathBuf;

/// What stands before the name of a model that comes with the program.
pub const PREFIX: &str = "example:";

/// Lists the models that come with the program, with pictures if asked, or copies one.
pub fn run(args: &ExamplesArgs, printer: &mut Printer) -> Exit {
    if let Some(path) = &args.html {
        return match std::fs::write(path, gallery::page(&list::examples())) {
            Ok(()) => {
                printer.say("written", path.display());
                Exit::Done
            }
            Err(error) => {
                printer.error(format!("cannot write `{}`: {error}", path.display()));
                Exit::Input
            }
        };
    }
    let Some(name) = &args.copy else {
        let exit = list::family(ListFamily::Examples, args.json, printer);
        if !args.json {
            printer.hint("`sarrus run example:four_bar --view` runs one, `sarrus examples --copy four_bar` copies it here, `sarrus examples --html FILE` shows them all");
        }
        return exit;
    };
    let (name, text) = match find(name.strip_prefix(PREFIX).unwrap_or(name)) {
        Ok(found) => found,
        Err(hint) => {
            printer.error(format!("there is no example `{name}`"));
            printer.hint(hint);
            return Exit::Input;
        }
    };
    let path = args.to.clone().unwrap_or_else(|| PathBuf::from(format!("{name}.toml")));
    let path = if path.is_dir() { path.join(format!("{name}.toml")) } else { path };
    // never over what is there
    let made = std::fs::File::options().write(true).create_new(true).open(&path);
    match made.and_then(|mut file| file.write_all(text.as_bytes())) {
        Ok(()) => {
            printer.say("written", path.display());
            Exit::Done
        }
        Err(error) => {
            printer.error(format!("cannot write `{}`: {error}", path.display()));
            if error.kind() == std::io::ErrorKind::AlreadyExists {
                printer.hint("--to FILE gives it another name");
            }
            Exit::Input
        }
    }
}

/// All of them as files, for those that include others.
pub fn files() -> Vec<(String, &'static str)> {
    sarrus_zoo::MODELS.iter().map(|(name, text)| (format!("{name}.toml"), *text)).collect()
}

/// Name and text of a model that comes with the program, or a hint.
pub fn find(name: &str) -> Result<(&'static str, &'static str), String> {
    let found = sarrus_zoo::MODELS.iter().find(|(known, _)| *known == name).copied();
    found.ok_or_else(|| {
        let names = sarrus_zoo::MODELS.iter().map(|(known, _)| *known);
        did_you_mean(name, names).unwrap_or_else(|| "`sarrus examples` lists them".into())
    })
}
