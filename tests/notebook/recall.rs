//! Recall: where and why a note is found, page by page, and after an editor changed it.

use saddlebag::items::Recall;
use saddlebag::notebook::{ConditionKind, NoteFilter, SortBy, SortKey, WriteNote};
use saddlebag::protocol::ErrorCode;
use saddlebag_host::Simulator;
use support::drive::Drive;
use support::{Kind, agent_config, ask, both_engines, fact, path};

use super::{call, found, library, list, open, refused, run};

#[both_engines]
fn recall_says_where_and_why(kind: Kind) {
    let mut drive = library(kind);
    let reply = call(&mut drive, ask::recall("Where does the database listen? postgres"));
    assert_eq!(reply.hits[0].path, "facts/db.md");
    assert!(reply.hits[0].fields.contains(&"title".to_string()) && reply.hits[0].passage.contains("Postgres"));
    assert_eq!(reply.hits[0].lines.len(), 2);
    let filter = NoteFilter::default().with(ConditionKind::Tag, ["db"]);
    let filtered = call(&mut drive, Recall { filter, ..ask::recall("port database") });
    let mut got = found(&filtered);
    got.sort_unstable();
    assert_eq!((got, filtered.total), (vec!["facts/db.md", "facts/port.md"], 2));
}

#[both_engines]
fn pages_of_a_recall_put_together_are_the_whole(kind: Kind) {
    let files: Vec<(String, String)> =
        (0..23).map(|i| (format!("n{i:02}.md"), format!("# Note {i}\n\n{}\n", "word ".repeat(i + 1)))).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let mut drive = open(kind, &files);
    let whole = call(&mut drive, Recall { limit: 100, ..ask::recall("word") });
    assert_eq!((whole.hits.len(), whole.total), (23, 23));
    for size in [1, 5, 23] {
        let mut pages = Vec::new();
        for offset in (0..25).step_by(size as usize) {
            let page = call(&mut drive, Recall { limit: size, offset, ..ask::recall("word") });
            assert_eq!(page.total, 23);
            pages.extend(page.hits);
        }
        assert_eq!(pages, whole.hits, "pages of {size}");
    }
    let none = call(&mut drive, Recall { limit: 0, ..ask::recall("word") });
    assert_eq!((none.hits.len(), none.total), (0, 23));
    let far = call(&mut drive, Recall { limit: u32::MAX, offset: u32::MAX, ..ask::recall("word") });
    assert_eq!(far.hits, []);
}

#[both_engines]
fn notes_and_entries_are_sorted_by_their_own_times(kind: Kind) {
    let dated = |field: &str, month: u32| format!("---\n{field}: 2026-{month:02}-01T00:00:00Z\n---\n\nthe harbour\n");
    let mut simulator = Simulator::new(1);
    for (place, text) in [
        ("projects/proj/facts/jan.md", dated("date", 1)),
        ("agents/a/entries/core/feb.md", dated("created", 2)),
        ("projects/proj/facts/mar.md", dated("date", 3)),
        ("agents/a/entries/core/apr.md", dated("created", 4)),
    ] {
        simulator.insert(&path(place), text);
    }
    let mut drive = Drive::new(kind, agent_config(), simulator);
    for (ascending, expected) in [(true, ["jan", "feb", "mar", "apr"]), (false, ["apr", "mar", "feb", "jan"])] {
        let sort = vec![SortKey { by: SortBy::Created, ascending }];
        let reply = drive.call(Recall { sort, ..ask::recall("harbour") }).unwrap();
        let titles: Vec<&str> = reply.hits.iter().map(|hit| hit.title.as_str()).collect();
        assert_eq!(titles, expected);
    }
}

#[both_engines]
fn the_parts_of_a_score_add_up_to_it(kind: Kind) {
    let mut drive = library(kind);
    call(&mut drive, fact("Old", "The database port is here."));
    call(&mut drive, WriteNote { supersede: true, ..fact("Old", "The database port is there.") });
    for query in ["database port", "\"database port\" is", "the port of a database", "postgres", "data*"] {
        let reply = call(&mut drive, Recall { explain: true, ..ask::recall(query) });
        assert!(!reply.hits.is_empty(), "{query}");
        for hit in &reply.hits {
            let (mut sum, mut factor) = (0.0, 1.0);
            for part in &hit.parts {
                match part.reason.as_str() {
                    reason if reason.starts_with("superseded") => factor *= part.amount,
                    _ => sum += part.amount,
                }
            }
            let difference = (sum * factor - hit.score).abs();
            assert!(difference < 1e-3 * hit.score.max(1.0), "{query}: {sum} * {factor} is not {}: {hit:?}", hit.score);
        }
        let plain = call(&mut drive, ask::recall(query));
        assert!(plain.hits.iter().all(|hit| hit.parts.is_empty()));
        assert_eq!(found(&plain), found(&reply));
    }
}

