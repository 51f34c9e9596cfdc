//! The figures: the sessions among the first notes, and the turns within the passages that fill a budget.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::Path;
use std::time::{Duration, Instant};

use comfy_table::{Table, presets};
use saddlebag::files::{Recall, RecallHit};
use saddlebag::store::Timestamp;
use saddlebag_host::{EngineKind, Options, Saddlebag};

use super::formats::{Data, History, Question};
use super::turns::Turns;
use crate::work::Result;

/// Number of times that a recall is asked for a budget of passages.
const MAX_ATTEMPTS: usize = 6;

/// Budgets for the passages in bytes.
const BUDGETS: [usize; 3] = [1_600, 3_300, 6_500];

/// Size in bytes from which a turn need not stand whole in the passages: one passage within it is enough.
const LONG_TURN: usize = 800;

/// A day after all chats.
pub(crate) const NOW: Timestamp = Timestamp { seconds: 1_900_000_000, nanoseconds: 0, utc_offset_seconds: 0 };

/// Figures of all questions, each a sum to be divided by their number.
#[derive(Default)]
pub(crate) struct Figures {
    pub(crate) questions: f64,
    /// A session that answers is the first, among the first five, or ten.
    pub(crate) among: [f64; 3],
    /// Share of the sessions that answer among the first five.
    recall_five: f64,
    pub(crate) reciprocal_rank: f64,
    evidence: [f64; 3],
    /// Questions with known turns.
    with_turns: f64,
    time: Duration,
}

/// Places of the turns in the note of a session.
struct Note {
    turns: Vec<Range<usize>>,
    text: String,
}

/// The notes of a history, by their paths.
pub(crate) struct Notes {
    paths: BTreeMap<String, usize>,
    notes: Vec<Note>,
}

/// Measures each history in a separate store, and the baseline.
pub(crate) fn apart(histories: &[History]) -> Result<[Figures; 2]> {
    let (mut ours, mut baseline) = (Figures::default(), Figures::default());
    for history in histories {
        let folder = tempfile::tempdir()?;
        let notes = write(folder.path(), "chat", history)?;
        let mut memory = open(folder.path())?;
        for question in &history.questions {
            ours.add(&mut memory, question, &notes)?;
        }
        let turns = Turns::new(history);
        for question in &history.questions {
            baseline.add_ranked(&turns, question, &notes);
        }
    }
    Ok([ours, baseline])
}

/// Measures all histories in one store.
pub(crate) fn together(histories: &[History]) -> Result<Figures> {
    let folder = tempfile::tempdir()?;
    let mut all = Vec::new();
    for (number, history) in histories.iter().enumerate() {
        all.push(write(folder.path(), &format!("chat-{number:04}"), history)?);
    }
    let mut memory = open(folder.path())?;
    let mut figures = Figures::default();
    for (history, notes) in histories.iter().zip(&all) {
        for question in &history.questions {
            figures.add(&mut memory, question, notes)?;
        }
    }
    Ok(figures)
}

/// Writes a note for each session: the date as heading, and the turns as paragraphs.
pub(crate) fn write(root: &Path, folder: &str, history: &History) -> Result<Notes> {
    fs::create_dir_all(root.join(folder))?;
    let (mut paths, mut notes) = (BTreeMap::new(), Vec::new());
    for (number, session) in history.sessions.iter().enumerate() {
        let path = format!("{folder}/session-{number:04}.md");
        let mut text = format!("# {}\n", if session.date.is_empty() { "Session" } else { &session.date });
        let mut turns = Vec::new();
        for turn in &session.turns {
            text.push_str(&format!("\n{}: ", turn.speaker));
            turns.push(text.len()..text.len() + turn.text.len());
            text.push_str(&turn.text);
            text.push('\n');
        }
        fs::write(root.join(&path), &text)?;
        paths.insert(path, number);
        notes.push(Note { turns, text });
    }
    Ok(Notes { paths, notes })
}

pub(crate) fn open(root: &Path) -> Result<Saddlebag> {
    let engine = EngineKind::native().ok_or("this program was built without the engine")?;
    Ok(Saddlebag::open(root, Options::new(engine))?)
}

impl Figures {
    /// Asks our recall.
    fn add(&mut self, memory: &mut Saddlebag, question: &Question, notes: &Notes) -> Result<()> {
        let begin = Instant::now();
        let asked = Recall { query: question.text.clone(), limit: 10, ..Recall::default() };
        let hits = memory.call(NOW, asked.clone())?.hits;
        self.time += begin.elapsed();
        let ranked: Vec<Option<usize>> = hits.iter().map(|hit| notes.paths.get(&hit.path).copied()).collect();
        self.add_sessions(question, &ranked);
        let mut evidence = [0.0; 3];
        for (share, max_bytes) in evidence.iter_mut().zip(BUDGETS) {
            let hits = filled(memory, &asked, max_bytes)?;
            let passages: Vec<(usize, Range<usize>)> = hits.iter().filter_map(|hit| place(hit, notes)).collect();
            *share = found(question, notes, &passages);
        }
        self.add_evidence(question, evidence);
        Ok(())
    }

