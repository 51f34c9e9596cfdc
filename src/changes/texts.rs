//! [`Texts`]: the texts of a command, which its policy screens before the command runs.

use core::mem;

use super::policy::InputPolicy;
use saddlebag_collections::prelude::*;
use saddlebag_protocol::Error;

/// A command whose fields are listed with its family, each with what the policy does to it.
pub(crate) trait Texts {
    /// Gives every text that may be stored the form that the policy permits, or refuses the command.
    fn screen(&mut self, policy: &InputPolicy) -> Result<(), Error>;
}

/// Function that screens a text: it returns the form that may be stored.
pub(crate) type Screen<'a> = &'a mut dyn FnMut(String) -> Result<String, Error>;

/// A field with any number of texts.
pub(crate) trait Field {
    /// Screens each text.
    fn each(&mut self, screen: Screen<'_>) -> Result<(), Error>;
}

/// Screens text that is stored unchanged or not at all.
pub(crate) fn name(policy: &InputPolicy, field: &mut impl Field, what: &str) -> Result<(), Error> {
    field.each(&mut |text| policy.name(what, &text).map(|()| text))
}

/// Screens text to store.
pub(crate) fn text(policy: &InputPolicy, field: &mut impl Field, what: &str) -> Result<(), Error> {
    field.each(&mut |text| policy.text(what, text))
}

/// Screens text that would be lost if it were refused.
pub(crate) fn summary(policy: &InputPolicy, field: &mut impl Field, what: &str) -> Result<(), Error> {
    field.each(&mut |text| policy.summary(what, text))
}

/// Screens text that may quote the block of memory.
pub(crate) fn output(policy: &InputPolicy, field: &mut impl Field, what: &str) -> Result<(), Error> {
    field.each(&mut |text| policy.without_secrets(what, text))
}

/// Leaves a field to the command, which parses it and screens its parts: one that is refused does not refuse the others.
pub(crate) fn parts<T>(_: &InputPolicy, _: &mut T, _: &str) -> Result<(), Error> {
    Ok(())
}

impl Field for String {
    fn each(&mut self, screen: Screen<'_>) -> Result<(), Error> {
        *self = screen(mem::take(self))?;
        Ok(())
    }
}

impl Field for Option<String> {
    fn each(&mut self, screen: Screen<'_>) -> Result<(), Error> {
        self.iter_mut().try_for_each(|text| text.each(screen))
    }
}

impl Field for Vec<String> {
    fn each(&mut self, screen: Screen<'_>) -> Result<(), Error> {
        self.iter_mut().try_for_each(|text| text.each(screen))
    }
}
