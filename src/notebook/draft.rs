//! A new note before it is written: its folder, name and text.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::config::{CONFIG_FILE, Group, NoteConfig, NotebookConfig};
use super::files::{FoundTemplate, below_notebook, check_new_note, notebook_file, template_folders};
use super::links::{LinkTarget, format_link};
use super::slug::slug;
use super::superseded::{LINK_START, Superseded};
use super::template::{FILENAME_VARIABLES, Template, Variables};
use super::types::{SUPERSEDES, Warning};
use crate::changes::Call;
use crate::engine::{Loaded, load};
use crate::store::{
    DAILY_FOLDER, DECISIONS_FOLDER, FACTS_FOLDER, LocalTime, RelPath, SCOPE_FOLDERS, TEMPLATES_FOLDER, is_device_name,
    is_hidden, is_name,
};
use crate::trust::{Provenance, mark};
use saddlebag_collections::prelude::*;
use saddlebag_markdown::{
    Frontmatter, FrontmatterProblem, Note, append_block, paths::file_name, set_field, yaml_string,
};
use saddlebag_protocol::{EntryKind, Error};

/// Maximum number of folders in a file name that a template makes.
const MAX_NAME_FOLDERS: usize = 8;

// `concat!` does not accept a constant.
macro_rules! date_pattern {
    () => {
        "%Y-%m-%dT%H:%M:%S%z"
    };
}

/// Returns a time as the frontmatter of notes has it. It has an offset, because zk and others read a date without one as
/// UTC; zk's templates know `%z` and not `%:z`.
pub(crate) fn moment(now: LocalTime) -> String {
    now.format(date_pattern!()).unwrap_or_else(|| now.to_string())
}

/// Template of a note, if the notebook has none. Titles are quoted, because `Error: x` is not valid YAML.
pub(super) const NOTE_TEMPLATE: &str = concat!(
    "---\ntitle: {{json title}}\ndate: {{format-date now '",
    date_pattern!(),
    "'}}\ntags: {{json tags}}\n---\n\n{{content}}\n",
);

/// Returns the built-in template of a note.
pub(super) fn built_in_template() -> Result<FoundTemplate, Error> {
    FoundTemplate::built_in("the built-in template of a note", NOTE_TEMPLATE)
}

/// Kind of a note, which determines its folder and template.
pub(super) struct Kind {
    /// Name of the template: `fact` for `templates/fact.md`.
    pub(super) name: String,
    /// Folder relative to the notebook; empty for the notebook itself.
    pub(super) folder: String,
    /// Group that was requested; `None` for the group of the folder.
    group: Option<String>,
}

