//! Tests of the index, its persistence and the ranking together.

use core::cmp::Reverse;

use proptest::prelude::*;
use saddlebag_collections::SparseBytes;

use super::*;
use saddlebag_collections::prelude::*;

/// A note for tests.
#[derive(Clone, Debug, Default)]
struct Text {
    title: String,
    alias: String,
    heading: String,
    tag: String,
    path: String,
    body: String,
}

impl Text {
    fn body(body: &str) -> Self {
        Self { body: body.to_string(), ..Self::default() }
    }

    fn insert(&self, index: &mut RankedIndex, doc: u32) -> bool {
        let Self { title, alias, heading, tag, path, body } = self;
        let all = |text| if str::is_empty(text) { Vec::new() } else { vec![text] };
        let (aliases, headings, tags) = (all(alias), all(heading), all(tag));
        index.insert(doc, &Fields { title, aliases, headings, tags, path, body })
    }
}

pub(super) fn index_of(bodies: &[&str]) -> RankedIndex {
    let mut index = RankedIndex::default();
    for (doc, body) in (0..).zip(bodies) {
        assert!(Text::body(body).insert(&mut index, doc));
    }
    index
}

pub(super) fn by_number<'a>(doc: u32) -> Tie<'a> {
    (Reverse(u64::from(u32::MAX - doc)), "")
}

fn search_in(index: &RankedIndex, query: &Query, limit: usize) -> Ranking {
    super::search(&[Source::new(index, &by_number)], query, limit)
}

fn search(index: &RankedIndex, query: &str) -> Ranking {
    search_in(index, &Query::parse(query).unwrap(), 100)
}

/// Returns the documents that a query finds, best first.
fn found(index: &RankedIndex, query: &str) -> Vec<u32> {
    search(index, query).hits.iter().map(|hit| hit.doc).collect()
}

/// Packs an index, and returns head and body.
fn encoded(index: &mut RankedIndex) -> (Vec<u8>, Vec<u8>) {
    assert!(index.pack());
    let (head, body) = index.packed().expect("packed");
    (head.to_vec(), body.iter().flat_map(|piece| piece.to_vec()).collect())
}

fn decoded((head, body): (Vec<u8>, Vec<u8>)) -> Option<RankedIndex> {
    decoded_with(head, SparseBytes::from(body))
}

fn decoded_with(head: Vec<u8>, body: SparseBytes) -> Option<RankedIndex> {
    let (in_head, in_body) = (0..head.len(), 0..body.len());
    RankedIndex::decode((Arc::new(head), in_head), (body, in_body))
}

#[test]
fn a_question_finds_what_answers_it() {
    let index = index_of(&[
        "The production database listens on port 5432.",
        "The staging database uses port 6543.",
        "Staging is deployed on Fridays.",
        "What the team does is the question.",
    ]);
    assert_eq!(found(&index, "What port does the staging database use?")[0], 1);
    assert_eq!(found(&index, "deploying to staging")[0], 2);
    // Stop words find nothing if there are other words.
    assert_eq!(search(&index, "what is the zorblax?").total, 0);
    assert_eq!(found(&index, "what is"), [3, 2]);
}

#[test]
fn the_word_itself_is_better_than_another_form() {
    let index = index_of(&["one deploys here", "one deploy here", "one deployed here", "nothing"]);
    assert_eq!(found(&index, "deploy")[0], 1);
    assert_eq!(found(&index, "deployed")[0], 2);
    assert_eq!(search(&index, "deploying").total, 3);
}

#[test]
fn a_title_counts_more_than_text() {
    let mut index = index_of(&["redis once", "nothing", "nothing again"]);
    let redis = "redis".to_string();
    Text { title: redis.clone(), body: "text".into(), ..Text::default() }.insert(&mut index, 3);
    Text { tag: redis.clone(), body: "text".into(), ..Text::default() }.insert(&mut index, 4);
    Text { path: redis, body: "text".into(), ..Text::default() }.insert(&mut index, 5);
    assert_eq!(found(&index, "redis")[0], 3);
    assert_eq!(found(&index, "title:redis"), [3]);
    assert_eq!(found(&index, "tag:redis text"), [4]);
    assert_eq!(found(&index, "path:redis OR title:redis").len(), 2);
    assert_eq!(search(&index, "title:text").total, 0);
}

