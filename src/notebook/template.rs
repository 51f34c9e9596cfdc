//! [`Template`]: template of new notes, which is text with tags such as `{{title}}`.
//!
//! A tag is a variable, or one helper with one variable. Other tags are errors when the template is parsed: loops, blocks,
//! and helpers of zk that run a command, read the environment or include another template. Values are never parsed as
//! templates, and never escaped for HTML.

use super::slug::slug;
use crate::store::LocalTime;
use saddlebag_collections::{part::TextPart, prelude::*, sorted::SortedMap};
use saddlebag_markdown::json_string;

/// Maximum size of a template in bytes.
pub const MAX_TEMPLATE_BYTES: usize = 64 << 10;

/// Maximum size of a rendered text in bytes.
pub const MAX_RENDERED_BYTES: usize = 256 << 10;

/// Any variable of the configuration's `extra`.
const EXTRA: &str = "extra.NAME";

/// Variables of the text of a note.
pub(super) const NOTE_VARIABLES: &[&str] =
    &["title", "content", "tags", "id", "dir", "now", "filename", "filename-stem", EXTRA];

/// Variables of the file name of a note.
pub(super) const FILENAME_VARIABLES: &[&str] = &["title", "content", "tags", "id", "dir", "now", EXTRA];

/// Variables of a link.
pub(super) const LINK_VARIABLES: &[&str] = &["path", "title", "filename"];

/// A parsed template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    parts: Vec<Part>,
}

/// Text, or a tag.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    /// A variable.
    Show(String),
    /// The slug of a variable.
    Slug(String),
    /// A variable as JSON, which is valid YAML.
    Json(String),
    /// The time, by a pattern of `strftime`.
    Date(String),
}

/// Values of variables. A variable without a value is empty.
#[derive(Clone, Debug, Default)]
pub(super) struct Variables {
    texts: SortedMap<String, String>,
    tags: Vec<String>,
    now: Option<LocalTime>,
}

impl Variables {
    /// Returns the variables of a new note that do not depend on its name.
    pub(super) fn of_note(now: LocalTime, extra: &SortedMap<String, String>, tags: &[String]) -> Self {
        let texts = extra.iter().map(|(name, text)| (format!("extra.{name}"), text.clone())).collect();
        let mut variables = Self { texts, tags: tags.to_vec(), now: Some(now) };
        variables.set("now", &now.to_string());
        variables.set("tags", &tags.join(", "));
        variables
    }

    pub(super) fn set(&mut self, name: &str, text: &str) {
        self.texts.insert(name.to_string(), text.to_string());
    }

    fn text(&self, name: &str) -> &str {
        self.texts.get(name).map_or("", String::as_str)
    }

    fn json(&self, name: &str) -> String {
        if name != "tags" {
            return json_string(self.text(name));
        }
        let tags: Vec<String> = self.tags.iter().map(|tag| json_string(tag)).collect();
        format!("[{}]", tags.join(", "))
    }
}

impl Template {
    /// Parses a template that may use these variables.
    ///
    /// # Errors
    ///
    /// The problem and its line. An unsupported tag is named.
    pub(super) fn parse(text: &str, variables: &[&str]) -> Result<Self, String> {
        if text.len() > MAX_TEMPLATE_BYTES {
            return Err(format!("the template has {} bytes, the limit is {MAX_TEMPLATE_BYTES}", text.len()));
        }
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, inner)) = rest.split_once("{{") {
            if let Some(before) = before.strip_suffix('\\') {
                parts.push(Part::Text(format!("{before}{{{{")));
                rest = inner;
                continue;
            }
            let above = text.part(..text.len() - inner.len() - 2);
            let line = || above.matches('\n').count() + 1;
            let found = match inner.strip_prefix('{') {
                Some(inner) => inner.split_once("}}}"),
                None if inner.starts_with("!--") => inner.split_once("--}}"),
                None => inner.split_once("}}"),
            };
            let (tag, after) = found.ok_or_else(|| format!("line {}: a tag without its end", line()))?;
            parts.push(Part::Text(before.to_string()));
            rest = after;
            if !tag.starts_with('!') {
                parts.push(Part::of_tag(tag.trim(), variables).ok_or_else(|| unsupported(line(), tag, variables))?);
            } else if above.is_empty() || above.ends_with('\n') {
                // A comment alone on its line takes the line with it: an empty first line would hide the frontmatter.
                rest = after.strip_prefix("\r\n").or(after.strip_prefix('\n')).unwrap_or(after);
            }
        }
        parts.push(Part::Text(rest.to_string()));
        Ok(Self { parts })
    }

    /// Returns true if the template uses the variable.
    pub(super) fn uses(&self, name: &str) -> bool {
        self.parts.iter().any(|part| match part {
            Part::Show(used) | Part::Slug(used) | Part::Json(used) => used == name,
            Part::Text(_) | Part::Date(_) => false,
        })
    }

    /// Renders the text with these variables.
    pub(super) fn render(&self, variables: &Variables) -> Result<String, String> {
        let mut out = String::new();
        for part in &self.parts {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Show(name) => out.push_str(variables.text(name)),
                Part::Slug(name) if variables.text(name).is_empty() => {}
                Part::Slug(name) => out.push_str(&slug(variables.text(name))),
                Part::Json(name) => out.push_str(&variables.json(name)),
                Part::Date(pattern) => {
                    let date = variables.now.and_then(|now| now.format(pattern));
                    let problem = || format!("`{}` is not a valid date pattern", pattern.escape_debug());
                    out.push_str(&date.ok_or_else(problem)?);
                }
            }
            if out.len() > MAX_RENDERED_BYTES {
                return Err(format!("it gives more than {MAX_RENDERED_BYTES} bytes"));
            }
        }
        Ok(out)
    }
}

