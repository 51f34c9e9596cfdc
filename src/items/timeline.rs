//! Questions about a time, such as "what did I do last week?": their answer is what memory has of the time, in its order.

use core::ops::Range;

use crate::changes::Call;
use crate::notebook::{
    ItemKind, ItemList, ListedItem, NoteFilter, NoteList, Notebook, Recall, RecallHit, RecallReply, asks_for_latest,
    list_notes, render, shortened, time_in, words_of,
};
use crate::search::{Corpus, IndexedFile, SearchableEntries, SearchableEntry, day_of_log};
use crate::store::{DAILY_FOLDER, DECISIONS_FOLDER, Date, LocalTime, NOTE_SUFFIX, is_in_folder};
use saddlebag_collections::{order, prelude::*};
use saddlebag_markdown::{Note, TagSyntax};
use saddlebag_protocol::Error;

const DAY_NANOSECONDS: u64 = 86_400_000_000_000;

/// Maximum size of the text of a hit, in bytes.
const PASSAGE_BYTES: usize = 400;

/// Words of a question that ask what happened in a time.
const PAST: &str = "
    did was were done happened worked changed decided decisions learned finished made got wrote logged log logs
    recap summary summarise summarize new agree agreed";

/// Other words of a question that say nothing about what is looked for. A question with any other word is not about a time alone.
const FILLERS: &str = "
    what which do have has had is i we you my our the a in on at of for over during happen work working decide all
    me us show tell list everything things notes sessions about been get up to so far please hi hey hello can
    could remind remember where leave left off s doing going finish change changes learn make since morning
    afternoon evening anything there";

/// A time that a question is about, and nothing else.
pub(crate) struct TimeAsked {
    /// Nanoseconds since 1970-01-01T00:00:00Z.
    pub(crate) time: Range<u64>,
    /// True if the question says that it asks what happened, so that it cannot be work to be done in that time.
    pub(crate) is_past: bool,
}

/// Items that a question about a time or about the latest asks for, and their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Dated {
    pub(super) is_newest_first: bool,
    kind: Option<ItemKind>,
    is_decision: bool,
}

impl Dated {
    /// Returns true if the note is one of them.
    pub(crate) fn has(self, call: &Call, note: &ListedItem) -> bool {
        let below = || call.scope.below_notebook(&note.path).unwrap_or(&note.path);
        // To ask for notes does not mean logs and sessions here.
        self.kind.is_none_or(|kind| note.kind == kind) && (!self.is_decision || is_in_folder(below(), DECISIONS_FOLDER))
    }

    /// Returns true if entries are among the items.
    pub(crate) fn has_entries(self) -> bool {
        self.kind.is_none() && !self.is_decision
    }
}

/// Words of a question about the latest of several, beside those of a question about a time.
const LATEST: &str = "
    last latest newest recent previous most and stop stopped leave left were session decision log note entry
    entrie change fact time";

/// Returns the items that a question such as "latest decisions" or "where did we stop?" asks for; `None` if it is about more.
pub(crate) fn latest_asked(query: &str) -> Option<Dated> {
    let lower = query.to_lowercase();
    let words = words_of(&lower);
    let stem = |word: &str| word.strip_suffix('s').unwrap_or(word).to_string();
    let asks = |word: &str| words.iter().any(|other| *other == word || stem(other) == word);
    let is_stop = asks("where") && asks("we") && ["stop", "stopped", "leave", "left", "were"].into_iter().any(asks);
    let kind = match () {
        () if is_stop || asks("session") || asks("time") => Some(ItemKind::Session),
        () if asks("log") => Some(ItemKind::Log),
        () if asks("note") => Some(ItemKind::Note),
        () => None,
    };
    let is_filler =
        |word: &&str| [FILLERS, PAST, LATEST].iter().any(|words| has(words, word)) || has(LATEST, &stem(word));
    let dated = Dated { is_newest_first: true, kind, is_decision: asks("decision") };
    ((is_stop || asks_for_latest(query)) && words.iter().all(is_filler)).then_some(dated)
}

fn has(words: &str, word: &str) -> bool {
    words.split_whitespace().any(|known| known == word)
}

