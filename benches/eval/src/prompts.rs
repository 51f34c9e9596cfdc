//! What a prompt brings: the fact that helps beside many pages, and nothing if nothing fits.

use std::fs;
use std::path::{Path, PathBuf};

use comfy_table::{Table, presets};
use saddlebag::entries::{EntriesConfig, NewEntry, StoreEntry};
use saddlebag::session::RecallForPrompt;
use saddlebag_host::{EngineKind, Options, Project, Saddlebag};
use serde_json::Value;

use crate::Failure;
use crate::formats::History;
use crate::measure::{NOW, open, write};

/// Our question sets. The first was at hand when the rules were chosen, the second was not.
const SETS: [(&str, &str); 2] = [
    ("shop", include_str!("../../../tests/retrieval/prompts/shop.json")),
    ("trackers", include_str!("../../../tests/retrieval/prompts/trackers.json")),
];

/// Numbers of foreign pages beside the facts.
const SIZES: [usize; 3] = [0, 180, 1_850];

/// Kinds of prompts that a fact helps with.
const KINDS: [&str; 5] = ["questions", "short", "pairs", "relations", "misspelt"];

/// Kinds of prompts that no fact helps with.
const OTHERS: [&str; 2] = ["unrelated", "nonsense"];

/// Minimum scores of the curve, in thousandths.
const SCORES: [u32; 5] = [600, 800, 1_200, 1_500, 2_000];

/// A memory that is asked with prompts.
struct Asked {
    memory: Saddlebag,
    sessions: u32,
}

impl Asked {
    /// Returns the names of what a prompt brings.
    fn brings(&mut self, prompt: &str, min_score: Option<u32>) -> Result<Vec<String>, Failure> {
        self.sessions += 1;
        let session = format!("s{}", self.sessions);
        let asked = RecallForPrompt {
            session,
            prompt: prompt.into(),
            max_bytes: saddlebag::session::DEFAULT_PROMPT_BYTES,
            min_score,
            form: None,
        };
        Ok(self.memory.call(NOW, asked)?.sources)
    }
}

/// Returns the table of our own questions beside the Markdown pages of a folder.
pub(crate) fn own(pages: &Path) -> Result<String, Failure> {
    let mut found = Vec::new();
    collect(pages, &mut found)?;
    found.sort();
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    let of_kinds = KINDS.iter().map(|kind| format!("right: {kind}"));
    let header =
        ["set".into(), "pages".into()].into_iter().chain(of_kinds).chain(OTHERS.map(|kind| format!("any: {kind}")));
    table.set_header(header.chain(["precision".into()]));
    let verbose = std::env::var_os("EVAL_LIST").is_some();
    for (name, text) in SETS {
        let set: Value = serde_json::from_str(text)?;
        for size in SIZES.into_iter().filter(|size| *size <= found.len()) {
            let mut asked = remember(&set, found.iter().step_by((found.len() / size.max(1)).max(1)).take(size))?;
            let (mut brought, mut fitting) = (0, 0);
            let mut row = vec![name.to_string(), size.to_string()];
            for kind in KINDS {
                let questions = list(&set[kind])?;
                let mut right = 0;
                for question in questions {
                    let prompt = question["prompt"].as_str().ok_or("a question without a prompt")?;
                    let wanted: Vec<&str> = list(&question["right"])?.iter().filter_map(Value::as_str).collect();
                    let sources = asked.brings(prompt, None)?;
                    let is_wanted = |source: &&String| wanted.iter().any(|id| is_of(&set, id, source));
                    let hits = sources.iter().filter(is_wanted).count();
                    brought += sources.len();
                    fitting += hits;
                    right += u32::from(hits == wanted.len() || hits > 0 && kind != "pairs");
                    if verbose && (hits == 0 || hits < sources.len()) {
                        eprintln!("{name} {size} {kind}: {prompt} -> {sources:?}, not {wanted:?}");
                    }
                }
                row.push(format!("{right} of {}", questions.len()));
            }
            for kind in OTHERS {
                let prompts = list(&set[kind])?;
                let mut any = 0;
                for prompt in prompts.iter().filter_map(Value::as_str) {
                    let sources = asked.brings(prompt, None)?;
                    any += u32::from(!sources.is_empty());
                    if verbose && !sources.is_empty() {
                        eprintln!("{name} {size} {kind}: {prompt:.200} -> {sources:?}");
                    }
                }
                row.push(format!("{any} of {}", prompts.len()));
            }
            row.push(format!("{:.2}", f64::from(fitting as u32) / f64::from(brought.max(1) as u32)));
            table.add_row(row);
        }
    }
    Ok(table.to_string())
}

