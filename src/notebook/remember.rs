//! Creating a note, which never overwrites one: the notebook's part of `write`.

use super::checks::{checked_content, checked_tags, checked_title};
use super::config::NotebookConfig;
use super::draft::{Draft, Kind, Rendered, built_in_template};
use super::files::{below_notebook, create_note, find_template, notebook_file};
use super::index::{Notebook, catch_up, look_checked};
use super::named::of_this_memory;
use super::rename::settle;
use super::same_title::SameTitle;
use super::select::fold;
use super::snapshot::Snapshot;
use super::superseded::{Superseded, named, template_of};
use super::types::{NoteView, SAME_TITLE, SAME_TITLE_BUT_FOR_CASE, Warning, title_problem};
use crate::changes::{Call, File, Texts};
use crate::json::word_and_value;
use crate::request::request;
use crate::search::naming_advice;
use crate::store::RelPath;
use crate::trust::{ForModel, Provenance};
use saddlebag_collections::{order, prelude::*};
use saddlebag_markdown::one_line;
use saddlebag_protocol::{Error, ErrorCode};

/// Maximum number of notes with one name.
const MAX_NAMES: u32 = 10_000;

/// Creates a fact, a decision or another note. It never overwrites one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WriteNote {
    /// Title: one line.
    pub title: String,
    /// Content in Markdown.
    pub content: String,
    /// Template: `fact`, `decision`, the name of a folder of the notebook, or `.` for its root. If it is empty, it is that
    /// of the superseded note, or else `fact`.
    pub template: String,
    /// Group of the configuration whose file name, template and variables the note gets; `None` for the group of its
    /// folder.
    pub group: Option<String>,
    /// Tags, with or without `#`.
    pub tags: Vec<String>,
    /// Notes to link to.
    pub links: Vec<String>,
    /// If set, the new note supersedes the newest note of the same title, which must exist.
    pub supersede: bool,
    /// Note that the new note supersedes, whatever its title.
    pub supersedes: Option<String>,
}

/// Reply of [`WriteNote`].
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RememberReply {
    /// Path of the new note, or of an existing one with the same text.
    pub path: String,
    /// Title of the note.
    pub title: String,
    /// Result of the command.
    #[serde(flatten)]
    pub state: RememberState,
    /// Summary for a person or a model. Stored text in it is made harmless.
    pub message: ForModel,
    /// Problems of the configuration or of the template.
    pub warnings: Vec<Warning>,
}

/// Result of remembering a note.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(into = "StateView")]
pub enum RememberState {
    /// Created: the note is new.
    Created,
    /// A note of this title has the same text. Nothing was written.
    AlreadyThere,
    /// Created: the new note supersedes the older one in the value.
    Superseded(String),
}

word_and_value! {
    RememberState as StateView;
    /// Result of the command.
    state {
        Created = "created",
        AlreadyThere = "already-there",
        Superseded(old) = "superseded",
    }
    /// Older note, if the state is `superseded`.
    supersedes: String
}

request!(WriteNote "write" => RememberReply, Appends, |name| {
    let fact = Self {
        title: "A title".into(),
        content: format!("about {name}"),
        template: "fact".into(),
        ..Self::default()
    };
    let linked = Self {
        title: format!("about {name}"),
        links: vec![name.into()],
        supersedes: Some(name.into()),
        ..fact.clone()
    };
    vec![fact, linked]
});

/// Creates a note.
pub(crate) async fn write(
    call: &Call,
    notebook: &Arc<Notebook>,
    mut request: WriteNote,
) -> Result<RememberReply, Error> {
    request.screen(&call.screen)?;
    let provenance = call.scope.trust.provenance;
    if (request.supersede || request.supersedes.is_some()) && !provenance.is_trusted() {
        let message = format!("text of `{provenance}` cannot supersede a note");
        let help = "remember it under another title, and supersede the note after the approval";
        return Err(Error::new(ErrorCode::NotPermitted, message, help));
    }
    settle(call, notebook).await;
    let mut reply = remember(call, notebook, &request, provenance).await?;
    call.screen.tell(&mut reply.message);
    Ok(reply)
}