#[test]
fn words_that_stand_together_are_better() {
    let filler = "one two three four five six seven eight nine ten";
    let index = index_of(&[
        &format!("connection {filler} reset"),
        &format!("{filler} connection reset"),
        &format!("reset connection {filler}"),
        "nothing",
    ]);
    assert_eq!(found(&index, "connection reset"), [1, 2, 0]);
    assert_eq!(found(&index, "\"connection reset\""), [1]);
    let best = &search(&index, "connection reset").hits[0];
    assert!(best.phrase > 0.0 && best.proximity > 0.0 && best.coverage > 0.0);
}

#[test]
fn operators_require_and_exclude() {
    let index = index_of(&["red apple", "green apple", "red brick", "foo bar", "bar foo", "src/main.rs"]);
    assert_eq!(found(&index, "apple -green"), [0]);
    assert_eq!(found(&index, "red AND apple"), [0]);
    assert_eq!(found(&index, "brick | green"), [1, 2]);
    assert_eq!(found(&index, "\"foo-bar\""), [3]);
    assert_eq!(found(&index, "app* NOT red"), [1]);
    assert_eq!(found(&index, "NOT apple"), [2, 3, 4, 5]);
    assert_eq!(found(&index, "apple (red OR green) -\"green apple\""), [0, 2]);
    assert_eq!(found(&index, "main.rs"), [5]);
}

#[test]
fn a_query_without_matches_is_relaxed() {
    let index = index_of(&["reset the connection", "nothing here"]);
    let ranking = search(&index, "\"connection reset\"");
    assert!(ranking.is_relaxed && ranking.hits.len() == 1);
    assert!(search(&index, "connection AND zebra").is_relaxed);
    assert_eq!(search(&index, "connection -reset").total, 0);
}

#[test]
fn identifiers_are_found_whole_and_in_part() {
    let index = index_of(&[
        "see parse_http_header",
        "calls parseHttpHeader()",
        "http alone",
        "fails with E0502 at v1.2.3",
        "ERR_CONN_RESET",
    ]);
    assert_eq!(found(&index, "parse_http_header")[0], 0);
    assert_eq!(found(&index, "parseHttpHeader")[..2], [1, 0]);
    assert_eq!(found(&index, "header")[..], [0, 1]);
    assert_eq!(found(&index, "e0502"), [3]);
    assert_eq!(found(&index, "1.2.3"), [3]);
    assert_eq!(search(&index, "err_conn_reset").hits[0].terms, ["err_conn_reset"]);
}

#[test]
fn scripts_without_spaces_are_found() {
    let index =
        index_of(&["データベースの接続設定", "本番の木", "데이터베이스를 배포했다", "nothing", "数据库连接失败"]);
    assert_eq!(found(&index, "接続")[0], 0);
    assert_eq!(found(&index, "木"), [1]);
    assert_eq!(found(&index, "데이터베이스"), [2]);
    assert_eq!(found(&index, "数据库失败"), [4]);
    assert_eq!(found(&index, "ﾃﾞｰﾀ"), [0]);
}

/// Every hit says why: its terms, fields and lines are there, and the parts of a score add up to
/// it.
#[test]
fn every_hit_says_why() {
    let mut index = index_of(&["nothing", "the port of the deployed service"]);
    Text { title: "Deploy port".into(), body: "The ports.".into(), ..Text::default() }.insert(&mut index, 2);
    let ranking = search(&index, "Which PORT deploys?");
    let hit = &ranking.hits[0];
    assert_eq!((hit.doc, hit.terms.as_slice()), (2, ["PORT".to_string(), "deploys".to_string()].as_slice()));
    assert_eq!(hit.fields.iter().map(Field::name).collect::<Vec<_>>(), ["title", "body"]);
    for hit in &ranking.hits {
        let parts: f32 = hit.parts.iter().map(|part| part.amount).sum();
        let sum = (parts + hit.coverage + hit.phrase + hit.proximity) * hit.weight;
        assert!((sum - hit.score).abs() < 1e-4, "{sum} {}", hit.score);
    }
}

