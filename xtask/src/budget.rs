//! The ratchet: `budget.toml` holds a limit for each number that says how large the project is, and [`check`] fails when
//! a number exceeds its limit. Limits only fall. A commit that raises one names the issue that grants the rise.
//!
//! # How lines are counted
//!
//! A line counts unless it is blank or a comment: it begins with `//` in Rust and JavaScript, with `#` in Python and shell;
//! in JavaScript the lines of a `/* … */` that begins a line do not count either. Lines of Rust are lines of tests if they
//! are in a folder `tests`, in a module or another item below `#[cfg(test)]`, or in the file of such a module. All other
//! lines of Rust are lines of code. No file is left out because it is generated: that needs an xtask that writes it from
//! something smaller, and there is none.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::run::root;

/// File of the limits, below the root.
const FILE: &str = "budget.toml";

/// Folder of the numbers that only a run of the tests knows, one file each.
const MEASURED: &str = "target/budget";

/// A number above its limit by less than this is accepted with a warning: it depends on the machine.
const TOLERANCE_OF_MINUTES: f64 = 1.15;

/// What is counted, in the order of the table. The names are the keys of `budget.toml`.
const NUMBERS: [(&str, &str); 14] = [
    ("rust_code", "lines of Rust code"),
    ("rust_tests", "lines of Rust tests"),
    ("javascript", "lines of JavaScript"),
    ("python", "lines of Python"),
    ("shell", "lines of shell"),
    ("packages", "packages of the workspace"),
    ("locked_packages", "locked packages"),
    ("markdown_words", "words of Markdown"),
    ("subcommands", "subcommands"),
    ("options", "options of the subcommands"),
    ("tool_tokens", "tokens of the everyday tools"),
    ("component_bytes", "bytes of the component of a release, before `wasm-opt`"),
    ("compiled_units", "compiled units of `cargo xtask test`"),
    ("processor_minutes", "processor minutes of `cargo xtask test`"),
];

/// Files of others, which count for nothing.
const OTHERS: [&str; 1] = ["cli/src/ui/page/vendor/"];

type Numbers = BTreeMap<&'static str, u64>;

/// Prints every number with its limit, and fails if one exceeds it or a limit rose without an issue. What an earlier run of the
/// tests measured is left out before a run that measures it again.
pub(crate) fn check(with_measured: bool) -> Result<(), String> {
    let base = root()?;
    let limits = limits(&read(&base.join(FILE))?)?;
    let mut now = count(&base)?;
    now.extend(if with_measured { measured(&base) } else { Numbers::new() });
    eprintln!("{:>10} {:>10} {:>10}", "now", "limit", "left");
    let (mut above, mut below) = (Vec::new(), false);
    for (key, meaning) in NUMBERS {
        let limit = *limits.get(key).ok_or_else(|| format!("{FILE} has no limit `{key}`"))?;
        let Some(&number) = now.get(key) else {
            eprintln!("{:>10} {limit:>10} {:>10}  {meaning}", "-", "");
            continue;
        };
        let left = i128::from(limit) - i128::from(number);
        eprintln!("{number:>10} {limit:>10} {left:>10}  {meaning}");
        if key == "processor_minutes" {
            if number as f64 > limit as f64 * TOLERANCE_OF_MINUTES {
                eprintln!("warning: {number} processor minutes are more than 15 % above the limit of {limit}");
            }
        } else if number > limit {
            above.push(format!("{number} {meaning}: {} above the limit of {limit}", number - limit));
        } else if number * 100 < limit * 99 {
            below = true;
        }
    }
    if below {
        eprintln!("some numbers are well below their limits: `cargo xtask budget --lower` lowers these");
    }
    above.extend(rises_without_an_issue(&base)?);
    if above.is_empty() { Ok(()) } else { Err(format!("the budget is exceeded\n  {}", above.join("\n  "))) }
}

