//! `setup`: gives agents their memory. It adds our server and our hooks to the configuration of each client, in place,
//! and takes them out again.
//!
//! [`clients`] says where the configurations are and what belongs there, and [`hooks`] which events have a hook.
//! [`piece`] adds and removes one entry; [`format`] edits the text, with [`json`] and [`toml`]. [`plan`] works out the
//! change of a file, [`disk`] writes it, and [`record`] keeps the bytes from before. [`apply`] shows the changes, asks, and
//! makes them; [`report`] is what is printed. [`uninstall`] removes everything that the program has put on this machine.

mod apply;
mod args;
mod clients;
mod disk;
mod format;
mod hooks;
mod installer;
mod json;
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
mod splice;
mod toml;
mod uninstall;
mod value;

use std::path::{Path, PathBuf};

use saddlebag::protocol::ErrorCode;

use crate::failure::{Exit, Failure, ProgramCode};
use crate::global::Global;
use crate::output::Output;
use crate::subcommand::Subcommand;
use apply::Action;
use clients::{Client, FilePlan, Scope};
use places::Places;
use plan::Plan;
use record::{Entry, Record};
use report::{AgentReport, SetupReport};
use run::Program;

use crate::subcommand::subcommands;
use args::SetupArgs;
use uninstall::UninstallArgs;

subcommands! {
    /// The subcommands that set agents up.
    Command {
        Setup(SetupArgs),
        Uninstall(UninstallArgs),
    }
}

impl Subcommand for SetupArgs {
    type Json = SetupReport;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        setup(&self, global, output)
    }
}

fn setup(args: &SetupArgs, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
    let places = places()?;
    let program = Program::find(&places)?;
    let mut record = record_of(&places)?;
    let setup = Setup { scope: args.scope.0, project: project_folder(global)?, places: &places, program: &program };
    let mut agents: Vec<AgentReport> = Vec::new();
    let mut plans = Vec::new();
    for client in setup.chosen(args) {
        let (mut agent, is_named) = (setup.look_for(client), args.agents.contains(&client));
        let lacks = client.lacks_project_scope().filter(|_| setup.scope == Scope::Project);
        if let Some(why) = lacks.filter(|_| is_named) {
            agent.problem = Some(format!("{why}; use --scope user"));
        } else if lacks.is_none() && args.remove {
            plans.extend(setup.removals(client, &record)?);
        } else if lacks.is_none() && (is_named || agent.found) {
            plans.extend(setup.additions(client, args, &record, global)?);
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
        return Err(Failure { exit: Exit::Nothing, ..Failure::new(ErrorCode::NotFound, "no agent was found", help) });
    }
    if !args.remove
        && args.command.is_none()
        && setup.scope == Scope::User
        && let Some(launcher) = program.launcher()
    {
        output.warning(&format!(
            "this program is in the cache of {launcher}, which may delete it; install it, or name a program with --command"
        ));
    }
    let report = SetupReport::new(action, args.dry_run, agents);
    apply::apply(plans, report, args, &mut record, output)
}

/// Choices that all clients of a run share.
struct Setup<'a> {
    scope: Scope,
    /// Folder of the project.
    project: PathBuf,
    places: &'a Places,
    program: &'a Program,
}

