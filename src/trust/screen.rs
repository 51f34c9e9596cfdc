//! [`Screen`]: what a command brings in, held against the policy of its memory before anything is written.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::echo::{Echo, echo};
use super::provenance::{Provenance, Standing};
use super::secrets::{FoundSecret, redacted, secrets_in};
use crate::protocol::{Error, ErrorCode};

/// Whose text a memory takes, and what of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrustConfig {
    /// Where the text of its commands comes from. A command can name a source that is trusted less, and none
    /// that is trusted more. Only a memory that is opened for a person approves.
    pub provenance: Provenance,
    /// What becomes of secrets.
    pub secrets: SecretPolicy,
}

/// What becomes of a text with a secret in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SecretPolicy {
    /// It is refused, with the name of the rule.
    #[default]
    Refuse,
    /// It is kept, with `[redacted: RULE]` in the place of the secret.
    Redact,
    /// It is kept.
    Allow,
}

impl TrustConfig {
    /// Where the text of a command comes from.
    pub(crate) fn provenance_of(&self, asked: Option<Provenance>) -> Result<Provenance, Error> {
        match asked {
            Some(asked) if asked < self.provenance => {
                let own = self.provenance;
                let message = format!("text cannot be of `{asked}` here: this memory was opened for `{own}`");
                Err(Error::new(ErrorCode::NotPermitted, message, "leave the provenance out, or name a lower one"))
            }
            asked => Ok(asked.unwrap_or(self.provenance)),
        }
    }

    /// Refuses what only a person may do.
    pub(crate) fn check_person(&self, what: &str) -> Result<(), Error> {
        match self.provenance {
            Provenance::User => Ok(()),
            other => {
                let message = format!("{what} is for a person, and this memory was opened for `{other}`");
                Err(Error::new(ErrorCode::NotPermitted, message, "ask the person who owns the memory to do it"))
            }
        }
    }
}

/// A check of what one command brings in.
pub(crate) struct Screen {
    config: TrustConfig,
    redacted: Vec<&'static str>,
    echoes: bool,
}

impl Screen {
    pub(crate) fn new(config: TrustConfig) -> Self {
        Self { config, redacted: Vec::new(), echoes: false }
    }

    /// A text to keep: without blocks of memory, and without secrets.
    pub(crate) fn text(&mut self, what: &str, text: String) -> Result<String, Error> {
        let text = match echo(&text) {
            Echo::Nothing => text,
            Echo::Blocks(rest) => self.without_echo(what, rest)?,
            Echo::Section(line, _) => {
                let message = format!("{what} has a part of the memory block, which begins with `{line}`");
                let help = "keep what is new, without what memory says already; nothing was written";
                return Err(Error::invalid_argument(message, help));
            }
        };
        self.without_secrets(what, text)
    }

    /// A text that would be lost if it were refused: sections of the block go as well.
    pub(crate) fn summary(&mut self, what: &str, text: String) -> Result<String, Error> {
        let text = match echo(&text) {
            Echo::Nothing => text,
            Echo::Blocks(rest) | Echo::Section(_, rest) => self.without_echo(what, rest)?,
        };
        self.without_secrets(what, text)
    }

    fn without_echo(&mut self, what: &str, rest: String) -> Result<String, Error> {
        if rest.trim().is_empty() {
            let message = format!("{what} is the memory block and nothing else");
            return Err(Error::invalid_argument(message, "memory has it already; nothing was written"));
        }
        self.echoes = true;
        Ok(rest)
    }

    /// Text as it came from elsewhere: without secrets.
    pub(crate) fn without_secrets(&mut self, what: &str, text: String) -> Result<String, Error> {
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
        for secret in &found {
            if !self.redacted.contains(&secret.rule) {
                self.redacted.push(secret.rule);
            }
        }
        Ok(redacted(&text, &found))
    }

    /// A name, a title, a tag: it is kept as it is or not at all.
    pub(crate) fn name(&self, what: &str, text: &str) -> Result<(), Error> {
        let found = match self.config.secrets {
            SecretPolicy::Allow => Vec::new(),
            _ => secrets_in(text),
        };
        if found.is_empty() { Ok(()) } else { Err(refused(what, &found)) }
    }