#[both_engines]
fn only_a_question_without_words_is_an_error(kind: Kind) {
    let mut drive = library(kind);
    for empty in ["", "  ", "\n\t"] {
        assert_eq!(refused(&mut drive, ask::recall(empty)).code, ErrorCode::InvalidArgument);
    }
    for odd in [
        "\"", "(", ")", "a OR", "OR", "NOT", "-", "--", "*", "title:", ":", "a AND (b", "\"a", "'", "日本", "🎉",
        "a\0b", "!!!", "-a", "NOT db", "tags:db",
    ] {
        let outcome = drive.run(ask::recall(odd));
        assert!(outcome.is_ok(), "{odd:?}: {outcome:?}");
    }
    let error = refused(&mut drive, ask::recall("x ".repeat(40_000)));
    assert_eq!(error.code, ErrorCode::TooLarge);
}

#[both_engines]
fn the_index_follows_what_editors_do(kind: Kind) {
    let mut drive = library(kind);
    let has = |drive: &mut Drive<Simulator>, query: &str| {
        let reply = call(drive, ask::recall(query));
        reply.hits.into_iter().map(|hit| hit.path).collect::<Vec<_>>()
    };
    assert_eq!(has(&mut drive, "zebra"), [""; 0]);
    drive.executor.insert(&path("notes/alone.md"), "# Alone\n\nA zebra.\n");
    assert_eq!(has(&mut drive, "zebra"), ["notes/alone.md"]);
    let mut moved = Vec::new();
    for (file, bytes) in drive.executor.files() {
        if let Some(rest) = file.strip_prefix("notes/") {
            moved.push((file.clone(), format!("renamed/deep/{rest}"), bytes));
        }
    }
    for (old, new, bytes) in moved {
        let operation = drive.executor.operations();
        drive.executor.edit_at(operation, &path(&old), None);
        drive.executor.insert(&path(&new), bytes);
        run(&mut drive, ask::tags());
    }
    assert_eq!(has(&mut drive, "zebra"), ["renamed/deep/alone.md"]);
    assert_eq!(list(&mut drive, NoteFilter::default().with(ConditionKind::Path, ["notes"])), [""; 0]);
    let operation = drive.executor.operations();
    drive.executor.edit_at(operation, &path("renamed/deep/alone.md"), None);
    assert_eq!(has(&mut drive, "zebra"), [""; 0]);
    drive.executor.insert(&path("renamed/deep/alone.md"), b"\xff\xfe zebra".to_vec());
    let reply = call(&mut drive, ask::recall("zebra"));
    assert_eq!((found(&reply), reply.skipped.len()), (vec![], 1));
}

#[both_engines]
fn a_host_that_assumes_nothing_changed_is_not_asked_to_list_again(kind: Kind) {
    let mut drive = library(kind);
    call(&mut drive, ask::recall("port"));
    let before = drive.executor.operations();
    let vouched = call(&mut drive, Recall { assume_unchanged: true, ..ask::recall("port") });
    assert!(!vouched.hits.is_empty());
    assert_eq!(drive.executor.operations(), before);
}

#[both_engines]
fn a_host_that_assumes_nothing_changed_finds_what_its_own_commands_changed(kind: Kind) {
    let mut drive = library(kind);
    call(&mut drive, ask::recall("zebra"));
    let vouched = || Recall { assume_unchanged: true, ..ask::recall("zebra") };
    let path = call(&mut drive, fact("Zebra", "It has stripes.")).path;
    assert_eq!(found(&call(&mut drive, vouched())), [path.as_str()]);
    call(&mut drive, ask::forget(path));
    assert!(call(&mut drive, vouched()).hits.is_empty());
    let before = drive.executor.operations();
    assert!(call(&mut drive, vouched()).hits.is_empty());
    assert_eq!(drive.executor.operations(), before);
}

