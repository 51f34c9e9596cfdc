//! Commits of git as notes, as a pure function of the output of `git log`.
//!
//! A note is made of a commit that says why: the text below the title gives a reason, or the title has a word of a
//! decision, such as "because", "instead of" or "revert". A list of what was changed is not a reason. Merges, `fixup!`
//! and the like, work in progress, commits of bots and plain releases are skipped. [`reason_to_leave_out`] is the rule.

use std::collections::BTreeSet;

use saddlebag::trust::without_private;

use super::local_paths::LocalPaths;
use super::note::{Candidate, LeftOut, MAX_CONTENT, MAX_TITLE, cut, file_list, one_line};

/// Format of `git log`: a byte that no other part of the output has, then seven fields that end in NUL, then the names of
/// the files.
pub(super) const FORMAT: &str = "--format=%x01%H%x00%at%x00%an%x00%ae%x00%P%x00%s%x00%b%x00";

const BEGIN: u8 = 1;
const FIELDS: usize = 7;

/// Maximum number of files of a commit that are read.
const MAX_READ_FILES: usize = 10_000;

/// Minimum length in bytes of text that explains a commit.
const MIN_BODY: usize = 20;

/// Words of a title that tell of a decision.
const DECISIONS: [&str; 18] = [
    "because",
    "instead of",
    "rather than",
    "in favor of",
    "in favour of",
    "revert",
    "no longer",
    "so that",
    "to avoid",
    "prefer",
    "deprecate",
    "replace",
    "switch to",
    "migrate",
    "drop support",
    "decide",
    "must not",
    "work around",
];

/// Words of text that gives a reason.
const REASONS: [&str; 45] = [
    "after",
    "although",
    "as soon as",
    "avoid",
    "because",
    "before",
    "breaks",
    "broke",
    "bug",
    "but",
    "cannot",
    "confus",
    "could",
    "crash",
    "deadlock",
    "even if",
    "fail",
    "hang",
    "however",
    "if",
    "instead",
    "leak",
    "lost",
    "must",
    "needs",
    "never",
    "not",
    "only",
    "otherwise",
    "prevent",
    "race",
    "rather",
    "should",
    "since",
    "slow",
    "so that",
    "than",
    "too",
    "unless",
    "unsafe",
    "until",
    "when",
    "while",
    "without",
    "wrong",
];

/// First words of a sentence that says what was done, and not why.
const DEEDS: [&str; 40] = [
    "add",
    "added",
    "adds",
    "allow",
    "bump",
    "bumps",
    "change",
    "changed",
    "changes",
    "clean",
    "create",
    "delete",
    "drop",
    "enable",
    "fix",
    "fixed",
    "fixes",
    "implement",
    "implements",
    "improve",
    "include",
    "introduce",
    "make",
    "merge",
    "move",
    "moved",
    "pull",
    "refactor",
    "remove",
    "removed",
    "removes",
    "rename",
    "renamed",
    "see",
    "support",
    "update",
    "updated",
    "updates",
    "use",
    "version",
];

/// Minimum number of words of a sentence that gives a reason.
const MIN_REASON_WORDS: usize = 5;

/// Prefixes of a title by conventional commits, which become tags.
const TYPES: [&str; 11] =
    ["feat", "fix", "perf", "refactor", "docs", "test", "build", "ci", "chore", "revert", "style"];

/// Names of authors, in lower case, that are programs.
const BOTS: [&str; 6] = ["dependabot", "renovate", "github-actions", "greenkeeper", "snyk-bot", "pre-commit-ci"];

/// Beginnings, in lower case, of the lines at the end of a message that name people and changes.
const TRAILERS: [&str; 14] = [
    "signed-off-by:",
    "co-authored-by:",
    "reviewed-by:",
    "acked-by:",
    "tested-by:",
    "reported-by:",
    "suggested-by:",
    "change-id:",
    "cc:",
    "refs:",
    "closes:",
    "pr-url:",
    "generated with",
    "git-svn-id:",
];

/// A commit as git reports it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Commit {
    pub(super) hash: String,
    /// Time when it was written, in seconds since 1970-01-01T00:00:00Z.
    pub(super) time: i64,
    pub(super) author: String,
    pub(super) email: String,
    pub(super) parents: usize,
    pub(super) subject: String,
    pub(super) body: String,
    pub(super) files: Vec<String>,
}

