//! Literal search: which lines have a term.
//!
//! [`Texts`] are what is searched; the caller keeps them. A [`LiteralIndex`] has their names and words. [`find`] gives
//! the [`Matches`] of [`Terms`], best first: each [`Match`] names a text, and which lines of it have which terms.
//!
//! ```
//! use saddlebag_search::literal::{LiteralIndex, Rank, Terms, TextId, Texts, find, windows};
//!
//! struct Lines(Vec<&'static str>);
//!
//! impl Texts for Lines {
//!     fn next_id(&self) -> TextId {
//!         self.0.len() as TextId
//!     }
//!     fn text(&self, id: TextId) -> Option<&str> {
//!         self.0.get(id as usize).copied()
//!     }
//!     fn is_searched(&self, _: TextId) -> bool {
//!         true
//!     }
//!     fn rank(&self, id: TextId) -> Rank {
//!         Rank { order: id, ..Rank::default() }
//!     }
//! }
//!
//! let texts = Lines(vec!["the port\nis 5432", "no PORT is open\nin this port"]);
//! let mut index = LiteralIndex::new(".md");
//! let matches = find(&mut index, &texts, &Terms::of("port"));
//! let best = matches.from(0).next().expect("both match");
//! assert_eq!((matches.len(), best.text, best.lines), (2, 1, vec![0, 1]));
//! assert_eq!(windows(texts.0[0], &[0]), "the port\nis 5432\n…");
//! ```

mod fold;
mod index;
mod query;
mod windows;

pub use index::{LiteralIndex, Rank, TextId, Texts};
pub use query::{Match, Matches, Terms, find};
pub use windows::{name_match, windows};
