//! `init-notebook`: creates the missing folders, configuration and templates of a notebook.

use super::config::{CONFIG_FILE, TEMPLATES_PATTERNS};
use super::config_file::{config_path, load_config};
use super::draft::NOTE_TEMPLATE;
use super::files::{folders_above, notebook_file, template_folders};
use super::index::NotebookCall;
use super::today::DAILY_TEMPLATE;
use crate::changes::{Call, File};
use crate::request::{Run, request};
use crate::store::{
    DAILY_FOLDER, DECISIONS_FOLDER, FACTS_FOLDER, RelPath, SCOPE_PATTERNS, TEMPLATES_FOLDER, ZK_FOLDER,
};
use crate::trust::ForModel;
use saddlebag_collections::prelude::*;
use saddlebag_protocol::{EntryKind, Error, ErrorCode, FsError};

/// Creates the missing folders, configuration and templates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InitNotebook;

/// Reply of [`InitNotebook`].
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InitReply {
    /// Files and folders that were created; a folder ends in `/`.
    pub made: Vec<String>,
    /// Files and folders that existed and are unchanged.
    pub kept: Vec<String>,
    /// Summary for a person or a model. Stored text in it is made harmless.
    pub message: ForModel,
}

request!(InitNotebook "init-notebook" => InitReply, Appends, |_| vec![Self]);

impl Run<NotebookCall<'_>> for InitNotebook {
    async fn run(self, with: &NotebookCall<'_>) -> Result<InitReply, Error> {
        init(with.call).await
    }
}

/// Creates missing files and folders, and overwrites nothing.
async fn init(call: &Call) -> Result<InitReply, Error> {
    let root = call.scope.layout.project_folder();
    refuse_nested(call, root).await?;
    load_config(call).await?.config.for_writing()?;
    let there = call.list(root).await?;
    let mut reply = InitReply::default();
    for name in [FACTS_FOLDER, DECISIONS_FOLDER, DAILY_FOLDER, TEMPLATES_FOLDER] {
        let folder = notebook_file(call, name)?;
        match there.iter().find(|entry| entry.path == folder) {
            Some(entry) if entry.kind == EntryKind::Directory => {}
            Some(_) => return Err(Error::storage(Some(&folder), &FsError::NotDirectory)),
            None => {
                let made = call.fs.make_directory(&folder).await;
                made.map_err(|error| Error::storage(Some(&folder), &error))?;
                reply.made.push(format!("{}/", call.scope.display_path(&folder)));
                continue;
            }
        }
        reply.kept.push(format!("{}/", call.scope.display_path(&folder)));
    }
    let config = config_path(call)?;
    make(call, &config, &config_text(root.is_none()), &mut reply).await?;
    // In a notebook of zk, a file in a visible folder is a note.
    let config = load_config(call).await?.config;
    let [ours, of_zk] = template_folders();
    let is_note = config.is_indexed(&format!("{ours}/fact.md"));
    let (folder, other) = if is_note { (&of_zk, &ours) } else { (&ours, &of_zk) };
    for (name, text) in [("fact.md", NOTE_TEMPLATE), ("decision.md", NOTE_TEMPLATE), ("daily.md", DAILY_TEMPLATE)] {
        let elsewhere = notebook_file(call, &format!("{other}/{name}"))?;
        if call.fs.read(&elsewhere, 0, 0).await.is_ok_and(|read| read != saddlebag_protocol::ReadOutcome::Absent) {
            reply.kept.push(call.scope.display_path(&elsewhere));
            continue;
        }
        let file = notebook_file(call, &format!("{folder}/{name}"))?;
        make(call, &file, text, &mut reply).await?;
    }
    let place = root.map_or("the root of the store".to_string(), |root| call.scope.display_path(root));
    let message = if reply.made.is_empty() {
        format!("The notebook in {place} is complete")
    } else {
        format!("Made the notebook in {place}: {}", reply.made.join(", "))
    };
    reply.message = ForModel::escaped(&message);
    Ok(reply)
}

/// Returns true for the path, relative to its notebook, of a file that [`InitNotebook`] makes, so that its undo removes it.
pub(crate) fn is_made_by_setup(below: &str) -> bool {
    let folder = below.rsplit_once('/').map_or("", |(folder, _)| folder);
    below == CONFIG_FILE || template_folders().iter().any(|of_templates| of_templates == folder)
}

/// Removes the folders of templates if they are empty. Nothing says of the others whether [`InitNotebook`] created them.
pub(crate) async fn remove_empty_template_folders(call: &Call) -> Result<(), Error> {
    let files = template_folders().map(|folder| notebook_file(call, &format!("{folder}/fact.md")));
    let files: Vec<RelPath> = files.into_iter().collect::<Result<_, _>>()?;
    call.remove_emptied(files.iter(), |folder| call.scope.layout.below_notebook(folder).is_some()).await;
    Ok(())
}

async fn make(call: &Call, file: &RelPath, text: &str, reply: &mut InitReply) -> Result<(), Error> {
    let is_new = call.apply(&call.screen.rewrite(&File::absent(file), text)?).await?;
    let list = if is_new { &mut reply.made } else { &mut reply.kept };
    list.push(call.scope.display_path(file));
    Ok(())
}

