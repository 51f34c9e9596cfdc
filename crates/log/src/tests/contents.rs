use alloc::vec::Vec;

use proptest::prelude::*;

use super::{Numbers, bytes};
use crate::{Change, Content, Contents, Digest, MAX_CONTENT, Missing, Stored, delta};

fn with(contents: impl IntoIterator<Item = (Digest, Stored)>) -> Contents {
    let mut all = Contents::new(MAX_CONTENT);
    contents.into_iter().for_each(|(digest, stored)| all.add_content(Content { digest, stored }));
    all
}

fn delta_of(from: &[u8], to: &[u8]) -> (Digest, Stored) {
    (Digest::of(to), Stored::Delta { from: Digest::of(from), delta: delta::encode(from, to) })
}

#[test]
fn an_empty_content_is_known() {
    assert_eq!(with([]).get(&Digest::of(b"")), Ok(Vec::new()));
    assert_eq!(with([delta_of(b"", b"a")]).get(&Digest::of(b"a")), Ok(b"a".to_vec()));
}

#[test]
fn a_chain_of_10000_differences_is_followed() {
    let text = |number: usize| format!("# Note\n{}{number}\n", "A line.\n".repeat(100));
    let mut contents = with([]);
    contents.add_known(text(0).into_bytes());
    for number in 1..=10_000 {
        let (digest, stored) = delta_of(text(number - 1).as_bytes(), text(number).as_bytes());
        contents.add_content(Content { digest, stored });
    }
    let last = text(10_000).into_bytes();
    assert_eq!(contents.get(&Digest::of(&last)), Ok(last));
}

#[test]
fn differences_that_lead_in_a_circle_end_in_an_error() {
    let contents = with([delta_of(b"a", b"b"), delta_of(b"b", b"a")]);
    let b = Digest::of(b"b");
    assert_eq!(contents.get(&b), Err(Missing::Damaged(b)));
    let itself = with([delta_of(b"a", b"a")]);
    assert_eq!(itself.get(&Digest::of(b"a")), Err(Missing::Damaged(Digest::of(b"a"))));
}

#[test]
fn a_circle_that_a_whole_content_leads_into_is_followed() {
    // A note went from A to B and back: in any order of the records, both are made.
    let all = [(Digest::of(b"a"), Stored::Whole(b"a".to_vec())), delta_of(b"a", b"b"), delta_of(b"b", b"a")];
    for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
        let contents = with(order.map(|place| all[place].clone()));
        assert_eq!(contents.get(&Digest::of(b"b")), Ok(b"b".to_vec()));
        assert_eq!(contents.get(&Digest::of(b"a")), Ok(b"a".to_vec()));
    }
}

#[test]
fn the_reason_of_a_missing_content_is_named() {
    let (a, b) = (Digest::of(b"a"), Digest::of(b"b"));
    assert_eq!(with([]).get(&a), Err(Missing::Unknown(a)));
    assert_eq!(with([delta_of(b"a", b"b")]).get(&b), Err(Missing::Unknown(a)));
    assert_eq!(with([(a, Stored::Removed), delta_of(b"a", b"b")]).get(&b), Err(Missing::Removed(a)));
    assert_eq!(with([(a, Stored::Whole(b"x".to_vec()))]).get(&a), Err(Missing::Damaged(a)));
    let (_, stored) = delta_of(b"a", b"x");
    assert_eq!(with([(a, Stored::Whole(b"a".to_vec())), (b, stored)]).get(&b), Err(Missing::Damaged(b)));
}

#[test]
fn a_blob_is_asked_for_before_anything_else() {
    let (a, b) = (Digest::of(b"a"), Digest::of(b"b"));
    for [first, second] in [[Stored::Removed, Stored::Blob], [Stored::Blob, Stored::Removed]] {
        assert_eq!(with([(a, first), (a, second)]).get(&a), Err(Missing::Blob(a)));
    }
    let mut contents = with([(a, Stored::Blob), delta_of(b"x", b"b"), delta_of(b"a", b"b")]);
    assert_eq!(contents.get(&b), Err(Missing::Blob(a)));
    assert_eq!(contents.add_known(b"a".to_vec()), a);
    assert_eq!(contents.get(&b), Ok(b"b".to_vec()));
}