impl Kind {
    /// Returns the configuration's group for its notes.
    pub(super) fn group<'a>(&self, config: &'a NotebookConfig) -> Option<&'a Group> {
        match &self.group {
            Some(name) => config.groups.iter().find(|group| group.name == *name),
            None => config.group_of(&self.below("x")),
        }
    }

    /// Returns the path of a file in its folder.
    fn below(&self, name: &str) -> String {
        if self.folder.is_empty() { name.to_string() } else { format!("{}/{name}", self.folder) }
    }

    /// Returns true if a note is in its folder or below it. The notebook itself contains only the notes directly in
    /// it.
    pub(super) fn holds(&self, path: &str) -> bool {
        match self.folder.as_str() {
            "" => !path.contains('/'),
            folder => path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')),
        }
    }

    /// Returns the kind for the requested template and group.
    pub(super) async fn of(
        call: &Call,
        config: &NotebookConfig,
        template: &str,
        group: Option<&str>,
    ) -> Result<Self, Error> {
        let mut kind = Self::from_word(call, config, template).await?;
        if let Some(name) = group {
            if config.groups.iter().all(|group| group.name != name) {
                let names: Vec<&str> = config.groups.iter().map(|group| group.name.as_str()).take(20).collect();
                let message = format!("there is no group `{}` in the configuration", name.escape_debug());
                let help = match names.as_slice() {
                    [] => format!("there are no groups; add [group.NAME] to {CONFIG_FILE}"),
                    names => format!("one of {}", names.join(", ")),
                };
                return Err(Error::invalid_argument(message, help));
            }
            kind.name = template_name(name).to_string();
            kind.group = Some(name.to_string());
        }
        Ok(kind)
    }

    /// Returns the kind for `fact`, `decision`, the root, or a folder that exists or that the configuration names.
    async fn from_word(call: &Call, config: &NotebookConfig, word: &str) -> Result<Self, Error> {
        let word = word.trim().trim_matches('/');
        let known = |name: &str, folder: &str| Self { name: name.into(), folder: folder.into(), group: None };
        match word {
            "" | "fact" | FACTS_FOLDER => return Ok(known(template_name(FACTS_FOLDER), FACTS_FOLDER)),
            "decision" | DECISIONS_FOLDER => return Ok(known(template_name(DECISIONS_FOLDER), DECISIONS_FOLDER)),
            "." => return Ok(known("note", "")),
            _ => {}
        }
        let file = notebook_file(call, word)?;
        let first = word.split('/').next().unwrap_or(word);
        if word.split('/').any(is_hidden) {
            let message = format!("`{word}` is a hidden folder, whose notes cannot be found");
            return Err(Error::invalid_argument(message, "choose a folder that does not begin with a dot"));
        }
        if is_name(first, DAILY_FOLDER) {
            let message = "the folder of daily notes has one note per day";
            return Err(Error::invalid_argument(message, "use `log --line` to add to today's note"));
        }
        if is_name(first, TEMPLATES_FOLDER) || call.scope.layout.is_in_other_memory(&file) {
            return Err(Error::invalid_argument(format!("`{first}` holds no notes"), "choose another folder"));
        }
        let is_group = config.groups.iter().any(|group| group.paths.iter().any(|path| path == word));
        if is_group || is_folder(call, &file).await? || has_template(call, word).await? {
            return Ok(known(file_name(word), word));
        }
        let help = format!("one of fact, decision{}", folders(call).await?);
        Err(Error::invalid_argument(format!("unknown template: {}", word.escape_debug()), help))
    }
}

/// Returns the name of the template for a folder or a group.
fn template_name(folder: &str) -> &str {
    match folder {
        FACTS_FOLDER => "fact",
        DECISIONS_FOLDER => "decision",
        other => other,
    }
}

/// Returns true if the folder exists, even if it is empty.
async fn is_folder(call: &Call, path: &RelPath) -> Result<bool, Error> {
    let entries = call.list(path.parent().as_ref()).await?;
    Ok(entries.iter().any(|entry| entry.path == *path && entry.kind == EntryKind::Directory))
}

