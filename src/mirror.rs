//! Conversions between the types of this crate and those that a bindings generator makes of `wit/`.
//!
//! Guest and host both have generated types of the same shape. `mirror_contract!` is the one list of
//! what corresponds to what; each side expands it over its own bindings, so a type that the
//! contract changes does not compile until it is changed here, and a test sends every case over it.

use alloc::string::String;
use alloc::vec::Vec;

use crate::protocol::{CommandId, ContextKey, Version};
use crate::store::{PathError, RelPath};
use crate::trust::ForModel;

/// A conversion across the contract. It fails only for a path that is none.
pub trait Mirror<T> {
    /// Converts.
    ///
    /// # Errors
    ///
    /// A path that the other side should not have given.
    fn mirror(self) -> Result<T, PathError>;
}

impl<A: Mirror<B>, B> Mirror<Vec<B>> for Vec<A> {
    fn mirror(self) -> Result<Vec<B>, PathError> {
        self.into_iter().map(Mirror::mirror).collect()
    }
}

impl<A: Mirror<B>, B> Mirror<Option<B>> for Option<A> {
    fn mirror(self) -> Result<Option<B>, PathError> {
        self.map(Mirror::mirror).transpose()
    }
}

impl<A: Mirror<B>, B, E: Mirror<F>, F> Mirror<Result<B, F>> for Result<A, E> {
    fn mirror(self) -> Result<Result<B, F>, PathError> {
        match self {
            Ok(value) => value.mirror().map(Ok),
            Err(error) => error.mirror().map(Err),
        }
    }
}

macro_rules! same {
    ($($type:ty),*) => {
        $(impl Mirror<$type> for $type {
            fn mirror(self) -> Result<$type, PathError> {
                Ok(self)
            }
        })*
    };
}

// Bytes go over as they are, not one by one.
same!(bool, u32, u64, i32, i64, f64, String, Vec<u8>);

macro_rules! text {
    ($($type:ty: $make:expr, $take:expr;)*) => {
        $(impl Mirror<$type> for String {
            fn mirror(self) -> Result<$type, PathError> {
                $make(self)
            }
        }
        impl Mirror<String> for $type {
            fn mirror(self) -> Result<String, PathError> {
                Ok($take(self))
            }
        })*
    };
}

text! {
    RelPath: RelPath::parse, |path: RelPath| path.into_string();
    Version: |text| Ok(Version(text)), |version: Version| version.0;
    ForModel: |text| Ok(ForModel::from_contract(text)), |text: ForModel| text.into_string();
    ContextKey: |text: String| Ok(ContextKey::from(text)), |key: ContextKey| key.into_string();
}

impl Mirror<CommandId> for u64 {
    fn mirror(self) -> Result<CommandId, PathError> {
        Ok(CommandId(self))
    }
}

impl Mirror<u64> for CommandId {
    fn mirror(self) -> Result<u64, PathError> {
        Ok(self.0)
    }
}

/// Implements [`Mirror`] both ways for records with the same fields.
#[macro_export]
#[doc(hidden)]
macro_rules! mirror_records {
    ($($wit_module:ident::$wit:ident => $own_module:ident::$own:ident { $($field:ident),* $(,)? })*) => {
        $(impl $crate::mirror::Mirror<$own_module::$own> for $wit_module::$wit {
            fn mirror(self) -> Result<$own_module::$own, $crate::store::PathError> {
                Ok($own_module::$own { $($field: $crate::mirror::Mirror::mirror(self.$field)?),* })
            }
        }
        impl $crate::mirror::Mirror<$wit_module::$wit> for $own_module::$own {
            fn mirror(self) -> Result<$wit_module::$wit, $crate::store::PathError> {
                Ok($wit_module::$wit { $($field: $crate::mirror::Mirror::mirror(self.$field)?),* })
            }
        })*
    };
}