#[test]
fn the_caller_filters_and_a_superseded_document_ranks_after_its_successor() {
    let index = index_of(&["same words", "same words", "same words"]);
    let query = Query::parse("same words").unwrap();
    let superseded = [Succession { old: 0, new: 2 }];
    let source = Source { accepted: &|doc| doc != 1, superseded: &superseded, ..Source::new(&index, &by_number) };
    let ranking = super::search(&[source], &query, 10);
    assert_eq!(ranking.hits.iter().map(|hit| hit.doc).collect::<Vec<_>>(), [2, 0]);
    assert_eq!(found(&index, "same words"), [0, 1, 2]);
}

#[test]
fn a_successor_inherits_the_score_and_is_found_even_without_a_word_of_the_query() {
    let mut bodies = vec!["use the database postgres"; 1];
    bodies.extend(["we run sqlite", "the postgres host", "a database"]);
    let index = index_of(&bodies);
    let ask = |query: &str, limit: usize, superseded: &[Succession]| {
        let query = Query::parse(query).unwrap();
        super::search(&[Source { superseded, ..Source::new(&index, &by_number) }], &query, limit)
    };
    let before = ask("which database postgres", 10, &[]);
    let after = ask("which database postgres", 10, &[Succession { old: 0, new: 1 }]);
    let docs: Vec<u32> = after.hits.iter().map(|hit| hit.doc).collect();
    assert_eq!((before.hits[0].doc, before.total), (0, 3));
    assert_eq!((docs[0], docs.len(), after.total), (1, 4, 4), "{after:?}");
    let heir = &after.hits[0];
    assert!((heir.score - before.hits[0].score).abs() < 1e-4, "{heir:?}");
    assert!((heir.inherited - heir.score).abs() < 1e-4, "it has no word of its own: {heir:?}");
    assert_eq!(heir.terms, before.hits[0].terms);
    // A page is the beginning of the whole.
    let page = ask("which database postgres", 1, &[Succession { old: 0, new: 1 }]);
    assert_eq!(page.hits, after.hits[..1]);
    // What a query requires, a hit has.
    let required = ask("title:x OR body:postgres", 10, &[Succession { old: 0, new: 1 }]);
    assert!(required.hits.iter().all(|hit| hit.doc != 1), "{required:?}");
}

#[test]
fn a_whole_message_can_be_a_query() {
    let index = index_of(&["needle", "haystack straw", "木材"]);
    let message = format!("{} needle {}", "haystack straw and more ".repeat(2000), "日木材".repeat(3000));
    assert_eq!(search(&index, &message).total, 3);
}

#[test]
fn numbers_only_grow() {
    let mut index = index_of(&["one"]);
    assert!(Text::body("two").insert(&mut index, 7));
    assert!(!Text::body("three").insert(&mut index, 7));
    index.remove(7);
    index.remove(7);
    index.remove(99);
    assert_eq!(index.counts().docs, 1);
    assert!(found(&index, "two").is_empty());
}

#[test]
fn logarithms_are_exact_enough() {
    for x in [1e-9, 0.1, 0.5, 1.0, 1.0001, 1.41, 1.42, 2.0, 3.0, 10_001.0, 1e18] {
        let (ours, theirs) = (weights::ln(x), f64::ln(x));
        assert!((ours - theirs).abs() <= 1e-14 * theirs.abs().max(1.0), "{x}: {ours} {theirs}");
    }
}

/// A change of an index.
#[derive(Clone, Debug)]
enum Step {
    Insert(Text),
    Remove(u32),
    Settle,
    Reload,
}

fn words() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        4 => "[a-d]{1,2}",
        2 => proptest::sample::select(vec!["deploy", "deploys", "deployed", "the", "src/main.rs", "fooBar"])
            .prop_map(String::from),
        1 => "[日本語é]{1,3}",
    ];
    proptest::collection::vec(word, 0..12).prop_map(|words| words.join(" "))
}