/// Refuses a notebook inside another one, whose notes would be counted twice, by zk too.
async fn refuse_nested(call: &Call, root: Option<&RelPath>) -> Result<(), Error> {
    let Some(root) = root else { return Ok(()) };
    for folder in folders_above(root).into_iter().map(Some).chain([None]) {
        let zk = match &folder {
            Some(folder) => folder.join(ZK_FOLDER),
            None => RelPath::new(ZK_FOLDER),
        };
        let Ok(zk) = zk else { continue };
        if !call.list(Some(&zk)).await?.is_empty() {
            let message = format!(
                "{} would be a notebook inside of another: there is {}",
                call.scope.display_path(root),
                call.scope.display_path(&zk)
            );
            let help = "use the outer notebook without a project, or move its .zk folder away";
            return Err(Error::new(ErrorCode::InvalidArgument, message, help));
        }
    }
    Ok(())
}

/// Returns a configuration that zk can read too.
fn config_text(is_root: bool) -> String {
    let scopes = if is_root { &SCOPE_PATTERNS[..] } else { &[] };
    let patterns = TEMPLATES_PATTERNS.iter().chain(scopes);
    let exclude: Vec<String> = patterns.map(|pattern| format!("\"{pattern}\"")).collect();
    format!(
        "# A notebook of saddlebag, which zk reads too: {CONFIG_FILE}\n\
         \n\
         [note]\n\
         filename = \"{{{{slug title}}}}\"\n\
         exclude = [{}]\n\
         \n\
         [group.{FACTS_FOLDER}]\n\
         \n\
         [group.{DECISIONS_FOLDER}]\n\
         \n\
         [group.{DAILY_FOLDER}.note]\n\
         filename = \"{{{{format-date now '%Y-%m-%d'}}}}\"\n\
         \n\
         [format.markdown]\n\
         link-format = \"wiki\"\n",
        exclude.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::super::config::{LinkFormat, NotebookConfig};
    use super::super::template::{NOTE_VARIABLES, Template};
    use super::super::testing::{Store, call_at, call_in, day};
    use super::*;

    fn run(store: &mut Store) -> Result<InitReply, Error> {
        store.run(|fs| async move { init(&call_at(fs, day())).await })
    }

    #[test]
    fn a_new_notebook_is_made_once() {
        let mut store = Store::default();
        let reply = run(&mut store).expect("made");
        assert_eq!(
            reply.made,
            [
                "facts/",
                "decisions/",
                "daily/",
                "templates/",
                ".zk/config.toml",
                "templates/fact.md",
                "templates/decision.md",
                "templates/daily.md"
            ]
        );
        let before = store.writes.len();
        store.put("facts/a.md", b"x".to_vec());
        let again = run(&mut store).expect("kept");
        assert!(again.kept.contains(&".zk/config.toml".to_string()) && again.kept.contains(&"facts/".to_string()));
        // On a store without folders, an empty folder does not exist.
        assert!(store.writes.iter().skip(before).all(|write| write.starts_with("make ")));
    }

    #[test]
    fn what_it_writes_is_understood() {
        let (config, warnings) = NotebookConfig::parse(&config_text(true));
        assert_eq!((config.link_format.clone(), warnings), (LinkFormat::Wiki, Vec::new()));
        for left_out in [
            "templates/fact.md",
            "Templates/Daily.md",
            "projects/a/b.md",
            "projects/a/facts/b.md",
            "agents/a/entries/core/b.md",
        ] {
            assert!(!config.is_indexed(left_out) && !NotebookConfig::default().is_indexed(left_out), "{left_out}");
        }
        for note in ["facts/a.md", "projects/b.md", "agents/b.md"] {
            assert!(config.is_indexed(note) && NotebookConfig::default().is_indexed(note), "{note}");
        }
        for template in [NOTE_TEMPLATE, DAILY_TEMPLATE] {
            assert!(Template::parse(template, NOTE_VARIABLES).is_ok());
        }
    }

    #[test]
    fn a_broken_configuration_is_an_error_and_nothing_is_made() {
        let mut store = Store::with(&[(".zk/config.toml", "[note\n")]);
        let error = run(&mut store).expect_err("refused");
        assert_eq!((error.code, store.writes.len()), (ErrorCode::DamagedFile, 0), "{error:?}");
    }

    #[test]
    fn nothing_of_an_existing_notebook_is_overwritten() {
        let mut store = Store::with(&[
            (".zk/config.toml", "# mine\n"),
            (".zk/templates/fact.md", "mine"),
            ("daily/2026-01-05.md", "x"),
        ]);
        let reply = run(&mut store).expect("completed");
        assert_eq!(store.text(".zk/config.toml"), "# mine\n");
        assert_eq!(store.text(".zk/templates/fact.md"), "mine");
        assert!(reply.made.contains(&".zk/templates/daily.md".to_string()), "{reply:?}");
        assert!(!store.has("templates/daily.md"));
    }

    #[test]
    fn a_notebook_inside_a_notebook_is_refused() {
        let mut store = Store::with(&[(".zk/config.toml", "")]);
        let error = store.run(|fs| async move { init(&call_in(fs, day(), Some("api"))).await }).expect_err("refused");
        assert_eq!(error.message, "projects/api would be a notebook inside of another: there is .zk");
        assert!(store.writes.is_empty());
        let mut store = Store::default();
        let reply = store.run(|fs| async move { init(&call_in(fs, day(), Some("api"))).await }).expect("made");
        assert!(reply.made.contains(&"projects/api/.zk/config.toml".to_string()));
    }

    #[test]
    fn callers_that_race_make_one_notebook() {
        for seed in 0..50 {
            let mut store = Store::default();
            let replies = store.race(4, seed, |fs, _| async move { init(&call_at(fs, day())).await });
            let made = replies.into_iter().flat_map(|reply| reply.expect("no error").made);
            assert_eq!(made.filter(|name| name == CONFIG_FILE).count(), 1, "seed {seed}");
        }
    }
}
