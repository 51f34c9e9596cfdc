//! The files of the sets: chats in sessions, and questions with the turns that answer them.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::work::Result;

/// A set as it was read.
pub(crate) struct Data {
    pub(crate) histories: Vec<History>,
    /// SHA-256 of the files that were read, in hexadecimal digits.
    pub(crate) digest: String,
}

/// The chats of one person, with questions about them.
#[derive(Default)]
pub(crate) struct History {
    pub(crate) sessions: Vec<Session>,
    pub(crate) questions: Vec<Question>,
}

#[derive(Default)]
pub(crate) struct Session {
    /// Date as the file writes it; empty if it has none.
    pub(crate) date: String,
    pub(crate) turns: Vec<Turn>,
}

pub(crate) struct Turn {
    id: String,
    pub(crate) speaker: String,
    pub(crate) text: String,
}

pub(crate) struct Question {
    pub(crate) text: String,
    /// Sessions that answer it.
    pub(crate) sessions: Vec<usize>,
    /// Turns that answer it: the session, and the place in it. Empty if the file names sessions only.
    pub(crate) turns: Vec<(usize, usize)>,
}

/// Reads a set.
pub(crate) fn read(set: &str, path: &Path) -> Result<Data> {
    let mut files = Files { digest: Sha256::new() };
    let histories = match set {
        "locomo" => list(&files.json(path)?)?.iter().map(locomo).collect::<Result<_>>()?,
        "longmemeval" => {
            let samples = files.json(path)?;
            let answered = list(&samples)?.iter().filter(|sample| !is_abstention(sample));
            answered.map(longmemeval).collect::<Result<_>>()?
        }
        "conversations" => {
            let paths = if path.is_dir() { json_below(path)? } else { vec![path.to_path_buf()] };
            paths.iter().map(|path| conversation(&files.json(path)?)).collect::<Result<_>>()?
        }
        other => return Err(format!("there is no set `{other}`").into()),
    };
    let digest = files.digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(Data { histories, digest })
}

struct Files {
    digest: Sha256,
}

impl Files {
    fn json(&mut self, path: &Path) -> Result<Value> {
        let bytes = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
        self.digest.update(&bytes);
        serde_json::from_slice(&bytes).map_err(|error| format!("{}: {error}", path.display()).into())
    }
}

/// Returns the JSON files of a folder, sorted.
pub(crate) fn json_below(folder: &Path) -> Result<Vec<PathBuf>> {
    let paths = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut paths: Vec<PathBuf> = paths.map(|entry| entry.map(|entry| entry.path())).collect::<std::io::Result<_>>()?;
    paths.retain(|path| path.extension().is_some_and(|suffix| suffix == "json"));
    paths.sort_unstable();
    Ok(paths)
}

fn list(value: &Value) -> Result<&Vec<Value>> {
    value.as_array().ok_or_else(|| "the file is not a list".into())
}

fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_default().trim().to_string()
}

/// Reads one of the samples of LoCoMo.
fn locomo(sample: &Value) -> Result<History> {
    let conversation = &sample["conversation"];
    let mut history = History::default();
    for number in 1.. {
        let Some(turns) = conversation[format!("session_{number}")].as_array() else { break };
        let date = text(conversation, &format!("session_{number}_date_time"));
        let turns = turns.iter().map(|turn| {
            let image = turn["blip_caption"].as_str().map(|caption| format!(" [image: {caption}]"));
            let text_of_turn = text(turn, "text") + &image.unwrap_or_default();
            Turn { id: text(turn, "dia_id"), speaker: text(turn, "speaker"), text: text_of_turn }
        });
        history.sessions.push(Session { date, turns: turns.collect() });
    }
    for question in list(&sample["qa"])? {
        // The fifth category asks for what was never said.
        let ids = question["evidence"].as_array().into_iter().flatten().filter_map(Value::as_str).flat_map(turn_ids);
        history.ask(text(question, "question"), ids.collect());
    }
    Ok(history)
}

/// Returns every `D<n>:<k>` in a piece of evidence, which may have several, and stray characters.
fn turn_ids(evidence: &str) -> Vec<String> {
    let words = evidence.split(|c: char| !c.is_ascii_alphanumeric() && c != ':');
    let is_id = |word: &&str| {
        let parts = word.strip_prefix('D').and_then(|rest| rest.trim_start_matches(':').split_once(':'));
        parts.is_some_and(|(n, k)| [n, k].iter().all(|digits| digits.parse::<u32>().is_ok()))
    };
    words.filter(is_id).map(|word| word.replacen("D:", "D", 1)).collect()
}

fn is_abstention(sample: &Value) -> bool {
    text(sample, "question_id").ends_with("_abs")
}

/// Reads one of the questions of LongMemEval, with its own chats.
fn longmemeval(sample: &Value) -> Result<History> {
    let mut history = History::default();
    let answers: Vec<&str> =
        sample["answer_session_ids"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let mut question = Question { text: text(sample, "question"), sessions: Vec::new(), turns: Vec::new() };
    for (number, turns) in list(&sample["haystack_sessions"])?.iter().enumerate() {
        if sample["haystack_session_ids"][number].as_str().is_some_and(|id| answers.contains(&id)) {
            question.sessions.push(number);
        }
        let mut session =
            Session { date: sample["haystack_dates"][number].as_str().unwrap_or_default().into(), turns: Vec::new() };
        for (place, turn) in list(turns)?.iter().enumerate() {
            if turn["has_answer"].as_bool() == Some(true) {
                question.turns.push((number, place));
            }
            session.turns.push(Turn { id: String::new(), speaker: text(turn, "role"), text: text(turn, "content") });
        }
        history.sessions.push(session);
    }
    history.questions.push(question);
    Ok(history)
}

/// Reads a chat with `messages` and `questions`, whose evidence are numbers of messages.
fn conversation(chat: &Value) -> Result<History> {
    let mut history = History::default();
    let mut last = None;
    for (number, message) in list(&chat["messages"])?.iter().enumerate() {
        let session = message["session"].as_i64();
        if session != last {
            history.sessions.push(Session::default());
            last = session;
        }
        let Some(session) = history.sessions.last_mut() else { continue };
        if session.date.is_empty() {
            session.date = text(message, "date");
        }
        let turn = Turn { id: number.to_string(), speaker: text(message, "role"), text: text(message, "text") };
        session.turns.push(turn);
    }
    for question in list(&chat["questions"])? {
        let ids = question["evidence"].as_array().into_iter().flatten().map(Value::to_string);
        history.ask(text(question, "question"), ids.collect());
    }
    Ok(history)
}

impl History {
    /// Adds a question with the turns that answer it. One without any that can be found is left out.
    fn ask(&mut self, question: String, ids: Vec<String>) {
        let mut turns: Vec<(usize, usize)> = Vec::new();
        for (number, session) in self.sessions.iter().enumerate() {
            let places = session.turns.iter().enumerate().filter(|(_, turn)| ids.contains(&turn.id));
            turns.extend(places.map(|(place, _)| (number, place)));
        }
        let mut sessions: Vec<usize> = turns.iter().map(|(session, _)| *session).collect();
        sessions.dedup();
        if !turns.is_empty() {
            self.questions.push(Question { text: question, sessions, turns });
        }
    }
}