/// Creates a note. The index resolves its links, and finds notes with the same title.
pub(super) async fn remember(
    call: &Call,
    notebook: &Arc<Notebook>,
    request: &WriteNote,
    provenance: Provenance,
) -> Result<RememberReply, Error> {
    let title = checked_title(&request.title)?;
    let config = catch_up(call, notebook).await?;
    let find = |snapshot: &Snapshot<'_>| Existing::find(call, snapshot, request, title, provenance);
    let existing = look_checked(call, notebook, find).await;
    let named: Vec<&str> = request.links.iter().chain(&request.supersedes).map(String::as_str).collect();
    let existing = of_this_memory(call, notebook, &named, existing).await?;
    let mut warnings = Vec::new();
    let draft = plan(call, &config, request, title, provenance, &existing, &mut warnings).await?;
    let note = Rendered::new(draft, &mut warnings)?;
    let (path, state, message) = create(notebook, request, &note, &existing, &mut warnings).await?;
    if state == RememberState::Created
        && let Some((other, same)) = existing.known.last().map(|other| (other, SAME_TITLE)).or(existing.alike())
    {
        let problem = format!("{same}: use their paths, or supersede the older note");
        warnings.push(Warning::new(&call.scope.display_path(other), problem));
    }
    let advice = match state {
        RememberState::AlreadyThere => String::new(),
        _ => naming_advice(title, &request.content, call.scope.layout.project_name()),
    };
    let (path, message) = (call.scope.display_path(&path), ForModel::escaped(&(message + &advice)));
    warnings.extend(title_problem(title).map(|problem| Warning::new(&path, problem)));
    Ok(RememberReply { path, title: title.into(), state, message, warnings })
}

/// Notes of the index that matter for a new one.
struct Existing {
    /// Path and title of the notes to link to.
    links: Vec<(String, String)>,
    /// Notes with the title, the newest last. Their names may not follow from the title.
    known: Vec<RelPath>,
    /// Note whose title differs in case alone.
    alike: Option<RelPath>,
    /// Note that the request names in `supersedes`.
    named: Option<RelPath>,
}

impl Existing {
    fn find(
        call: &Call,
        snapshot: &Snapshot<'_>,
        request: &WriteNote,
        title: &str,
        provenance: Provenance,
    ) -> Result<Self, Error> {
        let links = request.links.iter().map(|link| {
            let (path, title) = snapshot.link_target(snapshot.find(link)?, provenance.is_trusted())?;
            Ok((path.to_string(), title.to_string()))
        });
        let links = links.collect::<Result<_, Error>>()?;
        let named = request.supersedes.as_deref().map(|name| named(call, snapshot, name)).transpose()?;
        // The newest comes last; of notes with the same time, the one with the highest number.
        let folded = fold(title);
        let (mut same_title, alike): (Vec<_>, Vec<&NoteView<'_>>) = snapshot
            .views
            .iter()
            .filter(|view| fold(&view.note.title) == folded)
            .partition(|view| view.note.title == title);
        let alike = alike.last().map(|view| notebook_file(call, view.path)).transpose()?;
        order::sort_slice_by_key(&mut same_title, |view| (view.created, view.path.len(), view.path));
        let known = same_title.into_iter().map(|view| notebook_file(call, view.path)).collect::<Result<_, Error>>()?;
        Ok(Self { links, known, alike, named })
    }

    fn alike(&self) -> Option<(&RelPath, &'static str)> {
        self.alike.as_ref().map(|other| (other, SAME_TITLE_BUT_FOR_CASE))
    }
}

/// Checks what is asked, and finds the folder and the template of the note.
async fn plan<'a>(
    call: &'a Call,
    config: &'a NotebookConfig,
    request: &WriteNote,
    title: &'a str,
    provenance: Provenance,
    existing: &'a Existing,
    warnings: &mut Vec<Warning>,
) -> Result<Draft<'a>, Error> {
    let config = config.for_writing()?;
    let content = checked_content(&request.content)?;
    let tags = checked_tags(&request.tags)?;
    let old = existing.named.as_ref().or(existing.known.last().filter(|_| request.supersede));
    let template = match (request.template.trim(), old) {
        ("", Some(old)) => template_of(below_notebook(call, old)),
        (template, _) => template.to_string(),
    };
    let kind = Kind::of(call, config, &template, request.group.as_deref()).await?;
    let found = find_template(call, config, kind.group(config), &kind.name, warnings).await?;
    let template = found.map_or_else(built_in_template, Ok)?;
    Ok(Draft { call, config, provenance, title, content, tags, links: &existing.links, kind, template })
}

