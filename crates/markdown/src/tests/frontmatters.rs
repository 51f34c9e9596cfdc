//! Tests of the frontmatter.

use super::*;

fn frontmatter(yaml: &str) -> Frontmatter {
    note(&format!("---\n{yaml}\n---\nbody\n")).frontmatter
}

fn check(yaml: &str, value: Value) {
    let frontmatter = frontmatter(&format!("key: {yaml}"));
    assert_eq!(frontmatter.problem, None, "{yaml:?}");
    assert_eq!(frontmatter.value("key"), Some(&value), "{yaml:?}");
}

fn check_problem(yaml: &str, line: u32, message: &str) {
    let problem = frontmatter(yaml).problem.expect("a problem");
    assert_eq!(problem.line, line, "{problem:?}");
    assert!(problem.message.contains(message), "{problem:?}");
}

#[test]
fn scalars_have_the_types_of_the_core_schema() {
    for (yaml, value) in [
        ("", Value::Null),
        ("~", Value::Null),
        ("null", Value::Null),
        ("true", Value::Bool(true)),
        ("False", Value::Bool(false)),
        ("12", Value::Integer(12)),
        ("-7", Value::Integer(-7)),
        ("0o17", Value::Integer(15)),
        ("0xFf", Value::Integer(255)),
        ("0.8", Value::Float(0.8)),
        ("1e3", Value::Float(1000.0)),
        (".5", Value::Float(0.5)),
        ("-.inf", Value::Float(f64::NEG_INFINITY)),
    ] {
        check(yaml, value);
    }
    for text in ["yes", "off", "2026-01-05", "1.2.3", "12 a", "+", ".", "1e", "99999999999999999999", "nan", "inf"] {
        check(text, Value::String(text.into()));
    }
    check("2026-01-05 09:00:00", Value::String("2026-01-05 09:00:00".into()));
    check("\"12\"", Value::String("12".into()));
    check("'true'", Value::String("true".into()));
    check("!!str 12", Value::String("12".into()));
    check("|\n  a\n  b", Value::String("a\nb\n".into()));
    check(
        "[1, [a], {b: c}]",
        Value::List(vec![
            Value::Integer(1),
            Value::List(vec![Value::String("a".into())]),
            Value::Map(vec![("b".into(), Value::String("c".into()))]),
        ]),
    );
}

#[test]
fn keys_are_in_lower_case_and_in_order() {
    let frontmatter = frontmatter("Zebra: 1\nALPHA: {Inner: 2}\n\"b c\": 3");
    let keys: Vec<&str> = frontmatter.entries.iter().map(|(key, _)| key.as_str()).collect();
    assert_eq!(keys, ["zebra", "alpha", "b c"]);
    assert_eq!(frontmatter.value("alpha"), Some(&Value::Map(vec![("Inner".into(), Value::Integer(2))])));
}

#[test]
fn fences_are_lines_of_dashes_at_the_very_start() {
    for (text, span) in [
        ("---\na: b\n---\nc", 0..13),
        ("\u{feff}---\r\na: b\r\n---\r\nc", 3..19),
        ("----- \na: b\n...\nc", 0..16),
        ("---\na: b\n---", 0..12),
        ("---\n---\n", 0..8),
        ("---\na: b\n", 0..0),
        ("\n---\na: b\n---\n", 0..0),
        (" ---\na: b\n---\n", 0..0),
        ("--\na: b\n--\n", 0..0),
        ("--- a\nb\n---\n", 0..0),
        ("\u{feff}a", 3..3),
    ] {
        let note = note(text);
        assert_eq!(note.frontmatter.span, span, "{text:?}");
        assert_eq!(note.frontmatter.problem, None, "{text:?}");
    }
}

#[test]
fn problems_are_reported_with_their_line() {
    check_problem("a: b\ntitle: Error: unquoted colon", 3, "mapping values");
    check_problem("just text", 2, "not a mapping");
    check_problem("- a\n- b", 2, "not a mapping");
    check_problem("a: 1\nb: 2\na: 3", 4, "given twice");
    check_problem("? [a]\n: b", 2, "not text");
    check_problem("a: &a [*a]", 2, "");
    let bad = note("---\ntitle: Error: unquoted colon\n---\n\nneedle [[link]]\n");
    assert_eq!(bad.links.len(), 1);
    assert_eq!(frontmatter("a: b\nc: d: e").entries, [("a".into(), Value::String("b".into()))]);
}

