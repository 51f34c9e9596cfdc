//! The subcommands of entries.

use crate::support::{Run, Store};

fn keep(store: &Store, arguments: &[&str]) -> Run {
    store.run(&[&["store"], arguments].concat()).exits(0)
}

#[test]
fn an_entry_is_stored_found_listed_and_forgotten() {
    let store = Store::new();
    keep(&store, &["deploy_target", "The staging cluster", "-t", "ops,eu"]).prints("Stored deploy_target in core\n");
    keep(&store, &["deploy_target", "The staging cluster", "-t", "ops,eu"])
        .prints("deploy_target says this already; nothing was written\n");
    assert_eq!(
        store.text("agents/main/entries/core/deploy_target.md"),
        "---\nkey: deploy_target\ncategory: core\nagent: main\ntags: [ops, eu]\ncreated: 2026-05-30T07:15:00Z\n\
         updated: 2026-05-30T07:15:00Z\n---\n\nThe staging cluster"
    );
    store.run(&["get", "deploy_target"]).exits(0).prints("The staging cluster");
    store.run(&["find", "which", "cluster"]).exits(0).prints("deploy_target  (core)\nThe staging cluster\n");
    store.run(&["find", "zebra"]).exits(1).prints("Nothing found.\n");
    store
        .run(&["entries", "--tag", "ops"])
        .exits(0)
        .prints("deploy_target  core  2026-05-30T07:15:00Z  The staging cluster\n");
    store.run(&["entries", "--category", "daily"]).exits(1).prints("No entries.\n");
    store.run(&["forget", "--key", "deploy_target"]).exits(0);
    store.run(&["get", "deploy_target"]).exits(1).complains("UZ-MEM-004: no entry `deploy_target`");
    store
        .run(&["store", "deploy_target", "The staging cluster", "-t", "ops,eu"])
        .exits(3)
        .prints("deploy_target was forgotten; nothing was written\n");
    store.run(&["purge"]).exits(0).prints("Purged deploy_target\n");
    assert!(!store.root.join("agents/main/entries/core/deploy_target.md").exists());
}

#[test]
fn agents_share_the_workspace_and_nothing_else() {
    let store = Store::new();
    keep(&store, &["--agent", "a", "--workspace", "w", "mine", "v"]);
    keep(&store, &["--agent", "a", "--workspace", "w", "ours", "v", "--category", "workspace"]);
    let seen = store.run(&["--agent", "b", "--workspace", "w", "--json", "entries"]).exits(0).json();
    assert_eq!(seen["total"], 1);
    assert_eq!(seen["entries"][0]["key"], "ours");
    store.run(&["--agent", "b", "get", "mine"]).exits(1);
}

#[test]
fn entries_go_into_the_block_when_asked_for() {
    let store = Store::new();
    store.run(&["write", "long_term", "a fact of the journal"]).exits(0);
    keep(&store, &["large", &"x".repeat(500), "-c", "notes"]);
    keep(&store, &["deploy_target", "The staging cluster"]);
    let without = store.run(&["context"]).exits(0).stdout;
    assert!(without.contains("a fact of the journal") && !without.contains("deploy_target"), "{without}");
    let with =
        store.run(&["context", "--entries=200"]).exits(0).complains("of large (Entries (hydrated)): not hydrated");
    assert!(with.stdout.contains("## Entries (hydrated)\n- deploy_target (core)\n  The staging cluster\n"), "{with:?}");
    let all = store.run(&["--json", "context", "--entries"]).exits(0).json();
    assert_eq!(all["left_out"].as_array().map(Vec::len), Some(0), "{all}");
    let report = store.run(&["--json", "context", "--entries", "--max-bytes", "400"]).exits(0).json();
    assert_eq!(report["left_out"][0]["key"], "large", "{report}");
    store.run(&["context", "--entries=many"]).exits(2);
}

#[test]
fn hydration_fits_the_budget_and_explains_itself() {
    let store = Store::new();
    keep(&store, &["fact", "0123456789"]);
    keep(&store, &["note", "0123456789", "-c", "notes"]);
    let hydrated = store.run(&["--json", "hydrate", "--max-bytes", "20"]).exits(0).json();
    assert_eq!((&hydrated["entries"][0]["key"], &hydrated["bytes"]), (&"fact".into(), &18.into()));
    let text = store.run(&["explain", "--max-bytes", "20"]).exits(0).stdout;
    assert!(text.contains("larger-than-remaining") && text.contains("18 of 20 bytes"), "{text}");
    store.run(&["hydrate", "--max-bytes", "0"]).exits(1);
}

#[test]
fn a_run_stores_its_entries_and_names_what_it_skips() {
    let store = Store::new();
    let lines = "{\"key\": \"a\", \"content\": \"v\"}\n\n{\"key\": \"\", \"content\": \"v\"}\n\
                 {\"key\": \"b\", \"content\": \"v\", \"category\": \"conversation\"}\n";
    let run = store.run_with(&["run", "r1", "--fence", "2"], lines.as_bytes()).exits(3);
    assert_eq!(run.stdout, "Closed run r1: 1 stored, 1 skipped\nskipped : key is empty, at least 1 byte is needed\n");
    let before = store.tree();
    store.run_with(&["run", "r0", "--fence", "1"], lines.as_bytes()).exits(3).complains("UZ-RUN-005");
    store.run_with(&["run", "r2", "--fence", "3"], b"{\"key\": 1}").exits(2).complains("line 1 is no entry");
    assert_eq!(store.tree(), before);
    store.run_with(&["run", "r3", "--fence", "3"], b"{\"key\": \"a\", \"deleted\": true}").exits(0);
    store.run(&["get", "a"]).exits(1);
}

#[test]
fn bad_entries_change_nothing() {
    let store = Store::new();
    let (key, content) = ("k".repeat(256), "x".repeat(16_385));
    store.refuses(&["store", &key, "v"], 3, "key has 256 bytes, the limit is 255: 1 too many");
    store.refuses(&["store", "k", &content], 3, "content has 16385 bytes, the limit is 16384: 1 too many");
    store.refuses(&["store", "", "v"], 2, "key is empty");
    store.refuses(&["store", "k", "v", "--category", ""], 2, "category is empty");
    store.refuses(&["store", "k", "v", "--category", "conversation"], 2, "live in a run alone");
    store.refuses(&["store", "k", "v", "--category", "workspace"], 2, "opened without a workspace");
    store.refuses(&["--agent", "", "get", "k"], 3, "no name of an agent");
    store.refuses(&["entries", "--after", "x"], 2, "`x` is no cursor");
    store.refuses(&["forget", "--key", "k"], 3, "UZ-MEM-004: no entry `k`");
    store.refuses(&["forget"], 2, "<NOTE>");
    store.put("agents/main/entries/core/k.md", "---\nkey: [\n---\n\nmine");
    store.refuses(&["store", "k", "v"], 2, "cannot be read as an entry");
}
