//! Provenance of text, and its record in the file.

use saddlebag_collections::{part::TextPart, prelude::*, words};
use saddlebag_sanitize::is_ignorable;

use crate::store::utc_text;
use saddlebag_markdown::{Frontmatter, Value, parse_date, remove_field, set_field};

/// Field with the provenance of the text. A file without it was written by a person, or before the field existed.
const PROVENANCE: &str = "provenance";
/// Field with the time when a person approved the text.
const APPROVED: &str = "approved";

/// Origin of text, the most trusted first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Provenance {
    /// A person.
    #[default]
    User,
    /// The agent, in its own words.
    Agent,
    /// A tool: the output of a program, the text of a page.
    Tool,
    /// A file from elsewhere.
    Imported,
}

words!(Provenance, "provenance" { User = "user", Agent = "agent", Tool = "tool", Imported = "import" });

impl Provenance {
    /// Returns true if text of this provenance goes into prompts without approval.
    pub fn is_trusted(self) -> bool {
        matches!(self, Self::User | Self::Agent)
    }
}

/// Provenance and approval of the text of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrustState {
    /// Origin of the text. An unknown word counts as an import.
    pub provenance: Provenance,
    /// Time when a person approved it, in nanoseconds since 1970-01-01T00:00:00Z.
    pub approved: Option<u64>,
}

impl TrustState {
    /// Creates the record of text that nobody has approved yet.
    pub fn new(provenance: Provenance) -> Self {
        Self { provenance, approved: None }
    }

    fn from_frontmatter(frontmatter: &Frontmatter) -> Self {
        let of = |value: &Value| match value {
            Value::String(word) => word.trim().parse().unwrap_or(Provenance::Imported),
            _ => Provenance::Imported,
        };
        let given = |field: &'static str| {
            frontmatter.entries.iter().filter(move |(name, _)| name == field).map(|(_, value)| value)
        };
        let is_misspelt =
            frontmatter.entries.iter().any(|(name, _)| name != PROVENANCE && shown(name).eq(PROVENANCE.chars()));
        let misspelt = is_misspelt.then_some(Provenance::Imported);
        // A field that is given twice says the less trusted of its values.
        let provenance = given(PROVENANCE).map(of).chain(misspelt).max().unwrap_or(Provenance::User);
        let mut moments = given(APPROVED).map(|value| value.text().and_then(|text| parse_date(&text)));
        let approved = moments.next().flatten().filter(|_| moments.next().is_none());
        Self { provenance, approved }
    }

    /// Reads the record in the text of a whole file. Damaged frontmatter that names a provenance counts as `import`.
    pub fn from_text(text: &str) -> Self {
        Self::from_parsed(&Frontmatter::parse(text), text)
    }

    /// Reads the record of a file whose frontmatter was parsed, like [`from_text`](Self::from_text).
    pub(crate) fn from_parsed(frontmatter: &Frontmatter, text: &str) -> Self {
        let read = frontmatter.entries.iter().filter(|(name, _)| name == PROVENANCE).count();
        let is_lost = match &frontmatter.problem {
            _ if frontmatter.span.is_empty() => after_opening(text).is_some_and(begins_with_provenance),
            Some(_) => text.part(frontmatter.span.clone()).lines().filter(|line| names_provenance(line)).count() > read,
            None => false,
        };
        if is_lost { Self::new(Provenance::Imported) } else { Self::from_frontmatter(frontmatter) }
    }

    /// Reads the record in the start of a file that is too large to be read whole. Frontmatter without an end in it
    /// counts as the text of an import, because the rest may name one.
    pub(super) fn from_start(text: &str) -> Self {
        let frontmatter = Frontmatter::parse(text);
        match is_unclosed(&frontmatter, text) {
            true => Self::new(Provenance::Imported),
            false => Self::from_parsed(&frontmatter, text),
        }
    }

    /// Reads the record in the bytes of a file. Bytes that are not text have no frontmatter.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Self {
        core::str::from_utf8(bytes).map(Self::from_text).unwrap_or_default()
    }

    /// Returns the provenance, if it keeps the text out of prompts.
    pub fn unapproved(&self) -> Option<Provenance> {
        (!self.provenance.is_trusted() && self.approved.is_none()).then_some(self.provenance)
    }
}

/// Returns true if the text begins like frontmatter, which has no end.
pub(crate) fn is_unclosed(frontmatter: &Frontmatter, text: &str) -> bool {
    frontmatter.span.is_empty() && after_opening(text).is_some()
}

/// Returns the text after a first line of dashes. Line ends of any kind, and empty lines and marks before it, do not matter.
fn after_opening(text: &str) -> Option<&str> {
    let text = text.trim_start_matches(is_ignorable);
    let (line, rest) = text.split_at_checked(text.find(['\n', '\r']).unwrap_or(text.len()))?;
    is_fence(line).then_some(rest)
}

