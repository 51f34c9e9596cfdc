//! Native baselines: the algorithms of the original, which every ratio refers to.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use regex::{Regex, RegexBuilder};

/// Searches literally without an index: lists three folders, reads every file, and matches the regex of each term
/// against each line. Returns the number of files with a match.
pub(crate) fn search(root: &Path, project: &str, terms: &[&str]) -> io::Result<usize> {
    let regexes: Vec<Regex> = terms
        .iter()
        .filter_map(|term| RegexBuilder::new(&regex::escape(term)).case_insensitive(true).build().ok())
        .collect();
    let project = root.join("projects").join(project);
    let mut matching = 0;
    for folder in [root.to_path_buf(), project.join("notes"), project.join("daily")] {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.extension().is_none_or(|extension| extension != "md") || !fs::metadata(&path)?.is_file() {
                continue;
            }
            let text = fs::read_to_string(&path).unwrap_or_default();
            let mut counts = vec![0_usize; regexes.len()];
            for line in text.lines() {
                for (count, regex) in counts.iter_mut().zip(&regexes) {
                    *count += usize::from(regex.is_match(line));
                }
            }
            matching += usize::from(counts.iter().any(|&count| count > 0));
        }
    }
    Ok(matching)
}

/// Appends by rewriting the file: reads all of it, writes a temporary file and renames it.
pub(crate) fn append(path: &Path, line: &str) -> io::Result<()> {
    let mut text = fs::read_to_string(path).unwrap_or_default();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(line);
    text.push('\n');
    let staged = path.with_extension("tmp");
    fs::File::create(&staged)?.write_all(text.as_bytes())?;
    fs::rename(staged, path)
}

/// Builds the block: reads four files and joins them.
pub(crate) fn context(root: &Path, project: &str, days: [&str; 2]) -> io::Result<usize> {
    let project = root.join("projects").join(project);
    let mut block = fs::read_to_string(root.join("MEMORY.md"))?;
    let scratchpad = fs::read_to_string(project.join("SCRATCHPAD.md"))?;
    let open = scratchpad.lines().filter(|line| line.trim_start().starts_with("- [ ]"));
    block.extend(open);
    for day in days {
        block.push_str(&fs::read_to_string(project.join("daily").join(day))?);
    }
    Ok(block.len())
}