    /// Refuses text of a tool or an import where no frontmatter can say so.
    pub(crate) fn needs_trust(&self, place: &str) -> Result<(), Error> {
        let provenance = self.config.provenance;
        if provenance.is_trusted() {
            return Ok(());
        }
        let message = format!("text of `{provenance}` cannot go into {place}, where nothing would say so");
        let help = "keep it as a note with `remember`, or as an entry with `store`; nothing was written";
        Err(Error::new(ErrorCode::NotPermitted, message, help))
    }

    /// An edit of a file that says where its text is from: only a person changes that.
    pub(crate) fn edit(&self, before: &str, after: &str) -> Result<(), Error> {
        if self.config.provenance == Provenance::User || Standing::of_text(before) == Standing::of_text(after) {
            return Ok(());
        }
        let help = "leave `provenance` and `approved` as they are; nothing was written";
        Err(Error::new(ErrorCode::NotPermitted, "the edit changes what a file says of where its text is from", help))
    }

    /// Adds what was changed of the text to a message.
    pub(crate) fn tell(&self, message: &mut String) {
        if !self.redacted.is_empty() {
            message.push_str(&format!(" (redacted: {})", self.redacted.join(", ")));
        }
        if self.echoes {
            message.push_str(" (left out: text of the memory block)");
        }
    }
}

/// The error names the rule and never the secret.
fn refused(what: &str, found: &[FoundSecret]) -> Error {
    let mut rules: Vec<&str> = Vec::new();
    for secret in found {
        if !rules.contains(&secret.rule) {
            rules.push(secret.rule);
        }
    }
    let message = format!("{what} has a secret, by the rule {}", rules.join(", "));
    let help = "keep where the secret is, not the secret; a person may set `secrets` to `redact` or `allow`; \
                nothing was written";
    Error::new(ErrorCode::Secret, message, help)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    const KEY: &str = concat!("AKIA", "QWERTYUIOPASDFGH");

    fn screen(secrets: SecretPolicy) -> Screen {
        Screen::new(TrustConfig { secrets, ..TrustConfig::default() })
    }

    #[test]
    fn the_error_names_the_rule_and_not_the_secret() {
        let error = screen(SecretPolicy::Refuse).text("content", format!("the key is {KEY}.")).unwrap_err();
        assert_eq!(error.code, ErrorCode::Secret);
        assert_eq!(error.message, "content has a secret, by the rule aws-access-token");
        assert!(!error.help.contains(KEY));
        assert!(screen(SecretPolicy::Refuse).name("key", KEY).is_err());
        assert!(screen(SecretPolicy::Redact).name("key", KEY).is_err());
    }

    #[test]
    fn a_secret_is_redacted_or_kept_by_policy() {
        let mut redacting = screen(SecretPolicy::Redact);
        let text = redacting.text("content", format!("a {KEY} b {KEY}")).unwrap();
        assert_eq!(text, "a [redacted: aws-access-token] b [redacted: aws-access-token]");
        let mut message = "Wrote it".to_string();
        redacting.tell(&mut message);
        assert_eq!(message, "Wrote it (redacted: aws-access-token)");
        let mut allowing = screen(SecretPolicy::Allow);
        assert_eq!(allowing.text("content", KEY.into()).as_deref(), Ok(KEY));
        allowing.tell(&mut message);
        assert_eq!(message, "Wrote it (redacted: aws-access-token)");
    }

    #[test]
    fn the_block_is_left_out_and_a_summary_is_never_lost_for_a_part_of_it() {
        let mut screen = screen(SecretPolicy::Refuse);
        let section = "new\n## Scratchpad (open items)\n- [ ] old";
        assert_eq!(screen.text("content", section.into()).unwrap_err().code, ErrorCode::InvalidArgument);
        assert_eq!(screen.summary("summary", section.into()).as_deref(), Ok("new\n"));
        let mut message = String::new();
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
            assert_eq!(config.check_person("to approve").is_ok(), own == Provenance::User);
        }
    }
}
