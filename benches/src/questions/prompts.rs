//! What a prompt brings: the fact that helps beside many pages, and nothing if nothing fits.

use std::fs;
use std::path::{Path, PathBuf};

use comfy_table::{Table, presets};
use saddlebag::entries::{EntriesConfig, NewEntry, StoreEntry};
use saddlebag::files::{Recall, RecallHit};
use saddlebag::session::RecallForPrompt;
use saddlebag::store::LONG_TERM_FILE;
use saddlebag_host::{EngineKind, Options, Project, Saddlebag};
use serde_json::Value;

use super::figures::{NOW, open, write};
use super::formats::History;
use crate::report::Report;
use crate::selection::Selection;
use crate::work::Result;

/// Our question sets.
const SETS: [(&str, &str); 8] = [
    ("shop", include_str!("../../../tests/retrieval/prompts/shop.json")),
    ("trackers", include_str!("../../../tests/retrieval/prompts/trackers.json")),
    ("game", include_str!("../../../tests/retrieval/prompts/game.json")),
    ("rover", include_str!("../../../tests/retrieval/prompts/rover.json")),
    ("radio", include_str!("../../../tests/retrieval/prompts/radio.json")),
    ("sailings", include_str!("../../../tests/retrieval/prompts/sailings.json")),
    ("clinic", include_str!("../../../tests/retrieval/prompts/clinic.json")),
    ("vineyard", include_str!("../../../tests/retrieval/prompts/vineyard.json")),
];

/// Numbers of foreign pages beside the facts.
const SIZES: [usize; 3] = [0, 180, 1_850];

/// Kinds of prompts that a fact helps with.
const KINDS: [&str; 5] = ["questions", "short", "pairs", "relations", "misspelt"];

/// Kinds of prompts that no fact helps with.
const OTHERS: [&str; 2] = ["unrelated", "nonsense"];

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
        for prompt in list(prompts)?.iter().filter_map(Value::as_str) {
            all += 1;
            any += usize::from(!self.brings(prompt, min_score)?.is_empty());
        }
        Ok((any, all))
    }

    /// Returns how many questions of a set have the right fact first in a recall, and how many in the first five.
    fn recalled(&mut self, set: &Value) -> Result<[usize; 2]> {
        let (mut first, mut in_five) = (0, 0);
        for question in list(&set[KINDS[0]])? {
            let query = question["prompt"].as_str().ok_or("a question without a prompt")?.to_string();
            let wanted = list(&question["right"])?;
            let hits = self.memory.call(NOW, Recall { query, limit: 5, ..Recall::default() })?.hits;
            let is_wanted = |hit: &RecallHit| {
                let source = if hit.category.is_some() { &hit.title } else { &hit.path };
                wanted.iter().filter_map(Value::as_str).any(|id| is_of(set, id, source))
            };
            first += usize::from(hits.first().is_some_and(is_wanted));
            in_five += usize::from(hits.iter().any(is_wanted));
        }
        Ok([first, in_five])
    }
}

/// Measures how many ordinary prompts bring anything, each beside the facts of its set.
pub(crate) fn ordinary(report: &mut Report, _: &Selection) -> Result<()> {
    let (mut any, mut all) = (0, 0);
    for (_, text) in SETS {
        let set: Value = serde_json::from_str(text)?;
        let brought = remember(&set, std::iter::empty())?.brings_any(&set["unrelated"], None)?;
        (any, all) = (any + brought.0, all + brought.1);
    }
    let share = any as f64 / all.max(1) as f64;
    report.add_ratio(&format!("ordinary prompts that bring text, {any} of {all}, of 2 %"), share / 0.02, 1.0);
    Ok(())
}

/// Returns the tables of our own questions beside the Markdown pages of a folder: with the default minimum, and with others.
pub(crate) fn own(pages: &Path) -> Result<String> {
    let mut found = Vec::new();
    collect(pages, &mut found)?;
    found.sort();
    let (mut table, mut curve) = (Table::new(), Table::new());
    for table in [&mut table, &mut curve] {
        table.load_style(presets::ASCII_MARKDOWN);
    }
    let of_kinds = KINDS.iter().map(|kind| format!("Right: {kind}")).chain(OTHERS.map(|kind| format!("Any: {kind}")));
    let head = ["Set", "Pages"].map(String::from).into_iter();
    let of_recall = ["Precision", "Recall: first", "Recall: in five"].map(String::from);
    table.set_header(head.chain(of_kinds).chain(of_recall));
    curve.set_header(["Set", "Pages", "Minimum", "Right: questions", "Any: unrelated", "Precision"]);
    for (name, text) in SETS {
        let set: Value = serde_json::from_str(text)?;
        for size in SIZES.into_iter().filter(|size| *size <= found.len()) {
            let mut asked = remember(&set, found.iter().step_by((found.len() / size.max(1)).max(1)).take(size))?;
            let brought = Brought::of(&mut asked, &set, None)?;
            let mut row = vec![name.to_string(), size.to_string()];
            row.extend(brought.right.iter().chain(&brought.any).map(|(part, all)| format!("{part} of {all}")));
            row.push(brought.precision());
            row.extend(asked.recalled(&set)?.map(|part| format!("{part} of {}", brought.right[0].1)));
            table.add_row(row);
            if size == SIZES[1] {
                for min_score in SCORES {
                    let brought = Brought::of(&mut asked, &set, Some(min_score))?;
                    let [(right, of_right), ..] = brought.right;
                    let [(any, of_any), _] = brought.any;
                    let (right, any) = (format!("{right} of {of_right}"), format!("{any} of {of_any}"));
                    let head = [name.into(), size.to_string(), units(min_score)];
                    curve.add_row(head.into_iter().chain([right, any, brought.precision()]));
                }
            }
        }
    }
    Ok(format!("{table}\n\n{curve}\n\n{}", ferry()?))
}

