//! Tests of notes: cases of zk's vectors, the corner cases of its rules, and properties of any input.

use proptest::prelude::*;

use super::text::steps;
use super::*;
use saddlebag_collections::prelude::*;

mod edits;
mod frontmatters;

const ALL: TagSyntax = TagSyntax { hashtags: true, colon_tags: true, multiword_tags: true };
const HASHTAGS: TagSyntax = TagSyntax { hashtags: true, colon_tags: false, multiword_tags: false };

fn note(text: &str) -> Note {
    Note::parse(text, ALL)
}

/// Checks title, lead, body, tags and words of a note.
fn check(text: &str, title: &str, lead: &str, body: &str, tags: &[&str], words: u32) {
    let note = note(text);
    assert_eq!(note.title, title);
    assert_eq!(&text[note.lead.clone()], lead, "lead of {title:?}");
    assert_eq!(&text[note.body.clone()], body, "body of {title:?}");
    assert_eq!(note.tags, tags, "tags of {title:?}");
    assert_eq!(note.word_count, words, "words of {title:?}");
    assert_eq!(note.frontmatter.problem, None);
}

fn tags(text: &str, syntax: TagSyntax) -> Vec<String> {
    Note::parse(text, syntax).tags
}

fn check_tags(text: &str, expected: &[&str]) {
    assert_eq!(tags(text, ALL), expected, "{text:?}");
}

fn check_hashtags(text: &str, expected: &[&str]) {
    assert_eq!(tags(text, HASHTAGS), expected, "{text:?}");
}

#[test]
fn an_outline_is_the_note_without_its_headings_and_the_texts_of_its_links() {
    let text = "---\ntitle: T\naliases: [U]\ntags: [a]\n---\n\n# One\n\n[[x#y|z]] [k](l.md \"up\") <https://m.n>\n\n## Two #b\n";
    let note = note(text);
    assert!(note.headings.len() == 2 && note.links.len() == 3);
    let outline = Note::decode_outline(&note.encode().expect("encoded")).expect("decoded");
    let bare = |link: &Link| Link { anchor: None, text: String::new(), relations: Vec::new(), ..link.clone() };
    let links = note.links.iter().map(bare).collect();
    assert_eq!(outline, Note { headings: Vec::new(), links, ..note.clone() });
    for end in 0..note.encode().expect("encoded").len() {
        let bytes = note.encode().expect("encoded");
        assert_eq!(Note::decode_outline(&bytes[..end]), None, "cut at {end}");
    }
}

/// Returns `kind target#anchor (text) relations` of each link.
fn links(text: &str) -> Vec<String> {
    let show = |link: &Link| {
        let anchor = link.anchor.as_ref().map_or(String::new(), |anchor| format!("#{anchor}"));
        let kind = match link.kind {
            LinkKind::Wiki => "wiki",
            LinkKind::Markdown => "markdown",
            LinkKind::Url => "url",
            LinkKind::Embed => "embed",
            LinkKind::Image => "image",
            LinkKind::Property => "property",
        };
        let mut shown = format!("{kind} {}{anchor} ({})", link.target, link.text);
        for relation in &link.relations {
            shown.push(' ');
            shown.push_str(relation);
        }
        shown
    };
    note(text).links.iter().map(show).collect()
}

fn check_links(text: &str, expected: &[&str]) {
    assert_eq!(links(text), expected, "{text:?}");
}