async fn has_template(call: &Call, word: &str) -> Result<bool, Error> {
    for folder in template_folders() {
        let file = notebook_file(call, &format!("{folder}/{word}.md"))?;
        if load(&call.fs, &file, 0).await? != Loaded::Absent {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Lists the folders for notes, for a message.
async fn folders(call: &Call) -> Result<String, Error> {
    let entries = call.list(call.scope.layout.project_folder()).await?;
    let names = entries.iter().filter(|entry| entry.kind == EntryKind::Directory).map(|entry| entry.path.file_name());
    let others = names.filter(|name| {
        let known = [FACTS_FOLDER, DECISIONS_FOLDER, DAILY_FOLDER, TEMPLATES_FOLDER];
        !name.starts_with('.') && !known.contains(name) && !SCOPE_FOLDERS.contains(name)
    });
    Ok(others.take(20).map(|name| format!(", {name}")).collect())
}

/// A note to create, before it has a name.
pub(super) struct Draft<'a> {
    pub(super) call: &'a Call,
    pub(super) config: &'a NotebookConfig,
    pub(super) provenance: Provenance,
    pub(super) title: &'a str,
    pub(super) content: String,
    pub(super) tags: Vec<String>,
    /// Path and title of the notes to link to.
    pub(super) links: &'a [(String, String)],
    pub(super) kind: Kind,
    pub(super) template: FoundTemplate,
}

/// A draft, and its text under its first name.
pub(super) struct Rendered<'a> {
    pub(super) draft: Draft<'a>,
    path: RelPath,
    text: String,
}

impl<'a> Rendered<'a> {
    /// Renders a draft. If its template makes metadata that is not valid, such as a title without quotes, the built-in
    /// template takes its place, with a warning.
    pub(super) fn new(mut draft: Draft<'a>, warnings: &mut Vec<Warning>) -> Result<Self, Error> {
        let path = draft.path(1)?;
        let mut text = draft.render(&path, 1, None)?;
        if let Some(FrontmatterProblem { line, message }) = Frontmatter::parse(&text).problem {
            let message =
                format!("gives metadata that is not valid YAML (line {line}: {message}); the built-in one is used");
            warnings.push(Warning::new(&draft.template.path, message));
            draft.template = built_in_template()?;
            text = draft.render(&path, 1, None)?;
        }
        Ok(Self { draft, path, text })
    }

    /// Returns the text at a path, for the attempt with this number and the note that it supersedes. It is rendered again
    /// only if it depends on them.
    pub(super) fn text_at(&self, path: &RelPath, number: u32, old: Option<&Superseded>) -> Result<Cow<'_, str>, Error> {
        let is_first = number == 1 && *path == self.path;
        match old.is_none() && (is_first || !self.draft.depends_on_name()) {
            true => Ok(Cow::Borrowed(&self.text)),
            false => self.draft.render(path, number, old).map(Cow::Owned),
        }
    }
}

