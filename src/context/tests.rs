//! Tests of the sources of the lines of a block.

use proptest::prelude::*;

use super::*;
use crate::store::Date;
use crate::trust::Approved;
use saddlebag_collections::prelude::*;

const FORMS: [BlockForm; 3] = [BlockForm::Claude, BlockForm::Openai, BlockForm::Plain];
const POLICIES: [Overflow; 3] = [Overflow::Documented, Overflow::Prioritised, Overflow::Balanced];

/// Letters that no text of the block has. Each file is written in one of them.
const LETTERS: [char; 9] = ['А', 'Б', 'В', 'Г', 'Д', 'Е', 'Ж', 'З', 'И'];

/// Generates lines of one letter: words, empty lines, headings, list items, code.
fn lines(letter: char) -> impl Strategy<Value = String> {
    let line = (0_usize..8, 1_usize..40).prop_map(move |(kind, length)| {
        let word = letter.to_string().repeat(length);
        match kind {
            0 => String::new(),
            1 => format!("## {word}"),
            2 => format!("- [ ] {word}"),
            3 => format!("```{word}"),
            _ => word,
        }
    });
    prop::collection::vec(line, 0..30).prop_map(|lines| lines.join("\n"))
}

fn approved(text: String) -> Approved {
    Approved::judge(text).expect("it names no provenance")
}

fn text(kind: SectionKind, letter: char, text: String, unread_bytes: u64) -> Section {
    let text = approved(text);
    Section { kind, path: letter.to_string(), content: SectionContent::Text { text, unread_bytes } }
}

/// Returns every kind of section, with its text by path.
fn sections(texts: &[String], unread: u64) -> (Vec<Section>, Vec<(String, String)>) {
    let [shared, project, scratchpad, yesterday, today, one, other, note, another] = texts else {
        panic!("nine texts")
    };
    let log = |day, today| SectionKind::Log { date: Date::parse(day).expect("a day"), today };
    let item = |letter: char, content: &String| SectionItem {
        path: letter.to_string(),
        key: Some(letter.to_string()),
        heading: approved(format!("{letter} (core)")),
        text: approved(content.clone()),
    };
    let mut joined = String::new();
    let mut files = Vec::new();
    for (letter, note) in [(LETTERS[7], note), (LETTERS[8], another)] {
        let first = joined.matches('\n').count() + 1;
        let entry = format!("\n- {letter}\n{note}\n");
        files.push(JoinedFile { path: letter.to_string(), lines: first..first + entry.matches('\n').count() - 1 });
        joined.push_str(&entry);
    }
    joined.push_str("\n(1 more left out)\n");
    let sections = vec![
        text(SectionKind::LongTerm, LETTERS[0], shared.clone(), unread),
        text(SectionKind::ProjectLongTerm, LETTERS[1], project.clone(), 0),
        text(SectionKind::Scratchpad, LETTERS[2], scratchpad.clone(), 0),
        text(log("2026-05-24", false), LETTERS[3], yesterday.clone(), 0),
        text(log("2026-05-25", true), LETTERS[4], today.clone(), 0),
        Section {
            kind: SectionKind::Entries,
            path: "entries".into(),
            content: SectionContent::Items(vec![item(LETTERS[5], one)]),
        },
        Section {
            kind: SectionKind::Memories,
            path: "recalled notes".into(),
            content: SectionContent::Items(vec![SectionItem { key: None, ..item(LETTERS[6], other) }]),
        },
        Section {
            kind: SectionKind::HandOff,
            path: "sessions".into(),
            content: SectionContent::Joined { text: approved(joined), files },
        },
    ];
    let by_path = LETTERS.iter().zip(texts).map(|(letter, text)| (letter.to_string(), text.clone())).collect();
    (sections, by_path)
}

proptest! {
    #[test]
    fn each_line_of_stored_text_has_the_one_source_whose_text_it_is(
        texts in LETTERS.map(lines),
        unread in prop_oneof![Just(0_u64), 1_u64..5000],
        max_bytes in 0_usize..9000,
        form in prop::sample::select(FORMS.to_vec()),
        overflow in prop::sample::select(POLICIES.to_vec()),
    ) {
        let (sections, by_path) = sections(&texts, unread);
        let reply = block_in(form, &sections, overflow, max_bytes);
        let block = reply.block.unwrap_or_default();
        for (number, line) in (1_u32..).zip(block.as_str().split('\n')) {
            let of_line: Vec<&LineSource> =
                reply.sources.iter().filter(|source| (source.first_line..=source.last_line).contains(&number)).collect();
            let letter = line.chars().find(|letter| LETTERS.contains(letter));
            let paths: Vec<&str> = of_line.iter().map(|source| source.path.as_str()).collect();
            match letter {
                Some(letter) => {
                    prop_assert_eq!(&paths, &[letter.to_string()], "line {} of {}", number, block);
                    let (_, text) = by_path.iter().find(|(path, _)| *path == paths[0]).expect("a text");
                    let stored = form.unmarked(line).trim_start_matches("  ");
                    let is_heading_of_item = stored.starts_with("- ") && !stored.starts_with("- [");
                    prop_assert!(is_heading_of_item || text.contains(stored.trim()), "{stored:?} is not in {text:?}");
                }
                // Stored text without its letter must have no word either.
                None => {
                    let is_own = line.contains(|character: char| character.is_ascii_alphabetic());
                    prop_assert!(paths.is_empty() || (paths.len() == 1 && !is_own), "{paths:?}: {line:?}");
                }
            }
        }
        for source in &reply.sources {
            prop_assert!(source.first_line <= source.last_line);
            prop_assert!((source.last_line as usize) <= block.as_str().split('\n').count());
        }
    }
}

#[test]
fn the_blocks_own_lines_have_no_source() {
    let day = Date::parse("2026-05-25").unwrap();
    let sections = [
        text(SectionKind::LongTerm, 'm', "a\n\nb".into(), 0),
        text(
            SectionKind::Log { date: day, today: true },
            'l',
            "first\n## 10:00 standup\nsaid\n## 11:00\nmore".into(),
            0,
        ),
    ];
    let reply = block_in(BlockForm::Claude, &sections, Overflow::Balanced, 4096);
    let sources: Vec<(u32, u32, &str, Option<&str>)> = reply
        .sources
        .iter()
        .map(|source| (source.first_line, source.last_line, source.path.as_str(), source.heading.as_deref()))
        .collect();
    // The first section comes after `<memory>`, an empty line and the title; the second after an empty line and a
    // title.
    let expected =
        [(4, 6, "m", None), (9, 9, "l", None), (10, 11, "l", Some("10:00 standup")), (12, 13, "l", Some("11:00"))];
    assert_eq!(sources, expected, "{:?}", reply.block);
}

#[test]
fn a_heading_in_code_does_not_count() {
    let sections = [text(SectionKind::LongTerm, 'm', "# Build\n```\n# a comment\n```\n#hash\n# \nend".into(), 0)];
    let reply = block_in(BlockForm::Claude, &sections, Overflow::Balanced, 4096);
    let headings: Vec<Option<&str>> = reply.sources.iter().map(|source| source.heading.as_deref()).collect();
    assert_eq!(headings, [Some("Build")]);
}