fn text() -> impl Strategy<Value = Text> {
    (words(), words(), words(), words(), words(), words()).prop_map(|(title, alias, heading, tag, path, body)| Text {
        title,
        alias,
        heading,
        tag,
        path,
        body,
    })
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => text().prop_map(Step::Insert),
        3 => (0_u32..20).prop_map(Step::Remove),
        1 => Just(Step::Settle),
        1 => Just(Step::Reload),
    ];
    proptest::collection::vec(step, 0..24)
}

fn queries() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        6 => "[a-d]{1,2}",
        2 => proptest::sample::select(vec![
            "deploying", "the", "main.rs", "foo*", "\"a b\"", "-c", "-aa", "title:a", "a | b", "AND", "(", ")", "d*", "日本", "語",
        ]).prop_map(String::from),
    ];
    proptest::collection::vec(word, 1..6).prop_map(|words| words.join(" "))
}

proptest! {
    /// The history of an index decides nothing: after any changes, it answers like a new index of
    /// the same notes, to the last bit of a score.
    #[test]
    fn history_does_not_matter(steps in steps(), queries in proptest::collection::vec(queries(), 4)) {
        let mut index = RankedIndex::default();
        let mut docs: Vec<(u32, Text)> = Vec::new();
        let mut next = 0;
        for step in steps {
            match step {
                Step::Insert(text) => {
                    prop_assert!(text.insert(&mut index, next));
                    docs.push((next, text));
                    next += 1;
                }
                Step::Remove(doc) => {
                    index.remove(doc);
                    docs.retain(|(other, _)| *other != doc);
                }
                Step::Settle => index.settle(),
                Step::Reload => index = decoded(encoded(&mut index)).unwrap(),
            }
        }
        let mut fresh = RankedIndex::default();
        for (doc, text) in &docs {
            text.insert(&mut fresh, *doc);
        }
        prop_assert_eq!(index.counts().docs as usize, docs.len());
        for query in &queries {
            let query = Query::parse(query).unwrap();
            let [old, new] = [&index, &fresh].map(|index| search_in(index, &query, 7));
            prop_assert_eq!(old, new);
        }
        prop_assert_eq!(encoded(&mut index), encoded(&mut fresh));
    }

    /// Checks that a damaged file may give wrong answers, but does not panic, and that each search ends.
    #[test]
    fn damaged_files_do_no_harm(
        texts in proptest::collection::vec(text(), 1..8),
        damage in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..12),
        cut in proptest::option::of(any::<proptest::sample::Index>()),
        queries in proptest::collection::vec(queries(), 4),
    ) {
        let mut index = RankedIndex::default();
        for (doc, text) in (0..).zip(&texts) {
            text.insert(&mut index, doc);
        }
        let (mut head, mut body) = encoded(&mut index);
        for (at, byte) in damage {
            let at = at.index(head.len() + body.len());
            *head.iter_mut().chain(&mut body).nth(at).unwrap() = byte;
        }
        if let Some(cut) = cut {
            let cut = cut.index(head.len() + body.len());
            body.truncate(cut.saturating_sub(head.len()));
            head.truncate(cut);
        }
        if let Some(mut damaged) = decoded((head, body)) {
            for query in &queries {
                search(&damaged, query);
            }
            texts[0].insert(&mut damaged, u32::MAX);
            damaged.remove(0);
            for query in &queries {
                search(&damaged, query);
            }
            let again = decoded(encoded(&mut damaged));
            for query in &queries {
                again.as_ref().map(|again| search(again, query));
            }
        }
    }
}

