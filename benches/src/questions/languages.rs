//! Questions about notebooks in other languages than English.

use std::fs;
use std::path::Path;

use comfy_table::{Table, presets};
use saddlebag::files::Recall;
use serde_json::Value;

use super::figures::{NOW, open};
use super::prompts::copy;
use crate::work::Result;

/// Where the answers to some questions rank.
#[derive(Clone, Copy, Default)]
struct Found {
    questions: usize,
    first: usize,
    five: usize,
    reciprocal_rank: f64,
}

impl Found {
    fn add(&mut self, rank: Option<usize>) {
        self.questions += 1;
        self.first += usize::from(rank == Some(0));
        self.five += usize::from(rank.is_some_and(|rank| rank < 5));
        self.reciprocal_rank += rank.map_or(0.0, |rank| 1.0 / (rank as f64 + 1.0));
    }

    fn cells(&self) -> [String; 3] {
        let of = |part: usize| format!("{part} of {}", self.questions);
        let rank = format!("{:.3}", self.reciprocal_rank / self.questions.max(1) as f64);
        [of(self.first), of(self.five), rank]
    }
}

/// Returns the table of the notebooks of a folder, which are JSON: `notes` by their paths, and `questions` with the
/// paths that answer. The pages in a folder of the same name are copied beside the notes. Every second question was at
/// hand when the rules were chosen; the others were not. With `SADDLEBAG_EVAL_MISSES` in the environment, it prints each
/// question whose answer is not the first.
pub(crate) fn report(folder: &Path) -> Result<String> {
    let mut files: Vec<_> = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    files.retain(|path| path.extension().is_some_and(|suffix| suffix == "json"));
    files.sort();
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header(["Notebook", "Tuned: first", "In five", "MRR", "Not tuned: first", "In five", "MRR"]);
    let mut all = [Found::default(); 2];
    for file in files {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let set: Value = serde_json::from_str(&fs::read_to_string(&file)?)?;
        let root = tempfile::tempdir()?;
        for (path, text) in set["notes"].as_object().ok_or("no notes")? {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().ok_or("no folder")?)?;
            fs::write(path, text.as_str().ok_or("no text")?)?;
        }
        let others = file.with_extension("");
        if others.is_dir() {
            copy(&others, root.path())?;
        }
        let mut memory = open(root.path())?;
        let mut found = [Found::default(); 2];
        for (number, question) in set["questions"].as_array().ok_or("no questions")?.iter().enumerate() {
            let query = question["question"].as_str().ok_or("no question")?;
            let answers = question["answers"].as_array().ok_or("no answers")?;
            let asked = Recall { query: query.into(), limit: 10, ..Recall::default() };
            let hits = memory.call(NOW, asked)?.hits;
            let is_answer = |path: &str| answers.iter().any(|answer| answer.as_str() == Some(path));
            let rank = hits.iter().position(|hit| is_answer(&hit.path));
            if rank != Some(0) && std::env::var_os("SADDLEBAG_EVAL_MISSES").is_some() {
                let best = hits.first().map_or("nothing", |hit| &hit.path);
                eprintln!("{name} {number}: {query}\n    {:?} at {rank:?}; first is {best}", question["answers"]);
            }
            for sum in [&mut found[number % 2], &mut all[number % 2]] {
                sum.add(rank);
            }
        }
        table.add_row([name].into_iter().chain(found.iter().flat_map(Found::cells)));
    }
    table.add_row(["all".to_string()].into_iter().chain(all.iter().flat_map(Found::cells)));
    Ok(table.to_string())
}
