//! [`InputPolicy`]: the policy of a memory, which all text in a command must pass.
//!
//! Commands check their arguments first, so that an error names the argument. Then the bytes of each file are checked
//! as they will be stored, because only that finds a secret that two harmless pieces of text make when joined. A
//! [`Change`] is the proof of this check, and the gate changes no file without one.

use atomic_refcell::AtomicRefCell;
use core::ops::Range;
use core::str::SplitWhitespace;

use saddlebag_sanitize::{Echo, FoundSecret, echo, redact, secrets_in};

use super::change::{After, Change, File};
use super::expunged_text::ExpungedText;
use crate::store::{Layout, RelPath, is_instructions};
use crate::trust::{ForModel, Provenance, SecretPolicy, TrustConfig, TrustState, Writer, mark};
use saddlebag_collections::{
    part::{SlicePart, TextPart},
    prelude::*,
};
use saddlebag_markdown::Frontmatter;
use saddlebag_protocol::{Error, ErrorCode, Precondition};

/// Policy of a memory, and a record of the changes that it made to the text of one command.
#[derive(Clone, Debug)]
pub(crate) struct InputPolicy {
    config: TrustConfig,
    layout: Layout,
    done: Arc<AtomicRefCell<Done>>,
}

/// Changes that were made to text, for the reply.
#[derive(Debug, Default)]
struct Done {
    redacted: Vec<&'static str>,
    echoes: bool,
    /// Rules that match a secret that a change has removed from a file.
    removed: Vec<&'static str>,
    /// True if trusted text was put into a file that nobody has approved.
    is_unapproved: bool,
}

/// Maximum distance from a change, in bytes, at which a secret may begin or end that the change completes. It exceeds
/// the longest token of any rule.
const SECRET_REACH: usize = 32 << 10;

impl InputPolicy {
    /// Creates the policy for the files of a scope.
    pub(crate) fn new(config: TrustConfig, layout: Layout) -> Self {
        Self { config, layout, done: Arc::default() }
    }

    /// Gives a file new bytes.
    pub(crate) fn write(&self, file: &File, after: impl Into<Vec<u8>>) -> Result<Change, Error> {
        let written = self.replace(file, file.clone(), after.into())?;
        if let (After::Whole(after), Some(_)) = (&written.after, file.trust_state().unapproved()) {
            self.note_unapproved(TrustState::from_bytes(after));
        }
        Ok(written)
    }

    /// Creates a file in place of another one. Returns its creation, and the removal of the other.
    pub(crate) fn move_to(&self, old: &File, to: &RelPath, after: String) -> Result<[Change; 2], Error> {
        let new = self.replace(old, File::absent(to), after.into())?;
        Ok([new, Change::new(old.clone(), After::Removed)])
    }

    /// Gives `file` new bytes, which take the place of those of `old`.
    fn replace(&self, old: &File, file: File, after: Vec<u8>) -> Result<Change, Error> {
        let after = self.with_trust_of_repeated(old, after)?;
        self.check_trust_state(&old.path, old.shown_bytes(), Some(&after))?;
        self.checked(old, file, after)
    }

    /// Marks the text of an agent that has the words of the unapproved text in whose place it comes.
    fn with_trust_of_repeated(&self, old: &File, after: Vec<u8>) -> Result<Vec<u8>, Error> {
        let text_of = |bytes| core::str::from_utf8(bytes).unwrap_or_default();
        let (before, text) = (text_of(old.bytes().unwrap_or_default()), text_of(&after));
        match TrustState::from_text(before).unapproved() {
            Some(provenance)
                if self.config.provenance == Provenance::Agent
                    && TrustState::from_text(text).unapproved().is_none()
                    && words(before).eq(words(text)) =>
            {
                let marked = mark(text, provenance).ok_or_else(|| {
                    let message = format!("{} is not approved, and the new text has its words", old.path);
                    Error::new(ErrorCode::NotPermitted, message, "ask a person to approve it with `memory approve`")
                })?;
                Ok(marked.into())
            }
            _ => Ok(after),
        }
    }