/// Lowers each limit to its number, and raises none.
pub(crate) fn lower() -> Result<(), String> {
    let base = root()?;
    let path = base.join(FILE);
    let text = read(&path)?;
    let limits = limits(&text)?;
    let mut now = count(&base)?;
    now.extend(measured(&base));
    let lines = text.lines().map(|line| {
        let lowered = line.split_once(" = ").and_then(|(key, _)| {
            let (number, limit) = (*now.get(key)?, *limits.get(key)?);
            (number < limit).then(|| format!("{key} = {number}"))
        });
        lowered.unwrap_or_else(|| line.to_string()) + "\n"
    });
    fs::write(&path, lines.collect::<String>()).map_err(|error| format!("cannot write {FILE}: {error}"))
}

/// Keeps a number that a step of the tests measured, for the table.
pub(crate) fn keep(key: &str, number: u64) -> Result<(), String> {
    let folder = root()?.join(MEASURED);
    let kept = fs::create_dir_all(&folder).and_then(|()| fs::write(folder.join(key), number.to_string()));
    kept.map_err(|error| format!("cannot write {MEASURED}/{key}: {error}"))
}

fn measured(base: &Path) -> Numbers {
    let kept = |key: &str| fs::read_to_string(base.join(MEASURED).join(key)).ok()?.trim().parse().ok();
    NUMBERS.into_iter().filter_map(|(key, _)| Some((key, kept(key)?))).collect()
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

/// Reads lines of `key = number`.
fn limits(text: &str) -> Result<BTreeMap<String, u64>, String> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let limit = |line: &str| {
        let (key, number) = line.split_once('=')?;
        Some((key.trim().to_string(), number.trim().replace('_', "").parse().ok()?))
    };
    lines.map(|line| limit(line).ok_or_else(|| format!("{FILE}: `{line}` is not `key = number`"))).collect()
}

/// Counts the files that git tracks, or would track, below a folder.
fn count(base: &Path) -> Result<Numbers, String> {
    let listed = git(base, &["ls-files", "--cached", "--others", "--exclude-standard"])?;
    let files: BTreeSet<String> = listed.lines().filter(|file| base.join(file).is_file()).map(String::from).collect();
    let mut numbers = Numbers::new();
    let mut sources = BTreeMap::new();
    for file in files {
        if OTHERS.iter().any(|folder| file.starts_with(folder)) {
            continue;
        }
        let ending = file.rsplit_once('.').map_or("", |(_, ending)| ending);
        let mut add = |key, number: usize| *numbers.entry(key).or_default() += number as u64;
        match ending {
            "rs" => {
                sources.insert(file.clone(), read(&base.join(&file))?);
            }
            "js" | "mjs" => add("javascript", javascript(&read(&base.join(&file))?)),
            "py" => add("python", hash_comments(&read(&base.join(&file))?)),
            "sh" => add("shell", hash_comments(&read(&base.join(&file))?)),
            "md" if !is_test_data(&file) => add("markdown_words", read(&base.join(&file))?.split_whitespace().count()),
            "toml" if file.ends_with("Cargo.toml") => {
                add("packages", usize::from(read(&base.join(&file))?.lines().any(|line| line == "[package]")));
            }
            "lock" if file == "Cargo.lock" => {
                let lock = read(&base.join(&file))?;
                add("locked_packages", lock.lines().filter(|line| *line == "[[package]]").count());
            }
            _ => {}
        }
        if file == "docs/commands.md" {
            let page = read(&base.join(&file))?;
            let lines = |start: &str| page.lines().filter(|line| line.starts_with(start)).count() as u64;
            numbers.insert("subcommands", lines("| [`"));
            numbers.insert("options", lines("- `-"));
        }
    }
    let (code, tests) = rust(&sources);
    numbers.insert("rust_code", code as u64);
    numbers.insert("rust_tests", tests as u64);
    Ok(numbers)
}

/// Returns true for Markdown that tests and the demo read, and no person.
fn is_test_data(file: &str) -> bool {
    file.split('/').any(|folder| matches!(folder, "tests" | "sample" | "data"))
}

fn hash_comments(text: &str) -> usize {
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')).count()
}

