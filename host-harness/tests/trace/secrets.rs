//! Secrets, which a trace does not contain.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use saddlebag::catalogue::{SAMPLE_NAME, SAMPLE_RUN, catalogue, sample_config, sample_files};
use saddlebag::entries::{ImportFile, OpenRun};
use saddlebag::journal::{Edit, EditChange, Search, Target, Write, WriteMode};
use saddlebag::trust::{SecretPolicy, TrustConfig};
use saddlebag::wit_convert::canonical::Scribe;
use saddlebag::{Config, Origin};
use saddlebag_host::{Content, NativeEngine, ReplayError};

use crate::support::{NOW, host, replayed, sample_host};

/// In two parts, so that no scanner finds a token here.
const SECRET: &str = concat!("ghp_", "q7Zt2LmX9vRk4WcB8nYs1DfGh6JpQa3Eu5To");

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
    for (content, info) in [Content::Whole, Content::WithoutSecrets]
        .into_iter()
        .flat_map(|content| catalogue().into_iter().map(move |info| (content, info)))
    {
        for sample in (info.samples)(SAMPLE_NAME).into_iter().chain((info.samples)("../no name")) {
            let (mut host, written) = host(&config, content, &files);
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

#[test]
fn a_command_is_shown_without_the_secrets_in_its_texts_and_bytes() {
    let body = "MIIEvQIBADANBgkqhkiG9w0B";
    let key = format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----", format!("{body}\n").repeat(8));
    let mut scribe = Scribe::new(Content::WithoutSecrets);
    for text in [format!("a \"token\": \"{SECRET}\"\nb"), key] {
        let write = Write { target: Target::LongTerm, mode: WriteMode::Append, content: text.clone(), truncate: false };
        let file = ImportFile { path: "a.md".into(), content: Ok(text.clone().into_bytes()) };
        for shown in [scribe.json(&write), scribe.json(&file), scribe.json(&vec![Some(text)])] {
            let decoded: String = shown
                .split('"')
                .filter_map(|part| BASE64_STANDARD.decode(part).ok())
                .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
                .collect();
            let both = shown + &decoded;
            assert!(!both.contains(SECRET) && !both.contains(body), "{both}");
            assert!(both.contains("{\"redacted\":") && both.contains("[redacted: "), "{both}");
        }
    }
    let harmless = "[a] \"b\"\n".to_string();
    let whole = Scribe::new(Content::Whole).json(&harmless);
    assert_eq!(scribe.json(&harmless), whole);
}

#[test]
fn a_trace_without_secrets_names_the_rule_and_is_replayed_as_far_as_it_is_whole() {
    let (mut host, written) = sample_host(Content::WithoutSecrets);
    let write = |content: &str| Write {
        target: Target::Note("new".into()),
        mode: WriteMode::Append,
        content: content.into(),
        truncate: false,
    };
    host.call(NOW, write("harmless")).unwrap();
    let whole = written.text();
    assert_eq!(replayed(&whole).unwrap().difference, None);
    assert!(host.call(NOW, write(&format!("my token {SECRET}"))).is_err());
    let trace = written.text();
    assert!(!trace.contains(SECRET) && !trace.contains(&SECRET.to_lowercase()), "{trace}");
    assert!(trace.contains(r#""content":{"redacted":"my token [redacted: github-pat]"}"#), "{trace}");
    let refused = replayed(&trace).unwrap_err();
    let next = whole.lines().count() as u64 + 1;
    let ReplayError::LeftOut { line, at } = &refused else { panic!("{refused}") };
    assert_eq!((*line, at.as_str()), (next, "submit.command.write.content"));
}

#[test]
fn a_secret_in_what_comes_back_is_compared_without_it() {
    let trust = TrustConfig { secrets: SecretPolicy::Allow, ..TrustConfig::default() };
    let config = Config { trust, ..sample_config() };
    // Each half is harmless, so the trace has the input of the engine.
    let (first, second) = SECRET.split_at(10);
    let files = [("MEMORY.md".to_string(), format!("{first}-{second}\n").into_bytes())];
    let (mut host, written) = host(&config, Content::WithoutSecrets, &files);
    let change = EditChange::Replace { old_text: "-".into(), new_text: String::new() };
    host.call(NOW, Edit { target: Target::LongTerm, change }).unwrap();
    assert_eq!(host.executor().files()["MEMORY.md"], format!("{SECRET}\n").into_bytes());
    let trace = written.text();
    assert!(trace.contains(r#""content":{"redacted":"#), "{trace}");
    assert_eq!(replayed(&trace).unwrap().difference, None);
    let other = trace.replacen(r#""content":{"redacted":""#, r#""content":{"redacted":"AAAA"#, 1);
    assert!(replayed(&other).unwrap().difference.is_some());
}

#[test]
fn bytes_that_are_not_text_are_replayed_unless_they_have_a_secret() {
    let secret = concat!("ghp_", "q7Zt2LmX9vRk4WcB8nYs1DfGh6JpQa3Eu5To");
    let wide: Vec<u8> = [0xff, 0xfe].into_iter().chain(secret.bytes().flat_map(|byte| [byte, 0])).collect();
    let narrow = [b"\xe9 ", secret.as_bytes()].concat();
    let index = [b"sbindex\x0a\xff".as_slice(), b"word"].concat();
    for (bytes, is_shown) in [(b"\xff".to_vec(), true), (wide, false), (narrow, false), (index, false)] {
        let left_out = format!("\"bytes\":{{\"left-out\":{}}}", bytes.len());
        let files = [("projects/proj/notes/raw.md".to_string(), bytes)];
        for content in [Content::Whole, Content::WithoutSecrets] {
            let is_shown = is_shown || content == Content::Whole;
            let (mut host, written) = host(&sample_config(), content, &files);
            host.call(NOW, Search::new("port")).unwrap();
            let trace = written.text();
            assert_eq!(trace.contains(&left_out), !is_shown, "{trace}");
            assert_eq!(replayed(&trace).is_ok(), is_shown, "{trace}");
        }
    }
}