/// Returns the table of the questions of histories: what a prompt brings of its own history, and of strangers'.
pub(crate) fn of_histories(histories: &[History]) -> Result<String, Failure> {
    let mut folders = Vec::new();
    for history in histories {
        let folder = tempfile::tempdir()?;
        write(folder.path(), "chat", history)?;
        let memory = open(folder.path())?;
        folders.push((folder, Asked { memory, sessions: 0 }));
    }
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header(["Minimum", "Own: anything", "Own: a session that answers", "Stranger's: anything"]);
    for min_score in [None].into_iter().chain(SCORES.map(Some)) {
        let (mut asked, mut own, mut right, mut strange, mut strangers) = (0_u32, 0_u32, 0_u32, 0_u32, 0_u32);
        for (number, history) in histories.iter().enumerate() {
            for question in &history.questions {
                let sources = folders[number].1.brings(&question.text, min_score)?;
                let is_right = |source: &String| {
                    question.sessions.iter().any(|session| source.ends_with(&format!("session-{session:04}.md")))
                };
                asked += 1;
                own += u32::from(!sources.is_empty());
                right += u32::from(sources.iter().any(is_right));
                for other in (1..histories.len().min(4)).map(|next| (number + next) % histories.len()) {
                    strangers += 1;
                    strange += u32::from(!folders[other].1.brings(&question.text, min_score)?.is_empty());
                }
            }
        }
        let share = |part: u32, whole: u32| format!("{:.1} %", 100.0 * f64::from(part) / f64::from(whole.max(1)));
        let name = min_score.map_or("default".to_string(), |score| score.to_string());
        table.add_row([name, share(own, asked), share(right, asked), share(strange, strangers)]);
    }
    Ok(table.to_string())
}

fn list(value: &Value) -> Result<&Vec<Value>, Failure> {
    value.as_array().ok_or_else(|| "a list is missing".into())
}

/// Returns true if a source is the fact with an identifier.
fn is_of(set: &Value, id: &str, source: &str) -> bool {
    let fact = set["facts"].as_array().into_iter().flatten().find(|fact| fact["id"] == id);
    let key = fact.and_then(|fact| fact["key"].as_str()).filter(|_| fact.is_some_and(|fact| fact["kind"] == "entry"));
    key.map_or_else(|| source.ends_with(&format!("facts/{id}.md")), |key| source == key)
}

/// Makes a store of a project with the facts and the pages.
fn remember<'a>(set: &Value, pages: impl Iterator<Item = &'a PathBuf>) -> Result<Asked, Failure> {
    let root = tempfile::tempdir()?.keep();
    let engine = EngineKind::native().ok_or("this program was built without the engine")?;
    let project = root.join("projects/eval");
    let options = Options {
        project: Project::Slug("eval".into()),
        entries: Some(EntriesConfig::for_agent("main")),
        ..Options::new(engine)
    };
    fs::create_dir_all(project.join("facts"))?;
    fs::create_dir_all(project.join("pages"))?;
    for (number, page) in pages.enumerate() {
        fs::write(project.join(format!("pages/{number:04}.md")), fs::read(page)?)?;
    }
    let mut memory = Saddlebag::open(&root, options)?;
    for fact in list(&set["facts"])? {
        let field = |name: &str| fact[name].as_str().unwrap_or_default();
        if fact["kind"] == "entry" {
            let category = match field("category") {
                "fact" | "decision" => "core",
                other => other,
            };
            let mut entry = NewEntry::new(field("key"), field("text"), category);
            entry.tags = Vec::new();
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
    Ok(Asked { memory, sessions: 0 })
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) -> Result<(), Failure> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, found)?;
        } else if path.extension().is_some_and(|end| end == "md") {
            found.push(path);
        }
    }
    Ok(())
}
