//! `setup --uninstall`: says what Saddlebag has put where on this machine, and removes it. Memory stays unless it is asked for.

use std::fs;
use std::path::{Path, PathBuf};

use saddlebag_host::default_root;

use super::apply::{file_report, stranger_report, write};
use super::args::SetupArgs;
use super::choices::{Choices, places, record_of, recorded};
use super::clients::{Client, Scope};
use super::installer::Installer;
use super::owned::{Owned, count, owned};
use super::places::Places;
use super::plan::{self, Plan};
use super::record::Record;
use super::report::{Action, FileReport, note_failure};
use super::run::Program;
use crate::disk;
use crate::failure::set_setup_done;
use crate::output::STRONG;
use crate::prelude::*;
use crate::prompt;
use crate::store::Root;

/// Everything that was found, and what became of it.
#[derive(Serialize, JsonSchema)]
pub(crate) struct UninstallReport {
    /// True if nothing was removed because of `--dry-run`.
    dry_run: bool,
    /// Configurations of agents with our entries.
    entries: Vec<FileReport>,
    /// Files and folders of the program, and the memory.
    items: Vec<Item>,
    /// The program itself.
    program: ProgramReport,
}

/// File or folder of the program.
#[derive(Serialize, JsonSchema)]
struct Item {
    /// Kind: `code`, `code-key`, `token`, `state` or `memory`.
    kind: &'static str,
    /// Path of the file or the folder.
    path: String,
    /// Number of files that the program made; of the memory, of all files.
    files: u64,
    /// Size of these files, in bytes.
    bytes: u64,
    /// Number of other files in the folder, which stay.
    #[serde(skip_serializing_if = "is_zero")]
    others: u64,
    /// Result: `removed`, `kept` or `failed`; with `--dry-run`, the result that there would be.
    state: &'static str,
    /// Reason why it was kept, or why the removal failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
    #[serde(skip)]
    place: PathBuf,
    /// Files to remove, and folders to remove if they are empty. Files of the memory are not among them.
    #[serde(skip)]
    owned: (Vec<PathBuf>, Vec<PathBuf>),
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// The program itself.
#[derive(Serialize, JsonSchema)]
struct ProgramReport {
    /// Path of the file.
    path: String,
    /// Result: `removed`, `kept` or `failed`; with `--dry-run`, the result that there would be.
    state: &'static str,
    /// Command that removes the program, if a package manager put it there.
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    /// Reason why it was kept, or why the removal failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

/// Removes everything that the program has put on this machine.
pub(super) fn uninstall(args: &SetupArgs, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
    let places = places()?;
    let program = Program::find(&places)?;
    let mut record = record_of(&places)?;
    let plans = entries(&places, &program, &record)?;
    let strangers = record.strangers().iter().map(stranger_report);
    let installer = Installer::find(&program.file, &places);
    let mut report = UninstallReport {
        dry_run: args.dry_run,
        entries: plans.iter().map(|plan| file_report(plan, Action::Remove)).chain(strangers).collect(),
        items: items(&places, &record, args.memory, global)?,
        program: ProgramReport {
            path: program.file.display().to_string(),
            state: if installer.is_file() { "removed" } else { "kept" },
            command: installer.command(),
            problem: installer.reason().map(str::to_string),
        },
    };
    if !output.is_json() {
        report.show(output)?;
    }
    if !args.dry_run {
        confirm(&report, args, output)?;
        prompt::clear_in(&places.state());
        let entries = &mut report.entries;
        write(&plans, Action::Remove, &mut record, &mut |path, error| note_failure(entries, path, error))?;
        report.items.iter_mut().filter(|item| item.state == "removed").for_each(|item| item.remove(&places));
        if installer.is_file() {
            report.program.remove(&program);
        }
        set_setup_done();
    }
    report.finish(args, output)
}

/// Returns the removals of our entries: from the configurations of this user, and from all files that the record names.
fn entries(places: &Places, program: &Program, record: &Record) -> Result<Vec<Plan>, Failure> {
    let choices = Choices { scope: Scope::User, project: places.home.clone(), places, program };
    let mut plans = Vec::new();
    for client in Client::ALL {
        plans.extend(choices.removals(client, record)?);
    }
    for (client, scope, file) in record.files().iter().filter_map(|entry| recorded(entry, places)) {
        if !plans.iter().any(|plan| plan.path == file.path) {
            plans.push(plan::removal(client, scope, &file, record));
        }
    }
    // A file that cannot be parsed has no known entry of ours.
    plans.retain(|plan| plan.changes() || record.get(&plan.path).is_some());
    Ok(plans)
}

/// Returns the files and folders of the program that exist, and the memory.
fn items(places: &Places, record: &Record, with_memory: bool, global: &Global) -> Result<Vec<Item>, Failure> {
    let mut items: Vec<Item> = owned(places, record).into_iter().filter_map(Item::of_program).collect();
    let root = Root::from_options(global)?;
    if let Some(root) = root.local()
        && let Some(mut memory) = Item::memory(root.to_path_buf())
    {
        let is_default = default_root().is_some_and(|default| default == root);
        let is_link = root.is_symlink();
        let (state, why) = match (with_memory, is_default) {
            (true, true) if is_link => ("kept", Some("it is a link to a folder of yours: delete it yourself")),
            (true, true) => ("removed", None),
            (true, false) => ("kept", Some("you named this folder, and it may have other files: delete it yourself")),
            (false, _) => ("kept", Some("--memory removes it too")),
        };
        memory.state = state;
        memory.problem = why.filter(|_| is_default || with_memory).map(str::to_string);
        items.push(memory);
    }
    Ok(items)
}

/// Asks for the removal, and separately for the removal of the memory.
fn confirm(report: &UninstallReport, args: &SetupArgs, output: &mut Output) -> Result<(), Failure> {
    if args.yes {
        return Ok(());
    }
    let help = "confirm with --yes; --dry-run only shows what would be removed";
    output.confirm("Remove all of this, except what is kept?", "this would remove the files above", help, false)?;
    for memory in report.items.iter().filter(|item| item.kind == "memory" && item.state == "removed") {
        let question = format!("Delete the memory, {} files in {}, for good?", memory.files, memory.path);
        output.confirm(&question, "this would delete the memory", help, false)?;
    }
    Ok(())
}

impl Item {
    /// Returns what the program made in a place; `None` if there is nothing.
    fn of_program(owned: Owned) -> Option<Self> {
        let others = owned.others();
        let sizes = owned.files.iter().filter_map(|file| Some(file.symlink_metadata().ok()?.len()));
        let bytes = sizes.sum();
        let is_there = owned.place.symlink_metadata().is_ok();
        let stays = owned.files.is_empty() && others > 0;
        is_there.then(|| Self {
            kind: owned.kind,
            path: owned.place.display().to_string(),
            files: owned.files.len() as u64,
            bytes,
            others,
            state: if stays { "kept" } else { "removed" },
            problem: stays.then(|| "the program did not make the files there".to_string()),
            place: owned.place,
            owned: (owned.files, owned.folders),
        })
    }