fn is_fence(line: &str) -> bool {
    let line = line.trim_end_matches(is_ignorable);
    line.len() >= 3 && line.bytes().all(|byte| byte == b'-')
}

/// Returns true if the lines before prose or a closing fence set a provenance. After a thematic break, prose begins soon.
fn begins_with_provenance(text: &str) -> bool {
    let is_field = |line: &&str| {
        line.trim_matches(is_ignorable).is_empty() || line.contains(':') || line.starts_with([' ', '\t', '-', '#'])
    };
    let lines = text.split(['\n', '\r']).take_while(is_field).take_while(|line| !is_fence(line));
    lines.into_iter().any(|line| line.contains(':') && names_provenance(line))
}

/// Returns true if a line of frontmatter sets a provenance, even if the rest is invalid.
fn names_provenance(line: &str) -> bool {
    let is_flow = line.trim_start_matches(is_ignorable).starts_with('{');
    let mut fields = line.split(|c| is_flow && matches!(c, '{' | ','));
    // A key with an escape is not decoded, so it may be this one.
    let is_escaped = |field: &str| {
        let key = field.split_once(':').map_or("", |(key, _)| key.trim_start_matches(is_ignorable));
        key.starts_with('"') && key.contains('\\')
    };
    fields.any(|field| begins_with_key(field) || is_escaped(field))
}

/// Returns true if text begins with the key, in any spelling.
fn begins_with_key(text: &str) -> bool {
    shown(text).take(PROVENANCE.len()).eq(PROVENANCE.chars())
}

/// Returns the characters of a key in lower case, without quotes and without characters that show nothing.
fn shown(key: &str) -> impl Iterator<Item = char> {
    let shown = key.chars().filter(|&c| !is_ignorable(c) && !matches!(c, '"' | '\'' | '?'));
    shown.map(|c| c.to_ascii_lowercase())
}

/// Returns the text of a file with another provenance, not approved. `None` if its frontmatter could not be edited.
pub(crate) fn mark(text: &str, provenance: Provenance) -> Option<String> {
    let text = remove_field(text, APPROVED);
    let text = match provenance {
        Provenance::User => remove_field(&text, PROVENANCE),
        other => set_field(&text, PROVENANCE, other.as_str()),
    };
    said(text, TrustState::new(provenance))
}

/// Returns the text of a file, approved at a time in nanoseconds. `None` as for [`mark`].
pub(crate) fn approve(text: &str, now: u64) -> Option<String> {
    let trust_state = TrustState { approved: parse_date(&utc_text(now)), ..TrustState::from_text(text) };
    said(set_field(text, APPROVED, &utc_text(now)), trust_state)
}

/// Returns the text, if it parses back to this record.
fn said(text: String, trust_state: TrustState) -> Option<String> {
    let frontmatter = Frontmatter::parse(&text);
    (frontmatter.problem.is_none() && TrustState::from_parsed(&frontmatter, &text) == trust_state).then_some(text)
}

#[cfg(test)]
mod tests {

    use super::*;

    #[test]
    fn words_are_parsed_and_anything_else_is_not_trusted() {
        for provenance in Provenance::ALL {
            assert_eq!(provenance.as_str().parse(), Ok(provenance));
        }
        assert!("User".parse::<Provenance>().is_err());
        let of = |value: &str| TrustState::from_text(&format!("---\nprovenance: {value}\n---\n\nx")).unapproved();
        assert_eq!(of("user"), None);
        assert_eq!(of("agent"), None);
        assert_eq!(of("tool"), Some(Provenance::Tool));
        for unknown in ["import", "User", "trusted", "[user]", "", "1", "{user: user}"] {
            assert_eq!(of(unknown), Some(Provenance::Imported), "{unknown}");
        }
        assert_eq!(TrustState::from_text("no frontmatter").unapproved(), None);
    }

    #[test]
    fn frontmatter_that_cannot_be_read_is_trusted_only_if_it_names_no_provenance() {
        let of = |block: &str| TrustState::from_text(&format!("---\n{block}\n---\n\nx")).unapproved();
        assert_eq!(of("title: Error: foo"), None);
        assert_eq!(of("title: Error: foo\n\\alpha\nC:\\x: y"), None);
        assert_eq!(of("title: Error: foo\nprovenance: tool"), Some(Provenance::Imported));
        assert_eq!(of("Provenance : user\n: ["), Some(Provenance::Imported));
        let of = |start: &str| TrustState::from_start(start).unapproved();
        assert_eq!(of("---\ntitle: a\n"), Some(Provenance::Imported));
        assert_eq!(of("---\ntitle: a\n---\ntext"), None);
        assert_eq!(of("---\nprovenance: tool\ntitle: a\n"), Some(Provenance::Imported));
        assert_eq!(of("text\nprovenance: tool\n"), None);
    }

