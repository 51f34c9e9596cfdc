//! `link`: adds a link from one note to another, once.

use super::config::NotebookConfig;
use super::files::{below_notebook, no_note, notebook_file};
use super::index::{Notebook, NotebookCall, catch_up, look, look_checked};
use super::links::{LinkTarget, format_link};
use super::named::of_this_memory;
use super::rename::settle;
use super::select::{Resolution, Resolver};
use super::snapshot::Names;
use crate::changes::{Backups, Call};
use crate::request::{Run, request};
use crate::store::RelPath;
use crate::trust::ForModel;
use saddlebag_collections::prelude::*;
use saddlebag_markdown::{Link as NoteLink, Note, append_block};
use saddlebag_protocol::{Error, ErrorCode};

/// Maximum size of the text of a link in bytes.
pub const MAX_LINK_TEXT_BYTES: usize = 1_000;

/// Adds a link to a note at the end of another, unless there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Note that gets the link.
    pub source: String,
    /// Note that the link leads to.
    pub target: String,
    /// Text of the link; `None` for the title of the target.
    pub text: Option<String>,
}

/// Reply of [`Link`].
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LinkReply {
    /// Path of the note that has the link.
    pub source: String,
    /// Path of the note that it leads to.
    pub target: String,
    /// The link as it was written; empty if there was one before.
    pub link: String,
    /// True if the note had the link before, and nothing was written.
    pub already_linked: bool,
    /// Summary for a person or a model. Stored text in it is made harmless.
    pub message: ForModel,
}

request!(Link "link" => LinkReply, Appends, |name| {
    let link = |from: &str, to: &str| Self { source: from.into(), target: to.into(), text: None };
    vec![link(name, "b"), link(name, "SCRATCHPAD")]
});

impl Run<NotebookCall<'_>> for Link {
    async fn run(self, with: &NotebookCall<'_>) -> Result<LinkReply, Error> {
        let call = with.call;
        call.screen.needs_trust("a note that is there")?;
        call.check_text("the text of the link", self.text.as_deref().unwrap_or_default()).await?;
        settle(call, with.notebook).await;
        let reply = link(call, with.notebook, &self.source, &self.target, self.text.as_deref()).await;
        of_this_memory(call, with.notebook, &[&self.source, &self.target], reply).await
    }
}

/// Adds a link at the end of a note, unless there is one.
async fn link(
    call: &Call,
    notebook: &Arc<Notebook>,
    from: &str,
    to: &str,
    text: Option<&str>,
) -> Result<LinkReply, Error> {
    let config = catch_up(call, notebook).await?;
    let (from, to, title) = look_checked(call, notebook, |snapshot| {
        let (from, to) = (snapshot.find_to_change(from)?, snapshot.find(to)?);
        let file = |note: usize| notebook_file(call, snapshot.path(note)?);
        let (_, title) = snapshot.link_target(to, snapshot.unapproved(from)?.is_none())?;
        Ok((file(from)?, file(to)?, title.to_string()))
    })
    .await?;
    // The text of the note was read by now. It may have other links than the index knows.
    let names = look(notebook, call, |snapshot| Ok(Names::from_snapshot(snapshot)))?;
    let views = names.views();
    let resolver = Resolver::new(&views);
    let place = |path: &RelPath| {
        let place = resolver.place(below_notebook(call, path));
        place.ok_or_else(|| Error::internal(format!("{path} was found but is not among the notes")))
    };
    let (from_place, to_place) = (place(&from)?, place(&to)?);
    let leads_to = |link: &NoteLink| resolver.resolve(from_place, link) == Resolution::To(to_place);
    write(call, &config, &from, &to, &title, text, leads_to).await
}

