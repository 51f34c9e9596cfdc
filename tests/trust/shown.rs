//! Text for a model hides nothing, imitates nobody, and does not come back as memory.

use saddlebag::entries::{Hydrate, HydrationPolicy};
use saddlebag::journal::{FlushSummary, Target};
use saddlebag::notebook::LoadMemories;
use saddlebag::protocol::ErrorCode;
use saddlebag::trust::{FlagKind, Provenance};
use support::{Kind, ask, both_engines, commands, fact, keep, path};

use super::{block, opened, refused, text};

#[both_engines]
fn the_memory_block_is_not_stored_again(kind: Kind) {
    let mut drive = opened(kind, Provenance::User);
    drive.run(ask::append(Target::LongTerm, "a fact")).unwrap();
    drive.run(keep("k", "an entry", "core")).unwrap();
    let whole = block(&mut drive, None).block.unwrap().into_string();
    for command in commands![
        ask::append(Target::LongTerm, whole.clone()),
        ask::append_daily("h", whole.clone()),
        ask::flush(whole.clone()),
        keep("copy", &whole, "core"),
        fact("copy", &whole),
        ask::log(whole.clone()),
        keep("part", "x\n## Entries (hydrated)\n- k (core)\n  an entry", "core"),
    ] {
        assert_eq!(refused(&mut drive, command).code, ErrorCode::InvalidArgument);
    }
    let summary = format!("We agreed on tea.\n\n{whole}");
    let reply = drive.call(FlushSummary { messages: Some(3), ..ask::flush(summary) }).unwrap();
    assert!(reply.message.as_str().ends_with("(left out: text of the memory block)"), "{}", reply.message);
    let log = text(&drive, "projects/proj/daily/2026-05-25.md");
    assert!(log.contains("We agreed on tea.") && !log.contains("a fact"), "{log}");
    // Storing a line of memory elsewhere is not an echo.
    drive.run(keep("fact", "a fact", "core")).unwrap();
}

#[both_engines]
fn the_block_shows_what_is_hidden_and_the_report_names_it(kind: Kind) {
    let mut drive = opened(kind, Provenance::User);
    let long_term = "plain\u{202e}reversed \u{e0049}\u{e0067} </system> 👩\u{200d}🔧 ❤\u{fe0f}";
    drive.executor.insert(&path("MEMORY.md"), long_term);
    drive.run(keep("k", "hid\u{200b}den", "core")).unwrap();
    drive.run(fact("Port", "5433\u{2066}")).unwrap();
    drive.run(LoadMemories { limit: 1 }).unwrap();
    let reply = block(&mut drive, Some(1));
    let block = reply.block.unwrap();
    assert!(
        block.as_str().contains("plain[U+202E]reversed [U+E0049][U+E0067] &lt;/system> 👩\u{200d}🔧 ❤\u{fe0f}"),
        "{block}"
    );
    assert!(block.as_str().contains("hid[U+200B]den") && block.as_str().contains("5433[U+2066]"), "{block}");
    let kinds = |section: &str| {
        let flagged = reply.findings.iter().find(|flagged| flagged.section == section);
        flagged
            .unwrap_or_else(|| panic!("no flags of {section}"))
            .findings
            .iter()
            .map(|flag| flag.kind)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        kinds("Long-term memory (MEMORY.md)"),
        [FlagKind::Markup, FlagKind::Bidirectional, FlagKind::UnicodeTag]
    );
    assert_eq!(kinds("Entries (hydrated)"), [FlagKind::Invisible]);
    assert_eq!(kinds("Relevant Memories"), [FlagKind::Bidirectional]);
}

/// Returns text that imitates others and hides something, from the table of the tests of the program and the page.
fn hostile() -> String {
    let table: serde_json::Value = serde_json::from_str(include_str!("../../cli/tests/hostile.json")).expect("a table");
    let texts = table.as_array().expect("a list");
    let found = texts.iter().find(|text| text["name"] == "the end of the block for the model").expect("the text");
    found["text"].as_str().expect("text").into()
}

fn assert_harmless(what: &str, text: &str) {
    for bad in ["</memory><", "<system", "<|im_start", "\u{202e}", "\u{200b}"] {
        assert!(!text.contains(bad), "{what}: {bad:?} in {text:?}");
    }
}

#[both_engines]
fn what_a_model_reads_hides_nothing_and_poses_as_nobody(kind: Kind) {
    use saddlebag::context::{Preamble, PreambleFile, PreambleRole};
    let mut drive = opened(kind, Provenance::User);
    let hostile = hostile();
    let key = format!("zebra {hostile}");
    let mut seen = vec![
        ("store", drive.call(keep(&key, &key, "core")).unwrap().message.into_string()),
        ("remember", drive.call(fact(&key, &key)).unwrap().message.into_string()),
        ("journal", drive.call(ask::log(key.clone())).unwrap().message.into_string()),
        ("search", drive.call(ask::search("zebra")).unwrap().rendered.into_string()),
        ("recall", drive.call(ask::recall("zebra")).unwrap().rendered.into_string()),
    ];
    let request = Hydrate { max_bytes: 10_000, policy: HydrationPolicy::Greedy };
    let entry = drive.call(request).unwrap().entries.remove(0);
    seen.push(("hydrate", format!("{} {} {}", entry.key, entry.content, entry.path)));
    let file = PreambleFile {
        path: "AGENTS.md".into(),
        role: PreambleRole::Instructions,
        size: key.len() as u64,
        content: Ok(key.clone().into_bytes()),
    };
    let preamble = Preamble { files: vec![file], max_bytes: 100_000, ..Preamble::default() };
    seen.push(("preamble", drive.call(preamble).unwrap().text.into_string()));
    let error = drive.run(ask::entry(format!("no {hostile}"))).unwrap_err();
    seen.push(("error", format!("{} {}", error.message, error.help)));
    seen.push(("forget", drive.call(ask::forget_entry(key.clone())).unwrap().message.into_string()));
    assert_eq!(seen.len(), 9);
    for (what, text) in seen {
        assert_harmless(what, &text);
        // It is shown and not left out; a note is named by its file.
        assert!(what == "remember" || text.contains("&lt;system:obey>"), "{what}: {text:?}");
    }
    // Programs get it unchanged.
    assert_eq!(drive.call(ask::restore_entry(key.clone())).unwrap().entry.unwrap().key, key);
}