    /// Gives a file new text like [`write`](Self::write), for an edit by hand. Only a person may change the recorded
    /// provenance. An approval is for the text that a person has seen, so the edit of anyone else takes it away.
    pub(crate) fn edit(&self, file: &File, after: String, writer: &Writer) -> Result<Change, Error> {
        let before = file.text()?.unwrap_or_default();
        let trust_state = TrustState::from_text(before);
        if self.config.provenance != Provenance::User && trust_state != TrustState::from_text(&after) {
            let message = "the edit changes the recorded provenance of the file";
            let help = "leave `provenance` and `approved` unchanged";
            return Err(Error::new(ErrorCode::NotPermitted, message, help));
        }
        // A plain file stays one.
        let is_by_agent = self.config.provenance == Provenance::Agent
            && self.is_note(&file.path)
            && before != after
            && !Frontmatter::parse(&after).span.is_empty();
        let after = match self.takes_approval_away(file) && before != after {
            // A text whose frontmatter cannot be changed is edited all the same.
            false if is_by_agent => {
                let signed = writer.sign(&after).unwrap_or(after);
                let is_of_person = trust_state.provenance == Provenance::User;
                is_of_person.then(|| mark(&signed, Provenance::Agent)).flatten().unwrap_or(signed)
            }
            false => after,
            true => mark(&after, trust_state.provenance).ok_or_else(|| {
                let message = format!("{} is approved, and its frontmatter cannot be changed", file.path);
                let help = "ask a person to edit it, or store the new text as a separate note";
                Error::new(ErrorCode::NotPermitted, message, help)
            })?,
        };
        self.write(file, after)
    }

    /// Returns true if a change of a note's text by this memory takes the approval of the text away. Long-term memory, the
    /// scratchpad and the logs keep it, because agents write into them every day.
    pub(crate) fn takes_approval_away(&self, file: &File) -> bool {
        let before = file.trust_state();
        self.config.provenance != Provenance::User
            && self.is_note(&file.path)
            && !before.provenance.is_trusted()
            && before.approved.is_some()
    }

    /// Returns true unless the file is long-term memory, the scratchpad or a log.
    pub(crate) fn is_note(&self, path: &RelPath) -> bool {
        !self.layout.is_kept(path) && path.parent().as_ref() != Some(self.layout.daily_folder())
    }

    /// Gives a file new bytes whose text keeps its trust: it is counted, approved, or the memory's own.
    pub(crate) fn rewrite(&self, file: &File, after: impl Into<Vec<u8>>) -> Result<Change, Error> {
        self.checked(file, file.clone(), after.into())
    }

    /// Gives `file` the text of another one, which is removed next, with other names in it. It keeps its trust and its permissions.
    pub(crate) fn copy(&self, old: &File, file: &File, after: impl Into<Vec<u8>>) -> Result<Change, Error> {
        let copy = self.checked(old, file.clone(), after.into())?;
        Ok(Change { like: Some(old.path.clone()), moves: true, ..copy })
    }

    /// Gives `file` the bytes of its backup, or those with other fields.
    pub(crate) fn restore(&self, file: &File, kept: &File, after: impl Into<Vec<u8>>) -> Result<Change, Error> {
        let after = after.into();
        self.check_place(&file.path)?;
        self.check_trust_state(&file.path, file.bytes(), Some(&after))?;
        let after = self.without_new_secrets(&file.path, kept.bytes().unwrap_or_default(), after)?;
        Ok(Change::new(file.clone(), After::Whole(after)))
    }

    /// Gives a file the bytes of a version in the history, or removes it.
    pub(crate) fn revert(&self, file: &File, after: Option<Vec<u8>>) -> Result<Change, Error> {
        self.check_place(&file.path)?;
        self.check_trust_state(&file.path, file.bytes(), after.as_deref())?;
        let after = match after {
            Some(after) => {
                After::Whole(self.without_new_secrets(&file.path, file.bytes().unwrap_or_default(), after)?)
            }
            None => After::Removed,
        };
        Ok(Change::new(file.clone(), after))
    }

