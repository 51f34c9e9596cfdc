//! `choose-hand-off`: says which session's note the next session begins with, or that it is never handed on.

use super::hand_off::{CLAIMED_BY, HAND_OFF, newest};
use super::types::{HandOffChoice, SessionCall, in_scope};
use crate::changes::{Backups, File};
use crate::notebook::{SESSION, named_notes};
use crate::request::{Run, SAMPLE_SESSION_NAME, request};
use crate::store::{RelPath, SESSIONS_FOLDER};
use crate::trust::ForModel;
use saddlebag_collections::prelude::*;
use saddlebag_markdown::{Frontmatter, Value, remove_field, set_field};
use saddlebag_protocol::{Error, ErrorCode};

/// Chooses the note of a session for the next session, or refuses to hand it on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChooseHandOff {
    /// Name of the session; or path, name or title of its note.
    pub session: String,
    /// What becomes of the note.
    pub choice: HandOffChoice,
}

/// Reply of [`ChooseHandOff`].
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChooseHandOffReply {
    /// Path of the note.
    pub path: String,
    /// Summary for a person or a model. Stored text in it is made harmless.
    pub message: ForModel,
}

request!(ChooseHandOff "choose-hand-off" => ChooseHandOffReply, Replaces, |_| {
    HandOffChoice::ALL.iter().map(|choice| Self { session: SAMPLE_SESSION_NAME.into(), choice: *choice }).collect()
});

impl Run<SessionCall<'_>> for ChooseHandOff {
    async fn run(self, with: &SessionCall<'_>) -> Result<ChooseHandOffReply, Error> {
        let call = with.call;
        call.screen.needs_trust("the note of a session")?;
        let path = self.find(with).await?;
        let change = |file: &File| {
            let text = file.text()?.unwrap_or_default();
            if Frontmatter::parse(text).value(SESSION).and_then(Value::text).is_none() {
                return Err(no_session(&call.scope.display_path(&path)));
            }
            let free = remove_field(text, CLAIMED_BY);
            Ok((Some(call.screen.rewrite(file, set_field(&free, HAND_OFF, self.choice.as_str()))?), ()))
        };
        call.update(&path, Backups::Off, change).await?;
        if self.choice == HandOffChoice::Next {
            let (notes, _) = newest(call).await?;
            for other in notes.iter().filter(|note| note.is_next() && note.path != path) {
                let unchosen = |file: &File| {
                    let text = file.text()?.unwrap_or_default();
                    Ok((Some(call.screen.rewrite(file, remove_field(text, HAND_OFF))?), ()))
                };
                call.update(&other.path, Backups::Off, unchosen).await?;
            }
        }
        let path = call.scope.display_path(&path);
        let message = match self.choice {
            HandOffChoice::Next => format!("The next session begins with {path}"),
            HandOffChoice::Refused => format!("No session begins with {path}"),
        };
        Ok(ChooseHandOffReply { path, message: ForModel::escaped(&message) })
    }
}

impl ChooseHandOff {
    /// Returns the file of the note.
    async fn find(&self, with: &SessionCall<'_>) -> Result<RelPath, Error> {
        let name = self.session.trim();
        let (notes, _) = newest(with.call).await?;
        if let Some(note) = notes.into_iter().find(|note| note.session == name) {
            return Ok(note.path);
        }
        let folder = in_scope(with.call, SESSIONS_FOLDER)?;
        let named = named_notes(with.call, with.notebook, name).await?;
        let mut found = named.into_iter().map(|note| note.path).filter(|path| path.parent().as_ref() == Some(&folder));
        match (found.next(), found.next()) {
            (Some(path), None) => Ok(path),
            (None, _) => Err(no_session(name)),
            (Some(_), Some(_)) => {
                let message = format!("several sessions are named `{}`", name.escape_debug());
                Err(Error::new(ErrorCode::AmbiguousName, message, "give the path of the note"))
            }
        }
    }
}

fn no_session(name: &str) -> Error {
    let message = format!("there is no note of a session `{}`", name.escape_debug());
    Error::new(ErrorCode::NotFound, message, "give the name of the session, or the path of its note")
}
