//! A file that changes while it is written, and a file that cannot be written.

use saddlebag::agents_md::{FactChangeKind, SyncAgentsMd};
use saddlebag::protocol::{ErrorCode, FsError, FsOp, FsOutcome};
use saddlebag_host::{Executor, Host, HostError, Simulator};
use support::{Kind, agent_config, both_engines, engine, keep, path, today};

use super::{kinds, request};

/// A folder in which another program writes the file between a read and a write.
struct Racing {
    folder: Simulator,
    races: u32,
}

impl Executor for Racing {
    fn perform(&mut self, op: &FsOp) -> Result<FsOutcome, FsError> {
        if let (FsOp::Write { path, .. }, true) = (op, self.races > 0) {
            self.races -= 1;
            let mut text = self.folder.files().get(path.as_str()).map(|bytes| bytes.to_vec()).unwrap_or_default();
            text.splice(0..0, format!("line {}\n", self.races).into_bytes());
            self.folder.insert(path, text);
        }
        self.folder.perform(op)
    }
}

#[both_engines]
fn a_lost_race_begins_again_and_loses_nothing(kind: Kind) {
    let mut host = Host::new(engine(kind, agent_config()), Simulator::new(1));
    host.run(today(), keep("k", "v", "core")).unwrap();
    let (file, request) = (path("AGENTS.md"), request(""));
    let mut folder = Racing { folder: Simulator::new(2), races: 3 };
    folder.folder.insert(&file, "# Project\n");
    host.sync_agents_md(today(), &mut folder, &file, &request).unwrap();
    let text = String::from_utf8(folder.folder.files()["AGENTS.md"].to_vec()).unwrap();
    assert!(text.starts_with("line 0\nline 1\nline 2\n# Project\n\n<!-- saddlebag:begin"), "{text}");

    let edited = text.replace("- `k`: v\n", "- `k`: v\n- added: x\n");
    folder.folder.insert(&file, edited.into_bytes());
    folder.races = 1;
    let reply = host.sync_agents_md(today(), &mut folder, &file, &request).unwrap();
    assert_eq!(kinds(&reply), [("added", &FactChangeKind::Stored)], "what was done before the race is told");

    folder.races = u32::MAX;
    host.run(today(), keep("more", "v", "core")).unwrap();
    match host.sync_agents_md(today(), &mut folder, &file, &request) {
        Err(HostError::Command(error)) => assert_eq!(error.code, ErrorCode::Contention),
        other => panic!("{other:?}"),
    }
}

#[test]
fn links_and_large_files_are_refused_by_name() {
    let mut host = Host::new(engine(Kind::Native, agent_config()), Simulator::new(1));
    let (file, request) = (path("AGENTS.md"), SyncAgentsMd::default());
    let mut folder = Simulator::new(2);
    folder.insert_link(&file);
    let refused = |host: &mut Host<_, Simulator>, folder: &mut Simulator| {
        host.sync_agents_md(today(), folder, &file, &request).unwrap_err().to_string()
    };
    assert_eq!(refused(&mut host, &mut folder), "AGENTS.md: refused: the path goes through a symbolic link");
    let mut folder = Simulator::new(2);
    folder.insert(&file, vec![b'x'; 2 << 20]);
    assert_eq!(refused(&mut host, &mut folder), "AGENTS.md: 2097152 bytes, the limit is 1048576");
}
