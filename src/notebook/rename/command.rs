//! The command, the facts of the index that it needs, and finishing a rename that is in progress.

use super::apply::{self, Attempt, RenameReply};
use super::intent::Intent;
use super::plan::{Meaning, has_verbatim_names, naming, naming_files, same_title, unread};
use super::rewrite::RenameSources;
use crate::changes::Call;
use crate::notebook::files::{below_notebook, check_not_kept, notebook_file};
use crate::notebook::index::{Notebook, NotebookCall, catch_up, look, look_checked};
use crate::notebook::named::of_this_memory;
use crate::notebook::select::Resolver;
use crate::notebook::snapshot::Names;
use crate::request::{Request, Run, request};
use saddlebag_collections::prelude::*;
use saddlebag_markdown::Note;
use saddlebag_protocol::{Error, ErrorCode};

/// Maximum number of renames of others that are finished before the requested one.
const MAX_RENAMES: u32 = 64;

/// Gives a note another title and name, and rewrites every link to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rename {
    /// Path, name, title or alias of the note.
    pub note: String,
    /// New title.
    pub title: String,
}

request!(Rename "rename" => RenameReply, Removes, |name| {
    vec![Self { note: name.into(), title: format!("{name} renamed") }]
});

impl Run<NotebookCall<'_>> for Rename {
    async fn run(self, with: &NotebookCall<'_>) -> Result<RenameReply, Error> {
        let call = with.call;
        call.screen.needs_trust("the name of a note")?;
        if let Some(reply) = rename(call, with.notebook, &self.note, &self.title).await? {
            return Ok(reply);
        }
        // The new name is the same file under another spelling, so the note gets another name in between.
        let between = format!("{}-2", self.title.trim());
        let changed = || Error::internal(format!("{}: a file in two spellings", self.note));
        let first = rename(call, with.notebook, &self.note, &between).await?.ok_or_else(changed)?;
        let last = rename(call, with.notebook, &first.path, &self.title).await?.ok_or_else(changed)?;
        Ok(RenameReply { old_path: first.old_path, ..last })
    }
}

/// Gives a note another title and name. `None` if the new name is the old one in another case, and the same file.
async fn rename(call: &Call, notebook: &Arc<Notebook>, note: &str, title: &str) -> Result<Option<RenameReply>, Error> {
    for _ in 0..MAX_RENAMES {
        // An interrupted or concurrent rename is finished first. It may be this one.
        if let Some(finished) = finish_rename(call, notebook, Some((note, title))).await? {
            return Ok(Some(finished));
        }
        let config = catch_up(call, notebook).await?;
        let found = look_checked(call, notebook, |snapshot| {
            let note = snapshot.find_to_change(note)?;
            let resolver = Resolver::new(&snapshot.views);
            let naming = naming(call, snapshot, &resolver, note)?;
            Ok((notebook_file(call, snapshot.path(note)?)?, naming, has_verbatim_names(snapshot, note)?))
        })
        .await;
        let (old, linking, verbatim_names) = of_this_memory(call, notebook, &[note], found).await?;
        check_not_kept(call, &old)?;
        // The meaning of links before the change decides, whatever is written meanwhile.
        let names = look(notebook, call, |snapshot| Ok(Names::from_snapshot(snapshot)))?;
        let views = names.views();
        let meaning = Meaning::new(call, &views, &old)?;
        let unread = unread(call, notebook);
        let same_title = same_title(call, &views, &old, title)?;
        let sources = RenameSources {
            linking: &linking,
            unread: &unread,
            naming: &naming_files(call, &old).await?,
            same_title: &same_title,
            meaning: &meaning,
            verbatim_names,
        };
        match apply::rename(call, &config, &old, title, &sources).await? {
            Attempt::Renamed(reply) => return Ok(Some(reply)),
            Attempt::SameFile => return Ok(None),
            Attempt::UnderWay => {}
        }
    }
    let message = format!("others began {MAX_RENAMES} renames of notes in a row");
    Err(Error::new(ErrorCode::Contention, message, "try again when fewer are at work"))
}