fn javascript(text: &str) -> usize {
    let (mut lines, mut in_comment) = (0, false);
    for line in text.lines().map(str::trim) {
        in_comment |= line.starts_with("/*");
        lines += usize::from(!in_comment && !line.is_empty() && !line.starts_with("//"));
        in_comment &= !line.ends_with("*/");
    }
    lines
}

/// Returns the lines of code and of tests of these files.
fn rust(sources: &BTreeMap<String, String>) -> (usize, usize) {
    let mut in_tests: BTreeSet<String> = BTreeSet::new();
    for (file, text) in sources {
        in_tests.extend(tested_modules(text).into_iter().map(|module| format!("{}/{module}", children(file))));
    }
    let is_test = |file: &str| {
        let module = file.trim_end_matches("/mod.rs").trim_end_matches(".rs");
        let below = |tests: &String| {
            module.strip_prefix(tests.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        file.split('/').any(|folder| folder == "tests") || in_tests.iter().any(below)
    };
    let (mut code, mut tests) = (0, 0);
    for (file, text) in sources {
        let (of_code, of_tests) = lines_of_rust(text);
        if is_test(file) {
            tests += of_code + of_tests;
        } else {
            code += of_code;
            tests += of_tests;
        }
    }
    (code, tests)
}

/// Returns the folder of the modules that a file declares.
fn children(file: &str) -> String {
    let (folder, name) = file.rsplit_once('/').unwrap_or(("", file));
    match name {
        "mod.rs" | "lib.rs" | "main.rs" => folder.to_string(),
        name => format!("{folder}/{}", name.trim_end_matches(".rs")),
    }
}

/// Returns the modules with a file of their own that are declared below `#[cfg(test)]`.
fn tested_modules(text: &str) -> Vec<&str> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let declared = lines.iter().enumerate().filter(|(_, line)| is_cfg_test(line)).filter_map(|(at, _)| {
        let item = lines.get(at + 1..)?.iter().find(|line| !line.starts_with("#["))?;
        let words = item.strip_suffix(';')?;
        words.strip_prefix("pub(crate) mod ").or_else(|| words.strip_prefix("mod "))
    });
    declared.collect()
}

fn is_cfg_test(line: &str) -> bool {
    line == "#[cfg(test)]" || line.starts_with("#[cfg(all(test,")
}

/// Returns the lines of a file outside of and in the items below `#[cfg(test)]`. The file is formatted, so an item ends at
/// the first line with its own indentation and a closing bracket.
fn lines_of_rust(text: &str) -> (usize, usize) {
    let (mut code, mut tests) = (0, 0);
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if !is_cfg_test(line.trim()) {
            code += counts(line);
            continue;
        }
        tests += 1;
        let indentation = &line[..line.len() - line.trim_start().len()];
        let mut is_first = true;
        for line in lines.by_ref() {
            tests += counts(line);
            if is_first && (line.trim().starts_with("#[") || counts(line) == 0) {
                continue;
            }
            let ends = line
                .strip_prefix(indentation)
                .is_some_and(|rest| rest.starts_with('}') || rest.starts_with(')') || rest.starts_with(']'));
            let is_short = is_first && (line.ends_with(';') || line.ends_with(',') || line.ends_with('}'));
            is_first = false;
            if ends || is_short {
                break;
            }
        }
    }
    (code, tests)
}

fn counts(line: &str) -> usize {
    let line = line.trim();
    usize::from(!line.is_empty() && !line.starts_with("//"))
}