proptest! {
    /// Checks that an index with only the ranges of a query in memory answers it like the whole one, also after changes.
    #[test]
    fn the_needed_ranges_are_enough_for_a_search(
        texts in proptest::collection::vec(text(), 1..8),
        query in queries(),
    ) {
        let mut index = RankedIndex::default();
        for (doc, text) in (0..).zip(&texts) {
            text.insert(&mut index, doc);
        }
        let (head, body) = encoded(&mut index);
        let mut partial = decoded_with(head, SparseBytes::new(body.len())).unwrap();
        let query = Query::parse(&query).unwrap();
        let mut sparse = SparseBytes::new(body.len());
        for range in Source::needed_ranges(&[Source::new(&partial, &by_number)], &query) {
            sparse.add(range.start, body[range].to_vec());
        }
        partial.set_body(sparse);
        let answers = |index: &RankedIndex| search_in(index, &query, 7);
        prop_assert_eq!(answers(&partial), answers(&index));
        for index in [&mut partial, &mut index] {
            texts[0].insert(index, 100);
            index.remove(0);
        }
        prop_assert_eq!(answers(&partial), answers(&index));
    }
}

#[test]
fn an_index_that_is_not_whole_is_not_encoded_before_its_documents_are_gone() {
    let (head, body) = encoded(&mut index_of(&["one two", "two three"]));
    let mut index = decoded_with(head, SparseBytes::new(body.len())).unwrap();
    Text::body("four").insert(&mut index, 2);
    assert!(!index.pack() && index.packed().is_none());
    index.settle();
    assert_eq!(index.ids().collect::<Vec<_>>(), [0, 1, 2]);
    index.remove(0);
    index.remove(1);
    assert_eq!(
        encoded(&mut index),
        encoded(&mut {
            let mut index = RankedIndex::default();
            Text::body("four").insert(&mut index, 2);
            index
        })
    );
    assert_eq!(found(&index, "four"), [2]);
    // What is read of the old body later has nothing to do with the packed index.
    index.set_body(SparseBytes::from(body));
    assert_eq!(found(&index, "four"), [2]);
    assert!(Source::needed_ranges(&[Source::new(&index, &by_number)], &Query::parse("four").unwrap()).is_empty());
}

#[test]
fn packing_changes_no_answer_whatever_the_size_of_the_postings() {
    let texts: Vec<String> =
        (0..3_000).map(|doc| format!("common {}words of {doc}", "often ".repeat(doc % 90))).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let mut index = index_of(&texts);
    let questions = ["common", "often words", "2999", "\"of 17\""];
    let answers = |index: &RankedIndex| questions.map(|question| search(index, question));
    let before = answers(&index);
    assert!(index.pack() && index.packed().is_some_and(|(_, pieces)| pieces.len() > 1));
    assert_eq!(answers(&index), before);
    assert_eq!(answers(&decoded(encoded(&mut index)).unwrap()), before);
    for doc in 0..1_000 {
        index.remove(doc);
    }
    Text::body("common news").insert(&mut index, 3_000);
    let before = answers(&index);
    assert!(index.pack());
    assert_eq!(answers(&index), before);
}

/// Equal scores are ordered by time and path.
///
/// Checks the order even if more documents are equal than are examined closely.
#[test]
fn equal_scores_are_ordered_by_what_the_documents_are() {
    let index = index_of(&["same words"; 200]);
    let query = Query::parse("words").unwrap();
    let paths: Vec<String> = (0..200).map(|doc| format!("{:03}.md", 199 - doc)).collect();
    let tie = |doc: u32| (Reverse(u64::from(doc % 2)), paths[doc as usize].as_str());
    let best = super::search(&[Source::new(&index, &tie)], &query, 3).hits;
    assert_eq!(best.iter().map(|hit| hit.doc).collect::<Vec<_>>(), [199, 197, 195]);
}

#[test]
fn a_single_character_of_an_identifier_finds_nothing_alone() {
    let index = index_of(&[
        "Step 2 of the plan.",
        "The cluster runs in eu-west-2.",
        "A bucket in eu-west-1.",
        "Version 1.2 is out.",
        "Plan B.",
        "1 or 2 of us.",
    ]);
    assert_eq!(found(&index, "eu-west-2"), [1, 2]);
    assert_eq!(found(&index, "1.2"), [3]);
    assert_eq!(found(&index, "plan-b"), [4, 0]);
    // As a separate word it is searched for, in whatever order.
    for query in ["eu-west-2 2", "2 eu-west-2"] {
        let mut docs = found(&index, query);
        docs.sort_unstable();
        assert_eq!(docs, [0, 1, 2, 3, 5], "{query}");
    }
    assert_eq!(found(&index, "\"west 2\""), [1]);
    assert_eq!(found(&index, "body:1.2"), [3]);
}

