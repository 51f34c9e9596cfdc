//! Entries as files `<category>/<key>.md`, for tools that read and change them as text.
//!
//! A change follows the rules of entries. Text that is not an entry, or is one of another key, is refused. A change
//! fails if the file changed since it was read.

use super::checks::NewEntry;
use super::document::{Entry, Fields};
use super::put::store;
use super::removal::bury;
use super::rules::Base;
use super::scope::{EntriesScope, Pool};
use super::screen;
use super::state::Entries;
use super::types::StoreState;
use super::view::{Stored, View, by_path, look, path_of};
use crate::changes::Call;
use crate::store::{RelPath, portable_path, text_of_name};
use crate::trust::Provenance;
use saddlebag_collections::prelude::*;
use saddlebag_protocol::{Error, ErrorCode};

/// File of an entry, as it is shown.
#[derive(Clone, Debug)]
pub(crate) struct ShownFile {
    /// Path as it is shown, `<category>/<key>.md`, wherever the file really is.
    pub(crate) path: RelPath,
    pub(crate) text: String,
}

/// Returns the files of all entries that are shown, sorted by path; `None` if the memory has no entries.
pub(crate) async fn shown_files(call: &Call, entries: &Entries) -> Result<Option<Vec<ShownFile>>, Error> {
    let Some(scope) = &entries.scope else { return Ok(None) };
    let view = look(call, entries, scope).await?;
    let now = call.now.epoch_nanoseconds();
    let corpus = entries.corpus.borrow();
    let shown = by_path(&view, |stored| stored.is_live(now))?;
    let shown = shown.into_iter().map(|(path, stored)| Ok(ShownFile { path, text: stored.text(&corpus)?.into() }));
    shown.collect::<Result<_, Error>>().map(Some)
}

/// Parses a folder and a file name as category and key. Returns the path that is shown for them.
fn place(folder: &str, name: &str) -> Result<(String, String, RelPath), Error> {
    let (category, key) = (text_of_name(folder), text_of_name(name));
    let path = portable_path(&category, &key).map_err(|error| {
        let message =
            format!("`{}/{}` is not the path of an entry: {error}", folder.escape_debug(), name.escape_debug());
        Error::invalid_argument(message, "name a category and a key")
    })?;
    Ok((category, key, path))
}

/// Creates an entry from text: a file with frontmatter, or content only. Returns `false` if the entry exists.
pub(crate) async fn create_file(
    call: &Call,
    entries: &Entries,
    folder: &str,
    name: &str,
    text: &str,
) -> Result<bool, Error> {
    let scope = entries.scope()?;
    let (category, key, path) = place(folder, name)?;
    let pool = scope.pool(&category.parse()?)?;
    let mut fields = screened(call, &read(call, pool, &category, &key, text)?)?;
    let view = look(call, entries, scope).await?;
    screen::keep_trust_of_key(&view, pool.shared, &mut fields);
    let known = view.of_key(pool.shared, &key);
    if at(call, &view, &path)?.is_some() {
        return Ok(false);
    }
    if let Some(other) = known.filter(|stored| stored.is_live(call.now.epoch_nanoseconds())) {
        let message = format!("the key `{key}` exists as {}", path_of(other)?);
        return Err(Error::invalid_argument(message, "change or rename that file"));
    }
    let base = known.map_or(Base::Absent, |stored| Base::Version(stored.entry.version.clone()));
    let applied = store(call, entries, scope, &fields, &base).await?;
    match applied.state {
        StoreState::Conflict | StoreState::Forgotten | StoreState::Unchanged => Ok(false),
        _ => Ok(true),
    }
}

/// Replaces the text of a file, if the file still has the text `before`.
pub(crate) async fn replace_file(call: &Call, entries: &Entries, before: &ShownFile, text: &str) -> Result<(), Error> {
    let scope = entries.scope()?;
    let view = look(call, entries, scope).await?;
    let stored = at(call, &view, &before.path)?.ok_or_else(|| lost(&before.path))?;
    let pool = pool_of(scope, stored)?;
    let fields = &stored.entry.fields;
    let (category, key) = (fields.category.as_str(), &fields.key);
    let old = read(call, pool, category, key, &before.text)?;
    let new = read(call, pool, category, key, text)?;
    let stays = new.created == old.created && new.updated == old.updated && new.forgotten == old.forgotten;
    if !stays || new.owner != old.owner || new.fields.trust_state != old.fields.trust_state {
        let help = "change its content, tags, source or supersedes";
        return Err(Error::invalid_argument(
            "the owner, the provenance and the times of an entry cannot be edited",
            help,
        ));
    }
    if new.fields == old.fields {
        let help = "change its content, tags, source or supersedes";
        return Err(Error::invalid_argument("the edit changes no field of the entry", help));
    }
    let mut fields = screened(call, &new)?;
    // An edit by anyone except a person does not approve the text.
    if old.fields.trust_state.unapproved().is_some() && fields.trust_state.provenance != Provenance::User {
        fields.trust_state = old.fields.trust_state;
    }
    let applied = store(call, entries, scope, &fields, &Base::Version(old.version)).await?;
    match applied.state {
        StoreState::Conflict | StoreState::Forgotten => Err(lost(&before.path)),
        _ => Ok(()),
    }
}

