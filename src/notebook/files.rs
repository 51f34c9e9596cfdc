//! Files of a notebook for its commands: paths, whole notes, folders, templates.

use super::config::{CONFIG_FILE, Group, NotebookConfig};
use super::template::{MAX_TEMPLATE_BYTES, NOTE_VARIABLES, Template};
use super::types::Warning;
use crate::changes::{Call, Change};
use crate::engine::{Loaded, load_all};
use crate::store::{RelPath, TEMPLATES_FOLDER, ZK_FOLDER};
use saddlebag_collections::prelude::*;
use saddlebag_protocol::{Error, ErrorCode};

/// Returns a file or folder of the notebook from its path relative to the notebook.
pub(super) fn notebook_file(call: &Call, path: &str) -> Result<RelPath, Error> {
    call.scope.layout.in_notebook(path).map_err(|error| {
        let help = "give its path relative to the notebook, such as facts/port.md";
        Error::invalid_argument(format!("`{}`: {error}", path.escape_debug()), help)
    })
}

/// Returns the path relative to the notebook; the whole path for a file outside of it.
pub(super) fn below_notebook<'a>(call: &Call, path: &'a RelPath) -> &'a str {
    call.scope.layout.below_notebook(path).unwrap_or(path.as_str())
}

/// Refuses a new note whose name is reserved, in any spelling that some file system accepts for it.
pub(super) fn check_new_note(call: &Call, path: &RelPath) -> Result<(), Error> {
    match call.scope.layout.reserved_for(path) {
        None => Ok(()),
        Some(kept) => {
            let message = format!("`{path}` cannot be a note: the name is reserved for {kept}");
            Err(Error::new(ErrorCode::InvalidName, message, "choose another title or folder"))
        }
    }
}

/// Refuses to remove or rename a file that every block reads under its name.
pub(crate) fn check_not_kept(call: &Call, path: &RelPath) -> Result<(), Error> {
    if !call.scope.layout.is_kept(path) {
        return Ok(());
    }
    let message = format!("{path} is found by its name, and is in every block");
    Err(Error::invalid_argument(message, "edit it, or replace its text with `write`"))
}

/// Creates a note. Returns `false` if the name is taken.
pub(super) async fn create_note(call: &Call, new: &Change) -> Result<bool, Error> {
    check_new_note(call, new.path())?;
    call.apply(new).await
}

/// Returns the error for a note that does not exist.
pub(super) fn no_note(path: &RelPath) -> Error {
    Error::new(ErrorCode::NotFound, format!("there is no note {path}"), "`list --kind note` lists all notes")
}

/// A template of the notebook.
#[derive(Debug)]
pub(super) struct FoundTemplate {
    /// Path relative to the notebook.
    pub(super) path: String,
    pub(super) template: Template,
}

impl FoundTemplate {
    /// Creates a built-in template.
    pub(super) fn built_in(name: &str, text: &str) -> Result<Self, Error> {
        let parsed =
            Template::parse(text, NOTE_VARIABLES).map_err(|problem| Error::internal(format!("{name}: {problem}")));
        Ok(Self { path: name.to_string(), template: parsed? })
    }

    /// Returns the error of the command for a problem of the template.
    pub(super) fn error(&self, problem: &str) -> Error {
        template_error(&self.path, problem)
    }
}

/// Returns the folders of templates, relative to the notebook.
pub(super) fn template_folders() -> [String; 2] {
    [TEMPLATES_FOLDER.to_string(), format!("{ZK_FOLDER}/{TEMPLATES_FOLDER}")]
}

/// Finds the template for a note of a group: the group's template, else `<kind>.md` in a folder of templates, else the
/// notebook's template; `None` if there is none of them.
///
/// A missing template that the configuration names is a warning. zk would refuse the note, but its text matters more.
pub(super) async fn find_template(
    call: &Call,
    config: &NotebookConfig,
    group: Option<&Group>,
    kind: &str,
    warnings: &mut Vec<Warning>,
) -> Result<Option<FoundTemplate>, Error> {
    let own = group.filter(|group| group.has_own_template).and_then(|group| group.note.template.as_deref());
    let shared = config.note.template.as_deref().filter(|_| own.is_none());
    let [ours, of_zk] = template_folders();
    let kind = format!("{kind}.md");
    let mut candidates = Vec::new();
    for (name, folders) in [(own, [&of_zk, &ours]), (Some(kind.as_str()), [&ours, &of_zk]), (shared, [&of_zk, &ours])] {
        let Some(name) = name else { continue };
        for folder in folders {
            let path = format!("{folder}/{name}");
            // An absolute path, or one with `..`, is outside of the notebook.
            if let Ok(file) = call.scope.layout.in_notebook(&path) {
                candidates.push((path, file, own == Some(name)));
            }
        }
    }
    let reads: Vec<&RelPath> = candidates.iter().map(|(_, file, _)| file).collect();
    let limit = u32::try_from(MAX_TEMPLATE_BYTES).unwrap_or(u32::MAX);
    let answers = load_all(&call.fs, &reads, limit).await;
    let mut found = None;
    for ((path, file, is_own), answer) in candidates.iter().zip(answers) {
        match answer.map_err(|error| Error::storage(Some(file), &error))? {
            Loaded::Absent => {}
            Loaded::TooLarge(size) => return Err(Error::file_too_large(file, size, u64::from(limit))),
            Loaded::Whole { bytes, .. } => {
                let text = core::str::from_utf8(&bytes).map_err(|_| Error::not_text(file))?;
                let template =
                    Template::parse(text, NOTE_VARIABLES).map_err(|problem| template_error(path, &problem))?;
                found = Some((FoundTemplate { path: path.clone(), template }, *is_own));
                break;
            }
        }
    }
    let missing = match &found {
        Some((_, is_own)) => own.filter(|_| !is_own),
        None => own.or(shared),
    };
    if let Some(name) = missing {
        let used = found.as_ref().map_or("the built-in one", |(found, _)| found.path.as_str());
        let message = format!("template `{}` is missing in {of_zk} and in {ours}; {used} is used", name.escape_debug());
        warnings.push(Warning::new(CONFIG_FILE, message));
    }
    Ok(found.map(|(found, _)| found))
}

fn template_error(path: &str, problem: &str) -> Error {
    let help = "correct the template, or move it away to use the built-in one";
    Error::invalid_argument(format!("{path}: {problem}"), help)
}

/// Returns the lines of text without white space at their ends and without CRLF, which do not change the meaning.
pub(super) fn normalized_lines(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.trim_end().lines().map(str::trim_end).collect();
    let blank = lines.iter().take_while(|line| line.is_empty()).count();
    lines.drain(..blank);
    lines
}

/// Returns the folders above a path, the nearest first.
pub(super) fn folders_above(path: &RelPath) -> Vec<RelPath> {
    let mut folders = vec![];
    let mut next = path.parent();
    while let Some(folder) = next {
        next = folder.parent();
        folders.push(folder);
    }
    folders
}