proptest! {
    /// Checks that notes of two indexes are ranked as if they were in one.
    #[test]
    fn several_indexes_rank_like_one(
        texts in proptest::collection::vec((text(), any::<bool>()), 1..12),
        query in queries(),
    ) {
        let query = Query::parse(&query).unwrap();
        let (mut whole, mut parts) = (RankedIndex::default(), [RankedIndex::default(), RankedIndex::default()]);
        for (doc, (text, is_second)) in (0..).zip(&texts) {
            text.insert(&mut whole, doc);
            text.insert(&mut parts[usize::from(*is_second)], doc);
        }
        let expected = search_in(&whole, &query, 7);
        let sources = [Source::new(&parts[0], &by_number), Source::new(&parts[1], &by_number)];
        let mut found = super::search(&sources, &query, 7);
        for hit in &mut found.hits {
            prop_assert_eq!(hit.source == 1, texts[hit.doc as usize].1);
            hit.source = 0;
        }
        prop_assert_eq!(found, expected);
        let [one, two] = [&[Source::new(&whole, &by_number)][..], &sources].map(|sources| {
            let mut passages = Passages::new(sources, &query);
            let body = &texts[0].0.body;
            passages.best(body, 0..body.len(), &mut core::iter::empty(), 40)
        });
        prop_assert_eq!(one, two);
    }

    /// Checks that an index answers as if the notes that do not count were not in it, whatever was added and removed before.
    #[test]
    fn a_note_that_does_not_count_has_no_influence(
        texts in proptest::collection::vec((text(), any::<bool>()), 1..12),
        query in queries(),
        is_settled in any::<bool>(),
    ) {
        let query = Query::parse(&query).unwrap();
        let (mut all, mut counted) = (RankedIndex::default(), RankedIndex::default());
        for (doc, (text, is_counted)) in (0..).zip(&texts) {
            text.insert(&mut all, doc);
            if *is_counted {
                text.insert(&mut counted, doc);
            }
        }
        if is_settled {
            all.pack();
        }
        let is_counted = |doc: u32| texts[doc as usize].1;
        let sources = [Source { counted: Some(&is_counted), ..Source::new(&all, &by_number) }];
        prop_assert_eq!(super::search(&sources, &query, 7), search_in(&counted, &query, 7));
        for (text, _) in texts.iter().filter(|(_, is_counted)| *is_counted) {
            let [one, two] = [&sources[..], &[Source::new(&counted, &by_number)]].map(|sources| {
                let mut passages = Passages::new(sources, &query);
                passages.best(&text.body, 0..text.body.len(), &mut core::iter::empty(), 40)
            });
            prop_assert_eq!(one, two);
        }
    }
}

#[test]
fn which_tokens_of_a_long_question_count_depends_only_on_notes_that_count() {
    let words: Vec<String> = (0..80)
        .map(|number| {
            format!("word{}", char::from(b'a' + number % 26).to_string().repeat(2 + usize::from(number / 26)))
        })
        .collect();
    let mut bodies: Vec<String> = words.clone();
    bodies.push(words.join(" "));
    // Unapproved notes that make the first words common.
    let counted = u32::try_from(bodies.len()).unwrap();
    bodies.extend((0..50).map(|_| words[..20].join(" ")));
    let index = index_of(&bodies.iter().map(String::as_str).collect::<Vec<_>>());
    let clean = index_of(&bodies[..counted as usize].iter().map(String::as_str).collect::<Vec<_>>());
    let query = Query::parse(&words.join(" ")).unwrap();
    let is_counted = |doc: u32| doc < counted;
    let source = Source { counted: Some(&is_counted), ..Source::new(&index, &by_number) };
    assert_eq!(super::search(&[source], &query, 100), search_in(&clean, &query, 100));
    let other = Source { counted: Some(&|_| true), ..Source::new(&index, &by_number) };
    assert_ne!(super::search(&[other], &query, 100), search_in(&clean, &query, 100));
}

