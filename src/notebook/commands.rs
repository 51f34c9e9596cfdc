//! The commands of the notebook.

use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::attachments::Attachments;
use super::recall::recall;
use super::run::{Notebook, catch_up, look, look_as, read_texts, read_texts_as, warnings};
use super::snapshot::Snapshot;
use super::{
    DeadLink, ErrorReply, ForgetReply, GraphReply, InitReply, JournalEntryReply, LinkReply, ListNotesReply,
    MemoryContextReply, Mention, NoteFilter, RecallReply, RelatedNote, RememberReply, RenameReply, SortKey, TagCount,
    TodayReply, change, init, queries, session,
};
use crate::catalogue::SAMPLE_TEXT;
use crate::engine::{Call, Scope};
use crate::journal::RestoreReply;
use crate::protocol::{Error, ErrorCode};
use crate::request::{Effect, Request, Run};
use crate::trust::Provenance;

/// The parts of a memory that the commands of the notebook share.
pub(crate) struct NotebookCall<'a> {
    pub(crate) call: &'a Call,
    pub(crate) notebook: &'a Arc<Notebook>,
}

/// The notes that are linked with a note.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RelatedReply {
    /// The nearest first.
    pub notes: Vec<RelatedNote>,
}

/// The tags of a notebook.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TagsReply {
    /// By name.
    pub tags: Vec<TagCount>,
}

/// The links that lead nowhere.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeadLinksReply {
    /// By the path of the note that has the link, and its line.
    pub links: Vec<DeadLink>,
}

/// The notes that name a note without linking to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnlinkedMentionsReply {
    /// By path.
    pub notes: Vec<Mention>,
}

/// The number of memories that there are for a prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoriesReply {
    /// The number of memories.
    pub memories: u32,
}

/// Makes the folders, the configuration and the templates that are missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Init;

impl Request for Init {
    type Reply = InitReply;
    const NAME: &'static str = "init";
    const EFFECT: Effect = Effect::Appends;

    fn samples(_: &str) -> Vec<Self> {
        alloc::vec![Self]
    }
}

impl Run<NotebookCall<'_>> for Init {
    async fn run(self, with: &NotebookCall<'_>) -> Result<InitReply, Error> {
        init::init(with.call).await
    }
}

/// Keeps a fact, a decision or another note. It never writes over one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remember {
    /// One line; any text.
    pub title: String,
    /// Markdown.
    pub content: String,
    /// `fact`, `decision`, the name of a folder of the notebook, or `.` for its root.
    pub template: String,
    /// The group of the configuration whose file name, template and variables the note gets; `None` for the
    /// group of its folder.
    pub group: Option<String>,
    /// Tags, with or without `#`.
    pub tags: Vec<String>,
    /// Notes to link to.
    pub links: Vec<String>,
    /// Instead of a second note beside one of the same title: a new one that supersedes it.
    pub supersede: bool,
    /// Where the text comes from; `None` for that of the configuration, than which it can only be trusted less.
    pub provenance: Option<Provenance>,
}

impl Request for Remember {
    type Reply = RememberReply;
    const NAME: &'static str = "remember";
    const EFFECT: Effect = Effect::Appends;

    fn samples(name: &str) -> Vec<Self> {
        let fact = Self {
            title: "A title".into(),
            content: format!("about {name}"),
            template: "fact".into(),
            ..Self::default()
        };
        let linked =
            Self { title: format!("about {name}"), links: alloc::vec![name.into()], supersede: true, ..fact.clone() };
        alloc::vec![fact, linked]
    }
}

impl Run<NotebookCall<'_>> for Remember {
    async fn run(self, with: &NotebookCall<'_>) -> Result<RememberReply, Error> {
        let call = with.call;
        let request = screened(call, self)?;
        change::settle(call, with.notebook).await;
        let mut reply = change::remember(call, with.notebook, &request).await?;
        call.screen.tell(&mut reply.message);
        Ok(reply)
    }
}

