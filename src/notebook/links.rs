//! Links: writing them, and keeping links to a renamed note correct.
//!
//! # How are links resolved?
//!
//! `document/` finds links as they are written and resolves nothing. `select/links.rs` resolves them in memory, from a table
//! with the names of all notes: the time grows with the number of links, not with notes times links
//! (`many_notes_resolve_in_linear_time`).
//!
//! `Resolver` is our rule. It takes the first of these that names exactly one note:
//!
//! 1. The path with its extension. For a wiki link, it is relative to the notebook, then to the note with the link; for a
//!    Markdown link, and for a target that begins with `./` or `../`, in the other order.
//! 2. The path without its extension, if only one note has it.
//! 3. The file name, after as many folders as the link names, whatever its case; one in the same case is preferred.
//! 4. The title or an alias, whatever its case, its white space and its way to write accents.
//!
//! If none matches, the link is ambiguous if several notes were found on the way, and dead if there were none;
//! `dead-links` reports both, with the candidates. A target is then tried once more with `%20` and similar escapes decoded. A
//! Markdown link to a file of another type, such as `scan.pdf`, leaves the notebook and is not dead; neither is a link to a
//! heading of the same note. Text after `#` is kept and not resolved. The same rule applies when a person names a note,
//! except that a word which is the file name of one note and the title of another is ambiguous. The error lists the
//! candidates.
//!
//! `ZkResolver` is zk's rule, by which `[[auth]]` leads to `author-style.md` if nothing is nearer. It is used only for
//! requests with `zk-links`.

use super::config::{LinkFormat, NotebookConfig};
use super::template::{Template, Variables};
use saddlebag_collections::{part::SlicePart, prelude::*};
use saddlebag_markdown::{
    Link, LinkKind, one_line,
    paths::{file_name, folder},
    percent,
};

/// Target of a new link, relative to the notebook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LinkTarget<'a> {
    pub(crate) path: &'a str,
    /// Text of the link; if it is empty, only the path is shown.
    pub(crate) title: &'a str,
}

/// Renders a link from the note at `from` in the format of the configuration. Both paths are relative to the notebook.
///
/// A path that a wiki link cannot contain, such as one with `#` or `|`, is linked in Markdown.
pub(crate) fn format_link(config: &NotebookConfig, from: &str, to: LinkTarget<'_>) -> String {
    let title = one_line(to.title);
    match &config.link_format {
        LinkFormat::Wiki if !to.path.contains(['[', ']', '|', '#', '\\']) => {
            let target = if config.link_drop_extension { without_extension(to.path, config) } else { to.path };
            if title.is_empty() || title == target {
                format!("[[{target}]]")
            } else {
                format!("[[{target}|{}]]", escaped(&title, &['\\', '[', ']', '|']))
            }
        }
        LinkFormat::Template(template) => {
            from_template(template, from, to, config).unwrap_or_else(|| markdown(config, from, to.path, &title))
        }
        LinkFormat::Wiki | LinkFormat::Markdown => markdown(config, from, to.path, &title),
    }
}

fn markdown(config: &NotebookConfig, from: &str, to: &str, title: &str) -> String {
    let relative = relative_path(from, to);
    let target = if config.link_drop_extension { without_extension(&relative, config) } else { &relative };
    let encoded = config.link_encode_path || target.contains(['<', '>', '#', '?', '%']);
    let target = if encoded {
        percent_encoded(target)
    } else if target.contains([' ', '(', ')', '\\']) {
        format!("<{target}>")
    } else {
        target.to_string()
    };
    let title = if title.is_empty() { without_extension(to, config) } else { title };
    format!("[{}]({target})", escaped(title, &['\\', '[', ']', '`', '*', '_', '<']))
}

fn from_template(template: &Template, from: &str, to: LinkTarget<'_>, config: &NotebookConfig) -> Option<String> {
    let relative = relative_path(from, to.path);
    let target = if config.link_drop_extension { without_extension(&relative, config) } else { &relative };
    let mut variables = Variables::default();
    variables.set("path", &if config.link_encode_path { percent_encoded(target) } else { target.to_string() });
    variables.set("title", &one_line(to.title));
    let name = file_name(to.path);
    variables.set("filename", if config.link_drop_extension { without_extension(name, config) } else { name });
    let link = template.render(&variables).ok()?;
    Some(one_line(&link)).filter(|link| !link.is_empty())
}

