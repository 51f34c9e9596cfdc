use super::*;
use proptest::prelude::*;

fn folder() -> EntryFolder {
    EntryFolder::for_agent("a").unwrap()
}

fn parse_at(path: &str, text: &str) -> Result<Entry, Problem> {
    Entry::parse(&folder(), &RelPath::new(path).unwrap(), text, 77, false)
}

fn parse(text: &str) -> Entry {
    parse_at("agents/a/entries/core/k.md", text).unwrap()
}

fn entry(key: &str, content: &str) -> Entry {
    let fields = Fields {
        key: key.into(),
        category: Category::Core,
        tags: Vec::new(),
        content: content.into(),
        source: None,
        supersedes: None,
        trust_state: crate::trust::TrustState::default(),
        writer: crate::trust::Writer::default(),
        projects: Vec::new(),
    };
    Entry { fields, owner: Some("a".into()), created: 0, updated: 0, forgotten: None, version: String::new() }
}

#[test]
fn the_example_of_the_documentation_reads_back() {
    let text = "---\nkey: lead_acme_corp\ncategory: core\nzombie_id: zom_leadgen_01\ntags: [lead, enterprise, warm]\n\
                created: 2026-04-10T14:22:11Z\nupdated: 2026-04-12T09:01:03Z\n---\n\nAcme Corp asked.\n";
    let entry = parse(text);
    assert_eq!(entry.fields.key, "lead_acme_corp");
    assert_eq!(entry.fields.tags, ["lead", "enterprise", "warm"]);
    assert_eq!(entry.fields.content, "Acme Corp asked.\n");
    assert_eq!(entry.owner.as_deref(), Some("zom_leadgen_01"));
    assert_eq!(utc_text(entry.created), "2026-04-10T14:22:11Z");
    assert_eq!(utc_text(entry.updated), "2026-04-12T09:01:03Z");
    assert_eq!(entry.render(), text.replace("zombie_id", "agent"));
}

#[test]
fn every_shape_of_frontmatter_is_read() {
    let short = parse("---\nkey: customer_bob\ncategory: core\ntags: customer, plan_pro\n---\n\nBob");
    assert_eq!(short.fields.tags, ["customer", "plan_pro"]);
    assert_eq!((short.created, short.updated), (77, 77));
    let block = parse("---\nkey: k\ntags:\n  - a\n  - 'b c'\nupdated_at: 2\n---\nno blank line");
    assert_eq!(block.fields.tags, ["a", "b c"]);
    assert_eq!(block.updated, 2_000_000);
    assert_eq!(block.fields.content, "no blank line");
    let bare = parse("written by a person\n");
    assert_eq!((bare.fields.key.as_str(), bare.fields.content.as_str()), ("k", "written by a person\n"));
    let crlf = parse("---\r\nkey: k\r\n---\r\n\r\nbody\r\n");
    assert_eq!(crlf.fields.content, "body\r\n");
}

#[test]
fn the_key_of_the_frontmatter_counts() {
    assert_eq!(parse("---\nkey: other\ncategory: daily\n---\n\nx").fields.key, "other");
    let number = parse_at("agents/a/entries/core/1.10.md", "---\nkey: 1.10\n---\n\nx").unwrap();
    assert_eq!(number.fields.key, "1.10");
}

#[test]
fn a_file_that_is_not_an_entry_has_a_reason() {
    let broken = parse_at("agents/a/entries/core/k.md", "---\nkey: [\n---\n\nx").unwrap_err();
    assert_eq!(broken.key.as_deref(), Some("k"));
    assert!(broken.message.starts_with("line "), "{}", broken.message);
    let twice = parse_at("agents/a/entries/core/k.md", "---\nkey: a\nkey: b\n---\n\nx").unwrap_err();
    assert!(twice.message.contains("twice"), "{}", twice.message);
    for text in ["---\nkey: kk\ncategory: core\nage", "\u{feff}---\r\nkey: kk\r\n\r\nx", "---\rkey: kk\r---\rx"] {
        let cut = parse_at("agents/a/entries/core/k.md", text).unwrap_err();
        assert_eq!(cut.message, "line 1: its frontmatter has no end", "{text:?}");
    }
    assert_eq!(parse_at("agents/a/entries/core/k.md", "-- x\n---\ny").unwrap().fields.content, "-- x\n---\ny");
    let unnamed = parse_at("agents/a/entries/core/A%zz.md", "x").unwrap_err();
    assert_eq!(unnamed.message, "no key: neither the frontmatter nor the name of the file has one");
    let shared = parse_at("agents/a/entries/core/k.md", "---\ncategory: workspace\n---\n\nx").unwrap_err();
    assert!(shared.message.contains("folder of the workspace"));
}