/// Returns the time that a question is about; `None` if it is about more than a time.
pub(crate) fn time_asked(query: &str, now: LocalTime) -> Option<TimeAsked> {
    let lower = query.to_lowercase();
    let words = words_of(&lower);
    let is_filler = |word: &&str| has(FILLERS, word) || has(PAST, word);
    let before = words.iter().take_while(|word| is_filler(word)).count();
    (0..=before).find_map(|at| {
        let rest = words.get(at..)?;
        let (time, used) = time_in(rest, now.timestamp())?;
        let is_past = words.iter().any(|word| has(PAST, word));
        rest.get(used..)?.iter().all(is_filler).then_some(TimeAsked { time, is_past })
    })
}

/// Returns the sessions, logs and notes of a time, in their order, and the time of each hit.
pub(super) async fn timeline(
    call: &Call,
    notebook: &Arc<Notebook>,
    asked: &Recall,
    time: Range<u64>,
    dated: Dated,
) -> Result<(RecallReply, Vec<u64>), Error> {
    let mut listed = notes_of(call, notebook, asked.filter.clone(), &time).await?;
    listed.items.retain(|note| note.kind.is_one_of(&asked.kinds) && dated.has(call, note));
    if dated.is_newest_first {
        listed.items.reverse();
    }
    let total = u32::try_from(listed.items.len()).unwrap_or(u32::MAX);
    let (mut hits, mut times) = (Vec::new(), Vec::new());
    for note in listed.items.into_iter().skip(asked.offset as usize).take(asked.limit as usize) {
        let date = time_of(call, &note);
        times.push(date);
        hits.push(hit(call, date, note).await);
    }
    let (warnings, skipped) = (listed.warnings, listed.skipped);
    Ok((RecallReply { rendered: render(&hits), hits, total, is_doubtful: false, warnings, skipped }, times))
}

/// Lists the sessions, logs and notes of a time, the oldest first.
pub(crate) async fn notes_of(
    call: &Call,
    notebook: &Arc<Notebook>,
    filter: NoteFilter,
    time: &Range<u64>,
) -> Result<ItemList, Error> {
    let mut listed = list_notes(call, notebook, NoteList { filter, ..NoteList::default() }).await?;
    // Long-term memory and the scratchpad are of no time.
    let is_kept = |note: &ListedItem| call.scope.kept_file(&note.path).is_some();
    listed.items.retain(|note| time.contains(&time_of(call, note)) && !is_kept(note));
    let time = |note: &ListedItem| time_of(call, note);
    order::sort_slice(&mut listed.items, |a, b| time(a).cmp(&time(b)).then_with(|| a.path.cmp(&b.path)));
    Ok(listed)
}

/// Returns the entries that were changed in a time, the oldest first, with their files.
pub(crate) fn entries_of<'a>(
    corpus: &'a Corpus,
    entries: &'a SearchableEntries,
    time: &Range<u64>,
) -> Vec<(&'a SearchableEntry, &'a IndexedFile)> {
    let of_time = entries.entries.iter().filter(|(_, entry)| time.contains(&entry.updated));
    let mut found: Vec<_> = of_time.filter_map(|(id, entry)| Some((entry, corpus.files.doc(*id)?))).collect();
    order::sort_slice(&mut found, |(a, _), (b, _)| a.updated.cmp(&b.updated).then_with(|| a.key.cmp(&b.key)));
    found
}

/// Adds the entries that were changed in a time.
pub(super) fn add_entries(
    call: &Call,
    (reply, times): &mut (RecallReply, Vec<u64>),
    entries: &SearchableEntries,
    time: &Range<u64>,
) {
    for (entry, document) in entries_of(&entries.corpus.borrow(), entries, time) {
        let SearchableEntry { key, category, updated, marks, .. } = entry.clone();
        times.push(updated);
        reply.total = reply.total.saturating_add(1);
        reply.hits.push(RecallHit {
            kind: ItemKind::Entry,
            path: call.scope.display_path(&document.path),
            title: key,
            category: Some(category),
            date: updated,
            day: Some(call.now.day_of(updated)),
            passage: beginning_of(document.text.as_deref().unwrap_or_default(), PASSAGE_BYTES),
            marks,
            ..RecallHit::default()
        });
    }
}

/// Returns the beginning of the text of a file.
pub(crate) fn beginning_of(text: &str, max_bytes: usize) -> String {
    let body = Note::parse(text, TagSyntax::default()).body;
    beginning(text.get(body).unwrap_or_default(), max_bytes)
}