    /// Returns the memory at a place; `None` if there is none.
    fn memory(place: PathBuf) -> Option<Self> {
        let (mut files, mut bytes) = (0, 0);
        count(&place, &mut |size| {
            files += 1;
            bytes += size;
        });
        let path = place.display().to_string();
        let owned = (Vec::new(), Vec::new());
        let (kind, state) = ("memory", "removed");
        let is_there = place.symlink_metadata().is_ok();
        is_there.then_some(Self { kind, path, files, bytes, others: 0, state, problem: None, place, owned })
    }

    fn remove(&mut self, places: &Places) {
        let (files, folders) = &self.owned;
        let is_gone = |path: &Path| path.symlink_metadata().is_err();
        let removed = match self.kind {
            "memory" => fs::remove_dir_all(&self.place),
            // The removal of our entries may have removed files of the record before.
            _ => files.iter().filter(|file| !is_gone(file)).try_for_each(fs::remove_file),
        };
        if let Err(error) = removed {
            self.state = "failed";
            self.problem = Some(saddlebag_host::io_cause(&error).to_string());
        }
        // Folders above that are empty now were made for it, or are of no use to anybody.
        let above = self.place.ancestors().skip(1).take_while(|folder| folder.starts_with(&places.home));
        let above = above.filter(|folder| **folder != places.home).map(Path::to_path_buf);
        disk::remove_folders(&folders.iter().cloned().chain(above).collect::<Vec<_>>());
    }