impl Part {
    /// Parses a tag; `None` if it is not supported.
    fn of_tag(tag: &str, variables: &[&str]) -> Option<Self> {
        let (helper, argument) = tag.split_once(char::is_whitespace).unwrap_or(("", tag));
        let argument = argument.trim();
        if helper == "format-date" && variables.contains(&"now") {
            return date_pattern(argument.strip_prefix("now")?.trim()).map(Self::Date);
        }
        let is_plain = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "-_.".contains(c));
        let is_extra = argument.strip_prefix("extra.").is_some_and(is_plain) && variables.contains(&EXTRA);
        let name = Some(argument).filter(|name| is_extra || variables.contains(name))?.to_string();
        match helper {
            "" => Some(Self::Show(name)),
            "slug" => Some(Self::Slug(name)),
            "json" => Some(Self::Json(name)),
            _ => None,
        }
    }
}

/// Returns the pattern for one of zk's names of a format, or for a pattern in quotes; `None` for anything else.
fn date_pattern(quoted: &str) -> Option<String> {
    let name = match quoted {
        "" => "",
        _ => ['"', '\''].into_iter().find_map(|quote| quoted.strip_prefix(quote)?.strip_suffix(quote))?,
    };
    let pattern = match name {
        "" => "%Y-%m-%d",
        "short" => "%m/%d/%Y",
        "medium" => "%b %-d, %Y",
        "long" => "%B %-d, %Y",
        "full" => "%A, %B %-d, %Y",
        "year" => "%Y",
        "time" => "%H:%M",
        "timestamp" => "%Y%m%d%H%M",
        "timestamp-unix" => "%s",
        // `elapsed` of zk would be wrong a day later.
        pattern => Some(pattern).filter(|pattern| pattern.contains('%'))?,
    };
    Some(pattern.to_string())
}

fn unsupported(line: usize, tag: &str, variables: &[&str]) -> String {
    let shown: String = tag.trim().chars().take(60).flat_map(char::escape_debug).collect();
    let date = if variables.contains(&"now") { ", {{format-date now 'FORMAT'}}" } else { "" };
    let supported = format!("{{{{VARIABLE}}}}, {{{{slug VARIABLE}}}}, {{{{json VARIABLE}}}}{date}");
    format!("line {line}: `{{{{{shown}}}}}` is not supported; use {supported}, with {}", variables.join(", "))
}

#[cfg(test)]
mod tests {
    use core::str::FromStr as _;

    use super::*;
    use crate::store::Timestamp;

    fn variables() -> Variables {
        let now = Timestamp { seconds: 1_779_667_200, nanoseconds: 0, utc_offset_seconds: 5400 };
        let extra = [("author".to_string(), "Ada".to_string())].into_iter().collect();
        let tags = ["a", "b c"].map(String::from);
        let mut variables = Variables::of_note(now.local().expect("valid"), &extra, &tags);
        variables.set("title", "It's <b> \"quoted\"");
        variables.set("content", "one\n{{title}}");
        variables
    }

    fn render(template: &str) -> Result<String, String> {
        Template::parse(template, NOTE_VARIABLES)?.render(&variables())
    }