/// Returns the table of the questions of `tests/retrieval/` about its notes, and of prompts about something else.
fn ferry() -> Result<Table> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/retrieval");
    let questions: toml::Table = fs::read_to_string(folder.join("questions.toml"))?.parse()?;
    let questions = questions["question"].as_array().ok_or("no questions")?;
    let root = tempfile::tempdir()?;
    copy(&folder.join("notes"), root.path())?;
    let mut asked = Asked { memory: open(root.path())?, sessions: 0, _root: root };
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header(["Minimum", "Own: anything", "Own: a note that answers", "Any: unrelated"]);
    for min_score in SCORES {
        let (mut own, mut right, mut other, mut others) = (0, 0, 0, 0);
        for question in questions {
            let sources = asked.brings(question["text"].as_str().ok_or("no text")?, Some(min_score))?;
            let answers = question["relevant"].as_array().ok_or("no answers")?;
            let is_answer = |source: &String| answers.iter().any(|path| path.as_str() == Some(source));
            own += usize::from(!sources.is_empty());
            right += usize::from(sources.iter().any(is_answer));
        }
        for (_, text) in SETS {
            let set: Value = serde_json::from_str(text)?;
            let (any, all) = asked.brings_any(&set["unrelated"], Some(min_score))?;
            (other, others) = (other + any, others + all);
        }
        let of = |part: usize, all: usize| format!("{part} of {all}");
        let all = questions.len();
        table.add_row([units(min_score), of(own, all), of(right, all), of(other, others)]);
    }
    Ok(table)
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

/// What the prompts of a set bring.
#[derive(Default)]
struct Brought {
    /// Prompts of each kind that bring what helps, and all. A pair needs both.
    right: [(usize, usize); KINDS.len()],
    /// Prompts of each other kind that bring anything, and all.
    any: [(usize, usize); OTHERS.len()],
    /// Items that help, and all, of the prompts that something helps with.
    items: (usize, usize),
}

impl Brought {
    fn of(asked: &mut Asked, set: &Value, min_score: Option<u32>) -> Result<Self> {
        let mut brought = Self::default();
        for (kind, (right, all)) in KINDS.iter().zip(&mut brought.right) {
            for question in list(&set[*kind])? {
                let prompt = question["prompt"].as_str().ok_or("a question without a prompt")?;
                let wanted: Vec<&str> = list(&question["right"])?.iter().filter_map(Value::as_str).collect();
                let sources = asked.brings(prompt, min_score)?;
                let is_wanted = |source: &&String| wanted.iter().any(|id| is_of(set, id, source));
                let hits = sources.iter().filter(is_wanted).count();
                *all += 1;
                *right += usize::from(hits == wanted.len() || hits > 0 && *kind != "pairs");
                brought.items = (brought.items.0 + hits, brought.items.1 + sources.len());
            }
        }
        for (kind, any) in OTHERS.iter().zip(&mut brought.any) {
            *any = asked.brings_any(&set[*kind], min_score)?;
        }
        Ok(brought)
    }

    fn precision(&self) -> String {
        format!("{:.2}", self.items.0 as f64 / self.items.1.max(1) as f64)
    }
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

fn list(value: &Value) -> Result<&Vec<Value>> {
    value.as_array().ok_or_else(|| "a list is missing".into())
}

/// Returns true if a source is the fact with an identifier.
fn is_of(set: &Value, id: &str, source: &str) -> bool {
    let fact = set["facts"].as_array().into_iter().flatten().find(|fact| fact["id"] == id);
    let key = fact.and_then(|fact| fact["key"].as_str()).filter(|_| fact.is_some_and(|fact| fact["kind"] == "entry"));
    let name = if id == LONG_TERM_FILE { id.into() } else { format!("facts/{id}.md") };
    key.map_or_else(|| source.ends_with(&name), |key| source == key)
}

/// Makes a store of a project with the facts and the pages.
fn remember<'a>(set: &Value, pages: impl Iterator<Item = &'a PathBuf>) -> Result<Asked> {
    let root = tempfile::tempdir()?;
    let engine = EngineKind::native().ok_or("this program was built without the engine")?;
    let project = root.path().join("projects/eval");
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

fn collect(folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
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