mod languages {
    use super::*;

    #[test]
    fn forms_are_found_in_the_language_of_the_question() {
        for (question, answer, other) in [
            ("Wie lösche ich die Notizen?", "Eine Notiz wird gelöscht.", "Die Farben der Leiste."),
            ("¿Dónde guardo las contraseñas?", "La contraseña se guarda en el cofre.", "Los colores de la barra."),
            ("Comment partager un carnet avec les autres ?", "Le partage des carnets.", "Les couleurs de la barre."),
            ("Come si esportano le fatture?", "La fattura si esporta in PDF.", "I colori della barra."),
            ("Onde ficam as chaves reservas?", "A chave reserva fica na gaveta.", "As cores da barra."),
            ("Как восстановить удалённые файлы?", "Удаленный файл восстанавливается.", "Цвета панели."),
            ("消したメモを元に戻すには？", "メモを消すとゴミ箱に入る。", "色を変えるには？"),
            ("怎么把删了的照片找回来？", "删除的照片在回收站。", "怎么把颜色改成红的？"),
        ] {
            let index = index_of(&[other, answer, "Something else that is about it."]);
            assert_eq!(found(&index, question).first(), Some(&1), "{question}");
        }
    }

    #[test]
    fn function_words_find_nothing() {
        for (question, note) in [
            ("Wie kann ich das mit dem Drucker machen?", "Das kann ich mit dem Auto machen, wie du."),
            ("¿Para qué sirven los filtros?", "Los colores sirven para mucho; qué bien."),
            ("à quoi servent les filtres ?", "Les couleurs servent à quoi que ce soit."),
            ("どうすればいいですか", "どうすればいいですか。"),
        ] {
            let index = index_of(&[note]);
            let is_only_function_words = question.starts_with('ど');
            assert_eq!(found(&index, question).is_empty(), !is_only_function_words, "{question}");
        }
    }

    #[test]
    fn a_compound_is_found_by_its_parts_and_its_parts_by_it() {
        let index = index_of(&["Die Graphansicht zeigt alles.", "Sicherung und Kopie.", "Der Strafzettel."]);
        assert_eq!(found(&index, "Wo ist die Ansicht?"), [0]);
        assert_eq!(found(&index, "Wo sind die Sicherungskopien?"), [1]);
        assert_eq!(found(&index, "Wie heißt der Rat?"), [0_u32; 0]);
        let exact = index_of(&["Die Ansicht.", "Die Graphansicht."]);
        assert_eq!(found(&exact, "Wo ist die Ansicht?"), [0, 1]);
    }

    #[test]
    fn the_notes_tell_the_language_of_a_question_without_function_words() {
        let german = ["Der Papierkorb ist voll und wird nicht geleert.", "Der Ordner ist leer und nicht da."];
        assert_eq!(found(&index_of(&german), "Papierkörben leeren").first(), Some(&0));
        let short = ["Staging", "Die Übersetzungen exportieren und die Prüfsummen erneuern.", "Налоги и сборы."];
        for (question, answer) in [("Prüfsumme", 1), ("Übersetzung", 1), ("Übersetzung in Staging", 1), ("Налог", 2)]
        {
            assert!(found(&index_of(&short), question).contains(&answer), "{question}");
        }
        let english = ["The bin is full and not emptied.", "The Papierkorb is a folder of the system."];
        assert_eq!(found(&index_of(&english), "Papierkörben"), [0_u32; 0]);
    }

    proptest! {
        /// A wrong guess of the language must not hide a word that is in a note as it was asked.
        #[test]
        fn a_word_is_found_as_it_stands_whatever_the_language(
            language in prop::sample::select(&["der die das ", "los del una ", "les des est ", "che della il ", "uma dos com ", "и в не ", ""]),
            word in "[b-z][a-z]{4,10}"
        ) {
            let index = index_of(&["Something about nothing.", &word]);
            prop_assert_eq!(found(&index, &format!("{language}{word}")).first().copied(), Some(1));
        }
    }
}