impl Draft<'_> {
    fn note_config(&self) -> &NoteConfig {
        self.kind.group(self.config).map_or(&self.config.note, |group| &group.note)
    }

    /// Returns the file for the attempt with this number, counted from 1.
    pub(super) fn path(&self, number: u32) -> Result<RelPath, Error> {
        let note = self.note_config();
        let numbered = |stem: String| if number == 1 { stem } else { format!("{stem}-{number}") };
        let stem = match &note.filename {
            None => numbered(slug(self.title)),
            Some(filename) => {
                let refused = |problem: String| {
                    let message =
                        format!("the file name `{}` of the configuration: {problem}", filename.escape_debug());
                    Error::damaged_file(message, "correct `filename` in .zk/config.toml")
                };
                let template = Template::parse(filename, FILENAME_VARIABLES).map_err(refused)?;
                let name = template.render(&self.variables(number, &self.tags)).map_err(refused)?;
                let name = safe_name(&name);
                // A name with an id differs in each attempt.
                if template.uses("id") { name } else { numbered(name) }
            }
        };
        let path = notebook_file(self.call, &self.kind.below(&format!("{stem}.{}", note.extension)))?;
        check_new_note(self.call, &path)?;
        // The file name may have folders. Days and templates have their own commands.
        let below = below_notebook(self.call, &path);
        match below.split_once('/') {
            Some((first, _)) if [DAILY_FOLDER, TEMPLATES_FOLDER].into_iter().any(|kept| is_name(first, kept)) => {
                let message = format!("`{below}` cannot be a note: the folder `{first}` is for other files");
                Err(Error::invalid_argument(message, "choose another title or folder"))
            }
            _ => Ok(path),
        }
    }

    /// Returns true if the text differs from name to name.
    fn depends_on_name(&self) -> bool {
        !self.links.is_empty()
            || ["id", "filename", "filename-stem"].iter().any(|name| self.template.template.uses(name))
    }

    fn variables(&self, number: u32, tags: &[String]) -> Variables {
        let group = self.kind.group(self.config);
        let extra = group.map_or(&self.config.extra, |group| &group.extra);
        let mut variables = Variables::of_note(self.call.now, extra, tags);
        variables.set("title", self.title);
        variables.set("content", &self.content);
        variables.set("id", &id(self.note_config().id_length, self.title, number));
        variables.set("dir", &self.kind.folder);
        variables
    }

    /// Renders the note: the output of the template, and the title, tags, content and links that it leaves out,
    /// because none of them may be lost.
    fn render(&self, path: &RelPath, number: u32, old: Option<&Superseded>) -> Result<String, Error> {
        let (old_tags, old_links) =
            old.map_or_else(Default::default, |old| (old.tags.as_slice(), old.links.as_slice()));
        let tags: Vec<String> = self.tags.iter().chain(old_tags).cloned().collect();
        let mut variables = self.variables(number, &tags);
        variables.set("filename", path.file_name());
        variables.set("filename-stem", path.file_stem());
        let text = self.with_fields(&variables, &tags, old)?;
        let below = below_notebook(self.call, path);
        let link = |path: &str, title: &str| format_link(self.config, below, LinkTarget { path, title });
        let superseded = old.map(|old| format!("{LINK_START}{}", link(&old.below, &old.title)));
        let linked = self.links.iter().chain(old_links).map(|(path, title)| format!("- {}", link(path, title)));
        let lines: Vec<String> = superseded.into_iter().chain(linked).collect();
        // Without links, the text stays as it is.
        let text = append_block(&text, &lines.join("\n"));
        // The file ends in exactly one newline.
        Ok(format!("{}\n", text.trim_end_matches('\n')))
    }

    fn with_fields(&self, variables: &Variables, tags: &[String], old: Option<&Superseded>) -> Result<String, Error> {
        let template = &self.template.template;
        let mut text = template.render(variables).map_err(|problem| self.template.error(&problem))?;
        if !template.uses("content") && !self.content.trim().is_empty() {
            text = append_block(&text, self.content.trim_end());
        }
        let parse = |text: &str| Note::parse(text, self.config.tags);
        let mut note = parse(&text);
        if note.title != self.title {
            text = set_field(&text, "title", &yaml_string(self.title));
            note = parse(&text);
        }
        if tags.iter().any(|tag| !note.tags.contains(tag)) {
            let mut listed = note.frontmatter.tags();
            for tag in tags {
                if !listed.contains(tag) {
                    listed.push(tag.clone());
                }
            }
            let list = listed.iter().map(|tag| yaml_string(tag)).collect::<Vec<_>>().join(", ");
            text = set_field(&text, "tags", &format!("[{list}]"));
        }
        if let Some(old) = old {
            text = set_field(&text, SUPERSEDES, &yaml_string(&old.below));
        }
        if self.provenance != Provenance::User {
            text = mark(&text, self.provenance).ok_or_else(|| {
                let problem = format!("its metadata cannot record the provenance `{}`", self.provenance);
                self.template.error(&problem)
            })?;
        }
        let signed = self.call.signature()?.sign(&text);
        signed
            .ok_or_else(|| self.template.error("its metadata cannot name the session and the tool that wrote the text"))
    }
}

/// Computes an id from the title and the number of the attempt, because the component has no random numbers.
fn id(length: u32, title: &str, number: u32) -> String {
    let character = |place: u32| {
        let hash = xxh3_64_with_seed(title.as_bytes(), (u64::from(number) << 32) | u64::from(place));
        char::from_digit(u32::try_from(hash % 36).unwrap_or(0), 36).unwrap_or('0')
    };
    (0..length).map(character).collect()
}

/// Returns a name, possibly with folders, that is visible, fits every file system and can be linked to.
pub(super) fn safe_name(name: &str) -> String {
    let segments: Vec<&str> = name.split('/').map(str::trim).filter(|segment| !segment.is_empty()).collect();
    if segments.is_empty() || segments.len() > MAX_NAME_FOLDERS {
        return slug(name);
    }
    let safe = |segment: &&str| {
        let is_plain = segment.len() <= 200
            && !segment.starts_with('.')
            && !segment.ends_with('.')
            && !is_device_name(segment.split('.').next().unwrap_or(segment))
            && !segment.contains(['\\', ':', '*', '?', '"', '<', '>', '|', '#', '[', ']', '^'])
            && !segment.chars().any(|c| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}'));
        if is_plain { (*segment).to_string() } else { slug(segment) }
    };
    segments.iter().map(safe).collect::<Vec<_>>().join("/")
}
