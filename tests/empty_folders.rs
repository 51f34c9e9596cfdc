//! A command removes a folder that it has emptied, and no other empty folder.

use saddlebag::entries::PurgeEntries;
use saddlebag::protocol::FsError;
use saddlebag::tools::{CallTool, Dialect, ToolOptions, ToolSet, ToolsReply};
use saddlebag::{Config, Reply};
use serde_json::{Value, json};
use support::{Kind, SimulatedHost, agent_config, ask, both_engines, host, keep, path, run};

fn memory_tool(host: &mut SimulatedHost, input: &Value) {
    let (sets, dialect) = (vec![ToolSet::Anthropic], Dialect::default());
    let call = CallTool { tool: "memory".into(), input: input.to_string(), options: ToolOptions { sets, dialect } };
    let Reply::Tools(ToolsReply::CallTool(answer)) = run(host, call) else { panic!("no answer of a tool") };
    assert!(!answer.is_error, "{input}: {answer:?}");
}

fn store(kind: Kind, files: &[&str]) -> SimulatedHost {
    let files: Vec<(&str, &[u8])> = files.iter().map(|file| (*file, b"text".as_slice())).collect();
    host(kind, Config { epoch: 1, ..Config::default() }, &files)
}

#[both_engines]
fn a_folder_that_a_tool_deletes_or_renames_is_gone_with_those_in_it(kind: Kind) {
    let mut host = store(kind, &["memories/few/a", "memories/few/b/c", "memories/few/b/d/e", "memories/other/f"]);
    memory_tool(&mut host, &json!({ "command": "rename", "old_path": "/memories/few", "new_path": "/memories/moved" }));
    let expected = ["memories", "memories/moved", "memories/moved/b", "memories/moved/b/d", "memories/other"];
    assert_eq!(host.executor().folders(), expected);
    memory_tool(&mut host, &json!({ "command": "delete", "path": "/memories/moved" }));
    assert_eq!(host.executor().folders(), ["memories", "memories/other"]);
}

#[both_engines]
fn a_folder_with_anything_else_in_it_stays(kind: Kind) {
    let mut host = store(kind, &["memories/few/a", "memories/few/b/c", "memories/few/b/.hidden"]);
    host.executor_mut().insert_directory(&path("memories/few/was/empty"));
    memory_tool(&mut host, &json!({ "command": "delete", "path": "/memories/few" }));
    let expected = ["memories", "memories/few", "memories/few/b", "memories/few/was", "memories/few/was/empty"];
    assert_eq!(host.executor().folders(), expected);
    assert_eq!(host.executor().files().into_keys().collect::<Vec<_>>(), ["memories/few/b/.hidden"]);
}

#[both_engines]
fn the_folder_of_a_category_goes_with_the_last_entry_that_is_purged(kind: Kind) {
    let mut host = host(kind, agent_config(), &[]);
    for (key, category) in [("one", "core"), ("two", "daily"), ("three", "daily")] {
        run(&mut host, keep(key, "text", category));
    }
    let folders = |host: &SimulatedHost| {
        let folders = host.executor().folders().into_iter();
        folders.filter(|folder| folder.contains("/entries")).collect::<Vec<_>>()
    };
    let before = folders(&host);
    let without = |gone: &[&str]| {
        before.iter().filter(|folder| !gone.iter().any(|gone| folder.ends_with(gone))).cloned().collect::<Vec<_>>()
    };
    for (key, gone) in [("two", [].as_slice()), ("three", &["/daily"]), ("one", &["/daily", "/core"])] {
        run(&mut host, ask::forget_entry(key));
        run(&mut host, PurgeEntries { key: Some(key.into()) });
        assert_eq!(folders(&host), without(gone), "{key}");
    }
}

#[both_engines]
fn a_folder_that_the_host_does_not_remove_is_not_a_failure(kind: Kind) {
    let calm = {
        let mut host = store(kind, &["memories/few/a"]);
        memory_tool(&mut host, &json!({ "command": "delete", "path": "/memories/few" }));
        host
    };
    let log = calm.executor().log();
    let removal = log.iter().position(|done| done.op == "remove-directory").expect("it was asked for") as u64;
    for error in [FsError::Unsupported, FsError::Denied, FsError::Locked("another program".into())] {
        let mut host = store(kind, &["memories/few/a"]);
        host.executor_mut().fail_at(removal, error);
        memory_tool(&mut host, &json!({ "command": "delete", "path": "/memories/few" }));
        assert!(host.executor().files().is_empty());
        assert_eq!(host.executor().folders(), ["memories", "memories/few"]);
    }
}
