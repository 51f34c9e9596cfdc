//! The commands of a command line, as a shell reads it: quotes, lists, pipes, subshells, loops, here-documents, substitutions, and
//! programs that only run another command.

use super::screened::first_chars;
use crate::trust::sha256;
use saddlebag_collections::prelude::*;
use saddlebag_markdown::one_line;

/// Maximum number of words of a command that are compared.
const MAX_WORDS: usize = 64;
/// Maximum number of characters of a script on one line.
const MAX_LINE_CHARS: usize = 200;
/// Maximum depth of scripts in scripts, such as `bash -c "bash -c …"`.
const MAX_DEPTH: u32 = 3;

/// Words of the shell before a command, and those that begin something else.
const BEFORE_COMMANDS: [&str; 9] = ["!", "{", "}", "do", "elif", "else", "if", "then", "until"];
const NO_COMMANDS: [&str; 7] = ["case", "done", "esac", "fi", "for", "function", "select"];
/// Commands that only prepare the one after them in the same line.
const PREPARATIONS: [&str; 8] = ["cd", "export", "popd", "pushd", "set", "source", "unset", "."];
const SHELLS: [&str; 5] = ["bash", "dash", "ksh", "sh", "zsh"];

/// Programs that run the command after their options.
const WRAPPERS: &str = "builtin|bundle exec|bunx|chronic|command|docker compose exec|docker exec|entr|flock|hatch run|nohup|\
    pdm run|pipenv run|pipx run|pnpm dlx|pnpm exec|poetry run|rye run|setsid|stdbuf|uvx|watch|xargs|yarn exec";
/// Such programs with options that have a value.
const WITH_VALUES: [(&str, &[&str]); 11] = [
    ("doas", &["-u", "-C"]),
    ("env", &["-C", "-u", "--chdir", "--unset"]),
    ("exec", &["-a"]),
    ("ionice", &["-c", "-n", "-p"]),
    ("nice", &["-n", "--adjustment"]),
    ("npm exec", &["-p", "-w", "--package", "--workspace"]),
    ("npx", &["-p", "-w", "--package", "--workspace"]),
    ("sudo", &["-C", "-D", "-g", "-h", "-p", "-R", "-r", "-T", "-t", "-U", "-u", "--group", "--user"]),
    ("time", &["-f", "-o", "--format", "--output"]),
    ("timeout", &["-k", "-s", "--kill-after", "--signal"]),
    (
        "uv run",
        &["-p", "--directory", "--env-file", "--extra", "--group", "--package", "--project", "--python", "--with"],
    ),
];
/// Options of the others that have a value.
const VALUED: [&str; 12] = ["-E", "-I", "-L", "-P", "-d", "-e", "-i", "-n", "-o", "-s", "-u", "-w"];
/// Such programs with a word of their own before the command.
const WITH_A_WORD: [&str; 4] = ["docker compose exec", "docker exec", "flock", "timeout"];

/// Programs whose options before the word that says what they do are left out, with those that have a value.
const GLOBAL_OPTIONS: [(&str, &[&str]); 10] = [
    ("cargo", &["-C", "-Z", "--color", "--config"]),
    ("docker", &["-c", "-H", "-l", "--config", "--context", "--host"]),
    ("gh", &["-R", "--repo"]),
    ("git", &["-C", "-c", "--git-dir", "--namespace", "--work-tree"]),
    ("helm", &["-n", "--kube-context", "--kubeconfig", "--namespace"]),
    ("kubectl", &["-n", "-s", "--cluster", "--context", "--kubeconfig", "--namespace", "--user"]),
    ("npm", &["-C", "-w", "--prefix", "--workspace"]),
    ("pnpm", &["-C", "-F", "--dir", "--filter"]),
    ("terraform", &[]),
    ("yarn", &["--cwd"]),
];

/// Options that change nothing about which tests run, or let more run.
const HARMLESS: &str = "--|-count|-j|-n|-q|-ra|-race|-s|-timeout|-v|-vv|-x|--all|--all-features|--all-targets|--bail|--color|--cov|\
    --cov-report|--durations|--fix|--format|--jobs|--locked|--log-level|--max-warnings|--maxfail|--no-header|--parallel|--quiet|\
    --release|--reporter|--retries|--silent|--strict|--tb|--test-threads|--threads|--timeout|--verbose|--workspace|--workspaces";
/// Those of them that have a value.
const WITH_VALUE: &str = "-count|-j|-timeout|--bail|--color|--cov-report|--durations|--format|--jobs|--log-level|--max-warnings|\
    --maxfail|--reporter|--retries|--tb|--test-threads|--threads|--timeout";
