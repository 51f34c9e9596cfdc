//! One source file: what it declares and defines, and what it names.
//!
//! It is not a parser of Rust: it knows lines as rustfmt breaks them, `use`, and words with `::` between them. Modules inside
//! a file are a part of the file. The content of macros and of literals is code: attributes name functions in literals.

use std::collections::BTreeSet;

/// A path as the source spells it, for example `super`, `files`, `read`.
pub(super) type Path = Vec<String>;

/// Words that begin an item, before its name.
const ITEMS: [&str; 10] = ["mod", "fn", "struct", "enum", "union", "trait", "type", "const", "static", "macro_rules"];

#[derive(Debug, Default)]
pub(super) struct Source {
    /// The modules that have their own file.
    pub(super) children: Vec<String>,
    pub(super) defined: BTreeSet<String>,
    pub(super) macros: BTreeSet<String>,
    pub(super) imports: Vec<Import>,
    /// Paths of two words or more outside of `use`; `self.f()` is `Self::f`.
    pub(super) paths: BTreeSet<Path>,
    /// Types, and functions that this file implements for them, except those of traits.
    pub(super) methods: Vec<(Path, String)>,
    /// Methods that are called, on values of whatever type.
    pub(super) called: BTreeSet<String>,
}

#[derive(Debug)]
pub(super) struct Import {
    /// Name in this file; `None` for all names of a module.
    pub(super) name: Option<String>,
    pub(super) path: Path,
    pub(super) is_public: bool,
}

impl Source {
    pub(super) fn new(text: &str) -> Self {
        let mut source = Self::default();
        // Indentations of the modules around a line, and the type of the `impl` around it.
        let (mut modules, mut implemented) = (Vec::new(), None);
        let code = without_tests(text);
        let mut lines = code.lines();
        while let Some(line) = lines.next() {
            let content = line.trim_start();
            let indentation = line.len() - content.len();
            let is_item = indentation == modules.len() * 4;
            let words: Vec<&str> = words(content).collect();
            let item = words.windows(2).find(|pair| ITEMS.contains(&pair[0]) && !ITEMS.contains(&pair[1]));
            let name = item.map_or("", |pair| pair[1]).to_string();
            let inline = modules.len();
            let from_file = |path: &str| {
                let words = path.split("::").filter(|word| !word.is_empty()).map(String::from);
                let mut above = inline;
                words
                    .skip_while(|word| word == "super" && above.checked_sub(1).inspect(|left| above = *left).is_some())
                    .collect::<Path>()
            };
            match words.first().copied().unwrap_or_default() {
                "use" | "pub" if words.contains(&"use") => {
                    let mut tree = content.split_once("use ").unwrap_or_default().1.to_string();
                    while !tree.contains(';') {
                        tree += lines.next().unwrap_or(";");
                    }
                    for (path, name) in branches(tree.split(';').next().unwrap_or_default(), "") {
                        let name =
                            name.or_else(|| path.rsplit("::").next().map(String::from)).filter(|name| name != "*");
                        let path = from_file(path.trim_end_matches("::*"));
                        let is_public = words[0] == "pub";
                        source.imports.extend((!path.is_empty()).then_some(Import { name, path, is_public }));
                    }
                    continue;
                }
                "mod" | "pub" if words.contains(&"mod") && content.ends_with(';') => source.children.push(name),
                "impl" if is_item => implemented = (!content.contains(" for ")).then(|| from_file(of(content))),
                "macro_rules" => {
                    source.macros.insert(name.clone());
                    source.defined.insert(name);
                }
                first if is_item && (ITEMS.contains(&first) || ["pub", "unsafe", "async"].contains(&first)) => {
                    source.defined.insert(name);
                    implemented = None;
                    modules.extend((words.contains(&"mod") && content.ends_with('{')).then_some(indentation));
                }
                _ if content.starts_with('}') && modules.last() == Some(&indentation) => drop(modules.pop()),
                _ if indentation == modules.len() * 4 + 4 && item.is_some_and(|pair| pair[0] == "fn") => {
                    source.methods.extend(implemented.clone().map(|of| (of, name)));
                }
                _ => {}
            }
            let paths = content.split(|c: char| !is_part(c) && c != ':').filter(|path| path.contains("::"));
            let paths = paths.map(|path| from_file(path.trim_end_matches(':')));
            source.paths.extend(paths.filter(|path| path.len() > 1));
            for (at, _) in content.match_indices('.') {
                let called = content[at + 1..].split_once('(').map(|(name, _)| name.to_string());
                let Some(called) = called.filter(|name| name.chars().all(is_part)) else { continue };
                if content[..at].ends_with("self") {
                    source.paths.insert(vec!["Self".into(), called]);
                } else {
                    source.called.insert(called);
                }
            }
        }
        source
    }
}