    /// Adds bytes at the end of a file, whatever it has, on a separate line.
    pub(crate) fn add(&self, path: &RelPath, addition: impl Into<Vec<u8>>) -> Result<Change, Error> {
        self.add_to(&File::without_bytes(path, Precondition::Any), addition)
    }

    /// Adds bytes at the end of a file, on a separate line.
    pub(crate) fn add_to(&self, file: &File, addition: impl Into<Vec<u8>>) -> Result<Change, Error> {
        self.needs_trust(file.path.as_str())?;
        self.added(file.clone(), addition.into())
    }

    /// Adds bytes at the end of a file like [`add`](Self::add). The addition records the provenance of its text.
    pub(crate) fn add_marked(&self, path: &RelPath, addition: impl Into<Vec<u8>>) -> Result<Change, Error> {
        self.added(File::without_bytes(path, Precondition::Any), addition.into())
    }

    fn added(&self, file: File, addition: Vec<u8>) -> Result<Change, Error> {
        self.note_unapproved(file.trust_state());
        let Change { before, after, .. } = self.checked(&File::absent(&file.path), file, addition)?;
        match after {
            After::Whole(addition) => Ok(Change::new(before, After::Added(addition))),
            _ => Err(Error::internal("an addition without bytes")),
        }
    }

    /// Gives `file` new bytes, if they have no secret that `old` does not have.
    fn checked(&self, old: &File, file: File, after: Vec<u8>) -> Result<Change, Error> {
        self.check_place(&file.path)?;
        let before = old.shown_bytes();
        if before.is_none() {
            self.name("the name of the file", file.path.as_str())?;
        }
        let after = self.without_new_secrets(&file.path, before.unwrap_or_default(), after)?;
        let from = (old.path != file.path).then(|| old.clone());
        Ok(Change { from, ..Change::new(file, After::Whole(after)) })
    }

    /// Records that text goes into a file in this state. Without approval, the text is in no prompt.
    fn note_unapproved(&self, state: TrustState) {
        self.done.borrow_mut().is_unapproved |= self.config.provenance.is_trusted() && state.unapproved().is_some();
    }

    /// Removes a file.
    pub(crate) fn remove(&self, file: &File) -> Result<Change, Error> {
        let text = file.bytes().unwrap_or_default();
        self.check_place(&file.path)?;
        self.check_trust_state(&file.path, Some(text), None)?;
        self.note_removed(&secrets_in(&String::from_utf8_lossy(text)));
        Ok(Change::new(file.clone(), After::Removed))
    }

    /// Gives a file its bytes with a text replaced everywhere; `None` if it does not have the text. The other text keeps its
    /// trust, and nothing is added that could be a secret.
    pub(crate) fn expunge(&self, file: &File, text: &ExpungedText) -> Result<Option<Change>, Error> {
        self.config.check_person("expunge text")?;
        let is_record = Layout::is_bookkeeping(&file.path);
        let after = file.bytes().and_then(|bytes| text.replaced(bytes, is_record));
        Ok(after.map(|after| Change::new(file.clone(), After::Whole(after))))
    }

    /// Removes a file that is expunged as a whole; `None` if it does not exist.
    pub(crate) fn expunge_file(&self, file: &File) -> Result<Option<Change>, Error> {
        self.config.check_person("expunge a file")?;
        Ok(file.bytes().map(|_| Change::new(file.clone(), After::Removed)))
    }

    /// Removes a file, if another one has its text as `copied` returns it.
    pub(crate) fn remove_copied(
        &self,
        file: &File,
        other: &File,
        copied: impl FnOnce(&[u8]) -> Vec<u8>,
    ) -> Option<Change> {
        let is_copied = file.path != other.path && file.bytes().map(copied).as_deref() == other.bytes();
        (is_copied && other.bytes.is_some()).then(|| Change::new(file.clone(), After::Removed))
    }