/// Finds notes by a question or a query, best first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recall {
    /// A sentence, or a query: `"a phrase"`, `prefix*`, `-not`, `this | that`, `title:word`.
    pub query: String,
    /// How many hits at most.
    pub limit: u32,
    /// How many hits to pass over.
    pub offset: u32,
    /// What the notes must be.
    pub filter: NoteFilter,
    /// The keys to sort by instead of the score, the most important first.
    pub sort: Vec<SortKey>,
    /// Show the parts of each score.
    pub explain: bool,
    /// The host vouches that nothing changed since the last command.
    pub vouched_unchanged: bool,
}

impl Request for Recall {
    type Reply = RecallReply;
    const NAME: &'static str = "recall";
    const EFFECT: Effect = Effect::Reads;

    fn samples(name: &str) -> Vec<Self> {
        let recall = |query: &str| Self {
            query: query.into(),
            limit: 3,
            offset: 0,
            filter: NoteFilter::default(),
            sort: Vec::new(),
            explain: true,
            vouched_unchanged: true,
        };
        alloc::vec![recall(SAMPLE_TEXT), recall(name)]
    }
}

impl Run<NotebookCall<'_>> for Recall {
    async fn run(self, with: &NotebookCall<'_>) -> Result<RecallReply, Error> {
        recall(with.call, with.notebook, &Self { filter: self.filter.below_notebook(&with.call.scope), ..self }).await
    }
}

/// Adds one line with the time of day to today's note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Journal {
    /// The line.
    pub entry: String,
}

impl Request for Journal {
    type Reply = JournalEntryReply;
    const NAME: &'static str = "journal";
    const EFFECT: Effect = Effect::Appends;

    fn samples(name: &str) -> Vec<Self> {
        alloc::vec![Self { entry: format!("about {name}") }]
    }
}

impl Run<NotebookCall<'_>> for Journal {
    async fn run(self, with: &NotebookCall<'_>) -> Result<JournalEntryReply, Error> {
        let call = with.call;
        call.screen.needs_trust("the log of a day")?;
        let entry = call.screen.text("entry", self.entry)?;
        change::settle(call, with.notebook).await;
        let mut reply = change::journal(call, &entry).await?;
        call.screen.tell(&mut reply.message);
        Ok(reply)
    }
}

/// Gives today's note, and makes it from its template first if it is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Today;

impl Request for Today {
    type Reply = TodayReply;
    const NAME: &'static str = "today";
    const EFFECT: Effect = Effect::Appends;

    fn samples(_: &str) -> Vec<Self> {
        alloc::vec![Self]
    }
}

impl Run<NotebookCall<'_>> for Today {
    async fn run(self, with: &NotebookCall<'_>) -> Result<TodayReply, Error> {
        change::settle(with.call, with.notebook).await;
        change::today(with.call).await
    }
}

/// Lists notes by filters alone, as `zk list` selects them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListNotes {
    /// What the notes must be.
    pub filter: NoteFilter,
    /// The keys to sort by, the most important first; the title where there is none.
    pub sort: Vec<SortKey>,
    /// How many at most; `None` for all.
    pub limit: Option<u32>,
    /// Resolve links by substring, as zk does.
    pub zk_links: bool,
    /// Give the text of each note too.
    pub with_text: bool,
}

impl Request for ListNotes {
    type Reply = ListNotesReply;
    const NAME: &'static str = "list-notes";
    const EFFECT: Effect = Effect::Reads;

    fn samples(name: &str) -> Vec<Self> {
        let near = NoteFilter { related: alloc::vec![name.into()], ..NoteFilter::default() };
        let under = NoteFilter { paths: alloc::vec![name.into()], ..NoteFilter::default() };
        let list = |filter| Self { filter, with_text: true, ..Self::default() };
        [NoteFilter::default(), under, near].map(list).to_vec()
    }
}

