//! Tests that canonical JSON parses to the value that it was made from.

use saddlebag::catalogue::{SAMPLE_NAME, catalogue, sample_config};
use saddlebag::protocol::{Error, FsResult, ResultError, SubmitError};
use saddlebag::store::Timestamp;
use saddlebag::tools::ToolOptions;
use saddlebag::wit_convert::canonical::{FromCanonical, Scribe, ToCanonical, command_value, read_command, read_reply};
use saddlebag::{Config, Origin, Step};
use serde_json::{Value, json};

use crate::support::{NOW, sample_host};

fn written(value: &(impl ToCanonical + ?Sized)) -> Value {
    serde_json::from_str(&Scribe::default().json(value)).unwrap()
}

/// Parses JSON as a `T`, and checks that the value is written as this JSON.
#[track_caller]
fn reads_back<T: FromCanonical + ToCanonical>(json: &Value) {
    let value = T::read(json.clone()).unwrap_or_else(|error| panic!("{error}: {json}"));
    assert_eq!(&written(&value), json);
}

#[test]
fn every_command_and_its_reply_read_back_from_json() {
    let (mut commands, mut replies, mut errors) = (0, 0, 0);
    for info in catalogue() {
        for sample in (info.samples)(SAMPLE_NAME).into_iter().chain((info.samples)("../no such thing")) {
            let (mut host, trace) = sample_host();
            let _ = host.run(NOW, sample);
            let mut interface = String::new();
            for line in trace.lines() {
                if let Some(submit) = line.get("submit") {
                    interface = submit["interface"].as_str().unwrap().to_string();
                    let command = read_command(&interface, submit["command"].clone()).unwrap();
                    let value = command_value(&command).expect("a value").1;
                    assert_eq!(written(value), submit["command"]);
                    reads_back::<Timestamp>(&submit["now"]);
                    reads_back::<Origin>(&submit["origin"]);
                    commands += 1;
                } else if let Some(call) = line.get("call") {
                    reads_back::<ToolOptions>(&call["options"]);
                    commands += 1;
                } else if let Some(result) = line.get("handle-memory-result") {
                    reads_back::<FsResult>(&result["reply"]);
                } else if line.get("take").is_some() {
                    let reply = line["returned"]["ok"].clone();
                    let read = read_reply(&interface, reply.clone()).unwrap_or_else(|error| panic!("{error}: {reply}"));
                    assert_eq!(written(&read), reply, "{}", info.name);
                    replies += 1;
                    continue;
                } else {
                    reads_back::<Config>(&line["config"]);
                    continue;
                }
                match line.get("submit").or(line.get("call")) {
                    Some(_) => reads_back::<Result<Step, SubmitError>>(&line["returned"]),
                    None => reads_back::<Result<Step, ResultError>>(&line["returned"]),
                }
                for finished in line["returned"]["ok"]["finished"].as_array().unwrap() {
                    reads_back::<Option<Error>>(&finished["error"]);
                    errors += usize::from(!finished["error"].is_null());
                    replies += usize::from(!finished["answer"].is_null());
                }
            }
        }
    }
    let number = catalogue().len();
    assert!(commands >= 2 * number && replies >= number && errors > 10, "{commands} {replies} {errors} of {number}");
}