/// Implements [`Mirror`] both ways for variants with the same cases. A case is `Name`, `Name(_)`, or
/// `Name { fields } = Record` where the contract has a record for what is named fields here.
#[macro_export]
#[doc(hidden)]
macro_rules! mirror_variants {
    ($($wit_module:ident::$wit:ident => $own_module:ident::$own:ident {
        $($case:ident $(($value:ident))? $({ $($field:ident),* } = $record_module:ident::$record:ident)?),* $(,)?
    })*) => {
        $(impl $crate::mirror::Mirror<$own_module::$own> for $wit_module::$wit {
            fn mirror(self) -> Result<$own_module::$own, $crate::store::PathError> {
                #[allow(unreachable_patterns)]
                Ok(match self {
                    $($wit_module::$wit::$case $(($value))? $(($record_module::$record { $($field),* }))? => {
                        $own_module::$own::$case
                            $(($crate::mirror::Mirror::mirror($value)?))?
                            $({ $($field: $crate::mirror::Mirror::mirror($field)?),* })?
                    })*
                })
            }
        }
        impl $crate::mirror::Mirror<$wit_module::$wit> for $own_module::$own {
            fn mirror(self) -> Result<$wit_module::$wit, $crate::store::PathError> {
                #[allow(unreachable_patterns)]
                Ok(match self {
                    $($own_module::$own::$case $(($value))? $({ $($field),* })? => {
                        $wit_module::$wit::$case
                            $(($crate::mirror::Mirror::mirror($value)?))?
                            $(($record_module::$record { $($field: $crate::mirror::Mirror::mirror($field)?),* }))?
                    })*
                    // Open sets: a case that this list does not have yet cannot go over the contract.
                    _ => return Err($crate::store::PathError::EmptySegment),
                })
            }
        })*
    };
}