#[test]
fn the_notes_of_zk_parse_as_in_zk() {
    let journal = "- 09:00 set up the database port\n- 10:00 talked about Use Rust and WebAssembly";
    check(&format!("# January 05, 2026\n\n{journal}\n"), "January 05, 2026", journal, journal, &[], 19);
    let linked = "Nothing linked here. #journal #multi word tag# done";
    check(
        &format!("# January 06, 2026\n\n{linked}\n"),
        "January 06, 2026",
        linked,
        linked,
        &["journal", "multi word tag"],
        12,
    );
    let postgres = "We chose Postgres over MySQL. Links: [[auth]], [[facts/postgres-port]], \
                    https://www.postgresql.org and [[missing-note]].";
    check(
        &format!(
            "---\ntitle: Use Postgres\ndate: 2026-01-04 08:00:00\nkeywords: [decision, db]\nstatus: accepted\n\
             score: 0.8\n---\n\n{postgres}\n"
        ),
        "Use Postgres",
        postgres,
        postgres,
        &["decision", "db"],
        26,
    );
    let rust = "Rust compiles to WebAssembly components. #decision #lang/rust";
    check(
        &format!("# Use Rust\n\n{rust}\n\nSee [[use-postgres]]#\n"),
        "Use Rust",
        rust,
        &format!("{rust}\n\nSee [[use-postgres]]#"),
        &["decision", "lang/rust"],
        12,
    );
    check("", "", "", "", &[], 0);
    let style = "Write short sentences. Running, runs and runner share a stem. #docs/style";
    check(&format!("# Author style guide\n\n{style}\n"), "Author style guide", style, style, &["docs/style"], 15);
    let wifi = "Password is on the naïve résumé board. :office:wifi:";
    check(&format!("# Café Wi-Fi\n\n{wifi}\n"), "Café Wi-Fi", wifi, wifi, &["office", "wifi"], 11);
    let key = "Rotate the deploy key every 90 days. See [runbook](../runbooks/rotate%20keys.md#steps) and \
               [[postgres-port|the port note]].";
    check(
        &format!(
            "---\ntitle: \"Deploy key: rotation\"\ndate: 2026-01-06T10:30:00Z\ntags: infra secrets\n---\n\n{key}\n"
        ),
        "Deploy key: rotation",
        key,
        key,
        &["infra", "secrets"],
        24,
    );
    let port = "The staging database listens on port 5433 because 5432 was taken.\nDecided in [[use-postgres]]. #ops";
    check(
        &format!(
            "---\ntitle: Postgres port\ndate: 2026-01-05 09:00:00\ntags: [infra, db]\n\
             aliases: [database port, pg]\n---\n\n{port}\n"
        ),
        "Postgres port",
        port,
        port,
        &["infra", "db", "ops"],
        30,
    );
    let steps = "## Steps\n\n1. Generate the deploy key.\n2. Tell the author.\n\n```sh\n\
                 echo \"[[not-a-link]] #notatag\"\n```";
    check(&format!("# Rotate keys\n\n{steps}\n"), "Rotate keys", "## Steps", steps, &[], 19);
}

#[test]
fn links_have_the_blocks_that_zk_gives_them() {
    let text = "---\ntitle: \"Deploy key: rotation\"\ndate: 2026-01-06T10:30:00Z\ntags: infra secrets\n---\n\n\
                Rotate the deploy key every 90 days. See [runbook](../runbooks/rotate%20keys.md#steps) and \
                [[postgres-port|the port note]].\n";
    check_links(text, &["markdown ../runbooks/rotate keys.md#steps (runbook)", "wiki postgres-port (the port note)"]);
    for link in note(text).links {
        assert_eq!(link.context, 86..209);
        assert!(!link.is_external);
    }
    let text = "# Use Rust\n\nRust compiles to WebAssembly components. #decision #lang/rust\n\nSee [[use-postgres]]#\n";
    check_links(text, &["wiki use-postgres (use-postgres) down"]);
    assert_eq!(note(text).links[0].context, 75..96);
    let text = "---\ntitle: Postgres port\ndate: 2026-01-05 09:00:00\ntags: [infra, db]\naliases: [database port, pg]\n\
                ---\n\nThe staging database listens on port 5433 because 5432 was taken.\nDecided in \
                [[use-postgres]]. #ops\n";
    assert_eq!(note(text).links[0].context, 103..202);
    assert_eq!(note(text).aliases, ["database port", "pg"]);
    let text = "a [[auth]], https://www.postgresql.org and [[missing-note]].";
    check_links(
        text,
        &[
            "wiki auth (auth)",
            "url https://www.postgresql.org (https://www.postgresql.org)",
            "wiki missing-note (missing-note)",
        ],
    );
    assert!(note(text).links[1].is_external);
}

