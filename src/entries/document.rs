//! An entry as a Markdown file: the export format is the storage format.
//!
//! ```text
//! ---
//! key: lead_acme_corp
//! category: core
//! agent: zom_leadgen_01
//! tags: [lead, enterprise, warm]
//! created: 2026-04-10T14:22:11Z
//! updated: 2026-04-12T09:01:03Z
//! ---
//!
//! Acme Corp asked for a quote.
//! ```
//!
//! The content begins after the blank line and is kept byte for byte. People may edit the whole file. A change keeps keys that
//! are not ours, and the formatting of fields that did not change.

use core::fmt::Write as _;

use super::category::Category;
use crate::store::{EntryFolder, RelPath, utc_text};
pub(crate) use crate::trust::version_of;
use crate::trust::{Provenance, TrustState, Writer, is_unclosed, mark};
use saddlebag_collections::prelude::*;
use saddlebag_markdown::{Frontmatter, Value, moment, remove_field, set_field, yaml_scalar};
use saddlebag_protocol::Error;

/// Fields of an entry, without its times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fields {
    pub(crate) key: String,
    pub(crate) category: Category,
    pub(crate) tags: Vec<String>,
    pub(crate) content: String,
    pub(crate) source: Option<String>,
    pub(crate) supersedes: Option<String>,
    /// Provenance and approval of the text.
    pub(crate) trust_state: TrustState,
    /// Agent, session and tool that wrote the text, if the file names them.
    pub(crate) writer: Writer,
    /// Projects in which an agent wrote the text, which goes into the prompts of no other; empty for all projects.
    pub(crate) projects: Vec<String>,
}

/// An entry, as its file has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) fields: Fields,
    /// Agent or workspace that the file names as its owner.
    pub(crate) owner: Option<String>,
    /// Times in nanoseconds since 1970-01-01T00:00:00Z.
    pub(crate) created: u64,
    pub(crate) updated: u64,
    /// Time when it was forgotten. The file stays, so that older text cannot restore the entry.
    pub(crate) forgotten: Option<u64>,
    /// Version of the file's bytes.
    pub(crate) version: String,
}

/// Reason why a file is not an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    /// Key that the name of the file gives, if it is known.
    pub(crate) key: Option<String>,
    /// Description of the error, with the line.
    pub(crate) message: String,
}

/// Returns true if the text may go only into the prompts of its projects.
///
/// An approval lets the text of an agent into the prompts of all projects. Text of tools and imports needs an approval for
/// any prompt, so theirs is for its projects.
pub(crate) fn is_confined(projects: &[String], state: TrustState) -> bool {
    !projects.is_empty() && (state.approved.is_none() || !state.provenance.is_trusted())
}

impl Fields {
    /// Returns the size that budgets count: key, content and category in UTF-8.
    pub(crate) fn size(&self) -> u64 {
        (self.key.len() + self.content.len() + self.category.as_str().len()) as u64
    }

    /// Returns true if the text may go only into the prompts of its projects.
    pub(crate) fn is_confined(&self) -> bool {
        is_confined(&self.projects, self.trust_state)
    }

    /// Returns the projects of the text, if it may not go into the prompts of this one.
    pub(crate) fn only_in(&self, project: Option<&str>) -> &[String] {
        let is_for_it = self.projects.iter().any(|other| Some(other.as_str()) == project);
        if self.is_confined() && !is_for_it { &self.projects } else { &[] }
    }

    /// Returns true if nothing changed that `updated` tracks. A different source is not a change.
    pub(crate) fn is_same(&self, known: &Self) -> bool {
        self.category == known.category && self.content == known.content && self.tags == known.tags
    }
}