/// Options with which fewer tests run.
const SELECTORS: &str = "-E|-g|-k|-m|-p|-run|-t|--bin|--bins|--deselect|--doc|--example|--examples|--exclude|--filter|--grep|--ignore|--lib|\
    --package|--skip|--test|--testNamePattern|--testPathPattern|--test-name-pattern|--tests";
/// Options with which a test finds more than without them.
const STRICTER: &str = "-race|--all-features|--max-warnings|--release|--strict";
/// Options with which nothing runs.
const NO_RUN: &str = "-N|-h|--co|--collect-only|--dry-run|--help|--list|--listTests|--no-run|--version";
/// All packages of a folder, as `go` names them.
const ALL: &str = "./...";
/// Programs whose first argument says what they do, and those that read `-n` in another way.
const WITH_COMMANDS: &str = "bun|bundle|cargo|composer|dart|deno|docker|dotnet|flutter|go|gradle|just|make|mix|mvn|npm|nx|pnpm|poetry|\
    rake|ruff|swift|task|turbo|uv|yarn|zig";
const MAKERS: &str = "just|make|rake|task";
/// Words in the name of a test or a check of a project.
const CHECKS: &str = "build|check|ci|clippy|e2e|eslint|jest|lint|mocha|mypy|ruff|spec|tox|tsc|typecheck|vet";
/// Programs that look at files, such as those of tests.
const LOOKS: &str = "[|cat|cp|diff|echo|find|git|grep|head|ls|mv|pgrep|rg|rm|sed|tail|test|which";

/// Commands of `git` whose failure leaves something to do.
const GIT_WORK: &str = "cherry-pick|merge|pull|push|rebase";

/// A command of a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ran {
    /// Its words, without what runs it and without redirections.
    pub(super) words: Vec<String>,
    /// Folder that the line enters before, or that an option names.
    pub(super) folder: Option<String>,
    /// Variables that the line sets for it; a digest of a line that may change what it does in another way.
    pub(super) variables: Vec<String>,
    /// True if the command has passed whenever the whole line has.
    pub(super) decides: bool,
    /// True if the words begin with a program that only runs the command, which is in the list too.
    pub(super) is_wrapped: bool,
}

impl Ran {
    /// Returns true if the other command has certainly passed: this one has, in the same folder, and it is the same one, or one of
    /// several tests that this runs.
    pub(super) fn covers(&self, other: &Self) -> bool {
        let is_there = self.folder == other.folder && self.variables == other.variables;
        self.decides && is_there && (self.words == other.words || self.is_test() && self.runs(other))
    }

    /// Returns true if every test of the other command is one of this.
    fn runs(&self, other: &Self) -> bool {
        let (verb, options, values) = self.parts();
        let (of_other, other_options, other_values) = other.parts();
        let is_maker = verb.first().is_some_and(|program| is_in(MAKERS, program));
        let is_harmless = |option: &str| is_in(HARMLESS, option) && !is_maker;
        let may_be_left = |option: &str| is_in(SELECTORS, option) || is_harmless(option) && !is_in(STRICTER, option);
        let is_everything = values.is_empty() || values.iter().any(|value| [".", ALL].contains(value));
        verb == of_other
            && options.iter().all(|option| is_harmless(option) || other_options.contains(option))
            && other_options.iter().all(|option| may_be_left(option) || options.contains(option))
            && (!other_values.contains(&ALL) || values.contains(&ALL))
            && (is_everything
                || !other_values.is_empty()
                    && other_values.iter().all(|part| values.iter().any(|whole| is_within(part, whole))))
    }

    /// Returns what the command does, its options, and its other words.
    fn parts(&self) -> (Vec<&str>, Vec<&str>, Vec<&str>) {
        let (mut bare, mut options, mut before) = (Vec::new(), Vec::new(), "");
        for word in self.words.iter().map(String::as_str) {
            let is_count = before == "-n" && (word == "auto" || word.parse::<u32>().is_ok());
            match word {
                _ if is_count || is_in(WITH_VALUE, before) && !before.contains('=') => {}
                "run" => {}
                option if option.starts_with('-') => options.push(option),
                word => bare.push(word),
            }
            before = word;
        }
        let has_command = bare.first().is_some_and(|program| is_in(WITH_COMMANDS, program));
        let values = bare.split_off(bare.len().min(1 + usize::from(has_command)));
        (bare, options, values)
    }

