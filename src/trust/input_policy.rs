//! [`InputPolicy`]: the policy of a memory, which all text in a command must pass.
//!
//! Commands check their arguments first, so that an error names the argument. Then the bytes of each file are checked
//! as they will be stored, because only that finds a secret that two harmless pieces of text make when joined.
//! [`Screened`] and [`Removal`] are the proof of this check, and the engine changes no file without one.

use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use atomic_refcell::AtomicRefCell;
use core::ops::Range;

use saddlebag_sanitize::{Echo, FoundSecret, echo, redact, secrets_in};
use saddlebag_words::words;

use super::for_model::ForModel;
use super::provenance::{Provenance, TrustState, mark};
use crate::part::SlicePart;
use crate::protocol::{Error, ErrorCode};
use crate::store::{Layout, RelPath, is_instructions};

/// Policy for the text that a memory accepts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrustConfig {
    /// Provenance of the text in commands. A command can name a less trusted provenance, never a more trusted one.
    /// Only a memory that is opened for a person can approve.
    pub provenance: Provenance,
    /// Policy for secrets.
    pub secrets: SecretPolicy,
}

/// Policy for text with a secret.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SecretPolicy {
    /// Refuses the text. The error names the rule.
    #[default]
    Refuse,
    /// Stores the text with `[redacted: RULE]` in place of the secret.
    Redact,
    /// Stores the text unchanged.
    Allow,
}

words!(SecretPolicy, "policy for secrets" { Refuse = "refuse", Redact = "redact", Allow = "allow" });

impl TrustConfig {
    /// Returns the provenance of a tool's text: `tool`, or a less trusted one if that is configured.
    pub(crate) fn of_tool(self) -> Provenance {
        self.provenance.max(Provenance::Tool)
    }

    /// Returns the provenance of a command's text.
    pub(crate) fn provenance_of(&self, asked: Option<Provenance>) -> Result<Provenance, Error> {
        match asked {
            Some(asked) if asked < self.provenance => {
                let own = self.provenance;
                let message = format!("the provenance `{asked}` is not permitted: this memory was opened for `{own}`");
                Err(Error::new(
                    ErrorCode::NotPermitted,
                    message,
                    "leave the provenance out, or give a less trusted one",
                ))
            }
            asked => Ok(asked.unwrap_or(self.provenance)),
        }
    }

    /// Refuses an action that is reserved for a person. `what` is a verb with its object.
    pub(crate) fn check_person(&self, what: &str) -> Result<(), Error> {
        match self.provenance {
            Provenance::User => Ok(()),
            other => {
                let message = format!("only a person may {what}, and this memory was opened for `{other}`");
                Err(Error::new(ErrorCode::NotPermitted, message, "ask the person who owns the memory to do it"))
            }
        }
    }
}

/// Bytes that may be stored.
///
/// The engine writes nothing else. They have passed a [`InputPolicy`], or are our own record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Screened(Vec<u8>);

