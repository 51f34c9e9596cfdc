//! `list-items`: items of every kind in one list, and what was forgotten.

use saddlebag::items::{ItemKind, ItemList, ListItems};
use saddlebag::notebook::{ConditionKind, NoteFilter, SortBy, SortKey};
use saddlebag::store::utc_text;
use saddlebag_host::Simulator;
use support::drive::{Drive, drive};
use support::{Kind, agent_config, ask, both_engines, fact, keep};

/// A store with notes of the project and of all projects, entries and other files, each changed at another time.
fn store(kind: Kind) -> Drive<Simulator> {
    let user = b"---\ntags: [ops]\n---\n\n# For all\n";
    let files: [(&str, &[u8]); 2] = [("MEMORY.md", b"a fact"), ("projects/user/notes/for-all.md", user)];
    let mut drive = drive(kind, agent_config(), &files);
    for (title, key) in [("Port", "db"), ("Proxy", "x/y")] {
        drive.now.seconds += 60;
        drive.executor.advance(std::time::Duration::from_secs(60));
        drive.run(fact(title, "5432")).unwrap();
        drive.run(ask::tag(title, vec!["ops".into()], Vec::new())).unwrap();
        drive.run(keep(key, "5432", "core")).unwrap();
        drive.run(ask::tag(key, vec!["ops".into(), key.into()], Vec::new())).unwrap();
    }
    drive
}

fn names(list: &ItemList) -> Vec<(ItemKind, &str)> {
    list.items.iter().map(|item| (item.kind, item.name.as_str())).collect()
}

#[both_engines]
fn a_list_has_every_kind_in_one_order_and_its_pages_are_the_whole(kind: Kind) {
    let mut drive = store(kind);
    let all = |by, limit, after| ListItems { sort: vec![SortKey { by, ascending: true }], limit, after, ..ask::list() };
    let whole = drive.call(all(SortBy::Title, None, None)).unwrap();
    let (note, entry) = (ItemKind::Note, ItemKind::Entry);
    let expected = [(note, "For all"), (ItemKind::File, "MEMORY"), (note, "Port"), (note, "Proxy")];
    assert_eq!(names(&whole), [&expected[..], &[(entry, "db"), (entry, "x/y")]].concat());
    assert_eq!((whole.total, whole.next.as_ref()), (6, None));
    for (size, by) in (1..6).flat_map(|size| [(size, SortBy::Title), (size, SortBy::Created)]) {
        let whole = drive.call(all(by, None, None)).unwrap();
        let (mut found, mut after) = (Vec::new(), None);
        loop {
            let page = drive.call(all(by, Some(size), after)).unwrap();
            assert_eq!((page.total, page.items.len() <= size as usize), (6, true));
            found.extend(page.items);
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        assert_eq!(found, whole.items, "pages of {size}");
    }
    // Without sort keys the last changed comes first.
    let newest = drive.call(ListItems { limit: Some(1), ..ask::list() }).unwrap();
    assert_eq!(names(&newest), [(entry, "x/y")]);
}

#[both_engines]
fn tags_and_dates_select_among_all_kinds_and_other_conditions_among_notes(kind: Kind) {
    let mut drive = store(kind);
    let now = utc_text(drive.now.seconds.unsigned_abs() * 1_000_000_000);
    let mut selected = |condition: ConditionKind, value: &str| {
        let filter = NoteFilter::default().with(condition, [value]);
        let list = drive.call(ListItems { filter, sort: ask::list_by_path().sort, ..ask::list() }).unwrap();
        list.items.into_iter().map(|item| item.name).collect::<Vec<_>>()
    };
    assert_eq!(selected(ConditionKind::Tag, "ops"), ["db", "x/y", "Port", "Proxy", "For all"]);
    assert_eq!(selected(ConditionKind::Tag, "db OR x/*"), ["db", "x/y"]);
    assert_eq!(selected(ConditionKind::Tag, "ops, NOT db"), ["x/y", "Port", "Proxy", "For all"]);
    assert_eq!(selected(ConditionKind::Path, "facts"), ["Port", "Proxy"]);
    let since = selected(ConditionKind::ModifiedAfter, &now);
    assert!(since.contains(&"x/y".into()) && !since.contains(&"db".into()), "{since:?}");
}

#[both_engines]
fn what_was_forgotten_is_listed_by_its_name_whatever_its_kind(kind: Kind) {
    let mut drive = store(kind);
    drive.run(ask::forget("Proxy")).unwrap();
    drive.run(ask::forget_entry("x/y")).unwrap();
    let mut forgotten = |name: Option<&str>, kinds: Vec<ItemKind>| {
        let asked = ListItems { forgotten: true, name: name.map(Into::into), kinds, ..ask::list() };
        let list = drive.call(asked).unwrap();
        assert_eq!(list.total as usize, list.items.len());
        list.items.into_iter().map(|item| (item.kind, item.name)).collect::<Vec<_>>()
    };
    let of = |kind: ItemKind, name: &str| vec![(kind, name.to_string())];
    let (note, entry) = (of(ItemKind::Note, "Proxy"), of(ItemKind::Entry, "x/y"));
    let mut both = forgotten(None, Vec::new());
    both.sort_by_key(|(_, name)| name.clone());
    assert_eq!(both, [note.clone(), entry.clone()].concat());
    for (name, kinds, expected) in [
        (Some("x/y"), Vec::new(), entry.clone()),
        (Some("Proxy"), Vec::new(), note.clone()),
        (None, vec![ItemKind::Entry], entry),
        (None, vec![ItemKind::Note], note),
        (Some("Port"), Vec::new(), Vec::new()),
    ] {
        assert_eq!(forgotten(name, kinds), expected, "{name:?}");
    }
}