/// Forgets the entry of a file. Returns `false` if there is no such entry.
pub(crate) async fn forget_file(call: &Call, entries: &Entries, path: &RelPath) -> Result<bool, Error> {
    let scope = entries.scope()?;
    let view = look(call, entries, scope).await?;
    let Some(stored) = at(call, &view, path)? else { return Ok(false) };
    let stored = stored.clone();
    let base = Base::Version(stored.entry.version.clone());
    bury(call, &view, pool_of(scope, &stored)?, &stored, &base).await?;
    Ok(true)
}

/// Moves an entry to another category or key. A new key is a new entry with the content of the old one, which is
/// forgotten. Returns `false` if the new name is taken.
pub(crate) async fn rename_file(
    call: &Call,
    entries: &Entries,
    from: &RelPath,
    folder: &str,
    name: &str,
) -> Result<bool, Error> {
    let scope = entries.scope()?;
    let (category, key, _) = place(folder, name)?;
    call.screen.name("key", &key)?;
    let pool = scope.pool(&category.parse()?)?;
    let view = look(call, entries, scope).await?;
    let stored = at(call, &view, from)?.ok_or_else(|| lost(from))?.clone();
    let old = stored.entry.fields.clone();
    let known = view.of_key(pool.shared, &key);
    let is_move = old.key == key && pool.shared >= stored.shared;
    let is_itself = old.key == key && pool.shared == stored.shared;
    if !is_itself && known.is_some_and(|stored| stored.is_live(call.now.epoch_nanoseconds())) {
        return Ok(false);
    }
    let Fields { tags, content, source, supersedes, trust_state, writer, projects, .. } = old;
    let fields = NewEntry { key, content, category, tags, source, supersedes }.checked()?;
    let fields = Fields { trust_state, writer, projects, ..fields };
    let version = |stored: &Stored| Base::Version(stored.entry.version.clone());
    let base = if is_move { version(&stored) } else { known.map_or(Base::Absent, version) };
    let applied = store(call, entries, scope, &fields, &base).await?;
    if matches!(applied.state, StoreState::Conflict | StoreState::Forgotten) {
        return Err(lost(from));
    }
    if !is_move {
        bury(call, &view, pool_of(scope, &stored)?, &stored, &version(&stored)).await?;
    }
    Ok(true)
}

fn pool_of<'a>(scope: &'a EntriesScope, stored: &Stored) -> Result<&'a Pool, Error> {
    let pool = scope.pools().find(|pool| pool.shared == stored.shared);
    pool.ok_or_else(|| Error::internal(format!("{} is not in a folder of this memory", stored.path)))
}

/// Returns the entry that is shown at a path.
fn at<'a>(call: &Call, view: &'a View, path: &RelPath) -> Result<Option<&'a Stored>, Error> {
    let now = call.now.epoch_nanoseconds();
    for stored in view.entries.iter().filter(|stored| stored.is_live(now)) {
        if path_of(stored)? == *path {
            return Ok(Some(stored));
        }
    }
    Ok(None)
}

/// Parses the text as the entry of this category and key, within the limits of entries.
fn read(call: &Call, pool: &Pool, category: &str, key: &str, text: &str) -> Result<Entry, Error> {
    let path = pool.file(category, key)?;
    let now = call.now.epoch_nanoseconds();
    let mut entry = Entry::parse(&pool.folder, &path, text, now, pool.shared).map_err(|problem| {
        let help = "write the content only, or a file like those that `view` shows";
        Error::invalid_argument(format!("this is not an entry: {}", problem.message), help)
    })?;
    let Fields { key: named, category: said, .. } = &entry.fields;
    if named != key || said.as_str() != category {
        let message = format!("its frontmatter has the key `{named}` ({said}), its path the key `{key}` ({category})");
        return Err(Error::invalid_argument(message, "rename the file instead"));
    }
    let checked = NewEntry::from(&entry.fields).checked()?;
    entry.fields = Fields { trust_state: entry.fields.trust_state, ..checked };
    Ok(entry)
}

/// Checks an entry that was parsed from text against the policy of the memory.
fn screened(call: &Call, entry: &Entry) -> Result<Fields, Error> {
    let said = entry.fields.trust_state.provenance.max(call.scope.trust.provenance);
    screen::screened(call, &NewEntry::from(&entry.fields), Some(said))
}

fn lost(path: &RelPath) -> Error {
    let message = format!("{path} was changed or forgotten meanwhile");
    Error::new(ErrorCode::Contention, message, "look at it again")
}