/// A change of an entry keeps what a person wrote.
#[test]
fn a_rewrite_keeps_what_a_person_wrote() {
    let text = "---\n# mine\nowner: me\nkey:   'k'\ncategory: core\nupdated: 2026-01-01T00:00:00Z # then\n---\n\nold";
    let before = parse(text);
    let mut now = before.clone();
    now.fields.content = "new\n".into();
    now.fields.tags = vec!["a".into()];
    now.updated += 1_000_000_000;
    now.forgotten = Some(0);
    let rewritten = now.rewrite(text, &before).unwrap();
    assert_eq!(
        rewritten,
        "---\n# mine\nowner: me\nkey:   'k'\ncategory: core\nupdated: 2026-01-01T00:00:01Z # then\n\
         tags: [a]\nforgotten: 1970-01-01T00:00:00Z\n---\n\nnew\n"
    );
    let mut back = parse(&rewritten);
    let forgotten = back.clone();
    back.forgotten = None;
    let restored = back.rewrite(&rewritten, &forgotten).unwrap();
    assert_eq!(restored, rewritten.replace("forgotten: 1970-01-01T00:00:00Z\n", ""));
}

#[test]
fn a_rewrite_of_a_file_without_frontmatter_gives_it_one() {
    let before = parse("\n\nold");
    let mut now = before.clone();
    now.fields.tags = vec!["t".into()];
    assert_eq!(parse(&now.rewrite("\n\nold", &before).unwrap()).fields, now.fields);
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof!["\\PC{1,40}", "[-a:#'\"\\[\\],{}&*!|>%@ \n\r\t.\u{0}\u{85}\u{2028}\u{feff}]{1,20}", any::<String>()]
}

proptest! {
    /// An entry reads back as it was stored, whatever its key and content.
    #[test]
    fn any_key_and_content_read_back(
        key in any_text(),
        content in any_text(),
        tags in proptest::collection::vec("[^\\s\\p{Cc}][\\PC]{0,8}", 0..4),
        source in proptest::option::of(any_text()),
        time in 0_u64..4_000_000_000_000_000_000,
    ) {
        prop_assume!(!key.is_empty());
        let mut written = entry(&key, &content);
        written.fields.tags = tags.iter().map(|tag| tag.trim().to_string()).collect();
        written.fields.source = source.filter(|source| !source.is_empty());
        (written.created, written.updated) = (time / 2, time);
        let text = written.render();
        written.version = version_of(&text);
        prop_assert_eq!(&parse(&text), &written, "{}", text);
        prop_assert_eq!(parse(&text).render(), text);
    }

    #[test]
    fn any_change_reads_back(
        before in "(---\nkey: k\n(x: [1, 2]\n)?(tags: [a]\n)?(updated: 2020-01-01\n)?---\n\n?)?\\PC{0,9}\n?",
        content in any_text(),
        tags in proptest::collection::vec("[a-z]{1,3}", 0..3),
    ) {
        let Ok(old) = parse_at("agents/a/entries/core/k.md", &before) else { return Ok(()) };
        let mut new = old.clone();
        (new.fields.content, new.fields.tags) = (content, tags);
        new.updated = 1_000_000_007;
        let text = new.rewrite(&before, &old).unwrap();
        let read = parse(&text);
        prop_assert_eq!(&read.fields, &new.fields, "{}", text);
        prop_assert_eq!(read.updated, new.updated);
        prop_assert_eq!(text.contains("x: [1, 2]"), before.contains("x: [1, 2]") || read.fields.content.contains("x: [1, 2]"));
    }

    #[test]
    fn no_file_is_too_strange(text in "(---\n)?(\\PC|[\n:\\-\\[\\]{}&*]){0,60}") {
        if let Ok(entry) = parse_at("agents/a/entries/core/k.md", &text) {
            prop_assert!(text.ends_with(&entry.fields.content));
        }
    }
}