/// Parses the output of `git log`. A record without all of its fields, such as the last one of an output that was cut, is
/// dropped and counted.
pub(super) fn parse(output: &[u8]) -> (Vec<Commit>, usize) {
    let mut commits = Vec::new();
    let mut broken = 0;
    let mut rest = output;
    while let Some(at) = rest.iter().position(|&byte| byte == BEGIN) {
        rest = &rest[at + 1..];
        match fields(&mut rest).and_then(|fields| commit(&fields)) {
            Some(mut commit) => {
                // A name of a file with control characters is quoted, so the next such byte begins the next commit.
                let end = rest.iter().position(|&byte| byte == BEGIN).unwrap_or(rest.len());
                let names = rest[..end].split(|&byte| byte == b'\n').filter(|name| !name.is_empty());
                commit.files =
                    names.take(MAX_READ_FILES).map(|name| String::from_utf8_lossy(name).into_owned()).collect();
                rest = &rest[end..];
                commits.push(commit);
            }
            None => broken += 1,
        }
    }
    (commits, broken)
}

fn fields(rest: &mut &[u8]) -> Option<Vec<String>> {
    let mut fields = Vec::with_capacity(FIELDS);
    for _ in 0..FIELDS {
        let end = rest.iter().position(|&byte| byte == 0)?;
        fields.push(String::from_utf8_lossy(&rest[..end]).into_owned());
        *rest = &rest[end + 1..];
    }
    Some(fields)
}

fn commit(fields: &[String]) -> Option<Commit> {
    let [hash, time, author, email, parents, subject, body] = fields else { return None };
    let is_hash = matches!(hash.len(), 40 | 64) && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash.then_some(())?;
    Some(Commit {
        hash: hash.clone(),
        time: time.parse().ok()?,
        author: author.clone(),
        email: email.clone(),
        parents: parents.split_whitespace().count(),
        subject: subject.clone(),
        body: body.clone(),
        files: Vec::new(),
    })
}

/// Returns the reason why a commit is skipped; `None` if it becomes a note.
pub(super) fn reason_to_leave_out(commit: &Commit) -> Option<&'static str> {
    let subject = commit.subject.trim().to_lowercase();
    let text = title_of(&subject);
    if commit.parents > 1 {
        return Some("a merge");
    }
    if is_bot(commit) {
        return Some("written by a bot");
    }
    if ["fixup!", "squash!", "amend!"].iter().any(|prefix| subject.starts_with(prefix)) {
        return Some("a fixup of another commit");
    }
    let first = text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    if first == "wip" || text.starts_with("work in progress") {
        return Some("work in progress");
    }
    if text.split_whitespace().count() < 2 {
        return Some("a title of one word");
    }
    let body = explanation(&commit.body);
    if is_release(text) && body.is_empty() {
        return Some("a release without a description");
    }
    let is_breaking = subject.split_once(':').is_some_and(|(prefix, _)| prefix.ends_with('!'));
    if (body.len() >= MIN_BODY && gives_reason(&body)) || is_breaking || is_decision(&subject) {
        return None;
    }
    Some("a title without a reason")
}

/// Returns true if the text below a title says why: it has a word of a reason, or a sentence that is not only about
/// what was done.
fn gives_reason(body: &str) -> bool {
    let mut is_in_code = false;
    let mut prose = String::new();
    let mut items = String::new();
    for line in body.lines() {
        let text = line.trim();
        if text.starts_with("```") {
            is_in_code = !is_in_code;
        }
        let is_reference = text.split_whitespace().all(|word| word.starts_with(['#', '<']) || word.contains("://"));
        let is_of_tool =
            ["(cherry picked", "this reverts commit", "fixes #", "fix #", "closes #", "resolves #", "see #", "#"]
                .iter()
                .any(|start| text.to_lowercase().starts_with(start));
        if is_in_code || text.starts_with("```") || is_reference || is_of_tool || line.starts_with("    ") {
            continue;
        }
        let item = text.strip_prefix(['-', '*', '+', '•']);
        let (to, text) = match item {
            Some(item) => (&mut items, item.trim()),
            None => (&mut prose, text),
        };
        to.push_str(text);
        to.push(if item.is_some() { '\n' } else { ' ' });
    }
    if has_word_of(&prose, &REASONS)
        || has_word_of(&items, &["because", "so that", "otherwise", "instead", "avoid", "prevent"])
    {
        return true;
    }
    prose.split(". ").flat_map(|part| part.split(['!', ';'])).any(|sentence| {
        let words: Vec<String> = sentence.split_whitespace().map(str::to_lowercase).collect();
        let is_about_deed = words.first().is_some_and(|word| DEEDS.contains(&word.as_str()))
            || (words.first().is_some_and(|word| word == "this")
                && words.get(1).is_some_and(|word| {
                    ["commit", "change", "patch", "pr", "pull", "adds", "fixes"].contains(&word.as_str())
                }));
        words.len() >= MIN_REASON_WORDS && !is_about_deed
    })
}

