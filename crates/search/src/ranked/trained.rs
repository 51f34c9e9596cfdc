//! Written by `cargo xtask train`.

/// Numbers of the rule, in the order of its fields.
pub(super) const NUMBERS: [i32; 7] = [4670, 2563, 643, 7227, 7832, 13425, 6087];
