//! `setup`: gives agents their memory. It adds our server and our hooks to the configuration of each client, in place,
//! and removes them again.
//!
//! [`clients`] says where the configurations are and what belongs there, and [`hooks`] which events have a hook.
//! [`switch`] finds the settings that switch hooks off. [`piece`] adds and removes one entry; [`mod@format`] edits the
//! text, with [`json`] and [`toml`]; each keeps every byte that is not ours. [`plan`] works out the change of a file, [`crate::disk`] writes it, and
//! [`record`] keeps the previous content. [`apply`] shows the changes, asks, and makes them; [`report`] is what is printed.
//! [`sharing`] shares memory with other machines. [`setup --uninstall`] removes everything that the program has put on this machine.

mod apply;
mod args;
mod choices;
mod clients;
mod format;
mod hooks;
mod installer;
mod json;
mod owned;
mod piece;
mod places;
mod plan;
#[cfg(test)]
mod plugins;
#[cfg(test)]
mod properties;
mod record;
mod report;
mod run;
pub(crate) mod sharing;
mod switch;
mod templates;
mod toml;
mod types;
mod uninstall;
mod value;

use crate::prelude::*;
use saddlebag::notebook::InitReply;
use saddlebag::protocol::ErrorCode;

pub(crate) use args::SetupArgs;
use choices::{Choices, places, project_folder, record_of};
use clients::{Client, Scope};
use report::{Action, AgentReport, SetupReport};
use run::Program;
use sharing::SharingReport;
use uninstall::UninstallReport;

/// What became of each agent, of everything that the program made, or of the notebook.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum SetUp {
    Agents(SetupReport),
    Uninstalled(UninstallReport),
    Notebook(InitReply),
    Sharing(SharingReport),
}

impl Subcommand for SetupArgs {
    type Json = SetUp;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        match (self.uninstall, self.templates) {
            (true, _) => uninstall::uninstall(&self, global, output),
            (_, true) => templates::create(global, output),
            _ => match self.sharing()? {
                Some(tool) => sharing::set_up(&self, tool, global, output),
                None => setup(&self, global, output),
            },
        }
    }
}

fn setup(args: &SetupArgs, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
    let places = places()?;
    let program = Program::find(&places)?;
    let mut record = record_of(&places)?;
    let choices = Choices { scope: args.scope.0, project: project_folder(global)?, places: &places, program: &program };
    let mut agents: Vec<AgentReport> = Vec::new();
    let mut plans = Vec::new();
    for client in choices.chosen(args) {
        let (mut agent, is_named) = (choices.look_for(client), args.agents().contains(&client));
        let lacks = client.lacks_project_scope().filter(|_| choices.scope == Scope::Project);
        if let Some(why) = lacks.filter(|_| is_named) {
            agent.problem = Some(format!("{why}; use --scope user"));
        } else if lacks.is_none() && args.remove {
            let strangers = record.strangers().iter().filter(|entry| {
                entry.client == client.as_str()
                    && entry.scope == choices.scope.as_str()
                    && (choices.scope == Scope::User || entry.path.starts_with(&choices.project))
            });
            agent.files.extend(strangers.map(apply::stranger_report));
            plans.extend(choices.removals(client, &record)?);
        } else if lacks.is_none() && (is_named || agent.found) {
            plans.extend(choices.additions(client, args, &record, global)?);
            if !args.without_hooks {
                agent.hooks_off = switch::switched_off(client, &places, &choices.project);
            }
        }
        agents.push(agent);
    }
    let action = if args.remove { Action::Remove } else { Action::Add };
    if !args.remove && plans.is_empty() && agents.iter().all(|agent| agent.problem.is_none()) {
        let report = SetupReport::new(action, args.dry_run, agents);
        report.show_found(output)?;
        if output.is_json() {
            output.object(&report)?;
        }
        let help = format!("name the agent to set up: {}", Client::WORDS.join(", "));
        output.flush()?;
        return Err(Failure::new(ErrorCode::NotFound, "no agent was found", help));
    }
    if !args.remove
        && args.command.is_none()
        && choices.scope == Scope::User
        && let Some(launcher) = program.launcher()
    {
        output.warning(&format!(
            "this program is in the cache of {launcher}, which may delete it; install it, or name a program with --command"
        ));
    }
    let report = SetupReport::new(action, args.dry_run, agents);
    apply::apply(plans, report, args, &mut record, output)
}
