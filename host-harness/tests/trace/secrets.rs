//! The key of the host, which a trace does not contain.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use saddlebag::catalogue::{SAMPLE_NAME, SAMPLE_RUN, catalogue, sample_config, sample_files};
use saddlebag::entries::OpenRun;
use saddlebag::{Config, Origin};
use saddlebag_host::NativeEngine;

use crate::support::{NOW, host};

/// The key that the host keeps is in no trace, reply, error or file, in no spelling that bytes are written in.
#[test]
fn the_key_of_the_host_is_in_no_trace_reply_error_or_file() {
    let key: Vec<u8> = (0..32).map(|byte| b'A' + byte * 3 % 57).collect();
    let hex: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
    let listed = format!("{key:?}").trim_matches(['[', ']']).to_string();
    let spellings = [
        String::from_utf8(key.clone()).unwrap(),
        hex.to_uppercase(),
        hex,
        BASE64_STANDARD.encode(&key),
        listed.replace(' ', ""),
        listed,
    ];
    let config = Config { secret: Some(key.clone().into()), ..sample_config() };
    let files: Vec<_> = sample_files().into_iter().map(|(path, bytes)| (path.to_string(), bytes.to_vec())).collect();
    let (mut succeeded, mut failed) = (0, 0);
    for info in catalogue() {
        for sample in (info.samples)(SAMPLE_NAME).into_iter().chain((info.samples)("../no name")) {
            let (mut host, written) = host(&config, &files);
            host.call(NOW, Origin::from_run(SAMPLE_RUN).with(OpenRun { fence: 1 })).unwrap();
            let answer = host.run(NOW, sample.origin.clone().with(sample.command.clone()));
            *if answer.is_ok() { &mut succeeded } else { &mut failed } += 1;
            let files = host.executor().files();
            let kept = files.iter().map(|(path, bytes)| format!("{path} {}", String::from_utf8_lossy(bytes)));
            let shown = [written.text(), format!("{answer:?} {config:?}")].into_iter().chain(kept);
            for shown in shown {
                let found = spellings.iter().find(|spelling| shown.contains(spelling.as_str()));
                assert_eq!(found, None, "{}: {shown}", info.name);
            }
        }
    }
    assert!(succeeded > 100 && failed > 10, "{succeeded} {failed}");
    let longer = Config { secret: Some([key.as_slice(), b"1"].concat().into()), ..sample_config() };
    let refused = NativeEngine::open(longer).err().expect("it is too long");
    let refused = format!("{refused} {refused:?}");
    assert!(
        refused.contains("33") && !spellings.iter().any(|spelling| refused.contains(spelling.as_str())),
        "{refused}"
    );
}
