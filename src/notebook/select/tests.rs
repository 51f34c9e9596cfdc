//! The recorded answers of zk, and what `select` says where zk says nothing.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::cell::Cell;

use chrono::DateTime;
use serde_json::Value;

use super::graph::DeadLink;
use super::paths::index_order;
use super::*;
use crate::document::{Note, TagSyntax};
use crate::notebook::listing::ListNotes;
use crate::notebook::types::SortBy;
use crate::notebook::types::TagCount;
use crate::trust::TrustState;

/// Noon of 2026-01-07, UTC.
const NOW: Timestamp = Timestamp { seconds: 1_767_787_200, nanoseconds: 0, utc_offset_seconds: 0 };

/// Notes that own what views borrow.
#[derive(Default)]
pub(super) struct Notes(Vec<Owned>);

struct Owned {
    path: String,
    text: String,
    note: Note,
    modified: u64,
    created: u64,
}

impl Notes {
    /// Notes of a path and text each.
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        let owned = files.iter().map(|(path, text)| Owned {
            path: path.to_string(),
            text: text.to_string(),
            note: note_of(text),
            modified: 0,
            created: 0,
        });
        Self(owned.collect())
    }

    pub(super) fn views(&self) -> Vec<NoteView<'_>> {
        let owned = self.0.iter();
        owned
            .map(|Owned { path, text, note, modified, created }| NoteView {
                is_undated: false,
                unapproved: TrustState::from_text(text).unapproved(),
                path,
                text,
                note,
                modified: *modified,
                created: *created,
            })
            .collect()
    }

    fn recorded(all: &Value) -> Self {
        let nanoseconds = |value: &Value| {
            let time = DateTime::parse_from_rfc3339(value.as_str().expect("text")).expect("a date");
            u64::try_from(time.timestamp_nanos_opt().expect("in range")).expect("after 1970")
        };
        let owned = all.as_array().expect("notes").iter().map(|recorded| {
            let text = string(&recorded["rawContent"]);
            let note = note_of(&text).into_zk();
            Owned {
                path: string(&recorded["path"]),
                modified: nanoseconds(&recorded["modified"]),
                // zk takes the time of indexing for notes without a date.
                created: note.created().unwrap_or_else(|| nanoseconds(&recorded["created"])),
                note,
                text,
            }
        });
        Self(owned.collect())
    }
}

fn string(value: &Value) -> String {
    value.as_str().expect("text").into()
}

/// As the notebook of the vectors is configured.
fn note_of(text: &str) -> Note {
    Note::parse(text, TagSyntax { hashtags: true, colon_tags: true, multiword_tags: true })
}

fn expected() -> Value {
    serde_json::from_str(include_str!("../../../tests/vectors/zk/expected.json")).expect("valid")
}

