//! One source file: what it declares, defines and imports, and the paths that it names.
//!
//! It is not a parser of Rust: it knows items, `use` and paths, and treats the content of macros as code. Code that is
//! compiled only for tests is left out.

use std::collections::{BTreeMap, BTreeSet};

/// A word, or one character of punctuation. Comments, literals and lifetimes are left out.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    Mark(char),
}

/// A path as the source spells it, for example `super`, `files`, `read`.
pub(crate) type Path = Vec<String>;

/// Content of a file, or of a module inside it.
#[derive(Debug, Default)]
pub(crate) struct Module {
    /// The modules that have their own file.
    pub(crate) children: BTreeSet<String>,
    /// Modules that are in this file.
    pub(crate) inline: BTreeMap<String, Module>,
    pub(crate) defined: BTreeSet<String>,
    pub(crate) macros: BTreeSet<String>,
    pub(crate) imports: Vec<Import>,
    /// Paths of two words or more outside of `use`.
    pub(crate) paths: BTreeSet<Path>,
    pub(crate) impls: Vec<Impl>,
    /// Methods that are called, on whatever value.
    pub(crate) called: BTreeSet<String>,
}

/// An `impl` of a type.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Impl {
    pub(crate) of: Path,
    /// Last word of the name of its trait.
    pub(crate) of_trait: Option<String>,
    pub(crate) methods: BTreeSet<String>,
    /// Functions that are called on `self` or `Self`.
    pub(crate) called: BTreeSet<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Import {
    /// Name in this file; `None` for all names of a module.
    pub(crate) name: Option<String>,
    pub(crate) path: Path,
    pub(crate) is_public: bool,
}

impl Module {
    pub(crate) fn parse(text: &str) -> Self {
        let tokens = tokens(text);
        let mut module = Self::default();
        Reader { tokens: &tokens, at: 0 }.module(&mut module);
        module
    }
}

struct Reader<'t> {
    tokens: &'t [Token],
    at: usize,
}

