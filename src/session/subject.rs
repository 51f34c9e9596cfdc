//! [`Subject`]: a file that a tool is about to write, or a command that it is about to run, and the text that names it.

use super::shell::commands;
use crate::search::ranked::everyday_key;
use saddlebag_collections::prelude::*;
use saddlebag_markdown::{Note, Value, head, one_line};

/// Maximum size of the text that is quoted from an item, in bytes.
const MAX_EXCERPT_BYTES: usize = 300;
/// Maximum number of words at the beginning of a command that say what it does, such as `npm run build`.
const MAX_HEAD_WORDS: usize = 3;

/// Maximum number of commands of a line that are looked for, so that a long line costs no more time than a prompt.
const MAX_COMMANDS: usize = 8;

/// Minimum number of characters of a word of a name, and maximum number of such words.
const MIN_WORD_CHARS: usize = 3;
const MAX_NAME_WORDS: usize = 16;

/// Names of files, without extension, that many folders have. Such a name says which file is meant only with a folder.
const COMMON_NAMES: &str = "__init__|__main__|app|build|cargo|changelog|config|conftest|index|init|lib|license|main|makefile|mod|\
    package|readme|setup|test|tests|types|utils";
/// What a tool is about to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Subject {
    /// Writes a file: its path relative to the project.
    File(String),
    /// Runs a command: its words, without what prepares it or runs it, and without redirections.
    Command(Vec<String>),
}

impl Subject {
    /// Returns the first command of a command line; `None` if there is none.
    pub(super) fn command(line: &str) -> Option<Self> {
        Self::commands(line).into_iter().next()
    }

    /// Returns the commands of a command line, at most [`MAX_COMMANDS`], those first that other programs run.
    pub(super) fn commands(line: &str) -> Vec<Self> {
        let mut found: Vec<Vec<String>> = Vec::new();
        for ran in commands(line) {
            if !found.contains(&ran.words) {
                found.push(ran.words);
            }
        }
        found.into_iter().take(MAX_COMMANDS).map(Self::Command).collect()
    }

    /// Returns the name under which a session knows the subject: the path, or the words that say what a command does.
    pub(super) fn name(&self) -> String {
        match self {
            Self::File(path) => path.clone(),
            Self::Command(words) => words.get(..head_words(words)).unwrap_or(words).join(" "),
        }
    }

    /// Returns the query that finds items which may name the subject.
    pub(super) fn query(&self) -> String {
        let phrase = match self {
            Self::File(path) => {
                let name = file_name(path);
                let with_folder = path.rsplit('/').nth(1).map(|folder| format!("{folder}/{name}"));
                with_folder.filter(|_| is_common(name)).unwrap_or_else(|| name.to_owned())
            }
            Self::Command(words) => words.get(..head_words(words).min(2)).unwrap_or(words).join(" "),
        };
        format!("\"{}\"", phrase.replace('"', " "))
    }

    /// Returns the text of an item that names the subject, on one line; `None` if none does.
    ///
    /// This is the line with the name. If a title or a heading has the name, this is the line after it. `body` is the text
    /// of the item that may be shown.
    pub(super) fn excerpt(&self, title: &str, note: &Note, body: &str) -> Option<String> {
        let mut is_fenced = false;
        let mut is_named_above = self.is_named_in(title, false);
        let mut heading = is_named_above.then_some(title);
        for line in body.lines().filter(|line| !line.trim().is_empty()) {
            if line.trim_start().starts_with("```") {
                is_fenced = !is_fenced;
                continue;
            }
            let is_named = self.is_named_in(line, is_fenced);
            if line.starts_with('#') && !is_fenced {
                if is_named {
                    (is_named_above, heading) = (true, Some(line));
                }
                continue;
            }
            if is_named || is_named_above {
                // Such a note counts how often an error occurred, and a person may add below it what helps.
                let count = match note.frontmatter.value("count") {
                    Some(Value::Integer(count)) if *count > 0 => Some(format!("occurred {count} times: ")),
                    _ => None,
                };
                let text = one_line(if count.is_some() { body } else { line });
                return Some(count.unwrap_or_default() + &self.part(&text));
            }
        }
        heading.map(|heading| self.part(&one_line(heading.trim_start_matches('#'))))
    }