/// Everything of the contract, over the modules `types`, `fs`, `journal`, `context` and `engine` of the
/// bindings in scope.
#[macro_export]
#[doc(hidden)]
macro_rules! mirror_contract {
    () => {
        use $crate as own;
        use $crate::agents_md as own_agents_md;
        use $crate::approval as own_approval;
        use $crate::context as own_context;
        use $crate::entries as own_entries;
        use $crate::files as own_files;
        use $crate::exchange as own_exchange;
        use $crate::journal as own_journal;
        use $crate::notebook as own_notebook;
        use $crate::protocol as own_protocol;
        use $crate::search as own_search;
        use $crate::store as own_store;
        use $crate::tools as own_tools;
        use $crate::trust as own_trust;

        $crate::mirror_records! {
            types::Timestamp => own_store::Timestamp { seconds, nanoseconds, utc_offset_seconds }
            types::Error => own_protocol::Error { code, message, help }

            fs::Request => own_protocol::FsRequest { key, op }
            fs::Reply => own_protocol::FsResult { key, outcome }
            fs::FileContent => own_protocol::FileContent { bytes, version, size }
            fs::Listing => own_protocol::Listing { entries, next, version }
            fs::Entry => own_protocol::Entry { path, kind, size, version, modified }

            journal::SearchRequest => own_journal::SearchRequest {
                query, offset, limit, max_bytes, vouched_unchanged
            }
            journal::WriteReply => own_journal::WriteReply {
                path, bytes, skipped_lines, truncated_from, backup, message
            }
            journal::BackupReply => own_journal::BackupReply { path, failure }
            journal::ReadReply => own_journal::ReadReply { path, state, text, offset, size, next_offset, ending }
            journal::ListReply => own_journal::ListReply { files, skipped }
            journal::ListedFile => own_journal::ListedFile { path, size, modified }
            journal::EditReply => own_journal::EditReply { path, backup, message }
            journal::RestoreReply => own_journal::RestoreReply { path, bytes, backup, message }
            journal::StatusReply => own_journal::StatusReply {
                long_term_bytes, project_long_term_bytes, open_items, today_entries, text
            }
            journal::SearchResults => own_search::SearchResults {
                terms, total_files, hits, rendered, rendered_hits, skipped
            }
            journal::TermCount => own_search::TermCount { term, lines }
            journal::SearchHit => own_search::SearchHit {
                path, terms, lines, total_lines, filename_only, date, long_term, body, unapproved
            }
            journal::Skipped => own_search::Skipped { path, reason }

            context::ContextRequest => own_context::ContextRequest { overflow, max_bytes, turn, entries, form }
            context::ContextEntries => own_context::ContextEntries { request, run }
            context::PreambleRequest => own_context::PreambleRequest { files, memory, memory_prompt, max_bytes }
            context::PreambleFile => own_context::PreambleFile { role, path, content, size }
            context::PreambleReply => own_context::PreambleReply { text, tokens, parts, left_out }
            context::PreamblePart => own_context::PreamblePart { name, bytes }
            context::ContextReply => own_context::ContextReply { block, tokens, left_out, flags }
            context::Flagged => own_context::Flagged { path, key, section, flags }
            context::LeftOut => own_context::LeftOut { path, key, section, reason, kept_bytes, left_out_bytes }

            agents_md::AgentsMdRequest => own_agents_md::AgentsMdRequest {
                name, identity, content, tags, keys, max_bytes, prefer, confirmed, dry_run
            }
            agents_md::AgentsMdReply => own_agents_md::AgentsMdReply {
                content, unconfirmed, changes, listed, left_out, problems, message
            }
            agents_md::FactChange => own_agents_md::FactChange { key, line, kind, entry, section }
            agents_md::Unconfirmed => own_agents_md::Unconfirmed { digest, reason }

            notebook::RememberRequest => own_notebook::RememberRequest {
                title, content, template, group, tags, links, supersede, provenance
            }
            notebook::RecallRequest => own_notebook::RecallRequest {
                query, limit, offset, filter, sort, explain, vouched_unchanged
            }
            notebook::ZkNote => own_notebook::ZkNote {
                path, abs_path, title, lead, body, raw_content, snippets, tags, word_count, created, modified, checksum
            }
            notebook::ListRequest => own_notebook::ListRequest { filter, sort, limit, zk_links, with_text }
            notebook::NoteFilter => own_notebook::NoteFilter {
                matches, strategy, paths, exclude, tags, tagless, linked_by, link_to, no_linked_by, no_link_to,
                recursive, max_distance, related, mention, mentioned_by, orphan, missing_backlink, created,
                created_before, created_after, modified, modified_before, modified_after
            }
            notebook::SortKey => own_notebook::SortKey { by, ascending }
            notebook::InitReply => own_notebook::InitReply { made, kept, message }
            notebook::Warning => own_notebook::Warning { path, message }
            notebook::RememberReply => own_notebook::RememberReply { path, title, state, message, warnings }
            notebook::JournalEntryReply => own_notebook::JournalEntryReply {
                path, entry, created, message, warnings
            }
            notebook::RecallReply => own_notebook::RecallReply { hits, total, rendered, warnings, skipped }
            notebook::RecallHit => own_notebook::RecallHit {
                path, title, score, terms, fields, lines, passage, superseded_by, parts, unapproved
            }
            notebook::ScorePart => own_notebook::ScorePart { reason, field, amount }
            notebook::TodayReply => own_notebook::TodayReply { path, text, created, warnings }
            notebook::ListNotesReply => own_notebook::ListNotesReply { notes, warnings, skipped }
            notebook::NoteInfo => own_notebook::NoteInfo {
                path, title, lead, body, text, snippets, word_count, tags, aliases, metadata, link, created, modified,
                unapproved
            }
            notebook::GraphReply => own_notebook::GraphReply { notes, links }
            notebook::GraphLink => own_notebook::GraphLink {
                source, target, title, href, kind, relations, snippet, snippet_start, snippet_end
            }
            notebook::RelatedNote => own_notebook::RelatedNote { path, title, distance, reason }
            notebook::TagCount => own_notebook::TagCount { name, notes, number }
            notebook::DeadLink => own_notebook::DeadLink { path, line, target, candidates }
            notebook::Mention => own_notebook::Mention { path, title, lines }
            notebook::LinkReply => own_notebook::LinkReply { from, to, link, already_linked, message }
            notebook::RenameReply => own_notebook::RenameReply { old_path, path, title, links, files, not_rewritten, message }
            notebook::ForgetReply => own_notebook::ForgetReply { path, backup, message }
            notebook::ErrorReply => own_notebook::ErrorReply { path, title, count, state, message }
            notebook::MemoryContext => own_notebook::MemoryContext { text, included, left_out, unapproved, flags }

            entries::EntriesConfig => own_entries::EntriesConfig {
                agent, workspace, peers, max_entries, max_workspace_entries
            }
            entries::Command => own_entries::EntriesCommand { agent, workspace, run, provenance, verb }
            entries::NewEntry => own_entries::NewEntry { key, content, category, tags, source, supersedes }
            entries::EntryFilter => own_entries::EntryFilter { category, all_tags, any_tags, since, until }
            entries::HydrateRequest => own_entries::HydrateRequest { max_bytes, policy }
            entries::StoreReply => own_entries::StoreReply {
                key, category, state, version, path, swept, evicted, message
            }
            entries::EntryInfo => own_entries::EntryInfo {
                key, category, content, tags, created, updated, source, supersedes, version, path, size, provenance,
                approved
            }
            entries::EntryProblem => own_entries::EntryProblem { path, key, message }
            entries::FindEntriesReply => own_entries::FindEntriesReply { hits, total, problems }
            entries::EntryHit => own_entries::EntryHit { entry, score, terms, passage }
            entries::ListEntriesReply => own_entries::ListEntriesReply { entries, next, total, problems }
            entries::ForgetEntryReply => own_entries::ForgetEntryReply {
                key, path, version, already_forgotten, message
            }
            entries::PurgeReply => own_entries::PurgeReply { purged, message }
            entries::EntryFile => own_entries::EntryFile { path, content, updated }
            entries::ExportReply => own_entries::ExportReply { files, next, total, problems }
            entries::ImportRequest => own_entries::ImportRequest { files, mode, dry_run, earlier }
            entries::ImportFile => own_entries::ImportFile { path, content }
            entries::ImportedFile => own_entries::ImportedFile { path, key, shared, state }
            entries::ImportReply => own_entries::ImportReply { files }
            entries::RetainReply => own_entries::RetainReply { deleted, skipped, message }
            entries::DeletedEntry => own_entries::DeletedEntry { key, path }
            entries::HydrateReply => own_entries::HydrateReply { entries, bytes, left_out, problems }
            entries::ExplainReply => own_entries::ExplainReply { entries, bytes, max_bytes, problems }
            entries::Explanation => own_entries::Explanation {
                key, path, category, pinned, rank, size, total, updated, left_out
            }
            entries::RunReply => own_entries::RunReply { run, fence, message }
            entries::CheckpointReply => own_entries::CheckpointReply {
                stored, unchanged, skipped, truncated, swept, evicted, message
            }
            entries::SkippedEntry => own_entries::SkippedEntry { key, reason }

            files::FilePage => own_files::FilePage { files, next, total }

            tools::Tool => own_tools::Tool {
                name, description, input_schema, output_schema, set, read_only, destructive, idempotent
            }
            tools::ToolCall => own_tools::ToolCall { name, arguments, sets, dialect }
            tools::ToolAnswer => own_tools::ToolAnswer { text, structured, is_error }

            engine::Config => own::Config { epoch, project, path_prefix, limits, index_file, entries, trust, long_term }
            trust::TrustConfig => own_trust::TrustConfig { provenance, secrets }
            trust::Flag => own_trust::Flag { kind, what, count }
            trust::PendingRequest => own_approval::PendingRequest { limit, cursor, name, from }
            trust::ApproveRequest => own_approval::ApproveRequest { items, dry_run }
            trust::ApproveItem => own_approval::ApproveItem { name, base }
            trust::PendingItem => own_approval::PendingItem {
                name, path, is_entry, provenance, source, version, size, preview, text, flags
            }
            trust::PendingReply => own_approval::PendingReply { items, next, total, digest }
            trust::ApproveReply => own_approval::ApproveReply { approved, skipped, message }
            trust::SkippedItem => own_approval::SkippedItem { name, reason }

            exchange::Command => own_exchange::ExchangeCommand { agent, workspace, verb }
            exchange::ImportFromRequest => own_exchange::ImportFromRequest {
                format, origin, files, others, dry_run, earlier, provenance
            }
            exchange::ForeignFile => own_exchange::ForeignFile { path, first_line, content }
            exchange::ImportFromReply => own_exchange::ImportFromReply { entries, rejected }
            exchange::ExchangedEntry => own_entries::ExchangedEntry { path, line, key, shared, digest, state }
            exchange::RejectedPart => own_exchange::RejectedPart { path, line, reason }
            exchange::ExportToRequest => own_exchange::ExportToRequest { format, forgotten, unapproved, cursor }
            exchange::ExportToReply => own_exchange::ExportToReply {
                parts, next, files, bytes, entries, unapproved, losses, problems
            }
            exchange::FilePart => own_exchange::FilePart { path, offset, content }
            exchange::Loss => own_exchange::Loss { key, field, reason }

            engine::Limits => own::Limits {
                max_file_bytes, max_list_entries, max_requests, max_commands, max_index_bytes
            }
            engine::Step => own::Step { requests, finished }
            engine::Finished => own::Finished { id, outcome }
        }

        $crate::mirror_variants! {
            types::ErrorCode => own_protocol::ErrorCode {
                InvalidName, InvalidDate, InvalidArgument, TooLarge, NotFound, NoUniqueMatch, NotText, Contention,
                Storage, ScopeDenied, ScopeNotFound, MemoryUnavailable, EntryNotFound, StaleFence, Secret, NotPermitted,
                Cancelled, Internal,
            }

            fs::Precondition => own_protocol::Precondition { Any, Absent, Matches(version) }
            fs::Op => own_protocol::FsOp {
                Read { path, offset, max_bytes, unless } = fs::ReadOp,
                Write { path, content, precondition } = fs::WriteOp,
                Append { path, content, newline_first, precondition } = fs::AppendOp,
                List { folder, recursive, after, limit, unless } = fs::ListOp,
                Remove { path, precondition } = fs::RemoveOp,
                Rename { from, to, precondition } = fs::RenameOp,
                MakeDirectory { path } = fs::MakeDirectoryOp,
            }
            fs::Outcome => own_protocol::FsOutcome {
                Read(read), Write(write), Append(append), List(list), Remove(remove), Rename(rename), MakeDirectory,
            }
            fs::ReadOutcome => own_protocol::ReadOutcome { Content(content), Unchanged, Absent }
            fs::ListOutcome => own_protocol::ListOutcome { Page(page), Unchanged }
            fs::WriteOutcome => own_protocol::WriteOutcome { Written(version), Stale(version), Unknown }
            fs::AppendOutcome => own_protocol::AppendOutcome { Written(version), Stale(version), Unknown(offset) }
            fs::RemoveOutcome => own_protocol::RemoveOutcome { Done, Stale(version) }
            fs::RenameOutcome => own_protocol::RenameOutcome { Done, Stale(version), Absent, Exists }
            fs::EntryKind => own_protocol::EntryKind { File, Directory, Other }
            fs::FsError => own_protocol::FsError {
                Denied, TimedOut, Cancelled, InvalidPath(reason), SymbolicLink, IsDirectory, NotDirectory, NotRegular,
                TooLarge(limit), NoSpace, ReadOnly, Unsupported, NotDurable(reason), Locked(holder), Other(text),
            }

            journal::Command => own_journal::JournalCommand {
                Write { target, mode, content, truncate } = journal::WriteArgs,
                AppendDaily { heading, body } = journal::AppendDailyArgs,
                Read { target, offset, max_bytes } = journal::ReadArgs,
                List,
                Edit { target, change } = journal::EditArgs,
                Restore { target } = journal::RestoreArgs,
                Search(request),
                Status,
                FlushSummary { summary, messages } = journal::FlushSummaryArgs,
                Slash { line } = journal::SlashArgs,
            }
            journal::Reply => own_journal::JournalReply {
                Written(written), Read(read), Listed(listed), Edited(edited), Restored(restored), Found(found),
                Status(status), Text(text),
            }
            journal::Target => own_journal::Target { LongTerm, Scratchpad, Daily(date), Note(name), Page(name) }
            journal::WriteMode => own_journal::WriteMode { Append, Overwrite }
            journal::EditChange => own_journal::EditChange {
                Replace { old, new } = journal::ReplaceArgs,
                Delete,
            }
            journal::FileState => own_journal::FileState { Missing, Empty, Text }
            journal::SkipReason => own_search::SkipReason {
                NotText, TooLarge(size), NotRegular, IndexFull, Unreadable(error), OtherMemory,
            }

            context::Overflow => own_context::Overflow { Documented, Prioritised, Balanced }
            context::PreambleRole => own_context::PreambleRole { Base, Instructions, Architecture }
            context::BlockForm => own_context::BlockForm { Claude, Openai, Plain }
            context::LeftOutReason => own_context::LeftOutReason {
                Budget, TooLarge, NotText, NotADate, Unreadable(error), NotHydrated(text), Unapproved,
            }

            agents_md::Side => own_agents_md::Side { Section, Store }
            agents_md::FactChangeKind => own_agents_md::FactChangeKind {
                Listed, Refreshed, Unlisted, Stored, Updated, Forgotten, Conflict(text), Refused(text),
            }

            notebook::Command => own_notebook::NotebookCommand {
                Init,
                Remember(request),
                Recall(request),
                Journal { entry } = notebook::JournalArgs,
                Today,
                List(request),
                Related { note, limit } = notebook::RelatedArgs,
                Link { from, to, text } = notebook::LinkArgs,
                Rename { note, title } = notebook::RenameArgs,
                Forget { note } = notebook::ForgetArgs,
                Restore { note } = notebook::RestoreArgs,
                Tags,
                Graph(request),
                Orphans,
                DeadLinks,
                UnlinkedMentions { note } = notebook::UnlinkedMentionsArgs,
                LoadMemories { limit } = notebook::LoadMemoriesArgs,
                RecallForTurn { turn, query, limit } = notebook::RecallForTurnArgs,
                MemoryContext { turn, max_bytes } = notebook::MemoryContextArgs,
                RememberError { tool, error } = notebook::RememberErrorArgs,
                RememberSummary { tool, summary } = notebook::RememberSummaryArgs,
            }
            notebook::Reply => own_notebook::NotebookReply {
                Initialised(reply), Remembered(reply), ErrorKept(reply), Recalled(reply), Journaled(reply), Today(reply), Listed(reply),
                Related(notes),
                Linked(reply), Renamed(reply), Forgotten(reply), Restored(reply), Tags(tags), Graph(reply), DeadLinks(links),
                Mentions(notes), Loaded(count), Section(section),
            }
            notebook::MatchStrategy => own_notebook::MatchStrategy { FullText, Exact }
            notebook::SortBy => own_notebook::SortBy { Created, Modified, Path, Title, WordCount }
            notebook::ErrorState => own_notebook::ErrorState { Created, Counted, Full }
            notebook::RememberState => own_notebook::RememberState { Created, AlreadyThere, Superseded(path) }

            entries::Verb => own_entries::EntriesVerb {
                Store { entry, base } = entries::StoreArgs,
                Get { key } = entries::GetArgs,
                Find { query, limit } = entries::FindArgs,
                List { filter, limit, cursor } = entries::ListArgs,
                Forget { key, base } = entries::ForgetArgs,
                Restore { key } = entries::RestoreArgs,
                Purge { key } = entries::PurgeArgs,
                Export { forgotten, cursor } = entries::ExportArgs,
                Import(request),
                Retain { imported, dry_run } = entries::RetainArgs,
                Hydrate(request),
                Explain { request, key } = entries::ExplainArgs,
                OpenRun { fence } = entries::OpenRunArgs,
                Checkpoint,
                CloseRun,
            }
            entries::Reply => own_entries::EntriesReply {
                Stored(reply), Entry(entry), Found(reply), Listed(reply), Forgotten(reply), Purged(reply), Exported(reply),
                Imported(reply), Retained(reply), Hydrated(reply), Explained(reply), Opened(reply), Saved(reply),
            }
            entries::ImportMode => own_entries::ImportMode { Upsert, Replace }
            entries::ImportState => own_entries::ImportState { Upserted, Unchanged, Deleted, Rejected(reason) }
            entries::Policy => own_entries::Policy { Greedy, Prefix }
            entries::StoreState => own_entries::StoreState {
                Stored, Updated, Moved(category), Unchanged, Forgotten, Conflict, Held,
            }

            files::Command => own_files::FilesCommand {
                List { after, limit } = files::ListArgs,
                Read { path, offset, max_bytes } = files::ReadArgs,
            }
            files::Reply => own_files::FilesReply { Listed(page), Read(reply) }

            tools::ToolSet => own_tools::ToolSet { Journal, Entries, Notebook, Anthropic }
            tools::Dialect => own_tools::Dialect { Docs, Sdk }

            engine::Command => own::Command {
                Journal(command), Context(request), Preamble(request), AgentsMd(request), Notebook(command),
                Entries(command), Files(command), CallTool(call), Trust(command), Exchange(command),
            }
            engine::Reply => own::Reply {
                Journal(reply), Context(reply), Preamble(reply), AgentsMd(reply), Notebook(reply), Entries(reply),
                Files(reply), Tool(answer), Trust(reply), Exchange(reply),
            }
            engine::LongTermScope => own_store::LongTermScope { Shared, Project }
            trust::Provenance => own_trust::Provenance { User, Agent, Tool, Import }
            trust::SecretPolicy => own_trust::SecretPolicy { Refuse, Redact, Allow }
            trust::FlagKind => own_trust::FlagKind {
                Invisible, Bidirectional, UnicodeTag, VariationSelector, Control, Markup, Link, Image, HtmlComment,
            }
            trust::Command => own_approval::TrustCommand {
                Pending(request),
                Approve(request),
            }
            trust::Reply => own_approval::TrustReply { Pending(reply), Approved(reply) }

            exchange::Format => own_exchange::Format {
                JsonLines, ClaudeCode, OpenClaw, ZeroClaw, NullClaw, Hermes, BasicMemory, McpMemory, Gemini, Letta, Codex,
            }
            exchange::Detected => own_exchange::Detected { Format(format), Markdown, ZkNotebook, ZerostackStore }
            exchange::Verb => own_exchange::ExchangeVerb { ImportFrom(request), ExportTo(request) }
            exchange::Reply => own_exchange::ExchangeReply { Imported(reply), Exported(reply) }
            exchange::ExchangeState => own_entries::ExchangeState {
                Stored, Updated, Unchanged, Renamed(key), Kept(reason), Rejected(reason),
            }

            engine::ConfigError => own::ConfigError {
                InvalidProject(text), InvalidScope(text), InvalidPathPrefix, LimitTooSmall(text),
            }
            engine::ProtocolError => own_protocol::ProtocolError {
                UnknownKey(key), ForeignKey(key), UsedKey(key),
                InvalidResult { key, reason } = engine::InvalidResult,
                CommandIdNotNew { given, last } = engine::CommandIdNotNew,
                TooManyCommands(limit), InvalidTime,
            }
        }
    };
}
