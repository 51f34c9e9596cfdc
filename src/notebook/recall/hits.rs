//! [`RecallHit`]s from ranked items: path, title and passage, as the files have them.

use super::super::checks::title_or_stem;
use super::super::successor::newer_note;
use super::corpora::Corpora;
use super::search::Asked;
use super::texts::{Texts, with_cuts};
use super::types::{LEAST_BYTES, RecallHit, ScorePart};
use crate::search::day_of_log;
use crate::search::ranked::{CUT, Passage, Ranked};
use crate::store::Date;
use crate::trust::{ForModel, Marks, TrustState};
use saddlebag_collections::prelude::*;
use saddlebag_markdown::{Note, head};
use saddlebag_protocol::Error;

/// Returns the hit at a place of the page with its passage.
pub(super) fn hit(
    asked: &Asked<'_>,
    corpora: &Corpora<'_>,
    texts: &Texts<'_>,
    (place, ranked): (usize, &Ranked),
    passage: Option<&Passage>,
) -> Result<RecallHit, Error> {
    let scope = &asked.call.scope;
    let (document, entry) = corpora.document(ranked)?;
    let shown = texts.item(place);
    let note = shown.map(|shown| &shown.note);
    let path = document.path.as_str();
    let text = passage.zip(shown).and_then(|(passage, shown)| with_cuts(&shown.text, &passage.range));
    // Passage and text are of the same file. A hit without its passage is still a hit.
    debug_assert_eq!(text.is_some(), passage.is_some(), "a broken invariant: a passage outside of its text");
    let title = || title_or_stem(note.map_or("", |note| note.title.as_str()), path);
    let of_text = || document.text.as_deref().and_then(|text| TrustState::from_text(text).unapproved());
    let now = asked.call.now;
    let log = day_of_log(&document.path);
    let stated = note.filter(|_| entry.is_none()).and_then(Note::stated);
    let of_note = || stated.map(|date| now.moment_of(date)).or(log.map(Date::start_in_utc));
    let day_of_note = || stated.map(|date| now.day_of(now.calendar_of(date))).or(log.map(|day| day.to_string()));
    let of_note_marks = || {
        let newer = newer_note(asked.call, &corpora.notes, path).unwrap_or_default();
        Marks { unapproved: of_text(), ..newer }
    };
    Ok(RecallHit {
        kind: corpora.kind(document, entry),
        path: scope.display_path(&document.path),
        title: entry.map_or_else(title, |entry| entry.key.clone()),
        category: entry.map(|entry| entry.category.clone()),
        date: entry.map(|entry| entry.updated).or_else(of_note).unwrap_or_default(),
        day: entry.map(|entry| now.day_of(entry.updated)).or_else(day_of_note),
        score: f64::from(ranked.score),
        terms: ranked.terms.clone(),
        fields: ranked.fields.iter().map(|field| field.name().to_string()).collect(),
        lines: passage.map(|passage| vec![passage.lines.0, passage.lines.1]).unwrap_or_default(),
        passage: text.unwrap_or_default(),
        parts: if asked.request.explain { parts(ranked) } else { Vec::new() },
        marks: entry.map_or_else(of_note_marks, |entry| entry.marks.clone()),
    })
}

fn parts(ranked: &Ranked) -> Vec<ScorePart> {
    let words = ranked.parts.iter().map(|part| ScorePart {
        reason: format!("{} (tf {}, idf {:.3})", part.term, part.tf, part.idf),
        field: part.field.name().to_string(),
        amount: f64::from(part.amount),
    });
    let bonuses = [
        ("coverage", ranked.coverage),
        ("phrase", ranked.phrase),
        ("proximity", ranked.proximity),
        ("inherited", ranked.inherited),
    ];
    let bonuses = bonuses.into_iter().filter(|(_, amount)| *amount != 0.0);
    let factor = (ranked.weight != 1.0).then_some(("superseded, as a factor", ranked.weight));
    let others = bonuses.chain(factor).map(|(reason, amount)| ScorePart {
        reason: reason.to_string(),
        field: String::new(),
        amount: f64::from(amount),
    });
    words.chain(others).collect()
}

/// Bytes after a hit that is rendered: an empty line before the next, or the ending of the last line.
const SEPARATOR: &str = "\n\n";

/// Returns the number of bytes that a hit needs beside its passage, where the whole text has so many lines.
pub(super) fn around(hit: RecallHit, lines: usize) -> usize {
    let last = u32::try_from(lines).unwrap_or(u32::MAX);
    // The first line may have as many digits as the last.
    let digits = last.to_string().len() - 1;
    rendered_size(&RecallHit { lines: vec![0, last], passage: String::new(), ..hit }) + digits
}

/// Returns the hits that fit into a budget once they are rendered. The first is cut if it does not fit.
pub(crate) fn fitting(hits: Vec<RecallHit>, max_bytes: usize) -> Vec<RecallHit> {
    let mut rest = max_bytes;
    let mut fitting: Vec<RecallHit> = Vec::new();
    for mut hit in hits {
        if fitting.is_empty() {
            let over = rendered_size(&hit).saturating_sub(rest);
            let room = hit.passage.len().saturating_sub(over);
            if over > 0 && room >= LEAST_BYTES {
                hit.passage = shortened(&hit.passage, room);
                if let [first, last] = hit.lines.as_mut_slice() {
                    *last = first.saturating_add(
                        u32::try_from(hit.passage.trim_end().matches('\n').count()).unwrap_or(u32::MAX),
                    );
                }
            }
        }
        if let Some(less) = rest.checked_sub(rendered_size(&hit)) {
            rest = less;
            fitting.push(hit);
        }
    }
    fitting
}

/// Returns the beginning of a passage, at most `room` bytes, which ends in a mark.
pub(crate) fn shortened(passage: &str, room: usize) -> String {
    let cut = head(passage, room.saturating_sub(CUT.len()));
    let end = cut.rfind(char::is_whitespace).unwrap_or(cut.len());
    let mut shortened = head(cut, end).trim_end().to_string();
    shortened.push_str(CUT);
    shortened
}

fn rendered_size(hit: &RecallHit) -> usize {
    render(core::slice::from_ref(hit)).len() + SEPARATOR.len()
}

/// Renders the hits for a model: each with its source, its lines and its passage.
pub(crate) fn render(hits: &[RecallHit]) -> ForModel {
    let mut rendered = ForModel::default();
    for hit in hits {
        if !rendered.is_empty() {
            rendered.push_ours(SEPARATOR);
        }
        let lines = match hit.lines.as_slice() {
            [first, last] if first != last => format!(":{first}-{last}"),
            [first, ..] => format!(":{first}"),
            [] => String::new(),
        };
        let marks: String = hit.marks.texts().iter().map(|mark| format!(" ({mark})")).collect();
        // The title of a log is its date.
        let day = hit.day.as_ref().filter(|day| !hit.title.contains(day.as_str()));
        let date = day.map(|day| format!(" ({day})")).unwrap_or_default();
        let block = format!("{}{lines}  {}{date}{marks}\n{}", hit.path, hit.title, hit.passage.trim_end());
        rendered.push_escaped(&block);
    }
    rendered
}