/// A note that was renamed. Paths are relative to the notebook; both have the same folder.
pub(crate) struct Renamed<'a> {
    pub(crate) old_path: &'a str,
    pub(crate) new_path: &'a str,
    pub(crate) old_title: &'a str,
    pub(crate) new_title: &'a str,
    /// Aliases of the note. They stay, so links by them stay too.
    pub(crate) aliases: &'a [String],
    /// True if no other note has this name or title. Otherwise a link by it would be ambiguous.
    pub(crate) is_unambiguous: &'a (dyn Fn(&str) -> bool + Sync),
}

impl Renamed<'_> {
    /// Returns the new target of a link to the note, for the note at `from`, in the style of its author: by path, by
    /// name or by title, with or without extension, encoded or not. `None` if the target stays.
    ///
    /// `raw` is the target as it is written, with its anchor.
    pub(crate) fn target(&self, config: &NotebookConfig, from: &str, link: &Link, raw: &str) -> Option<String> {
        if link.target.is_empty() || link.is_external {
            return None;
        }
        let of_property = link.anchor.as_ref().map(|anchor| format!("#{anchor}"));
        let anchor = match link.kind {
            // The quotes around it may need escapes, which are not part of the name.
            LinkKind::Property => of_property.as_deref(),
            _ => raw.find('#').and_then(|at| raw.get(at..)),
        };
        let anchor = anchor.unwrap_or_default();
        let target = match link.kind {
            LinkKind::Wiki | LinkKind::Embed | LinkKind::Property => {
                format!("{}{anchor}", self.wiki_target(config, from, &link.target)?)
            }
            LinkKind::Markdown | LinkKind::Image => {
                let target = self.markdown_target(config, from, &link.target);
                match raw.strip_prefix('<') {
                    Some(_) if !target.contains(['<', '>']) => {
                        let anchor = anchor.strip_suffix('>').unwrap_or(anchor);
                        format!("<{target}{anchor}>")
                    }
                    _ => {
                        let path = raw.split('#').next().unwrap_or_default();
                        format!(
                            "{}{}",
                            encoded_like(path, &link.target, target),
                            anchor.strip_suffix('>').unwrap_or(anchor)
                        )
                    }
                }
            }
            LinkKind::Url => return None,
        };
        (target != raw).then_some(target)
    }

    fn wiki_target(&self, config: &NotebookConfig, from: &str, written: &str) -> Option<String> {
        let lead = if written.starts_with('/') { "/" } else { "" };
        let name = written.trim_start_matches('/');
        let bare = without_extension(name, config);
        let has_extension = bare.len() < name.len();
        let kept = |path: &str| {
            let path = if has_extension { path } else { without_extension(path, config) };
            format!("{lead}{path}")
        };
        let (old, new) = (without_extension(self.old_path, config), without_extension(self.new_path, config));
        let (old_stem, new_stem) = (file_name(old), file_name(new));
        let is_safe = |text: &str| !text.contains(['[', ']', '|', '#', '\\', '\n']) && text.trim() == text;
        if bare == old {
            return Some(kept(self.new_path));
        }
        if bare == old_stem && (self.is_unambiguous)(new_stem) {
            return Some(kept(file_name(self.new_path)));
        }
        let same = |a: &str, b: &str| one_line(a).to_lowercase() == one_line(b).to_lowercase();
        if same(written, self.old_title) && is_safe(self.new_title) && (self.is_unambiguous)(self.new_title) {
            return Some(self.new_title.to_string());
        }
        if bare != old_stem && self.aliases.iter().any(|alias| same(written, alias)) {
            return None;
        }
        if written.starts_with('.') {
            let relative = relative_path(from, self.new_path);
            let here = if written.starts_with("./") && !relative.starts_with("..") { "./" } else { "" };
            return Some(kept(&format!("{here}{relative}")));
        }
        Some(kept(self.new_path))
    }

    fn markdown_target(&self, config: &NotebookConfig, from: &str, written: &str) -> String {
        let bare = without_extension(written, config);
        let is_old = |path: &str| {
            let old = without_extension(self.old_path, config);
            without_extension(path, config) == old
        };
        let relative = relative_path(from, self.new_path);
        let from_folder = folder(from);
        let path = if written.starts_with('/') {
            format!("/{}", self.new_path)
        } else if !is_old(&joined(from_folder, written)) && is_old(written) {
            self.new_path.to_string()
        } else if written.starts_with("./") && !relative.starts_with("..") {
            format!("./{relative}")
        } else {
            relative
        };
        if bare.len() < written.len() { path } else { without_extension(&path, config).to_string() }
    }
}

