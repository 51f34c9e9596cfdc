//! Tools of the journal.

use super::answer::{Answer, Item, MAX_ANSWER_BYTES, Page, marked, more};
use super::arguments::{Arguments, shown};
use super::json::Object;
use super::spec::Spec;
use crate::changes::Call;
use crate::items::Shown;
use crate::journal::{
    ChangedFile, DEFAULT_LISTED_FILES, EditChange, FileState, ListedFile, Search, Target, TargetRole, WriteFile,
    WriteMode, WriteReply,
};
use crate::search::SearchResults;
use crate::store::{NOTE_SUFFIX, NOTES_FOLDER};
use crate::trust::{add_flags, for_model};
use saddlebag_collections::prelude::*;
use saddlebag_protocol::{Error, ErrorCode};

/// Maximum number of notes that an error names.
const NAMED_NOTES: usize = 10;

/// Returns the file that the words of a call name.
pub(super) fn target(spec: &Spec, arguments: &Arguments, word: &str, role: TargetRole) -> Result<Target, Error> {
    match (word, arguments.text("name").map(str::trim)) {
        ("note", None | Some("")) => {
            let message = format!("{}: `name` is missing: a note needs one", spec.name);
            Err(Error::new(ErrorCode::InvalidName, message, "give `name`, without slashes or dots"))
        }
        (_, name) => Target::parse(word, name, role),
    }
}

/// Returns the file that a call reads; `None` if it asks for the list of files.
pub(super) fn source(spec: &Spec, arguments: &Arguments) -> Result<Option<Target>, Error> {
    match (arguments.needed("source")?.as_str(), arguments.text("name")) {
        ("list", None) => Ok(None),
        ("list", Some(name)) => {
            let message = format!("list takes no name, but got `{}`", shown(name));
            Err(Error::invalid_argument(message, "leave the name out, or use source note or daily"))
        }
        (word, _) => target(spec, arguments, word, TargetRole::Source).map(Some),
    }
}

/// Builds the write of a call.
pub(super) fn write(spec: &Spec, arguments: &Arguments) -> Result<WriteFile, Error> {
    Ok(WriteFile {
        target: target(spec, arguments, &arguments.needed("target")?, TargetRole::Target)?,
        mode: arguments.text("mode").map_or(Ok(WriteMode::Append), str::parse)?,
        content: arguments.needed("content")?,
        truncate: false,
    })
}

/// Builds the search of a call.
pub(super) fn search(arguments: &Arguments) -> Result<Search, Error> {
    Ok(Search {
        offset: arguments.start()?,
        max_bytes: MAX_ANSWER_BYTES as u32,
        ..Search::new(arguments.needed("query")?)
    })
}

/// Builds the change of a call. Text is deleted only by an explicit request: an empty `new_str`, or neither field.
pub(super) fn change(arguments: &Arguments) -> Result<EditChange, Error> {
    match (arguments.text("old_str"), arguments.text("new_str")) {
        (Some(old), Some(new)) => Ok(EditChange::Replace { old_text: old.to_string(), new_text: new.to_string() }),
        (None, None) => Ok(EditChange::DeleteNote),
        (Some(_), None) => {
            let help = "give the new text; an empty text deletes old_str";
            Err(Error::invalid_argument("memory_edit: `new_str` is missing", help))
        }
        (None, Some(_)) => {
            let help = "give the text to replace; memory_write adds text";
            Err(Error::invalid_argument("memory_edit: `old_str` is missing", help))
        }
    }
}

/// Returns the line that points a reader of the project's memory to the memory that all projects share.
fn shared_memory(call: &Call) -> Option<String> {
    let layout = &call.scope.layout;
    (layout.long_term() != layout.shared_long_term()).then(|| {
        let path = call.scope.display_path(layout.shared_long_term());
        format!("\n(memory of this project; page {path} has the memory of all projects)")
    })
}

/// Returns the error for a missing note, which names the notes that exist.
pub(super) fn no_note(name: &str, list: &[ListedFile]) -> Error {
    let names = list.iter().filter_map(|file| {
        let (folder, name) = file.path.rsplit_once('/')?;
        (folder.rsplit('/').next() == Some(NOTES_FOLDER)).then_some(name.strip_suffix(NOTE_SUFFIX)?)
    });
    let notes: Vec<&str> = names.take(NAMED_NOTES).collect();
    let help = match notes.is_empty() {
        true => "there are no notes yet; source list names the other files".to_string(),
        false => format!("there are: {}; source list names them all", notes.join(", ")),
    };
    Error::new(ErrorCode::NotFound, format!("there is no note `{}`", shown(name)), help)
}

