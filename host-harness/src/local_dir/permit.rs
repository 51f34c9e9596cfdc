//! [`Permit`]: what a step that changes a file needs.

use std::marker::PhantomData;

/// Allows one step that changes a file. Only a check of the locks gives one, so that no change is made without.
#[derive(Debug)]
pub(super) struct Permit<'g>(PhantomData<&'g ()>);

impl<'g> From<saddlebag_locks::Permit<'g>> for Permit<'g> {
    fn from(_: saddlebag_locks::Permit<'g>) -> Self {
        Self(PhantomData)
    }
}

impl Permit<'static> {
    /// For the steps that a record names. Whoever reads the record carries them out, and each is one rename or removal of a
    /// temporary name that no other writer uses, so that two can do it at the same time.
    pub(super) fn of_record() -> Self {
        Self(PhantomData)
    }
}