impl Run<NotebookCall<'_>> for ListNotes {
    async fn run(self, with: &NotebookCall<'_>) -> Result<ListNotesReply, Error> {
        let (call, notebook) = (with.call, with.notebook);
        let request = self.below_notebook(&call.scope);
        let config = catch_up(call, notebook).await?;
        let ids = |snapshot: &Snapshot<'_>| {
            if request.with_text || queries::needs_text(&request.filter) {
                return Ok(snapshot.ids.clone());
            }
            queries::selected(call, snapshot, &request)
        };
        read_texts_as(call, notebook, request.zk_links, ids).await?;
        let answer = |snapshot: &Snapshot<'_>| queries::list(call, snapshot, &config, &request);
        let mut reply = look_as(notebook, call, request.zk_links, answer)?;
        reply.warnings = warnings(call, notebook);
        reply.skipped = notebook.corpus.borrow().skipped(|path| call.scope.shown(path));
        Ok(reply)
    }
}

/// Gives the notes that are linked with a note: links both ways first, then notes that share a linked note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Related {
    /// The note: its path, name, title or alias.
    pub note: String,
    /// The most notes to give.
    pub limit: u32,
}

impl Request for Related {
    type Reply = RelatedReply;
    const NAME: &'static str = "related";
    const EFFECT: Effect = Effect::Reads;

    fn samples(name: &str) -> Vec<Self> {
        alloc::vec![Self { note: name.into(), limit: 3 }]
    }
}

impl Run<NotebookCall<'_>> for Related {
    async fn run(self, with: &NotebookCall<'_>) -> Result<RelatedReply, Error> {
        catch_up(with.call, with.notebook).await?;
        let limit = self.limit as usize;
        let related = |snapshot: &Snapshot<'_>| queries::related_notes(with.call, snapshot, &self.note, limit);
        Ok(RelatedReply { notes: look(with.notebook, with.call, related)? })
    }
}

/// Writes a link to a note at the end of another, unless it is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The note that gets the link.
    pub from: String,
    /// The note that it goes to.
    pub to: String,
    /// The text that the link shows; the title of the target where there is none.
    pub text: Option<String>,
}

impl Request for Link {
    type Reply = LinkReply;
    const NAME: &'static str = "link";
    const EFFECT: Effect = Effect::Appends;

    fn samples(name: &str) -> Vec<Self> {
        let link = |from: &str, to: &str| Self { from: from.into(), to: to.into(), text: None };
        alloc::vec![link(name, "b"), link("b", name)]
    }
}

impl Run<NotebookCall<'_>> for Link {
    async fn run(self, with: &NotebookCall<'_>) -> Result<LinkReply, Error> {
        let call = with.call;
        call.screen.needs_trust("a note that is there")?;
        self.text.iter().try_for_each(|text| call.screen.name("text", text))?;
        change::settle(call, with.notebook).await;
        change::link(call, with.notebook, &self.from, &self.to, self.text.as_deref()).await
    }
}

/// Gives a note another title and name, and rewrites every link to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rename {
    /// The note.
    pub note: String,
    /// Its new title.
    pub title: String,
}

impl Request for Rename {
    type Reply = RenameReply;
    const NAME: &'static str = "rename";
    const EFFECT: Effect = Effect::Removes;

    fn samples(name: &str) -> Vec<Self> {
        alloc::vec![Self { note: name.into(), title: format!("{name} renamed") }]
    }
}

impl Run<NotebookCall<'_>> for Rename {
    async fn run(self, with: &NotebookCall<'_>) -> Result<RenameReply, Error> {
        let call = with.call;
        call.screen.needs_trust("the name of a note")?;
        call.screen.name("title", &self.title)?;
        change::rename(call, with.notebook, &self.note, &self.title).await
    }
}

/// Removes a note; its text is kept as a backup beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forget {
    /// The note.
    pub note: String,
}

impl Request for Forget {
    type Reply = ForgetReply;
    const NAME: &'static str = "forget";
    const EFFECT: Effect = Effect::Removes;

