//! `--replay`: what is printed of a recorded trace. `host-harness/tests/trace/` has the tests of replaying.

use std::fs::{self, File};
use std::path::Path;

use saddlebag::Config;
use saddlebag::journal::AppendDaily;
use saddlebag::store::Timestamp;
use saddlebag_host::{Host, NativeEngine, Recording, RecordingEngine, Simulator};

use crate::{Ran, kit};

#[test]
fn a_difference_is_shown_with_its_line_its_place_and_both_values() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("trace");
    record(&file);
    let agreed = replay(&file);
    assert!(
        agreed.code == 0 && agreed.output.starts_with("All ") && agreed.output.ends_with(" requests agree\n"),
        "{agreed:?}"
    );

    let text = fs::read_to_string(&file).unwrap();
    let other = text.replace("\"newline-first\":true", "\"newline-first\":false");
    assert_ne!(other, text);
    fs::write(&file, other).unwrap();
    let Ran { code, output, .. } = replay(&file);
    let (head, values) = output.split_once('\n').unwrap();
    assert!(code == 1 && head.starts_with("Line ") && head.contains("newline-first`; "), "{output}");
    assert_eq!(values, "  recorded: false\n  actual:   true\n");

    fs::write(&file, &text[..text.len() - 9]).unwrap();
    let cut = replay(&file);
    let warning = format!("warning: line {} was cut off when its program ended", text.lines().count());
    assert!(cut.code == 0 && cut.errors.contains(&warning), "{cut:?}");
}

#[test]
fn a_trace_that_cannot_be_replayed_is_refused_with_the_way_out() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("trace");
    let refused = |message: &str| {
        let Ran { code, output, errors } = replay(&file);
        assert!(code == 2 && output.is_empty() && errors.contains(message), "{errors}");
    };
    refused("cannot open the trace `");
    for (text, message) in [
        ("", "the trace is empty\n  name a file that --trace wrote"),
        ("a text\n", "line 1 is not JSON"),
        ("{}\n", "line 1 has a call, but no header comes before it"),
        ("{\"saddlebag-trace\":7}\n", "line 1 begins a trace of version 7 of a package without a name"),
    ] {
        fs::write(&file, text).unwrap();
        refused(message);
    }
}

/// Records a run with an append.
fn record(file: &Path) {
    let (config, recording) = (Config::default(), Recording::new(File::create(file).unwrap(), "test"));
    let engine = RecordingEngine::new(NativeEngine::open(config.clone()).unwrap(), &config, recording);
    let now = Timestamp { seconds: 1_779_700_000, nanoseconds: 0, utc_offset_seconds: 0 };
    let append = AppendDaily { heading: "heading".into(), body: "body".into() };
    Host::new(engine, Simulator::new(1)).call(now, append).unwrap();
}

fn replay(file: &Path) -> Ran {
    kit(&["--replay", file.to_str().unwrap()])
}
