//! The host rates the best notes of a recall, and its order is merged with that of the engine.

use saddlebag::files::{FilesReply, Recall, RecallReply};
use saddlebag::protocol::{FsError, FsOp, FsOutcome, FsResult, ResultError, Scores};
use saddlebag::{Config, Reply};
use saddlebag_host::{EngineError, Simulator};
use support::drive::Drive;
use support::{Kind, both_engines, each, path};

fn config(rescore: bool) -> Config {
    Config { epoch: 1, rescore, ..Config::default() }
}

/// Notes that answer `port` the better the lower their number is.
fn store(notes: usize) -> Simulator {
    let mut store = Simulator::new(1);
    for i in 0..notes {
        let port = "port ".repeat(notes - i);
        store.insert(&path(&format!("n{i:03}.md")), format!("# Note {i}\n\n{port}{}\n", "filler ".repeat(notes)));
    }
    store
}

fn recall(limit: u32, offset: u32) -> Recall {
    Recall { query: "port".into(), limit, offset, ..Recall::default() }
}

fn reply(drive: &mut Drive<Simulator>, request: Recall) -> RecallReply {
    match drive.run(request).unwrap() {
        Reply::Files(FilesReply::Recall(reply)) => reply,
        other => panic!("{other:?}"),
    }
}

fn order(reply: &RecallReply) -> Vec<&str> {
    reply.hits.iter().map(|hit| hit.path.as_str()).collect()
}

/// Runs a recall until the host is asked to rate, and returns the passages.
fn asked(drive: &mut Drive<Simulator>, request: Recall) -> Vec<String> {
    drive.submit(request);
    loop {
        if let Some(FsOp::Score { texts, .. }) = drive.pending.first().map(|request| &request.op) {
            return texts.clone();
        }
        drive.answer(0);
    }
}

#[both_engines]
fn the_order_of_the_host_is_merged_with_that_of_the_engine(kind: Kind) {
    let mut plain = Drive::new(kind, config(false), store(4).with_scorer(|_, _| panic!("nobody asked")));
    let by_engine = reply(&mut plain, recall(9, 0));
    assert_eq!(order(&by_engine), ["n000.md", "n001.md", "n002.md", "n003.md"]);
    // The host rates the last one best, and the others alike.
    let likes_last = |_: &str, text: &str| f64::from(u8::from(!text.contains("port port")));
    let mut drive = Drive::new(kind, config(true), store(4).with_scorer(likes_last));
    let merged = reply(&mut drive, recall(9, 0));
    // 1/61 + 1/62 of the first, 1/64 + 1/61 of the last, 1/62 + 1/63 and 1/63 + 1/64 of the others.
    assert_eq!(order(&merged), ["n000.md", "n003.md", "n001.md", "n002.md"]);
    assert_eq!((merged.total, merged.warnings), (4, vec![]));
    // Pages are those of the merged order.
    let pages: Vec<String> = (0..4).map(|offset| reply(&mut drive, recall(1, offset)).hits[0].path.clone()).collect();
    assert_eq!(pages, order(&reply(&mut drive, recall(4, 0))));
}

#[both_engines]
fn a_host_that_does_not_rate_gets_the_order_of_the_engine_and_a_warning(kind: Kind) {
    let expected = reply(&mut Drive::new(kind, config(false), store(4)), recall(9, 0));
    let mut calm = Drive::new(kind, config(true), store(4));
    let reply_of = reply(&mut calm, recall(9, 0));
    let asked = calm.executor.log().iter().position(|done| done.op == "score").expect("it was asked") as u64;
    let mut replies = vec![(FsError::Unsupported, reply_of)];
    for error in [FsError::TimedOut, FsError::Cancelled, FsError::Other("the model is gone".into())] {
        let mut store = store(4).with_scorer(|_, _| 1.0);
        store.fail_at(asked, error.clone());
        replies.push((error, reply(&mut Drive::new(kind, config(true), store), recall(9, 0))));
    }
    for (error, reply) in replies {
        assert_eq!(order(&reply), order(&expected), "{error}");
        assert_eq!(reply.warnings.len(), 1, "{error}");
        assert!(reply.warnings[0].message.ends_with(&format!("the host does not rate them: {error}")));
    }
}

#[both_engines]
fn no_text_that_waits_for_approval_is_rated(kind: Kind) {
    let mut store = store(3);
    for from in ["tool", "import"] {
        let text = format!("---\nprovenance: {from}\n---\n\n# Port\n\nport port port port secretly {from}\n");
        store.insert(&path(&format!("{from}.md")), text);
    }
    let mut drive = Drive::new(kind, config(true), store);
    let texts = asked(&mut drive, recall(9, 0));
    assert_eq!(texts.len(), 3, "{texts:?}");
    assert!(texts.iter().all(|text| !text.contains("secretly")), "{texts:?}");
}

#[both_engines]
fn the_rated_texts_are_bounded(kind: Kind) {
    let mut store = Simulator::new(1);
    for i in 0..90 {
        store.insert(&path(&format!("n{i:03}.md")), format!("# Note {i}\n\n{}\n", "port and words ".repeat(400)));
    }
    let mut drive = Drive::new(kind, config(true), store);
    let texts = asked(&mut drive, recall(3, 0));
    assert!(texts.len() > 50 && texts.len() <= 64, "{}", texts.len());
    assert!(texts.iter().map(String::len).sum::<usize>() <= 64 << 10);
}

#[both_engines]
fn invalid_numbers_are_refused_and_the_command_goes_on(kind: Kind) {
    for bad in each("numbers", [vec![], vec![1.0; 2], vec![1.0; 4], vec![1.0, f64::NAN, 1.0], vec![f64::INFINITY; 3]]) {
        let mut drive = Drive::new(kind, config(true), store(3));
        assert_eq!(asked(&mut drive, recall(9, 0)).len(), 3);
        let key = drive.pending[0].key.to_string();
        let outcome = Ok(FsOutcome::Score(Scores(bad)));
        let refused = drive.engine.handle_memory_result(FsResult { key: key.clone(), outcome });
        assert!(matches!(refused, Err(EngineError::Result(ResultError::InvalidResult { .. }))), "{refused:?}");
        drive.pending.remove(0);
        drive.hand_in(&key, Ok(FsOutcome::Score(Scores(vec![f64::MAX, -0.0, f64::MIN]))));
        drive.settle();
        let Some(Ok(Reply::Files(FilesReply::Recall(reply)))) = drive.finished.remove(&1) else { panic!() };
        assert_eq!(order(&reply), ["n000.md", "n001.md", "n002.md"]);
    }
}
