//! Paths of notes as links write them: text with slashes, relative to the root of a notebook.

use saddlebag_collections::prelude::*;

/// Returns the parts of a path without `.` and `..`; `None` if it leads above its start.
pub fn parts(path: &str) -> Option<Vec<&str>> {
    let mut parts = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts)
}

/// Normalises a path for comparison: without `./`, `..` and empty parts. `None` if it leaves the root.
pub fn normalize(path: &str) -> Option<String> {
    parts(path).map(|parts| parts.join("/"))
}

/// Returns a path without the extension of its file name.
pub fn without_extension(path: &str) -> &str {
    let name = path.rfind('/').map_or(0, |at| at + 1);
    match path.rfind('.') {
        Some(dot) if dot > name => path.get(..dot).unwrap_or(path),
        _ => path,
    }
}

/// Returns the file name.
pub fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Returns the file name without its extension.
pub fn stem(path: &str) -> &str {
    file_name(without_extension(path))
}

/// Returns the folder, without a slash at its end; empty for the root.
pub fn folder(path: &str) -> &str {
    path.rfind('/').and_then(|at| path.get(..at)).unwrap_or_default()
}

/// Joins a folder and a relative path; `None` if the result leaves the root.
pub fn join(folder: &str, path: &str) -> Option<String> {
    normalize(&[folder, path].join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_below_the_root() {
        assert_eq!(normalize("./a//b/../c/").as_deref(), Some("a/c"));
        assert_eq!(normalize("a/../../b"), None);
        assert_eq!((stem("a/b.c.md"), stem("a/.md"), folder("a/b/c"), folder("c")), ("b.c", ".md", "a/b", ""));
    }
}
