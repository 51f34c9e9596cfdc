//! Questions about notebooks in other languages than English.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use comfy_table::{Table, presets};
use saddlebag::files::Recall;
use serde_json::Value;

use super::figures::{Figures, NOW, open};
use super::formats::{Question, json_below};
use super::prompts::copy;
use crate::work::Result;

/// The cells of some questions.
fn cells(Figures { questions, among: [first, five, _], reciprocal_rank, .. }: &Figures) -> [String; 3] {
    let rank = format!("{:.3}", reciprocal_rank / questions.max(1.0));
    [format!("{first} of {questions}"), format!("{five} of {questions}"), rank]
}

/// Returns the table of the notebooks of a folder, which are JSON: `notes` by their paths, and `questions` with the
/// paths that answer. The pages in a folder of the same name are copied beside the notes. Every second question was at
/// hand when the rules were chosen; the others were not.
pub(crate) fn report(folder: &Path) -> Result<String> {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header(["Notebook", "Tuned: first", "In five", "MRR", "Not tuned: first", "In five", "MRR"]);
    let mut all = [Figures::default(), Figures::default()];
    for file in json_below(folder)? {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let set: Value = serde_json::from_str(&fs::read_to_string(&file)?)?;
        let root = tempfile::tempdir()?;
        let mut notes = BTreeMap::new();
        for (number, (path, text)) in set["notes"].as_object().ok_or("no notes")?.iter().enumerate() {
            notes.insert(path.as_str(), number);
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().ok_or("no folder")?)?;
            fs::write(path, text.as_str().ok_or("no text")?)?;
        }
        let others = file.with_extension("");
        if others.is_dir() {
            copy(&others, root.path())?;
        }
        let mut memory = open(root.path())?;
        let mut found = [Figures::default(), Figures::default()];
        for (number, question) in set["questions"].as_array().ok_or("no questions")?.iter().enumerate() {
            let text = question["question"].as_str().ok_or("no question")?.to_string();
            let answers = question["answers"].as_array().ok_or("no answers")?;
            let answers = answers.iter().filter_map(|path| notes.get(path.as_str()?).copied()).collect();
            let hits = memory.call(NOW, Recall { query: text.clone(), limit: 10, ..Recall::default() })?.hits;
            let ranked: Vec<Option<usize>> = hits.iter().map(|hit| notes.get(hit.path.as_str()).copied()).collect();
            let question = Question { text, sessions: answers, turns: Vec::new() };
            for sum in [&mut found[number % 2], &mut all[number % 2]] {
                sum.add_sessions(&question, &ranked);
            }
        }
        table.add_row([name].into_iter().chain(found.iter().flat_map(cells)));
    }
    table.add_row(["all".to_string()].into_iter().chain(all.iter().flat_map(cells)));
    Ok(table.to_string())
}