impl Entry {
    /// Parses a file. `modified` is the time of its last change and is used if the file names none.
    ///
    /// The file's own `key` has priority over its path. So does its category, except in the folder of a workspace.
    /// Fields that the file does not have are taken from the path.
    pub(crate) fn parse(
        folder: &EntryFolder,
        path: &RelPath,
        text: &str,
        modified: u64,
        shared: bool,
    ) -> Result<Self, Problem> {
        let frontmatter = Frontmatter::parse(text);
        let mut entry = Self::from_frontmatter(folder, path, (&frontmatter, text), modified, shared)?;
        let content = content_start(text, &frontmatter).and_then(|start| text.get(start..));
        let message = || Error::internal("its frontmatter ends outside of the text").into_message();
        let problem = || Problem { key: Some(entry.fields.key.clone()), message: message() };
        (entry.fields.content, entry.version) = (content.ok_or_else(problem)?.into(), version_of(text));
        Ok(entry)
    }

    /// Reads the fields of a file whose text may be missing. Content and version are empty.
    pub(crate) fn from_frontmatter(
        folder: &EntryFolder,
        path: &RelPath,
        (frontmatter, text): (&Frontmatter, &str),
        modified: u64,
        shared: bool,
    ) -> Result<Self, Problem> {
        let of_path = || folder.names_of(path);
        let problem = |message: String| Problem { key: of_path().1, message };
        if let Some(found) = &frontmatter.problem {
            return Err(problem(format!("line {}: {}", found.line, found.message)));
        }
        if text.trim_start_matches('\u{feff}').starts_with("---") && is_unclosed(frontmatter, text) {
            return Err(problem("line 1: its frontmatter has no end".into()));
        }
        let value = |names: [&str; 2]| names.into_iter().find_map(|name| frontmatter.value(name));
        let text_of = |name: &str| frontmatter.value(name).and_then(Value::text).filter(|text| !text.is_empty());
        let key = match frontmatter.value("key") {
            Some(Value::String(key)) if !key.is_empty() => key.clone(),
            // YAML reads a key such as 1.10 as a number and loses its spelling, so the path has priority here.
            other => match of_path().1.or_else(|| other.and_then(Value::text)) {
                Some(key) => key,
                None => return Err(problem("no key: neither the frontmatter nor the name of the file has one".into())),
            },
        };
        let category = match (shared, text_of("category").or_else(|| of_path().0)) {
            (true, _) => Category::Workspace,
            (false, None) => return Err(problem("no category: neither the frontmatter nor the folder has one".into())),
            (false, Some(name)) => name.parse::<Category>().map_err(|error| problem(error.into_message()))?,
        };
        if !shared && category == Category::Workspace {
            let message = "its category is `workspace`, whose entries belong in the folder of the workspace";
            return Err(problem(message.into()));
        }
        let updated = value(["updated", "updated_at"]).and_then(moment).unwrap_or(modified);
        Ok(Self {
            fields: Fields {
                key,
                category,
                tags: frontmatter.value("tags").map(tags).unwrap_or_default(),
                content: String::new(),
                source: text_of("source"),
                supersedes: text_of("supersedes"),
                trust_state: TrustState::from_parsed(frontmatter, text),
                writer: Writer::from_frontmatter(frontmatter),
                projects: frontmatter.value(PROJECTS).map(projects).unwrap_or_default(),
            },
            owner: owner(frontmatter),
            created: value(["created", "created_at"]).and_then(moment).unwrap_or(updated),
            updated,
            forgotten: frontmatter.value("forgotten").and_then(moment),
            version: String::new(),
        })
    }

    /// Returns true if it is this entry, or has the same fields without content and version.
    pub(crate) fn is_of(self: &Arc<Self>, read: &Arc<Self>) -> bool {
        let bare = |entry: &Self| {
            let fields = Fields { content: String::new(), ..entry.fields.clone() };
            Self { fields, version: String::new(), ..entry.clone() }
        };
        Arc::ptr_eq(self, read) || bare(read) == **self
    }

