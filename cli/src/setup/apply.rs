//! Shows the changes of files, asks for them, and makes them.

use std::path::{Path, PathBuf};

use saddlebag::protocol::help_after;

use super::args::SetupArgs;
use super::clients::{Client, Scope};
use super::plan::Plan;
use super::record::{Entry, FILE, Record, digest};
use super::report::{Action, FileReport, SetupReport};
use crate::difference::unified_of;
use crate::disk::{self, DiskError};
use crate::failure::{Exit, Failure, ProgramCode, set_setup_done};
use crate::output::Output;

/// Maximum length of a line of a difference, in characters. Some programs write their configuration as one line.
const MAX_DIFF_CHARS: usize = 300;

/// Makes the planned changes after a question, and prints the result.
pub(super) fn apply(
    plans: Vec<Plan>,
    mut report: SetupReport,
    args: &SetupArgs,
    record: &mut Record,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let action = if args.remove { Action::Remove } else { Action::Add };
    for plan in &plans {
        if let Some(agent) = report.agents.iter_mut().find(|agent| agent.agent == plan.client)
            && (action == Action::Add || plan.changes() || plan.problem.is_some())
        {
            agent.files.push(file_report(plan, action));
        }
    }
    let changes = plans.iter().filter(|plan| plan.changes()).count();
    if !output.is_json() {
        if args.agents().is_empty() && action == Action::Add {
            report.show_found(output)?;
        }
        report.show_changes(output)?;
        output.flush()?;
    }
    if changes > 0 && !args.dry_run && !args.yes {
        let files = if changes == 1 { "1 file".to_string() } else { format!("{changes} files") };
        let help = "confirm with --yes; --dry-run only shows the changes";
        output.confirm(&format!("Write {files}?"), &format!("this would change {files}"), help, false)?;
    }
    if !args.dry_run {
        write(&plans, action, record, &mut |path, error| report.note_failure(path, error))?;
        set_setup_done();
    }
    finish(&plans, action, report, args, output)
}

/// Writes the files, and keeps the bytes from before. A file that cannot be written is reported to `on_failure`, and the
/// others go on.
pub(super) fn write(
    plans: &[Plan],
    action: Action,
    record: &mut Record,
    on_failure: &mut dyn FnMut(&Path, &DiskError),
) -> Result<(), Failure> {
    let help = help_after("", true, false);
    let refused = |problem: String| Failure::new(ProgramCode::Output, problem, help.clone());
    if action == Action::Add {
        // The record comes first: if the program is stopped meanwhile, `--remove` still knows the bytes from before.
        for plan in plans.iter().filter(|plan| plan.changes()) {
            let entry = entry_for(plan, record).map_err(|error| {
                refused(format!("the previous content cannot be kept: {}", saddlebag_host::io_cause(&error)))
            })?;
            record.put(entry);
        }
    }
    let names: Vec<Option<PathBuf>> = plans.iter().map(temporary_name).collect();
    record.sweep();
    record.will_make(names.iter().flatten().cloned());
    if action == Action::Add || record.has_temporary() {
        record.save().map_err(refused)?;
    }
    // Two files may be in one folder that was created for the first of them.
    let folders: Vec<PathBuf> = match action {
        Action::Add => Vec::new(),
        Action::Remove => {
            plans.iter().filter_map(|plan| record.get(&plan.path)).flat_map(|entry| entry.folders.clone()).collect()
        }
    };
    for (plan, temporary) in plans.iter().zip(&names) {
        if !plan.changes() {
            forget_if_clean(plan, action, record);
            continue;
        }
        match disk::replace(&plan.path, plan.current.as_deref(), plan.wanted.as_deref(), temporary.as_deref()) {
            Ok(made) => note_written(plan, action, made, record),
            Err(error) => {
                on_failure(&plan.path, &error);
                if action == Action::Add && plan.restored == plan.current {
                    record.forget(&plan.path);
                }
            }
        }
    }
    disk::remove_folders(&folders);
    record.forget_temporary();
    record.save().map_err(|problem| Failure::new(ProgramCode::Output, problem, "the files were written"))
}

/// Returns the name of the temporary file for a change.
fn temporary_name(plan: &Plan) -> Option<PathBuf> {
    let name = || disk::temporary_name(&plan.path, plan.current.as_deref(), plan.wanted.as_deref());
    plan.changes().then(name).flatten()
}

fn note_written(plan: &Plan, action: Action, made: Vec<PathBuf>, record: &mut Record) {
    match action {
        Action::Add => {
            if let Some(mut entry) = record.get(&plan.path).cloned().filter(|_| !made.is_empty()) {
                entry.folders = made;
                record.put(entry);
            }
        }
        Action::Remove => record.forget(&plan.path),
    }
}

/// Forgets a file that has none of our entries any more.
fn forget_if_clean(plan: &Plan, action: Action, record: &mut Record) {
    if action == Action::Remove && plan.problem.is_none() {
        record.forget(&plan.path);
    }
}

