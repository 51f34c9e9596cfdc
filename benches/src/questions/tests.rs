use std::fs;

use super::figures::{apart, report, together};
use super::formats::{Data, read};

fn set(name: &str, files: &[(&str, &str)]) -> Data {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    read(name, &folder.path().join(files[0].0)).unwrap()
}

/// Returns the table of a set without its times.
fn figures(name: &str, data: &Data) -> Vec<String> {
    let report = report(name, data, &apart(&data.histories).unwrap(), &together(&data.histories).unwrap());
    let rows = report.lines().skip(4);
    rows.map(|row| row.split('|').map(str::trim).take(10).collect::<Vec<_>>().join("|")).collect()
}

const FOUND: [&str; 3] = [
    "|Saddlebag|100.0 %|100.0 %|100.0 %|100.0 %|1.000|100.0 %|100.0 %|100.0 %",
    "|BM25 over turns|100.0 %|100.0 %|100.0 %|100.0 %|1.000|100.0 %|100.0 %|100.0 %",
    "|Saddlebag, all in one store|100.0 %|100.0 %|100.0 %|100.0 %|1.000|100.0 %|100.0 %|100.0 %",
];

#[test]
fn locomo_is_read_with_its_dirty_evidence() {
    let data = set(
        "locomo",
        &[(
            "locomo10.json",
            r#"[{"conversation": {"speaker_a": "Ann", "speaker_b": "Bo",
                "session_1_date_time": "1:56 pm on 8 May, 2023",
                "session_1": [{"speaker": "Ann", "dia_id": "D1:1", "text": "My kayak is green."},
                              {"speaker": "Bo", "dia_id": "D1:2", "text": "Nice.", "blip_caption": "a lake"}],
                "session_2_date_time": "9:00 am on 9 May, 2023",
                "session_2": [{"speaker": "Ann", "dia_id": "D2:1", "text": "Rain all week."}]},
               "qa": [{"question": "Which colour has the kayak?", "answer": "green", "evidence": ["D:1:1; D7:7"], "category": 4},
                      {"question": "Who sings?", "evidence": [], "category": 5}]}]"#,
        )],
    );
    assert_eq!(data.histories[0].questions.len(), 1);
    assert_eq!(data.histories[0].questions[0].turns, [(0, 0)]);
    assert_eq!(data.histories[0].sessions[0].turns[1].text, "Nice. [image: a lake]");
    assert_eq!(figures("locomo", &data), FOUND);
}

#[test]
fn longmemeval_is_read_without_the_questions_that_have_no_answer() {
    let sample = |id: &str| {
        format!(
            r#"{{"question_id": "{id}", "question_type": "single-session-user", "question": "Where is my bicycle?",
                "haystack_session_ids": ["a", "b"], "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 02:21"],
                "haystack_sessions": [[{{"role": "user", "content": "Hello."}}],
                    [{{"role": "user", "content": "My bicycle is in the cellar.", "has_answer": true}},
                     {{"role": "assistant", "content": "Noted."}}]],
                "answer_session_ids": ["b"]}}"#
        )
    };
    let data = set("longmemeval", &[("s.json", &format!("[{}, {}]", sample("1"), sample("2_abs")))]);
    assert_eq!(data.histories.len(), 1);
    assert_eq!(
        (&*data.histories[0].questions[0].sessions, &*data.histories[0].questions[0].turns),
        (&[1][..], &[(1, 0)][..])
    );
    assert_eq!(figures("longmemeval", &data), FOUND);
}

#[test]
fn a_turn_that_is_not_in_the_passages_is_not_counted() {
    let filler = "Something about a port. ".repeat(20);
    let chat = format!(
        r#"{{"messages": [{{"session": 1, "role": "user", "date": "", "text": "It is 8443."}},
            {{"session": 1, "role": "assistant", "date": "", "text": "{filler}"}}],
            "questions": [{{"question": "Which port?", "kind": "k", "evidence": [0]}}]}}"#
    );
    let data = set("conversations", &[("one.json", &chat)]);
    let rows = figures("conversations", &data);
    assert!(rows[0].ends_with("|0.0 %|0.0 %|0.0 %"), "{rows:?}");
}