pub(super) fn edited(reply: &ChangedFile) -> Answer {
    let mut object = Object::new();
    object.text("path", &reply.path);
    Answer::new(reply.message.as_str(), object)
}

pub(super) fn written(reply: &WriteReply) -> Answer {
    let mut object = Object::new();
    object.text("path", &reply.path);
    object.count("bytes", reply.bytes);
    if let Some(size) = reply.truncated_from {
        object.count("truncated_from", size);
    }
    Answer::new(reply.message.as_str(), object)
}

pub(super) fn read(call: &Call, reply: &Shown) -> Answer {
    let next = reply.next_offset.map(|offset| offset.to_string());
    let mut text = match reply.state {
        FileState::Missing if reply.version.is_some() => "(it does not exist in this version)".to_string(),
        FileState::Missing => format!("(empty: there is no {} yet)", reply.path),
        FileState::Empty => format!("(empty: {} has no text)", reply.path),
        FileState::Text => match marked(&reply.marks).trim_start() {
            "" => reply.text.clone(),
            marks => format!("{marks}\n{}", reply.text),
        },
    };
    if let Some(next) = &next {
        text.push_str(&format!("\n(bytes {} to {next} of {})", reply.offset, reply.size));
        text.push_str(&more(next));
    }
    if reply.path == call.scope.display_path(call.scope.layout.long_term()) {
        text.extend(shared_memory(call));
    }
    let mut object = Object::new();
    object.text("path", &reply.path);
    object.flag("exists", reply.state != FileState::Missing);
    object.text("text", &reply.text);
    object.count("total", reply.size);
    object.next(next.as_deref());
    Answer::new(text, object)
}

pub(super) fn listed(files: &[ListedFile], start: u32) -> Answer {
    let total = files.len();
    let items = files.iter().skip(start as usize).take(DEFAULT_LISTED_FILES as usize).map(|file| {
        let mut object = Object::new();
        object.text("path", &file.path);
        object.count("size", file.size);
        Item { text: format!("{} ({} bytes)", file.path, file.size), object }
    });
    let page = Page::from_items(items);
    let end = start.saturating_add(page.len());
    let next = ((end as usize) < total && page.len() > 0).then(|| end.to_string());
    let headline = match (total, page.len()) {
        (0, _) => "There are no files yet.".to_string(),
        (_, 0) => format!("No more files: {total} in all."),
        _ => format!("Files {} to {end} of {total}:", start.saturating_add(1)),
    };
    page.answer(&headline, "files", Some(total as u64), next.as_deref())
}

pub(super) fn found(query: &str, results: SearchResults, start: u32) -> Answer {
    let SearchResults { total_files, hits, rendered, rendered_hits, skipped, .. } = results;
    let shown_hits = rendered_hits.max(1).min(u32::try_from(hits.len()).unwrap_or(u32::MAX));
    let end = start.saturating_add(shown_hits);
    let next = (shown_hits > 0 && end < total_files).then(|| end.to_string());
    let mut text: String = match (total_files, hits.is_empty()) {
        (0, _) => format!("No matches for '{}'.", shown(query)),
        (total, true) => format!("No more matches for '{}': {total} in all.", shown(query)),
        _ => rendered.into_string(),
    };
    if let Some(file) = skipped.first() {
        let count = skipped.len();
        text.push_str(&format!(
            "\n({count} file(s) could not be searched, the first is {}: {})",
            file.path, file.reason
        ));
    }
    if let Some(next) = &next {
        text.push_str(&more(next));
    }
    let objects: alloc::vec::Vec<Object> = hits
        .iter()
        .take(shown_hits as usize)
        .map(|hit| {
            let mut object = Object::new();
            object.text("path", &hit.path);
            object.texts("terms", &hit.terms);
            object.text("body", &hit.body);
            object
        })
        .collect();
    let mut object = Object::new();
    object.objects("hits", &objects);
    object.count("total", total_files.into());
    object.next(next.as_deref());
    let mut answer = Answer::new(text, object);
    for hit in hits.iter().take(shown_hits as usize) {
        // The rendering already shows hidden characters, so only the findings are missing.
        add_flags(&mut answer.flags, for_model(&hit.body).1);
    }
    answer
}