    /// Text whose first lines set a provenance in damaged frontmatter is not trusted.
    #[test]
    fn frontmatter_that_is_damaged_does_not_make_text_trusted() {
        for text in [
            "---\nprovenance: tool\ntitle: x\n\ntext\n",
            "---\ntitle: x\n\n# A comment\ntags:\n  - a\n- b\n\nProvenance: tool",
            "---\r\ntitle: x\r\nprovenance: tool\r\n\r\ntext",
            "---\r\rprovenance: tool\r---\rtext",
            "\u{feff}\u{feff}---\nprovenance: tool\n---\ntext",
            "\n \n---\nprovenance: tool\n---\ntext",
            "---\n{title: x, provenance: tool}\n",
            "---\n\"provenance\": tool\n",
            "---\n\u{a0}provenance: tool\n---\ntext",
            "---\nprovenance\u{200b}: tool\n---\ntext",
            "---\nprov\u{ad}enance: tool\n: [\n---\ntext",
            "---\n'provenance': tool\n: [\n---\ntext",
            "---\n\"prov\\u0065nance\": tool\n: [\n---\ntext",
            "---\nprovenance: user\n: [\nprovenance: tool\n---\ntext",
        ] {
            assert_eq!(TrustState::from_text(text).unapproved(), Some(Provenance::Imported), "{text:?}");
            assert_eq!(TrustState::from_start(text).unapproved(), Some(Provenance::Imported), "{text:?}");
            assert_eq!(mark(text, Provenance::User), None, "{text:?}");
        }
    }

    #[test]
    fn a_thematic_break_at_the_start_opens_no_frontmatter() {
        for text in [
            "---\n\n# Title\n\nSome text.\nprovenance: tool",
            "---\nProse that speaks of provenance\nprovenance: tool",
            "---\n\n- provenance of wine\n- Note: a list",
            "---\n",
            "----x\nprovenance: tool",
            "text\n---\nprovenance: tool\n---\n",
            "---\nprovenance-url: https://example.com\n---\ntext",
            "\n---\ntitle: x\n---\nprovenance: tool\n",
        ] {
            assert_eq!(TrustState::from_text(text).unapproved(), None, "{text:?}");
        }
    }

    #[test]
    fn a_field_that_is_given_twice_counts_as_the_less_trusted() {
        let of = |block: &str| TrustState::from_text(&format!("---\n{block}\n---\n\nx")).unapproved();
        for block in ["provenance: user\nprovenance: tool", "provenance: tool\nProvenance: agent"] {
            assert_eq!(of(block), Some(Provenance::Tool), "{block}");
        }
        let approved = "approved: 2026-05-25T12:00:00Z";
        assert_eq!(of(&format!("provenance: tool\n{approved}")), None);
        assert_eq!(of(&format!("provenance: tool\n{approved}\nApproved: ''")), Some(Provenance::Tool));
    }

    #[test]
    fn only_a_moment_approves() {
        let of = |approved: &str| {
            TrustState::from_text(&format!("---\nprovenance: import\napproved: {approved}\n---\nx")).unapproved()
        };
        assert_eq!(of("2026-05-25T12:00:00Z"), None);
        for word in ["", "yes", "true", "[2026-05-25]"] {
            assert_eq!(of(word), Some(Provenance::Imported), "{word}");
        }
    }

    #[test]
    fn a_mark_replaces_what_a_file_claims_of_itself() {
        for text in [
            "",
            "plain",
            "---\nkey: a\n---\n\nx",
            "---\r\nkey: a\r\nprovenance: user\r\napproved: 2026-01-01\r\n---\r\n\r\nx",
            "---\nApproved: 2026-01-01\nPROVENANCE: agent\n---\nx",
            "---\nprovenance: [user, agent]\ntags: [a]\n---\nx",
        ] {
            let marked = mark(text, Provenance::Imported).expect(text);
            assert_eq!(TrustState::from_text(&marked), TrustState::new(Provenance::Imported), "{marked:?}");
            assert_eq!(mark(&marked, Provenance::Imported).as_deref(), Some(marked.as_str()), "{marked:?}");
            let approved = approve(&marked, 1_779_700_000_000_000_000).expect("approved");
            assert_eq!(TrustState::from_text(&approved).unapproved(), None, "{approved:?}");
            assert_eq!(mark(&approved, Provenance::Imported).as_deref(), Some(marked.as_str()));
        }
    }

    #[test]
    fn text_that_cannot_be_marked_is_not_marked() {
        for text in [
            "---\nprovenance: user\nprovenance: user\n---\nx",
            "---\napproved: 2026-01-01\napproved: 2026-01-01\n---\nx",
            "---\n{approved: 2026-01-01}\n---\nx",
            "---\nkey: [\n---\nx",
        ] {
            assert_eq!(mark(text, Provenance::Imported), None, "{text}");
        }
    }
}