    /// Returns true if a run of the command says something about the other one, which need not have passed with it.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let mut bare = other.words.iter().filter(|word| !word.starts_with('-'));
        self.words.first() == other.words.first()
            && !self.words.iter().any(|word| is_in(NO_RUN, word))
            && (self.is_test() && other.is_test() || bare.all(|word| self.words.contains(word)))
    }

    /// Returns how much a run of the command says about the other one: first if it ran in the same folder, then the words of both.
    pub(super) fn likeness(&self, other: &Self) -> (bool, usize) {
        let common = other.words.iter().filter(|word| self.words.contains(word)).count();
        (self.folder == other.folder, common)
    }

    /// Returns true for a program that only looks at files, or at what another one prints.
    pub(super) fn only_looks(&self) -> bool {
        let [program, more] = [0, 1].map(|at| self.words.get(at).map(String::as_str).unwrap_or_default());
        is_in(LOOKS, program) && !(program == "git" && is_in(GIT_WORK, more))
    }

    /// Returns true for a test or a check of the project.
    pub(super) fn is_test(&self) -> bool {
        let is_check = |part: &str| {
            part.starts_with("test") || part.ends_with("test") || CHECKS.split('|').any(|check| check == part)
        };
        let has_check = |word: &str| word.split(|c: char| !c.is_ascii_alphanumeric()).any(is_check);
        let Some((program, more)) = self.words.split_first() else { return false };
        let mut more = more.iter().filter(|word| !word.starts_with('-') && !word.contains(['/', '.'])).take(2);
        let has_option = self.words.iter().any(|word| word == "--test");
        !self.only_looks() && (has_option || has_check(program) || more.any(|word| has_check(word)))
    }
}

/// Returns true if an option, without its value, or a program is in a list.
fn is_in(list: &str, word: &str) -> bool {
    list.split('|').any(|known| word.split('=').next() == Some(known))
}

/// Returns true if a word of a command names a part of what another one names, such as a test of a file.
fn is_within(part: &str, whole: &str) -> bool {
    let rest = part.strip_prefix(whole.trim_end_matches("...").trim_end_matches('/'));
    let has_more = |rest: &str| rest.starts_with("::") || rest.starts_with('/');
    part == whole
        || rest.is_some_and(has_more) && (whole.contains(['/', '.']) || rest.is_some_and(|rest| rest.starts_with('/')))
}

/// Returns a script of several lines on one, at most [`MAX_LINE_CHARS`]. A digest is in place of what is left out, so that only equal
/// scripts are the same line.
pub(super) fn on_one_line(script: &str) -> String {
    let mut out = String::new();
    let mut lines = script.lines();
    while let Some(line) = lines.next() {
        let line = one_line(line);
        let mut line = line.get(..quotes(&line).1).unwrap_or_default().trim_end().to_string();
        let end = line.split("<<").nth(1).map(|end| end.trim_start_matches(['-', ' ', '\'', '"', '\\']));
        let end = end.and_then(|end| end.split(|c: char| !c.is_alphanumeric() && c != '_').next()).map(String::from);
        if let Some(end) = end.filter(|end| !end.is_empty()) {
            let body: Vec<&str> = lines.by_ref().take_while(|line| line.trim() != end).collect();
            line = line.replacen("<<", &format!("{} <<", digest(&body.join("\n"))), usize::from(!body.is_empty()));
        }
        while let (Some((quote, _)), Some(more)) = (quotes(&line).0, lines.clone().next()) {
            lines.next();
            let (text, end) = more.split_at(more.find(quote).unwrap_or(more.len()));
            // It may end a substitution, as in messages of commits.
            let close = if text.trim_end().ends_with(')') { ")" } else { "" };
            line = format!("{line}{}{close}{end}", digest(more));
        }
        if line.is_empty() {
            continue;
        }
        let is_open =
            out.is_empty() || ["&", "|", "do", "else", "then", "{", "(", ";"].iter().any(|end| out.ends_with(end));
        out = match out.strip_suffix('\\').map(str::trim_end) {
            Some(begun) => format!("{begun} {line}"),
            None if is_open => [&out, " ", &line].concat().trim().into(),
            None => format!("{out}; {line}"),
        };
    }
    if out.chars().count() <= MAX_LINE_CHARS {
        return out;
    }
    format!("{} {}", first_chars(&out, MAX_LINE_CHARS - 10).trim_end(), digest(&out))
}

/// Returns the quote that is open at the end of a line with its place, and where a comment begins, or the end.
fn quotes(line: &str) -> (Option<(char, usize)>, usize) {
    let (mut open, mut chars, mut before) = (None, line.char_indices(), ' ');
    while let Some((at, c)) = chars.next() {
        match (open, c) {
            (Some(('\'', _)), '\\') => {}
            (_, '\\') => drop(chars.next()),
            (None, '\'' | '"') => open = Some((c, at)),
            (Some((quote, _)), c) if c == quote => open = None,
            (None, '#') if before.is_whitespace() => return (None, at),
            _ => {}
        }
        before = c;
    }
    (open, line.len())
}

fn digest(text: &str) -> String {
    format!("…{}", sha256(text).get(..6).unwrap_or_default())
}