    fn samples(name: &str) -> Vec<Self> {
        alloc::vec![Self { note: name.into() }]
    }
}

impl Run<NotebookCall<'_>> for Forget {
    async fn run(self, with: &NotebookCall<'_>) -> Result<ForgetReply, Error> {
        change::settle(with.call, with.notebook).await;
        change::forget(with.call, with.notebook, &self.note).await
    }
}

/// Puts the backup of a note back, such as that of a note that was forgotten. What it replaces becomes the
/// backup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestoreNote {
    /// The path that the note has or had.
    pub note: String,
}

impl Request for RestoreNote {
    type Reply = RestoreReply;
    const NAME: &'static str = "restore-note";
    const EFFECT: Effect = Effect::Replaces;

    fn samples(name: &str) -> Vec<Self> {
        [format!("notes/{name}.md"), name.into()].map(|note| Self { note }).to_vec()
    }
}

impl Run<NotebookCall<'_>> for RestoreNote {
    async fn run(self, with: &NotebookCall<'_>) -> Result<RestoreReply, Error> {
        change::settle(with.call, with.notebook).await;
        change::restore(with.call, &self.note).await
    }
}

/// Counts the notes of every tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tags;

impl Request for Tags {
    type Reply = TagsReply;
    const NAME: &'static str = "tags";
    const EFFECT: Effect = Effect::Reads;

    fn samples(_: &str) -> Vec<Self> {
        alloc::vec![Self]
    }
}

impl Run<NotebookCall<'_>> for Tags {
    async fn run(self, with: &NotebookCall<'_>) -> Result<TagsReply, Error> {
        catch_up(with.call, with.notebook).await?;
        Ok(TagsReply { tags: look(with.notebook, with.call, |snapshot| Ok(queries::tags(snapshot)))? })
    }
}

/// Gives notes and the links between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    /// The notes.
    pub notes: ListNotes,
}

impl Request for Graph {
    type Reply = GraphReply;
    const NAME: &'static str = "graph";
    const EFFECT: Effect = Effect::Reads;

    fn samples(name: &str) -> Vec<Self> {
        ListNotes::samples(name).into_iter().map(|notes| Self { notes }).collect()
    }
}

impl Run<NotebookCall<'_>> for Graph {
    async fn run(self, with: &NotebookCall<'_>) -> Result<GraphReply, Error> {
        let (call, notebook) = (with.call, with.notebook);
        let request = self.notes.below_notebook(&call.scope);
        let config = catch_up(call, notebook).await?;
        read_texts(call, notebook, |snapshot| Ok(snapshot.ids.clone())).await?;
        let answer = |snapshot: &Snapshot<'_>| queries::graph(call, snapshot, &config, &request);
        look_as(notebook, call, request.zk_links, answer)
    }
}

/// Lists the notes that no other note links to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Orphans;

impl Request for Orphans {
    type Reply = ListNotesReply;
    const NAME: &'static str = "orphans";
    const EFFECT: Effect = Effect::Reads;

    fn samples(_: &str) -> Vec<Self> {
        alloc::vec![Self]
    }
}

impl Run<NotebookCall<'_>> for Orphans {
    async fn run(self, with: &NotebookCall<'_>) -> Result<ListNotesReply, Error> {
        let (call, notebook) = (with.call, with.notebook);
        let config = catch_up(call, notebook).await?;
        read_texts(call, notebook, |snapshot| Ok(queries::orphan_ids(snapshot))).await?;
        let notes = look(notebook, call, |snapshot| Ok(queries::orphans(call, snapshot, &config)))?;
        let skipped = notebook.corpus.borrow().skipped(|path| call.scope.shown(path));
        Ok(ListNotesReply { notes, warnings: warnings(call, notebook), skipped })
    }
}

/// Lists the links that lead nowhere, or to more than one note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadLinks;

impl Request for DeadLinks {
    type Reply = DeadLinksReply;
    const NAME: &'static str = "dead-links";
    const EFFECT: Effect = Effect::Reads;