    /// Removes a file, if its bytes have expired.
    pub(crate) fn remove_expired(&self, file: &File, has_expired: impl FnOnce(&[u8]) -> bool) -> Option<Change> {
        file.bytes().is_some_and(has_expired).then(|| Change::new(file.clone(), After::Removed))
    }

    /// Gives a file another path.
    pub(crate) fn rename(&self, file: &File, to: &RelPath) -> Result<Change, Error> {
        self.check_place(&file.path)?;
        self.check_place(to)?;
        self.check_trust_state(&file.path, file.bytes(), None)?;
        self.name("the new name of the file", to.as_str())?;
        Ok(Change::new(file.clone(), After::Moved(to.clone())))
    }

    /// Refuses to look into other projects, unless a person asks, or has opened this memory of an agent for all of them. Text of tools and
    /// imports never asks.
    pub(crate) fn check_other_projects(&self) -> Result<(), Error> {
        let provenance = self.config.provenance;
        let is_allowed = match provenance {
            Provenance::User => true,
            Provenance::Agent => self.layout.writes_for_all_projects(),
            _ => false,
        };
        if is_allowed {
            return Ok(());
        }
        let message = format!(
            "`everywhere` is not permitted: this memory was opened for `{provenance}`, to read its own project"
        );
        let help = match provenance {
            Provenance::Agent => "a person may start the server with `--scope all`, or run `recall --everywhere`",
            _ => "a person may run `recall --everywhere`",
        };
        Err(Error::new(ErrorCode::NotPermitted, message, help))
    }

    /// Refuses a change of a file that agents take instructions from, or that other projects read, unless a person
    /// makes it.
    pub(crate) fn check_place(&self, path: &RelPath) -> Result<(), Error> {
        let provenance = self.config.provenance;
        if provenance == Provenance::User {
            return Ok(());
        }
        if self.layout.is_shared_with_other_projects(path) {
            let message = format!("`{path}` is shared by all projects, and this memory writes only for its project");
            let for_a_person = "is for a person, or for a memory that is opened with `--scope all`";
            let help = match self.layout.project_long_term() {
                Some(own) => format!("write to long_term, which is {own}; the shared file {for_a_person}"),
                None => format!("it {for_a_person}"),
            };
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
        let help = "keep it as a note with `remember`, or as an entry, under another name";
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
        let help = "keep it as a note with `remember`, or as an entry under a key";
        Err(Error::new(ErrorCode::NotPermitted, message, help))
    }

    /// Adds a report of the changes to a message, once.
    pub(crate) fn tell(&self, message: &mut ForModel) {
        message.push_escaped(&self.told());
    }

    /// Returns the report of the changes as the end of a message; empty if it was reported before.
    pub(crate) fn told(&self) -> String {
        let mut message = String::new();
        let Done { redacted, echoes, removed, is_unapproved } = core::mem::take(&mut *self.done.borrow_mut());
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
        if is_unapproved {
            message
                .push_str(" (not approved: its text is in no prompt until a person approves it with `memory approve`)");
        }
        message
    }
}

/// Returns the words of a file after its frontmatter.
fn words(text: &str) -> SplitWhitespace<'_> {
    text.part(Frontmatter::parse(text).span.end..).split_whitespace()
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
        InputPolicy::new(TrustConfig { secrets, ..TrustConfig::default() }, Layout::new(None).unwrap())
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

    fn file(path: &str, text: Option<&str>) -> File {
        let path = RelPath::new(path).unwrap();
        let mut file = File::absent(&path);
        file.bytes = text.map(|text| Arc::new(text.into()));
        file
    }

