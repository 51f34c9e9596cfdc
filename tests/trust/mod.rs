//! Trust, in both engines: text of tools and imports is found and never injected before a person approves it, secrets
//! stay out, and text of the memory block does not come back.

mod approval;
mod prompts;
mod secrets;
mod shown;
mod tools;

use saddlebag::approval::{Approve, ApproveItem, ApproveReply, PendingItem, PendingReply};
use saddlebag::context::{Context, ContextEntries, ContextReply};
use saddlebag::entries::{Hydrate, HydrationPolicy, ImportEntries, ImportFile, ImportMode, ImportState, WriteEntry};
use saddlebag::protocol::Error;
use saddlebag::trust::{Provenance, SecretPolicy, TrustConfig};
use saddlebag::{Config, Origin, Submission, Submit};
use saddlebag_host::Simulator;
use support::drive::Drive;
use support::{Kind, agent_config, ask, keep};

fn config(provenance: Provenance, secrets: SecretPolicy) -> Config {
    Config { trust: TrustConfig { provenance, secrets }, ..agent_config() }
}

fn opened(kind: Kind, provenance: Provenance) -> Drive<Simulator> {
    Drive::new(kind, config(provenance, SecretPolicy::Refuse), Simulator::new(1))
}

/// Opens the same store for another provenance.
fn reopened(kind: Kind, drive: Drive<Simulator>, provenance: Provenance) -> Drive<Simulator> {
    let config = Config { epoch: 2, ..config(provenance, SecretPolicy::Refuse) };
    let now = drive.now;
    let mut drive = Drive::new(kind, config, drive.executor);
    drive.now = now;
    drive
}

fn keep_as(provenance: Provenance, key: &str, content: &str) -> Submission<WriteEntry> {
    Origin::from_provenance(provenance).with(keep(key, content, "core"))
}

fn files(files: &[(&str, &str)]) -> ImportEntries {
    let file = |(path, text): &(&str, &str)| ImportFile { path: (*path).into(), content: Ok(text.as_bytes().to_vec()) };
    let files = files.iter().map(file).collect();
    ImportEntries { files, mode: ImportMode::Upsert, dry_run: false, earlier: Vec::new() }
}

fn import(drive: &mut Drive<Simulator>, given: &[(&str, &str)], provenance: Option<Provenance>) -> Vec<ImportState> {
    let command = Origin { provenance, ..Origin::default() }.with(files(given));
    drive.call(command).unwrap().files.into_iter().map(|file| file.state).collect()
}

fn block(drive: &mut Drive<Simulator>, turn: Option<u64>) -> ContextReply {
    let request = Hydrate { max_bytes: 100_000, policy: HydrationPolicy::Greedy };
    let entries = Some(ContextEntries::from(request));
    drive.call(Context { entries, turn, max_bytes: 100_000, ..Context::default() }).unwrap()
}

fn pending(drive: &mut Drive<Simulator>) -> PendingReply {
    drive.call(ask::pending()).unwrap()
}

fn approve(drive: &mut Drive<Simulator>, request: Approve) -> ApproveReply {
    drive.call(request).unwrap()
}

fn items(listed: &PendingReply) -> Vec<ApproveItem> {
    let item = |item: &PendingItem| ApproveItem { name: item.path.to_string(), version: item.version.clone() };
    listed.items.iter().map(item).collect()
}

/// Returns the approval of the text under this name; for an unknown name, of a version that no text has.
fn named(drive: &mut Drive<Simulator>, name: &str) -> Approve {
    let waiting = pending(drive).items.into_iter().find(|item| item.name == name);
    let version = waiting.map_or_else(|| "0".repeat(64), |item| item.version);
    Approve { items: vec![ApproveItem { name: name.into(), version }], dry_run: false }
}

fn refused(drive: &mut Drive<Simulator>, command: impl Submit) -> Error {
    let before = drive.executor.files();
    let error = drive.run(command).expect_err("it is refused");
    assert_eq!(drive.executor.files(), before, "{error:?}");
    error
}

fn text(drive: &Drive<Simulator>, file: &str) -> String {
    let bytes = drive.executor.files().remove(file).unwrap_or_else(|| panic!("no {file}"));
    String::from_utf8(bytes).unwrap()
}
