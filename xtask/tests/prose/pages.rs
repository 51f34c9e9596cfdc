//! The pages in `docs/`: how many they are, the index that names each, and links that lead somewhere.

use std::collections::BTreeSet;
use std::path::Path;

use super::sources;

/// Maximum number of written pages in `docs/`, the index included. Readers lose their way among more.
const MAX_PAGES: usize = 21;

const INDEX: &str = "docs/README.md";

/// Maximum number of words in a cell of a table. A longer cell has several rules, which are one row each, or prose.
const MAX_CELL_WORDS: usize = 25;

/// Page that is made from the command line.
const GENERATED: &str = "docs/commands.md";

#[test]
fn the_index_names_each_page_of_the_documentation() {
    let pages: Vec<_> = pages().into_iter().filter(|(path, _)| path.starts_with("docs/")).collect();
    let written = pages.iter().filter(|(path, _)| path != GENERATED).count();
    assert!(written <= MAX_PAGES, "docs/ has {written} written pages, at most {MAX_PAGES} may be there");
    let (_, index) = pages.iter().find(|(path, _)| path == INDEX).expect("docs/README.md");
    for (path, _) in pages.iter().filter(|(path, _)| path != INDEX) {
        let name = path.trim_start_matches("docs/");
        assert!(index.contains(&format!("| [{name}]({name}) |")), "{INDEX} does not name {path}");
    }
}

#[test]
fn every_link_of_a_page_leads_to_a_file_and_a_heading() {
    let pages = pages();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut broken = Vec::new();
    for (path, text) in &pages {
        for (line, target) in links(text) {
            let (file, heading) = target.split_once('#').unwrap_or((target, ""));
            let file = if file.is_empty() { path.clone() } else { joined(path, file) };
            let has_heading = match pages.iter().find(|(known, _)| *known == file) {
                Some((_, text)) => heading.is_empty() || anchors(text).contains(heading),
                None => heading.is_empty() && root.join(&file).exists(),
            };
            if !has_heading {
                broken.push(format!("{path}:{line}: {target}"));
            }
        }
    }
    assert!(broken.is_empty(), "{} links lead nowhere:\n{}", broken.len(), broken.join("\n"));
}

#[test]
fn a_cell_of_a_table_is_read_at_a_glance() {
    let mut long = Vec::new();
    for (path, text) in pages().iter().filter(|(path, _)| *path != GENERATED) {
        for (line, cell) in cells(text) {
            let words = cell.split_whitespace().count();
            if words > MAX_CELL_WORDS {
                long.push(format!("{path}:{line}: {words} words: {cell}"));
            }
        }
    }
    assert!(long.is_empty(), "{} cells have more than {MAX_CELL_WORDS} words:\n{}", long.len(), long.join("\n"));
    assert_eq!(cells("a | b\n| `c \\| d` | e |\n"), [(2, "`c \\| d`".to_string()), (2, "e".to_string())]);
}

#[test]
fn a_link_and_a_heading_are_found_outside_of_code() {
    let text = "# A `b`: c\n\nSee [x](y.md#z) and `[no](link)`.\n\n```\n# code\n[no](link)\n```\n## A b c\n";
    assert_eq!(links(text), [(3, "y.md#z")]);
    assert_eq!(anchors(text), ["a-b-c", "a-b-c-1"].map(str::to_string).into());
    assert_eq!(joined("docs/a.md", "../wit"), "wit");
}

/// Returns the Markdown pages of the root and of `docs/`.
pub(super) fn pages() -> Vec<(String, String)> {
    let is_page = |path: &str| path.ends_with(".md") && (!path.contains('/') || path.starts_with("docs/"));
    sources().into_iter().filter(|(path, _)| is_page(path)).collect()
}

/// Returns the line and the target of each link to a file of the project.
fn links(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    for (line, prose) in prose(text) {
        for part in prose.split('`').step_by(2) {
            let targets = part.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target);
            found.extend(targets.filter(|target| !target.contains("://")).map(|target| (line, target)));
        }
    }
    found
}

/// Returns the line and the text of each cell of a table.
fn cells(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (line, row) in prose(text).filter(|(_, line)| line.starts_with('|')) {
        let row = row.trim_matches('|').replace("\\|", "\0");
        found.extend(row.split('|').map(|cell| (line, cell.trim().replace('\0', "\\|"))));
    }
    found
}

/// Returns the anchors of the headings, as GitHub makes them.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    for (_, line) in prose(text) {
        let Some((marks, title)) = line.split_once(' ') else { continue };
        if marks.is_empty() || marks.chars().any(|mark| mark != '#') {
            continue;
        }
        let kept = title.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        let anchor: String = kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect();
        let mut numbered = anchor.clone();
        for number in 1.. {
            if anchors.insert(numbered) {
                break;
            }
            numbered = format!("{anchor}-{number}");
        }
    }
    anchors
}

/// Returns the lines outside of fenced code, with their numbers.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        (!is_code && !is_fence).then_some((index + 1, line))
    })
}

/// Returns the path of a target that a page names, from the root of the project.
fn joined(page: &str, target: &str) -> String {
    let folder = page.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/').filter(|part| !part.is_empty() && *part != ".") {
        if part == ".." {
            parts.pop();
        } else {
            parts.push(part);
        }
    }
    parts.join("/")
}
