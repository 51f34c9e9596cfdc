//! Reads `.zk/config.toml`.
//!
//! The file belongs to zk and is only read, so all other content of it stays. A value of the wrong type counts as
//! missing, and a [`Warning`] says so.

use core::cell::RefCell;
use core::str::FromStr;

use toml::de::{DeTable, DeValue};

use super::config::{CONFIG_FILE, Group, LinkFormat, NoteConfig, NotebookConfig};
use super::glob::Glob;
use super::template::{LINK_VARIABLES, Template};
use super::types::Warning;
use crate::changes::Call;
use crate::engine::{Loaded, load};
use crate::store::RelPath;
use saddlebag_collections::prelude::*;
use saddlebag_protocol::{Error, ErrorCode, Version};

/// Maximum size of the configuration in bytes.
const MAX_CONFIG_BYTES: u32 = 256 << 10;

/// Maximum number of groups in a configuration.
const MAX_GROUPS: usize = 1_000;

impl NotebookConfig {
    /// Parses the text of a configuration. Also returns warnings about invalid values.
    ///
    /// ```
    /// use saddlebag::notebook::{LinkFormat, NotebookConfig};
    ///
    /// let (config, warnings) = NotebookConfig::parse("[format.markdown]\nlink-format = \"wiki\"");
    /// assert_eq!(config.link_format, LinkFormat::Wiki);
    /// assert!(warnings.is_empty());
    /// ```
    pub fn parse(text: &str) -> (Self, Vec<Warning>) {
        let table = if text.len() > MAX_CONFIG_BYTES as usize {
            Err(format!("{} bytes, the limit is {MAX_CONFIG_BYTES}", text.len()))
        } else {
            DeTable::parse(text).map_err(|error| describe(text, &error))
        };
        match table {
            Ok(table) => {
                let warnings = RefCell::default();
                let root = Section { place: String::new(), table: Some(table.get_ref()), warnings: &warnings };
                let config = root.config();
                (config, warnings.into_inner())
            }
            Err(problem) => Self::broken(problem),
        }
    }

    fn broken(problem: String) -> (Self, Vec<Warning>) {
        let warning = Warning::new(CONFIG_FILE, format!("{problem}; the defaults are used"));
        (Self { problem: Some(problem), ..Self::default() }, vec![warning])
    }
}

/// A configuration that was read from the store.
#[derive(Clone, Debug, Default)]
pub(crate) struct FoundConfig {
    pub(crate) config: NotebookConfig,
    pub(crate) warnings: Vec<Warning>,
    /// Version of the file; `None` if there is no file, or it is too large to be read.
    pub(crate) version: Option<Version>,
}

/// Reads the configuration of the notebook. If there is no file, returns the defaults.
pub(crate) async fn load_config(call: &Call) -> Result<FoundConfig, Error> {
    let path = config_path(call)?;
    let (bytes, version) = match load(&call.fs, &path, MAX_CONFIG_BYTES).await? {
        Loaded::Absent => return Ok(FoundConfig::default()),
        Loaded::TooLarge(size) => {
            return Ok(FoundConfig::broken(format!("{size} bytes, the limit is {MAX_CONFIG_BYTES}"), None));
        }
        Loaded::Whole { bytes, version } => (bytes, Some(version)),
    };
    let Ok(text) = String::from_utf8(bytes) else {
        return Ok(FoundConfig::broken("not UTF-8 text".to_string(), version));
    };
    let (config, warnings) = NotebookConfig::parse(text.strip_prefix('\u{feff}').unwrap_or(&text));
    Ok(FoundConfig { config, warnings, version })
}

impl FoundConfig {
    /// Returns the defaults with a problem. Readers use them, writers stop.
    fn broken(problem: String, version: Option<Version>) -> Self {
        let (config, warnings) = NotebookConfig::broken(problem);
        Self { config, warnings, version }
    }
}

/// Returns the path of the configuration.
pub(crate) fn config_path(call: &Call) -> Result<RelPath, Error> {
    let path = call.scope.layout.in_notebook(CONFIG_FILE);
    path.map_err(|error| Error::new(ErrorCode::Internal, format!("{CONFIG_FILE}: {error}"), ""))
}

/// Describes an error of the TOML, with its place.
fn describe(text: &str, error: &toml::de::Error) -> String {
    let message = error.message().lines().next().unwrap_or_default();
    let Some(before) = error.span().and_then(|span| text.get(..span.start)) else { return message.to_string() };
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    format!("line {line}, column {column}: {message}")
}