    /// Returns the part of a long line that names the subject, from the beginning of its sentence on.
    fn part(&self, line: &str) -> String {
        let line = line.trim().trim_start_matches("- ");
        if line.len() <= MAX_EXCERPT_BYTES {
            return line.to_owned();
        }
        let starts = core::iter::once(0).chain(line.match_indices(". ").map(|(at, _)| at + 2));
        let parts: Vec<&str> = starts.filter_map(|start| line.get(start..)).collect();
        let last = parts.iter().rposition(|part| self.is_named_in(part, false)).unwrap_or(0);
        let start = parts.get(last).copied().unwrap_or(line);
        let end = head(start, MAX_EXCERPT_BYTES);
        let (before, after) = (if last > 0 { "… " } else { "" }, if end.len() < start.len() { "…" } else { "" });
        format!("{before}{end}{after}")
    }

    /// Returns true if a line names the subject. `is_code` marks a line of a block of code.
    fn is_named_in(&self, line: &str, is_code: bool) -> bool {
        match self {
            Self::File(path) => {
                let name = file_name(path);
                let is_named = |line: &str| line.match_indices(name).any(|(at, _)| is_file_at(line, at, path, name));
                is_named(line) || line.contains('\\') && is_named(&unescaped(line))
            }
            Self::Command(words) => {
                let Some(program) = words.first() else { return false };
                line.match_indices(program.as_str()).any(|(at, _)| is_command_at(line, at, words, is_code))
            }
        }
    }
}

/// Names in the paths and commands of a use: what a decision about the work may be called.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Words of the names in lower case.
    words: Vec<String>,
    /// Names of several words in lower case, as they are written.
    wholes: Vec<String>,
}

impl Names {
    /// Returns the names in paths and commands.
    pub(super) fn of(subjects: &[Subject]) -> Self {
        let mut names = Self::default();
        let is_end = |c: char| c.is_whitespace() || "/=:,;\"'()<>|&".contains(c);
        for subject in subjects {
            let texts: Vec<&str> = match subject {
                Subject::File(path) => vec![path.as_str()],
                Subject::Command(words) => words.iter().map(String::as_str).collect(),
            };
            for name in texts.into_iter().flat_map(|text| text.split(is_end)).filter(|name| !name.starts_with('-')) {
                let name = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
                let words = words_of(name);
                names.wholes.extend(Some(name.to_lowercase()).filter(|_| words.len() > 1));
                names.words.extend(words);
            }
        }
        names.words.retain(|word| word.chars().count() >= MIN_WORD_CHARS);
        saddlebag_collections::order::sort_slice(&mut names.words, Ord::cmp);
        names.words.dedup();
        names.words.truncate(MAX_NAME_WORDS);
        names
    }

    /// Returns the query that finds items which may be called so; `None` for too few words.
    pub(super) fn query(&self) -> Option<String> {
        (self.words.len() > 1 || !self.wholes.is_empty()).then(|| self.words.join(" | "))
    }

    /// Returns the first line of an item if its title, its key or an alias has one of the names, or two of their words.
    pub(super) fn excerpt(&self, title: &str, note: &Note, body: &str) -> Option<String> {
        let called =
            core::iter::once(title).chain(note.aliases.iter().map(String::as_str)).collect::<Vec<_>>().join(" ");
        let stems: Vec<String> = words_of(&called).iter().map(|word| everyday_key(word)).collect();
        let mut known: Vec<String> = self.words.iter().map(|word| everyday_key(word)).collect();
        saddlebag_collections::order::sort_slice(&mut known, Ord::cmp);
        known.dedup();
        let lower = called.to_lowercase();
        let is_of_word = |c: char| c.is_alphanumeric() || c == '_';
        let is_whole = |name: &String| {
            lower.match_indices(name.as_str()).any(|(at, _)| {
                let (before, after) =
                    (lower.get(..at).unwrap_or_default(), lower.get(at + name.len()..).unwrap_or_default());
                !before.ends_with(is_of_word) && !after.starts_with(is_of_word)
            })
        };
        let is_called =
            known.iter().filter(|word| stems.contains(word)).count() > 1 || self.wholes.iter().any(is_whole);
        let line = body.lines().find(|line| !line.trim().is_empty() && !line.starts_with('#')).filter(|_| is_called)?;
        Some(head(&one_line(line), MAX_EXCERPT_BYTES).to_owned())
    }
}