#[test]
fn a_content_over_the_limit_is_refused() {
    let large = vec![b'a'; 101];
    let mut contents = Contents::new(100);
    let (digest, stored) = delta_of(&large[..100], &large);
    contents.add_content(Content { digest, stored });
    contents.add_known(large[..100].to_vec());
    assert_eq!(contents.get(&digest), Err(Missing::Damaged(digest)));
    assert!(contents.get(&Digest::of(&large[..100])).is_ok());
    contents.add_known(large);
    assert_eq!(contents.get(&digest), Err(Missing::Damaged(digest)));
}

#[test]
fn a_thousand_versions_are_made_again_with_and_without_edits_by_others() {
    for edits_by_others in [false, true] {
        let mut numbers = Numbers(11);
        let mut lines: Vec<usize> = (0..50).collect();
        let text =
            |lines: &[usize]| lines.iter().map(|line| format!("- line {line}\n")).collect::<alloc::string::String>();
        let edit = |lines: &mut Vec<usize>, numbers: &mut Numbers| {
            let place = numbers.next(lines.len());
            match numbers.next(3) {
                0 if lines.len() > 10 => _ = lines.remove(place),
                1 => lines[place] = numbers.next(100),
                _ => lines.insert(place, numbers.next(100)),
            }
        };
        let mut contents = Contents::new(MAX_CONTENT);
        let mut recorded = Vec::new();
        let mut before: Option<Vec<u8>> = None;
        for _ in 0..1000 {
            if edits_by_others && numbers.next(5) == 0 {
                edit(&mut lines, &mut numbers);
                before = Some(text(&lines).into_bytes());
            }
            edit(&mut lines, &mut numbers);
            let after = text(&lines).into_bytes();
            let is_known = before.as_ref().is_some_and(|before| recorded.contains(before));
            contents.add(&Change::of("a.md", before.as_deref(), Some(&after), is_known, 4096));
            recorded.extend(before.replace(after.clone()));
            recorded.push(after);
        }
        for version in &recorded {
            assert_eq!(contents.get(&Digest::of(version)).as_ref(), Ok(version));
        }
    }
}

proptest! {
    #[test]
    fn whatever_was_recorded_is_made_again(versions in proptest::collection::vec(bytes(), 1..20), order in any::<u64>()) {
        let mut changes = Vec::new();
        let mut before: Option<&Vec<u8>> = None;
        for (place, after) in versions.iter().enumerate() {
            let is_known = place > 0;
            changes.push(Change::of("a", before.map(Vec::as_slice), Some(after), is_known, usize::MAX));
            before = Some(after);
        }
        let mut numbers = Numbers(order | 1);
        let mut contents = Contents::new(MAX_CONTENT);
        while !changes.is_empty() {
            contents.add(&changes.swap_remove(numbers.next(changes.len())));
        }
        for version in &versions {
            prop_assert_eq!(&contents.get(&Digest::of(version)), &Ok(version.clone()));
        }
    }

    #[test]
    fn any_set_of_contents_ends_in_an_answer(
        forms in proptest::collection::vec((0..6_u8, 0..6_u8, 0..4_u8, proptest::collection::vec(0..4_u8, 0..8)), 0..16),
    ) {
        let digest = |number: u8| Digest([number; 16]);
        let contents = with(forms.into_iter().map(|(of, from, form, bytes)| {
            let stored = match form {
                0 => Stored::Whole(bytes),
                1 => Stored::Blob,
                _ => Stored::Delta { from: digest(from), delta: bytes },
            };
            (digest(of), stored)
        }));
        for number in 0..6 {
            prop_assert!(contents.get(&digest(number)).is_err());
        }
    }
}