/// A table of the configuration. A missing one, or a value of another type, has no keys.
struct Section<'a> {
    place: String,
    table: Option<&'a DeTable<'a>>,
    warnings: &'a RefCell<Vec<Warning>>,
}

impl<'a> Section<'a> {
    fn config(&self) -> NotebookConfig {
        let note = self.section("note");
        let markdown = self.section("format").section("markdown");
        let mut config = NotebookConfig {
            note: note.note(NoteConfig::default()),
            exclude: note.exclude(),
            extra: self.section("extra").strings().collect(),
            link_format: markdown.link_format(),
            ..NotebookConfig::for_zk()
        };
        config.link_encode_path = config.link_format == LinkFormat::Markdown;
        for (key, value) in [
            ("hashtags", &mut config.tags.hashtags),
            ("colon-tags", &mut config.tags.colon_tags),
            ("multiword-tags", &mut config.tags.multiword_tags),
            ("link-encode-path", &mut config.link_encode_path),
            ("link-drop-extension", &mut config.link_drop_extension),
        ] {
            *value = markdown.value(key, "true or false", DeValue::as_bool).unwrap_or(*value);
        }
        let groups = self.section("group");
        // Sorted by name, whatever the order in the file.
        let mut names: Vec<&str> = groups.table.into_iter().flatten().map(|(name, _)| &**name.get_ref()).collect();
        saddlebag_collections::order::sort_slice(&mut names, Ord::cmp);
        if names.len() > MAX_GROUPS {
            self.warn("group", &format!("{} groups, the limit is {MAX_GROUPS}; the rest is ignored", names.len()));
        }
        config.groups = names.into_iter().take(MAX_GROUPS).filter_map(|name| groups.group(name, &config)).collect();
        config
    }

    fn group(&self, name: &str, config: &NotebookConfig) -> Option<Group> {
        let group = self.section(name);
        group.table?;
        let note = group.section("note");
        let paths = group.list("paths").unwrap_or_else(|| vec![name.to_string()]);
        let paths: Vec<String> = paths.iter().map(|path| path.trim_matches('/').to_string()).collect();
        let mut extra = config.extra.clone();
        extra.extend(group.section("extra").strings());
        Some(Group {
            name: name.to_string(),
            path_globs: group.globs("paths", &paths),
            paths,
            has_own_template: note.table.is_some_and(|table| table.contains_key("template")),
            exclude: note.exclude(),
            note: note.note(config.note.clone()),
            extra,
        })
    }

    fn note(&self, inherited: NoteConfig) -> NoteConfig {
        let text = |key: &str| self.value(key, "a string", DeValue::as_str).filter(|text| !text.trim().is_empty());
        let is_plain = |extension: &&str| {
            !extension.is_empty() && extension.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_'))
        };
        let extension = self
            .value("extension", "an extension", |value| Some(value.as_str()?.trim_start_matches('.')).filter(is_plain));
        let id_length = self.value("id-length", "a number from 1 to 32", |value| {
            value.as_integer()?.to_string().parse().ok().filter(|length| (1..=32).contains(length))
        });
        NoteConfig {
            filename: text("filename").map(String::from).or(inherited.filename),
            extension: extension.map_or(inherited.extension, String::from),
            template: text("template").map(String::from).or(inherited.template),
            id_length: id_length.unwrap_or(inherited.id_length),
        }
    }

    /// Reads `exclude`, and `ignore`, its former name.
    fn exclude(&self) -> Vec<Glob> {
        let patterns = ["ignore", "exclude"].map(|key| self.globs(key, &self.list(key).unwrap_or_default()));
        patterns.concat()
    }

    fn link_format(&self) -> LinkFormat {
        let problem = match self.value("link-format", "a string", DeValue::as_str) {
            None | Some("markdown" | "") => return LinkFormat::Markdown,
            Some("wiki") => return LinkFormat::Wiki,
            Some(text) => match Template::parse(text, LINK_VARIABLES) {
                Ok(template) if text.contains("{{") => return LinkFormat::Template(template),
                Ok(_) => "not markdown, wiki or a template".to_string(),
                Err(problem) => problem,
            },
        };
        self.warn("link-format", &format!("{problem}; markdown is used"));
        LinkFormat::Markdown
    }

    /// Reads a list of strings, or a single string.
    fn list(&self, key: &str) -> Option<Vec<String>> {
        self.value(key, "a list of strings", |value| match value {
            DeValue::Array(many) => many.iter().map(|item| item.get_ref().as_str().map(String::from)).collect(),
            one => Some(vec![one.as_str()?.to_string()]),
        })
    }