    fn line(&self) -> String {
        let Self { kind, path, files, bytes, others, state, problem, .. } = self;
        let what = match *kind {
            "code" => "Compiled code",
            "code-key" => "Key of the compiled code",
            "token" => "Token of the server",
            "state" => "Record of setup, and log of hooks",
            _ => "Memory",
        };
        let plural = if *files == 1 { "" } else { "s" };
        let kept = if *state == "kept" { ", kept" } else { "" };
        let why = problem.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
        let others = match others {
            0 => String::new(),
            1 => "; 1 other file stays".to_string(),
            _ => format!("; {others} other files stay"),
        };
        format!("{what}: {path} ({files} file{plural}, {bytes} bytes{others}){kept}{why}")
    }
}

impl ProgramReport {
    fn remove(&mut self, program: &Program) {
        let link = program.path.is_symlink().then_some(&program.path);
        for path in link.into_iter().chain([&program.file]) {
            if let Err(error) = fs::remove_file(path) {
                self.state = "failed";
                self.problem = Some(format!("{}; delete the file yourself", saddlebag_host::io_cause(&error)));
            }
        }
    }

    fn line(&self) -> String {
        let Self { path, state, command, problem } = self;
        let kept = match *state {
            "kept" => ", kept",
            "removed" => ", deleted",
            _ => "",
        };
        let why = match (command, problem) {
            (Some(command), _) => format!(": `{command}` removes it"),
            (None, Some(problem)) => format!(": {problem}"),
            (None, None) => String::new(),
        };
        format!("Program: {path}{kept}{why}")
    }
}

impl UninstallReport {
    /// Prints what is where.
    fn show(&self, output: &mut Output) -> Result<(), Failure> {
        output.styled(STRONG, "On this machine:")?;
        for entry in &self.entries {
            let leads_to = entry.leads_to.as_ref().map(|target| format!(", a link to {target}")).unwrap_or_default();
            output.line(&format!("Our entries: {}{leads_to}", entry.path))?;
        }
        for item in &self.items {
            output.line(&item.line())?;
        }
        output.line(&self.program.line())?;
        Ok(output.flush()?)
    }

    /// Prints the result.
    fn finish(&self, args: &SetupArgs, output: &mut Output) -> Result<Exit, Failure> {
        let items = self.items.iter().filter(|item| item.state == "failed").map(Item::line);
        let entries = self.entries.iter().filter(|entry| !entry.problems.is_empty());
        let entries = entries.map(|entry| format!("{}: {}", entry.path, entry.problems.join("; ")));
        let program = (self.program.state == "failed").then(|| self.program.line());
        let problems: Vec<String> = entries.chain(items).chain(program).collect();
        let exit = if problems.is_empty() { Exit::Done } else { Exit::Failed };
        if output.json(self)? {
            return Ok(exit);
        }
        let verb = if args.dry_run { "Nothing was removed: this was a dry run" } else { "Removed" };
        let left = self.program.command.as_ref().filter(|_| !args.dry_run);
        let left = left.map(|command| format!("; run `{command}` to remove the program itself")).unwrap_or_default();
        output.line(&format!("{verb}{left}"))?;
        output.flush()?;
        problems.iter().for_each(|problem| output.warning(problem));
        Ok(exit)
    }
}
