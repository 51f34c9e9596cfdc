//! What a filter selects, where links lead, and what an error says where zk says nothing.

use core::cell::Cell;

use super::graph::DeadLink;
use super::*;
use crate::notebook::listing::NoteList;
use crate::trust::TrustState;
use saddlebag_collections::prelude::*;
use saddlebag_markdown::{Note, TagSyntax};

/// Noon of 2026-01-07, UTC.
const NOW: Timestamp = Timestamp { seconds: 1_767_787_200, nanoseconds: 0, utc_offset_seconds: 0 };

/// Notes that own what views borrow.
#[derive(Default)]
pub(super) struct Notes(Vec<Owned>);

struct Owned {
    path: String,
    text: String,
    note: Note,
}

impl Notes {
    /// Notes of a path and text each.
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        let owned = files.iter().map(|(path, text)| Owned {
            path: path.to_string(),
            text: text.to_string(),
            note: note_of(text),
        });
        Self(owned.collect())
    }

    pub(super) fn views(&self) -> Vec<NoteView<'_>> {
        let owned = self.0.iter();
        owned
            .map(|Owned { path, text, note }| NoteView {
                is_undated: false,
                unapproved: TrustState::from_text(text).unapproved(),
                path,
                text,
                note,
                modified: 0,
                created: 0,
                calendar: 0,
            })
            .collect()
    }
}

/// Every syntax of tags counts.
fn note_of(text: &str) -> Note {
    Note::parse(text, TagSyntax { hashtags: true, colon_tags: true, multiword_tags: true })
}