#[both_engines]
fn a_budget_is_filled_with_the_best_passages_of_all_notes(kind: Kind) {
    let filler = "Nothing of this kind was said here, and it goes on for a while.\n\n".repeat(20);
    let chat = format!(
        "# 2026-05-02\n\nuser: My daughter Sara is 21.\n\nassistant: Sara is 21, how nice.\n\n{filler}user: Sara studies law.\n"
    );
    let files = [
        ("chats/one.md", chat.as_str()),
        ("chats/two.md", "# 2026-05-03\n\nuser: It rains.\n\nuser: My son is 12.\n\nuser: He is not as old as Sara.\n"),
        ("chats/three.md", "# 2026-05-04\n\nuser: The boat is green.\n"),
    ];
    let mut drive = open(kind, &files);
    let mut fill = |max_bytes| {
        let asked = Recall { max_bytes: Some(max_bytes), ..ask::recall("how old is Sara and what does she study?") };
        let reply = call(&mut drive, asked);
        assert!(reply.rendered.len() <= max_bytes as usize, "{reply:?}");
        reply.hits.into_iter().map(|hit| (hit.path, hit.lines, hit.passage)).collect::<Vec<_>>()
    };
    assert_eq!(fill(0), []);
    let least = fill(80);
    assert_eq!(least.len(), 1, "{least:?}");
    let all = fill(4000);
    let of_one: Vec<&String> = all.iter().filter(|hit| hit.0 == "chats/one.md").map(|hit| &hit.2).collect();
    assert!(of_one.iter().any(|text| text.contains("studies law")), "{all:?}");
    // Neighbours are one passage.
    assert!(of_one.iter().any(|text| text.contains("daughter") && text.contains("how nice")), "{all:?}");
    assert!(all.iter().any(|hit| hit.0 == "chats/two.md" && hit.2.contains("as old as Sara")), "{all:?}");
    assert!(all.iter().all(|hit| hit.0 != "chats/three.md" && !hit.2.contains("Nothing of this kind")), "{all:?}");
    for refused_with in [
        Recall { offset: 1, ..ask::recall("Sara") },
        Recall { explain: true, ..ask::recall("Sara") },
        Recall { sort: vec![SortKey { by: SortBy::Title, ascending: true }], ..ask::recall("Sara") },
    ] {
        let asked = Recall { max_bytes: Some(100), ..refused_with };
        assert_eq!(refused(&mut drive, asked).code, ErrorCode::InvalidArgument);
    }
}

#[both_engines]
fn a_budget_has_notes_that_are_found_by_their_names_alone_and_marks_what_is_cut(kind: Kind) {
    let rule = "Deploys to production go out on Thursday, except in December, when nothing may be deployed at all.\n";
    let long = format!(
        "The axolotl tank must stay below 18 degrees, {}or the keeper is called.\n",
        "day and night, ".repeat(60)
    );
    let files = [
        ("facts/limit.md", "---\ntitle: Rate limit\n---\nA tenant may send 120 requests a minute.\n"),
        ("facts/rule.md", rule),
        ("facts/tank.md", long.as_str()),
    ];
    let mut drive = open(kind, &files);
    let mut passages = |query: &str, max_bytes| {
        let reply = call(&mut drive, Recall { max_bytes: Some(max_bytes), ..ask::recall(query) });
        assert!(reply.rendered.len() <= max_bytes as usize, "{reply:?}");
        reply.hits.into_iter().map(|hit| hit.passage).collect::<Vec<_>>()
    };
    assert_eq!(passages("rate limit", 300), ["A tenant may send 120 requests a minute."]);
    let cut = passages("deploys", 90);
    let shown = cut[0].strip_suffix('…').expect("a mark");
    let next = rule.strip_prefix(shown).expect("the beginning");
    assert!(shown.len() > 20 && next.starts_with([' ', ',']), "{cut:?}");
    let long_cut = call(&mut drive, ask::recall("axolotl")).hits.remove(0).passage;
    let shown = long_cut.strip_suffix('…').expect("a mark");
    assert!(long.starts_with(shown) && long_cut.len() <= 800, "{long_cut}");
}

#[both_engines]
fn a_question_that_names_a_time_prefers_what_is_of_this_time(kind: Kind) {
    let note =
        |date: &str, more: &str| format!("---\ndate: {date}\n---\n\n# Cache of {date}\n\nThe cache holds {more}.\n");
    let mut drive = open(
        kind,
        &[
            ("facts/jan.md", &note("2026-01-12", "pages for an hour")),
            ("facts/march.md", &note("2026-03-10", "pages for a minute")),
            ("facts/may.md", &note("2026-05-20", "pages")),
            ("daily/2026-05-22.md", "## 09:00\n\nThe cache was emptied.\n"),
        ],
    );
    let first = |drive: &mut Drive<Simulator>, query: &str| call(drive, ask::recall(query)).hits[0].path.clone();
    assert_eq!(first(&mut drive, "what did the cache hold in March?"), "facts/march.md");
    assert_eq!(first(&mut drive, "what did the cache hold in January 2026?"), "facts/jan.md");
    assert_eq!(first(&mut drive, "why was the cache emptied last week?"), "daily/2026-05-22.md");
    // The time prefers, and leaves nothing out.
    assert_eq!(call(&mut drive, ask::recall("what did the cache hold in March?")).total, 4);
}