#[test]
fn hashtags_follow_the_rules_of_zk() {
    check_hashtags("# No tags around here", &[]);
    check_hashtags("a #tag in the middle, #other.", &["tag", "other"]);
    check_hashtags("#multiple#hashtags", &[]);
    check_hashtags("##double # alone #", &[]);
    check_hashtags("#libellé-français, #日本語", &["libellé-français", "日本語"]);
    check_hashtags(
        "#a #b, #c; #d. #e! #f? #g* #h\", #i(, #j), #k[ #l{",
        &["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"],
    );
    check_hashtags("#a/@'~-_$%&+=: end", &["a/@'~-_$%&+=:"]);
    check_hashtags(r"#an\ escaped\!\ tag, \#none", &["an escaped! tag"]);
    check_hashtags("#123 #1.2.3 #1a #v1.2", &["1a", "v1"]);
    check_hashtags("(#in) a#no é#no -#no", &["in"]);
    check_hashtags("#a #b #a", &["a", "b"]);
    check_hashtags("`#code` ``#more ` #code`` <a href=\"#html\"> <!-- #comment --> [x](#y) https://a.b/#c", &[]);
    check_hashtags("```\n#code\n```\n\n    #code\n\n~~~ #info\n#code", &[]);
    check_hashtags("# A #title\n\n- #item\n> #quote", &["title", "item", "quote"]);
    check_hashtags("#two words# :colon:", &["two"]);
}

#[test]
fn multiword_tags_close_after_a_word() {
    check_tags("#two words# and #one", &["two words", "one"]);
    check_tags("#journal #multi word tag# done", &["journal", "multi word tag"]);
    check_tags("#a b # c", &["a"]);
    check_tags("#a, b#", &["a"]);
    check_tags("#a# b", &["a"]);
    check_tags("#a\nb#", &["a"]);
    check_tags("#12 34# #1 b#", &["1 b"]);
}

#[test]
fn colon_tags_follow_the_rules_of_zk() {
    check_tags(":a:b: c", &["a", "b"]);
    check_tags("not:valid: 09:00 a::b:", &[]);
    check_tags("|:---:|---:|", &[]);
    check_tags(":a::b:", &["a"]);
    check_tags(":open", &[]);
    check_tags(r":a\ b:#c:", &["a b", "#c"]);
    check_hashtags(":a:b:", &[]);
}

#[test]
fn tags_of_the_frontmatter_come_first() {
    check_tags("---\ntags: [\"#a\", b, 3, b]\nkeyword: c d\nTAG: e\n---\n#f #a", &["e", "a", "b", "3", "c", "d", "f"]);
    check_tags("---\ntags:\n- x\n- y z\n---\n", &["x", "y z"]);
    check_tags("---\ntags: ~\n---\n", &[]);
    check_tags("---\ntags: a, b,#c,, d e\n---\n", &["a", "b", "c", "d", "e"]);
}

#[test]
fn wiki_links_have_relations_labels_and_anchors() {
    check_links("[[a]] [[a | b ]] [[ a|b|c ]]", &["wiki a (a)", "wiki a (b)", "wiki a (b|c)"]);
    check_links(
        "[[[a]]] [[b]]# #[[c]] [[d]]#tag",
        &["wiki a (a) down", "wiki b (b) down", "wiki c (c) up", "wiki d (d)"],
    );
    check_links("[[a#b c]] [[#d]] [[e%20f]]", &["wiki a#b c (a#b c)", "wiki #d (#d)", "wiki e%20f (e%20f)"]);
    check_links(r"[[a\]]b]] [[c\|d]] \[[e]]", &["wiki a]]b (a]]b)", "wiki c (d)"]);
    check_links(r"| [[c \| d\|e]] | [[f#g\|h]] |", &["wiki c (d|e)", "wiki f#g (h)"]);
    check_links("[[]] [[ ]] [[|x]] [[a\nb]] [a]] [[a]", &[]);
    check_links("[[a [[b]] [[[[c]]]]", &["wiki b (b)", "wiki c (c) down"]);
    check_links("`[[b]]` <!-- [[c]] -->", &[]);
    check_links(
        "[[Note: a title]] [[https://a.b/#c]]",
        &["wiki Note: a title (Note: a title)", "wiki https://a.b/#c (https://a.b/#c)"],
    );
    let link = note("x #[[ab#c|d]] y").links.remove(0);
    assert_eq!((link.span, link.target_span), (2..13, 5..9));
}

#[test]
fn markdown_links_are_decoded_and_know_where_they_stand() {
    check_links("[a *b* `c`](d%20e.md#f%20g \"down next\")", &["markdown d e.md#f g (a b c) down next"]);
    check_links(
        "[a](https://b.c/%20#d) <https://e.f> <g@h.i>",
        &["markdown https://b.c/%20#d (a)", "url https://e.f (https://e.f)", "url mailto:g@h.i (g@h.i)"],
    );
    check_links("[a]() [d](e f)", &[]);
    check_links("[![b](c)](d)", &["markdown d (b)", "image c (b)"]);
    check_links("[a [[b]] https://c.d](e)", &["markdown e (a b https://c.d)", "wiki b (b)"]);
    let text = "> [a\n> b][C]\n\n[c]: <d e> 'up'\n";
    check_links(text, &["markdown d e (a b) up"]);
    let link = note(text).links.remove(0);
    assert_eq!(&text[link.span.clone()], "[a\n> b][C]");
    assert_eq!(&text[link.target_span.clone()], "d e");
    assert_eq!(link.context, 2..12);
}

