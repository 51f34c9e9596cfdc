//! Names that tools which synchronise folders give to conflict copies.

/// Mark in the name of a copy of Syncthing. The date, the time and the beginning of the device's name follow.
pub const SYNCTHING_MARK: &str = ".sync-conflict-";

/// Words in the name of a copy of Dropbox, Obsidian Sync, Nextcloud or OneDrive, in lower case: in English, German, French, Spanish,
/// Italian, Portuguese and Japanese.
pub const CONFLICT_WORDS: [&str; 11] = [
    "conflicted copy",
    "conflict copy",
    "in konflikt stehende kopie",
    "konfliktkopie",
    "copie en conflit",
    "copia en conflicto",
    "copia conflictiva",
    "copia in conflitto",
    "cópia em conflito",
    "の競合コピー",
    "問題のあるコピー",
];

/// Returns true for a name that only tools give, to conflict copies.
pub(crate) fn is_conflict_copy(file_name: &str) -> bool {
    let lower = file_name.to_lowercase();
    file_name.contains(SYNCTHING_MARK) || CONFLICT_WORDS.iter().any(|words| lower.contains(words))
}
