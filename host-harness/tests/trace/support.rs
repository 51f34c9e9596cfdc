//! A host over a simulator whose engine is recorded in memory.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use saddlebag::catalogue::{SAMPLE_RUN, sample_config, sample_files};
use saddlebag::entries::OpenRun;
use saddlebag::store::{RelPath, Timestamp};
use saddlebag::{Config, Origin};
use saddlebag_host::{
    EngineError, Host, NativeEngine, Recording, RecordingEngine, ReplayError, Replayed, Simulator, replay,
};
use serde_json::Value;

/// The day of the sample store.
pub(crate) const NOW: Timestamp = Timestamp { seconds: 1_779_700_000, nanoseconds: 0, utc_offset_seconds: 0 };

pub(crate) type Recorded = Host<RecordingEngine<NativeEngine>, Simulator>;

/// Output of a trace.
#[derive(Clone, Default)]
pub(crate) struct Written(Arc<Mutex<Vec<u8>>>);

impl Written {
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }

    pub(crate) fn lines(&self) -> Vec<Value> {
        self.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A host over these files, and its trace.
pub(crate) fn host(config: &Config, files: &[(String, Vec<u8>)]) -> (Recorded, Written) {
    let written = Written::default();
    let recording = Recording::new(written.clone(), "test 1");
    let engine = NativeEngine::open(config.clone()).unwrap();
    let mut simulator = Simulator::new(1);
    for (path, bytes) in files {
        simulator.insert(&RelPath::new(path.as_str()).unwrap(), bytes.clone());
    }
    (Host::new(RecordingEngine::new(engine, config, recording), simulator), written)
}

/// A host over the sample store, with the run open that some samples need.
pub(crate) fn sample_host() -> (Recorded, Written) {
    let files: Vec<_> = sample_files().into_iter().map(|(path, bytes)| (path.to_string(), bytes.to_vec())).collect();
    let (mut host, written) = host(&sample_config(), &files);
    host.call(NOW, Origin::from_run(SAMPLE_RUN).with(OpenRun { fence: 1 })).unwrap();
    (host, written)
}

pub(crate) fn replayed(trace: &str) -> Result<Replayed, ReplayError> {
    replay(trace.as_bytes(), |config: Config| -> Result<_, EngineError> { NativeEngine::open(config) })
}