/// YAML is bounded in bytes, nodes and depth.
#[test]
fn bombs_are_refused() {
    let mut laughs = String::from("a: &a [x, x, x, x, x, x, x, x, x, x]\n");
    for (from, to) in "abcdefghi".chars().zip("bcdefghij".chars()) {
        laughs.push_str(&format!("{to}: &{to} [{}]\n", vec![format!("*{from}"); 10].join(", ")));
    }
    assert!(frontmatter(&laughs).problem.is_some_and(|problem| problem.message.contains("more than 10000 values")));
    let long = format!("a: &a {}\nb: [{}]", "x".repeat(100_000), vec!["*a"; 9000].join(", "));
    assert!(frontmatter(&long).problem.is_some_and(|problem| problem.message.contains("expand to more than")));
    let deep = format!("a: {}{}", "[".repeat(40), "]".repeat(40));
    assert!(frontmatter(&deep).problem.is_some_and(|problem| problem.message.contains("is nested more than")));
    for piece in ["- ", "? ", "[", "{", "{a: ", "&a ", "\n a:"] {
        assert!(frontmatter(&format!("a: {}", piece.repeat(50_000))).problem.is_some(), "{piece:?}");
    }
    let many = (0..20_000).fold(String::new(), |yaml, key| yaml + &format!("k{key}: v\n"));
    assert!(frontmatter(&many).problem.is_some());
    assert!(frontmatter(&format!("a: {}", "x ".repeat(200_000))).problem.is_some());
}

#[test]
fn aliases_expand_to_their_values() {
    let frontmatter = frontmatter("a: &x [1, 2]\nb: *x");
    assert_eq!(frontmatter.problem, None);
    assert_eq!(frontmatter.value("b"), frontmatter.value("a"));
}

fn yaml() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "a: ",
        "b:",
        "title: x",
        "\n",
        "\n  ",
        "- ",
        "[",
        "]",
        "{",
        "}",
        ", ",
        "&x ",
        "*x",
        "!!str ",
        "!t ",
        "\"",
        "'",
        "\\",
        "| ",
        ">-\n",
        "? ",
        ": ",
        "# c",
        "%YAML 1.2\n",
        "--- ",
        "... ",
        "\t",
        "\r",
        "~",
        "1",
        "é",
        "\u{feff}",
        "\0",
        "\\x41",
        "<<: ",
        "@",
        "`",
        "!<tag:a> ",
        "%TAG ! b\n",
    ]);
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_yaml_is_read_or_refused(yaml in yaml()) {
        check_ranges(&format!("---\n{yaml}\n---\nbody"));
    }
}

/// Returns the number of values, and the greatest depth of lists and mappings.
fn size(value: &Value) -> (usize, usize) {
    let of = |values: &mut dyn Iterator<Item = &Value>| {
        let sizes = values.map(size);
        let (count, depth) = sizes.fold((0, 0), |(count, depth), (more, below)| (count + more, depth.max(below)));
        (count + 1, depth + 1)
    };
    match value {
        Value::List(items) => of(&mut items.iter()),
        Value::Map(entries) => of(&mut entries.iter().map(|(_, value)| value)),
        _ => (1, 0),
    }
}

#[test]
fn a_damaged_frontmatter_is_read_or_refused_and_has_bounded_values() {
    let samples: [&[u8]; 5] = [
        b"---\ntitle: The port\naliases: [a, \"b: c\", 'd']\ntags:\n  - x\n  - y # z\ndate: 2026-05-20T10:00:00Z\n---\n\n# Port\n",
        b"---\nkey: k\nprovenance: tool\napproved: 2026-05-20T10:00:00Z\nsupersedes: [facts/a.md]\n---\nbody [[a|b]] #tag\n",
        b"---\na: &x {b: [1, 2.5, ~, true], c: |\n    text\n    more\n  }\nd: *x\n<<: *x\n...\nbody\n",
        b"\xef\xbb\xbf---\r\n? complex\r\n: >-\r\n  folded\r\n  text\r\n\"q\\u00e9\": !!str 12\r\n---\r\nbody\r\n",
        b"---\na: [&b [*b, *b], [[[[[[]]]]]]]\na: twice\n---\n",
    ];
    let added = (String::from("added"), Value::String("v".into()));
    saddlebag_tests_shared::mutations::each_mutation(1, &samples, 5_000, |bytes| {
        let text = String::from_utf8_lossy(bytes);
        check_ranges(&text);
        let read = note(&text);
        let entries = read.frontmatter.entries.iter();
        let (count, depth) = size(&Value::Map(entries.cloned().collect()));
        assert!(count <= 10_001 && depth <= 34, "{count} values, {depth} deep");
        assert_eq!(Note::decode(&read.encode().expect("encoded")).as_ref(), Some(&read));
        // A change of one field leaves the others.
        if read.frontmatter.problem.is_none() {
            let changed = note(&set_field(&text, "added", "v")).frontmatter;
            let mut expected = read.frontmatter.entries.clone();
            expected.insert(changed.entries.iter().position(|(key, _)| key == "added").expect("added"), added.clone());
            assert_eq!(changed.entries, expected);
        }
    });
}