#[test]
fn embeds_are_links() {
    check_links(
        "![[a]] ![[b#^c|300]] ![d](e/f.png \"g\") ![h](https://i.j/k.png)",
        &["embed a (a)", "embed b#^c (300)", "image e/f.png (d) g"],
    );
    check_links("`![[a]]` ![[]] ![[a\nb]]", &[]);
    let text = "x ![[ab#c|d]] y";
    let link = note(text).links.remove(0);
    assert_eq!((&text[link.span], &text[link.target_span]), ("![[ab#c|d]]", "ab#c"));
}

#[test]
fn texts_of_the_frontmatter_have_links() {
    check_links(
        "---\nup: \"[[a]]\"\nrelated:\n  - '[[b''s#c|d]]'\n  - see [[e]] and [[f]]\nx: {y: [\"[[\\\"g\\\"]]\"]}\n---\n[[h]]\n",
        &[
            "property a (a)",
            "property b's#c (d)",
            "property e (e)",
            "property f (f)",
            "property \"g\" (\"g\")",
            "wiki h (h)",
        ],
    );
    // Without quotes, this is a list in a list; text after `#` is a comment.
    check_links("---\nup: [[a]]\nb: [[c, d], [e]] # [[f]]\ng: '[[]]'\n---\n", &[]);
    let text = "---\r\nup: \"[[ a#b ]]\"\r\n---\r\n";
    let link = note(text).links.remove(0);
    assert_eq!((&text[link.span], &text[link.target_span]), ("[[ a#b ]]", "a#b"));
    assert_eq!(&text[link.context], "up: \"[[ a#b ]]\"");
    note(&format!("---\na: '{}'\n---\n", "[[".repeat(50_000)));
}

#[test]
fn a_footnote_is_not_a_link() {
    check_links("a[^注] b[^1] [c]\n\n[^注]: 注釈\n\n[^1]: word\n\n[c]: d\n", &["markdown d (c)"]);
}

#[test]
fn bare_urls_end_before_the_punctuation_of_the_sentence() {
    check_links(
        "(see https://a.b/c_(d).), http://e.f?g=h&i! **https://j.k**",
        &[
            "url https://a.b/c_(d) (https://a.b/c_(d))",
            "url http://e.f?g=h&i (http://e.f?g=h&i)",
            "url https://j.k (https://j.k)",
        ],
    );
    check_links("xhttp://a.b http:// ftp://c.d", &[]);
}

#[test]
fn the_title_is_the_first_heading_of_level_one() {
    for (text, title, body) in [
        ("## a\n\nb\n\n# *c* `d` [e](f) [[g|h]]\n\ni", "c d e h", "i"),
        ("### a\nb\n## c\nd", "", "### a\nb\n## c\nd"),
        ("a\n===\n\nb", "a", "b"),
        ("---\ntitle: ~\n---\n# a\nb", "a", "b"),
        ("---\nx: y\n---\nb", "", "b"),
        ("---\ntitle: a\n---\n# b\nc", "a", "# b\nc"),
        ("---\ntitle: 012\n---\nb", "012", "b"),
        ("\u{feff}---\r\ntitle: a\r\n---\r\nb\r\n", "a", "b"),
        ("```\n# a\n```\n\n# b #\nc", "b", "c"),
        ("# a_b_c \\*d &amp; __e__\n", "a_b_c *d & e", ""),
    ] {
        let note = note(text);
        assert_eq!(note.title, title, "{text:?}");
        assert_eq!(&text[note.body], body, "{text:?}");
    }
}