impl Setup<'_> {
    /// Returns the clients that were named, or all.
    fn chosen(&self, args: &SetupArgs) -> Vec<Client> {
        let mut chosen = if args.agents.is_empty() { Client::ALL.to_vec() } else { args.agents.clone() };
        chosen.sort_unstable();
        chosen.dedup();
        chosen
    }

    /// Returns true and the places that were looked at if a client is installed.
    fn look_for(&self, client: Client) -> AgentReport {
        let folder = client.folder(self.places);
        let has_folder = folder.is_dir();
        let program = client.program();
        let found_program = program.and_then(|program| in_folders(&self.places.search_path(), program));
        let looked = std::iter::once(folder.display().to_string())
            .chain(program.map(|program| format!("`{program}` on the search path")));
        AgentReport {
            agent: client,
            found: has_folder || found_program.is_some(),
            looked: looked.collect(),
            at: if has_folder { Some(folder) } else { found_program }.map(|path| path.display().to_string()),
            files: Vec::new(),
            next: None,
            problem: None,
        }
    }

    fn additions(
        &self,
        client: Client,
        args: &SetupArgs,
        record: &Record,
        global: &Global,
    ) -> Result<Vec<Plan>, Failure> {
        let files = self.files(client, args.command.as_deref(), !args.without_hooks, global)?;
        Ok(files.iter().map(|file| plan::addition(client, self.scope, file, record, args.force)).collect())
    }

    /// Returns the removals from the files of a client: those where entries belong, and those that the record names.
    fn removals(&self, client: Client, record: &Record) -> Result<Vec<Plan>, Failure> {
        let run = clients::Run { command: run::NAME.to_string(), options: Vec::new(), has_project: false };
        let exists = |path: &Path| path.exists();
        let mut files = client.files(self.places, self.scope, &self.project, &run, true, &exists);
        let of_record = record.files().iter().filter(|entry| {
            let is_ours = entry.client == client.as_str() && entry.scope == self.scope.as_str();
            is_ours && (self.scope == Scope::User || entry.path.starts_with(&self.project))
        });
        for entry in of_record {
            if !files.iter().any(|file| file.path == entry.path) {
                files.extend(like(&files, &entry.path));
            }
        }
        let plans = files.iter().map(|file| plan::removal(client, self.scope, file, record));
        Ok(plans.collect())
    }

    fn files(
        &self,
        client: Client,
        command: Option<&Path>,
        with_hooks: bool,
        global: &Global,
    ) -> Result<Vec<FilePlan>, Failure> {
        let run = run::command(self.scope, command, self.program, global)?;
        let exists = |path: &Path| path.exists();
        Ok(client.files(self.places, self.scope, &self.project, &run, with_hooks, &exists))
    }
}

/// Returns a file like one of those of a client, at another path.
fn like(files: &[FilePlan], path: &Path) -> Option<FilePlan> {
    let named = files.iter().find(|file| file.path.file_name() == path.file_name());
    let file = named.or_else(|| files.iter().find(|file| !matches!(file.format, format::Format::Whole)))?;
    Some(FilePlan { path: path.to_path_buf(), ..file.clone() })
}

/// Returns the file of an entry of the record, as its client has it.
fn recorded(entry: &Entry, places: &Places) -> Option<(Client, Scope, FilePlan)> {
    let (client, scope): (Client, Scope) = (entry.client.parse().ok()?, entry.scope.parse().ok()?);
    let run = clients::Run { command: run::NAME.to_string(), options: Vec::new(), has_project: false };
    let files = client.files(places, Scope::User, &places.home, &run, true, &|path| path.exists());
    Some((client, scope, like(&files, &entry.path)?))
}

/// Returns the folders of the user.
fn places() -> Result<Places, Failure> {
    Places::of_process().ok_or_else(|| {
        let help = "set HOME to your home folder";
        Failure::new(ErrorCode::Storage, "there is no home folder to look for agents in", help)
    })
}

/// Reads the record of setup.
fn record_of(places: &Places) -> Result<Record, Failure> {
    let help = "repair the file, or delete it: `setup --remove` then removes our entries without restoring the rest";
    Record::read(&places.state()).map_err(|problem| Failure::new(ProgramCode::Input, problem, help))
}

/// Returns the root of the project that `--project` names, or of the current folder.
fn project_folder(global: &Global) -> Result<PathBuf, Failure> {
    let folder = global.project.clone().map_or_else(std::env::current_dir, Ok);
    let folder = folder.and_then(|folder| folder.canonicalize()).map_err(|error| {
        let why = saddlebag_host::io_cause(&error);
        Failure::new(ProgramCode::Input, format!("the project's folder cannot be found: {why}"), "use --project PATH")
    })?;
    let root = folder.ancestors().find(|folder| folder.join(".git").exists());
    Ok(root.unwrap_or(&folder).to_path_buf())
}

/// Returns the path of a program in the first folder that has it.
fn in_folders(folders: &[PathBuf], program: &str) -> Option<PathBuf> {
    let endings: &[&str] = if cfg!(windows) { &[".exe", ".cmd", ".bat"] } else { &[""] };
    let names = folders.iter().flat_map(|folder| endings.iter().map(move |end| folder.join(format!("{program}{end}"))));
    names.into_iter().find(|path| path.is_file())
}
