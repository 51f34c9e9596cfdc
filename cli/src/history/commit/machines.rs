//! The machines on which operations were made. Each machine writes separate logs, which have its name.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use saddlebag::history::OperationInfo;
use saddlebag::store::{Timestamp, utc_text};

use crate::input::nanoseconds;
use crate::regular;

/// Folder with the logs of a scope, below the folder of the scope.
const HISTORY: &str = ".saddlebag/history";

/// Extension of a log.
const LOG: &str = "log";

/// Beginning of a line of a log, up to the operation.
const BEGINNING: &[u8] = b"{\"operation\":\"";

/// Seconds of a day. A month in UTC begins at most a day before or after that of a writer.
const DAY: i64 = 86_400;

/// Returns the machine of each operation, as far as a log of the store says it.
pub(super) fn machines(root: &Path, operations: &[&OperationInfo]) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut logs: BTreeSet<PathBuf> = BTreeSet::new();
    for info in operations {
        let Ok(time) = saddlebag_host::parse_time(&info.time) else { continue };
        let months = [-DAY, DAY].map(|shift| month(Timestamp { seconds: time.seconds.saturating_add(shift), ..time }));
        for folder in info.files.iter().flat_map(|file| histories(root, &file.path)) {
            logs.extend(months.iter().map(|month| folder.join(month)));
        }
    }
    for folder in logs {
        for log in fs::read_dir(folder).into_iter().flatten().flatten().map(|log| log.path()) {
            let Some(machine) = log.file_stem().and_then(|name| name.to_str()) else { continue };
            if log.extension().is_some_and(|extension| extension == LOG) {
                for operation in operations_of(&log) {
                    found.entry(operation).or_insert_with(|| machine.to_string());
                }
            }
        }
    }
    found
}

fn month(time: Timestamp) -> String {
    utc_text(nanoseconds(time)).chars().take(7).collect()
}

/// Returns the folders that may have the history of a file: of every folder above it.
fn histories(root: &Path, path: &str) -> Vec<PathBuf> {
    let above = Path::new(path).ancestors().skip(1);
    above.map(|folder| root.join(folder).join(HISTORY)).filter(|history| history.is_dir()).collect()
}

fn operations_of(log: &Path) -> BTreeSet<String> {
    let Ok(file) = regular::open(log, OpenOptions::new().read(true)) else { return BTreeSet::new() };
    let lines = BufReader::new(file).split(b'\n').map_while(Result::ok);
    let operation = |line: Vec<u8>| {
        let rest = line.strip_prefix(BEGINNING)?;
        let end = memchr::memchr(b'"', rest)?;
        String::from_utf8(rest.get(..end)?.to_vec()).ok()
    };
    lines.filter_map(operation).collect()
}
