//! Written by `cargo xtask train`.

use super::fit::Rule;

/// When a prompt is about a note, by the sets of prompts in `tests/retrieval/prompts/`.
pub const RULE: Rule =
    Rule { share: 4670, evidence: 2563, question: 643, is_name: 7227, fact: 7684, page: 10390, name: 5291 };