/// Finishes the rename that is in progress, if there is one.
///
/// Commands that change the notebook begin with it. An error here does not refuse them; the next rename reports
/// it.
pub(crate) async fn settle(call: &Call, notebook: &Arc<Notebook>) {
    // The process that began the rename reports its result.
    let _ = finish_rename(call, notebook, None).await;
}

/// Finishes the rename that is in progress. Returns its result if it is the requested one: the name of a note and its
/// new title.
async fn finish_rename(
    call: &Call,
    notebook: &Arc<Notebook>,
    asked: Option<(&str, &str)>,
) -> Result<Option<RenameReply>, Error> {
    if !Intent::is_there(call).await? {
        return Ok(None);
    }
    let config = catch_up(call, notebook).await?;
    let Some((intent, _)) = Intent::pending(call, &config).await? else { return Ok(None) };
    let unread = unread(call, notebook);
    let (linking, names, is_asked) = look(notebook, call, |snapshot| {
        // The state before: the new file does not exist, and the old one has its title.
        let before = Note {
            title: intent.old_title.clone(),
            aliases: intent.aliases.clone(),
            links: Vec::new(),
            ..Note::default()
        };
        let snapshot = snapshot.before(call, &intent.from, &intent.to, &before);
        let resolver = Resolver::new(&snapshot.views);
        let place = resolver.place(below_notebook(call, &intent.from));
        let old =
            place.ok_or_else(|| Error::internal(format!("{} was added but is not among the notes", intent.from)))?;
        let is_asked = asked.is_some_and(|(note, title)| {
            snapshot.resolve(&resolver, note) == [old] && title.trim() == intent.new_title
        });
        Ok((naming(call, &snapshot, &resolver, old)?, Names::from_snapshot(&snapshot), is_asked))
    })?;
    let views = names.views();
    let meaning = Meaning::new(call, &views, &intent.from)?;
    let same_title = same_title(call, &views, &intent.from, &intent.new_title)?;
    let sources = RenameSources {
        linking: &linking,
        unread: &unread,
        naming: &naming_files(call, &intent.from).await?,
        same_title: &same_title,
        meaning: &meaning,
        verbatim_names: false,
    };
    let call = match intent.operation.clone() {
        Some(operation) => call.finishing(operation, Rename::NAME, intent.writer.clone()),
        None => call.clone(),
    };
    match apply::finish(&call, &config, intent, &sources).await {
        Ok(reply) => Ok(Some(reply).filter(|_| is_asked)),
        // The note of that rename was changed by others, so the rename is over.
        Err(error) if !is_asked && error.code != ErrorCode::Storage => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::changes::{Backups, File};
    use crate::notebook::files::no_note;
    use crate::notebook::journal::Journal;
    use crate::notebook::link::Link;
    use crate::notebook::slug::slug;
    use crate::notebook::testing::{Store, call_at, day, path, run_alone};
    use crate::trust::sha256;
    use saddlebag_protocol::Fs;

    const OLD: &str = "facts/port.md";

    fn rename(note: &str, title: &str) -> Rename {
        Rename { note: note.into(), title: title.into() }
    }

    fn renames(store: &mut Store, note: &str, title: &str) -> Result<RenameReply, Error> {
        let command = rename(note, title);
        store.run(|fs| run_alone(fs, command))
    }

    #[test]
    fn a_section_is_not_renamed_with_its_note() {
        let mut store =
            Store::with(&[("Beta Plan.md", "Beta\n\n## Risks\n"), ("a.md", "[[beta plan]] [[Beta Plan#Risks]]\n")]);
        let reply = renames(&mut store, "Beta Plan", "Gamma Plan").expect("renamed");
        assert_eq!((reply.path.as_str(), reply.links), ("Gamma Plan.md", 2));
        assert_eq!(store.text("Gamma Plan.md"), "Beta\n\n## Risks\n");
        assert_eq!(store.text("a.md"), "[[Gamma Plan]] [[Gamma Plan#Risks]]\n");
    }

    #[test]
    fn a_note_that_is_named_by_its_file_stays_so() {
        let files = [("alpha.md", "text\n"), ("beta.md", "other\n"), ("a.md", "[[alpha]]\n"), ("H.md", "# H: 1\n")];
        let mut store = Store::with(&files);
        for title in ["Q: who?", "plans/gamma", "beta", "a#b", ".hidden", "x.", "CON", "what|that"] {
            let writes = store.writes.len();
            let error = renames(&mut store, "alpha", title).expect_err("refused");
            assert_eq!((error.code, store.writes.len()), (ErrorCode::InvalidArgument, writes), "{title}: {error:?}");
        }
        for (old, new) in [("alpha", "Canvas"), ("Canvas", "canvas"), ("canvas", "CANVAS"), ("CANVAS", "Two Words")] {
            let reply = renames(&mut store, old, new).expect("renamed");
            assert_eq!((reply.path.as_str(), reply.title.as_str(), reply.links), (&*format!("{new}.md"), new, 1));
            assert_eq!(store.text(&reply.path), "text\n", "no heading is added");
            assert_eq!(store.text("a.md"), format!("[[{new}]]\n"));
        }
        let mut names = store.names();
        names.retain(|name| !["a.md", "beta.md", "H.md"].contains(name));
        assert_eq!(names, ["Two Words.md"]);
        // A note that has a title may have any title, and the name says what is left of it.
        assert_eq!(renames(&mut store, "H.md", "A/B: 2").expect("renamed").path, "a-b-2.md");
    }

    #[test]
    fn canvases_and_bases_that_name_a_renamed_note_are_named() {
        let canvas = r#"{"nodes":[{"id":"1","type":"file","file":"facts/port.md","x":0,"y":0,"width":9,"height":9}]}"#;
        let files = [
            (OLD, "# Port\n"),
            ("boards/all.canvas", canvas),
            ("boards/text.Canvas", r#"{"nodes":[{"type":"text","text":"see [[port|it]]"}]}"#),
            ("boards/airport.canvas", r#"{"nodes":[{"type":"text","text":"the airport, [[airport]]"}]}"#),
            ("list.base", "filters:\n  and:\n    - file.hasLink(\"port\")\n"),
            ("other.base", "filters:\n  and:\n    - file.hasTag(\"ports\")\n"),
            ("report.json", canvas),
        ];
        let mut store = Store::with(&files);
        store.put("latin.canvas", b"[[port]] \xe9".to_vec());
        let reply = renames(&mut store, OLD, "DB port").expect("renamed");
        let named: Vec<&str> = reply.not_rewritten.iter().map(|warning| warning.path.as_str()).collect();
        assert_eq!(named, ["boards/all.canvas", "boards/text.Canvas", "latin.canvas", "list.base"], "{reply:?}");
        assert!(reply.message.as_str().contains("boards/all.canvas: names facts/port"), "{}", reply.message);
        for (file, text) in &files[1..] {
            assert_eq!(store.text(file), *text);
        }
        // Another title does not change the name of the file.
        let reply = renames(&mut store, "DB port", "DB port!").expect("renamed");
        assert_eq!((reply.path.as_str(), reply.not_rewritten.len()), ("facts/db-port.md", 0), "{reply:?}");
    }

    #[test]
    fn the_case_of_a_name_changes_where_both_spellings_are_one_file() {
        let mut store = Store::with(&[("canvas.md", "text\n"), ("a.md", "[[canvas]]\n")]);
        store.folds_case = true;
        let reply = renames(&mut store, "canvas", "Canvas").expect("renamed");
        assert_eq!((reply.old_path.as_str(), reply.path.as_str()), ("canvas.md", "Canvas.md"));
        assert_eq!(store.names(), ["Canvas.md", "a.md"]);
        assert_eq!(store.text("a.md"), "[[Canvas]]\n");
    }

    #[test]
    fn embeds_tables_and_properties_follow_a_rename() {
        let text = "---\nup: \"[[Note]]\"\nrelated:\n  - '[[note|n]]'\n  - \"[[Note#A \\\"b\\\"]]\"\nx: [[Note]]\n---\n\
            ![[Note]] ![[Note#^b]] ![[Note|300]]\n\n| a |\n|---|\n| [[Note\\|text]] |\n\n![i](Note.md) `![[Note]]`\n";
        let mut store = Store::with(&[("Note.md", "b\n"), ("a.md", text)]);
        let reply = renames(&mut store, "Note", "It's new").expect("renamed");
        assert_eq!((reply.links, reply.files, reply.not_rewritten), (8, 1, Vec::new()));
        let expected = "---\nup: \"[[It's new]]\"\nrelated:\n  - '[[It''s new|n]]'\n  - \"[[It's new#A \\\"b\\\"]]\"\nx: [[Note]]\n---\n\
            ![[It's new]] ![[It's new#^b]] ![[It's new|300]]\n\n| a |\n|---|\n| [[It's new\\|text]] |\n\n\
            ![i](It's%20new.md) `![[Note]]`\n";
        assert_eq!(store.text("a.md"), expected);
    }

    #[test]
    fn a_property_that_would_break_the_frontmatter_stays_and_is_named() {
        let text = "---\nup: see [[Note]]\n---\n[[Note]]\n";
        let mut store = Store::with(&[("n.md", "# Note\n"), ("a.md", text)]);
        let reply = renames(&mut store, "Note", "A: b").expect("renamed");
        assert_eq!(store.text("a.md"), "---\nup: see [[Note]]\n---\n[[A: b]]\n");
        let named: Vec<&str> = reply.not_rewritten.iter().map(|warning| warning.path.as_str()).collect();
        assert_eq!((named.as_slice(), reply.links), (&["a.md"][..], 1), "{reply:?}");
    }

    #[test]
    fn a_list_of_superseded_notes_keeps_what_is_not_a_path() {
        let text = "---\nsupersedes: [note, 3, {a: null}, other]\n---\n";
        let mut store = Store::with(&[("note.md", "# Note\n"), ("a.md", text)]);
        renames(&mut store, "note", "New").expect("renamed");
        let expected = "---\nsupersedes: [\"new.md\", 3, {\"a\":null}, \"other\"]\n---\n";
        assert_eq!(store.text("a.md"), expected);
    }

    /// Renames that race leave one note.
    #[test]
    fn one_of_two_racing_renames_wins_and_leaves_one_note() {
        for seed in 0..100 {
            let mut store =
                Store::with(&[(OLD, "# Port\n"), ("daily/log.md", "[[port]]\n"), ("facts/other.md", "[[Port]]\n")]);
            let titles = ["DB port", "Web port"];
            let replies =
                store.race(2, seed, |fs, i| run_alone(fs, rename(OLD, titles[usize::try_from(i).expect("fits")])));
            let won: Vec<&RenameReply> = replies.iter().filter_map(|reply| reply.as_ref().ok()).collect();
            let [won] = won.as_slice() else { panic!("seed {seed}: {replies:?}") };
            let lost = replies.iter().find_map(|reply| reply.as_ref().err()).expect("one is refused");
            assert_eq!(lost.code, ErrorCode::NotFound, "seed {seed}: {lost:?}");
            let mut names = ["daily/log.md", won.path.as_str(), "facts/other.md"];
            names.sort_unstable();
            assert_eq!(store.names(), names, "seed {seed}");
            let stem = slug(&won.title);
            assert_eq!(store.text("daily/log.md"), format!("[[{stem}]]\n"), "seed {seed}");
            assert_eq!(store.text("facts/other.md"), format!("[[{stem}]]\n").replace(&stem, &won.title), "seed {seed}");
        }
    }

    /// Replaces text in the note under its old name, as `edit` does.
    async fn edit(fs: Fs, old: &str, new: &str) -> Result<(), Error> {
        let (call, note) = (call_at(fs, day()), path(OLD));
        let change = |file: &File| {
            let text = file.text()?.ok_or_else(|| no_note(&note))?.replace(old, new);
            Ok((Some(call.screen.rewrite(file, text)?), ()))
        };
        call.update(&note, Backups::Off, change).await.map(|_| ())
    }

    #[test]
    fn a_rename_beside_changes_of_its_note_leaves_one_note_with_all_of_them() {
        let mut taken_over = 0;
        for seed in 0..400 {
            let mut store =
                Store::with(&[(OLD, "# Port\n\none two\n"), ("a.md", "[[port]] [[Port]]\n"), ("c.md", "# C\n")]);
            let replies = store.race(4, seed, |fs, i| async move {
                match i {
                    0 => run_alone(fs, rename(OLD, "DB port")).await.map(|_| ()),
                    1 => edit(fs, "one", "1").await,
                    2 => edit(fs, "two", "2").await,
                    _ => {
                        let link = Link { source: OLD.into(), target: "c.md".into(), text: None };
                        run_alone(fs, link).await.map(|_| ())
                    }
                }
            });
            assert!(replies.first().is_some_and(Result::is_ok), "seed {seed}: {replies:?}");
            let names: Vec<&str> = store.names().into_iter().filter(|name| !name.ends_with(".bak")).collect();
            assert_eq!(names, ["a.md", "c.md", "facts/db-port.md"], "seed {seed}: {replies:?}");
            let text = store.text("facts/db-port.md");
            for (reply, change) in replies.iter().zip(["# DB port", "1", "2", "[[c|C]]"]) {
                match reply {
                    Ok(()) => assert!(text.contains(change), "seed {seed}: {change} is missing: {text}"),
                    Err(error) => assert_eq!(error.code, ErrorCode::NotFound, "seed {seed}: {error:?}"),
                }
            }
            taken_over += replies.iter().filter(|reply| reply.is_ok()).count() - 1;
        }
        assert!(taken_over > 200, "{taken_over}");
    }

    #[test]
    fn a_rename_that_another_process_finishes_meanwhile_has_won() {
        for before in 0.. {
            let mut store = Store::with(&[(OLD, "# Port\n"), ("daily/log.md", "[[port]]\n")]);
            let titles = ["DB port", "Web port"];
            let replies = store
                .interrupted(before, |fs, i| run_alone(fs, rename(OLD, titles[usize::try_from(i).expect("fits")])));
            let Some(replies) = replies else {
                assert!(before > 10, "{before}");
                break;
            };
            let won: Vec<&RenameReply> = replies.iter().filter_map(|reply| reply.as_ref().ok()).collect();
            let [won] = won.as_slice() else { panic!("{before}: {replies:?}") };
            assert_eq!(store.names(), ["daily/log.md", won.path.as_str()], "{before}");
            assert_eq!(store.text("daily/log.md"), format!("[[{}]]\n", slug(&won.title)), "{before}");
        }
    }

    #[test]
    fn many_renames_of_many_notes_all_happen_once() {
        for seed in 0..20 {
            let mut store =
                Store::with(&[("a.md", "# A\n[[b]]\n"), ("b.md", "# B\n[[c]]\n"), ("c.md", "# C\n[[a]]\n")]);
            let replies = store.race(3, seed, |fs, i| {
                let (note, title) = [("a.md", "A2"), ("b.md", "B2"), ("c.md", "C2")][usize::try_from(i).expect("fits")];
                run_alone(fs, rename(note, title))
            });
            assert!(replies.iter().all(Result::is_ok), "seed {seed}: {replies:?}");
            assert_eq!(store.names(), ["a2.md", "b2.md", "c2.md"], "seed {seed}");
            let texts = ["a2.md", "b2.md", "c2.md"].map(|file| store.text(file));
            assert_eq!(texts, ["# A2\n[[b2]]\n", "# B2\n[[c2]]\n", "# C2\n[[a2]]\n"], "seed {seed}");
        }
    }

    #[test]
    fn the_same_rename_again_finishes_one_that_was_killed() {
        for last in 1..7 {
            let mut store = Store::with(&[(OLD, "# Port\n"), ("a.md", "[[port]]\n"), ("b.md", "[[Port]]\n")]);
            store.dies_after = Some(last);
            renames(&mut store, "Port", "DB port").expect_err("it died");
            store.dies_after = None;
            let reply = renames(&mut store, "Port", "DB port").expect("finished");
            assert_eq!((reply.old_path.as_str(), reply.path.as_str()), (OLD, "facts/db-port.md"), "{last}");
            assert_eq!(store.names(), ["a.md", "b.md", "facts/db-port.md"], "{last}");
        }
    }

    #[test]
    fn a_note_that_cannot_be_rewritten_is_named() {
        let mut store = Store::with(&[(OLD, "# Port\n"), ("a.md", "[[port]]\n"), ("b.md", "[[port]]\n")]);
        store.put("latin.md", b"[[port]] \xe9\n".to_vec());
        store.denies = Some("a.md");
        let reply = renames(&mut store, OLD, "DB port").expect("renamed");
        let named: Vec<&str> = reply.not_rewritten.iter().map(|warning| warning.path.as_str()).collect();
        assert_eq!((named.as_slice(), reply.links), (&["latin.md", "a.md"][..], 1), "{reply:?}");
        assert!(reply.message.as_str().contains("a.md: a.md: permission denied"), "{}", reply.message);
        assert_eq!((store.text("a.md"), store.text("b.md")), ("[[port]]\n".into(), "[[db-port]]\n".into()));
        assert!(!store.has(OLD) && !store.has(".saddlebag/rename.json"));
    }

    #[test]
    fn a_forged_intent_destroys_nothing() {
        const A: &str = "# A\n\nof a\n";
        let of = |from: &str, to: &str, made: &str, removes: Option<&str>| {
            let step = |text| format!("\n{{\"removes\":{{\"text\":\"{}\",\"at\":0}}}}", sha256(text));
            let (made, removes) = (sha256(made), removes.map(step).unwrap_or_default());
            format!(
                r#"{{"format":1,"from":"{from}","to":"{to}","old_title":"A","new_title":"B","aliases":[],"made":"{made}"}}{removes}"#
            )
        };
        let damaged = [
            "",
            "{",
            "[]",
            "\u{0}",
            &of("../a.md", "../b.md", "", Some(A)),
            &of("/etc/a.md", "/etc/b.md", "", Some(A)),
            &of(".zk/a.md", ".zk/b.md", "", Some(A)),
            &of("a.md", "b.txt", "", Some(A)),
            &of("projects/api-0db23a34/a.md", "projects/api-0db23a34/b.md", "", Some(A)),
            &of("a.md", "b.md", "", Some(A)).replace("\"B\"", "\"B\\nC\""),
            &of("a.md", "b.md", "", Some(A)).replace(":1", ":2"),
            &of("a.md", "b.md", "", Some(A)).replace("aliases", "others"),
            &of("a.md", "b.md", "", Some(A)).replace("removes", "deletes"),
        ];
        let forged = [
            // The other note does not have the text that would be removed.
            of("a.md", "b.md", "# B\n\nof b\n", Some(A)),
            of("a.md", "b.md", "", None),
            of("a.md", "none.md", "", Some(A)),
            of("a.md", "x/b.md", "", Some(A)),
            of("none.md", "b.md", "", Some(A)),
            of("none.md", "none2.md", "", None),
        ];
        let files =
            [("a.md", A), ("b.md", "# B\n\nof b\n"), ("c.md", "[[a]] [[b]]\n"), ("projects/api-0db23a34/a.md", A)];
        // Whoever knows the other note can make it look like text of the rename. It is kept beside.
        let mut store = Store::with(&files);
        store.put(".saddlebag/rename.json", of("a.md", "b.md", "# B\n\nof b\n", None).into_bytes());
        let entry = Journal { entry: "on".into() };
        store.run(|fs| run_alone(fs, entry)).expect("journaled");
        assert_eq!(
            (store.text("b.md"), store.text(".saddlebag/backups/b.bak")),
            ("# B\n\nof a\n".into(), "# B\n\nof b\n".into())
        );
        for (text, is_damaged) in
            damaged.into_iter().map(|text| (text.to_string(), true)).chain(forged.map(|text| (text, false)))
        {
            let mut store = Store::with(&files);
            store.put(".saddlebag/rename.json", text.clone().into_bytes());
            let entry = Journal { entry: "on".into() };
            store.run(|fs| run_alone(fs, entry)).expect("journaled");
            for (file, expected) in files {
                assert_eq!(store.text(file), expected, "{text}: {:?}", store.writes);
            }
            assert_eq!(store.has(".saddlebag/rename.json"), is_damaged, "{text}");
            let renamed = renames(&mut store, "b.md", "D");
            assert_eq!(renamed.is_err(), is_damaged, "{text}: {renamed:?}");
            if let Err(error) = renamed {
                assert!(error.message.contains("rename.json is not a rename of this notebook"), "{error:?}");
                assert_eq!(store.text("b.md"), "# B\n\nof b\n");
            }
        }
    }
}