/// Returns the commands of a script, without those that only prepare others. What runs a command comes after it.
pub(super) fn commands(script: &str) -> Vec<Ran> {
    let mut all = Vec::new();
    let is_odd = OWN_WORLD.split('|').any(|part| script.contains(part));
    let variables = is_odd.then(|| digest(script)).into_iter().collect();
    read(script, &Ran { decides: true, variables, ..Ran::default() }, 0, &mut all);
    all
}

fn read(script: &str, around: &Ran, depth: u32, all: &mut Vec<Ran>) {
    let mut reader = Reader { rest: script, ..Reader::default() };
    reader.read();
    let Reader { commands, scripts, .. } = reader;
    let decided = decided(&commands);
    let mut folder = around.folder.clone();
    for ((words, _), decides) in commands.into_iter().zip(decided) {
        if let [first, target, ..] = words.as_slice()
            && ["cd", "pushd"].contains(&first.as_str())
        {
            folder = entered(folder.as_deref(), target);
        }
        let (folder, decides) = (folder.clone(), decides && around.decides);
        let ran = Ran { words, folder, decides, is_wrapped: false, variables: around.variables.clone() };
        run(ran, depth, all);
    }
    for script in scripts.iter().filter(|_| depth < MAX_DEPTH) {
        read(script, &Ran { folder: folder.clone(), ..Ran::default() }, depth + 1, all);
    }
}