    fn samples(_: &str) -> Vec<Self> {
        alloc::vec![Self]
    }
}

impl Run<NotebookCall<'_>> for DeadLinks {
    async fn run(self, with: &NotebookCall<'_>) -> Result<DeadLinksReply, Error> {
        let (call, notebook) = (with.call, with.notebook);
        catch_up(call, notebook).await?;
        let attachments = if look(notebook, call, |snapshot| Ok(queries::leads_astray(snapshot)))? {
            Attachments::list(call).await?
        } else {
            Attachments::default()
        };
        read_texts(call, notebook, |snapshot| Ok(queries::with_dead_links(snapshot, &attachments))).await?;
        let links = look(notebook, call, |snapshot| Ok(queries::dead(call, snapshot, &attachments)))?;
        Ok(DeadLinksReply { links })
    }
}

/// Lists the notes that name a note's title or an alias without linking to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnlinkedMentions {
    /// The note.
    pub note: String,
}

impl Request for UnlinkedMentions {
    type Reply = UnlinkedMentionsReply;
    const NAME: &'static str = "unlinked-mentions";
    const EFFECT: Effect = Effect::Reads;

    fn samples(name: &str) -> Vec<Self> {
        alloc::vec![Self { note: name.into() }]
    }
}

impl Run<NotebookCall<'_>> for UnlinkedMentions {
    async fn run(self, with: &NotebookCall<'_>) -> Result<UnlinkedMentionsReply, Error> {
        catch_up(with.call, with.notebook).await?;
        read_texts(with.call, with.notebook, |snapshot| Ok(snapshot.ids.clone())).await?;
        let mentions = |snapshot: &Snapshot<'_>| queries::mentions(with.call, snapshot, &self.note);
        Ok(UnlinkedMentionsReply { notes: look(with.notebook, with.call, mentions)? })
    }
}

/// Takes the newest facts into the session, as its first memories.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadMemories {
    /// The most facts to take.
    pub limit: u32,
}

impl Request for LoadMemories {
    type Reply = MemoriesReply;
    const NAME: &'static str = "load-memories";
    const EFFECT: Effect = Effect::Reads;

    fn samples(_: &str) -> Vec<Self> {
        alloc::vec![Self { limit: 3 }]
    }
}

impl Run<NotebookCall<'_>> for LoadMemories {
    async fn run(self, with: &NotebookCall<'_>) -> Result<MemoriesReply, Error> {
        Ok(MemoriesReply { memories: session::load(with.call, with.notebook, self.limit).await? })
    }
}

/// Recalls for one turn of a conversation: what is found is shown in this turn's prompt alone, however late it is found.
/// Of several for one turn, the one that was asked last counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecallForTurn {
    /// The turn; they grow.
    pub turn: u64,
    /// The text that was said in it.
    pub query: String,
    /// The most memories to take.
    pub limit: u32,
}

impl Request for RecallForTurn {
    type Reply = MemoriesReply;
    const NAME: &'static str = "recall-for-turn";
    const EFFECT: Effect = Effect::Reads;

    fn samples(name: &str) -> Vec<Self> {
        [SAMPLE_TEXT, name].map(|query| Self { turn: 1, query: query.into(), limit: 3 }).to_vec()
    }
}

impl Run<NotebookCall<'_>> for RecallForTurn {
    async fn run(self, with: &NotebookCall<'_>) -> Result<MemoriesReply, Error> {
        let Self { turn, query, limit } = self;
        Ok(MemoriesReply { memories: session::recall_for_turn(with.call, with.notebook, turn, query, limit).await? })
    }
}

/// Gives the memories of the session and of one turn, as a section of its prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryContext {
    /// The turn.
    pub turn: u64,
    /// The most bytes that the section may have.
    pub max_bytes: u32,
}

impl Request for MemoryContext {
    type Reply = MemoryContextReply;
    const NAME: &'static str = "memory-context";
    const EFFECT: Effect = Effect::Reads;