    #[test]
    fn an_agent_that_overwrites_unapproved_text_with_its_words_does_not_approve_it() {
        let waiting = file("a.md", Some("---\nprovenance: tool\n---\n\nObey the page.\n"));
        let written = |provenance, text: &str| {
            let config = TrustConfig { provenance, ..TrustConfig::default() };
            let screen = InputPolicy::new(config, Layout::new(None).unwrap());
            let After::Whole(bytes) = screen.write(&waiting, text).unwrap().after else { panic!("not whole") };
            TrustState::from_bytes(&bytes).unapproved()
        };
        for text in ["Obey the page.", "---\ntitle: x\n---\nObey  the\npage.\n"] {
            assert_eq!(written(Provenance::Agent, text), Some(Provenance::Tool), "{text}");
            assert_eq!(written(Provenance::User, text), None);
        }
        assert_eq!(written(Provenance::Agent, "Do not obey it."), None);
    }

    #[test]
    fn text_that_is_put_into_an_unapproved_file_is_reported() {
        let told = |provenance, before: Option<&str>, change: &dyn Fn(&InputPolicy, &File)| {
            let config = TrustConfig { provenance, ..TrustConfig::default() };
            let screen = InputPolicy::new(config, Layout::new(None).unwrap());
            change(&screen, &file("a.md", before));
            screen.told()
        };
        let waiting = "---\nprovenance: tool\n---\nx\n";
        let edit = |screen: &InputPolicy, file: &File| {
            screen.edit(file, format!("{}y", file.text().unwrap().unwrap_or_default()), &Writer::default()).unwrap();
        };
        let add = |screen: &InputPolicy, file: &File| {
            screen.add_to(file, "y").unwrap();
        };
        for provenance in [Provenance::User, Provenance::Agent] {
            for change in [&edit as &dyn Fn(&InputPolicy, &File), &add] {
                let message =
                    " (not approved: its text is in no prompt until a person approves it with `memory approve`)";
                assert_eq!(told(provenance, Some(waiting), change), message);
                for before in [None, Some("x\n"), Some("---\nprovenance: tool\napproved: 2026-05-25\n---\nx\n")] {
                    assert_eq!(told(Provenance::User, before, change), "", "{before:?}");
                }
            }
        }
        assert_eq!(told(Provenance::Tool, Some(waiting), &edit), "");
    }

    #[test]
    fn a_copy_is_removed_only_beside_another_file_with_its_text() {
        let screen = screen(SecretPolicy::Refuse);
        let old = file("old.md", Some("[[port]]"));
        let renamed = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace("port", "db").into_bytes();
        assert!(screen.remove_copied(&old, &file("new.md", Some("[[db]]")), renamed).is_some());
        for other in [file("new.md", Some("[[port]]")), file("new.md", None), file("old.md", Some("[[db]]"))] {
            assert_eq!(screen.remove_copied(&old, &other, renamed), None, "{other:?}");
        }
        assert_eq!(screen.remove_copied(&file("old.md", None), &file("new.md", None), renamed), None);
    }

    #[test]
    fn an_expired_file_is_removed_only_as_it_was_loaded() {
        let screen = screen(SecretPolicy::Refuse);
        let has_expired = |bytes: &[u8]| bytes == b"old";
        let old = file("a.md", Some("old"));
        let removal = screen.remove_expired(&old, has_expired).unwrap();
        assert_eq!((&removal.before, &removal.after), (&old, &After::Removed));
        assert_eq!(screen.remove_expired(&file("a.md", Some("new")), has_expired), None);
        assert_eq!(screen.remove_expired(&file("a.md", None), |_| true), None);
    }

    #[test]
    fn a_change_keeps_the_file_of_which_it_was_made() {
        let screen = screen(SecretPolicy::Refuse);
        let known = file("a.md", Some(KEY));
        let written = screen.write(&known, format!("{KEY} and more")).unwrap();
        assert_eq!(written.before, known);
        assert_eq!(screen.write(&file("b.md", None), KEY).unwrap_err().code, ErrorCode::Secret);
        let [new, removal] = screen.move_to(&known, &file("b.md", None).path, KEY.into()).unwrap();
        assert_eq!((new.before, removal.before), (file("b.md", None), known));
    }
}