#[test]
fn a_file_without_a_title_is_called_by_its_name_and_zk_takes_any_heading() {
    for (text, title, zk_title, zk_body) in [
        ("### a\nb\n## c\nd", "My file", "c", "d"),
        ("---\nx: y\n---\nb", "My file", "", "---\nx: y\n---\nb"),
        ("# a\n\nb", "a", "a", "b"),
        ("---\ntitle: a\n---\n## b\n", "a", "a", "## b"),
    ] {
        let note = Note::parse_file(text, ALL, "My file");
        assert_eq!(note.title, title, "{text:?}");
        let zk = note.into_zk();
        assert_eq!((zk.title.as_str(), &text[zk.body]), (zk_title, zk_body), "{text:?}");
    }
}

#[test]
fn dates_are_read_as_utc() {
    for (date, expected) in [
        ("2026-01-04 08:00:00", Some(1_767_513_600_000_000_000)),
        ("2026-01-06T10:30:00Z", Some(1_767_695_400_000_000_000)),
        ("2026-01-06T11:30:00.5+01:00", Some(1_767_695_400_500_000_000)),
        ("2026-01-06T11:30:00+0100", Some(1_767_695_400_000_000_000)),
        ("2026-01-06T05:00:00.5-0530", Some(1_767_695_400_500_000_000)),
        ("2026-01-04 08:00", Some(1_767_513_600_000_000_000)),
        ("2026-01-04", Some(1_767_484_800_000_000_000)),
        ("1950-01-01", Some(0)),
        ("2026-13-01", None),
        ("yesterday", None),
        ("", None),
    ] {
        assert_eq!(parse_date(date), expected, "{date:?}");
    }
    let note = note("---\ndate: 2026-01-04\n---\n");
    assert_eq!(note.date(), Some("2026-01-04"));
    assert_eq!(note.stated().map(|date| date.moment(0)), Some(1_767_484_800_000_000_000));
}

#[test]
fn a_date_is_of_the_day_that_it_says_wherever_it_is_read() {
    for date in [
        "2026-01-15",
        "2026-01-15T23:30:00+01:00",
        "2026-01-15 23:30",
        "2026-01-15T00:10:00-08:00",
        "2026-01-15T12:00Z",
    ] {
        for offset in [-28_800, 0, 7_200, 45_900] {
            let Some(stated) = Stated::parse(date) else { continue };
            let local = stated.clock_at(offset) / 1_000_000_000 + 86_400;
            let day = (i64::try_from(local).expect("small") + i64::from(offset)) / 86_400 - 1;
            assert_eq!(day, 20_468, "{date} at {offset}");
        }
    }
    // A time with an offset is a moment, and one without is that of the reader.
    let moment = |date: &str, offset| Stated::parse(date).expect("a date").moment(offset) / 1_000_000_000;
    assert_eq!(moment("2026-01-15T23:30:00+01:00", -18_000), moment("2026-01-15T22:30:00Z", 0));
    assert_eq!(moment("2026-01-15T22:30", 3_600), moment("2026-01-15T21:30:00Z", 0));
}

/// Parses a date by the patterns of `strftime`.
fn date_by_patterns(date: &str) -> Option<i64> {
    use chrono::{DateTime, NaiveDate, NaiveDateTime};
    let date = date.trim();
    let with_offset = || DateTime::parse_from_str(date, "%Y-%m-%dT%H:%M:%S%.f%z").ok();
    let moment = DateTime::parse_from_rfc3339(date).ok().or_else(with_offset).map(|moment| moment.to_utc());
    let local = || {
        let patterns = ["%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%dT%H:%M"];
        patterns.iter().find_map(|pattern| NaiveDateTime::parse_from_str(date, pattern).ok())
    };
    let day = || NaiveDate::parse_from_str(date, "%Y-%m-%d").ok()?.and_hms_opt(0, 0, 0);
    let moment = moment.or_else(|| local().or_else(day).map(|local| local.and_utc()))?;
    Some(moment.timestamp_nanos_opt().unwrap_or_default().max(0))
}

proptest! {
    #[test]
    fn dates_are_read_as_their_patterns_say(
        date in "[0-9]{4}-[0-1]?[0-9]-[0-3]?[0-9]([ T]{1,2}[0-2]?[0-9]:[0-6]?[0-9](:[0-6][0-9])?(\\.[0-9]{1,10})?(Z|[+-][0-9]{2}:?[0-9]{2})?)?"
    ) {
        let expected = date_by_patterns(&date);
        let in_range = expected.is_none_or(|nanoseconds| nanoseconds > 0);
        prop_assume!(in_range);
        prop_assert_eq!(parse_date(&date), expected.and_then(|nanoseconds| u64::try_from(nanoseconds).ok()));
    }
}

