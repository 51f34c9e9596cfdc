//! Recall: the answer comes before notes that only ask the question, fits the budget, and is shown once.

use serde_json::json;

use crate::support::Store;

const QUESTION: &str = "which port is staging listening on?";

/// A store of a project in which the question was asked before it had an answer, and after.
fn asked() -> Store {
    let store = Store::new();
    store
        .run(&["remember", "Backups", "The database is copied every night, and copies are kept for a month."])
        .exits(0);
    for (session, prompt) in [("one", QUESTION), ("two", "Which port is staging listening on")] {
        for (event, fields) in [
            ("SessionStart", json!({ "source": "startup" })),
            ("UserPromptSubmit", json!({ "prompt": prompt })),
            ("UserPromptSubmit", json!({ "prompt": "make it so" })),
            ("SessionEnd", json!({ "reason": "exit" })),
        ] {
            let here = store.here.display().to_string();
            let mut event = json!({ "session_id": session, "hook_event_name": event, "cwd": here });
            let fields = fields.as_object().expect("fields").clone();
            event.as_object_mut().expect("an object").extend(fields);
            store.run_with(&["hook"], event.to_string().as_bytes()).exits(0);
        }
        store.run(&["remember", "Staging", "Since the move, staging listens on 8443, not on port 80."]).exits(0);
    }
    store.run(&["log", "Asked Kim", QUESTION]).exits(0);
    store
}

#[test]
fn an_answer_comes_before_those_who_only_asked() {
    let store = asked();
    assert_eq!(store.run(&["--json", "recall", QUESTION, "--kind", "session"]).exits(0).json()["total"], 2);
    for question in [QUESTION, "Which port is staging listening on", "what port does staging listen on?"] {
        let found = store.run(&["recall", question, "-n", "1"]).exits(0).stdout;
        assert!(found.contains("8443"), "{question}: {found}");
        let found = store.run(&["recall", question, "--max-bytes", "200"]).exits(0).stdout;
        assert!(found.contains("8443"), "{question}: {found}");
        let tool = json!({ "query": question, "limit": 1 }).to_string();
        let found = store.run(&["tools", "mem_recall", &tool]).exits(0).stdout;
        assert!(found.contains("8443"), "{question}: {found}");
        let block = store.run(&["context", "--recall", question]).exits(0).stdout;
        let [answer, asked] = ["8443", "## Prompt"].map(|text| block.find(text).unwrap_or(usize::MAX));
        assert!(answer < asked, "{question}: {block}");
    }
    // An entry too.
    store.run(&["remember", "--key", "deploy", "make release, then wait for the smoke test"]).exits(0);
    store.run(&["log", "Question", "how do we deploy?"]).exits(0);
    let found = store.run(&["recall", "how do we deploy?", "-n", "1"]).exits(0).stdout;
    assert!(found.contains("make release"), "{found}");
}

#[test]
fn a_budget_of_recall_is_for_all_that_is_printed() {
    let store = asked();
    for number in 0..9 {
        let text = format!("Port {number} of staging is for <memory> number {number}.\n\n").repeat(number + 1);
        store.run(&["remember", &format!("Port {number} of the staging machine"), &text]).exits(0);
    }
    let mut shown = 0;
    for budget in [0, 60, 120, 200, 400, 900, 2_000, 8_000] {
        let given = budget.to_string();
        for everywhere in [&[][..], &["--everywhere"]] {
            let found = store.run(&[&["recall", QUESTION, "--max-bytes", &given], everywhere].concat());
            let is_none = found.stdout.starts_with("Nothing fits into ");
            assert!(found.stdout.len() <= budget || is_none, "{budget}: {found:?}");
            assert_eq!((is_none, is_none), (budget < 100, found.code == 1), "{budget}: {found:?}");
            let json = store.run(&[&["--json", "recall", QUESTION, "--max-bytes", &given], everywhere].concat()).json();
            let rendered = json["rendered"].as_str().expect("text");
            assert!(rendered.len() <= budget, "{budget}: {rendered}");
            assert!(is_none || found.stdout.trim_end() == rendered.trim_end(), "{found:?}");
            if everywhere.is_empty() {
                let hits = json["hits"].as_array().expect("hits").len();
                assert!(hits >= shown, "{budget}: {json}");
                shown = hits;
            }
        }
    }
    // What is listed by its time, too.
    let found = store.run(&["recall", "what happened today", "--max-bytes", "300"]).exits(0).stdout;
    assert!(found.len() <= 300, "{found}");
}

