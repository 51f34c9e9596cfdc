//! Helpers of all measurements: the time, the words, the disk, the median.

use std::error::Error;
use std::path::Path;
use std::process::Command as Process;
use std::time::{Duration, Instant};

use saddlebag::store::Timestamp;
use saddlebag_host::{Durability, LocalDir, LocalDirOptions};

pub(crate) type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Noon of the corpus's last day, UTC.
pub(crate) const NOW: Timestamp = Timestamp { seconds: 1_779_710_400, nanoseconds: 0, utc_offset_seconds: 0 };

/// Words that are asked for.
pub(crate) const QUERIES: [(&str, &[&str]); 3] = [
    ("rare term", &["needleterm"]),
    ("term in half the notes", &["redis"]),
    ("three terms", &["port", "postgres", "listen"]),
];

/// Returns the median of `runs` timings, after one run that is not counted.
pub(crate) fn median<T>(runs: usize, mut work: impl FnMut() -> Result<T>) -> Result<Duration> {
    work()?;
    let mut times = Vec::with_capacity(runs);
    for _ in 0..runs {
        let start = Instant::now();
        work()?;
        times.push(start.elapsed());
    }
    times.sort_unstable();
    Ok(times[times.len() / 2])
}

pub(crate) fn disk(root: &Path, durability: Durability) -> Result<LocalDir> {
    Ok(LocalDir::open(root, LocalDirOptions { durability, ..LocalDirOptions::default() })?)
}

/// Waits until the versions of the files that were just written are no longer hashes of their content.
pub(crate) fn settle() {
    std::thread::sleep(Duration::from_millis(50));
}

/// Runs `rg -i -l` with the words, if it is installed.
pub(crate) fn ripgrep(root: &Path, terms: &[&str]) -> Result<Option<Duration>> {
    if Process::new("rg").arg("--version").output().is_err() {
        return Ok(None);
    }
    let time = median(5, || {
        let mut rg = Process::new("rg");
        rg.args(["-i", "-l"]).args(terms.iter().flat_map(|term| ["-e", term])).arg(root);
        Ok(rg.output()?)
    });
    time.map(Some)
}