/// Returns the path from the folder of one note to another note.
pub(crate) fn relative_path(from: &str, to: &str) -> String {
    let from: Vec<&str> = from.split('/').collect();
    let to: Vec<&str> = to.split('/').collect();
    let folders = from.len() - 1;
    let shared = from.iter().take(folders).zip(to.iter().take(to.len() - 1)).take_while(|(a, b)| a == b).count();
    let mut path = "../".repeat(folders - shared);
    path.push_str(&to.part(shared..).join("/"));
    path
}

/// Resolves a relative path.
pub(super) fn joined(folder: &str, relative: &str) -> String {
    let mut segments: Vec<&str> = folder.split('/').filter(|segment| !segment.is_empty()).collect();
    for segment in relative.split('/') {
        match segment {
            "" | "." => {}
            ".." => {
                segments.pop();
            }
            segment => segments.push(segment),
        }
    }
    segments.join("/")
}

/// Returns the path without the extension of notes.
pub(crate) fn without_extension<'a>(path: &'a str, config: &NotebookConfig) -> &'a str {
    let bare = path.strip_suffix(config.note.extension.as_str()).and_then(|path| path.strip_suffix('.'));
    bare.or_else(|| path.strip_suffix(".md")).filter(|bare| !bare.is_empty() && !bare.ends_with('/')).unwrap_or(path)
}

/// Encodes characters as `%XX` that end or change the target of a Markdown link. Letters of every script stay.
fn percent_encoded(path: &str) -> String {
    let is_mark = |c: char| {
        matches!(c, '"' | '<' | '>' | '\\' | '^' | '`' | '{' | '|' | '}' | '%' | '(' | ')' | '[' | ']' | '#' | '?')
    };
    percent::encode(path, |c| c.is_whitespace() || c.is_control() || is_mark(c))
}

/// Encodes the target of a Markdown link as far as its author did, who wrote `raw` for `written`, and as far as it must be.
pub(super) fn encoded_like(raw: &str, written: &str, target: String) -> String {
    let ends_early = |text: &str| {
        let depth = text.chars().try_fold(0_u32, |depth, c| match c {
            '(' => Some(depth + 1),
            ')' => depth.checked_sub(1),
            _ => Some(depth),
        });
        depth != Some(0)
    };
    // Only in angle brackets may there be spaces.
    let is_in_brackets = raw.contains(' ');
    if raw == written && !target.contains(['<', '>', '#', '%', '\\']) && (is_in_brackets || !target.contains(' ')) {
        let needs_none = |c: char| !c.is_whitespace() && !c.is_control() && !"\"^`{|}[]?".contains(c);
        if is_in_brackets || target.chars().all(needs_none) && !ends_early(&target) {
            return target;
        }
    }
    let encoded = percent_encoded(&target);
    match raw.contains('(') && !ends_early(&target) {
        true => encoded.replace("%28", "(").replace("%29", ")"),
        false => encoded,
    }
}

