//! What memory says about a question: which items, of which day, and whether they still count.

use std::fs;

use crate::support::{Run, Store, engine, run};

/// Runs the program at another time than usual.
fn at(store: &Store, now: &str, arguments: &[&str]) -> Run {
    let mut command = store.bare(&["--now", now, "--durability", "fast", "--engine", &engine()]);
    if store.memory.is_empty() {
        command.arg("--notebook");
    }
    command.arg("--root").arg(&store.root).args(arguments);
    run(&mut command, None)
}

fn tool(store: &Store, name: &str, arguments: &serde_json::Value) -> String {
    store.run(&["tools", name, &arguments.to_string()]).exits(0).stdout
}

fn hook(store: &Store, now: &str, session: &str, event: &str, more: &serde_json::Value) -> String {
    let mut given = serde_json::json!({
        "session_id": session, "hook_event_name": event, "cwd": store.here.display().to_string(),
    });
    given.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    let mut command = store.bare(&["--now", now, "--durability", "fast", "--engine", &engine(), "--root"]);
    command.arg(&store.root).args(["hook", "x", "--client", "claude-code"]);
    run(&mut command, Some(given.to_string().as_bytes())).exits(0).stdout
}

#[test]
fn what_looks_like_an_operator_in_a_question_is_text_for_every_command_and_tool() {
    let store = Store::new();
    store.run(&["remember", "Compiler rules", "We build with -Werror. Start: java -jar app.jar"]).exits(0);
    store.run(&["remember", "Java style", "Two spaces."]).exits(0);
    store.run(&["remember", "--key", "flags", "The -Werror flag stays."]).exits(0);
    for question in ["why do we build with -Werror?", "java -jar app.jar"] {
        let found = store.run(&["recall", "--", question]).exits(0).stdout;
        assert!(found.starts_with(&store.printed("facts/compiler-rules.md")), "{question}: {found}");
        for (name, list) in [("mem_recall", "query"), ("notebook_recall", "query")] {
            let found = tool(&store, name, &serde_json::json!({ list: question, "limit": 1 }));
            assert!(found.contains("Compiler rules"), "{name}: {question}: {found}");
        }
    }
    let question = "why do we have the -Werror flag?";
    assert!(tool(&store, "memory_recall", &serde_json::json!({ "query": question })).contains("flag stays"));
    assert!(store.run(&["recall", "--kind", "entry", question]).exits(0).stdout.contains("flag stays"));
    assert!(store.run(&["context", "--recall", question]).exits(0).stdout.contains("Compiler rules"));
    // Where they were meant, they count, and what they leave out is named.
    store.run(&["remember", "Staging port", "8443"]).exits(0);
    store.run(&["remember", "Production port", "443"]).exits(0);
    let left = store.run(&["recall", "--", "port -staging"]).exits(0).complains("`-staging` leaves out");
    assert!(left.stdout.contains("Production") && !left.stdout.contains("Staging"), "{left:?}");
    assert!(left.stderr.contains("staging-port.md"), "{left:?}");
    let said = tool(&store, "mem_recall", &serde_json::json!({ "query": "java -jar app.jar" }));
    assert!(said.contains("`-jar`: searched as text"), "{said}");
}