/// Returns the folder that a line is in after it has entered one.
fn entered(folder: Option<&str>, target: &str) -> Option<String> {
    let is_relative = !target.starts_with(['/', '~', '-', '$']) && !target.contains(':');
    let mut parts: Vec<&str> =
        folder.into_iter().filter(|_| is_relative).flat_map(|folder| folder.split('/')).collect();
    for part in target.trim_end_matches('/').split('/') {
        match part {
            "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    Some(parts.join("/")).filter(|folder| !folder.is_empty())
}

/// Returns for each command if it has passed whenever the script has.
fn decided(commands: &[(Vec<String>, char)]) -> Vec<bool> {
    let begins = |(words, _): &(Vec<String>, char), with: &str| words.first().is_some_and(|first| first == with);
    let is_control = |command| NO_COMMANDS.iter().chain(&BEFORE_COMMANDS).any(|word| begins(command, word));
    let stops = commands.first().is_some_and(|first| {
        begins(first, "set") && first.0.iter().any(|word| word.starts_with("-e") || word.starts_with("-o"))
    });
    // With `pipefail`, a pipe hides nothing.
    let hides = commands.first().is_none_or(|(words, _)| words.iter().all(|word| word != "pipefail"));
    let mut decided = vec![false; commands.len()];
    let mut chain = !commands.iter().any(is_control);
    for (at, (_, after)) in commands.iter().enumerate().rev() {
        let is_last = at + 1 == commands.len();
        // What follows was not run if this has passed.
        if *after == '/' && chain {
            decided.fill(false);
        }
        chain &= matches!(after, '+' | '|') || is_last && *after == ';' || stops && *after == ';';
        if let Some(decided) = decided.get_mut(at) {
            *decided = chain && (*after != '|' || !hides);
        }
    }
    decided
}

/// Adds a command without what runs it, then with it.
fn run(mut ran: Ran, depth: u32, all: &mut Vec<Ran>) {
    let words = &mut ran.words;
    let is_before = |word: &String| BEFORE_COMMANDS.contains(&word.as_str()) || word == "while" || is_assignment(word);
    let before = words.iter().take_while(|word| is_before(word)).count();
    let is_variable = |word: &String| is_assignment(word) && !QUIET_VARIABLES.contains(&name_of(word));
    ran.variables.extend(words.drain(..before).filter(is_variable));
    words.truncate(MAX_WORDS);
    let Some(first) = words.first() else { return };
    if [&NO_COMMANDS[..], &PREPARATIONS].concat().contains(&first.as_str()) {
        return;
    }
    let program = first.rsplit('/').next().unwrap_or(first);
    let script = words.iter().position(|word| word.starts_with('-') && !word.starts_with("--") && word.ends_with('c'));
    if let Some(script) = script.and_then(|at| words.get(at + 1)).filter(|_| SHELLS.contains(&program)) {
        if depth < MAX_DEPTH {
            read(&unquoted(script), &ran, depth + 1, all);
        }
        return;
    }
    if program == "eval" {
        let script = words.iter().skip(1).map(|word| unquoted(word)).collect::<Vec<_>>().join(" ");
        if depth < MAX_DEPTH {
            read(&script, &ran, depth + 1, all);
        }
        return;
    }
    let inner = inner(program, words);
    if let Some(inner) = inner.filter(|inner| !inner.is_empty() && depth < MAX_DEPTH * 2) {
        // The value of an option before it may be another folder or package.
        let options = words.get(1..=words.len().saturating_sub(inner.len()));
        let is_place = |word: &String| is_in(PLACES, word) || word.starts_with('+') || program == "pnpm";
        let options = options.filter(|options| program != "git" && options.iter().any(is_place));
        let folder = options.map_or_else(|| ran.folder.clone(), |options| Some(options.join(" ")));
        run(Ran { words: inner, folder, ..ran.clone() }, depth + 1, all);
        ran.is_wrapped = true;
    }
    all.push(ran);
}

/// Returns the command that a program runs, or the command without what does not say what it does; `None` if it is whole.
fn inner(program: &str, words: &[String]) -> Option<Vec<String>> {
    let after_options = |from: usize, valued: &[&str]| {
        let mut at = from;
        while let Some(option) = words.get(at).filter(|word| word.starts_with(['-', '+']) && word.len() > 1) {
            at += 1 + usize::from(valued.contains(&option.as_str()));
            if option == "--" {
                break;
            }
        }
        at
    };
    let is_named = |name: &str| {
        let mut named = name.split(' ');
        named.next() == Some(program)
            && named.eq(words.iter().skip(1).map(String::as_str).take(name.matches(' ').count()))
    };
    let others = WRAPPERS.split('|').map(|name| (name, &VALUED[..]));
    if let Some((name, valued)) = WITH_VALUES.into_iter().chain(others).find(|(name, _)| is_named(name)) {
        // `command -v` only asks for a program.
        let is_asked = program == "command" && words.get(1).is_some_and(|word| word.eq_ignore_ascii_case("-v"));
        let at = after_options(1 + name.matches(' ').count(), valued) + usize::from(WITH_A_WORD.contains(&name));
        let inner = words.get(at..).filter(|_| !is_asked)?;
        let is_module = inner.is_empty() || words.get(..at)?.iter().any(|word| *word == "-m" || *word == "--module");
        return if is_module { None } else { Some(inner.to_vec()) };
    }
    if program.starts_with("python") || program == "py" {
        let mut options = words.iter().enumerate().skip(1).filter(|(at, _)| {
            let before = words.get(at - 1).map(String::as_str).unwrap_or_default();
            !["-W", "-X"].contains(&before)
        });
        let (module, _) =
            options.by_ref().take_while(|(_, word)| word.starts_with('-')).find(|(_, word)| *word == "-m")?;
        return words.get(module + 1..).map(<[String]>::to_vec);
    }
    if let Some((_, valued)) = GLOBAL_OPTIONS.iter().find(|(name, _)| *name == program) {
        let at = after_options(1, valued);
        let more = words.get(at..).filter(|more| at > 1 && !more.is_empty())?;
        return Some(core::iter::once(program.to_string()).chain(more.iter().cloned()).collect());
    }
    if program == "make" && words.get(1).is_some_and(|word| word == "-C") {
        return Some(core::iter::once(program.to_string()).chain(words.iter().skip(3).cloned()).collect());
    }
    let first = words.first()?;
    let is_installed = first.rsplit('/').nth(1).is_some_and(|folder| folder.ends_with("bin"));
    is_installed.then(|| core::iter::once(program.to_string()).chain(words.iter().skip(1).cloned()).collect())
}

/// Options that name another folder, package or program.
const PLACES: &str =
    "-C|-F|-p|-w|--chdir|--cwd|--dir|--directory|--filter|--package|--prefix|--project|--python|--workspace";
/// Parts of lines that loop, that take words from elsewhere, that set something, or that may end before a command.
const OWN_WORLD: &str = "$|`|<|for |while |until |case |xargs|export |source |exit|rm |nvm |false";
/// Variables that only change what is printed.
const QUIET_VARIABLES: [&str; 6] = ["CI", "COLUMNS", "FORCE_COLOR", "NO_COLOR", "RUST_BACKTRACE", "RUST_LOG"];

fn name_of(assignment: &str) -> &str {
    assignment.split('=').next().unwrap_or_default()
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

/// Returns a word without its quotes.
fn unquoted(word: &str) -> String {
    let mut out = String::new();
    let (mut quote, mut chars) = (None, word.chars());
    while let Some(c) = chars.next() {
        match c {
            '\\' if quote != Some('\'') => out.extend(chars.next()),
            '\'' | '"' if quote.is_none() => quote = Some(c),
            _ if quote == Some(c) => quote = None,
            _ => out.push(c),
        }
    }
    out
}

/// Reads a script into commands, each with what comes after it: `;`, `&`, `|`, `/` for `||`, `+` for `&&`, or a blank.
#[derive(Default)]
struct Reader<'a> {
    rest: &'a str,
    word: String,
    words: Vec<String>,
    commands: Vec<(Vec<String>, char)>,
    /// Scripts in substitutions.
    scripts: Vec<String>,
    /// True if the next word is where something is written to or read from, and if it ends a here-document.
    is_target: bool,
    is_end: bool,
    /// Ends of the here-documents that begin with the next line.
    ends: Vec<String>,
}

impl Reader<'_> {
    fn read(&mut self) {
        while let Some(c) = self.next() {
            match c {
                '\\' => match self.next() {
                    Some('\n') | None => {}
                    Some(escaped) => self.word.extend(['\\', escaped]),
                },
                '\'' | '"' => self.quoted(c),
                '`' => self.substituted('`'),
                '$' if self.rest.starts_with('(') => {
                    self.word.push('$');
                    self.next();
                    self.substituted(')');
                }
                '#' if self.word.is_empty() => {
                    self.rest = self.rest.find('\n').and_then(|end| self.rest.get(end..)).unwrap_or_default();
                }
                '>' | '<' => self.redirected(c),
                '&' if self.rest.starts_with('>') => self.end_of_word(),
                '&' | '|' | ';' | '\n' => {
                    let is_double = self.rest.starts_with(c) && c != '\n';
                    if is_double || c == '|' && self.rest.starts_with('&') {
                        self.next();
                    }
                    self.end_of_command(match c {
                        '&' if is_double => '+',
                        '|' if is_double => '/',
                        '\n' => ';',
                        c => c,
                    });
                    if c == '\n' {
                        self.here_documents();
                    }
                }
                '(' | ')' => self.end_of_command(' '),
                c if c.is_whitespace() => self.end_of_word(),
                c => self.word.push(c),
            }
        }
        self.end_of_command(';');
    }

    fn next(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let next = chars.next();
        self.rest = chars.as_str();
        next
    }

    /// Reads to the end of a quote, or of the script.
    fn quoted(&mut self, quote: char) {
        self.word.push(quote);
        while let Some(c) = self.next() {
            if c == '$' && quote == '"' && self.rest.starts_with('(') {
                self.word.push('$');
                self.next();
                self.substituted(')');
                continue;
            }
            self.word.push(c);
            match c {
                '\\' if quote == '"' => self.word.extend(self.rest.chars().next()),
                c if c == quote => return,
                _ => continue,
            }
            self.next();
        }
    }

    /// Reads the script of a substitution, which is a part of the word.
    fn substituted(&mut self, end: char) {
        let mut depth = 1;
        let mut script = String::new();
        while let Some(c) = self.next() {
            depth += i32::from(c == '(' && end == ')') - i32::from(c == end);
            if depth == 0 {
                break;
            }
            script.push(c);
        }
        self.word.push_str(&format!("({script})"));
        // `$((` is arithmetic.
        self.scripts.extend(Some(script).filter(|script| !script.starts_with('(')));
    }

    fn redirected(&mut self, c: char) {
        // The number before it is that of a stream.
        if self.word.bytes().all(|byte| byte.is_ascii_digit()) {
            self.word.clear();
        }
        self.end_of_word();
        if self.rest.starts_with('(') {
            self.next();
            self.substituted(')');
        }
        let count = self.rest.chars().take_while(|more| *more == c).count();
        self.rest = self.rest.trim_start_matches([c, '&', '|']);
        self.is_end = c == '<' && count == 1;
        self.rest = if self.is_end { self.rest.strip_prefix('-').unwrap_or(self.rest) } else { self.rest };
        self.is_target = true;
    }

    fn end_of_word(&mut self) {
        if self.word.is_empty() {
            return;
        }
        let word = core::mem::take(&mut self.word);
        let is_whole = word.matches(['\'', '"']).count().is_multiple_of(2) && !word.contains(char::is_whitespace);
        let word = if is_whole { unquoted(&word) } else { word };
        match core::mem::take(&mut self.is_target) {
            true if self.is_end => self.ends.push(unquoted(&word)),
            true => {}
            false => self.words.push(word),
        }
    }

    fn end_of_command(&mut self, after: char) {
        self.end_of_word();
        self.is_target = false;
        match self.commands.last_mut() {
            _ if !self.words.is_empty() => self.commands.push((core::mem::take(&mut self.words), after)),
            // After a subshell.
            Some((_, known)) if *known == ' ' => *known = after,
            _ => {}
        }
    }

    /// Leaves out the lines of here-documents.
    fn here_documents(&mut self) {
        for end in core::mem::take(&mut self.ends) {
            while !self.rest.is_empty() {
                let (line, rest) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
                self.rest = rest;
                if line.trim() == end {
                    break;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(script: &str) -> Vec<String> {
        commands(script).iter().filter(|ran| !ran.is_wrapped).map(|ran| ran.words.join(" ")).collect()
    }

    #[test]
    fn a_line_has_the_commands_that_a_shell_runs() {
        for (script, expected) in [
            ("cargo test", "cargo test"),
            ("cd /s && RUST_LOG=x cargo  test -p x 2>&1 | tail -5", "cargo test -p x|tail -5"),
            ("set -e; cargo test > out.txt --lib", "cargo test --lib"),
            ("sudo -u root env -u B A=1 make", "make"),
            ("timeout -k 5 60 nice -n 5 make check", "make check"),
            ("nice -10 make check", "make check"),
            ("(make check)", "make check"),
            ("for i in 1 2; do make check; done", "make check"),
            ("if make check; then git push; else echo no; fi", "make check|git push|echo no"),
            ("while ! make check\ndo\nsleep 1\ndone", "make check|sleep 1"),
            ("{ make check; }", "make check"),
            ("bash -lc \"cd x && make check\"", "make check"),
            ("sudo sh -c 'sh -c \"make check\"'", "make check"),
            ("eval 'make check'", "make check"),
            ("uv run --with x pytest -q", "pytest -q"),
            ("uv run -m pytest -q", "uv run -m pytest -q"),
            ("uv run python -W error -m pytest -q", "pytest -q"),
            ("python3.12 -m pytest -q", "pytest -q"),
            ("python3 tool.py -m x", "python3 tool.py -m x"),
            ("npx -y -p x eslint .", "eslint ."),
            ("git -C sub -c a=b --no-pager push --force", "git push --force"),
            ("make -C sub check", "make check"),
            ("npm --prefix web run build", "npm run build"),
            ("cargo +nightly --locked test", "cargo test"),
            (".venv/bin/pytest -q", "pytest -q"),
            ("/usr/bin/env -S make check", "make check"),
            ("ls | xargs -n 1 -I{} make {}", "ls|make {}"),
            ("docker compose exec -u me web pytest -q", "pytest -q"),
            ("command -v make", "command -v make"),
            (
                "echo $(git rev-parse HEAD) \"$(make check)\" `make x`",
                "echo $(git rev-parse HEAD) \"$(make check)\" (make x)|git rev-parse HEAD|make check|make x",
            ),
            ("cat <<'EOF' > f && make check\nmake no\nEOF\nmake lint", "cat|make check|make lint"),
            ("cat <<< here; diff <(make a) b", "cat|diff b|make a"),
            ("make check # not make lint", "make check"),
            ("make \\\n  check && ! make lint &", "make check|make lint"),
            ("git commit -m 'a; b && c'", "git commit -m 'a; b && c'"),
            ("\"make\" 'check' a\"b\"", "make check ab"),
            ("echo $((1 + 2)) 'open", "echo $((1 + 2)) 'open"),
            ("case $x in a) make a;; esac", "make a"),
            ("cd /s", ""),
            ("timeout 60", "timeout 60"),
            (" ", ""),
            (";|&&><", ""),
        ] {
            assert_eq!(said(script).join("|"), expected, "{script}");
        }
        let deep = format!("{}make", "nice ".repeat(40));
        assert!(commands(&deep).len() < 10 && commands(&"(".repeat(9_000)).is_empty());
    }

    #[test]
    fn what_runs_a_command_is_known_after_it() {
        let all: Vec<String> = commands("uv run pytest -q").into_iter().map(|ran| ran.words.join(" ")).collect();
        assert_eq!(all, ["pytest -q", "uv run pytest -q"]);
    }

    #[test]
    fn a_command_has_passed_with_its_line_only_if_the_line_says_so() {
        for (script, expected) in [
            ("make a && make b", "make a|make b"),
            ("make a; make b", "make b"),
            ("set -e; make a; make b", "make a|make b"),
            ("make a | tail -5", "tail -5"),
            ("set -euo pipefail; make a | tail -5", "make a|tail -5"),
            ("make a && make b | tail", "make a|tail"),
            ("make a || true", ""),
            ("make a || make b && make c; make d", "make d"),
            ("make a &", ""),
            ("! make a", ""),
            ("for x in a; do make $x; done", ""),
            ("(make a; make b) && make c", "make b|make c"),
            ("bash -c 'make a && make b' && make c", "make a|make b|make c"),
            ("bash -c 'make a' | tail", "tail"),
            ("echo $(make a)", "echo $(make a)"),
        ] {
            let sure = commands(script).into_iter().filter(|ran| ran.decides && !ran.is_wrapped);
            let sure: Vec<String> = sure.map(|ran| ran.words.join(" ")).collect();
            assert_eq!(sure.join("|"), expected, "{script}");
        }
    }

    #[test]
    fn a_script_of_several_lines_is_one_line_and_another_script_another() {
        for (script, expected) in [
            ("cd web\nnpm test", "cd web; npm test"),
            ("# tests\n\nset -e\npytest \\\n  -q a.py\n", "set -e; pytest -q a.py"),
            ("make a &&\n  make b", "make a && make b"),
            ("if true; then\nmake a\nfi", "if true; then make a; fi"),
            ("cat > x <<EOF\nEOF\nmake a", "cat > x <<EOF; make a"),
            ("mkdir out\n# it's the build\nnpm test # don't\nls", "mkdir out; npm test; ls"),
            ("sed -i \"s/can't/cannot/\" f\npytest -q", "sed -i \"s/can't/cannot/\" f; pytest -q"),
        ] {
            assert_eq!(on_one_line(script), expected);
            assert_eq!(on_one_line(expected), expected);
        }
        let long = "pytest tests/test_a_long_name.py ".repeat(9);
        for (one, other) in [
            ("python - <<'EOF'\nimport a\nEOF\nmake", "python - <<'EOF'\nimport b\nEOF\nmake"),
            ("python -c \"\nimport a\"", "python -c \"\nimport b\""),
            (&(long.clone() + "a"), &(long.clone() + "b")),
            (
                "git commit -m \"$(cat <<'EOF'\nIt's a.\nEOF\n)\" && make a",
                "git commit -m \"$(cat <<'EOF'\nIt's a.\nEOF\n)\" && make b",
            ),
        ] {
            let [one, other] = [one, other].map(on_one_line);
            assert!(one != other && one.chars().count() <= MAX_LINE_CHARS && !one.contains('\n'), "{one} {other}");
            assert!(!commands(&one).iter().zip(commands(&other)).all(|(one, other)| *one == other), "{one} {other}");
            assert!(!one.starts_with("git") || said(&one).contains(&"make a".to_string()), "{one}");
        }
    }

    #[test]
    fn a_run_of_all_tests_covers_a_part_of_them() {
        for (one, other, expected) in [
            ("pytest -q", "pytest -q", true),
            ("uv run pytest -q", "timeout 60 pytest tests/test_a.py", true),
            ("pytest tests/test_a.py", "pytest", false),
            ("pytest tests/test_a.py -q", "pytest tests/test_a.py::test_x -q", true),
            ("pytest tests/a", "pytest tests/ab", false),
            ("go test ./...", "go test ./parser", true),
            ("ruff check .", "ruff check src", true),
            ("npm run test", "npm test", true),
            ("cargo test --no-run", "cargo test", false),
            ("go test ./...", "go test -race ./...", false),
            ("go test -race ./...", "go test -race ./parser", true),
            ("cargo build", "cargo build --features=a", false),
            ("make", "make test", false),
            ("git push", "git push --force", false),
            ("cd web && npm test", "cd api && npm test", false),
            ("cd ../shop-2 && npm test", "cd ./web && npm test", false),
            ("cd /s/web && npm test", "cd web && npm test", false),
            ("cd web/ && cd ../api && npm test", "cd ./api && npm test", true),
            ("cd ../wt && cd web && npm test", "cd web && npm test", false),
            ("pytest -ra --tb=short --maxfail 1 -n auto --cov=app", "pytest -q", true),
            ("pytest tests/test_a.py --tb short", "pytest tests/test_a.py", true),
            ("pytest tests", "pytest tests/test_a.py", true),
            ("pytest -x cart", "pytest", false),
            ("pytest --lf", "pytest", false),
            ("for t in a; do pytest $t; done", "for t in a b; do pytest $t; done", false),
            ("export DB=x; pytest", "pytest", false),
            ("ls a | xargs pytest", "ls a b | xargs pytest", false),
            ("pytest tests/test_a.py tests/test_b.py", "pytest tests/test_a.py", true),
            ("mypy app", "mypy app tests", false),
            ("make -n test", "make test", false),
            ("mvn test -DskipTests", "mvn test", false),
            ("npm test", "npm test -w web", false),
            ("ruff check .", "ruff check --select ALL .", false),
            ("pytest …a1b2c3", "pytest", false),
            ("pytest", "pytest …a1b2c3", true),
            ("npm test -- --project=web", "npm test", false),
            ("go test ./... -count=1", "go test ./...", true),
            ("cargo test --workspace", "cargo test -p shop", true),
            ("ruff check . --fix", "ruff check", true),
            ("npx eslint . --max-warnings 0", "npx eslint .", true),
        ] {
            let [one, other] = [one, other].map(|line| commands(line).swap_remove(0));
            assert_eq!(Ran { decides: true, ..one.clone() }.covers(&other), expected, "{one:?} {other:?}");
        }
        let tests = [
            "npm run lint",
            "./run_tests.sh",
            "python -m unittest",
            "go test ./...",
            "cargo nextest run",
            "node --test",
        ];
        assert!(tests.iter().all(|line| commands(line).iter().any(Ran::is_test)));
        assert!(
            !["ls tests", "cat test.py", "python tool.py", "curl x/test"]
                .iter()
                .any(|line| commands(line)[0].is_test())
        );
    }
}