impl Reader<'_> {
    /// Reads up to the brace that closes the module, or to the end.
    fn module(&mut self, module: &mut Module) {
        let mut depth = 0_usize;
        let mut is_public = false;
        while let Some(token) = self.next() {
            let was_public = std::mem::take(&mut is_public);
            match token {
                Token::Mark('#') => self.attribute(),
                Token::Mark('{') => depth += 1,
                Token::Mark('}') if depth == 0 => return,
                Token::Mark('}') => depth -= 1,
                Token::Mark('.') => module.called.extend(self.method()),
                Token::Mark(_) => {}
                Token::Word(word) => match word.as_str() {
                    "pub" => {
                        if self.peek() == Some(&Token::Mark('(')) {
                            self.skip_group();
                        }
                        is_public = true;
                    }
                    "use" => {
                        self.imports(&mut Vec::new(), was_public, &mut module.imports);
                    }
                    "mod" => self.submodule(module),
                    "impl" if depth == 0 => module.impls.extend(self.implementation()),
                    "fn" | "struct" | "enum" | "union" | "trait" | "type" | "const" | "static" if depth == 0 => {
                        if let Some(Token::Word(name)) = self.peek() {
                            module.defined.insert(name.clone());
                        }
                    }
                    "macro_rules" => {
                        self.at += 1;
                        if let Some(Token::Word(name)) = self.peek() {
                            module.defined.insert(name.clone());
                            module.macros.insert(name.clone());
                        }
                    }
                    _ => self.path(word, module),
                },
            }
        }
    }

    /// Looks ahead at the name of a method that is called here.
    fn method(&self) -> Option<String> {
        let [Token::Word(name), Token::Mark('('), ..] = self.tokens.get(self.at..)? else { return None };
        Some(name.clone())
    }

    /// Looks ahead at an `impl` and its block; `None` if the word begins a type.
    fn implementation(&self) -> Option<Impl> {
        let before = self.at.checked_sub(2).and_then(|at| self.tokens.get(at));
        if !matches!(before, None | Some(Token::Mark('}' | ';' | ']'))) {
            return None;
        }
        let begin = self.tokens.iter().enumerate().skip(self.at);
        let begin = begin.into_iter().find(|(_, token)| **token == Token::Mark('{'))?.0;
        let (mut head, mut depth) = (Vec::new(), 0_usize);
        for token in &self.tokens[self.at..begin] {
            match token {
                Token::Mark('<') => depth += 1,
                // The arrow of a function type closes nothing.
                Token::Mark('>') => depth = depth.saturating_sub(1),
                Token::Word(word) if depth == 0 => head.push(word.as_str()),
                _ => {}
            }
        }
        let of = head.split(|word| *word == "for").next_back()?;
        let of: Path = of.split(|word| *word == "where").next()?.iter().map(ToString::to_string).collect();
        let mut block = Reader { tokens: self.tokens, at: begin };
        block.skip_group();
        let block = &self.tokens[begin..block.at.min(self.tokens.len())];
        let methods = block.windows(2).filter(|pair| word_of(&pair[0]) == Some("fn"));
        let called = block.windows(4).filter_map(|tokens| match tokens {
            [Token::Word(own), Token::Mark('.'), Token::Word(name), Token::Mark('(')] if own == "self" => Some(name),
            [Token::Word(own), Token::Mark(':'), Token::Mark(':'), Token::Word(name)] if own == "Self" => Some(name),
            _ => None,
        });
        Some(Impl {
            of,
            of_trait: head
                .iter()
                .position(|word| *word == "for")
                .and_then(|at| head.get(at.checked_sub(1)?))
                .map(ToString::to_string),
            methods: methods.filter_map(|pair| word_of(&pair[1]).map(String::from)).collect(),
            called: called.cloned().collect(),
        })
    }

    fn submodule(&mut self, module: &mut Module) {
        let Some(Token::Word(name)) = self.next() else { return };
        match self.next() {
            Some(Token::Mark('{')) => self.module(module.inline.entry(name).or_default()),
            _ => {
                module.children.insert(name);
            }
        }
    }

    /// The names after `use`, up to the end of this branch.
    fn imports(&mut self, above: &mut Path, is_public: bool, imports: &mut Vec<Import>) {
        let depth = above.len();
        loop {
            match self.next() {
                Some(Token::Word(word)) if word == "as" => {
                    let Some(Token::Word(name)) = self.next() else { return };
                    imports.push(Import { name: Some(name), path: above.clone(), is_public });
                    above.truncate(depth);
                }
                Some(Token::Word(word)) => above.push(word),
                Some(Token::Mark(':')) => {}
                Some(Token::Mark('*')) => {
                    imports.push(Import { name: None, path: above.clone(), is_public });
                    above.truncate(depth);
                }
                Some(Token::Mark('{')) => {
                    // Each turn ends at a comma or at the brace.
                    let inner = above.len();
                    while self.branch(above, is_public, imports) {
                        above.truncate(inner);
                    }
                    above.truncate(depth);
                }
                _ => {
                    end(above, depth, is_public, imports);
                    return;
                }
            }
        }
    }

    /// One of several branches in braces; false after the last one.
    fn branch(&mut self, above: &mut Path, is_public: bool, imports: &mut Vec<Import>) -> bool {
        let begin = self.at;
        self.imports(above, is_public, imports);
        self.at > begin && self.tokens.get(self.at - 1) == Some(&Token::Mark(','))
    }

    fn path(&mut self, first: String, module: &mut Module) {
        let mut path = vec![first];
        while self.tokens.get(self.at..self.at + 2) == Some(&[Token::Mark(':'), Token::Mark(':')]) {
            let Some(Token::Word(word)) = self.tokens.get(self.at + 2) else { break };
            path.push(word.clone());
            self.at += 3;
        }
        if path.len() > 1 {
            module.paths.insert(path);
        }
    }

    /// Skips an attribute, and items that are compiled only for tests.
    fn attribute(&mut self) {
        let is_inner = self.peek() == Some(&Token::Mark('!'));
        self.at += usize::from(is_inner);
        if self.peek() != Some(&Token::Mark('[')) {
            return;
        }
        let begin = self.at;
        self.skip_group();
        let words: Vec<&str> = self.tokens[begin..self.at].iter().filter_map(word_of).collect();
        if !is_inner && words.first() == Some(&"cfg") && words.contains(&"test") && !words.contains(&"not") {
            self.skip_item();
        }
    }

    fn skip_item(&mut self) {
        while self.peek() == Some(&Token::Mark('#')) {
            self.at += 1;
            self.skip_group();
        }
        const ITEMS: [&str; 14] = [
            "pub",
            "use",
            "mod",
            "fn",
            "struct",
            "enum",
            "impl",
            "trait",
            "type",
            "const",
            "static",
            "async",
            "unsafe",
            "macro_rules",
        ];
        let first = self.peek().and_then(word_of).unwrap_or_default();
        let is_item = ITEMS.contains(&first);
        let mut is_use = false;
        while let Some(token) = self.peek() {
            match token {
                Token::Mark('(' | '[') => self.skip_group(),
                Token::Mark('{') => {
                    self.skip_group();
                    if is_item && !is_use {
                        return;
                    }
                }
                Token::Mark(';') => {
                    self.at += 1;
                    return;
                }
                Token::Mark(',') if !is_item => {
                    self.at += 1;
                    return;
                }
                Token::Mark('}') => return,
                token => {
                    is_use |= word_of(token) == Some("use");
                    self.at += 1;
                }
            }
        }
    }

    /// Skips a group in brackets of any kind, which begins here.
    fn skip_group(&mut self) {
        let mut depth = 0_usize;
        while let Some(token) = self.next() {
            match token {
                Token::Mark('(' | '[' | '{') => depth += 1,
                Token::Mark(')' | ']' | '}') => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                return;
            }
        }
    }

    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn next(&mut self) -> Option<Token> {
        let token = self.tokens.get(self.at).cloned();
        self.at += 1;
        token
    }
}