/// Returns true if the text has a word that begins with one of these.
fn has_word_of(text: &str, known: &[&str]) -> bool {
    let words: String = text.to_lowercase().chars().map(|c| if c.is_alphanumeric() { c } else { ' ' }).collect();
    let words = format!(" {} ", words.split_whitespace().collect::<Vec<_>>().join(" "));
    // A short word must be a whole one.
    known.iter().any(|word| words.contains(&if word.len() > 3 { format!(" {word}") } else { format!(" {word} ") }))
}

fn is_decision(subject: &str) -> bool {
    let words: String = subject.chars().map(|c| if c.is_alphanumeric() { c } else { ' ' }).collect();
    let words = format!(" {}", words.split_whitespace().collect::<Vec<_>>().join(" "));
    DECISIONS.iter().any(|decision| words.contains(&format!(" {decision}")))
}

fn is_bot(commit: &Commit) -> bool {
    let (author, email) = (commit.author.to_lowercase(), commit.email.to_lowercase());
    author.ends_with("[bot]") || email.contains("[bot]@") || BOTS.iter().any(|bot| author.starts_with(bot))
}

fn is_release(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default();
    let is_version = |word: &str| {
        let number = word.trim_start_matches('v');
        number.contains('.') && number.starts_with(|c: char| c.is_ascii_digit())
    };
    is_version(first) || ["release", "bump", "version"].contains(&first)
}

/// Returns the title without the prefix of conventional commits.
fn title_of(subject: &str) -> &str {
    match subject.split_once(':') {
        Some((prefix, rest)) if type_of(prefix).is_some() => rest.trim(),
        _ => subject,
    }
}

/// Returns the type of a prefix such as `feat(parser)!`.
fn type_of(prefix: &str) -> Option<&'static str> {
    let word = prefix.trim().split(['(', '!']).next().unwrap_or_default();
    TYPES.into_iter().find(|known| known.eq_ignore_ascii_case(word))
}

/// Returns the text below the title, without trailers.
fn explanation(body: &str) -> String {
    let body = without_private(body);
    let is_trailer = |line: &str| {
        let line = line.trim_start_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        TRAILERS.iter().any(|trailer| line.starts_with(trailer))
    };
    let lines: Vec<&str> = body.lines().map(str::trim_end).filter(|line| !is_trailer(line)).collect();
    lines.join("\n").trim().to_string()
}

/// Returns the notes of the commits at or after a time, at most `limit`, in the order of the commits.
pub(super) fn notes(
    commits: &[Commit],
    place: &str,
    since: Option<i64>,
    limit: usize,
    left_out: &mut LeftOut,
) -> Vec<Candidate> {
    let mut notes: Vec<Candidate> = Vec::new();
    let mut seen: BTreeSet<String> = BTreeSet::new();
    for commit in commits {
        if since.is_some_and(|since| commit.time < since) {
            left_out.add("before --since", &commit.subject);
        } else if let Some(reason) = reason_to_leave_out(commit) {
            left_out.add(reason, &commit.subject);
        } else if !seen.insert(format!("{}\n{}", commit.subject.trim(), explanation(&commit.body))) {
            // The same change on two branches, or again after a revert.
            left_out.add("with the message of another commit", &commit.subject);
        } else if notes.len() == limit {
            left_out.add("over --limit", &commit.subject);
        } else {
            match note(commit, place) {
                Some(note) => notes.push(note),
                None => left_out.add("nothing is left of the message", &commit.hash),
            }
        }
    }
    notes
}

