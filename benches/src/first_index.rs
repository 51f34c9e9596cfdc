//! The first index of a large notebook: time, memory of the component, size of the index file.

use std::fs;
use std::path::Path;
use std::time::Instant;

use saddlebag_host::{ComponentRuntime, Durability, Engine, Host};

use crate::corpus;
use crate::notebook::{LINKS, config, recall};
use crate::shared::{NOW, Result, disk};

/// Prints what the first recall in a notebook of `notes` notes costs, which reads every note and writes the index file.
pub(crate) fn measure(runtime: &ComponentRuntime, notes: usize) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let bytes = corpus::write_notebook(folder.path(), notes, LINKS)?;
    std::thread::sleep(std::time::Duration::from_millis(50));
    println!("{notes} notes of {bytes} bytes");
    for run in 1..=3 {
        let _ = fs::remove_dir_all(folder.path().join(".saddlebag"));
        let mut engine = runtime.open(config(run, true))?;
        let start = Instant::now();
        Host::new(&mut engine as &mut dyn Engine, disk(folder.path(), Durability::Full)?).run(NOW, recall(false))?;
        let time = start.elapsed();
        let (memory, file) = (engine.memory_bytes(), bytes_of(&folder.path().join(".saddlebag/index"))?);
        println!("run {run}: {:.2} s, linear memory {memory}, index file {file}", time.as_secs_f64());
    }
    Ok(())
}

fn bytes_of(folder: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        bytes += entry?.metadata()?.len();
    }
    Ok(bytes)
}
