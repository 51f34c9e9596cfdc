//! [`Superseded`]: the note that a new one supersedes, and what the new one takes over from it.

use super::checks::{MAX_TAGS, is_tag};
use super::files::{below_notebook, check_not_kept, notebook_file};
use super::index::{Notebook, catch_up, look, look_checked};
use super::select::{Resolution, Resolver};
use super::snapshot::Snapshot;
use super::types::SUPERSEDES;
use crate::changes::Call;
use crate::store::{DAILY_FOLDER, NOTE_SUFFIX, RelPath, is_name};
use crate::trust::TrustState;
use saddlebag_collections::prelude::*;
use saddlebag_markdown::{Frontmatter, LinkKind, Note, one_line};
use saddlebag_protocol::{Error, ErrorCode};

/// Beginning of the line that links to the superseded note.
pub(super) const LINK_START: &str = "- Supersedes: ";

/// Maximum number of links that a new note takes over.
const MAX_LINKS: usize = 100;

/// The note that a new one supersedes.
pub(super) struct Superseded {
    pub(super) path: RelPath,
    /// Path relative to the notebook.
    pub(super) below: String,
    pub(super) title: String,
    /// Tags that the new note does not have.
    pub(super) tags: Vec<String>,
    /// Path and title of the notes that it links to and the new note does not.
    pub(super) links: Vec<(String, String)>,
}

/// Finds the note that a request names in `supersedes`.
pub(super) fn named(call: &Call, snapshot: &Snapshot<'_>, name: &str) -> Result<RelPath, Error> {
    let note = snapshot.find_to_change(name)?;
    // The new note links to it, and only text that goes into prompts supersedes a note.
    let (path, _) = snapshot.link_target(note, true)?;
    let path = notebook_file(call, path)?;
    check_not_kept(call, &path)?;
    Ok(path)
}

/// Returns the template that puts a new note into the folder of a note that it supersedes.
pub(super) fn template_of(below: &str) -> String {
    match below.rsplit_once('/').map(|(folder, _)| folder) {
        None => ".".to_string(),
        // The folder of daily notes has no others.
        Some(folder) if folder.split('/').next().is_some_and(|first| is_name(first, DAILY_FOLDER)) => String::new(),
        Some(folder) => folder.to_string(),
    }
}

impl Superseded {
    /// Reads what the note at a path has and the new note does not.
    pub(super) async fn load(
        call: &Call,
        notebook: &Arc<Notebook>,
        path: &RelPath,
        content: &str,
        tags: &[String],
        links: &[(String, String)],
    ) -> Result<Self, Error> {
        // Another caller may have made it meanwhile.
        let config = catch_up(call, notebook).await?;
        let below = below_notebook(call, path).to_string();
        look_checked(call, notebook, |snapshot| {
            let place = snapshot.views.iter().position(|view| view.path == below);
            let place = place.ok_or_else(|| changed(path))?;
            let note = snapshot.view(place)?.note;
            let is_new = |tag: &&String| !tags.contains(tag) && is_tag(tag);
            let mut missing: Vec<String> = note.tags.iter().filter(is_new).cloned().collect();
            missing.truncate(MAX_TAGS.saturating_sub(tags.len()));
            let resolver = Resolver::new(&snapshot.views);
            let content = Note::parse(content, config.tags);
            let own = content.links.iter().map(|link| resolver.resolve(place, link));
            let mut known: Vec<usize> = own.filter_map(Resolution::only).chain([place]).collect();
            known.extend(links.iter().filter_map(|(path, _)| resolver.place(path)));
            let mut taken: Vec<(String, String)> = Vec::new();
            let is_link = |kind: LinkKind| matches!(kind, LinkKind::Wiki | LinkKind::Markdown | LinkKind::Property);
            for link in note.links.iter().filter(|link| is_link(link.kind)) {
                let Some(target) = resolver.resolve(place, link).only().filter(|note| !known.contains(note)) else {
                    continue;
                };
                known.push(target);
                let is_older = supersedes(note, snapshot.path(target)?);
                if let (Ok((path, title)), false) = (snapshot.link_target(target, true), is_older) {
                    taken.push((path.to_string(), title.to_string()));
                }
            }
            taken.truncate(MAX_LINKS);
            snapshot.rely_on(&known);
            Ok(Self {
                path: path.clone(),
                below: below.clone(),
                title: note.title.clone(),
                tags: missing,
                links: taken,
            })
        })
        .await
    }

