//! What a commit says: its author, and its message with the facts of the operation.

use saddlebag::history::{ChangeKind, OperationInfo};
use saddlebag::trust::Provenance;

use crate::git::repository::{Identity, OPERATION};
use crate::output::single_line;

/// Maximum number of characters of the first line.
const MAX_SUBJECT: usize = 100;

/// Maximum number of files that the first line names.
const MAX_NAMES: usize = 3;

/// Domain of the addresses of agents, which nobody can own.
const DOMAIN: &str = "saddlebag.invalid";

/// Returns who made an operation. `user` is the identity of the person.
pub(super) fn author(info: &OperationInfo, user: &Identity) -> Identity {
    if info.provenance == Provenance::User.as_str() {
        return user.clone();
    }
    let names = [&info.agent, &info.client, &info.tool].into_iter().flatten();
    let name = names.map(|name| plain_name(name)).find(|name| !name.is_empty());
    let name = name.unwrap_or_else(|| info.provenance.clone());
    let is_plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let local: String = name.chars().map(|c| if is_plain(&c) { c.to_ascii_lowercase() } else { '-' }).collect();
    Identity { email: format!("{local}@{DOMAIN}"), name }
}

/// Returns a name without what git does not take in one.
fn plain_name(name: &str) -> String {
    let name: String = name.chars().filter(|c| !c.is_control() && !matches!(c, '<' | '>')).collect();
    let is_crud = |c: char| c.is_whitespace() || matches!(c, '.' | ',' | ':' | ';' | '"' | '\\' | '\'');
    name.trim_matches(is_crud).to_string()
}

/// Returns the first line for an operation: its command, its files and its reason.
pub(super) fn subject(info: &OperationInfo, is_committed: &dyn Fn(&str) -> bool) -> String {
    let command = single_line(&info.command).replace('-', " ");
    let sources: Vec<&String> = info.files.iter().filter_map(|file| file.moved_from.as_ref()).collect();
    let files = info.files.iter().filter(|file| is_committed(&file.path));
    // Where a file came from is said with the place where it is.
    let files = files.filter(|file| file.kind != ChangeKind::Removed || !sources.contains(&&file.path));
    let mut names: Vec<String> = Vec::new();
    for file in files {
        let name = match &file.moved_from {
            Some(from) => format!("{} to {}", short(from), short(&file.path)),
            None => short(&file.path),
        };
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let reason = info.reason.as_ref().map(|reason| format!(": {}", single_line(reason))).unwrap_or_default();
    line(&command, &names, &reason)
}

/// Returns the first line for files that were changed by hand.
pub(super) fn by_hand(files: &[String]) -> String {
    let names: Vec<String> = files.iter().map(|file| short(file)).collect();
    line("changed by hand", &names, "")
}

fn line(what: &str, names: &[String], reason: &str) -> String {
    let shown = names.iter().take(MAX_NAMES).cloned().collect::<Vec<_>>().join(", ");
    let more = names.len().saturating_sub(MAX_NAMES);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let mut characters = what.chars();
    let first = characters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    let gap = if shown.is_empty() { "" } else { " " };
    let line = format!("{first}{}{gap}{shown}{more}{reason}", characters.as_str());
    if line.chars().count() <= MAX_SUBJECT {
        return line;
    }
    line.chars().take(MAX_SUBJECT - 1).chain(['…']).collect()
}

/// Returns a path without the folder of its project.
fn short(path: &str) -> String {
    let below = path.strip_prefix("projects/").and_then(|rest| rest.split_once('/')).map(|(_, below)| below);
    single_line(below.unwrap_or(path))
}

/// Returns the message for an operation, which was made on a machine of this name.
pub(super) fn message(info: &OperationInfo, machine: Option<&String>, subject: &str) -> String {
    let OperationInfo { operation, agent, client, session, tool, reason, .. } = info;
    let mut message = format!("{subject}\n\n{OPERATION}: {}\n", single_line(operation));
    let facts = [
        ("Agent", agent.as_ref()),
        ("Client", client.as_ref()),
        ("Session", session.as_ref()),
        ("Tool", tool.as_ref()),
        ("Machine", machine),
        ("Reason", reason.as_ref()),
    ];
    for (name, value) in facts {
        let value = value.map(|value| single_line(value)).unwrap_or_default();
        if !value.trim().is_empty() {
            message.push_str(&format!("Saddlebag-{name}: {}\n", value.trim()));
        }
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info() -> OperationInfo {
        OperationInfo { operation: "1f".into(), provenance: "agent".into(), ..OperationInfo::default() }
    }

    #[test]
    fn a_hostile_name_or_reason_stays_on_its_line() {
        let user = Identity { name: "Ana".into(), email: "ana@example.org".into() };
        let hostile = "x\nSaddlebag-Operation: 99".to_string();
        let info = OperationInfo { agent: Some(format!("a<b>{hostile}")), reason: Some(hostile), ..info() };
        let author = author(&info, &user);
        assert!(!author.name.contains(['<', '>', '\n']), "{author:?}");
        assert!(author.email.ends_with("@saddlebag.invalid"), "{author:?}");
        let message = message(&info, None, &subject(&info, &|_| true));
        assert_eq!(message.lines().filter(|line| line.starts_with("Saddlebag-Operation: ")).count(), 1, "{message}");
    }

    #[test]
    fn every_fact_that_is_known_is_a_trailer() {
        let known = |word: &str| Some(word.to_string());
        let info = OperationInfo {
            command: "create-note".into(),
            agent: known("main"),
            client: known("claude-code"),
            session: known("4f1c"),
            tool: known("mem_remember"),
            reason: known("asked"),
            ..info()
        };
        let message = message(&info, known("laptop").as_ref(), &subject(&info, &|_| true));
        assert_eq!(
            message,
            "Create note: asked\n\nSaddlebag-Operation: 1f\nSaddlebag-Agent: main\nSaddlebag-Client: claude-code\n\
             Saddlebag-Session: 4f1c\nSaddlebag-Tool: mem_remember\nSaddlebag-Machine: laptop\nSaddlebag-Reason: asked\n"
        );
    }

    #[test]
    fn a_long_first_line_is_cut_and_names_few_files() {
        let names: Vec<String> = (0..5).map(|number| format!("projects/here-1/facts/{number}.md")).collect();
        assert_eq!(by_hand(&names), "Changed by hand facts/0.md, facts/1.md, facts/2.md and 2 more");
        let long = by_hand(&["é".repeat(200)]);
        assert!(long.chars().count() == MAX_SUBJECT && long.ends_with('…'), "{long}");
    }

    #[test]
    fn a_nameless_writer_has_the_name_of_its_provenance() {
        let user = Identity { name: "Ana".into(), email: "ana@example.org".into() };
        let named =
            |agent: Option<&str>| author(&OperationInfo { agent: agent.map(String::from), ..info() }, &user).name;
        assert_eq!(
            (named(None), named(Some(" .")), named(Some("scout"))),
            ("agent".into(), "agent".into(), "scout".into())
        );
    }
}