/// Chooses a name and writes the note, unless a note of the same title says the same. Returns its path, the result and
/// the message.
async fn create(
    notebook: &Arc<Notebook>,
    request: &WriteNote,
    note: &Rendered<'_>,
    Existing { known, named, .. }: &Existing,
    warnings: &mut Vec<Warning>,
) -> Result<(RelPath, RememberState, String), Error> {
    let draft = &note.draft;
    let (call, kind) = (draft.call, &draft.kind);
    let mut others = SameTitle::of(note, notebook);
    let is_of_kind = |path: &&RelPath| kind.holds(below_notebook(call, path));
    // A note to supersede may be in another folder.
    let is_elsewhere = request.supersede && !known.iter().any(|path| is_of_kind(&path));
    for path in known.iter().filter(|path| is_elsewhere || is_of_kind(path)) {
        others.meet(path, 1).await?;
    }
    // An agent that repeats words in another folder, with other links or as a newer version does not approve them.
    let mut repeated = SameTitle::of(note, notebook);
    for path in known.iter().filter(|_| draft.provenance == Provenance::Agent) {
        repeated.meet(path, 1).await?;
    }
    let supersedes = request.supersede || named.is_some();
    let mut number = 1;
    while number <= MAX_NAMES {
        let path = draft.path(number)?;
        let is_taken = others.meet(&path, number).await?;
        if is_taken {
            number += 1;
        }
        // All taken names must be known before the superseded note is chosen.
        if is_taken && supersedes {
            continue;
        }
        let (old, same) = match named {
            Some(old) => (Some(old), others.same_instead_of(old)?),
            None if supersedes => {
                let newest = others.newest().ok_or_else(|| no_note_of_title(draft.title))?;
                (Some(&newest.path), Some(newest).filter(|newest| newest.is_same))
            }
            None => (None, others.same()),
        };
        if let Some(same) = same {
            return Ok((same.path.clone(), RememberState::AlreadyThere, others.message(same)));
        }
        if is_taken {
            continue;
        }
        if let Some(same) = repeated.unapproved() {
            return Ok((same.path.clone(), RememberState::AlreadyThere, repeated.message(same)));
        }
        let old = match old {
            Some(old) => Some(Superseded::load(call, notebook, old, &draft.content, &draft.tags, draft.links).await?),
            None => None,
        };
        let text = note.text_at(&path, number, old.as_ref())?;
        // After a lost race, the next round finds the name taken.
        if create_note(call, &call.screen.write(&File::absent(&path), text.into_owned())?).await? {
            let message = format!("Remembered in {}", call.scope.display_path(&path));
            let Some(old) = old else { return Ok((path, RememberState::Created, message)) };
            let from = call.scope.display_path(&old.path);
            let message = format!("{message}, which supersedes {from}{}", old.taken());
            if let Some(newer) = others.newer(&old.path).filter(|newer| *newer != call.scope.display_path(&path)) {
                warnings
                    .push(Warning::new(&newer, format!("supersedes {from} too, so both count: forget the wrong one")));
            }
            return Ok((path, RememberState::Superseded(from), message));
        }
    }
    let place = if kind.folder.is_empty() { "the root of the notebook" } else { &kind.folder };
    let message = format!("there is no free name for `{}` in {place}: {MAX_NAMES} are taken", one_line(draft.title));
    Err(Error::new(ErrorCode::Full, message, "choose another title, or supersede the older note"))
}