    /// Renders the file of a new entry.
    pub(crate) fn render(&self) -> String {
        let Fields { key, category, tags, content, source, supersedes, trust_state, writer, projects } = &self.fields;
        let mut text = format!("---\nkey: {}\ncategory: {}\n", yaml_scalar(key), yaml_scalar(category.as_str()));
        let mut add = |name: &str, value: &str| {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{name}: {value}");
        };
        if let Some(owner) = &self.owner {
            add(self.owner_field(), &yaml_scalar(owner));
        }
        add("tags", &tag_list(tags));
        add("created", &utc_text(self.created));
        add("updated", &utc_text(self.updated));
        for (name, value) in [("source", source), ("supersedes", supersedes)] {
            if let Some(value) = value {
                add(name, &yaml_scalar(value));
            }
        }
        if trust_state.provenance != Provenance::User {
            add("provenance", trust_state.provenance.as_str());
        }
        if let Some(approved) = trust_state.approved {
            add("approved", &utc_text(approved));
        }
        for (name, value) in writer.fields() {
            if let Some(value) = value {
                add(name, &yaml_scalar(value));
            }
        }
        if !projects.is_empty() {
            add(PROJECTS, &project_list(projects));
        }
        if let Some(forgotten) = self.forgotten {
            add("forgotten", &utc_text(forgotten));
        }
        text.push_str("---\n\n");
        text.push_str(content);
        text
    }

    /// Renders the file again with the changed fields. Other keys, their order and comments stay.
    ///
    /// # Errors
    ///
    /// `text` is not the text that `before` was parsed from; its other keys would be lost.
    pub(crate) fn rewrite(&self, text: &str, before: &Self) -> Result<String, Error> {
        let Fields { key, category, tags, content, source, supersedes, trust_state, writer, projects } = &self.fields;
        let frontmatter = Frontmatter::parse(text);
        if frontmatter.span.is_empty() {
            return Ok(self.render());
        }
        let mut text = text.to_string();
        if *content != before.fields.content {
            let head = content_start(&text, &frontmatter).and_then(|start| text.get(..start));
            let head =
                head.ok_or_else(|| Error::internal(format!("the frontmatter of `{key}` ends outside of the text")))?;
            let start = head.len();
            text.truncate(start);
            if !text.ends_with('\n') {
                text.push('\n');
            }
            // Without a blank line, content that begins with one would lose it.
            if start == frontmatter.span.end {
                text.push('\n');
            }
            text.push_str(content);
        }
        let mut set = |name: &str, value: &str| text = set_field(&text, name, value);
        if *key != before.fields.key {
            set("key", &yaml_scalar(key));
        }
        if *category != before.fields.category {
            set("category", &yaml_scalar(category.as_str()));
        }
        if *tags != before.fields.tags {
            set("tags", &tag_list(tags));
        }
        if self.created != before.created {
            set("created", &utc_text(self.created));
        }
        if self.updated != before.updated {
            set("updated", &utc_text(self.updated));
        }
        for (name, now, was) in
            [("source", source, &before.fields.source), ("supersedes", supersedes, &before.fields.supersedes)]
        {
            if let (Some(value), true) = (now, now != was) {
                set(name, &yaml_scalar(value));
            }
        }
        match self.forgotten {
            Some(forgotten) if before.forgotten != Some(forgotten) => set("forgotten", &utc_text(forgotten)),
            None if before.forgotten.is_some() => text = remove_field(&text, "forgotten"),
            _ => {}
        }
        let mut text = Some(text);
        if *trust_state != before.fields.trust_state {
            text = text.and_then(|text| mark(&text, trust_state.provenance));
        }
        if *writer != before.fields.writer {
            text = text.and_then(|text| writer.sign(&text));
        }
        if *projects != before.fields.projects {
            text = text.map(|text| match projects.is_empty() {
                true => remove_field(&text, PROJECTS),
                false => set_field(&text, PROJECTS, &project_list(projects)),
            });
        }
        // If the frontmatter cannot be edited to carry the provenance, the file is rendered from the fields alone.
        Ok(text.unwrap_or_else(|| self.render()))
    }

    fn owner_field(&self) -> &'static str {
        match self.fields.category {
            Category::Workspace => "workspace",
            _ => "agent",
        }
    }
}