impl Screened {
    /// Wraps a record without text of a command: a number, or a built-in template.
    pub(crate) fn ours(record: Vec<u8>) -> Self {
        Self(record)
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Permission to remove a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Removal(());

impl Removal {
    /// Permission for a file whose text another file has, or that is our own record.
    pub(crate) const OF_COPY: Self = Self(());
    /// Permission for an entry that has expired.
    pub(crate) const OF_EXPIRED: Self = Self(());
}

/// Policy of a memory, and a record of the changes that it made to the text of one command.
#[derive(Clone, Debug)]
pub(crate) struct InputPolicy {
    config: TrustConfig,
    /// Layout of the memory; `None` in tests of the policy alone.
    layout: Option<Layout>,
    done: Arc<AtomicRefCell<Done>>,
}

/// Changes that were made to text, for the reply.
#[derive(Debug, Default)]
struct Done {
    redacted: Vec<&'static str>,
    echoes: bool,
    /// Rules that match a secret that a change has removed from a file.
    removed: Vec<&'static str>,
}

/// Maximum distance from a change, in bytes, at which a secret may begin or end that the change completes. It exceeds
/// the longest token of any rule.
const SECRET_REACH: usize = 32 << 10;

impl InputPolicy {
    pub(crate) fn new(config: TrustConfig) -> Self {
        Self { config, layout: None, done: Arc::default() }
    }

    /// Creates the policy for the files of a scope.
    pub(crate) fn for_scope(config: TrustConfig, layout: Layout) -> Self {
        Self { layout: Some(layout), ..Self::new(config) }
    }

    /// Checks the new bytes of a file. `before` are its old bytes; `None` for a new file.
    pub(crate) fn file(&self, path: &RelPath, before: Option<&[u8]>, after: Vec<u8>) -> Result<Screened, Error> {
        self.check_trust_state(path, before, Some(&after))?;
        self.moved(path, before, after)
    }

    /// Checks like [`file`](Self::file), for an edit by hand. Only a person may change the recorded provenance. An approval
    /// is for the text that a person has seen, so the edit of anyone else takes it away.
    pub(crate) fn edited(&self, path: &RelPath, before: &str, after: String) -> Result<Screened, Error> {
        if self.config.provenance != Provenance::User && TrustState::from_text(before) != TrustState::from_text(&after)
        {
            let message = "the edit changes the recorded provenance of the file";
            let help = "leave `provenance` and `approved` unchanged";
            return Err(Error::new(ErrorCode::NotPermitted, message, help));
        }
        let after = match self.takes_approval_away(path, TrustState::from_text(before)) && before != after {
            false => after,
            true => mark(&after, TrustState::from_text(before).provenance).ok_or_else(|| {
                let message = format!("{path} is approved, and its frontmatter cannot be changed");
                let help = "ask a person to edit it, or store the new text as a separate note";
                Error::new(ErrorCode::NotPermitted, message, help)
            })?,
        };
        self.file(path, Some(before.as_bytes()), after.into_bytes())
    }

    /// Returns true if a change of a note's text by this memory takes the approval of the text away. Long-term memory, the
    /// scratchpad and the logs keep it, because agents write into them every day.
    pub(crate) fn takes_approval_away(&self, path: &RelPath, before: TrustState) -> bool {
        let is_note = self
            .layout
            .as_ref()
            .is_none_or(|layout| !layout.is_kept(path) && path.parent().as_ref() != Some(layout.daily_folder()));
        self.config.provenance != Provenance::User
            && is_note
            && !before.provenance.is_trusted()
            && before.approved.is_some()
    }

    /// Checks like [`file`](Self::file), for text that keeps its trust: it is moved, counted or approved.
    pub(crate) fn moved(&self, path: &RelPath, before: Option<&[u8]>, after: Vec<u8>) -> Result<Screened, Error> {
        self.check_place(path)?;
        if before.is_none() {
            self.name("the name of the file", path.as_str())?;
        }
        self.without_new_secrets(path, before.unwrap_or_default(), after).map(Screened)
    }

    /// Checks bytes that are added at the end of a file, on a separate line.
    pub(crate) fn added(&self, path: &RelPath, addition: Vec<u8>) -> Result<Screened, Error> {
        self.needs_trust(path.as_str())?;
        self.moved(path, None, addition)
    }

    /// Checks the bytes of a backup, which replace the text of the file.
    pub(crate) fn restored(&self, path: &RelPath, before: Option<&[u8]>, kept: Vec<u8>) -> Result<Screened, Error> {
        self.check_place(path)?;
        self.check_trust_state(path, before, Some(&kept))?;
        Ok(Screened(kept))
    }

    /// Checks the removal of a file with this text.
    pub(crate) fn removed(&self, path: &RelPath, before: &[u8]) -> Result<Removal, Error> {
        self.check_place(path)?;
        self.check_trust_state(path, Some(before), None)?;
        self.note_removed(&secrets_in(&String::from_utf8_lossy(before)));
        Ok(Removal(()))
    }

    /// Checks the removal of a file with this text, which gets another name.
    pub(crate) fn renamed(&self, from: &RelPath, text: &[u8], to: &RelPath) -> Result<Removal, Error> {
        self.check_place(from)?;
        self.check_place(to)?;
        self.check_trust_state(from, Some(text), None)?;
        self.name("the new name of the file", to.as_str())?;
        Ok(Removal(()))
    }

    /// Checks the removal of text with this record.
    pub(crate) fn removed_of(&self, path: &RelPath, trust_state: TrustState) -> Result<Removal, Error> {
        self.check_place(path)?;
        self.check_replaced(path, trust_state)?;
        Ok(Removal(()))
    }

    /// Refuses a change of a file that agents take instructions from, or that other projects read, unless a person
    /// makes it.
    pub(crate) fn check_place(&self, path: &RelPath) -> Result<(), Error> {
        let provenance = self.config.provenance;
        if provenance == Provenance::User {
            return Ok(());
        }
        if let Some(layout) = self.layout.as_ref().filter(|layout| layout.is_shared_with_other_projects(path)) {
            let message = format!("`{path}` is shared by all projects, and this memory writes only for its project");
            let help = format!(
                "write to long_term, which is {}; the shared file is for a person, or for a memory that is opened with \
                 `--scope all`",
                layout.long_term()
            );
            return Err(Error::new(ErrorCode::NotPermitted, message, help));
        }
        if !is_instructions(path) {
            return Ok(());
        }
        let message = format!(
            "{path} is a file that agents take instructions from, and this memory was opened for `{provenance}`"
        );
        let help = "choose another name, or ask the person who owns the memory to change it";
        Err(Error::new(ErrorCode::NotPermitted, message, help))
    }

    /// Refuses text of tools and imports in a file that is trusted, or that cannot record its provenance.
    fn check_trust_state(&self, path: &RelPath, before: Option<&[u8]>, after: Option<&[u8]>) -> Result<(), Error> {
        if self.config.provenance.is_trusted() {
            return Ok(());
        }
        if let Some(before) = before {
            self.check_replaced(path, TrustState::from_bytes(before))?;
        }
        match after {
            Some(after) if TrustState::from_bytes(after).unapproved().is_none() => self.needs_trust(path.as_str()),
            _ => Ok(()),
        }
    }

    fn check_replaced(&self, path: &RelPath, before: TrustState) -> Result<(), Error> {
        let provenance = self.config.provenance;
        if provenance.is_trusted() || before.unapproved().is_some() {
            return Ok(());
        }
        let message = format!("text of `{provenance}` cannot change or remove {path}, whose text is trusted");
        let help = "keep it as a note with `remember`, or as an entry with `entry store`, under another name";
        Err(Error::new(ErrorCode::NotPermitted, message, help))
    }

    /// Removes or refuses secrets that `before` does not have. Only the changed part and its surroundings are
    /// searched.
    fn without_new_secrets(&self, path: &RelPath, before: &[u8], after: Vec<u8>) -> Result<Vec<u8>, Error> {
        if self.config.secrets == SecretPolicy::Allow {
            return Ok(after);
        }
        let (old, new) = differing(before, &after);
        let text = String::from_utf8_lossy(after.part(new.clone()));
        let known = String::from_utf8_lossy(before.part(old));
        self.note_removed(&secrets_beside(&known, &text));
        let found = secrets_beside(&text, &known);
        if found.is_empty() {
            return Ok(after);
        }
        let is_text = text.len() == new.len();
        if self.config.secrets == SecretPolicy::Refuse || !is_text {
            return Err(refused(path.as_str(), &found));
        }
        self.note_redacted(&found);
        let (start, end) = (after.part(..new.start), after.part(new.end..));
        Ok([start, redact(&text, &found).as_bytes(), end].concat())
    }

    /// Records the secrets that a change removes from a file. It does not remove them from backups.
    fn note_removed(&self, found: &[FoundSecret]) {
        add_rules(&mut self.done.borrow_mut().removed, found);
    }

    fn note_redacted(&self, found: &[FoundSecret]) {
        add_rules(&mut self.done.borrow_mut().redacted, found);
    }

    /// Checks text to store: removes blocks of memory, and applies the policy for secrets.
    pub(crate) fn text(&self, what: &str, text: String) -> Result<String, Error> {
        let text = match echo(&text) {
            Echo::Nothing => text,
            Echo::Blocks(rest) => self.without_echo(what, rest)?,
            Echo::Section(line, _) => {
                let message = format!("{what} contains a part of the memory block, which begins with `{line}`");
                let help = "store only new text, without text that memory already has";
                return Err(Error::invalid_argument(message, help));
            }
        };
        self.without_secrets(what, text)
    }

    /// Checks text that would be lost if it were refused: sections of the block are removed as well.
    pub(crate) fn summary(&self, what: &str, text: String) -> Result<String, Error> {
        let text = match echo(&text) {
            Echo::Nothing => text,
            Echo::Blocks(rest) | Echo::Section(_, rest) => self.without_echo(what, rest)?,
        };
        self.without_secrets(what, text)
    }

    fn without_echo(&self, what: &str, rest: String) -> Result<String, Error> {
        if rest.trim().is_empty() {
            let message = format!("{what} has no text except the memory block");
            return Err(Error::invalid_argument(message, "memory already has this text"));
        }
        self.done.borrow_mut().echoes = true;
        Ok(rest)
    }

    /// Checks text from elsewhere: applies the policy for secrets only.
    pub(crate) fn without_secrets(&self, what: &str, text: String) -> Result<String, Error> {
        if self.config.secrets == SecretPolicy::Allow {
            return Ok(text);
        }
        let found = secrets_in(&text);
        if found.is_empty() {
            return Ok(text);
        }
        if self.config.secrets == SecretPolicy::Refuse {
            return Err(refused(what, &found));
        }
        self.note_redacted(&found);
        Ok(redact(&text, &found))
    }

    /// Checks a name, a title or a tag, which is stored unchanged or not at all.
    pub(crate) fn name(&self, what: &str, text: &str) -> Result<(), Error> {
        let found = match self.config.secrets {
            SecretPolicy::Allow => Vec::new(),
            _ => secrets_in(text),
        };
        if found.is_empty() { Ok(()) } else { Err(refused(what, &found)) }
    }

    /// Refuses text of a tool or an import in a place without frontmatter, which could not record the provenance.
    pub(crate) fn needs_trust(&self, place: &str) -> Result<(), Error> {
        let provenance = self.config.provenance;
        if provenance.is_trusted() {
            return Ok(());
        }
        let message = format!("text of `{provenance}` cannot be stored in {place}, which cannot record its provenance");
        let help = "keep it as a note with `remember`, or as an entry with `entry store`";
        Err(Error::new(ErrorCode::NotPermitted, message, help))
    }

    /// Adds a report of the changes to a message, once.
    pub(crate) fn tell(&self, message: &mut ForModel) {
        message.push_escaped(&self.told());
    }

    /// Returns the report of the changes as the end of a message; empty if it was reported before.
    pub(crate) fn told(&self) -> String {
        let mut message = String::new();
        let Done { redacted, echoes, removed } = core::mem::take(&mut *self.done.borrow_mut());
        if !redacted.is_empty() {
            message.push_str(&format!(" (redacted: {})", redacted.join(", ")));
        }
        if echoes {
            message.push_str(" (left out: text of the memory block)");
        }
        if !removed.is_empty() {
            let rules = removed.join(", ");
            message.push_str(&format!(
                " (warning: a secret was removed, by the rule {rules}; its backup and the index in .saddlebag/index \
                 may still have it: delete them, and change the secret)"
            ));
        }
        message
    }
}

/// Returns the ranges in which two versions of a file differ, extended as far as a secret can reach.
fn differing(before: &[u8], after: &[u8]) -> (Range<usize>, Range<usize>) {
    let shortest = before.len().min(after.len());
    let same_start = before.iter().zip(after).take_while(|(a, b)| a == b).count();
    let same_tail = before.iter().rev().zip(after.iter().rev()).take_while(|(a, b)| a == b).count();
    let same_end = same_tail.min(shortest - same_start);
    let range = |text: &[u8]| {
        let is_boundary = |at: &usize| text.get(*at).is_none_or(|byte| byte & 0xC0 != 0x80);
        let start = same_start.saturating_sub(SECRET_REACH);
        let end = (text.len() - same_end).saturating_add(SECRET_REACH).min(text.len());
        let start = (0..=start).rev().find(is_boundary).unwrap_or(0);
        let end = (end..=text.len()).find(is_boundary).unwrap_or(text.len());
        start..end
    };
    (range(before), range(after))
}

/// Returns the secrets that occur more often in text than in another one.
fn secrets_beside(text: &str, other: &str) -> Vec<FoundSecret> {
    let mut found = secrets_in(text);
    if found.is_empty() {
        return found;
    }
    let mut known: Vec<&str> = secrets_in(other).into_iter().filter_map(|secret| other.get(secret.range)).collect();
    found.retain(|secret| {
        let place = known.iter().position(|known| text.get(secret.range.clone()) == Some(known));
        place.map(|place| known.swap_remove(place)).is_none()
    });
    found
}

/// Adds the rules that matched, each once.
fn add_rules(rules: &mut Vec<&'static str>, found: &[FoundSecret]) {
    for secret in found {
        if !rules.contains(&secret.rule) {
            rules.push(secret.rule);
        }
    }
}

/// Returns the error, which names the rule and never the secret.
fn refused(what: &str, found: &[FoundSecret]) -> Error {
    let mut rules = Vec::new();
    add_rules(&mut rules, found);
    let message = format!("{what} contains a secret, by the rule {}", rules.join(", "));
    let help = "store the place of the secret, not the secret; a person may set `secrets` to `redact` or `allow`";
    Error::new(ErrorCode::Secret, message, help)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = concat!("AKIA", "QWERTYUIOPASDFGH");

    fn screen(secrets: SecretPolicy) -> InputPolicy {
        InputPolicy::new(TrustConfig { secrets, ..TrustConfig::default() })
    }

    #[test]
    fn the_error_names_the_rule_and_not_the_secret() {
        let error = screen(SecretPolicy::Refuse).text("content", format!("the key is {KEY}.")).unwrap_err();
        assert_eq!(error.code, ErrorCode::Secret);
        assert_eq!(error.message, "content contains a secret, by the rule aws-access-token");
        assert!(!error.help.contains(KEY));
        assert!(screen(SecretPolicy::Refuse).name("key", KEY).is_err());
        assert!(screen(SecretPolicy::Redact).name("key", KEY).is_err());
    }

    #[test]
    fn a_secret_is_redacted_or_kept_by_policy() {
        let redacting = screen(SecretPolicy::Redact);
        let text = redacting.text("content", format!("a {KEY} b {KEY}")).unwrap();
        assert_eq!(text, "a [redacted: aws-access-token] b [redacted: aws-access-token]");
        let mut message = ForModel::ours("Wrote it");
        redacting.tell(&mut message);
        assert_eq!(message, "Wrote it (redacted: aws-access-token)");
        let allowing = screen(SecretPolicy::Allow);
        assert_eq!(allowing.text("content", KEY.into()).as_deref(), Ok(KEY));
        allowing.tell(&mut message);
        assert_eq!(message, "Wrote it (redacted: aws-access-token)");
    }

    #[test]
    fn the_block_is_left_out_and_a_summary_is_never_lost_for_a_part_of_it() {
        let screen = screen(SecretPolicy::Refuse);
        let section = "new\n## Scratchpad (open items)\n- [ ] old";
        assert_eq!(screen.text("content", section.into()).unwrap_err().code, ErrorCode::InvalidArgument);
        assert_eq!(screen.summary("summary", section.into()).as_deref(), Ok("new\n"));
        let mut message = ForModel::default();
        screen.tell(&mut message);
        assert_eq!(message, " (left out: text of the memory block)");
        assert!(screen.summary("summary", "## Scratchpad (open items)\n- [ ] old".into()).is_err());
    }

    #[test]
    fn a_command_can_only_name_what_is_trusted_less() {
        for own in Provenance::ALL {
            let config = TrustConfig { provenance: own, ..TrustConfig::default() };
            assert_eq!(config.provenance_of(None), Ok(own));
            for asked in Provenance::ALL {
                assert_eq!(config.provenance_of(Some(asked)).is_ok(), asked >= own, "{asked} of {own}");
            }
            assert_eq!(config.check_person("approve text").is_ok(), own == Provenance::User);
        }
    }
}