#[test]
fn a_superseded_decision_is_marked_wherever_it_is_shown() {
    let store = Store::new();
    let old = ["remember", "Send mail through Mailgun", "Key in the vault.", "--template", "decision", "-t", "mail"];
    at(&store, "2026-05-20T10:00:00+02:00", &old).exits(0);
    let new = ["remember", "Send mail through SES", "Mailgun tripled its price.", "--template", "decision"];
    let new = [&new[..], &["--supersedes", "Send mail through Mailgun"]].concat();
    at(&store, "2026-05-24T23:30:00+02:00", &new).exits(0);
    let mark = format!("superseded by {} since 2026-05-24", store.printed("decisions/send-mail-through-ses.md"));
    let shown = store.run(&["show", "Send mail through Mailgun"]).exits(0).stdout;
    assert!(shown.starts_with(&format!("({mark})\n")), "{shown}");
    for arguments in [
        &["list"][..],
        &["list", "--tag", "mail"],
        &["list", "--kind", "note", "--links"],
        &["list", "--links", "--format", "mermaid"],
        &["related", "Send mail through SES"],
        &["recall", "mailgun"],
        &["recall", "what happened on 2026-05-20"],
        &["show", &store.printed("decisions/send-mail-through-mailgun.md")],
    ] {
        let printed = store.run(arguments).exits(0).stdout;
        assert!(printed.contains(&mark), "{arguments:?}: {printed}");
    }
    let name = "Send mail through Mailgun";
    for (tool_name, arguments) in [
        ("mem_show", serde_json::json!({ "name": name })),
        ("mem_list", serde_json::json!({ "tags": ["mail"] })),
        ("mem_recall", serde_json::json!({ "query": "mailgun" })),
        ("notebook_related", serde_json::json!({ "note": "Send mail through SES" })),
    ] {
        let said = tool(&store, tool_name, &arguments);
        assert_eq!(said.matches(&mark).count(), 1, "{tool_name}: {said}");
    }
    let json = store.run(&["--json", "show", name]).exits(0).json();
    assert_eq!(json["superseded_since"], "2026-05-24", "{json}");
    assert!(!json["text"].as_str().expect("text").contains("superseded by"), "{json}");
    // A part is for programs that put the parts together.
    assert!(!store.run(&["show", name, "--offset", "4"]).exits(0).stdout.contains(&mark));
}

#[test]
fn a_note_that_an_agent_edits_names_the_agent() {
    let store = Store::new();
    store.run(&["remember", "Rule", "Never push to main."]).exits(0);
    store.run(&["remember", "Other", "Text."]).exits(0);
    let edit = serde_json::json!({ "name": "Rule", "old_str": "Never push", "new_str": "Always push" });
    tool(&store, "mem_edit", &edit);
    assert!(store.text("facts/rule.md").contains("provenance: agent"), "{}", store.text("facts/rule.md"));
    let listed = store.run(&["list", "--kind", "note"]).exits(0).stdout;
    assert!(listed.lines().any(|line| line.contains("Rule") && line.contains("[by ")), "{listed}");
    assert!(listed.lines().any(|line| line.contains("Other") && !line.contains("[by ")), "{listed}");
}