/// The arguments of a recorded case, as its shell gave them. `None` if the case is about the command line.
fn select(notes: &[NoteView<'_>], request: &ListNotes, now: Timestamp, links: &LinkTable) -> Result<Vec<usize>, Error> {
    super::select(notes, &request.filter, &request.sort, request.limit, now, links)
}

fn request(args: &[String]) -> Option<ListNotes> {
    let mut request = ListNotes { zk_links: true, ..ListNotes::default() };
    let filter = &mut request.filter;
    for arg in args {
        let (flag, value) = arg.split_once('=').unwrap_or((arg, ""));
        let mut condition = |kind, value: &str| filter.conditions.push(NoteCondition { kind, value: value.into() });
        match flag {
            // A host's: the tests of `saddlebag-zk` run these.
            "-Me" | "-Mr" | "--match" | "--match-strategy" | "--mention" | "--mentioned-by" => return None,
            "--tag" => condition(ConditionKind::Tag, value),
            "--exclude" => condition(ConditionKind::Exclude, value),
            "--linked-by" => condition(ConditionKind::LinkedBy, value),
            "--link-to" => condition(ConditionKind::LinkTo, value),
            "--no-linked-by" => condition(ConditionKind::NoLinkedBy, value),
            "--no-link-to" => condition(ConditionKind::NoLinkTo, value),
            "--related" => condition(ConditionKind::Related, value),
            "--recursive" => filter.recursive = true,
            "--tagless" => filter.tagless = true,
            "--orphan" => filter.orphan = true,
            "--missing-backlink" => filter.missing_backlink = true,
            "--created" => condition(ConditionKind::Created, value),
            "--created-before" => condition(ConditionKind::CreatedBefore, value),
            "--created-after" => condition(ConditionKind::CreatedAfter, value),
            "--modified" => condition(ConditionKind::Modified, value),
            "--modified-before" => condition(ConditionKind::ModifiedBefore, value),
            "--modified-after" => condition(ConditionKind::ModifiedAfter, value),
            // The last is the most important.
            "--sort" => request.sort.insert(0, sort_key(value)),
            path if !path.starts_with('-') => condition(ConditionKind::Path, path),
            unknown => panic!("unknown flag {unknown}"),
        }
    }
    Some(request)
}

fn sort_key(text: &str) -> SortKey {
    let name = text.trim_end_matches(['+', '-']);
    let (by, ascending) = match name {
        "created" => (SortBy::Created, false),
        "modified" => (SortBy::Modified, false),
        "path" => (SortBy::Path, true),
        "title" => (SortBy::Title, true),
        "word-count" => (SortBy::WordCount, true),
        _ => panic!("unknown key {name}"),
    };
    SortKey { by, ascending: if text == name { ascending } else { text.ends_with('+') } }
}

#[test]
fn notes_are_selected_as_zk_selects_them() {
    let expected = expected();
    let notes = Notes::recorded(&expected["json_all"]);
    let views = notes.views();
    let links = LinkTable::zk(&views);
    let mut wrong = Vec::new();
    let mut run = 0;
    for case in expected["cases"].as_array().expect("cases") {
        let args: Vec<String> = case["args"].as_array().expect("args").iter().map(string).collect();
        let Some(request) = request(&args) else { continue };
        let selected = select(&views, &request, NOW, &links);
        let paths: Vec<&str> =
            selected.iter().flatten().filter_map(|&note| views.get(note)).map(|view| view.path).collect();
        let recorded: Vec<&str> = case["paths"].as_array().expect("paths").iter().filter_map(Value::as_str).collect();
        let fails = case["rc"] != 0;
        let is_right = if selected.is_ok() { !fails && paths == recorded } else { fails };
        run += 1;
        if !is_right {
            wrong.push(format!("{args:?}\n  zk  {recorded:?}\n  we  {selected:?} {paths:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {run} cases:\n{}", wrong.len(), wrong.join("\n"));
    assert!(run >= 25, "only {run} cases ran");
}

#[test]
fn snippets_are_those_that_zk_records() {
    let expected = expected();
    let notes = Notes::recorded(&expected["json_all"]);
    let views = notes.views();
    let links = LinkTable::zk(&views);
    let shown = |request: &ListNotes| -> Vec<Vec<String>> {
        let snippets = Snippets::new(&views, &request.filter).expect("valid");
        let selected = select(&views, request, NOW, &links).expect("valid");
        let shown = |note: usize| {
            let blocks = snippets.blocks(&views, &links, note).into_iter();
            let blocks: Vec<&str> =
                blocks.map(|(from, link)| &views[from].text[views[from].note.links[link].context.clone()]).collect();
            let lead = &views[note].text[views[note].note.lead.clone()];
            let shown = if blocks.is_empty() { vec![lead] } else { blocks };
            shown.into_iter().filter(|text| !text.is_empty()).map(String::from).collect()
        };
        selected.into_iter().map(shown).collect()
    };
    let recorded = |key: &str| -> Vec<Vec<String>> {
        let strings = |note: &Value| note["snippets"].as_array().expect("a list").iter().map(string).collect();
        expected[key].as_array().expect("notes").iter().map(strings).collect()
    };
    let by_path = SortKey { by: SortBy::Path, ascending: true };
    assert_eq!(shown(&ListNotes { sort: vec![by_path], ..ListNotes::default() }), recorded("json_all"));
    let filter = NoteFilter::default().with(ConditionKind::LinkedBy, ["use-rust"]);
    assert_eq!(shown(&ListNotes { filter, ..ListNotes::default() }), [["See [[use-postgres]]#"]]);
}

#[test]
fn links_resolve_as_zk_resolves_them() {
    let expected = expected();
    let notes = Notes::recorded(&expected["json_all"]);
    let views = notes.views();
    let links = LinkTable::zk(&views);
    let everything: Vec<usize> = (0..views.len()).collect();
    let order = index_order(&views);
    let number = |note: usize| order.iter().position(|&other| other == note).map(|at| at as u64 + 1);
    let edges: Vec<Value> = edges(&views, &links, &everything)
        .into_iter()
        .map(|edge| {
            let link = &views[edge.from].note.links[edge.link];
            let href = zk_href(views[edge.from].path, link).expect("inside");
            let anchor = link.anchor.as_ref().map_or(String::new(), |anchor| format!("#{anchor}"));
            serde_json::json!({
                "href": href + &anchor,
                "sourceId": number(edge.from),
                "sourcePath": views[edge.from].path,
                "targetId": number(edge.to),
                "targetPath": views[edge.to].path,
            })
        })
        .collect();
    let keys = ["href", "sourceId", "sourcePath", "targetId", "targetPath"];
    let recorded: Vec<Value> = expected["graph"]["links"]
        .as_array()
        .expect("links")
        .iter()
        .map(|link| keys.iter().map(|key| (key.to_string(), link[*key].clone())).collect())
        .collect();
    assert_eq!(edges, recorded);
}

#[test]
fn tags_are_counted_and_numbered_as_zk_does() {
    let expected = expected();
    let notes = Notes::recorded(&expected["json_all"]);
    let views = notes.views();
    let counts = tag_counts(&views);
    let counted: Vec<Value> = counts
        .iter()
        .map(|tag| serde_json::json!({ "id": tag.number, "kind": "tag", "name": tag.name, "noteCount": tag.notes }))
        .collect();
    assert_eq!(Value::from(counted), expected["tags"]);
    for (view, recorded) in views.iter().zip(expected["json_all"].as_array().expect("notes")) {
        assert_eq!(Value::from(tags_by_number(view, &counts)), recorded["tags"], "{}", view.path);
    }
}

#[test]
fn what_zk_passes_over_in_silence_is_an_error() {
    let notes = Notes::of(&[("a.md", "# A")]);
    let views = notes.views();
    let refused = |filter: NoteFilter| {
        let request = ListNotes { filter, ..ListNotes::default() };
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
    let request = ListNotes { limit: Some(2), ..ListNotes::default() };
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
        let request = ListNotes { filter, ..ListNotes::default() };
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

/// The tags of a note as zk lists them: in the order of their numbers.
fn tags_by_number<'a>(view: &NoteView<'a>, counts: &[TagCount]) -> Vec<&'a str> {
    let number = |tag: &str| {
        let found = counts.binary_search_by(|count| count.name.as_str().cmp(tag)).ok();
        found.and_then(|at| counts.get(at)).map_or(u64::MAX, |count| count.number)
    };
    let mut tags: Vec<&str> = view.note.tags.iter().map(String::as_str).collect();
    tags.sort_by_cached_key(|tag| number(tag));
    tags
}