/// Names each commit that raised a limit and whose message names no issue.
fn rises_without_an_issue(base: &Path) -> Result<Vec<String>, String> {
    let commits = git(base, &["log", "--format=%H", "--", FILE])?;
    let commits: Vec<&str> = commits.lines().collect();
    let mut found = Vec::new();
    for pair in commits.windows(2) {
        let [commit, earlier] = pair else { continue };
        let limits_of = |commit: &str| limits(&git(base, &["show", &format!("{commit}:{FILE}")])?);
        let (new, old) = (limits_of(commit)?, limits_of(earlier)?);
        let raised: Vec<String> = raised(&old, &new);
        if !raised.is_empty() && !names_an_issue(&git(base, &["show", "--no-patch", "--format=%B", commit])?) {
            found.push(format!("{commit} raises {} and names no issue that grants it", raised.join(", ")));
        }
    }
    // What is not committed is compared with the last commit.
    if let Some(last) = commits.first() {
        let raised =
            raised(&limits(&git(base, &["show", &format!("{last}:{FILE}")])?)?, &limits(&read(&base.join(FILE))?)?);
        if !raised.is_empty() {
            eprintln!("note: {} rises; the commit must name the issue that grants it", raised.join(", "));
        }
    }
    Ok(found)
}

fn raised(old: &BTreeMap<String, u64>, new: &BTreeMap<String, u64>) -> Vec<String> {
    new.iter()
        .filter(|(key, limit)| old.get(*key).is_some_and(|old| *limit > old))
        .map(|(key, _)| key.clone())
        .collect()
}

/// Returns true if a message has the word "issue" before a number.
fn names_an_issue(message: &str) -> bool {
    let words: Vec<&str> = message.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let names = |pair: &[&str]| pair[0].eq_ignore_ascii_case("issue") && pair[1].chars().all(|c| c.is_ascii_digit());
    words.windows(2).any(names)
}

fn git(base: &Path, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new("git").args(arguments).current_dir(base).output();
    let output = output.map_err(|error| format!("cannot run git: {error}"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(format!("`git {}` failed: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr).trim()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_counts_that_is_neither_blank_nor_a_comment() {
        assert_eq!(lines_of_rust("//! Docs.\n\nfn f() {\n    // Why.\n    g(); // Here.\n}\n"), (3, 0));
    }

    #[test]
    fn items_below_cfg_test_are_tests() {
        let text = "fn f() {}\n#[cfg(test)]\nuse a::b;\nfn g() {}\n#[cfg(test)]\n#[path = \"x\"]\nmod tests {\n    fn h() {\n    }\n}\nfn i() {}\n";
        assert_eq!(lines_of_rust(text), (3, 8));
    }

    #[test]
    fn the_file_of_a_module_below_cfg_test_is_tests() {
        let sources = [
            ("a/src/lib.rs", "#[cfg(test)]\nmod samples;\nmod code;\n"),
            ("a/src/samples.rs", "fn f() {}\nmod deep;\n"),
            ("a/src/samples/deep.rs", "fn f() {}\n"),
            ("a/src/samples_of_code.rs", "fn f() {}\n"),
            ("a/src/code.rs", "#[cfg(test)]\nmod tests;\n"),
            ("a/src/code/tests.rs", "fn f() {}\n"),
            ("a/tests/x.rs", "fn f() {}\n"),
        ];
        let sources = sources.map(|(file, text)| (file.to_string(), text.to_string()));
        assert_eq!(rust(&sources.into_iter().collect()), (2, 9));
    }

    #[test]
    fn comments_of_javascript_do_not_count() {
        assert_eq!(javascript("// a\n/* b\n   c\n*/\nd();\n\ne(); /* f */\n"), 2);
    }

    #[test]
    fn a_rise_needs_an_issue() {
        let limits = |number| BTreeMap::from([("rust_code".to_string(), number)]);
        assert_eq!(raised(&limits(1), &limits(2)), ["rust_code"]);
        assert!(raised(&limits(2), &limits(1)).is_empty());
        assert!(names_an_issue("Raise the limit\n\nIssue 27 grants 900 lines."));
        assert!(!names_an_issue("Raise the limit by 900"));
    }

    #[test]
    fn every_number_has_a_limit() {
        let limits = limits(&read(&root().expect("a root").join(FILE)).expect("text")).expect("limits");
        let names: BTreeSet<&str> = limits.keys().map(String::as_str).collect();
        assert_eq!(names, NUMBERS.map(|(key, _)| key).into_iter().collect());
    }
}