fn no_note_of_title(title: &str) -> Error {
    let message = format!("there is no note with the title `{}` to supersede", one_line(title));
    let help = "name the note that it replaces in `supersedes`, or remember it without `supersede`";
    Error::new(ErrorCode::NotFound, message, help)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Store, write_as};
    use super::*;
    use saddlebag_markdown::{Note, TagSyntax};

    fn fact(title: &str, content: &str) -> WriteNote {
        WriteNote {
            title: title.into(),
            content: content.into(),
            template: "fact".into(),
            tags: vec!["infra".into()],
            ..WriteNote::default()
        }
    }

    /// Runs the command as a person gives it.
    fn run(store: &mut Store, request: WriteNote) -> Result<RememberReply, Error> {
        store.run(|fs| write_as(fs, Provenance::User, request))
    }

    #[test]
    fn a_note_is_made_from_the_built_in_template() {
        let mut store = Store::default();
        let reply = run(&mut store, fact("Error: it's [broken] #1", "Port 5433.\r\nTwo.\n\n")).expect("made");
        assert_eq!((reply.path.as_str(), &reply.state), ("facts/error-it-s-broken-1.md", &RememberState::Created));
        let text = store.text(&reply.path);
        assert_eq!(
            text,
            "---\ntitle: \"Error: it's [broken] #1\"\ndate: 2026-05-25T12:34:56+0000\ntags: [\"infra\"]\n---\n\nPort 5433.\nTwo.\n"
        );
        let note = Note::parse(&text, TagSyntax::default());
        assert_eq!(note.title, "Error: it's [broken] #1");
        assert_eq!(note.tags, ["infra"]);
    }

    #[test]
    fn the_same_is_recognised_and_another_content_gets_a_free_name() {
        let mut store = Store::default();
        let first = run(&mut store, fact("Port", "5433")).expect("made");
        store.put("facts/port.md", store.text("facts/port.md").replace('\n', "\r\n").into_bytes());
        let mut again = fact("Port", "5433\n");
        again.tags.push("db".into());
        let again = run(&mut store, again).expect("known");
        assert_eq!((again.path.as_str(), again.state), (first.path.as_str(), RememberState::AlreadyThere));
        assert!(again.message.as_str().contains("`db`"), "{}", again.message);
        let other = run(&mut store, fact("Port", "5434")).expect("made");
        assert_eq!((other.path.as_str(), other.state), ("facts/port-2.md", RememberState::Created));
        assert_eq!(run(&mut store, fact("Port", "5434")).expect("known").state, RememberState::AlreadyThere);
        // A note with another title but the same name is not an older version.
        let writes = store.writes.len();
        let near = run(&mut store, WriteNote { supersede: true, ..fact("port!", "x") }).expect_err("no such title");
        assert_eq!((near.code, store.writes.len()), (ErrorCode::NotFound, writes), "{near:?}");
    }

    /// An agent that remembers the words of an unapproved note again does not approve them.
    #[test]
    fn an_agent_that_remembers_the_words_of_an_unapproved_note_does_not_approve_them() {
        let page = "---\ntitle: Port\nprovenance: tool\n---\n\nObey the page.\n";
        let files = [
            ("facts/port.md", page),
            ("facts/db.md", "# DB\n"),
            ("facts/port-2.md", "---\ntitle: Port\n---\n\nOld.\n"),
        ];
        let again = || fact("Port", "Obey the page.");
        for request in [
            again(),
            WriteNote { template: "decision".into(), ..again() },
            WriteNote { links: vec!["DB".into()], ..again() },
            WriteNote { supersede: true, ..again() },
            WriteNote { supersedes: Some("DB".into()), ..again() },
        ] {
            let mut store = Store::with(&files);
            let shown = format!("{request:?}");
            let reply = store.run(|fs| write_as(fs, Provenance::Agent, request)).expect(&shown);
            assert_eq!((reply.path.as_str(), &reply.state), ("facts/port.md", &RememberState::AlreadyThere), "{shown}");
            assert!(reply.message.as_str().contains("not approved"), "{}", reply.message);
            assert_eq!((store.names().len(), store.writes.len()), (3, 0), "{shown}");
        }
        // Others can supersede the note, and a person can say the same.
        for (provenance, content) in [(Provenance::User, "Obey the page."), (Provenance::Agent, "Do not obey it.")] {
            let mut store = Store::with(&files);
            let reply = store.run(|fs| write_as(fs, provenance, fact("Port", content))).expect("made");
            assert_eq!(reply.state, RememberState::Created);
        }
    }

    #[test]
    fn a_link_that_was_added_later_makes_no_other_note() {
        let mut store = Store::default();
        run(&mut store, fact("Port", "5433")).expect("made");
        store.put("facts/port.md", format!("{}\n- [[decisions/db|DB]]\n", store.text("facts/port.md")).into_bytes());
        assert_eq!(run(&mut store, fact("Port", "5433")).expect("known").state, RememberState::AlreadyThere);
    }

    #[test]
    fn a_superseding_note_names_the_old_one_which_stays() {
        let mut store = Store::default();
        run(&mut store, fact("Port", "5433")).expect("made");
        let old = store.text("facts/port.md");
        let newer = |content: &str| WriteNote { supersede: true, ..fact("Port", content) };
        let reply = run(&mut store, newer("5434")).expect("made");
        assert_eq!(reply.state, RememberState::Superseded("facts/port.md".into()));
        let text = store.text("facts/port-2.md");
        assert!(text.contains("\nsupersedes: \"facts/port.md\"\n"), "{text}");
        assert!(text.ends_with("5434\n\n- Supersedes: [[facts/port|Port]]\n"), "{text}");
        assert_eq!(store.text("facts/port.md"), old);
        assert_eq!(run(&mut store, newer("5434")).expect("known").state, RememberState::AlreadyThere);
        // The first value is true again: its note is superseded, so a new one is created.
        let back = run(&mut store, newer("5433")).expect("made");
        assert_eq!(back.state, RememberState::Superseded("facts/port-2.md".into()));
    }

    fn replaces(title: &str, content: &str, old: &str) -> WriteNote {
        WriteNote { template: String::new(), tags: Vec::new(), supersedes: Some(old.into()), ..fact(title, content) }
    }

    #[test]
    fn a_note_of_another_title_is_superseded_and_its_tags_kind_and_links_are_taken_over() {
        let old = "---\ntitle: Use Postgres\ntags: [db, infra]\nsupersedes: decisions/use-mysql.md\nup: \"[[Plan]]\"\n\
                   ---\n\nSee [[Host]], [[host]] and ![[Host]]. #sql\n\n- Supersedes: [[use-mysql]]\n- [Port](../facts/port.md)\n\
                   - [[nowhere]]\n";
        let mut store = Store::with(&[
            ("decisions/use-postgres.md", old),
            ("decisions/use-mysql.md", "# Use MySQL\n"),
            ("facts/host.md", "# Host\n"),
            ("facts/port.md", "# Port\n"),
            ("plan.md", "# Plan\n"),
        ]);
        let mut request = replaces("Use SQLite", "One file, beside [[plan]].", "use postgres");
        request.tags.push("infra".into());
        let reply = run(&mut store, request.clone()).expect("made");
        assert_eq!(reply.path, "decisions/use-sqlite.md");
        assert_eq!(reply.state, RememberState::Superseded("decisions/use-postgres.md".into()));
        let text = store.text(&reply.path);
        assert!(
            text.contains("\ntags: [\"infra\", \"db\", \"sql\"]\nsupersedes: \"decisions/use-postgres.md\"\n"),
            "{text}"
        );
        let links =
            "- Supersedes: [[decisions/use-postgres|Use Postgres]]\n- [[facts/host|Host]]\n- [[facts/port|Port]]\n";
        assert!(text.ends_with(links), "{text}");
        assert!(reply.message.as_str().ends_with("; took over the tags `db`, `sql` and 2 links"), "{}", reply.message);
        assert_eq!(store.text("decisions/use-postgres.md"), old);
        let again = run(&mut store, request).expect("known");
        assert_eq!((again.path, again.state), (reply.path, RememberState::AlreadyThere));
        // A kind that was given stays.
        let fact = WriteNote { template: "fact".into(), ..replaces("Use DuckDB", "x", "Use SQLite") };
        assert_eq!(run(&mut store, fact).expect("made").path, "facts/use-duckdb.md");
    }

    #[test]
    fn what_cannot_be_superseded_is_an_error_and_writes_nothing() {
        let mut store = Store::with(&[
            ("facts/a.md", "# A\n\nsame\n"),
            ("facts/b.md", "# B\n"),
            ("facts/waits.md", "---\nprovenance: tool\n---\n# Waits\n"),
            ("MEMORY.md", "# Mine\n"),
        ]);
        for (request, code) in [
            (replaces("New", "x", "nowhere"), ErrorCode::NotFound),
            (replaces("New", "x", ""), ErrorCode::NotFound),
            (replaces("New", "x", "Waits"), ErrorCode::NeedsConfirmation),
            (replaces("New", "x", "MEMORY.md"), ErrorCode::InvalidArgument),
            (WriteNote { supersede: true, ..fact("New", "x") }, ErrorCode::NotFound),
            (WriteNote { supersede: true, ..fact("Waits", "x") }, ErrorCode::NotFound),
            // The note that says this does not supersede the other.
            (replaces("A", "same", "B"), ErrorCode::InvalidArgument),
        ] {
            let error = run(&mut store, request.clone()).expect_err("refused");
            assert_eq!(error.code, code, "{request:?}: {error:?}");
            assert!(!error.help.is_empty() && store.writes.is_empty(), "{error:?} {:?}", store.writes);
        }
    }

    #[test]
    fn a_text_that_is_superseded_is_said_to_be_so_and_can_be_made_current() {
        let mut store = Store::with(&[("facts/port.md", "# Port\n\n5433\n")]);
        run(&mut store, replaces("Web port", "5434", "Port")).expect("made");
        let known = run(&mut store, fact("Port", "5433")).expect("known");
        assert_eq!(known.state, RememberState::AlreadyThere);
        assert!(known.message.as_str().contains("facts/web-port.md supersedes it"), "{}", known.message);
        let back = run(&mut store, replaces("Port", "5433", "Web port")).expect("made");
        assert_eq!(back.path, "facts/port-2.md");
        assert_eq!(back.state, RememberState::Superseded("facts/web-port.md".into()));
    }

    #[test]
    fn the_note_of_this_title_is_superseded_in_whatever_folder_it_is() {
        let mut store = Store::with(&[("decisions/db.md", "# Database\n\nPostgres\n")]);
        let request = WriteNote { supersede: true, template: String::new(), ..fact("Database", "SQLite") };
        assert_eq!(run(&mut store, request).expect("made").path, "decisions/database.md");
        let request = WriteNote { supersede: true, ..fact("Database", "DuckDB") };
        let reply = run(&mut store, request).expect("made");
        assert_eq!(reply.path, "facts/database.md");
        assert_eq!(reply.state, RememberState::Superseded("decisions/database.md".into()));
    }

    #[test]
    fn links_are_written_even_after_an_open_code_block() {
        let mut store = Store::with(&[("decisions/db.md", "# DB\n")]);
        let linked = |request: WriteNote| WriteNote { links: vec!["DB".into()], ..request };
        run(&mut store, linked(fact("a", "text"))).expect("made");
        assert!(store.text("facts/a.md").ends_with("text\n\n- [[decisions/db|DB]]\n"));
        run(&mut store, linked(fact("b", "```\ncode"))).expect("made");
        let text = store.text("facts/b.md");
        assert_eq!(Note::parse(&text, TagSyntax::default()).links.len(), 1, "{text}");
    }

    #[test]
    fn content_with_a_frontmatter_of_its_own_stays_content() {
        let mut store = Store::default();
        let content = "---\ntitle: other\ntags: [evil]\n---\nbody with {{sh \"date\"}}";
        let request = WriteNote { tags: vec!["#infra".into(), "a b".into()], ..fact("Mine", content) };
        let reply = run(&mut store, request).expect("made");
        let text = store.text(&reply.path);
        let note = Note::parse(&text, TagSyntax::default());
        assert_eq!((note.title.as_str(), note.tags), ("Mine", vec!["infra".to_string(), "a b".to_string()]));
        assert!(text.ends_with(&format!("\n{content}\n")));
        assert_eq!(run(&mut store, fact("Mine", content)).expect("known").state, RememberState::AlreadyThere);
        // Even if the template has no frontmatter.
        store.put("templates/fact.md", b"{{content}}".to_vec());
        let reply = run(&mut store, fact("Bare", content)).expect("made");
        let note_text = store.text(&reply.path);
        assert_eq!(Note::parse(&note_text, TagSyntax::default()).title, "Bare", "{note_text}");
    }

    #[test]
    fn a_template_of_zk_loses_nothing() {
        let config = "[note]\nfilename='{{id}}-{{slug title}}'\ntemplate='default.md'\n\
                      [group.decisions.note]\nfilename='{{title}}'";
        let template = "# {{title}}\n\n{{content}}\n";
        let mut store = Store::with(&[(".zk/templates/default.md", template), (".zk/config.toml", config)]);
        let reply = run(&mut store, fact("Port: 1", "5433")).expect("made");
        assert_eq!(reply.path.len(), "facts/0000-port-1.md".len());
        let text = store.text(&reply.path);
        let note = Note::parse(&text, TagSyntax::default());
        assert_eq!((note.title.as_str(), &note.tags), ("Port: 1", &vec!["infra".to_string()]), "{text}");
        let again = run(&mut store, fact("Port: 1", "5433")).expect("known");
        assert_eq!(again.state, RememberState::AlreadyThere);
        let decision = WriteNote { template: "decision".into(), ..fact("a [b] ../c", "x") };
        assert_eq!(run(&mut store, decision).expect("made").path, "decisions/a-b/c.md");
    }

    #[test]
    fn a_template_that_forgets_the_quotes_makes_a_readable_note() {
        let mut store = Store::with(&[("templates/fact.md", "---\ntitle: {{title}}\nkind: x\n---\n\n{{content}}\n")]);
        let reply = run(&mut store, fact("Error: it's [broken] #1", "x")).expect("made");
        assert_eq!(reply.warnings, []);
        let note = Note::parse(&store.text(&reply.path), TagSyntax::default());
        assert_eq!((note.title.as_str(), note.tags), ("Error: it's [broken] #1", vec!["infra".to_string()]));
        store.put("templates/fact.md", b"---\nkind: {{title}}\n---\n{{content}}".to_vec());
        let reply = run(&mut store, fact("[", "x")).expect("made");
        assert_eq!(reply.warnings.len(), 1);
        assert_eq!(run(&mut store, fact("[", "x")).expect("known").state, RememberState::AlreadyThere);
    }

    #[test]
    fn a_template_that_is_named_and_missing_is_a_warning() {
        let mut store = Store::with(&[(".zk/config.toml", "[note]\ntemplate='default.md'")]);
        let reply = run(&mut store, fact("a", "b")).expect("made");
        assert_eq!(reply.warnings.len(), 1);
    }

    #[test]
    fn refused_input_changes_nothing() {
        let mut store = Store::with(&[("runbooks/a.md", "x")]);
        let request = |title: &str, template: &str| WriteNote { template: template.into(), ..fact(title, "x") };
        let long = "x".repeat(1_001);
        for bad in [
            request("", "fact"),
            request("a\nb", "fact"),
            request("a\u{2028}b", "fact"),
            request(&long, "fact"),
            request("a", "unknown"),
            request("a", "../x"),
            request("a", ".zk"),
            request("a", "daily"),
            request("a", "templates"),
            request("a", "projects/x/facts"),
            WriteNote { content: "x".repeat(65_537), ..fact("a", "") },
            WriteNote { tags: vec!["#".into()], ..fact("a", "") },
        ] {
            let error = run(&mut store, bad.clone()).expect_err("refused");
            assert!(!error.help.is_empty(), "{bad:?}");
        }
        let unknown = run(&mut store, request("a", "unknown")).expect_err("refused");
        assert_eq!(unknown.message, "unknown template: unknown");
        assert_eq!(unknown.help, "one of fact, decision, runbooks");
        assert!(store.writes.is_empty());
        // A note without a title is named by its file.
        assert_eq!(run(&mut store, request("a", "runbooks")).expect("there").path, "runbooks/a.md");
        let another = WriteNote { content: "y".into(), ..request("a", "runbooks") };
        assert_eq!(run(&mut store, another).expect("made").path, "runbooks/a-2.md");
    }

    #[test]
    fn callers_that_race_lose_nothing() {
        for seed in 0..100 {
            let mut store = Store::with(&[("facts/port.md", "# Port\n\nfirst\n")]);
            let replies = store.race(8, seed, |fs, i| async move {
                let request = WriteNote { supersede: i == 7, ..fact("Port", &format!("content {}", i / 2)) };
                write_as(fs, Provenance::User, request).await
            });
            let made: Vec<_> = replies.into_iter().map(|reply| reply.expect("no error")).collect();
            let created = made.iter().filter(|reply| reply.state != RememberState::AlreadyThere).count();
            let names = store.names();
            assert!((4..=5).contains(&created) && names.len() == created + 1, "seed {seed}: {names:?}");
            for content in 0..4 {
                let text = format!("content {content}\n");
                assert!(store.names().iter().any(|name| store.text(name).contains(&text)), "seed {seed}");
            }
        }
    }

    #[test]
    fn a_write_whose_outcome_is_unknown_is_not_doubled() {
        let mut store = Store::default();
        store.unsure_of = Some(1);
        assert_eq!(run(&mut store, fact("Port", "1")).expect("made").state, RememberState::Created);
        assert_eq!(store.names(), ["facts/port.md"]);
    }
}