/// Returns the words of a name in lower case: `CourseMailer`, `course_mailer` and `course-mailer` have the same.
fn words_of(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before = ' ';
    for c in name.chars() {
        let begins = !before.is_alphanumeric()
            || c.is_numeric() != before.is_numeric()
            || c.is_uppercase() && !before.is_uppercase();
        if c.is_alphanumeric() {
            match words.last_mut().filter(|_| !begins) {
                Some(word) => word.extend(c.to_lowercase()),
                None => words.push(c.to_lowercase().collect()),
            }
        }
        before = c;
    }
    words
}

/// Returns true if a command of a session is another form of the same command: it begins with the same words.
pub(super) fn is_form(one: &[String], other: &[String]) -> bool {
    let count = head_words(one).min(2);
    head_words(other).min(2) == count && one.get(..count) == other.get(..count) && one != other
}

/// Returns true if the file name at a place of a line is the name of this file, alone or with folders before it.
fn is_file_at(line: &str, at: usize, path: &str, name: &str) -> bool {
    let is_of_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '/' | '\\' | '@' | '~' | '+');
    let (Some(before), Some(after)) = (line.get(..at), line.get(at + name.len()..)) else { return false };
    let mut next = after.chars();
    let goes_on = match next.next() {
        Some('.') => next.next().is_some_and(char::is_alphanumeric),
        next => next.is_some_and(is_of_name),
    };
    // The names of folders may have any character, so the path itself says where the mention begins.
    let folders = path.strip_suffix(name).unwrap_or_default();
    let starts = core::iter::once(0).chain(folders.match_indices('/').map(|(slash, _)| slash + 1));
    let Some(mention) = starts.filter_map(|start| folders.get(start..)).find(|folders| before.ends_with(folders))
    else {
        return false;
    };
    let outside = before.strip_suffix(mention).unwrap_or_default();
    let outside = outside.strip_suffix("./").filter(|_| mention == folders).unwrap_or(outside);
    let is_in_code = before.ends_with('`') && after.starts_with('`');
    // A name without an extension may be any word.
    let is_certain = !mention.is_empty() || name.contains('.') || is_in_code;
    let is_whole = mention == folders || !mention.is_empty() || !is_common(name);
    !goes_on && is_certain && is_whole && !outside.ends_with(|c: char| is_of_name(c) || c == '.')
}

/// Returns true if the words at a place of a line are this command.
///
/// In code, one must begin with the other, word by word: `cargo test` is the beginning of `cargo test -p x`, which is
/// another command than `cargo test -p y`. In a sentence, the words that say what the command does must be there.
fn is_command_at(line: &str, at: usize, words: &[String], is_code: bool) -> bool {
    let (Some(before), Some(rest)) = (line.get(..at), line.get(at..)) else { return false };
    if before.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '/' | '.' | '$')) {
        return false;
    }
    let is_span = before.matches('`').count() % 2 == 1;
    let is_code = is_code || is_span || line.starts_with("    ") || before.trim() == "$";
    let rest = if is_span { rest.split('`').next().unwrap_or(rest) } else { rest };
    let is_end = |c: char| !is_code && matches!(c, '.' | ',' | ';' | ':' | '!' | '?' | ')' | '"' | '\'');
    let said: Vec<&str> = rest.split_whitespace().map(|word| word.trim_end_matches(is_end)).collect();
    let same = said.iter().zip(words).take_while(|(said, word)| **said == word.as_str()).count();
    let head = head_words(words);
    let is_whole = same == said.len() || same == words.len();
    let is_option = |word: Option<&str>| word.is_none_or(|word| word.starts_with('-'));
    if is_code {
        let next = said.get(same).copied().or(words.get(same).map(String::as_str));
        is_whole && (same >= 2 || same == 1 && head == 1 && is_option(next))
    } else {
        head >= 2 && same >= head && (is_whole || same == head && !is_option(said.get(same).copied()))
    }
}

