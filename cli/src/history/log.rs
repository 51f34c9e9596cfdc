//! `history`: lists what was changed, or the versions of an item.

use saddlebag::history::{
    HistoryPolicyReply, ListOperations, ListVersions, OperationList, SetHistoryPolicy, VersionList,
};

use super::shared::{by_others, operation_line, print_files};
use crate::input::{Since, shown_path, since};
use crate::output::single_line;
use crate::prelude::*;

/// List what was changed, or the versions of one item
///
/// Versions are counted from the newest, which is 1. `show NAME@2` prints the version before it, and `restore NAME --at 2` brings
/// it back.
#[derive(Debug, Args)]
#[command(after_help = example("history \"Load balancer\" -p"))]
pub(crate) struct HistoryArgs {
    /// Name of a note, an entry or a file [default: all changes]
    #[arg(value_parser = shown_path)]
    name: Option<String>,
    /// Print the difference that each change made
    #[arg(long, short = 'p', requires = "name")]
    patch: bool,
    /// Only changes at or after this time
    #[arg(long, value_name = "DATE", value_parser = since)]
    since: Option<Since>,
    /// Only changes by this agent, client, tool or session, or by `user`, `agent`, `tool` or `import`
    #[arg(long, alias = "session", value_name = "WHO")]
    by: Option<String>,
    /// Print whether changes are recorded and how long they are kept, or turn the record on or off for the whole store
    #[arg(long, value_name = "on|off", num_args = 0..=1, default_missing_value = "", conflicts_with_all = ["name", "since", "by"])]
    policy: Option<String>,
    /// Age after which the log of a month is removed, with --policy
    #[arg(long, value_name = "DAYS", requires = "policy")]
    max_age_days: Option<u32>,
    /// Size of the logs of one machine above which the oldest months are removed, with --policy
    #[arg(long, value_name = "MIB", requires = "policy")]
    max_mib: Option<u32>,
    /// Maximum number of changes
    #[arg(long, short = 'n', value_name = "N", default_value_t = saddlebag::history::DEFAULT_HISTORY_ITEMS,
        value_parser = clap::value_parser!(u32).range(1..=i64::from(saddlebag::history::MAX_HISTORY_ITEMS)))]
    limit: u32,
}

/// Operations, or the versions of an item.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[allow(dead_code, reason = "it is the schema of what is printed")]
pub(crate) enum HistoryJson {
    Operations(OperationList),
    Versions(VersionList),
    Policy(HistoryPolicyReply),
}

impl Subcommand for HistoryArgs {
    type Json = HistoryJson;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        let mut store = Store::open(global)?;
        if let Some(word) = &self.policy {
            let recording = match word.as_str() {
                "" => None,
                "on" => Some(true),
                "off" => Some(false),
                other => {
                    return Err(Failure::usage(
                        format!("`{}` is neither on nor off", single_line(other)),
                        "give one of them, or none to see the policy",
                    ));
                }
            };
            let max_log_bytes = self.max_mib.map(|mib| u64::from(mib) << 20);
            let request = SetHistoryPolicy { recording, max_age_days: self.max_age_days, max_log_bytes };
            let reply = store.call(request, output)?;
            output.object_or_line(&reply, &single_line(&reply.message))?;
            return Ok(Exit::Done);
        }
        let since = self.since.map(|time| time.seconds(store.now()));
        let Some(name) = self.name else {
            let request = ListOperations { limit: self.limit, since, by: self.by, operation: None };
            return print_operations(&store.call(request, output)?, output);
        };
        let by = self.by;
        let request = ListVersions { name, limit: self.limit, since, by, operation: None, patch: self.patch };
        print_versions(&store.call(request, output)?, output)
    }
}

/// Prints operations, newest first.
pub(super) fn print_operations(list: &OperationList, output: &mut Output) -> Result<Exit, Failure> {
    if !output.json(list)? {
        for info in &list.operations {
            output.line(&operation_line(info))?;
            print_files(&info.files, output)?;
        }
        output.flush()?;
        warn(list.damaged, list.cut, output);
        let shown = list.operations.len();
        if list.total as usize > shown {
            output.note(&format!("{shown} of {} operations; -n shows more", list.total));
        }
    }
    if list.operations.is_empty() {
        output.note("no recorded change is listed");
    }
    Ok(if list.operations.is_empty() { Exit::Nothing } else { Exit::Done })
}

fn print_versions(list: &VersionList, output: &mut Output) -> Result<Exit, Failure> {
    if !output.json(list)? {
        for version in &list.versions {
            let made = version.operation.as_ref().map_or_else(|| by_others(version.kind), operation_line);
            let size = version.size.map(|size| format!("  {size} bytes")).unwrap_or_default();
            let unkept = if version.unkept { ", text not kept" } else { "" };
            output.line(&format!("@{:<4} {:<8} {made}{size}{unkept}", version.number, version.kind.to_string()))?;
            if let Some(patch) = &version.patch {
                output.text(patch)?;
            }
        }
        output.flush()?;
        warn(list.damaged, list.cut, output);
        let shown = list.versions.len();
        if list.total as usize > shown {
            output.note(&format!("{shown} of {} versions of {}; -n shows more", list.total, single_line(&list.path)));
        }
    }
    if list.versions.is_empty() {
        output.note("no version is listed");
    }
    Ok(if list.versions.is_empty() { Exit::Nothing } else { Exit::Done })
}

fn warn(damaged: u32, cut: bool, output: &mut Output) {
    if damaged > 0 {
        output.warning(&format!("{damaged} damaged lines of the logs are left out; a power cut leaves such a line"));
    }
    if cut {
        output.warning("the logs are too large: the oldest months are left out");
    }
}