fn escaped(text: &str, special: &[char]) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if special.contains(&c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// Returns a target with the anchor of its link.
pub(super) fn with_anchor(mut target: String, link: &Link) -> String {
    if let Some(anchor) = &link.anchor {
        target.push('#');
        target.push_str(anchor);
    }
    target
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target<'a>(path: &'a str, title: &'a str) -> LinkTarget<'a> {
        LinkTarget { path, title }
    }

    #[test]
    fn a_link_has_the_format_of_the_configuration() {
        let wiki = NotebookConfig::default();
        let markdown = NotebookConfig::parse("").0;
        let (plain, _) =
            NotebookConfig::parse("[format.markdown]\nlink-encode-path = false\nlink-drop-extension = false");
        let (custom, _) = NotebookConfig::parse("[format.markdown]\nlink-format = '[[{{filename}}]]'");
        let to = target("facts/rotate keys.md", "It's [broken] #1");
        for (config, link) in [
            (&wiki, "[[facts/rotate keys|It's \\[broken\\] #1]]"),
            (&markdown, "[It's \\[broken\\] #1](../facts/rotate%20keys)"),
            (&plain, "[It's \\[broken\\] #1](<../facts/rotate keys.md>)"),
            (&custom, "[[rotate keys]]"),
        ] {
            assert_eq!(format_link(config, "daily/2026-01-05.md", to), link);
        }
        assert_eq!(format_link(&wiki, "a.md", target("日本.md", "")), "[[日本]]");
        assert_eq!(format_link(&markdown, "a.md", target("日本.md", "")), "[日本](日本)");
        assert_eq!(format_link(&wiki, "a.md", target("c#.md", "C#")), "[C#](c%23)");
    }

    /// A link that we write leads where it was meant to, whatever the title and the path.
    #[test]
    fn a_link_reads_back_as_it_was_meant() {
        let configs = [
            "[format.markdown]\nlink-format='wiki'",
            "[format.markdown]\nlink-format='wiki'\nlink-drop-extension=false",
            "",
            "[format.markdown]\nlink-encode-path=false",
            "[format.markdown]\nlink-drop-extension=false",
        ];
        let paths = [
            "facts/rotate keys.md",
            "facts/c#.md",
            "facts/a(b.md",
            "facts/日本.md",
            "facts/50%25.md",
            "facts/x?[y].md",
            "facts/it's.md",
        ];
        let titles = ["Plain", "It's [broken] #1", "a | b \\ c", "*x* `y` <z>", "]](x)", "日本", "a\nb"];
        for config in configs.map(|text| NotebookConfig::parse(text).0) {
            for path in paths {
                for title in titles {
                    let link = format_link(&config, "facts/a.md", target(path, title));
                    let text = format!("before {link} after");
                    let note = saddlebag_markdown::Note::parse(&text, config.tags);
                    let [found] = note.links.as_slice() else { panic!("{text}: {:?}", note.links) };
                    let stem = |path: &str| path.trim_start_matches("facts/").trim_end_matches(".md").to_string();
                    assert_eq!(stem(&found.target), stem(path), "{text}");
                    assert_eq!(found.text, one_line(title), "{text}");
                }
            }
        }
    }

    #[test]
    fn a_relative_path_climbs_as_far_as_it_must() {
        for (from, to, path) in [
            ("a.md", "b.md", "b.md"),
            ("x/a.md", "b.md", "../b.md"),
            ("x/y/a.md", "x/z/b.md", "../z/b.md"),
            ("x/a.md", "x/a/b.md", "a/b.md"),
        ] {
            assert_eq!(relative_path(from, to), path);
        }
    }

    #[test]
    fn a_renamed_note_keeps_the_style_of_its_links() {
        let config = NotebookConfig::default();
        let aliases = ["Primary DB".to_string()];
        let renamed = Renamed {
            old_path: "facts/postgres-port.md",
            new_path: "facts/db-port.md",
            old_title: "Postgres port",
            new_title: "DB port",
            aliases: &aliases,
            is_unambiguous: &|name| name != "taken",
        };
        let rewrite = |kind: LinkKind, raw: &str, decoded: &str| {
            let link = Link {
                kind,
                target: decoded.to_string(),
                anchor: None,
                text: String::new(),
                relations: Vec::new(),
                is_external: false,
                span: 0..0,
                target_span: 0..0,
                context: 0..0,
            };
            renamed.target(&config, "daily/2026-01-05.md", &link, raw)
        };
        for (raw, written, new) in [
            ("facts/postgres-port", "facts/postgres-port", Some("facts/db-port")),
            ("facts/postgres-port.md#Why", "facts/postgres-port.md", Some("facts/db-port.md#Why")),
            ("/facts/postgres-port", "/facts/postgres-port", Some("/facts/db-port")),
            ("postgres-port", "postgres-port", Some("db-port")),
            ("postgres port", "postgres port", Some("DB port")),
            ("Primary DB", "Primary DB", None),
            ("gres-po", "gres-po", Some("facts/db-port")),
            ("#here", "", None),
        ] {
            assert_eq!(rewrite(LinkKind::Wiki, raw, written).as_deref(), new, "[[{raw}]]");
        }
        for (raw, written, new) in [
            ("../facts/postgres-port.md", "../facts/postgres-port.md", Some("../facts/db-port.md")),
            ("../facts/postgres-port#a%20b", "../facts/postgres-port", Some("../facts/db-port#a%20b")),
            ("facts/postgres-port.md", "facts/postgres-port.md", Some("facts/db-port.md")),
            ("/facts/postgres-port", "/facts/postgres-port", Some("/facts/db-port")),
            ("<../facts/postgres-port.md#a>", "../facts/postgres-port.md", Some("<../facts/db-port.md#a>")),
        ] {
            assert_eq!(rewrite(LinkKind::Markdown, raw, written).as_deref(), new, "({raw})");
        }
    }

    #[test]
    fn a_name_that_others_have_too_is_not_linked_by() {
        let renamed = Renamed {
            old_path: "a/one.md",
            new_path: "a/two.md",
            old_title: "One",
            new_title: "Two",
            aliases: &[],
            is_unambiguous: &|_| false,
        };
        assert_eq!(renamed.wiki_target(&NotebookConfig::default(), "x.md", "one").as_deref(), Some("a/two"));
        assert_eq!(renamed.wiki_target(&NotebookConfig::default(), "x.md", "One").as_deref(), Some("a/two"));
    }
}
