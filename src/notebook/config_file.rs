//! Reads `.zk/config.toml`.
//!
//! The file belongs to zk and is only read, so all other content of it stays. A value of the wrong type counts as
//! missing, and a [`Warning`] says so.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::str::FromStr;

use toml::de::{DeTable, DeValue};

use super::config::{ALPHANUMERIC, CONFIG_FILE, Group, IdCase, LinkFormat, NoteConfig, NotebookConfig};
use super::glob::Glob;
use super::template::Template;
use super::types::Warning;
use crate::changes::Call;
use crate::engine::{Loaded, load};
use crate::protocol::{Error, ErrorCode, Version};
use crate::store::RelPath;

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
    #[must_use]
    pub fn parse(text: &str) -> (Self, Vec<Warning>) {
        let table = if text.len() > MAX_CONFIG_BYTES as usize {
            Err(format!("{} bytes, the limit is {MAX_CONFIG_BYTES}", text.len()))
        } else {
            DeTable::parse(text).map_err(|error| describe(text, &error))
        };
        match table {
            Ok(table) => {
                let mut reader = Reader::default();
                let config = reader.config(table.get_ref());
                (config, reader.warnings)
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

#[derive(Default)]
struct Reader {
    warnings: Vec<Warning>,
}

impl Reader {
    fn config(&mut self, root: &DeTable<'_>) -> NotebookConfig {
        let mut config = NotebookConfig::for_zk();
        if let Some(note) = self.table(root, "", "note") {
            self.note(note, "note", &mut config.note);
            config.exclude = self.exclude(note, "note");
        }
        if let Some(extra) = self.table(root, "", "extra") {
            config.extra = strings(extra).into_iter().collect();
        }
        if let Some(format) = self.table(root, "", "format")
            && let Some(markdown) = self.table(format, "format", "markdown")
        {
            self.markdown(markdown, &mut config);
        }
        if let Some(groups) = self.table(root, "", "group") {
            // Sorted by name, whatever the order in the file.
            let mut names: Vec<&str> = groups.keys().map(|name| &**name.get_ref()).collect();
            crate::order::sort_slice(&mut names, Ord::cmp);
            if names.len() > MAX_GROUPS {
                self.warn(format!("{} groups, the limit is {MAX_GROUPS}; the rest is ignored", names.len()));
            }
            for name in names.into_iter().take(MAX_GROUPS) {
                if let Some(table) = self.table(groups, "group", name) {
                    let group = self.group(name, table, &config);
                    config.groups.push(group);
                }
            }
        }
        config
    }

    fn group(&mut self, name: &str, table: &DeTable<'_>, config: &NotebookConfig) -> Group {
        let place = format!("group.{name}");
        let paths = self.list(table, &place, "paths").unwrap_or_else(|| vec![name.to_string()]);
        let paths: Vec<String> = paths.iter().map(|path| path.trim_matches('/').to_string()).collect();
        let mut group = Group {
            name: name.to_string(),
            path_globs: paths.iter().filter_map(|path| self.glob(&place, path)).collect(),
            paths,
            note: config.note.clone(),
            has_own_template: false,
            extra: config.extra.clone(),
            exclude: Vec::new(),
        };
        if let Some(note) = self.table(table, &place, "note") {
            let place = format!("{place}.note");
            self.note(note, &place, &mut group.note);
            group.has_own_template = note.contains_key("template");
            group.exclude = self.exclude(note, &place);
        }
        if let Some(extra) = self.table(table, &place, "extra") {
            group.extra.extend(strings(extra));
        }
        group
    }

    fn note(&mut self, table: &DeTable<'_>, place: &str, note: &mut NoteConfig) {
        let text = |reader: &mut Self, key: &str| reader.text(table, place, key);
        if let Some(filename) = text(self, "filename").filter(|filename| !filename.trim().is_empty()) {
            note.filename = Some(filename);
        }
        if let Some(extension) = text(self, "extension") {
            let extension = extension.trim_start_matches('.');
            if extension.is_empty() || !extension.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_')) {
                self.warn(format!("{place}.extension: `{extension}` is not an extension; `md` is used"));
            } else {
                note.extension = extension.to_string();
            }
        }
        if let Some(template) = text(self, "template") {
            note.template = Some(template).filter(|template| !template.is_empty());
        }
        if let Some(charset) = text(self, "id-charset") {
            note.id_charset = match charset.as_str() {
                "alphanum" => ALPHANUMERIC.chars().collect(),
                "letters" => ('a'..='z').collect(),
                "numbers" => ('0'..='9').collect(),
                "hex" => ('0'..='9').chain('a'..='f').collect(),
                other => other.chars().filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_')).take(256).collect(),
            };
            if note.id_charset.is_empty() {
                self.warn(format!("{place}.id-charset: has no letter or digit; `alphanum` is used"));
                note.id_charset = ALPHANUMERIC.chars().collect();
            }
        }
        match table.get("id-length").map(|length| number(length.get_ref())) {
            None => {}
            Some(Some(length @ 1..=32)) => note.id_length = u32::try_from(length).unwrap_or(note.id_length),
            Some(_) => self.warn(format!("{place}.id-length: not a number from 1 to 32; {} is used", note.id_length)),
        }
        match text(self, "id-case").as_deref() {
            None => {}
            Some("lower") => note.id_case = IdCase::Lower,
            Some("upper") => note.id_case = IdCase::Upper,
            Some("mixed") => note.id_case = IdCase::Mixed,
            Some(_) => self.warn(format!("{place}.id-case: not lower, upper or mixed; it is ignored")),
        }
    }

    /// Reads `exclude`, and `ignore`, its former name.
    fn exclude(&mut self, table: &DeTable<'_>, place: &str) -> Vec<Glob> {
        let mut patterns = self.list(table, place, "ignore").unwrap_or_default();
        patterns.extend(self.list(table, place, "exclude").unwrap_or_default());
        patterns.iter().filter_map(|pattern| self.glob(place, pattern)).collect()
    }

    fn markdown(&mut self, table: &DeTable<'_>, config: &mut NotebookConfig) {
        let place = "format.markdown";
        let tags = &mut config.tags;
        for (key, value) in [
            ("hashtags", &mut tags.hashtags),
            ("colon-tags", &mut tags.colon_tags),
            ("multiword-tags", &mut tags.multiword_tags),
            ("link-drop-extension", &mut config.link_drop_extension),
        ] {
            if let Some(given) = self.flag(table, place, key) {
                *value = given;
            }
        }
        match self.text(table, place, "link-format").as_deref() {
            None | Some("markdown" | "") => {}
            Some("wiki") => config.link_format = LinkFormat::Wiki,
            Some(other) => match Template::from_str(other) {
                Ok(_) if other.contains("{{") => config.link_format = LinkFormat::Template(other.to_string()),
                Ok(_) => self.warn(format!("{place}.link-format: not markdown, wiki or a template; markdown is used")),
                Err(problem) => self.warn(format!("{place}.link-format: {problem}; markdown is used")),
            },
        }
        config.link_encode_path = config.link_format == LinkFormat::Markdown;
        if let Some(given) = self.flag(table, place, "link-encode-path") {
            config.link_encode_path = given;
        }
    }

    fn table<'a, 'i>(&mut self, table: &'a DeTable<'i>, place: &str, key: &str) -> Option<&'a DeTable<'i>> {
        let value = table.get(key)?;
        let found = value.get_ref().as_table();
        self.check(found.is_some(), place, key, "a table");
        found
    }

    fn text(&mut self, table: &DeTable<'_>, place: &str, key: &str) -> Option<String> {
        let found = table.get(key)?.get_ref().as_str().map(ToString::to_string);
        self.check(found.is_some(), place, key, "a string");
        found
    }

    fn flag(&mut self, table: &DeTable<'_>, place: &str, key: &str) -> Option<bool> {
        let found = table.get(key)?.get_ref().as_bool();
        self.check(found.is_some(), place, key, "true or false");
        found
    }

    /// Reads a list of strings, or a single string.
    fn list(&mut self, table: &DeTable<'_>, place: &str, key: &str) -> Option<Vec<String>> {
        let found = match table.get(key)?.get_ref() {
            DeValue::String(one) => Some(vec![one.to_string()]),
            DeValue::Array(many) => many.iter().map(|item| item.get_ref().as_str().map(ToString::to_string)).collect(),
            _ => None,
        };
        self.check(found.is_some(), place, key, "a list of strings");
        found
    }

    fn glob(&mut self, place: &str, pattern: &str) -> Option<Glob> {
        let glob = Glob::from_str(pattern);
        if let Err(problem) = &glob {
            self.warn(format!("{place}: `{}`: {problem}; it is ignored", pattern.escape_debug()));
        }
        glob.ok()
    }

    fn check(&mut self, is_right: bool, place: &str, key: &str, expected: &str) {
        if !is_right {
            let dot = if place.is_empty() { "" } else { "." };
            self.warn(format!("{place}{dot}{key}: not {expected}; it is ignored"));
        }
    }

    fn warn(&mut self, message: String) {
        self.warnings.push(Warning::new(CONFIG_FILE, message));
    }
}

/// Returns the values as text, sorted by key, except tables and lists.
fn strings(table: &DeTable<'_>) -> Vec<(String, String)> {
    let text = |value: &DeValue<'_>| match value {
        DeValue::String(text) => Some(text.to_string()),
        // A number that is not an integer, or too large, stays as it is written.
        DeValue::Integer(written) => Some(number(value).map_or_else(|| written.to_string(), |it| it.to_string())),
        DeValue::Float(written) => Some(written.to_string()),
        DeValue::Boolean(flag) => Some(flag.to_string()),
        DeValue::Datetime(moment) => Some(moment.to_string()),
        DeValue::Array(_) | DeValue::Table(_) => None,
    };
    table.iter().filter_map(|(key, value)| Some((key.get_ref().to_string(), text(value.get_ref())?))).collect()
}

/// Returns the value of an integer; `None` if it is another value or does not fit.
fn number(value: &DeValue<'_>) -> Option<i64> {
    let number = value.as_integer()?;
    i64::from_str_radix(number.as_str(), number.radix()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::TagSyntax;

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
                ("hex", "255"),
                ("huge", "99999999999999999999"),
                ("many", "1000"),
                ("thousand", "1e3"),
                ("yes", "true"),
            ]
        );
        assert_eq!(parse("[note]\nid-length = 0x8").note.id_length, 8);
        let (_, warnings) = NotebookConfig::parse("[note]\nid-length = 99999999999999999999");
        assert!(warnings[0].message.starts_with("note.id-length: not a number from 1 to 32"), "{warnings:?}");
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
        assert_eq!(config.link_format, LinkFormat::Template("[[{{filename}}]]".into()));
        assert!(!config.link_encode_path);
        let (config, warnings) = NotebookConfig::parse("[format.markdown]\nlink-format = '{{sh \"ls\"}}'");
        assert_eq!((config.link_format, warnings.len()), (LinkFormat::Markdown, 1));
    }
}