/// Adds the time of the last change to a file that has none. Without it, the time would come from the file system,
/// which may not know it.
pub(crate) fn dated(text: String, updated: u64) -> String {
    let frontmatter = Frontmatter::parse(&text);
    let said = ["updated", "updated_at"].into_iter().find_map(|name| frontmatter.value(name)).and_then(moment);
    match said {
        Some(_) => text,
        None => set_field(&text, "updated", &utc_text(updated)),
    }
}

/// Field with the projects in which an agent wrote the text.
const PROJECTS: &str = "origin-project";

/// Returns the file of an entry for a project that gets another name; `None` if the entry does not name the project, or
/// names both as it should. With `keeps`, the old name stays beside the new one.
pub fn with_project_renamed(text: &str, from: &str, to: &str, keeps: bool) -> Option<String> {
    let before = projects(Frontmatter::parse(text).value(PROJECTS)?);
    if !before.iter().any(|project| project == from) {
        return None;
    }
    let mut after: Vec<String> = before.iter().filter(|project| keeps || *project != from).cloned().collect();
    if !after.iter().any(|project| project == to) {
        after.push(to.into());
    }
    (after != before).then(|| set_field(text, PROJECTS, &project_list(&after)))
}

/// Project that no memory has. A field without a name keeps the text out of all prompts.
const NO_PROJECT: &str = "?";

/// Keys that name the agent, including the keys in zombie's own exports.
const AGENT_FIELDS: [&str; 3] = ["agent", "zombie_id", "fleet_id"];

/// Returns the owner that the file names.
fn owner(frontmatter: &Frontmatter) -> Option<String> {
    let names = AGENT_FIELDS.into_iter().chain(["workspace"]);
    names.into_iter().find_map(|name| frontmatter.value(name)).and_then(Value::text)
}

/// Owner and category that a file names, read before it is parsed as an entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Claims {
    pub(crate) category: Option<String>,
    pub(crate) agents: Vec<String>,
    pub(crate) workspace: Option<String>,
}

impl Claims {
    pub(crate) fn from_text(text: &str) -> Self {
        let frontmatter = Frontmatter::parse(text);
        let text_of = |name: &str| frontmatter.value(name).and_then(Value::text).filter(|text| !text.is_empty());
        Self {
            category: text_of("category"),
            agents: AGENT_FIELDS.into_iter().filter_map(text_of).collect(),
            workspace: text_of("workspace"),
        }
    }
}

/// Returns where the content begins: after the frontmatter and one blank line. A file without frontmatter is all
/// content. `None` if the frontmatter belongs to other text.
fn content_start(text: &str, frontmatter: &Frontmatter) -> Option<usize> {
    let end = frontmatter.span.end;
    let rest = text.get(end..)?;
    if frontmatter.span.is_empty() {
        return Some(end);
    }
    let blank = ["\n", "\r\n"].into_iter().find(|newline| rest.starts_with(newline));
    Some(end + blank.map_or(0, str::len))
}

/// Reads tags from a list, or from text with commas.
fn tags(value: &Value) -> Vec<String> {
    let tags: Vec<String> = match value {
        Value::List(items) => items.iter().filter_map(Value::text).collect(),
        other => other.text().map(|text| text.split(',').map(String::from).collect()).unwrap_or_default(),
    };
    let trimmed = |tag: String| Some(tag.trim().to_string()).filter(|tag| !tag.is_empty());
    tags.into_iter().filter_map(trimmed).collect()
}

/// Reads the projects of the text.
fn projects(value: &Value) -> Vec<String> {
    let named = tags(value);
    if named.is_empty() { vec![NO_PROJECT.into()] } else { named }
}

fn project_list(projects: &[String]) -> String {
    match projects {
        [project] => yaml_scalar(project).into_owned(),
        several => tag_list(several),
    }
}

fn tag_list(tags: &[String]) -> String {
    let tags: Vec<_> = tags.iter().map(|tag| yaml_scalar(tag)).collect();
    format!("[{}]", tags.join(", "))
}

#[cfg(test)]
mod tests;