/// Adds a link to `to` at the end of `from`, on a separate line, unless `from` has one.
///
/// `text` is the text of the link, or else `title`, the title of the target. `leads_to` returns true for a link of
/// `from` that leads to the target.
async fn write(
    call: &Call,
    config: &NotebookConfig,
    from: &RelPath,
    to: &RelPath,
    title: &str,
    text: Option<&str>,
    leads_to: impl Fn(&NoteLink) -> bool + Sync,
) -> Result<LinkReply, Error> {
    let config = config.for_writing()?;
    if from == to {
        let message = format!("{from} would link to itself");
        return Err(Error::invalid_argument(message, "give two different notes"));
    }
    let text = match text.map(str::trim).filter(|text| !text.is_empty()) {
        Some(text) => checked_text(text)?,
        None => title,
    };
    let link =
        format_link(config, below_notebook(call, from), LinkTarget { path: below_notebook(call, to), title: text });
    let linked = call.update(from, Backups::Off, |file| {
        let old = file.text()?.ok_or_else(|| no_note(from))?;
        if Note::parse(old, config.tags).links.iter().any(&leads_to) {
            return Ok((None, true));
        }
        Ok((Some(call.edit(file, append_block(old, &link))?), false))
    });
    let (already_linked, _) = linked.await?;
    let (from, to) = (call.scope.display_path(from), call.scope.display_path(to));
    let (link, message) = if already_linked {
        (String::new(), format!("{from} links to {to} already"))
    } else {
        let message = format!("Linked {from} to {to}: {link}");
        (link, message)
    };
    Ok(LinkReply { source: from, target: to, link, already_linked, message: ForModel::escaped(&message) })
}

fn checked_text(text: &str) -> Result<&str, Error> {
    if text.len() > MAX_LINK_TEXT_BYTES {
        let message = format!("the text has {} bytes, the limit is {MAX_LINK_TEXT_BYTES}", text.len());
        return Err(Error::new(ErrorCode::TooLarge, message, "say in a few words where the link goes"));
    }
    let bad: Vec<char> = text.chars().filter(|c| c.is_control()).take(1).collect();
    match bad.first() {
        Some(bad) => {
            let message = format!("the text has the control character U+{:04X}", u32::from(*bad));
            Err(Error::invalid_argument(message, "give the text of a link as one line"))
        }
        None => Ok(text),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Store, call_at, day, path};
    use super::*;

    fn add(store: &mut Store, config: &str, text: Option<&'static str>) -> Result<LinkReply, Error> {
        let config = NotebookConfig::parse(config).0;
        store.run(|fs| async move {
            let leads_to = |link: &NoteLink| link.target.ends_with("facts/port") || link.target == "facts/port.md";
            let (from, to) = (path("daily/day.md"), path("facts/port.md"));
            write(&call_at(fs, day()), &config, &from, &to, "Port [db]", text, leads_to).await
        })
    }

    const WIKI: &str = "[format.markdown]\nlink-format='wiki'";

    #[test]
    fn a_link_is_written_once() {
        let mut store = Store::with(&[("daily/day.md", "# Day\n\ntext\n")]);
        let reply = add(&mut store, WIKI, None).expect("linked");
        assert_eq!(reply.link, "[[facts/port|Port \\[db\\]]]");
        assert_eq!(store.text("daily/day.md"), "# Day\n\ntext\n\n[[facts/port|Port \\[db\\]]]\n");
        let again = add(&mut store, "", Some("other text")).expect("linked");
        assert!(again.already_linked);
        assert_eq!(store.writes.len(), 1);
    }

    #[test]
    fn an_invalid_link_is_refused() {
        let mut store = Store::with(&[("daily/day.md", "text"), ("facts/port.md", "x")]);
        assert!(add(&mut store, "", Some("a\nb")).is_err());
        assert!(add(&mut store, "[", None).is_err());
        let own = store.run(|fs| async move {
            let a = path("facts/port.md");
            write(&call_at(fs, day()), &NotebookConfig::default(), &a, &a, "", None, |_| false).await
        });
        assert!(own.is_err());
        let mut empty = Store::default();
        assert_eq!(add(&mut empty, "", None).expect_err("missing").code, ErrorCode::NotFound);
        assert!(store.writes.is_empty() && empty.writes.is_empty());
    }

    #[test]
    fn an_editor_that_saves_in_between_loses_nothing() {
        let mut store = Store::with(&[("daily/day.md", "old\n")]);
        store.editor = Some((0, "daily/day.md", "saved\n"));
        add(&mut store, WIKI, Some("p")).expect("linked");
        assert_eq!(store.text("daily/day.md"), "saved\n\n[[facts/port|p]]\n");
    }
}