    /// Asks the baseline. A session has the rank of its best turn, and turns fill the budget, the last one cut.
    fn add_ranked(&mut self, turns: &Turns, question: &Question, notes: &Notes) {
        let begin = Instant::now();
        let ranked = turns.ranked(&question.text);
        self.time += begin.elapsed();
        let mut sessions: Vec<Option<usize>> = Vec::new();
        for (session, _) in &ranked {
            if sessions.len() < 10 && !sessions.contains(&Some(*session)) {
                sessions.push(Some(*session));
            }
        }
        self.add_sessions(question, &sessions);
        let evidence = BUDGETS.map(|max_bytes| {
            let mut rest = max_bytes;
            let mut passages = Vec::new();
            for (session, turn) in &ranked {
                let range = notes.notes[*session].turns[*turn].clone();
                let end = range.start + range.len().min(rest);
                rest -= end - range.start;
                passages.push((*session, range.start..end));
                if rest == 0 {
                    break;
                }
            }
            found(question, notes, &passages)
        });
        self.add_evidence(question, evidence);
    }

    /// Adds the rank of the first session that answers.
    pub(crate) fn add_sessions(&mut self, question: &Question, ranked: &[Option<usize>]) {
        let answers = |session: &Option<usize>| session.is_some_and(|session| question.sessions.contains(&session));
        let first = ranked.iter().position(answers);
        self.questions += 1.0;
        for (sum, rank) in self.among.iter_mut().zip([1, 5, 10]) {
            *sum += f64::from(u8::from(first.is_some_and(|first| first < rank)));
        }
        self.reciprocal_rank += first.map_or(0.0, |first| 1.0 / (first as f64 + 1.0));
        let five = ranked.iter().take(5).filter(|session| answers(session)).count();
        self.recall_five += five as f64 / question.sessions.len().max(1) as f64;
    }

    fn add_evidence(&mut self, question: &Question, evidence: [f64; 3]) {
        if !question.turns.is_empty() {
            self.with_turns += 1.0;
            self.evidence.iter_mut().zip(evidence).for_each(|(sum, share)| *sum += share);
        }
    }
}

/// Returns the hits whose passages fill a budget. That of a recall is for their paths and titles too, so it is made larger by
/// what these take.
fn filled(memory: &mut Saddlebag, asked: &Recall, max_bytes: usize) -> Result<Vec<RecallHit>> {
    let (mut hits, mut most, mut budget) = (Vec::new(), 0, max_bytes);
    for _ in 0..MAX_ATTEMPTS {
        let found = memory.call(NOW, Recall { max_bytes: Some(budget as u32), ..asked.clone() })?.hits;
        let size: usize = found.iter().map(|hit| hit.passage.len()).sum();
        if size > max_bytes {
            break;
        }
        if size >= most {
            (hits, most) = (found, size);
        }
        if size == max_bytes {
            break;
        }
        budget += max_bytes - size;
    }
    Ok(hits)
}

/// Returns the place of a passage in its note.
fn place(hit: &RecallHit, notes: &Notes) -> Option<(usize, Range<usize>)> {
    let number = *notes.paths.get(&hit.path)?;
    let text = &notes.notes.get(number)?.text;
    let line = usize::try_from(*hit.lines.first()?).ok()?;
    let begin: usize = text.split_inclusive('\n').take(line - 1).map(str::len).sum();
    let start = begin + text.get(begin..)?.find(hit.passage.as_str())?;
    Some((number, start..start + hit.passage.len()))
}

/// Returns the share of the turns that answer a question and are in the passages.
fn found(question: &Question, notes: &Notes, passages: &[(usize, Range<usize>)]) -> f64 {
    let is_found = |(session, turn): &&(usize, usize)| {
        let turn = &notes.notes[*session].turns[*turn];
        let mut of_note: Vec<&Range<usize>> =
            passages.iter().filter(|(note, _)| note == session).map(|(_, range)| range).collect();
        of_note.sort_by_key(|range| range.start);
        let reached =
            of_note.iter().fold(turn.start, |at, range| if range.start <= at { at.max(range.end) } else { at });
        let is_within = |range: &&Range<usize>| range.start + LONG_TURN / 8 <= range.end && range.end <= turn.end;
        let starts_within = |range: &&Range<usize>| range.end > turn.start && is_within(range);
        reached >= turn.end || turn.len() > LONG_TURN && of_note.iter().copied().any(|range| starts_within(&range))
    };
    question.turns.iter().filter(is_found).count() as f64 / question.turns.len().max(1) as f64
}

/// Returns the table of the figures.
pub(crate) fn report(set: &str, data: &Data, apart: &[Figures; 2], together: &Figures) -> String {
    let [ours, baseline] = apart;
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    let evidence = BUDGETS.map(|bytes| format!("Evidence in {bytes} bytes"));
    let mut header: Vec<String> = ["", "First", "In five", "In ten", "Share in five", "MRR"].map(String::from).to_vec();
    header.extend(evidence);
    header.push("ms a question".into());
    table.set_header(header);
    let rows = [("Saddlebag", ours), ("BM25 over turns", baseline), ("Saddlebag, all in one store", together)];
    for (name, figures) in rows {
        let share = |sum: f64| format!("{:.1} %", 100.0 * sum / figures.questions.max(1.0));
        let mut row = vec![name.to_string()];
        row.extend(figures.among.map(share));
        row.push(share(figures.recall_five));
        row.push(format!("{:.3}", figures.reciprocal_rank / figures.questions.max(1.0)));
        row.extend(figures.evidence.map(|sum| format!("{:.1} %", 100.0 * sum / figures.with_turns.max(1.0))));
        row.push(format!("{:.1}", figures.time.as_secs_f64() * 1000.0 / figures.questions.max(1.0)));
        table.add_row(row);
    }
    let sessions: usize = data.histories.iter().map(|history| history.sessions.len()).sum();
    format!(
        "{set}: {} questions about {} histories with {sessions} sessions; SHA-256 of the data {}\n\n{table}",
        ours.questions,
        data.histories.len(),
        data.digest,
    )
}
