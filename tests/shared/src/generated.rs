//! Generated files: a test compares each with what the code makes now, or writes it.
//!
//! `SADDLEBAG_REWRITE` names the kinds to write, separated by commas, as in `SADDLEBAG_REWRITE=json,text`; `1` is all of
//! them.

use std::fs;
use std::path::Path;

const REWRITE: &str = "SADDLEBAG_REWRITE";

/// Kind of a generated file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Conversions between the crate and `wit/`.
    Contract,
    /// `docs/commands.md`, and the recording in the README.
    Docs,
    /// `docs/schemas/`.
    Schemas,
    /// What subcommands print with `--json`.
    Json,
    /// What subcommands print for people.
    Text,
    /// What hooks answer to each client.
    Hooks,
    /// What setup writes for each client.
    Setup,
    /// Files of the plugins.
    Plugins,
    /// The world of the shell with a function for each tool.
    Shells,
}

impl Kind {
    const ALL: [Self; 9] = [
        Self::Contract,
        Self::Docs,
        Self::Schemas,
        Self::Json,
        Self::Text,
        Self::Hooks,
        Self::Setup,
        Self::Plugins,
        Self::Shells,
    ];

    fn word(self) -> String {
        format!("{self:?}").to_lowercase()
    }

    /// Returns true if files of this kind are written instead of compared.
    ///
    /// # Panics
    ///
    /// If the variable names an unknown kind, because nothing would be written then.
    pub fn is_written(self) -> bool {
        is_named(self, &std::env::var(REWRITE).unwrap_or_default())
    }

    /// Compares a file with its new text, or writes it.
    ///
    /// # Errors
    ///
    /// The first difference, and how to write the file.
    ///
    /// # Panics
    ///
    /// If the file cannot be written.
    pub fn check(self, path: &Path, made: &str) -> Result<(), String> {
        if self.is_written() {
            fs::create_dir_all(path.parent().unwrap_or(Path::new("."))).expect("the folder is made");
            fs::write(path, made).expect("the file is written");
        }
        let Ok(kept) = fs::read_to_string(path) else { return Err(self.failure(path, "cannot be read")) };
        if kept == made {
            return Ok(());
        }
        let (mut kept, mut made) = (kept.lines(), made.lines());
        let different = (1..)
            .map(|number| (number, kept.next(), made.next()))
            .find(|(_, kept, made)| kept != made || kept.is_none());
        let (line, kept, made) = different.expect("the lines end");
        let shown = |line: Option<&str>| line.unwrap_or("<the end of the file>").to_string();
        let (kept, made) = (shown(kept), shown(made));
        Err(self.failure(path, &format!("differs in line {line}:\n  kept: {kept}\n  made: {made}")))
    }

    fn failure(self, path: &Path, what: &str) -> String {
        let (path, word) = (path.display(), self.word());
        format!("{path} {what}\nlook at the difference; {REWRITE}={word} writes what is made, if it is meant")
    }
}

fn is_named(kind: Kind, value: &str) -> bool {
    let words: Vec<&str> = value.split(',').map(str::trim).filter(|word| !word.is_empty()).collect();
    let is_known = |word: &str| word == "1" || Kind::ALL.iter().any(|kind| kind.word() == word);
    if let Some(unknown) = words.iter().find(|word| !is_known(word)) {
        let all = Kind::ALL.map(Kind::word).join(", ");
        panic!("{REWRITE}={value}: `{unknown}` is not a kind of generated file; the kinds are {all}, and 1 for all");
    }
    words.iter().any(|word| *word == "1" || *word == kind.word())
}

#[test]
fn a_kind_is_written_only_if_it_is_named() {
    for (value, expected) in
        [("", [false, false]), ("1", [true, true]), ("json", [true, false]), ("docs, json", [true, false])]
    {
        assert_eq!([Kind::Json, Kind::Text].map(|kind| is_named(kind, value)), expected, "{value}");
    }
    assert!(std::panic::catch_unwind(|| is_named(Kind::Json, "jsno")).is_err());
}

#[test]
fn a_difference_is_shown_with_its_line() {
    let folder = std::env::temp_dir().join(format!("saddlebag-generated-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("made");
    let path = folder.join("file");
    fs::write(&path, "a\nb\n").expect("written");
    assert_eq!(Kind::Json.check(&path, "a\nb\n"), Ok(()));
    for (made, expected) in
        [("a\nc\n", "line 2:\n  kept: b\n  made: c"), ("a\n", "kept: b\n  made: <the end of the file>")]
    {
        let difference = Kind::Json.check(&path, made).expect_err("it differs");
        assert!(difference.contains(expected) && difference.contains("SADDLEBAG_REWRITE=json"), "{difference}");
    }
    assert!(Kind::Json.check(&path, "a\nb").is_err(), "only the last line end differs");
    fs::remove_dir_all(&folder).expect("removed");
}
