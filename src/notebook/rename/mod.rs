//! `rename`: gives a note another title and name, and updates every link to it.
//!
//! [`command`] asks the index, [`plan`] decides the name and the notes to rewrite, [`rewrite`] makes the new text,
//! [`apply`] writes them, and [`intent`] is the file that lets any process finish a rename.
//!
//! # How does a rename survive a crash?
//!
//! A rename changes the note and every note that links to it or says that it supersedes it. The work to do is written down
//! first, in `.saddlebag/rename.json` of the notebook, and every step can be repeated, by several processes at once. So nobody
//! has to know if the process that began is still alive: every command that changes the notebook first finishes the rename
//! that it finds.
//!
//! 1. The intent is created under the precondition that it does not exist. If two renames run at once, the second
//!    finishes the first and then looks for its note again: it is refused if the note has another name by then.
//! 2. The new file is created, under the precondition that it does not exist. A taken name gets a number. The meaning of the
//!    links is decided from the index without the new file, and with the old one under its old title.
//! 3. The linking notes are rewritten one after the other, each under the version that the change was computed from. A
//!    target keeps its author's style: by path, by name or by title, with or without extension, encoded or not. Links by an
//!    alias stay, as the alias does. A note that cannot be read or written is named in the reply. Before each write, the
//!    intent is checked again: a slow process must not change what others wrote after the rename was finished.
//! 4. If somebody changed the old file meanwhile, the new file takes over that text. Its digest is recorded in the intent
//!    before it is written, so that every process knows the new file for one of the rename. If others changed the new file
//!    too, both are kept, and the command says so.
//! 5. The digest of the old text is recorded in the intent, and the old file is removed if it still has that text. If it was
//!    changed at this very moment, step 4 is done again. A minute later, a file of the old name may be another note, and nothing
//!    takes it over.
//! 6. The intent is removed, under its version.
//!
//! If only the title changes, and not the name, there is no other file: the links are rewritten, then the title.
//!
//! Others may write the intent too, by mistake or on purpose. It must name notes of one folder of the notebook, and nothing is
//! removed that the new file does not have. An invalid intent is left alone, and `rename` refuses to begin:
//! `a_forged_intent_destroys_nothing`.

mod apply;
mod command;
mod intent;
mod plan;
mod rewrite;

pub use apply::RenameReply;
pub use command::Rename;

pub(crate) use command::settle;