/// Returns the number of words at the beginning of a command that say what it does.
fn head_words(words: &[String]) -> usize {
    words.iter().take(MAX_HEAD_WORDS).take_while(|word| !word.starts_with('-')).count().max(1)
}

/// Returns a line without the backslashes that Markdown or a shell puts before characters of a path.
fn unescaped(line: &str) -> String {
    let mut chars = line.chars().peekable();
    let mut out = String::new();
    while let Some(c) = chars.next() {
        let is_escape = c == '\\' && chars.peek().is_some_and(|next| !next.is_alphanumeric());
        out.extend(if is_escape { chars.next() } else { Some(c) });
    }
    out
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn is_common(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name).to_ascii_lowercase();
    COMMON_NAMES.split('|').any(|name| name == stem)
}

#[cfg(test)]
mod tests {
    use super::*;
    use saddlebag_markdown::TagSyntax;

    fn file(path: &str) -> Subject {
        Subject::File(path.into())
    }

    #[test]
    fn only_a_path_or_a_name_that_one_file_has_names_a_file() {
        for (path, line, expected) in [
            ("src/lib.rs", "Keep src/lib.rs small.", true),
            ("src/lib.rs", "Keep `./src/lib.rs:12` small", true),
            ("src/lib.rs", "Keep lib.rs small", false),
            ("src/lib.rs", "Keep mylib.rs small", false),
            ("src/lib.rs", "Keep other/src/lib.rs small", false),
            ("src/lib.rs", "See https://x.org/src/lib.rs", false),
            ("src/lib.rs", "Keep src/lib.rs.bak and src/lib.rs_old", false),
            ("lib.rs", "Keep lib.rs small", true),
            ("lib.rs", "Keep src/lib.rs small", false),
            ("src/ledger.rs", "ledger.rs rounds", true),
            ("src/ledger.rs", "myledger.rs rounds", false),
            ("a/src/ledger.rs", "src/ledger.rs rounds", true),
            ("bin/deploy", "we deploy on Friday", false),
            ("bin/deploy", "`deploy` asks twice", true),
            ("justfile", "the justfile has it", false),
            ("src/é.rs", "see é.rs", true),
            ("app/[slug]/page.tsx", "Keep `app/[slug]/page.tsx` small", true),
            ("app/[slug]/page.tsx", "Keep app/\\[slug\\]/page.tsx small", true),
            ("app/[slug]/page.tsx", "Keep app/slug/page.tsx small", false),
            ("app/(shop)/cart.tsx", "Keep ./app/(shop)/cart.tsx small", true),
            ("web/app/(shop)/cart.tsx", "Keep (shop)/cart.tsx small", true),
            ("src/my dir/a.ts", "Keep src/my dir/a.ts small", true),
            ("src/my dir/a.ts", "Keep src/my\\ dir/a.ts small", true),
            ("src/my dir/a.ts", "Keep src/xmy dir/a.ts small", false),
            ("src/$lib/b.ts", "Keep src/$lib/b.ts small", true),
            ("src/a&b/c.ts", "Keep (src/a&b/c.ts) small", true),
            ("src/{id}/it's.ts", "Keep 'src/{id}/it's.ts' small", true),
            ("src/[id]/index.ts", "Keep index.ts small", false),
        ] {
            assert_eq!(file(path).is_named_in(line, false), expected, "{path}: {line}");
        }
    }

