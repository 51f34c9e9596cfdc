//! The invariants: a doc comment of a test states each, and `docs/invariants.md` lists them.
//!
//! ```text
//! /// Invariant (disk): a change costs few syncs.
//! /// Also: `another_test_that_checks_it`.
//! ```

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use saddlebag_tests_generated::Kind;

use super::tests::base;

const PAGE: &str = "docs/invariants.md";

/// The topics in the order of the page, each with its heading there.
const TOPICS: [(&str, &str); 13] = [
    ("contract", "The contract"),
    ("component", "The component"),
    ("disk", "The disk"),
    ("search", "Search"),
    ("entries", "Entries"),
    ("exchange", "The exchange with other agents"),
    ("notebook", "The notebook"),
    ("prompts", "Prompts"),
    ("agents-md", "AGENTS.md"),
    ("history", "The history"),
    ("trust", "Trust"),
    ("server", "The server"),
    ("tools", "The tools of a model"),
];

/// The tests of the project, and the invariants that they state.
#[derive(Debug, Default)]
pub(super) struct Tests {
    pub(super) names: BTreeSet<String>,
    invariants: Vec<Invariant>,
    /// Statements that are not the doc comment of a test, or are not of the form above.
    wrong: Vec<String>,
}

#[derive(Debug, PartialEq, Eq)]
struct Invariant {
    topic: &'static str,
    sentence: String,
    /// The tests that check it, the one with the statement first.
    tests: Vec<String>,
}

impl Tests {
    pub(super) fn read() -> Self {
        let mut tests = Self::default();
        tests.add_folder(&base());
        assert!(tests.names.len() > 1000, "only {} tests: the search looks in the wrong place", tests.names.len());
        tests
    }

    fn add_folder(&mut self, folder: &Path) {
        let mut paths: Vec<_> =
            fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("one").path()).collect();
        paths.sort();
        for path in paths {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() && !name.starts_with('.') && name != "target" && name != "node_modules" {
                self.add_folder(&path);
            } else if name.ends_with(".rs") {
                self.add_file(&path.display().to_string(), &fs::read_to_string(&path).expect("text"));
            }
        }
    }

    fn add_file(&mut self, path: &str, text: &str) {
        let (mut doc, mut is_test, mut is_attribute) = (String::new(), false, false);
        for (index, line) in text.lines().map(str::trim).enumerate() {
            if let Some(comment) = line.strip_prefix("///") {
                let comment = comment.trim();
                let begins = comment.is_empty() || comment.starts_with("Invariant") || comment.starts_with("Also:");
                doc.push_str(if begins { "\n" } else { " " });
                doc.push_str(comment);
                continue;
            }
            if is_attribute || line.starts_with("#[") {
                is_test |= ["#[test]", "#[both_engines"].iter().any(|start| line.starts_with(start));
                is_attribute = !line.ends_with(']');
                continue;
            }
            let name = line.split_once("fn ").and_then(|(_, rest)| rest.split(['(', '<']).next());
            let name = name.filter(|_| std::mem::take(&mut is_test));
            self.names.extend(name.map(str::to_string));
            self.add_doc(&format!("{path}:{}", index + 1), &std::mem::take(&mut doc), name);
        }
    }

    fn add_doc(&mut self, place: &str, doc: &str, test: Option<&str>) {
        let mut parts = doc.lines().peekable();
        while let Some(part) = parts.next() {
            let Some(statement) = part.strip_prefix("Invariant") else { continue };
            let stated = statement.strip_prefix(" (").and_then(|rest| rest.split_once("): "));
            let topic = stated.and_then(|(topic, _)| TOPICS.iter().find(|(known, _)| *known == topic));
            let (Some((topic, _)), Some((_, sentence)), Some(test)) = (topic, stated, test) else {
                self.wrong.push(format!("{place}: {part}"));
                continue;
            };
            let also = parts.next_if(|part| part.starts_with("Also:")).unwrap_or_default();
            let also = also.split('`').skip(1).step_by(2);
            let tests = [test].into_iter().chain(also).map(str::to_string).collect();
            self.invariants.push(Invariant { topic, sentence: sentence.trim_end_matches('.').to_string(), tests });
        }
    }

    fn page(&self) -> String {
        let mut page = "# Invariants

What always holds, by topic, and the tests that check it. [ARCHITECTURE.md](../ARCHITECTURE.md#what-always-holds) has
those that shape the design.

The list is made from the doc comments of the tests: `SADDLEBAG_REWRITE=docs cargo test -p xtask invariants::` writes it.
"
        .to_string();
        for (topic, title) in TOPICS {
            write!(page, "\n## {title}\n\n").expect("a string");
            for Invariant { sentence, tests, .. } in self.invariants.iter().filter(|one| one.topic == topic) {
                let first = sentence.chars().next().map(char::to_uppercase).into_iter().flatten();
                let sentence: String = first.chain(sentence.chars().skip(1)).collect();
                writeln!(page, "- {sentence}. `{}`", tests.join("`, `")).expect("a string");
            }
        }
        page
    }
}

#[test]
fn every_invariant_is_stated_by_a_test_and_names_tests() {
    let tests = Tests::read();
    assert!(tests.wrong.is_empty(), "not the doc comment of a test, or without a topic:\n{}", tests.wrong.join("\n"));
    let named = tests.invariants.iter().flat_map(|invariant| &invariant.tests);
    let gone: Vec<&String> = named.filter(|name| !tests.names.contains(*name)).collect();
    assert!(gone.is_empty(), "no such test: {gone:?}");
}

#[test]
fn the_list_has_the_invariants_of_the_tests() {
    let path = base().join(PAGE);
    Kind::Docs.check(&path, &Tests::read().page()).unwrap_or_else(|difference| panic!("{difference}"));
}

#[test]
fn a_statement_is_the_doc_comment_of_a_test() {
    let mut tests = Tests::default();
    let lines = [
        "/// Invariant (disk): it is kept,\n/// whatever happens.\n/// Also: `b_also`,\n/// `c_also`.\n///\n/// More.",
        "#[both_engines]\n#[ignore = \"x\n  y\"]\npub async fn a_test(kind: Kind) {}",
        "/// Invariant (disk): no test.\nfn helper() {}",
        "/// Invariant (dust): unknown.\n#[test]\nfn b() {}",
        "/// Invariant: no topic.\n#[test]\nfn c() {}",
    ];
    tests.add_file("f.rs", &lines.join("\n"));
    let names = ["a_test", "b_also", "c_also"].map(str::to_string).to_vec();
    assert_eq!(
        tests.invariants,
        [Invariant { topic: "disk", sentence: "it is kept, whatever happens".into(), tests: names }]
    );
    assert_eq!(
        tests.wrong,
        ["f.rs:12: Invariant (disk): no test.", "f.rs:15: Invariant (dust): unknown.", "f.rs:18: Invariant: no topic."]
    );
}