    fn samples(_: &str) -> Vec<Self> {
        alloc::vec![Self { turn: 1, max_bytes: 4000 }]
    }
}

impl Run<NotebookCall<'_>> for MemoryContext {
    async fn run(self, with: &NotebookCall<'_>) -> Result<MemoryContextReply, Error> {
        Ok(with.notebook.session.borrow().section(self.turn, self.max_bytes as usize))
    }
}

/// Keeps an error of a tool as a fact; the same error is counted, not repeated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RememberError {
    /// The tool.
    pub tool: String,
    /// The text of the error.
    pub error: String,
}

impl Request for RememberError {
    type Reply = ErrorReply;
    const NAME: &'static str = "remember-error";
    const EFFECT: Effect = Effect::Replaces;

    fn samples(name: &str) -> Vec<Self> {
        alloc::vec![Self { tool: name.into(), error: "it failed".into() }]
    }
}

impl Run<NotebookCall<'_>> for RememberError {
    async fn run(self, with: &NotebookCall<'_>) -> Result<ErrorReply, Error> {
        let call = with.call;
        call.screen.name("tool", &self.tool)?;
        let error = call.screen.without_secrets("error", self.error)?;
        change::settle(call, with.notebook).await;
        let mut reply = change::remember_error(call, &self.tool, &error).await?;
        call.screen.tell(&mut reply.message);
        Ok(reply)
    }
}

/// Keeps the summary of a tool's output as a fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RememberSummary {
    /// The tool.
    pub tool: String,
    /// The summary.
    pub summary: String,
}

impl Request for RememberSummary {
    type Reply = RememberReply;
    const NAME: &'static str = "remember-summary";
    const EFFECT: Effect = Effect::Appends;

    fn samples(name: &str) -> Vec<Self> {
        alloc::vec![Self { tool: name.into(), summary: "it worked".into() }]
    }
}

impl Run<NotebookCall<'_>> for RememberSummary {
    async fn run(self, with: &NotebookCall<'_>) -> Result<RememberReply, Error> {
        let call = with.call;
        call.screen.name("tool", &self.tool)?;
        let summary = call.screen.summary("summary", self.summary)?;
        change::settle(call, with.notebook).await;
        let mut reply = change::remember_summary(call, with.notebook, &self.tool, &summary).await?;
        call.screen.tell(&mut reply.message);
        Ok(reply)
    }
}

/// The request as the policy lets it be stored.
fn screened(call: &Call, mut request: Remember) -> Result<Remember, Error> {
    let screen = &call.screen;
    let provenance = call.scope.trust.provenance_of(request.provenance)?;
    if request.supersede && !provenance.is_trusted() {
        let message = format!("text of `{provenance}` cannot supersede a note");
        let help = "keep it beside the note, and supersede that once it is approved; nothing was written";
        return Err(Error::new(ErrorCode::NotPermitted, message, help));
    }
    screen.name("title", &request.title)?;
    request.tags.iter().try_for_each(|tag| screen.name("tag", tag))?;
    request.content = screen.text("content", request.content)?;
    request.provenance = Some(provenance);
    Ok(request)
}

impl ListNotes {
    fn below_notebook(self, scope: &Scope) -> Self {
        Self { filter: self.filter.below_notebook(scope), ..self }
    }
}

impl NoteFilter {
    /// The filter with its paths below the notebook: replies show them with more before them.
    fn below_notebook(mut self, scope: &Scope) -> Self {
        let lists = [
            &mut self.paths,
            &mut self.exclude,
            &mut self.linked_by,
            &mut self.link_to,
            &mut self.no_linked_by,
            &mut self.no_link_to,
            &mut self.related,
            &mut self.mention,
            &mut self.mentioned_by,
        ];
        for path in lists.into_iter().flatten() {
            if let Some(below) = scope.below_notebook(path) {
                *path = below.into();
            }
        }
        self
    }
}