/// Ends a branch of `use`. The branch has its own name if it added anything to the path above it.
fn end(above: &mut Path, depth: usize, is_public: bool, imports: &mut Vec<Import>) {
    if above.len() > depth {
        let mut path = above.clone();
        if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
            path.pop();
        }
        imports.push(Import { name: path.last().cloned(), path, is_public });
        above.truncate(depth);
    }
}

fn word_of(token: &Token) -> Option<&str> {
    match token {
        Token::Word(word) => Some(word),
        Token::Mark(_) => None,
    }
}

fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let taken = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if let Some(length) = raw_string(rest) {
            length
        } else if first == '"' || rest.starts_with("b\"") {
            let quote = rest.find('"').unwrap_or_default();
            quote + string(&rest[quote..])
        } else if first == '\'' || rest.starts_with("b'") {
            let quote = rest.find('\'').unwrap_or_default();
            quote + character_or_lifetime(&rest[quote..])
        } else if first.is_alphanumeric() || first == '_' {
            let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            if !first.is_ascii_digit() {
                tokens.push(Token::Word(rest[..length].to_string()));
            }
            length
        } else {
            if !first.is_whitespace() {
                tokens.push(Token::Mark(first));
            }
            first.len_utf8()
        };
        rest = &rest[taken..];
    }
    tokens
}

/// Returns the length of the raw string that begins here.
fn raw_string(text: &str) -> Option<usize> {
    let begin = text.strip_prefix("br").or_else(|| text.strip_prefix('r'))?;
    let inside = begin.trim_start_matches('#').strip_prefix('"')?;
    let hashes = begin.len() - begin.trim_start_matches('#').len();
    let close = format!("\"{}", "#".repeat(hashes));
    let end = inside.find(&close).map_or(inside.len(), |end| end + close.len());
    Some(text.len() - inside.len() + end)
}

fn string(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

fn character_or_lifetime(text: &str) -> usize {
    let mut inside = text.chars().skip(1);
    match inside.next() {
        Some('\\') => text[3..].find('\'').map_or(text.len(), |end| end + 4),
        Some(c) if inside.next() == Some('\'') => c.len_utf8() + 2,
        // A lifetime: its name is a word, which no path begins with.
        _ => 1 + text[1..].find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len() - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn imports(text: &str) -> Vec<(Option<String>, String, bool)> {
        let imports = Module::parse(text).imports;
        imports.into_iter().map(|import| (import.name, import.path.join("::"), import.is_public)).collect()
    }

    #[test]
    fn a_tree_of_imports_gives_each_of_its_names() {
        let named = |name: &str| Some(name.to_string());
        let text = "use crate::{a::{self, B as C}, d}; pub(crate) use super::e::*; pub use f::G;";
        assert_eq!(
            imports(text),
            [
                (named("a"), "crate::a".into(), false),
                (named("C"), "crate::a::B".into(), false),
                (named("d"), "crate::d".into(), false),
                (None, "super::e".into(), true),
                (named("G"), "f::G".into(), true),
            ]
        );
    }

    #[test]
    fn code_for_tests_and_text_that_is_not_code_are_left_out() {
        let text = r##"
            //! crate::no::A
            #[cfg(test)]
            mod tests { use crate::no::B; fn f() { crate::no::c() } }
            #[cfg(test)]
            mod elsewhere;
            struct S { #[cfg(test)] hook: crate::no::Hook, a: crate::yes::A }
            fn g<'a>() -> char { let _ = "crate::no::D \" {"; let _ = r#"crate::no::"E" {"#; b'{'; '\'' }
            fn h() { crate::yes::b::<u8>(); }
            #[cfg(not(test))]
            mod kept;
            mod inner { use super::S; }
        "##;
        let module = Module::parse(text);
        let paths: Vec<String> = module.paths.iter().map(|path| path.join("::")).collect();
        assert_eq!(paths, ["crate::yes::A", "crate::yes::b"]);
        assert_eq!(module.children.iter().collect::<Vec<_>>(), ["kept"]);
        assert_eq!(module.defined.iter().collect::<Vec<_>>(), ["S", "g", "h"]);
        assert_eq!(module.inline["inner"].imports.len(), 1);
        assert!(module.imports.is_empty());
    }
    #[test]
    fn an_impl_has_its_type_its_methods_and_what_it_calls_on_itself() {
        let text = "impl<T: Into<U>> fmt::Display for a::S<T> where T: X { fn f(&self) { self.g(); self.h } }
            fn k(x: impl Fn()) { x() } impl S { fn g(&self) {} }";
        let set = |names: &[&str]| names.iter().map(ToString::to_string).collect::<BTreeSet<String>>();
        let of = |path: &[&str]| path.iter().map(ToString::to_string).collect::<Path>();
        assert_eq!(
            Module::parse(text).impls,
            [
                Impl {
                    of: of(&["a", "S"]),
                    of_trait: Some("Display".into()),
                    methods: set(&["f"]),
                    called: set(&["g"])
                },
                Impl { of: of(&["S"]), of_trait: None, methods: set(&["g"]), called: set(&[]) },
            ]
        );
    }
}
