//! The table of `docs/writing-a-host.md`: the result of each operation on each state of a path.

/// The table, word for word. A test compares it with the page.
pub const TABLE: &str = "\
| Operation | Absent | File | Folder | Link | A folder above is absent |
| --- | --- | --- | --- | --- | --- |
| `read` | `absent` | `content` | `is-directory` | `symbolic-link` | `absent` |
| `write`, `append`: `any` | `written` | `written` | `is-directory` | `symbolic-link` | made, `written` |
| `absent` | `written` | `stale(v)` | `is-directory` | `symbolic-link` | made, `written` |
| `matches` | `stale(none)` | `written`, `stale(v)` | `is-directory` | `symbolic-link` | `stale(none)`, nothing is made |
| `remove`: `any` | `done` | `done` | `is-directory` | `symbolic-link` | `done` |
| `absent` | `done` | `stale(v)` | `is-directory` | `symbolic-link` | `done` |
| `matches` | `done` | `done`, `stale(v)` | `is-directory` | `symbolic-link` | `done` |
| `rename`, of `path` | `absent` | `done`, `stale(v)` | `is-directory` | `symbolic-link` | `absent` |
| `rename`, of `to` | `done` | `exists` | `exists` | `exists` | made, `done` |
| `make-directory` | made | `not-directory` | done | `symbolic-link` | made |
| `remove-directory` | `absent` | `not-directory` | `not-empty` | `symbolic-link` | `absent` |
| `list-directory` | a page without entries | `not-directory` | `page`, `unchanged` | `symbolic-link` | a page without entries |
";

/// State of a path, one for each column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Absent,
    File,
    Folder,
    Link,
    Above,
}

/// The columns after the first: their names, and a path in this state.
pub(crate) const STATES: [(State, &str, &str); 5] = [
    (State::Absent, "absent", "no"),
    (State::File, "a file", "file"),
    (State::Folder, "a folder", "folder"),
    (State::Link, "a link", "link"),
    (State::Above, "a folder above is absent", "none/x"),
];

/// One operation with one precondition.
pub(crate) struct Row {
    /// Operation, such as `write`, or `rename, of to`.
    pub(crate) operation: &'static str,
    /// Precondition: `any`, `absent` or `matches`.
    pub(crate) precondition: &'static str,
    /// The words of each cell.
    pub(crate) cells: Vec<Vec<&'static str>>,
}

/// Returns the rows of the table. A row of two operations is two rows.
pub(crate) fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    let mut operations: Vec<&str> = Vec::new();
    for line in TABLE.lines().skip(2) {
        let mut cells = line.trim_matches('|').split('|').map(str::trim);
        let first = cells.next().unwrap_or_default();
        let words: Vec<&str> = first.split('`').skip(1).step_by(2).collect();
        let is_condition = |word: &&&str| ["any", "absent", "matches"].contains(*word);
        let (named, precondition) = match first {
            "`rename`, of `path`" => (vec!["rename, of path"], "matches"),
            "`rename`, of `to`" => (vec!["rename, of to"], "any"),
            _ => (
                words.iter().filter(|word| !is_condition(word)).copied().collect(),
                words.iter().find(is_condition).copied().unwrap_or("any"),
            ),
        };
        if !named.is_empty() {
            operations = named;
        }
        let cells: Vec<Vec<&str>> =
            cells.map(|cell| cell.split(", ").map(|word| word.trim_matches('`')).collect()).collect();
        for &operation in &operations {
            rows.push(Row { operation, precondition, cells: cells.clone() });
        }
    }
    rows
}
