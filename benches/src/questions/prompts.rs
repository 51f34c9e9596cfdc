//! What a prompt brings: of the history that it is about, of others, and of the facts of a project.

use std::fs;
use std::path::{Path, PathBuf};

use comfy_table::{Table, presets};
use saddlebag::entries::{EntriesConfig, NewEntry, StoreEntry};
use saddlebag::session::RecallForPrompt;
use saddlebag::store::LONG_TERM_FILE;
use saddlebag_host::{EngineKind, Options, Project, Saddlebag};
use serde_json::Value;

use super::figures::{NOW, open, write};
use super::formats::History;
use crate::report::Report;
use crate::selection::Selection;
use crate::work::Result;

/// Our question sets, and those of other hands.
pub(crate) const SETS: [(&str, &str); 13] = [
    ("shop", include_str!("../../../tests/retrieval/prompts/shop.json")),
    ("trackers", include_str!("../../../tests/retrieval/prompts/trackers.json")),
    ("game", include_str!("../../../tests/retrieval/prompts/game.json")),
    ("rover", include_str!("../../../tests/retrieval/prompts/rover.json")),
    ("radio", include_str!("../../../tests/retrieval/prompts/radio.json")),
    ("sailings", include_str!("../../../tests/retrieval/prompts/sailings.json")),
    ("clinic", include_str!("../../../tests/retrieval/prompts/clinic.json")),
    ("vineyard", include_str!("../../../tests/retrieval/prompts/vineyard.json")),
    ("ebike", include_str!("../../../tests/retrieval/prompts/ebike.json")),
    ("platform", include_str!("../../../tests/retrieval/prompts/platform.json")),
    ("trials", include_str!("../../../tests/retrieval/prompts/trials.json")),
    ("auction", include_str!("../../../tests/retrieval/prompts/auction.json")),
    ("bibliothek", include_str!("../../../tests/retrieval/prompts/bibliothek.json")),
];

/// A set that no rule was trained with, by a hand that had seen none.
pub(crate) const HELD_OUT: (&str, &str) = ("harbour", include_str!("../../../tests/retrieval/prompts/harbour.json"));

/// Minimum scores of the curve, in thousandths of those that the program takes.
const SCORES: [u32; 6] = [600, 800, 1_000, 1_200, 1_500, 2_000];

/// A memory that is asked with prompts.
struct Asked {
    memory: Saddlebag,
    /// Number of sessions so far: each prompt has its own, because a session brings nothing twice.
    sessions: u32,
    /// Removed with the memory.
    _root: tempfile::TempDir,
}

impl Asked {
    /// Returns the names of what a prompt brings.
    fn brings(&mut self, prompt: &str, min_score: Option<u32>) -> Result<Vec<String>> {
        self.sessions += 1;
        let session = format!("s{}", self.sessions);
        let asked = RecallForPrompt {
            session,
            prompt: prompt.into(),
            max_bytes: saddlebag::session::DEFAULT_PROMPT_BYTES,
            min_score,
            keep_out: Vec::new(),
            dry_run: false,
            form: None,
        };
        Ok(self.memory.call(NOW, asked)?.sources)
    }

    /// Returns how many of these prompts bring anything, and how many there are.
    fn brings_any(&mut self, prompts: &Value, min_score: Option<u32>) -> Result<(usize, usize)> {
        let (mut any, mut all) = (0, 0);
        for prompt in prompts.as_array().into_iter().flatten().filter_map(Value::as_str) {
            all += 1;
            any += usize::from(!self.brings(prompt, min_score)?.is_empty());
        }
        Ok((any, all))
    }
}

/// Measures how many ordinary prompts bring anything, each beside the facts of its set.
pub(crate) fn ordinary(report: &mut Report, _: &Selection) -> Result<()> {
    let (mut any, mut all) = (0, 0);
    for (_, text) in SETS {
        let set: Value = serde_json::from_str(text)?;
        let brought = remember(&set)?.brings_any(&set["unrelated"], None)?;
        (any, all) = (any + brought.0, all + brought.1);
    }
    let share = any as f64 / all.max(1) as f64;
    report.add_ratio(&format!("ordinary prompts that bring text, {any} of {all}, of 2 %"), share / 0.02, 1.0);
    Ok(())
}