fn note(commit: &Commit, place: &str) -> Option<Candidate> {
    let paths = LocalPaths::new(None);
    let title = one_line(&paths.hidden_in(&without_private(&commit.subject)), MAX_TITLE);
    let date = date(commit.time)?;
    if title.is_empty() {
        return None;
    }
    let day = date.get(..10)?;
    let files = match commit.files.as_slice() {
        [] => String::new(),
        files => format!(" Files: {}.", file_list(files.iter().map(String::as_str))),
    };
    let facts = format!("Commit of {day}.{files}");
    let body = cut(&paths.hidden_in(&explanation(&commit.body)), MAX_CONTENT - facts.len().min(MAX_CONTENT / 2));
    let content = if body.is_empty() { facts } else { format!("{body}\n\n{facts}") };
    let mut tags = vec!["commit".to_string()];
    tags.extend(commit.subject.split_once(':').and_then(|(prefix, _)| type_of(prefix)).map(String::from));
    if is_decision(&commit.subject.to_lowercase()) {
        tags.push("decision".into());
    }
    Some(Candidate { id: format!("git {place} {}", commit.hash), title, content, tags, date })
}

/// Returns a time in RFC 3339; `None` if it has no year of four digits.
fn date(seconds: i64) -> Option<String> {
    let nanoseconds = u64::try_from(seconds).ok()?.checked_mul(1_000_000_000)?;
    Some(saddlebag::store::utc_text(nanoseconds)).filter(|text| text.len() >= 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HASH: &str = "0123456789abcdef0123456789abcdef01234567";

    fn record(subject: &str, body: &str, files: &str) -> Vec<u8> {
        format!("\u{1}{HASH}\0{}\0Ana\0ana@example.org\0p1\0{subject}\0{body}\0\n\n{files}", 1_779_700_000).into_bytes()
    }

    fn one(subject: &str, body: &str) -> Commit {
        let (mut commits, broken) = parse(&record(subject, body, "src/mail.rs\n"));
        assert_eq!(broken, 0);
        commits.pop().expect("a commit")
    }

    #[test]
    fn a_commit_becomes_a_note_with_its_text_its_files_and_its_date() {
        let body = "The server blocks us after five.\n\nSigned-off-by: Ana <ana@example.org>\n";
        let (commits, _) =
            parse(&record("feat(mail): Park mail after four attempts", body, "src/mail.rs\ndocs/mail.md\n"));
        let notes = notes(&commits, "~/shop", None, 9, &mut LeftOut::default());
        let expected = Candidate {
            id: format!("git ~/shop {HASH}"),
            title: "feat(mail): Park mail after four attempts".into(),
            content: "The server blocks us after five.\n\nCommit of 2026-05-25. Files: `src/mail.rs`, `docs/mail.md`."
                .into(),
            tags: vec!["commit".into(), "feat".into()],
            date: "2026-05-25T09:06:40Z".into(),
        };
        assert_eq!(notes, [expected]);
    }

    #[test]
    fn a_commit_that_says_why_is_a_note_and_one_that_does_not_is_none() {
        let text = "Polling kept the disk awake all night.";
        for (subject, body, reason) in [
            ("Use a queue", text, None),
            ("Use a queue instead of polling", "", None),
            ("Revert \"Use a queue\"", "", None),
            ("fix: round up, because the office rounds up", "", None),
            ("feat!: require a token", "", None),
            ("refactor: Replace the parser", "", None),
            ("Release 2.0", "This release changes the order of the fields.", None),
            ("Use a queue", "", Some("a title without a reason")),
            ("Use a queue", "Add a queue and rename the worker to sender.", Some("a title without a reason")),
            (
                "Use a queue",
                "- add a queue\n- rename the worker to sender\n- update the docs of both",
                Some("a title without a reason"),
            ),
            ("Use a queue", "Fixes #12345\nhttps://example.org/issues/12345", Some("a title without a reason")),
            ("Use a queue", "This commit adds a queue for mails.", Some("a title without a reason")),
            ("Use a queue", "- add a queue, so that no mail is lost", None),
            ("Use a queue", "Signed-off-by: Ana <a@b>", Some("a title without a reason")),
            ("Use a queue", "<private>the customer asked for it</private>", Some("a title without a reason")),
            ("fixup! Use a queue instead of polling", text, Some("a fixup of another commit")),
            ("squash! Use a queue", text, Some("a fixup of another commit")),
            ("WIP", text, Some("work in progress")),
            ("wip: a queue instead of polling", text, Some("work in progress")),
            ("chore: WIP on the queue", text, Some("work in progress")),
            ("Typo", text, Some("a title of one word")),
            ("fix: typo", text, Some("a title of one word")),
            ("v1.2.3 is out", "", Some("a release without a description")),
            ("Bump serde to 1.0", "", Some("a release without a description")),
        ] {
            assert_eq!(reason_to_leave_out(&one(subject, body)), reason, "{subject}: {body}");
        }
        let merge = Commit { parents: 2, ..one("Use a queue", text) };
        assert_eq!(reason_to_leave_out(&merge), Some("a merge"));
        for (author, email) in [("dependabot[bot]", "x@y"), ("Ana", "12+renovate[bot]@users"), ("Renovate Bot", "x@y")]
        {
            let bot = Commit { author: author.into(), email: email.into(), ..one("Use a queue", text) };
            assert_eq!(reason_to_leave_out(&bot), Some("written by a bot"), "{author}");
        }
    }

    #[test]
    fn what_is_left_out_is_counted_with_its_reason() {
        let mut commits = vec![one("Use a queue", ""), one("WIP", ""), one("a because b", ""), one("c because d", "")];
        commits.push(one("a because b", ""));
        commits.push(Commit { time: 5, ..one("e because f", "") });
        let mut left_out = LeftOut::default();
        let notes = notes(&commits, "p", Some(1_000), 1, &mut left_out);
        assert_eq!(notes.len(), 1);
        for reason in
            ["without a reason", "work in progress", "over --limit", "before --since", "with the message of another"]
        {
            assert_eq!(left_out.count(reason), 1, "{reason}: {left_out:?}");
        }
    }

    #[test]
    fn the_id_differs_and_the_text_does_not_if_a_commit_is_rebased() {
        let (first, mut second) = (one("a because b", ""), one("a because b", ""));
        second.hash = HASH.replace('0', "f");
        let note = |commit| note(commit, "p").expect("a note");
        assert_eq!(Candidate { id: String::new(), ..note(&first) }, Candidate { id: String::new(), ..note(&second) });
        assert_ne!(note(&first).id, note(&second).id);
    }

    #[test]
    fn broken_and_hostile_output_never_fails_and_gives_bounded_notes() {
        let whole = [
            record("a because b", "text \u{1} in the body, long enough to be one", "\"\\001f\"\n"),
            record("c", "", ""),
        ]
        .concat();
        let (commits, broken) = parse(&whole);
        assert_eq!((commits.len(), broken), (2, 0));
        assert_eq!(commits[0].files, ["\"\\001f\""]);
        for end in 0..whole.len() {
            let (commits, _) = parse(&whole[..end]);
            assert!(commits.len() <= 2);
        }
        let mut state = 7_u64;
        for _ in 0..2_000 {
            let mut bytes = whole.clone();
            for _ in 0..6 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let at = usize::try_from(state >> 33).expect("fits") % bytes.len();
                bytes[at] = [0, 1, b'\n', 0xff, b'9', b'<'][usize::try_from(state >> 20).expect("fits") % 6];
            }
            let (commits, _) = parse(&bytes);
            for note in notes(&commits, "p", None, 9, &mut LeftOut::default()) {
                assert!(note.title.len() <= MAX_TITLE && note.content.len() <= MAX_CONTENT + 8, "{note:?}");
            }
        }
        let long =
            Commit { files: vec!["x".repeat(9_000); 500], ..one(&"because ".repeat(9_000), &"long ".repeat(99_000)) };
        let note = note(&long, "p").expect("a note");
        assert!(note.title.len() <= MAX_TITLE && note.content.len() <= MAX_CONTENT + 8, "{}", note.content.len());
        assert_eq!(super::note(&Commit { time: -1, ..long.clone() }, "p"), None);
        assert_eq!(super::note(&Commit { time: i64::MAX, ..long }, "p"), None);
    }
}
