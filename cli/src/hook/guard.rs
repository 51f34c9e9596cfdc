//! Keeps a hook from blocking its client: it bounds the time of a run, and ends a run with a fault in silence.

use std::panic::PanicHookInfo;
use std::path::PathBuf;
use std::process::{self, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::event::{Client, Event, Moment, moment};
use super::log::{Line, Log};
use super::once::Once;
use super::trouble::Trouble;
use crate::global::Global;

/// Time limit of a run for a prompt, or before a tool. The user waits for it.
const PROMPT_LIMIT: Duration = Duration::from_secs(2);
/// Time limit of a run at the end of a session of Codex, which ends the program after three seconds.
const CODEX_END_LIMIT: Duration = Duration::from_millis(2_500);
/// Time limit of any other run.
const OTHER_LIMIT: Duration = Duration::from_secs(5);
/// Size of the stack of a run, as large as the stack of a main thread.
const STACK_BYTES: usize = 8 << 20;

/// Client, moment and folder of the run, once they are known. A run that is given up still names them.
static ABOUT: Mutex<About> = Mutex::new((None, None, None));
type About = (Option<Client>, Option<Moment>, Option<PathBuf>);

/// A run of a hook.
pub(crate) struct Run(());

impl Run {
    /// Records what the event is about, for a run that is given up.
    #[allow(clippy::unused_self, reason = "only a run knows them")]
    pub(crate) fn is_about(&self, event: &Event) {
        let folder = event.folders.iter().find(|folder| folder.is_absolute() && folder.is_dir()).cloned();
        *ABOUT.lock().unwrap_or_else(PoisonError::into_inner) = (Some(event.client), Some(event.moment()), folder);
    }
}

/// Returns the time limit of a run for an event and a client of the command line. It is shorter than the limit of the
/// client, because a run that the client ends is in no log.
pub(crate) fn limit(event: Option<&str>, client: Option<Client>) -> Duration {
    match event.and_then(moment) {
        Some(Some(Moment::Prompt | Moment::BeforeTool)) => PROMPT_LIMIT,
        Some(Some(Moment::End)) if client == Some(Client::Codex) => CODEX_END_LIMIT,
        _ => OTHER_LIMIT,
    }
}

/// Lets a panic of any thread end the process with exit code 0, before anything is printed.
pub(crate) fn silence_faults() {
    std::panic::set_hook(Box::new(end_in_silence));
}

/// Does the work of a hook in a thread, and gives it up after a time.
pub(crate) fn run<T: Send + 'static>(
    limit: Duration,
    work: impl FnOnce(&Run) -> Result<T, Trouble> + Send + 'static,
) -> Result<T, Trouble> {
    let (done, result) = mpsc::channel();
    let thread = thread::Builder::new().stack_size(STACK_BYTES).spawn(move || {
        // After the time limit nobody waits for the result.
        let _ = done.send(work(&Run(())));
    });
    if let Err(error) = thread {
        return Err(Trouble::input(format!("no thread: {}", saddlebag_host::io_cause(&error))));
    }
    match result.recv_timeout(limit) {
        Ok(result) => result,
        Err(RecvTimeoutError::Timeout) => Err(Trouble::time_limit(limit.as_millis())),
        Err(RecvTimeoutError::Disconnected) => Err(Trouble::fault("an unknown place")),
    }
}

/// Returns true if the event of the run is known.
pub(crate) fn knows_event() -> bool {
    ABOUT.try_lock().is_ok_and(|about| about.1.is_some())
}

/// Writes a line about a run to the log.
pub(crate) fn log(trouble: &Trouble) {
    // A thread that panicked may hold the lock.
    let (client, moment, _) = ABOUT.try_lock().map(|about| about.clone()).unwrap_or_default();
    let line = Line::new(saddlebag_host::now(), client.map(Client::as_str), moment.map(Moment::as_str), trouble);
    // If the log cannot be written, the client goes on all the same.
    let _ = Log::of_user().map(|log| log.append(&line));
}

/// Lets another process bring the index of the project up to date, after a run that had no time for it: each later run would end as
/// this one did.
pub(crate) fn index_later(global: &Global) {
    let (_, _, folder) = ABOUT.try_lock().map(|about| about.clone()).unwrap_or_default();
    let is_first = |folder: &PathBuf| Once::of_user().is_some_and(|once| once.is_first_index(folder));
    let (Some(folder), Ok(program)) = (folder.filter(is_first), std::env::current_exe()) else { return };
    let mut command = Command::new(program);
    if let Some(root) = &global.root {
        command.arg("--root").arg(root);
    }
    match global.notebook {
        true => command.arg("--notebook"),
        false => command.arg("--project").arg(global.project.as_ref().unwrap_or(&folder)),
    };
    command.args(["recall", "index"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    // Without it, the next command of a person does the work.
    let _ = command.spawn();
}

/// Logs the place of a panic, and ends the process. The message may repeat text of the memory, so it is not kept.
fn end_in_silence(info: &PanicHookInfo<'_>) {
    let place =
        info.location().map_or_else(String::new, |place| format!("{}:{}", file_name(place.file()), place.line()));
    log(&Trouble::fault(&place));
    process::exit(0);
}

/// Returns the last part of the path of a source. The rest depends on the machine that built the program.
fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// Set in the process that panics.
    const PANICS: &str = "SADDLEBAG_TEST_PANICS";

    #[test]
    fn a_run_over_its_time_is_given_up() {
        let (end, wait) = mpsc::channel::<()>();
        let ended = run(Duration::from_millis(20), move |_| {
            let _ = wait.recv();
            Ok(())
        });
        assert_eq!(ended.unwrap_err().code, "time-limit");
        drop(end);
    }

    #[test]
    #[allow(clippy::print_stdout, reason = "shows that the process had an output before")]
    fn a_fault_of_the_program_ends_with_exit_code_0_and_is_logged_by_its_place() {
        if std::env::var_os(PANICS).is_some() {
            silence_faults();
            let _ = run(Duration::from_secs(60), |_| -> Result<(), Trouble> { panic!("SECRET") });
            println!("AFTER");
            process::exit(7);
        }
        let home = tempfile::tempdir().unwrap();
        let name = "hook::guard::tests::a_fault_of_the_program_ends_with_exit_code_0_and_is_logged_by_its_place";
        let ended = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", name, "--nocapture"])
            .env(PANICS, "1")
            .env("HOME", home.path())
            .env("XDG_STATE_HOME", home.path())
            .env("APPDATA", home.path())
            .output()
            .unwrap();
        let stdout = String::from_utf8_lossy(&ended.stdout);
        assert_eq!(ended.status.code(), Some(0), "{ended:?}");
        assert!(!stdout.contains("AFTER"), "{stdout}");
        let stderr = String::from_utf8_lossy(&ended.stderr);
        assert!(!stderr.contains("SECRET"), "{stderr}");
        if cfg!(target_os = "linux") {
            let log = std::fs::read_to_string(home.path().join("saddlebag/hook.log")).unwrap();
            assert!(log.contains("\"fault\"") && log.contains("guard.rs:") && !log.contains("SECRET"), "{log}");
        }
    }
}