/// Returns the paths of a tree of `use`, each with its new name.
fn branches(tree: &str, above: &str) -> Vec<(String, Option<String>)> {
    let (mut depth, mut begin, mut found) = (0, 0, Vec::new());
    for (at, c) in tree.char_indices().chain([(tree.len(), ',')]) {
        depth += i32::from(c == '{') - i32::from(c == '}');
        if c != ',' || depth > 0 {
            continue;
        }
        let branch = tree[begin..at].trim();
        begin = (at + 1).min(tree.len());
        if let Some((path, below)) = branch.split_once('{') {
            found.extend(branches(below.trim_end_matches('}'), &format!("{above}{path}")));
        } else if !branch.is_empty() {
            let (path, name) = branch.split_once(" as ").unwrap_or((branch, ""));
            let path = format!("{above}{path}");
            let path = path.strip_suffix("::self").unwrap_or(&path).to_string();
            found.push((path, (!name.is_empty()).then(|| name.to_string())));
        }
    }
    found
}

/// Returns the type of an `impl` of no trait, from the line that begins it.
fn of(line: &str) -> &str {
    let mut angles = 0;
    let rest = line["impl".len()..].trim_start_matches(|c| {
        angles += i32::from(c == '<') - i32::from(c == '>');
        angles > 0 || c == '>' || c == ' '
    });
    rest.split([' ', '<']).next().unwrap_or_default()
}

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c| !is_part(c)).filter(|word| !word.is_empty())
}

/// Removes comments and items that are compiled only for tests: from their attribute to the line that ends them, which is
/// indented as much.
fn without_tests(text: &str) -> String {
    let (mut kept, mut skipped) = (String::new(), None);
    for line in text.lines().map(|line| line.split(" // ").next().unwrap_or_default()) {
        let content = line.trim_start();
        let indentation = line.len() - content.len();
        if content.starts_with("//") {
            continue;
        } else if skipped.is_some() {
            let is_end = content.ends_with([';', ',', '}']) && !content.starts_with('#');
            skipped = skipped.filter(|outer| indentation != *outer || !is_end);
        } else if content.starts_with("#[cfg(")
            && words(content).any(|word| word == "test")
            && !content.contains("not(test")
        {
            skipped = Some(indentation);
        } else {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

#[test]
fn a_file_has_its_imports_paths_and_functions_without_those_for_tests() {
    let text = "
//! crate::no::A
use crate::{
    a::{self, B as C},
    d,
};
pub(crate) use super::e::*;
#[cfg(test)]
mod tests {
    use crate::no::B;
}
#[cfg(all(test, unix))]
mod elsewhere;
struct S {
    #[cfg(test)]
    hook: crate::no::Hook,
    a: crate::yes::A,
}
#[cfg(not(test))]
mod kept;
mod inner {
    pub use super::super::H;
    pub fn x() {}
}
impl<T: Into<U>> a::S<T>
where
    T: X,
{
    pub fn f(&self) {
        self.h(crate::yes::b::<u8>().l());
    }
}
impl fmt::Display for S {
    fn k(&self) {}
}
";
    let source = Source::new(text);
    let imports: Vec<String> =
        source.imports.iter().map(|import| format!("{:?} {}", import.name, import.path.join("::"))).collect();
    let expected = [
        "Some(\"a\") crate::a",
        "Some(\"C\") crate::a::B",
        "Some(\"d\") crate::d",
        "None super::e",
        "Some(\"H\") super::H",
    ];
    assert_eq!(imports, expected);
    let paths: Vec<String> = source.paths.iter().map(|path| path.join("::")).collect();
    assert_eq!(paths, ["Self::h", "a::S", "crate::yes::A", "crate::yes::b", "fmt::Display"]);
    assert_eq!(source.children, ["kept"]);
    assert_eq!(source.defined.iter().collect::<Vec<_>>(), ["S", "inner", "x"]);
    assert_eq!(source.methods, [(vec!["a".to_string(), "S".to_string()], "f".to_string())]);
    assert_eq!(source.called.iter().collect::<Vec<_>>(), ["l"]);
}