/// Checks that every range is within the text, on character boundaries, and in order.
fn check_ranges(text: &str) {
    let note = note(text);
    let slice = |range: &core::ops::Range<usize>| text.get(range.clone()).expect("a range of the text");
    assert!(note.fits(text));
    slice(&note.frontmatter.span);
    slice(&note.lead);
    assert!(note.lead.start == note.body.start && note.lead.end <= note.body.end);
    assert_eq!(slice(&note.body), slice(&note.body).trim());
    assert_eq!(note.word_count as usize, text.split_whitespace().count());
    let mut end = 0;
    for heading in &note.headings {
        assert!(heading.span.start >= end && (1..=6).contains(&heading.level));
        assert!(heading.span.start <= heading.content.start && heading.content.end <= heading.span.end);
        slice(&heading.span);
        slice(&heading.content);
        end = heading.span.end;
    }
    let mut start = 0;
    for link in &note.links {
        assert!(link.span.start >= start && !link.span.is_empty());
        assert!(link.context.start <= link.span.start && link.span.end <= link.context.end);
        slice(&link.span);
        slice(&link.target_span);
        slice(&link.context);
        start = link.span.start;
    }
    let mut tags = note.tags.clone();
    tags.sort();
    tags.dedup();
    assert_eq!(tags.len(), note.tags.len());
}

/// Generates pieces of Markdown, so that random text has structure.
fn markdown() -> impl Strategy<Value = String> {
    let short = [
        "---\n", "\n", "\n\n", "\r\n", " ", "    ", "\t", "# ", "## ", "#", "===\n", "- ", "* ", "1. ", "> ", "```",
        "~~~", "`", "``", "[", "]", "[[", "]]", "(", ")", "](", "]: ", "<", ">", "<!--", "-->", "!", "\\", "|", ":",
        "://", "*", "**", "_", "&amp;", "\"", "'", "a", "b c", "é", "記", "\u{3000}", "%20", "</div>", "<script>",
        "\u{feff}", "0", "@", "~", "\0",
    ];
    let long = ["title: a\n", "tags: [b, c]\n", "https://a.b", "<a b='c'>"];
    let piece = prop::sample::select([&short[..], &long].concat());
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_text_is_a_note(text in any::<String>()) {
        check_ranges(&text);
    }

    #[test]
    fn any_markdown_is_a_note(text in markdown()) {
        check_ranges(&text);
    }
}

/// Checks that at most twice the bytes are looked at in a text of twice the size.
fn check_steps(shown: &str, text: impl Fn(usize) -> String) {
    let steps = |size: usize| {
        let text = text(size);
        let before = steps::taken();
        assert!(note(&text).body.end <= text.len());
        steps::taken() - before
    };
    let (once, twice) = (steps(128 << 10), steps(256 << 10));
    assert!(twice > 100_000 && twice <= 2 * once + 10_000, "{shown:?}: {once} and {twice} steps");
}

/// Parsing takes time linear in the size, whatever the text.
#[test]
fn the_time_is_linear_in_the_size() {
    let short = [
        "[[", "[", "*", "`", "``a`", "#a ", "> ", "- ", "[a](", "[a](b \"", "[a](<b", "![", "]", "]]", "<", "<!--",
        "<a b=\"", "<a ", ":a", ":", "\\", "&", "[a][b]", "[a]: b\n", "[[a]]", "[[[", "#[[", "_a", "*a_", "**a *b",
        "http://(", "- a\n", ">> a\n", "1. a\n\n", "    a\n", "\n", " ", "\t", "---\n", "# a #b\n", "a\n===\n",
        "#a\\ ", "#a b", "<?", "<!A", "a: [", "[x]\n", "<a@", "(", "``` ", "~~~\n", "|a", "é", "\u{3000}", "[a]",
        "[[a|",
    ];
    let long = ["http://a)", "<![CDATA[", "[![a](b)](c)"];
    for piece in short.into_iter().chain(long) {
        // At the start of a block, a piece may mean something else than within.
        for start in ["", "a "] {
            check_steps(piece, |size| format!("{start}{}", piece.repeat(size / piece.len())));
        }
    }
    // No run of backticks has the length of another.
    check_steps("runs of backticks", |size| {
        let lengths = (1..).take_while(|length| length * (length + 1) / 2 < size);
        lengths.map(|length| format!("{}a", "`".repeat(length))).collect::<String>()
    });
}