/// Returns a minimum score as the program takes it.
fn units(thousandths: u32) -> String {
    format!("{:.1}", f64::from(thousandths) / 1_000.0)
}

pub(crate) fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let place = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &place)?;
        } else {
            fs::copy(entry.path(), place)?;
        }
    }
    Ok(())
}

/// Returns the table of the questions of histories: what a prompt brings of its own history, and of strangers'.
pub(crate) fn of_histories(histories: &[History]) -> Result<String> {
    let mut folders = Vec::new();
    for history in histories {
        let folder = tempfile::tempdir()?;
        write(folder.path(), "chat", history)?;
        let memory = open(folder.path())?;
        folders.push(Asked { memory, sessions: 0, _root: folder });
    }
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header(["Minimum", "Own: anything", "Own: a session that answers", "Stranger's: anything"]);
    for min_score in SCORES {
        let (mut asked, mut own, mut right, mut strange, mut strangers) = (0_u32, 0_u32, 0_u32, 0_u32, 0_u32);
        for (number, history) in histories.iter().enumerate() {
            for question in &history.questions {
                let sources = folders[number].brings(&question.text, Some(min_score))?;
                let is_right = |source: &String| {
                    question.sessions.iter().any(|session| source.ends_with(&format!("session-{session:04}.md")))
                };
                asked += 1;
                own += u32::from(!sources.is_empty());
                right += u32::from(sources.iter().any(is_right));
                for other in (1..histories.len().min(4)).map(|next| (number + next) % histories.len()) {
                    strangers += 1;
                    strange += u32::from(!folders[other].brings(&question.text, Some(min_score))?.is_empty());
                }
            }
        }
        let share = |part: u32, whole: u32| format!("{:.1} %", 100.0 * f64::from(part) / f64::from(whole.max(1)));
        table.add_row([units(min_score), share(own, asked), share(right, asked), share(strange, strangers)]);
    }
    Ok(table.to_string())
}

pub(crate) fn list(value: &Value) -> Result<&Vec<Value>> {
    value.as_array().ok_or_else(|| "a list is missing".into())
}

/// Makes a store of a project with the facts.
fn remember(set: &Value) -> Result<Asked> {
    let root = tempfile::tempdir()?;
    let engine = EngineKind::native().ok_or("this program was built without the engine")?;
    let project = root.path().join("projects/eval");
    let options = Options {
        project: Project::Slug("eval".into()),
        entries: Some(EntriesConfig::for_agent("main")),
        ..Options::new(engine)
    };
    fs::create_dir_all(project.join("facts"))?;
    if let Some(text) = set["long_term"].as_str() {
        fs::write(project.join(LONG_TERM_FILE), text)?;
    }
    let mut memory = Saddlebag::open(root.path(), options)?;
    for fact in list(&set["facts"])? {
        let field = |name: &str| fact[name].as_str().unwrap_or_default();
        if fact["kind"] == "entry" {
            let category = match field("category") {
                "fact" | "decision" => "core",
                other => other,
            };
            let entry = NewEntry::new(field("key"), field("text"), category);
            memory.call(NOW, StoreEntry { entry, expected_version: None })?;
            continue;
        }
        let aliases: Vec<&str> = list(&fact["aliases"])?.iter().filter_map(Value::as_str).collect();
        let aliases = aliases.iter().map(|alias| format!("{alias:?}")).collect::<Vec<_>>().join(", ");
        let text = format!(
            "---\ntitle: {:?}\ndate: 2026-11-20T07:03:00+0000\ntags: []\naliases: [{aliases}]\n---\n\n{}\n",
            field("title"),
            field("text")
        );
        fs::write(project.join(format!("facts/{}.md", field("id"))), text)?;
    }
    Ok(Asked { memory, sessions: 0, _root: root })
}