    #[test]
    fn variables_and_helpers_give_text() {
        for (template, text) in [
            ("{{title}}", "It's <b> \"quoted\""),
            ("{{{ title }}} {{\ntitle}}", "It's <b> \"quoted\" It's <b> \"quoted\""),
            ("{{extra.author}}|{{extra.none}}|{{id}}", "Ada||"),
            ("{{content}}", "one\n{{title}}"),
            ("{{slug title}}{{slug extra.none}}", "it-s-b-quoted"),
            ("{{json title}} {{json tags}} {{json id}}", "\"It's <b> \\\"quoted\\\"\" [\"a\", \"b c\"] \"\""),
            ("{{format-date now}}", "2026-05-25"),
            ("{{format-date now '%Y/%m'}}", "2026/05"),
            ("{{format-date now \"long\"}}, {{format-date now 'time'}}", "May 25, 2026, 01:30"),
            ("{{format-date now 'timestamp-unix'}}", "1779667200"),
            ("{{tags}} {{now}}", "a, b c 2026-05-25 01:30:00"),
            ("a {{! no }}b{{!-- }} --}}c", "a bc"),
            ("{{! no }}\n---\n{{! no }}\r\nx {{! no }}\ny", "---\nx \ny"),
            ("\\{{title}} {{extra.author}}", "{{title}} Ada"),
            ("{ {a}} }} {{title}}}", "{ {a}} }} It's <b> \"quoted\"}"),
        ] {
            assert_eq!(render(template).as_deref(), Ok(text), "{template}");
        }
    }

    /// Templates do not run or read anything, and what they cannot do is never left out silently.
    #[test]
    fn every_other_tag_is_an_error_that_names_it() {
        for tag in [
            "sh \"rm -rf /\"",
            "env.HOME",
            "style 'red' title",
            "unknown",
            "unknown title",
            "path",
            "extra",
            "extra.",
            "extra.a b",
            "slug",
            "slug 'a'",
            "slug (concat title)",
            "slug a=b",
            "json extra",
            "#if title",
            "#each tags",
            "/if",
            "else",
            "^",
            "~title~",
            "&title",
            "> other",
            "#*inline \"x\"",
            "date 'yesterday'",
            "substring title 1 2",
            "format-date title",
            "format-date now long",
            "format-date now 'elapsed'",
            "format-date now 'long\"",
            "",
        ] {
            let problem = render(&format!("\n{{{{{tag}}}}}")).expect_err(tag);
            let named: String = tag.escape_debug().collect();
            assert!(
                problem.starts_with(&format!("line 2: `{{{{{named}}}}}` is not supported; use {{{{VAR")),
                "{problem}"
            );
        }
        assert!(render("{{sh 'x'}}").expect_err("refused").ends_with("filename, filename-stem, extra.NAME"));
        let of_link = Template::parse("{{format-date now}}", LINK_VARIABLES).expect_err("refused");
        assert!(of_link.ends_with("{{json VARIABLE}}, with path, title, filename"), "{of_link}");
    }

    #[test]
    fn broken_templates_are_errors() {
        for template in ["{{", "{{title", "{{title}", "{{{title}}", "{{! x", "{{!-- x }}", "{{format-date now '%Q'}}"] {
            assert!(render(template).is_err(), "{template:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_template_panics(pieces in proptest::collection::vec(
            proptest::sample::select(vec![
                "{{", "}}", "{{{", "}}}", "{{#if ", "{{!--", "--}}", "{{!", "title", "slug ", "'", "\"", "\\", "\n", "\r", " ",
                "日", "format-date now ", "%", "%Y", ".", "extra.", "\u{301}", "json ",
            ]),
            0..24,
        )) {
            let _ = render(&pieces.concat());
        }

        #[test]
        fn no_name_or_pattern_panics(text in ".{0,60}") {
            let name = slug(&text);
            proptest::prop_assert!(!name.is_empty() && name.len() <= 100 && !name.starts_with(['.', '-']));
            let path = crate::store::RelPath::new(format!("{name}-999.md"));
            proptest::prop_assert!(path.is_ok());
            let _ = super::super::glob::Glob::from_str(&text).map(|glob| glob.matches(&text));
            let _ = super::super::config::NotebookConfig::parse(&text);
        }
    }

    #[test]
    fn sizes_are_bounded() {
        let mut many = variables();
        many.set("content", &"x".repeat(100_000));
        let template = |text: &str| Template::parse(text, NOTE_VARIABLES).expect("valid").render(&many);
        assert!(template(&"{{content}}".repeat(2)).is_ok());
        assert!(template(&"{{content}}".repeat(3)).is_err());
        assert!(Template::parse(&"x".repeat(100_000), NOTE_VARIABLES).is_err());
    }

    #[test]
    fn it_is_known_what_a_template_uses() {
        let template = Template::parse("{{slug title}}{{id}}{{json extra.c}}", NOTE_VARIABLES).expect("valid");
        assert!(["title", "id", "extra.c"].iter().all(|name| template.uses(name)));
        assert!(!template.uses("content"));
    }
}