#[test]
fn a_date_is_of_the_day_that_it_says_in_every_zone() {
    for (zone, other) in [("-05:00", "-04:00"), ("+02:00", "+01:00"), ("Z", "+01:00"), ("+13:45", "+12:45")] {
        let store = Store::notebook();
        let notes = [
            ("crane", "2026-07-20".to_string()),
            ("local", "2026-07-20T23:50".to_string()),
            ("early", format!("2026-07-20T00:10:00{zone}")),
            ("late", format!("2026-07-20T23:50:00{zone}")),
            // The other half of the year, and another place.
            ("winter", format!("2026-01-15T23:30:00{other}")),
            ("far", "2026-01-15T01:00:00+14:00".to_string()),
        ];
        for (name, date) in &notes {
            let text = format!("---\ntitle: The {name}\ndate: {date}\n---\nThe {name} was repaired.\n");
            fs::write(store.root.join(format!("{name}.md")), text).expect("written");
        }
        let now = format!("2026-07-21T12:00:00{zone}");
        let created = |day: &str| {
            let listed = at(&store, &now, &["list", "--kind", "note", "--created", day, "--sort", "path"]).stdout;
            listed.lines().map(|line| line.split(".md").next().unwrap_or_default().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(created("2026-07-20"), ["crane", "early", "late", "local"], "{zone}");
        assert_eq!(created("yesterday"), ["crane", "early", "late", "local"], "{zone}");
        assert_eq!(created("2026-01-15"), ["far", "winter"], "{zone}");
        assert!(created("2026-07-19").is_empty() && created("today").is_empty() && created("2026-01-16").is_empty());
        let yesterday = at(&store, &now, &["recall", "what happened yesterday?"]).exits(0).stdout;
        assert_eq!(yesterday.matches("2026-07-20").count(), 4, "{zone}: {yesterday}");
        for (name, date) in &notes {
            let found = at(&store, &now, &["recall", name]).exits(0).stdout;
            assert!(found.contains(&date[..10]), "{zone} {name}: {found}");
        }
        let said = ["--notebook", "tools", "mem_recall", "{\"query\":\"winter\"}"];
        let mut command = store.bare(&["--now", &now, "--engine", &engine(), "--root"]);
        command.arg(&store.root).args(said);
        let said = run(&mut command, None).exits(0).stdout;
        assert!(said.contains("2026-01-15"), "{zone}: {said}");
    }
}

#[test]
fn a_list_has_the_local_day_of_the_last_change() {
    let store = Store::new();
    let now = "2026-05-30T20:30:00-04:00";
    at(&store, now, &["remember", "--key", "valve", "The valve was swapped."]).exits(0);
    let listed = at(&store, now, &["list", "--kind", "entry"]).exits(0).stdout;
    let all = at(&store, now, &["list"]).exits(0).stdout;
    assert!(all.contains("2026-05-30") && !all.contains("2026-05-31"), "{all}{listed}");
}

#[test]
fn the_latest_come_in_the_order_of_time_and_sessions_after_what_answers() {
    let store = Store::new();
    for (day, asked) in
        [("11", "resize the pictures of the catalogue"), ("17", "move the cache of pictures"), ("14", "tidy up")]
    {
        let now = format!("2026-05-{day}T10:00:00+02:00");
        let file = store.here.join("picture_size.py").display().to_string();
        hook(&store, &now, day, "UserPromptSubmit", &serde_json::json!({ "prompt": format!("please {asked} now") }));
        let used = serde_json::json!({
            "tool_name": "Edit", "tool_use_id": "t", "tool_input": { "file_path": file }, "tool_response": {},
        });
        hook(&store, &now, day, "PostToolUse", &used);
        hook(&store, &now, day, "Stop", &serde_json::json!({ "last_assistant_message": "Done with it." }));
        hook(&store, &now, day, "SessionEnd", &serde_json::json!({}));
    }
    for (day, title, text) in [
        ("12", "VAT", "See the law."),
        ("15", "Use Caddy", "It renews by itself."),
        ("13", "Use Redis", "For the cache."),
    ] {
        let template = if title == "VAT" { "fact" } else { "decision" };
        let now = format!("2026-05-{day}T10:00:00+02:00");
        at(&store, &now, &["remember", title, text, "--template", template]).exits(0);
    }
    let order = |query: &str| {
        let found = store.run(&["--json", "recall", query]).exits(0).json();
        let days = found["hits"]
            .as_array()
            .expect("hits")
            .iter()
            .map(|hit| hit["day"].as_str().expect("a day")[8..].to_string());
        days.collect::<Vec<_>>()
    };
    assert_eq!(order("where did we stop last time?"), ["17", "14", "11"]);
    assert_eq!(order("last session"), ["17", "14", "11"]);
    assert_eq!(order("latest decisions"), ["15", "13"]);
    assert_eq!(order("the latest decision about the cache")[0], "13");
    let files = tool(&store, "mem_recall", &serde_json::json!({ "query": "which files?" }));
    assert!(files.starts_with("Nothing in memory answers"), "{files}");
    // Nothing answers, and the nearest are named.
    let font = tool(&store, "mem_recall", &serde_json::json!({ "query": "which font do we use for the logo?" }));
    assert!(font.starts_with("Nothing in memory"), "{font}");
    store.run(&["remember", "Picture size", "At most 2 MB."]).exits(0);
    let size = store.run(&["recall", "max size of pictures?"]).exits(0).stdout;
    assert!(size.starts_with(&store.printed("facts/picture-size.md")), "{size}");
}

#[test]
fn a_title_with_a_date_is_a_title_and_a_budget_takes_what_it_has_room_for() {
    let store = Store::new();
    at(&store, "2026-05-20T10:00:00+02:00", &["remember", "Decisions 2026-05-12", "Caddy."]).exits(0);
    for number in 0..12 {
        at(&store, "2026-05-12T10:00:00+02:00", &["remember", &format!("Note {number}"), "Of that day."]).exits(0);
    }
    let found = store.run(&["recall", "Decisions 2026-05-12"]).exits(0).stdout;
    assert!(found.lines().next().is_some_and(|line| line.contains("Decisions 2026-05-12")), "{found}");
    let found = store.run(&["recall", "decisions-2026-05-12"]).exits(0).stdout;
    assert!(found.lines().next().is_some_and(|line| line.contains("Decisions 2026-05-12")), "{found}");
    let all = store.run(&["recall", "what happened on 2026-05-12", "--max-bytes", "8000"]).exits(0).stdout;
    assert_eq!(all.matches("Of that day.").count(), 12, "{all}");
    for option in [&["--explain"][..], &["--sort", "title"]] {
        let asked = [&["recall", "what happened on 2026-05-12"], option].concat();
        store.run(&asked).exits(2).complains("a question about a time is answered in its order");
    }
}

#[test]
fn words_that_are_written_in_another_way_and_pictures_are_found() {
    let store = Store::new();
    let text = "Send an e-mail before the log-in time-out; re-use the set-up of Node.js; see DL-11; 1.5kW; libbaz 7.8.9-beta; \
                libfoo v1.2.3-rc.1.";
    store.run(&["remember", "Words", text]).exits(0);
    store.run(&["remember", "Launch 🚀 day", "The 🚀 button starts it.", "--tag", "todo✅"]).exits(0);
    fs::write(store.file("facts/joined.md"), "# Joined\n\nemail, nodejs, DL12 and 2.5 kW. #🚀 #todo✅ #नमस्ते #👨‍💻x\n")
        .expect("written");
    for (query, title) in [
        ("email", "Words"),
        ("login", "Words"),
        ("timeout", "Words"),
        ("reuse", "Words"),
        ("setup", "Words"),
        ("nodejs", "Words"),
        ("DL11", "Words"),
        ("1.5 kW", "Words"),
        ("7.8.9", "Words"),
        ("1.2.3", "Words"),
        ("e-mail", "Joined"),
        ("Node.js", "Joined"),
        ("DL-12", "Joined"),
        ("2.5kW", "Joined"),
        ("🚀", "Launch"),
    ] {
        let found = store.run(&["recall", query]).exits(0).stdout;
        assert!(found.contains(title), "{query}: {found}");
    }
    let tags = store.run(&["list", "--tags"]).exits(0).stdout;
    assert!(tags.contains('🚀') && tags.matches("todo✅").count() == 1, "{tags}");
    assert!(tags.contains("नमस्ते") && tags.contains("👨‍💻x"), "{tags}");
}

#[test]
fn beside_many_pages_a_fact_has_its_own_date() {
    let store = Store::new();
    at(&store, "2024-03-01T09:00:00Z", &["remember", "Feature flags", "Flags are in config/flags.yaml."]).exits(0);
    for number in 0..1_900 {
        store.put(&format!("pages/{number}.md"), format!("# Page {number}\n\nText {number} of a page.\n"));
    }
    store.run(&["recall", "x"]);
    let prompt = serde_json::json!({ "prompt": "where are the feature flags?" });
    let said = hook(&store, "2026-05-30T09:15:00+02:00", "s", "UserPromptSubmit", &prompt);
    assert!(said.contains("Feature flags, 2024-03-01"), "{said}");
}

#[test]
fn a_filter_by_date_takes_the_words_of_a_question() {
    let store = Store::new();
    for (day, title) in [("2026-05-10", "Old"), ("2026-05-20", "New")] {
        at(&store, &format!("{day}T10:00:00+02:00"), &["remember", title, "x"]).exits(0);
    }
    for (date, count) in
        [("last two weeks", 1), ("last 3 days", 0), ("past month", 2), ("20th may", 1), ("last hour", 0)]
    {
        let listed = store.run(&["list", "--kind", "note", "--created", date]).exits(0).stdout;
        assert_eq!(listed.lines().count(), count, "{date}: {listed}");
    }
}