/// Returns the entry of the record for an addition.
fn entry_for(plan: &Plan, record: &mut Record) -> std::io::Result<Entry> {
    let folders = record.get(&plan.path).map(|entry| entry.folders.clone()).unwrap_or_default();
    Ok(Entry {
        client: plan.client.as_str().to_string(),
        scope: plan.scope.as_str().to_string(),
        path: plan.path.clone(),
        before: plan.restored.as_deref().map(|bytes| record.keep(bytes)).transpose()?,
        after: digest(plan.wanted.as_deref().unwrap_or_default()),
        folders,
    })
}

/// Prints the result.
fn finish(
    plans: &[Plan],
    action: Action,
    mut report: SetupReport,
    args: &SetupArgs,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let exit = if report.has_problems() { Exit::Failed } else { Exit::Done };
    for agent in &mut report.agents {
        let is_set_up = |file: &FileReport| file.problems.is_empty();
        let has_changed = agent.files.iter().any(|file| file.state != "unchanged");
        if action == Action::Add && !agent.files.is_empty() && agent.files.iter().all(is_set_up) && has_changed {
            let scope = plans.iter().find(|plan| plan.client == agent.agent).map_or(Scope::User, |plan| plan.scope);
            agent.next = Some(agent.agent.next_step(scope).to_string());
        }
    }
    if output.json(&report)? {
        return Ok(exit);
    }
    for agent in report.agents.iter().filter(|agent| !agent.files.is_empty()) {
        output.line(&line_about(agent.agent, &agent.files, agent.next.as_deref(), action, args.dry_run))?;
    }
    if action == Action::Remove && plans.iter().all(|plan| !plan.changes() && plan.problem.is_none()) {
        output.line("Nothing to remove: no configuration has an entry of ours")?;
    }
    output.flush()?;
    report.warn(output);
    Ok(exit)
}

/// Returns the line about an agent at the end.
fn line_about(client: Client, files: &[FileReport], next: Option<&str>, action: Action, dry_run: bool) -> String {
    let title = client.title();
    let would = if dry_run { "would be" } else { "is" };
    if files.iter().any(|file| !file.problems.is_empty()) {
        return format!("{title} {would} left as it is, at least in part");
    }
    match (action, files.iter().all(|file| file.state == "unchanged"), next) {
        (Action::Add, true, _) => format!("{title} is already set up"),
        (Action::Add, false, Some(next)) => format!("{title} {would} set up: {next}"),
        (Action::Add, false, None) => format!("{title} {would} set up"),
        (Action::Remove, ..) => format!("{title} {would} without our entries"),
    }
}

pub(super) fn file_report(plan: &Plan, action: Action) -> FileReport {
    let is_left_alone = plan.problem.is_some();
    // A removal leaves the entry of somebody else alone because it is not asked for.
    let foreign = plan.foreign.iter().filter(|_| action == Action::Add);
    let foreign = foreign.map(|foreign| format!("{foreign}, which is not ours; it is left alone, --force replaces it"));
    let problems = plan.problem.iter().map(|problem| format!("{problem}; the file is left alone")).chain(foreign);
    let state = match (&plan.current, &plan.wanted) {
        _ if is_left_alone => "left-alone",
        (before, after) if before == after => "unchanged",
        (None, _) => "created",
        (_, None) => "removed",
        _ => "changed",
    };
    let diff = if plan.changes() { diff(plan) } else { String::new() };
    let leads_to = target(plan).map(|target| target.display().to_string());
    FileReport { path: plan.path.display().to_string(), leads_to, state, diff, problems: problems.collect() }
}

/// Returns the file that is changed if the path, or in a project a folder on the way to it, is a link.
fn target(plan: &Plan) -> Option<PathBuf> {
    let path = &plan.path;
    let real =
        path.canonicalize().ok().or_else(|| Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?)))?;
    // The root of a project has no links, but the home folder may.
    (real != *path && (plan.scope == Scope::Project || path.is_symlink())).then_some(real)
}

/// Returns the report of an entry of the record whose path does not belong to a client.
pub(super) fn stranger_report(entry: &Entry) -> FileReport {
    let problem = format!(
        "{FILE} names it for `{}`, which has no configuration there, so it is left alone; if a variable named this folder \
         before, set it again, else delete the entry in {FILE}",
        entry.client
    );
    let path = entry.path.display().to_string();
    FileReport { path, leads_to: None, state: "left-alone", diff: String::new(), problems: vec![problem] }
}

/// Returns the difference in the unified format.
fn diff(plan: &Plan) -> String {
    let text = |bytes: &Option<Vec<u8>>| String::from_utf8_lossy(bytes.as_deref().unwrap_or_default()).into_owned();
    let (before, after) = (text(&plan.current), text(&plan.wanted));
    let name = plan.path.display().to_string();
    let nothing = "/dev/null".to_string();
    let header = |bytes: &Option<Vec<u8>>| if bytes.is_some() { name.clone() } else { nothing.clone() };
    let whole = unified_of([&header(&plan.current), &header(&plan.wanted)], &before, &after);
    whole.lines().map(|line| format!("{}\n", cut(line))).collect()
}

/// Cuts a line that is too long to show.
fn cut(line: &str) -> String {
    let line = line.strip_suffix('\r').unwrap_or(line);
    match line.char_indices().nth(MAX_DIFF_CHARS) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line.to_string(),
    }
}
