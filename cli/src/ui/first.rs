//! [`First`]: the answers to what the first view asks, made while the browser starts. With 10,000 notes, a list takes as
//! long as the start of the page's script.

use saddlebag::items::{ItemKind, ItemsCommand, ListItems};
use saddlebag::notebook::{SortBy, SortKey};
use saddlebag::wit_convert::canonical::read_command;
use saddlebag::{Command, Reply};
use serde_json::Value;
use tokio::sync::Mutex;

use super::live::{Changes, Live};
use crate::server::worker::Memory;

/// Number of rows of the list of the first view: `PAGE_ROWS` of the page.
const ROWS: u32 = 50;

/// Answers that were made before they were asked for. Each is given once, and only if nothing has changed.
#[derive(Default)]
pub(super) struct First(Mutex<Vec<(Command, Value, Changes)>>);

impl First {
    /// Asks what the first view asks. A page that asks meanwhile waits for these answers, rather than ask twice.
    pub(super) async fn prepare(&self, memory: &Memory, live: &Live) {
        let mut made = self.0.lock().await;
        for command in commands() {
            let Some(before) = live.changes() else { return };
            let reply: Result<Reply, _> = memory.call(command.clone(), None).await;
            let Ok(Ok(answer)) = reply.map(serde_json::to_value) else { return };
            made.push((command, answer, before));
        }
    }

    /// Returns the answer to a call, if it was made before. Any other call may change memory, and ends this.
    pub(super) async fn take(&self, name: &str, given: &Value, live: &Live) -> Option<Value> {
        let mut made = self.0.lock().await;
        if made.is_empty() {
            return None;
        }
        let Some(at) = asked(name, given).and_then(|asked| made.iter().position(|(command, ..)| *command == asked))
        else {
            made.clear();
            return None;
        };
        let (_, answer, before) = made.swap_remove(at);
        (live.changes() == Some(before)).then_some(answer)
    }
}

/// Returns the commands of the first view.
fn commands() -> [Command; 2] {
    let newest = vec![SortKey { by: SortBy::Modified, ascending: false }];
    let list = |kind, sort| ListItems { kinds: vec![kind], sort, limit: Some(ROWS), ..ListItems::default() };
    [list(ItemKind::Note, newest), list(ItemKind::Entry, Vec::new())].map(|list| ItemsCommand::ListItems(list).into())
}

/// Returns the command of a call that asks about now.
fn asked(name: &str, given: &Value) -> Option<Command> {
    let is_of_now = name == "call" && given.get("at").is_none_or(Value::is_null);
    let command = given.get("command").filter(|_| is_of_now)?;
    read_command(given.get("interface")?.as_str()?, command.clone()).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::ui::assets::SCRIPT;

    #[test]
    fn the_first_view_asks_for_what_was_prepared() {
        assert!(SCRIPT.contains(&format!("const PAGE_ROWS = {ROWS};")));
        let list = |kind: &str, sort: Value| {
            json!({ "list-items": { "forgotten": false, "kinds": [kind], "sort": sort, "limit": ROWS, "filter": null,
                "after": null, "zk-links": false, "with-text": false, "with-links": false } })
        };
        let calls = [list("note", json!([{ "by": "modified", "ascending": false }])), list("entry", json!([]))];
        let asked = calls.map(|command| {
            let call =
                json!({ "interface": "items", "command": command, "operation": null, "reason": null, "at": null });
            asked("call", &call).expect("a command")
        });
        assert_eq!(asked, commands());
    }
}
