//! `review`: answers to what waits for approval, on a terminal.

use super::support::Store;
use super::terminal::answering;

/// Answers that are typed, and how many wait afterwards.
fn review(store: &Store, typed: &str) -> Option<String> {
    let mut command = store.command(&["review"]);
    // An editor that changes the text.
    command.env("VISUAL", "sed -i s/says/said/");
    answering(command, Some(typed))
}

#[test]
#[allow(clippy::print_stderr, reason = "a test that cannot run says so")]
fn a_review_asks_about_each_item_and_does_what_is_answered() {
    let store = Store::new();
    for key in ["a", "b", "c", "d", "e", "f"] {
        let text = format!("the tool says {key}");
        store.run(&["--provenance", "tool", "remember", "--key", key, &text]).exits(0);
    }
    // `x` is not an answer, so the question is asked again.
    let Some(shown) = review(&store, "a\nx\nr\nR\nn\nR\ny\ne\ns\nq\n") else {
        return eprintln!("a review on a terminal: not run, as the system has no terminal to give");
    };
    assert!(shown.contains("Accepted 2, rejected 2, skipped 1; 2 wait"), "{shown}");
    let pending = store.run(&["--json", "list", "--pending"]).json();
    let waiting: Vec<&str> =
        pending["items"].as_array().unwrap().iter().map(|item| item["name"].as_str().unwrap()).collect();
    assert_eq!(waiting, ["e", "f"]);
    store.run(&["show", "b"]).exits(1);
    store.run(&["remember", "--key", "again", "The  tool SAYS c"]).exits(3).complains("reject");
    store.run(&["show", "d"]).exits(0).prints("the tool said d");
}

#[test]
fn a_review_that_cannot_ask_names_the_way_out() {
    let store = Store::new();
    store.run(&["review"]).exits(3).complains("memory approve");
}