    #[test]
    fn an_item_is_called_so_if_its_title_has_a_name_or_two_words_of_one() {
        for (subject, title, expected) in [
            (file("src/jobs/AisEta.ts"), "AIS: eta precedence", true),
            (file("src/jobs/aisEta.ts"), "Eta", false),
            (file("src/Factory/AusleiheFactory.php"), "AusleiheFactory", true),
            (file("lib/course_mailer.rb"), "Mailers of courses", true),
            (file("lib/mailer.rb"), "Mailers of courses", false),
            (file("src/tax/rates.py"), "Rates of the tax", true),
            (Subject::command("make deploy-staging").expect("a command"), "Deploy to staging", true),
            (Subject::command("npm run build").expect("a command"), "Build the image", false),
        ] {
            let note = Note::parse("Text.\n", TagSyntax::default());
            let found = Names::of(core::slice::from_ref(&subject)).excerpt(title, &note, "\nText.\nMore.\n");
            assert_eq!(found.as_deref(), expected.then_some("Text."), "{subject:?}: {title}");
        }
    }

    #[test]
    fn each_command_of_a_line_is_looked_for_up_to_a_number() {
        let names = |line: &str| -> Vec<String> { Subject::commands(line).iter().map(Subject::name).collect() };
        assert_eq!(names("cd a && git add . && docker push x/y:1; make"), ["git add .", "docker push x/y:1", "make"]);
        assert_eq!(names("timeout 9 uv run pytest -q; pytest -q"), ["pytest", "uv run pytest", "timeout 9 uv"]);
        assert_eq!(names("a; b; c; d; e; f; g; h; i").len(), MAX_COMMANDS);
        assert!(names(" ;&& ").is_empty());
    }

    #[test]
    fn only_the_same_words_name_a_command() {
        for (command, line, expected) in [
            ("cargo test", "Run `cargo test` first", true),
            ("cargo test -p x", "Run `cargo test` first", true),
            ("cargo test", "Run `cargo test -p x` first", true),
            ("cargo test -p y", "Run `cargo test -p x` first", false),
            ("cargo test -p y", "Never run cargo test alone.", true),
            ("cargo test -p y", "Never run cargo test -p x", false),
            ("cargo test", "Never run cargo test.", true),
            ("cargo test", "mycargo test, cargo testing, `cargo`", false),
            ("npm run build", "use npm run lint", false),
            ("npm run build", "use npm run build here", true),
            ("make", "make sure of it", false),
            ("make -j8", "`make` needs a clean tree", true),
            ("make", "`make release` signs", false),
            ("make", "    make -k", true),
            ("make test", "$ make test", true),
        ] {
            let subject = Subject::command(command).expect("a command");
            assert_eq!(subject.is_named_in(line, false), expected, "{command}: {line}");
        }
    }

    #[test]
    fn the_line_that_names_the_subject_is_quoted() {
        let excerpt = |subject: &Subject, text: &str| {
            let note = Note::parse(text, TagSyntax::default());
            let body = text.get(note.body.clone()).expect("a part").to_owned();
            subject.excerpt(&note.title.clone(), &note, &body)
        };
        let tax = file("src/tax.py");
        assert_eq!(excerpt(&tax, "# A\n\nfirst\n- tax.py rounds once\nlast\n").as_deref(), Some("tax.py rounds once"));
        assert_eq!(excerpt(&tax, "# Rule of tax.py\n\nRound once.\n").as_deref(), Some("Round once."));
        assert_eq!(excerpt(&tax, "# A\n\ntaxes\n"), None);
        let counted = "---\ntitle: Error\ncount: 3\n---\n\n    error in src/tax.py\n\nSet LANG first.\n";
        assert_eq!(excerpt(&tax, counted).as_deref(), Some("occurred 3 times: error in src/tax.py Set LANG first."));
        let long = format!("# A\n\n{}. In tax.py we round. {}\n", "x".repeat(400), "y".repeat(400));
        let part = excerpt(&tax, &long).expect("named");
        assert!(part.starts_with("… In tax.py we round.") && part.ends_with('…') && part.len() < 320, "{part}");
        let command = Subject::command("make").expect("a command");
        assert_eq!(excerpt(&command, "# A\n\n```\nmake -k\n```\n").as_deref(), Some("make -k"));
    }
}