    /// Returns what was taken over, for the message.
    pub(super) fn taken(&self) -> String {
        let tags: Vec<String> = self.tags.iter().map(|tag| format!("`{}`", one_line(tag))).collect();
        let links = match self.links.len() {
            0 => String::new(),
            1 => "1 link".to_string(),
            many => format!("{many} links"),
        };
        let tags = match tags.len() {
            0 => String::new(),
            1 => format!("the tag {}", tags.concat()),
            _ => format!("the tags {}", tags.join(", ")),
        };
        match (tags.as_str(), links.as_str()) {
            ("", "") => String::new(),
            (one, "") | ("", one) => format!("; took over {one}"),
            (tags, links) => format!("; took over {tags} and {links}"),
        }
    }
}

/// Returns the text with spaces in place of the lines that link to the superseded note. The title of that note must not make
/// such a line the passage that answers a question.
pub(super) fn without_older<'a>(text: &'a str, note: &Note) -> Cow<'a, str> {
    if note.frontmatter.value(SUPERSEDES).is_none() || !text.contains(LINK_START) {
        return Cow::Borrowed(text);
    }
    let blank = |line: &str| " ".repeat(line.trim_end_matches(['\r', '\n']).len());
    let lines = text.split_inclusive('\n').map(|line| match line.starts_with(LINK_START) {
        true => Cow::Owned(blank(line) + line.get(blank(line).len()..).unwrap_or_default()),
        false => Cow::Borrowed(line),
    });
    Cow::Owned(lines.collect())
}

/// Returns true if a note says that it supersedes the one at a path relative to the notebook.
pub(super) fn supersedes(note: &Note, old: &str) -> bool {
    note.frontmatter.texts(SUPERSEDES).any(|path| is_path(path, old))
}

/// Returns true if this is the path, with or without its extension.
pub(super) fn is_path(written: &str, path: &str) -> bool {
    written == path || path.strip_suffix(NOTE_SUFFIX) == Some(written)
}

/// Returns the paths that a note says to supersede; none if it waits for approval.
pub(crate) fn superseded_by(bytes: Option<&[u8]>) -> Vec<String> {
    let text = bytes.and_then(|bytes| core::str::from_utf8(bytes).ok()).unwrap_or_default();
    let head = Frontmatter::parse(text);
    let is_trusted = TrustState::from_parsed(&head, text).unapproved().is_none();
    head.texts(SUPERSEDES).filter(|_| is_trusted).map(String::from).collect()
}

/// Returns the end of a message: the notes that count again because those that superseded them are gone. These are gone already,
/// so it is not an error if the notes cannot be read now.
pub(crate) async fn counting_again(call: &Call, notebook: &Arc<Notebook>, superseded: &[String]) -> String {
    if superseded.is_empty() || catch_up(call, notebook).await.is_err() {
        return String::new();
    }
    let again = look(notebook, call, |snapshot| {
        let trusted = || snapshot.views.iter().enumerate().filter(|(_, view)| view.unapproved.is_none());
        let again = trusted().filter(|(_, old)| {
            superseded.iter().any(|path| is_path(path, old.path))
                && !trusted().any(|(_, view)| supersedes(view.note, old.path))
        });
        again.map(|(note, _)| snapshot.display_path(note)).collect::<Result<Vec<_>, _>>()
    });
    let again = again.unwrap_or_default();
    if again.is_empty() {
        return String::new();
    }
    format!("; no longer superseded, so again in prompts: {}", again.join(", "))
}

fn changed(path: &RelPath) -> Error {
    let message = format!("{path} was removed or renamed by others before it was superseded");
    Error::new(ErrorCode::Contention, message, "try again")
}