#[test]
fn json_of_a_value_has_the_names_and_the_order_of_the_contract() {
    let mut scribe = Scribe::default();
    let now = Timestamp { seconds: -1, nanoseconds: 5, utc_offset_seconds: -3600 };
    assert_eq!(scribe.json(&now), r#"{"seconds":"-1","nanoseconds":5,"utc-offset-seconds":-3600}"#);
    let config = scribe.json(&sample_config());
    assert!(config.starts_with(r#"{"epoch":"1","project":"proj","path-prefix":"","#), "{config}");
    assert!(config.contains(r#""trust":{"provenance":"user","secrets":"refuse"}"#), "{config}");
    let unknown = SubmitError::CommandIdNotNew { given: 1, last: u64::MAX };
    let refused: Result<Step, SubmitError> = Err(unknown);
    let expected = r#"{"err":{"command-id-not-new":{"given":"1","last":"18446744073709551615"}}}"#;
    assert_eq!(scribe.json(&refused), expected);
    assert_eq!(scribe.json(&vec![0_u8, 255]), r#""AP8=""#);
    assert_eq!(scribe.json(&"é\u{1b}\u{202e}\n\"".to_string()), r#""é\u001b\u202e\n\"""#);
    assert_eq!(scribe.json(&vec![Some(1.5), Some(1.0), None]), "[1.5,1.0,null]");
}

#[test]
fn a_key_that_the_host_keeps_is_never_written() {
    let config = |secret: Option<Vec<u8>>| Config { secret: secret.map(Into::into), ..Config::default() };
    let mut scribe = Scribe::default();
    let shown = scribe.json(&config(Some(vec![0x5a; 32])));
    assert!(shown.contains(r#","secret":null,"#), "{shown}");
    assert_eq!(scribe.never_written(), ["config.config.secret"]);
    let mut scribe = Scribe::default();
    assert!(scribe.json(&config(None)).contains(r#","secret":null,"#));
    assert!(scribe.never_written().is_empty());
}

#[test]
fn a_float_reads_back_exactly() {
    let mut value = 0.1_f64;
    for _ in 0..2_000 {
        for value in [value, -value, 1.0 / value] {
            let read = f64::read(written(&value)).unwrap();
            assert_eq!(read.to_bits(), value.to_bits(), "{value:?}");
        }
        value *= 1.37;
    }
    for value in [f64::INFINITY, f64::NEG_INFINITY, -0.0] {
        assert_eq!(f64::read(written(&value)).unwrap().to_bits(), value.to_bits());
    }
    assert!(f64::read(written(&f64::NAN)).unwrap().is_nan());
}

#[test]
fn json_that_is_not_a_value_of_the_contract_is_refused_with_its_place() {
    let command = |json: Value| read_command("items", json).unwrap_err().to_string();
    let write = |target: Value| {
        let file = json!({ "target": target, "mode": "append", "content": "", "truncate": false });
        json!({ "write": { "item": { "file": file } } })
    };
    assert_eq!(command(json!("burn")), "at ``: the case `burn` is unknown");
    assert!(command(write(json!("attic"))).starts_with("at `write.item.file.target`: the case `attic` is unknown"));
    assert!(
        command(write(json!({ "note": 5 })))
            .starts_with("at `write.item.file.target.note`: expected a string, found 5")
    );
    assert!(command(write(json!({ "long-term": "x" }))).contains("the case has no payload"));
    assert!(command(json!("write")).contains("needs a payload"));
    let missing = command(json!({ "write": { "item": { "file": { "target": "long-term" } } } }));
    assert!(missing.starts_with("at `write.item.file`: the field `mode` is missing"), "{missing}");
    let more = json!({ "list-files": { "more": 1 } });
    assert_eq!(command(more), "at `list-files`: the field `more` is unknown");
    assert!(read_command("fs", json!("list")).unwrap_err().to_string().contains("`fs` takes no commands"));
    for wrong in [json!(-1), json!(4_294_967_296_u64), json!(1.5), json!("1")] {
        assert!(u32::read(wrong.clone()).is_err(), "{wrong}");
    }
    for wrong in [json!(1), json!("01"), json!("+1"), json!("-1"), json!("18446744073709551616"), json!("")] {
        assert!(u64::read(wrong.clone()).is_err(), "{wrong}");
    }
    for wrong in [json!("A"), json!("AA"), json!("*A=="), json!([1])] {
        assert!(<Vec<u8>>::read(wrong.clone()).is_err(), "{wrong}");
    }
    let outside = json!({ "key": "k", "command": "1", "op": { "make-directory": { "path": "../x" } } });
    let step = json!({ "requests": [outside], "finished": [] });
    let refused = Step::read(step).unwrap_err().to_string();
    assert!(refused.starts_with("at `requests[0].op.make-directory.path`: "), "{refused}");
}