    fn globs(&self, key: &str, patterns: &[String]) -> Vec<Glob> {
        let globs = patterns.iter().filter_map(|pattern| {
            let shown = pattern.escape_debug();
            let glob = Glob::from_str(pattern).inspect_err(|problem| {
                self.warn(key, &format!("`{shown}`: {problem}; it is ignored"));
            });
            // `*` in place of alternatives would leave out too much.
            if pattern.contains('{') {
                self.warn(
                    key,
                    &format!("`{shown}`: alternatives are not supported; give several patterns; it is ignored"),
                );
                return None;
            }
            if glob.as_ref().is_ok_and(Glob::is_widened) {
                self.warn(key, &format!("`{shown}`: a set is read as `?`"));
            }
            glob.ok()
        });
        globs.collect()
    }

    /// Returns the values as text, except tables and lists.
    fn strings(&self) -> impl Iterator<Item = (String, String)> {
        let text = |value: &DeValue<'_>| match value {
            DeValue::String(text) => Some(text.to_string()),
            // Numbers stay as they are written.
            DeValue::Integer(written) => Some(written.to_string()),
            DeValue::Float(written) => Some(written.to_string()),
            DeValue::Boolean(flag) => Some(flag.to_string()),
            DeValue::Datetime(moment) => Some(moment.to_string()),
            DeValue::Array(_) | DeValue::Table(_) => None,
        };
        let entries = self.table.into_iter().flatten();
        entries.filter_map(move |(key, value)| Some((key.get_ref().to_string(), text(value.get_ref())?)))
    }

    fn section(&self, key: &str) -> Self {
        let table = self.value(key, "a table", DeValue::as_table);
        Self { place: self.place_of(key), table, warnings: self.warnings }
    }

    /// Returns a value; `None` if it is missing, or invalid, with a warning.
    fn value<T>(&self, key: &str, expected: &str, read: impl FnOnce(&'a DeValue<'a>) -> Option<T>) -> Option<T> {
        let found = read(self.table?.get(key)?.get_ref());
        if found.is_none() {
            self.warn(key, &format!("not {expected}; it is ignored"));
        }
        found
    }

    fn warn(&self, key: &str, problem: &str) {
        let message = format!("{}: {problem}", self.place_of(key));
        self.warnings.borrow_mut().push(Warning::new(CONFIG_FILE, message));
    }

    fn place_of(&self, key: &str) -> String {
        format!("{}.{key}", self.place).trim_start_matches('.').to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use saddlebag_markdown::TagSyntax;

    fn parse(text: &str) -> NotebookConfig {
        let (config, warnings) = NotebookConfig::parse(text);
        assert_eq!(warnings, []);
        config
    }

    #[test]
    fn an_empty_file_gives_the_defaults_of_zk() {
        let config = parse("");
        assert_eq!(config.link_format, LinkFormat::Markdown);
        assert!(config.link_encode_path && config.link_drop_extension);
        assert_eq!(config.tags, TagSyntax::default());
        assert_eq!((config.note.extension.as_str(), config.note.id_length), ("md", 4));
    }

    #[test]
    fn a_group_inherits_and_overrides() {
        let config = parse(
            r#"
            [note]
            filename = "{{id}}-{{slug title}}"
            template = "default.md"
            exclude = ["drafts/**"]
            unknown = 3
            [extra]
            author = "Ada"
            year = 2026
            [group.facts]
            [group.facts.note]
            filename = "{{slug title}}"
            exclude = ["old-*"]
            [group.facts.extra]
            author = "Bob"
            [group.logs]
            paths = ["daily", "journal/*/x"]
            [tool]
            editor = "vim"
            "#,
        );
        let facts = config.group_of("facts/a.md").expect("a group");
        assert_eq!(facts.note.filename.as_deref(), Some("{{slug title}}"));
        assert_eq!((facts.note.template.as_deref(), facts.has_own_template), (Some("default.md"), false));
        assert_eq!(facts.extra.get("author").map(String::as_str), Some("Bob"));
        assert_eq!(facts.extra.get("year").map(String::as_str), Some("2026"));
        assert_eq!(config.group_of("journal/2/x").map(|group| group.name.as_str()), Some("logs"));
        assert_eq!(config.group_of("daily").map(|group| group.name.as_str()), Some("logs"));
        assert_eq!(config.group_of("factsheet/a.md"), None);
        assert_eq!(config.note_at("b.md").filename.as_deref(), Some("{{id}}-{{slug title}}"));
    }

    #[test]
    fn extra_values_are_text() {
        let config = parse(
            r#"
            [extra]
            hex = 0xff
            many = 1_000
            huge = 99999999999999999999
            half = 0.50
            thousand = 1e3
            endless = 1e999
            yes = true
            day = 2026-05-25
            list = [1]
            "#,
        );
        let extra: Vec<(&str, &str)> = config.extra.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        assert_eq!(
            extra,
            [
                ("day", "2026-05-25"),
                ("endless", "1e999"),
                ("half", "0.50"),
                ("hex", "0xff"),
                ("huge", "99999999999999999999"),
                ("many", "1000"),
                ("thousand", "1e3"),
                ("yes", "true"),
            ]
        );
        assert_eq!(parse("[note]\nid-length = 8").note.id_length, 8);
        for length in ["99999999999999999999", "0x10", "0", "'8'"] {
            let (_, warnings) = NotebookConfig::parse(&format!("[note]\nid-length = {length}"));
            assert_eq!(warnings[0].message, "note.id-length: not a number from 1 to 32; it is ignored");
        }
    }

    #[test]
    fn the_longest_folder_decides() {
        let config = parse("[group.a]\n[group.b]\npaths = ['a/b']\n[group.c]\npaths = ['a/b']");
        assert_eq!(config.group_of("a/b/x.md").map(|group| group.name.as_str()), Some("b"));
        assert_eq!(config.group_of("a/x.md").map(|group| group.name.as_str()), Some("a"));
    }

    #[test]
    fn hidden_excluded_and_foreign_files_are_not_notes() {
        let config = parse(
            "[note]\nignore=['drafts/**']\n[group.facts]\nnote.exclude=['old-*']\n[group.w]\nnote.extension='wiki'",
        );
        for path in ["a.md", "facts/a.md", "facts/old/x.md", "w/a.wiki", "old-x.md"] {
            assert!(config.is_indexed(path), "{path}");
        }
        for path in [".a.md", ".zk/x.md", "a/.b/c.md", "a.txt", "md", "drafts/x/a.md", "facts/old-x.md", "w/a.md"] {
            assert!(!config.is_indexed(path), "{path}");
        }
        assert!(!NotebookConfig::default().is_indexed("templates/fact.md"));
    }

    #[test]
    fn a_pattern_that_is_not_supported_is_a_warning_and_the_others_count() {
        let (config, warnings) = NotebookConfig::parse("[note]\nexclude = ['{a,b}.md', '*.draft.md', '[Tt]mp/**']");
        assert!(config.is_indexed("a.md") && !config.is_indexed("x.draft.md") && !config.is_indexed("Tmp/a.md"));
        for (warning, says) in
            warnings.iter().zip(["`{a,b}.md`: alternatives are not", "`[Tt]mp/**`: a set is read as `?`"])
        {
            assert!(warning.message.starts_with(&format!("note.exclude: {says}")), "{warnings:?}");
        }
    }

    #[test]
    fn invalid_toml_is_for_readers_a_warning_and_for_writers_an_error() {
        let (config, warnings) = NotebookConfig::parse("[note]\nfilename = \n");
        assert_eq!(warnings.len(), 1);
        let error = config.for_writing().expect_err("refused");
        assert!(error.message.starts_with(".zk/config.toml: line 2, column "), "{}", error.message);
        let nested = format!("a = {}", "[".repeat(100_000));
        assert!(NotebookConfig::parse(&nested).0.problem.is_some());
        assert!(NotebookConfig::parse(&"#".repeat(300_000)).0.problem.is_some());
    }

    #[test]
    fn a_wrong_type_is_as_if_it_were_missing() {
        let (config, warnings) = NotebookConfig::parse(
            "note = 3\ngroup = { a = 1, b = { paths = [1] } }\n[format.markdown]\nhashtags = 'no'\nlink-format = 'x'",
        );
        assert_eq!(config.note, NoteConfig::default());
        assert!(config.tags.hashtags);
        assert_eq!(config.groups.len(), 1);
        assert_eq!(warnings.len(), 5, "{warnings:?}");
        assert!(config.for_writing().is_ok());
    }

    #[test]
    fn a_link_format_may_be_a_template() {
        let config = parse("[format.markdown]\nlink-format = '[[{{filename}}]]'");
        assert!(matches!(config.link_format, LinkFormat::Template(_)), "{:?}", config.link_format);
        assert!(!config.link_encode_path);
        let (config, warnings) = NotebookConfig::parse("[format.markdown]\nlink-format = '{{sh \"ls\"}}'");
        assert!(warnings[0].message.starts_with("format.markdown.link-format: line 1: `{{sh"), "{warnings:?}");
        assert_eq!((config.link_format, warnings.len()), (LinkFormat::Markdown, 1));
    }
}
