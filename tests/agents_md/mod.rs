//! The managed section of AGENTS.md: its content, and its edits that become entries.

mod elsewhere;
mod races;
mod section;

use saddlebag::Reply;
use saddlebag::agents_md::{AgentsMdReply, FactChangeKind, SyncAgentsMd, SyncAgentsMdReply};
use saddlebag::entries::{EntriesCommand, EntriesReply, GetEntry};
use saddlebag::protocol::ErrorCode;
use saddlebag_host::Simulator;
use support::drive::Drive;
use support::{Kind, agent_config};

type Driven = Drive<Simulator>;

fn drive(kind: Kind) -> Driven {
    Drive::new(kind, agent_config(), Simulator::new(1))
}

/// Keys that most tests select for the section.
const KEYS: [&str; 13] =
    ["port", "deploy", "k", "z", "old", "same", "new_one", "never-push-to-main", "a", "b", "c", "added", "more"];

fn naming<'a>(keys: impl IntoIterator<Item = &'a str>, content: &str) -> SyncAgentsMd {
    let keys = keys.into_iter().map(str::to_string).collect();
    SyncAgentsMd { content: Some(content.as_bytes().to_vec()), keys, ..SyncAgentsMd::default() }
}

fn request(content: &str) -> SyncAgentsMd {
    naming(KEYS, content)
}

/// Returns a request that selects no facts.
fn going_on(content: &str) -> SyncAgentsMd {
    naming([], content)
}

/// Runs the command, and confirms the changes that a person must look at.
fn agreed(drive: &mut Driven, request: SyncAgentsMd) -> SyncAgentsMdReply {
    let reply = sync(drive, request.clone());
    let Some(unconfirmed) = reply.unconfirmed else { return reply };
    let reply = sync(drive, SyncAgentsMd { confirmed: Some(unconfirmed.digest), ..request });
    assert_eq!(reply.unconfirmed, None);
    reply
}

fn sync(drive: &mut Driven, request: SyncAgentsMd) -> SyncAgentsMdReply {
    match drive.run(request) {
        Ok(Reply::AgentsMd(AgentsMdReply::SyncAgentsMd(reply))) => reply,
        other => panic!("expected a section, got {other:?}"),
    }
}

/// Returns the file after a sync.
fn synced(drive: &mut Driven, text: &str) -> (String, SyncAgentsMdReply) {
    let reply = agreed(drive, request(text));
    (reply.content.clone().map_or_else(|| text.to_string(), |bytes| String::from_utf8(bytes).unwrap()), reply)
}

fn entry(drive: &mut Driven, key: &str) -> Option<(String, String)> {
    match drive.run(EntriesCommand::GetEntry(GetEntry { key: key.into() })) {
        Ok(Reply::Entries(EntriesReply::GetEntry(entry))) => Some((entry.category, entry.content)),
        Err(error) if error.code == ErrorCode::EntryNotFound => None,
        other => panic!("{other:?}"),
    }
}

fn kinds(reply: &SyncAgentsMdReply) -> Vec<(&str, &FactChangeKind)> {
    reply.changes.iter().map(|change| (change.key.as_str(), &change.kind)).collect()
}

fn conflict_of(reply: &SyncAgentsMdReply) -> &str {
    match &reply.changes[..] {
        [change] => match &change.kind {
            FactChangeKind::Conflict(reason) => reason,
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}