fn select(notes: &[NoteView<'_>], request: &NoteList, now: Timestamp, links: &LinkTable) -> Result<Vec<usize>, Error> {
    super::select(notes, &request.filter, &request.sort, request.limit, now, links)
}

#[test]
fn what_zk_passes_over_in_silence_is_an_error() {
    let notes = Notes::of(&[("a.md", "# A")]);
    let views = notes.views();
    let refused = |filter: NoteFilter| {
        let request = NoteList { filter, ..NoteList::default() };
        select(&views, &request, NOW, &LinkTable::new(&views)).expect_err("refused")
    };
    for (kind, value, message) in [
        (ConditionKind::Created, "soon", "not a date: `soon`"),
        (ConditionKind::LinkTo, "nope", "could not find notes at: nope"),
        (ConditionKind::Tag, "a OR -b", "cannot negate a tag in a OR group: a OR -b"),
    ] {
        assert_eq!(refused(NoteFilter::default().with(kind, [value])).message, message);
    }
}

#[test]
fn a_limit_keeps_the_first() {
    let notes = Notes::of(&[("b.md", "# B"), ("a.md", "# A"), ("c.md", "# C")]);
    let views = notes.views();
    let request = NoteList { limit: Some(2), ..NoteList::default() };
    assert_eq!(select(&views, &request, NOW, &LinkTable::new(&views)), Ok(vec![1, 0]));
}

fn resolution(files: &[(&str, &str)], from: usize) -> Vec<Resolution> {
    let notes = Notes::of(files);
    let views = notes.views();
    let resolver = Resolver::new(&views);
    views[from].note.links.iter().map(|link| resolver.resolve(from, link)).collect()
}

#[test]
fn a_link_leads_to_a_path_then_a_name_then_a_title() {
    use Resolution::{Ambiguous, Dead, External, To};
    let text = "[[facts/port]] [[port]] [[PORT]] [[Use Rust]] [[pg]] [[auth]] [[log]] [[#here]] [[facts/author.md]]";
    let files = [
        ("index.md", text),
        ("facts/port.md", "---\naliases: [pg, log]\n---\n# The port"),
        ("decisions/use-rust.md", "# Use Rust"),
        ("facts/author.md", "# Log"),
        ("a/day.md", "# Day"),
        (
            "b/day.md",
            "[x](day.md) [x](../a/day.md) [x](/a/day) [[day]] [[a/day]] [x](../../up.md) [x](scan.pdf) [x](Use%20Rust) [x](https://x.y/day)",
        ),
    ];
    assert_eq!(resolution(&files, 0), [To(1), To(1), To(1), To(2), To(1), Dead, Ambiguous(vec![1, 3]), To(0), To(3)]);
    assert_eq!(resolution(&files, 5), [To(5), To(4), To(4), To(5), To(4), Dead, Dead, To(2), External]);
}

#[test]
fn a_link_of_trusted_text_prefers_trusted_notes() {
    const TOOL: &str = "---\nprovenance: tool\n---\n# Port\n";
    let trusted = |note: usize| vec![Resolution::To(note)];
    // A note that waits for approval has the title, or the name of the file, or claims to supersede the trusted one.
    for (file, text) in [
        ("port-2.md", TOOL),
        ("a/port.md", TOOL),
        ("port.md", TOOL),
        ("z.md", "---\nprovenance: tool\nsupersedes: facts/db.md\n---\n# Port\n"),
        ("port.md", "---\nprovenance: tool\n: [\n---\n# Port\n"),
        // Its frontmatter cannot be read to the end.
        ("z.md", "---\nsupersedes: facts/db.md\nprovenance: tool\n: [\n---\n# Port\n"),
    ] {
        let files = [("from.md", "[[Port]]"), ("facts/db.md", "# Port\n"), (file, text)];
        assert_eq!(resolution(&files, 0), trusted(1), "{file}");
    }
    // Without a trusted note of the name it leads to the other one, and so does a path.
    assert_eq!(resolution(&[("from.md", "[[Port]]"), ("port.md", TOOL)], 0), trusted(1));
    let files = [("from.md", "[[facts/port.md]]"), ("b/facts/port.md", "# Port\n"), ("facts/port.md", TOOL)];
    assert_eq!(resolution(&files, 0), trusted(2));
    // Text that waits is not preferred by its own kind, nor refused to it.
    let files = [("from.md", "---\nprovenance: tool\n---\n[[Port]]"), ("a.md", "# Port\n"), ("b.md", TOOL)];
    assert_eq!(resolution(&files, 0), [Resolution::Ambiguous(vec![1, 2])]);
}

/// A decision was reversed, and then taken again under its first title.
#[test]
fn a_title_means_the_note_in_force() {
    let files = [
        ("from.md", "[[Port]]"),
        ("a.md", "# Port\n"),
        ("b.md", "---\nsupersedes: a.md\n---\n# Socket\n"),
        ("c.md", "---\nsupersedes: b.md\n---\n# Port\n"),
    ];
    assert_eq!(resolution(&files, 0), [Resolution::To(3)]);
}

#[test]
fn accents_may_be_written_either_way() {
    let files = [("index.md", "[[cafe\u{301}-wifi]] [[CAFÉ WIFI]]"), ("facts/café-wifi.md", "# Cafe\u{301} WiFi")];
    assert_eq!(resolution(&files, 0), [Resolution::To(1), Resolution::To(1)]);
}

/// A link is never guessed.
#[test]
fn one_name_in_two_folders_is_ambiguous() {
    let files = [("index.md", "[[day]] [[b/day]] [[Day]]"), ("a/day.md", ""), ("x/b/day.md", "")];
    let both = Resolution::Ambiguous(vec![1, 2]);
    assert_eq!(resolution(&files, 0), [both.clone(), Resolution::To(2), both]);
}

#[test]
fn links_come_first_and_what_shares_them_next() {
    let notes = Notes::of(&[
        ("hub.md", "# Hub\n[[both]] [[to]]"),
        ("both.md", "# Both\n[[hub]]"),
        ("to.md", "# To"),
        ("from.md", "# From\n[[hub]] [[hub]] [[from]]"),
        ("sibling.md", "# Sibling\n[[to]] [[both]]"),
        ("far.md", "# Far\n[[sibling]] [[nowhere]]"),
    ]);
    let views = notes.views();
    let graph = Graph::new(views.len(), &LinkTable::new(&views));
    let found: Vec<(usize, u32, RelatedReason)> = related(&views, &graph, 0)
        .into_iter()
        .map(|related| (related.index, related.distance, related.reason))
        .collect();
    assert_eq!(
        found,
        [
            (1, 1, RelatedReason::LinksBothWays),
            (3, 1, RelatedReason::LinksHere),
            (2, 1, RelatedReason::LinkedFromHere),
            (4, 2, RelatedReason::Shares(vec![1, 2])),
        ]
    );
    let orphans = (0..views.len()).filter(|&note| graph.backlinks(note).is_empty());
    assert_eq!(orphans.collect::<Vec<_>>(), [3, 5]);
    assert_eq!(dead_links(&views, &Resolver::new(&views)), [DeadLink { note: 5, link: 1, candidates: vec![] }]);
}

#[test]
fn a_mention_is_a_phrase_of_its_own_and_no_link() {
    let notes = Notes::of(&[
        ("use-rust.md", "---\naliases: [C++, 錆]\n---\n# Use Rust"),
        ("a.md", "# A\n\nwe USE\nrust here"),
        ("b.md", "# B\n\nuse rusty, reuse rust"),
        ("c.md", "# C\n\n[[use-rust]] use rust"),
        ("d.md", "# D\n\n[use rust](https://rust-lang.org)"),
        ("e.md", "# E\n\nin C++. Use Rust, use rust\n\nreuse rust\nUse Rust in C++"),
        ("f.md", "# F\n\n赤錆だ"),
    ]);
    let views = notes.views();
    let mut names = NameLines::new(&views[0]);
    let lines: Vec<Vec<u32>> = views.iter().map(|view| names.find(view.text, view.note)).collect();
    assert_eq!(lines, [vec![4], vec![3], vec![], vec![3], vec![], vec![3, 6], vec![3]]);
}

#[test]
fn mentions_are_words_of_their_own_in_title_or_text_links_included() {
    let notes = Notes::of(&[
        ("use-rust.md", "---\naliases: [C++, 錆]\n---\n# Use Rust\n\nNot the Style."),
        ("a.md", "# A\n\nwe USE\nrust here"),
        ("b.md", "# B\n\nuse rusty, reuse rust"),
        ("c.md", "---\ntitle: On C++\n---\nold style"),
        ("d.md", "# D\n\n[[Use Rust]]"),
        ("e.md", "# Style\n\n赤錆だ"),
        ("f.md", "---\nsource: use rust\n---\n# Restyle"),
    ]);
    let views = notes.views();
    let found = |filter: NoteFilter| {
        let request = NoteList { filter, ..NoteList::default() };
        select(&views, &request, NOW, &LinkTable::new(&views)).expect("valid")
    };
    let sorted = |mut places: Vec<usize>| {
        places.sort_unstable();
        places
    };
    assert_eq!(sorted(found(NoteFilter::default().with(ConditionKind::Mention, ["use-rust"]))), [1, 3, 4, 5]);
    assert_eq!(sorted(found(NoteFilter::default().with(ConditionKind::MentionedBy, ["use-rust"]))), [5]);
    assert_eq!(sorted(found(NoteFilter::default().with(ConditionKind::MentionedBy, ["a.md", "c.md"]))), [0, 5]);
    let both =
        NoteFilter::default().with(ConditionKind::Mention, ["use-rust"]).with(ConditionKind::MentionedBy, ["d.md"]);
    assert_eq!(found(both), [0_usize; 0]);
}

/// Notes that all link to each other's names. Each link looks at a few notes, however many there are.
#[test]
fn many_notes_resolve_in_linear_time() {
    let looked_at = |count: usize| {
        let files: Vec<(String, String)> = (0..count)
            .map(|i| {
                let (next, other) = ((i * 7) % count, (i * 3) % count);
                let links = format!("[[note-{next}]] [[te-{i}]] [x](note-{other}.md) [[dead-{i}]] [[Note {next}]]");
                (format!("folder-{}/note-{i}.md", i % 50), format!("# Note {i}\n{links}"))
            })
            .collect();
        let borrowed: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        let notes = Notes::of(&borrowed);
        let views = notes.views();
        for table in [LinkTable::new(&views), LinkTable::zk(&views)] {
            let resolved = (0..views.len()).filter(|&note| table.targets(note).first().is_some_and(Option::is_some));
            assert_eq!(resolved.count(), count);
        }
        let resolver = Resolver::new(&views);
        let steps = Cell::new(0_usize);
        let may = |_: usize| {
            steps.set(steps.get() + 1);
            true
        };
        for (from, view) in views.iter().enumerate() {
            for link in &view.note.links {
                resolver.look_up_among(from, link.kind, &link.target, &may);
            }
        }
        steps.get()
    };
    let (once, twice) = (looked_at(1_500), looked_at(3_000));
    assert!(once >= 1_500 && twice <= 2 * once + 100, "{once} and {twice} notes are looked at");
}
