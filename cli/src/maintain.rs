//! `maintain`: removes what a store on a server no longer needs.

use std::time::Duration;

use crate::failure::set_changes;
use crate::prelude::*;
use crate::store::Root;

/// Seconds of a day.
const DAY: u64 = 24 * 60 * 60;

/// Remove what a store on a server no longer needs
///
/// Others may use the store meanwhile. A removed file leaves a tombstone in a bucket, and an operation its name in a database. Both go
/// by themselves now and then; this removes all that are old. In a folder there is nothing to remove.
#[derive(Debug, Args)]
#[command(after_help = example("maintain --root s3://notes/team --dry-run"))]
pub(crate) struct MaintainArgs {
    /// Age from which on something is removed, in days; a change that takes longer than this can bring back what was removed
    #[arg(long, value_name = "DAYS", default_value_t = 7, value_parser = clap::value_parser!(u64).range(1..=36_500))]
    grace: u64,
    /// Only count
    #[arg(long)]
    dry_run: bool,
}

/// What was removed.
#[derive(Default, Serialize, JsonSchema)]
pub(crate) struct MaintainReply {
    /// True if nothing was removed because of --dry-run.
    dry_run: bool,
    /// Number of tombstones or names of operations that were removed.
    removed: u64,
    /// Number that are old and still there.
    old: u64,
    /// Number that are younger than --grace.
    young: u64,
    /// False if the server cannot remove them without a risk for others.
    can_remove: bool,
    /// Summary.
    message: String,
}

impl Subcommand for MaintainArgs {
    type Json = MaintainReply;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        global.require_person("maintain a store")?;
        let mut reply = MaintainReply { dry_run: self.dry_run, can_remove: true, ..MaintainReply::default() };
        match Root::from_options(global)? {
            Root::Remote(address) => {
                set_changes(!self.dry_run, false);
                let done = address.maintain(Duration::from_secs(self.grace * DAY), self.dry_run)?;
                (reply.removed, reply.old, reply.young) = (done.removed, done.old, done.left);
                reply.can_remove = done.can_remove;
                reply.message = reply.told(self.grace);
            }
            _ => reply.message = "There is nothing to remove: the store is a folder".into(),
        }
        output.object_or_line(&reply, &reply.message)?;
        Ok(if reply.can_remove { Exit::Done } else { Exit::Left })
    }
}

impl MaintainReply {
    fn told(&self, grace: u64) -> String {
        let Self { removed, old, young, .. } = self;
        let younger = format!("{young} are younger than {grace} days");
        match (self.can_remove, self.dry_run) {
            (false, _) => format!(
                "The server cannot delete an object under a condition, so {old} tombstones stay; {younger}. They cost a line \
                 in each listing"
            ),
            (true, true) => format!("Would remove {old}; {younger}"),
            (true, false) if *old > 0 => format!("Removed {removed}; {old} are in use again; {younger}"),
            (true, false) => format!("Removed {removed}; {younger}"),
        }
    }
}
