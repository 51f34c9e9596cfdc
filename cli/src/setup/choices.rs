//! [`Choices`]: what a run of setup works on: the user's folders, the clients, their files, and the record.

use std::path::{Component, Path, PathBuf};

use saddlebag::protocol::ErrorCode;

use super::args::SetupArgs;
use super::clients::{self, Client, FilePlan, Scope};
use super::places::Places;
use super::plan::{self, Plan};
use super::record::{Entry, Record};
use super::report::AgentReport;
use super::run::{self, Program};
use crate::failure::{Failure, ProgramCode};
use crate::global::Global;

/// Choices that all clients of a run share.
pub(super) struct Choices<'a> {
    pub(super) scope: Scope,
    /// Folder of the project.
    pub(super) project: PathBuf,
    pub(super) places: &'a Places,
    pub(super) program: &'a Program,
}

impl Choices<'_> {
    /// Returns the clients that were named, or all.
    pub(super) fn chosen(&self, args: &SetupArgs) -> Vec<Client> {
        let mut chosen = if args.agents().is_empty() { Client::ALL.to_vec() } else { args.agents() };
        chosen.sort_unstable();
        chosen.dedup();
        chosen
    }

    /// Returns true and the places that were looked at if a client is installed.
    pub(super) fn look_for(&self, client: Client) -> AgentReport {
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
            hooks_off: Vec::new(),
            next: None,
            problem: None,
        }
    }

    pub(super) fn additions(
        &self,
        client: Client,
        args: &SetupArgs,
        record: &Record,
        global: &Global,
    ) -> Result<Vec<Plan>, Failure> {
        let files = self.files(client, args, global)?;
        Ok(files.iter().map(|file| plan::addition(client, self.scope, file, record, args.force)).collect())
    }

    /// Returns the removals from the files of a client: those where entries belong, and those that the record names.
    pub(super) fn removals(&self, client: Client, record: &Record) -> Result<Vec<Plan>, Failure> {
        let run = clients::Run { command: run::NAME.to_string(), ..clients::Run::default() };
        let exists = |path: &Path| path.exists();
        let mut files = client.files(self.places, self.scope, &self.project, &run, true, &exists);
        let of_record = record.files().iter().filter(|entry| {
            let is_ours = entry.client == client.as_str() && entry.scope == self.scope.as_str();
            is_ours && (self.scope == Scope::User || entry.path.starts_with(&self.project))
        });
        for entry in of_record {
            if !files.iter().any(|file| file.path == entry.path) {
                files.extend(recorded(entry, self.places).map(|(.., file)| file));
            }
        }
        let plans = files.iter().map(|file| plan::removal(client, self.scope, file, record));
        Ok(plans.collect())
    }

    fn files(&self, client: Client, args: &SetupArgs, global: &Global) -> Result<Vec<FilePlan>, Failure> {
        let run = run::command(self.scope, args.command.as_deref(), self.program, global)?;
        let run = clients::Run { without_before_tool: args.without_before_tool, ..run };
        let exists = |path: &Path| path.exists();
        Ok(client.files(self.places, self.scope, &self.project, &run, !args.without_hooks, &exists))
    }
}

/// Returns the file of an entry of the record; `None` if its client has no file at this path, as in a record that somebody
/// else wrote.
pub(super) fn recorded(entry: &Entry, places: &Places) -> Option<(Client, Scope, FilePlan)> {
    let (client, scope): (Client, Scope) = (entry.client.parse().ok()?, entry.scope.parse().ok()?);
    let run = clients::Run { command: run::NAME.to_string(), ..clients::Run::default() };
    let is_plain = entry.path.components().all(|part| !matches!(part, Component::ParentDir | Component::CurDir));
    let at = |places: &Places, project: &Path| {
        // Of two possible files of a client, either may have been there.
        let with = |name: &'static str| move |path: &Path| path.extension().is_some_and(|suffix| suffix == name);
        let (json, jsonc) = (with("json"), with("jsonc"));
        let all = [&json as &dyn Fn(&Path) -> bool, &jsonc]
            .map(|exists| client.files(places, scope, project, &run, true, exists));
        all.into_iter().flatten().find(|file| file.path == entry.path)
    };
    let found = match scope {
        _ if !is_plain => None,
        Scope::User => at(places, &places.home).or_else(|| at(&places.without_folders_of_clients(), &places.home)),
        Scope::Project => entry.path.ancestors().skip(1).find_map(|project| {
            let file = at(places, project)?;
            (is_gone(&file.path) || !is_through_a_link(&file.path, project)).then_some(file)
        }),
    };
    Some((client, scope, found?))
}

/// Returns true if there is nothing at a path, as in a project that was deleted.
fn is_gone(path: &Path) -> bool {
    path.symlink_metadata().is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
}

/// Returns true if a path leads through a link that is in the project. It could lead to any other file.
fn is_through_a_link(path: &Path, project: &Path) -> bool {
    let below = path.ancestors().take_while(|part| *part != project);
    below.into_iter().any(Path::is_symlink)
}

/// Returns the folders of the user.
pub(super) fn places() -> Result<Places, Failure> {
    Places::of_process().ok_or_else(|| {
        let help = "set HOME to your home folder";
        Failure::new(ErrorCode::Storage, "there is no home folder to look for agents in", help)
    })
}

/// Reads the record of setup.
pub(super) fn record_of(places: &Places) -> Result<Record, Failure> {
    let help = "repair the file, or delete it: `setup --remove` then removes our entries without restoring the rest";
    Record::read(&places.state(), |entry| recorded(entry, places).is_some())
        .map_err(|problem| Failure::new(ProgramCode::Input, problem, help))
}

/// Returns the root of the project that `--project` names, or of the current folder.
pub(super) fn project_folder(global: &Global) -> Result<PathBuf, Failure> {
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