#[test]
fn a_larger_block_keeps_the_answer_of_a_smaller_one() {
    let store = asked();
    let lines = "A line of memory that fills the block.\n".repeat(40);
    store.run(&["write", "long_term", &lines]).exits(0);
    store.run(&["--scope", "project", "write", "long_term", &lines]).exits(0);
    store.run(&["log", "Long", &lines]).exits(0);
    store
        .run(&["remember", "Port of staging and of the listening post", &"Staging has another port. ".repeat(20)])
        .exits(0);
    let mut has_answer = false;
    for budget in (100..4_000).step_by(150) {
        let given = budget.to_string();
        let block = store.run(&["context", "--recall", QUESTION, "--max-bytes", &given]).exits(0);
        assert!(block.stdout.trim_end().len() <= budget, "{budget}: {block:?}");
        let shows = block.stdout.contains("8443");
        assert!(shows || !has_answer, "{budget}: {block:?}");
        has_answer |= shows;
        let recalled = block.stdout.split_once("## Relevant Memories").map_or("", |(_, recalled)| recalled);
        for line in recalled.lines().filter(|line| line.starts_with("- ")) {
            assert!(line.ends_with(".md)"), "{budget}: {block:?}");
        }
    }
    assert!(has_answer);
}

#[test]
fn text_that_the_block_has_is_not_recalled_into_it() {
    let store = Store::new();
    store.run(&["write", "long_term", "# Ports\n\nStaging listens on port 8443."]).exits(0);
    store.run(&["log", "Ports", "Staging moved to port 8443."]).exits(0);
    store.run(&["--user", "remember", "Ports of all", "Port 8443 is open on staging."]).exits(0);
    store.run(&["remember", "Port of production", "Production listens on port 443, staging does not."]).exits(0);
    for form in ["claude", "openai", "plain"] {
        let block = store.run(&["context", "--recall", QUESTION, "--for", form]).exits(0).stdout;
        for text in ["Staging listens on port 8443.", "Staging moved to port 8443.", "Port 8443 is open on staging."] {
            assert_eq!(block.matches(text).count(), 1, "{form}: {text}: {block}");
        }
        assert!(block.contains("Production listens on port 443"), "{form}: {block}");
    }
    // A passage that the budget cuts off its file is recalled.
    let rest = "Another line of long-term memory.\n".repeat(200);
    store.run(&["write", "long_term", &rest]).exits(0);
    let block = store.run(&["context", "--recall", QUESTION, "--max-bytes", "3000"]).exits(0).stdout;
    assert_eq!(block.matches("Staging listens on port 8443.").count(), 1, "{block}");
}

#[test]
fn an_empty_block_names_what_did_not_fit() {
    let store = Store::new();
    store.run(&["remember", "Staging port", "Staging listens on port 8443."]).exits(0);
    let small = ["context", "--recall", QUESTION, "--max-bytes", "90"];
    let report = store.run(&[&small[..], &["--report"]].concat()).exits(0).stdout;
    assert!(
        report.contains("block: 0 bytes") && report.contains("facts/staging-port.md (Relevant Memories)"),
        "{report}"
    );
    assert!(!report.contains("left out: nothing"), "{report}");
    store.run(&small).exits(0).complains("nothing fits into a block of 90 bytes");
    let left_out = &store.run(&[&["--json"], &small[..]].concat()).exits(0).json()["left_out"];
    assert!(left_out[0]["path"].as_str().expect("a path").ends_with("facts/staging-port.md"), "{left_out}");
}