/// Returns the text below the frontmatter of a note, or as much of it as `max_bytes` permit, with a mark.
pub(crate) fn beginning(body: &str, max_bytes: usize) -> String {
    let body = body.trim();
    if body.len() <= max_bytes { body.to_string() } else { shortened(body, max_bytes) }
}

/// Returns the time of a note: of a log the start of its day, of another note its date, or else its last change.
pub(crate) fn time_of(call: &Call, note: &ListedItem) -> u64 {
    let below = call.scope.below_notebook(&note.path).unwrap_or(&note.path);
    let log = below.strip_prefix(DAILY_FOLDER).and_then(|rest| rest.strip_prefix('/')?.strip_suffix(NOTE_SUFFIX));
    let day = |date: Date| {
        let start = call.now.at_start_of(date).epoch_nanoseconds();
        start..start + DAY_NANOSECONDS - 1
    };
    if let Some(log) = log.and_then(Date::parse) {
        return day(log).start;
    }
    // The day is that of its date, and the order in the day that of the moments.
    Date::parse(&note.day).map(day).map_or(note.created, |day| note.created.clamp(day.start, day.end))
}

async fn hit(call: &Call, date: u64, note: ListedItem) -> RecallHit {
    let ListedItem { kind, path, name: title, marks, .. } = note;
    let file = call.scope.file(&path);
    let log = file.as_ref().and_then(day_of_log);
    let (day, date) = match log {
        Some(log) => (log.to_string(), log.start_in_utc()),
        None => (call.now.day_of(date), note.created),
    };
    let text = match &file {
        Some(file) => call.load_text(file).await.ok().flatten().unwrap_or_default(),
        None => String::new(),
    };
    let passage = beginning_of(&text, PASSAGE_BYTES);
    RecallHit { kind, path, title, date, day: Some(day), passage, marks, ..RecallHit::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Timestamp;

    /// A Wednesday.
    const NOW: &str = "2026-05-27";

    fn days(query: &str) -> Option<(String, String)> {
        let date = Date::parse(NOW).expect("a day");
        let noon = Timestamp { seconds: 0, nanoseconds: 0, utc_offset_seconds: 0 }.local().expect("a time");
        let now = noon.at_start_of(date);
        let day = |nanoseconds: u64| crate::store::utc_day(nanoseconds);
        time_asked(query, now).map(|TimeAsked { time, .. }| (day(time.start), day(time.end)))
    }

    #[test]
    fn a_question_about_a_time_alone_is_one() {
        for (query, first, end) in [
            ("what did I do last week?", "2026-05-18", "2026-05-25"),
            ("What happened yesterday", "2026-05-26", "2026-05-27"),
            ("today", "2026-05-27", "2026-05-28"),
            ("what have we changed this week so far", "2026-05-25", "2026-06-01"),
            ("What did I log on Tuesday last week?", "2026-05-19", "2026-05-20"),
            ("what happened the day before yesterday", "2026-05-25", "2026-05-26"),
            ("what did we do in the week of 12 March?", "2026-03-09", "2026-03-16"),
            ("show me the past 3 days", "2026-05-25", "2026-05-28"),
            ("what did we decide last month", "2026-04-01", "2026-05-01"),
            ("notes of this month", "2026-05-01", "2026-06-01"),
            ("what did we do in march?", "2026-03-01", "2026-04-01"),
            ("what happened two weeks ago", "2026-05-11", "2026-05-18"),
            ("what happened on 2026-05-12?", "2026-05-12", "2026-05-13"),
            ("Hi! Can you remind me what we did yesterday, please?", "2026-05-26", "2026-05-27"),
            ("What's in the log of yesterday morning?", "2026-05-26", "2026-05-27"),
            ("where did we leave off on friday?", "2026-05-22", "2026-05-23"),
            ("continue what we did yesterday", "", ""),
            ("which tests failed this week", "", ""),
            ("when was the port changed last week", "", ""),
            ("what is the last port", "", ""),
            ("", "", ""),
        ] {
            let expected = Some((first.to_string(), end.to_string())).filter(|_| !first.is_empty());
            assert_eq!(days(query), expected, "{query}");
        }
    }
}
