// Made of `wit/` by the test `the_conversions_are_those_of_wit`.

/// The package of the contract.
pub const PACKAGE: &str = "saddlebag:memory@0.3.0-dev";

/// Hands the types of every interface to a macro for records and one for variants, over the modules of the bindings in
/// scope, which are named as the interfaces.
#[macro_export]
#[doc(hidden)]
macro_rules! wit_contract {
    ($records:ident $variants:ident $openness:ident) => {
        $crate::$records! { $openness:
            agents_md::SyncAgentsMd { name, content, tags, keys, max_bytes = $crate::agents_md::DEFAULT_SECTION_BYTES }
            agents_md::SyncAgentsMdReply { content, listed, left_out, problems, message }
            config::Limits { max_file_bytes, max_list_entries, max_requests, max_commands, max_index_bytes }
            config::EntriesConfig { agent, workspace, max_entries = $crate::entries::MAX_ENTRIES, max_workspace_entries = $crate::entries::MAX_ENTRIES }
            config::TrustConfig { provenance, secrets }
            config::Config { epoch, project, path_prefix, roots, limits, index_file, version_scheme, entries, trust, long_term, machine, secret, backups, map_bytes }
            engine::ToolAnswer { text, structured, is_error }
            engine::Finished { id, changed, error, answer }
            engine::Step { requests, finished }
            entries::NewEntry { key, content, category, tags, source, supersedes }
            entries::WriteEntry { entry, expected_version }
            entries::PurgeEntries { key }
            entries::ExportEntries { forgotten, cursor }
            entries::ImportFile { path, content }
            entries::Hydrate { max_bytes = $crate::entries::DEFAULT_HYDRATE_BYTES, policy }
            entries::OpenRun { fence }
            entries::StoreReply { key, category, state, version, path, swept, evicted, message }
            entries::EntryInfo { key, category, content, tags, created, updated, source, supersedes, version, path, size, provenance, approved, marks }
            entries::EntryProblem { path, key, message }
            entries::PurgeReply { purged, message }
            entries::EntryFile { path, content, updated }
            entries::ExportReply { files, next, total, problems }
            entries::ImportedFile { path, key, shared, replaces, state }
            entries::ImportEntries { files, mode, dry_run, earlier }
            entries::RetainEntries { imported, dry_run }
            entries::ImportReply { files }
            entries::DeletedEntry { key, path }
            entries::Explanation { key, path, category, pinned, rank, size, total, updated, left_out }
            entries::HydrateReply { entries, bytes, max_bytes, explanations, problems }
            entries::RunReply { run, fence, message }
            entries::SkippedEntry { key, reason }
            entries::RetainReply { deleted, skipped, message }
            entries::CheckpointReply { stored, unchanged, skipped, truncated, swept, evicted, message }
            exchange::ForeignFile { path, first_line, content }
            exchange::ExchangedEntry { path, line, key, shared, digest, state }
            exchange::ImportFrom { format, place, files, others, dry_run, earlier, of_project }
            exchange::ImportItems { source }
            exchange::RejectedPart { path, line, reason }
            exchange::ImportFromReply { entries, rejected }
            exchange::ExportTo { format, forgotten, unapproved, cursor }
            exchange::ExportItems { target }
            exchange::FilePart { path, offset, content }
            exchange::Loss { key, field, reason }
            exchange::ExportToReply { parts, next, files, bytes, entries, unapproved, losses, problems }
            fs::Request { key, command, op }
            fs::FileContent { bytes, version, size }
            fs::LeftOutName { path, kind }
            fs::LeftOut { names, count }
            fs::Entry { path, kind, size, version, modified }
            fs::Listing { entries, next, left_out, version }
            fs::Reply { key, outcome }
            history::ListOperations { limit = $crate::history::DEFAULT_HISTORY_ITEMS, operation, since, by }
            history::ListVersions { name, limit = $crate::history::DEFAULT_HISTORY_ITEMS, since, by, operation, patch }
            history::CompareVersions { name, before, after }
            history::Undo { operations, session, by, since, after, only_own, skip_conflicts, dry_run, redo }
            history::Snapshot { message }
            history::ReplaceFile { path, version, content }
            history::SetHistoryPolicy { recording, max_age_days, max_log_bytes }
            history::Expunge { text, name, dry_run }
            history::TextPlace { path, kind, count }
            history::ExpungeReply { places, left, unreadable, digest, operation, message }
            history::FileChange { path, kind, moved_from, before, after }
            history::OperationInfo { operation, time, command, provenance, agent, client, session, tool, reason, undone, undoes, redoes, files }
            history::OperationList { operations, total, damaged, cut }
            history::VersionInfo { number, kind, size, unkept, operation, patch }
            history::VersionList { path, versions, total, damaged, cut }
            history::Comparison { path, before, after, diff }
            history::SnapshotTaken { operation, message }
            history::ReplacedFile { path, replaced }
            history::SkippedOperation { operation, reason }
            history::UndoReply { operations, files, skipped, operation, message }
            history::HistoryLog { path, bytes }
            history::HistoryPolicyReply { recording, max_age_days, max_log_bytes, logs, bytes, removed, message }
            history::MergeSides { ancestor, ours, theirs }
            history::MergeConflict { part, ancestor, ours, theirs }
            history::MergeReview { path, text }
            history::MergedFile { content, conflicts, review }
            items::Edit { name, kind, old_text, new_text }
            items::EditReply { path, backup, entry, message }
            items::Forget { name, kind, expected_version }
            items::Forgotten { kind, name, path, version, already_forgotten, backup, message }
            items::ListFiles { after, limit = $crate::journal::DEFAULT_LISTED_FILES }
            items::ListItems { forgotten, name, kinds, category, filter = $crate::notebook::NoteFilter::default(), sort, limit, after, zk_links, with_text, with_links }
            items::ListedItem { kind, name, path, category, lead, body, text, snippets, word_count, tags, aliases, metadata, link, created, day, modified, marks, writer, entry }
            items::GraphLink { source, target, title, href, kind, relations, snippet, snippet_start, snippet_end }
            items::ItemList { items, links, total, next, warnings, skipped }
            items::Recall { query, kinds, limit = $crate::items::DEFAULT_HITS, offset, max_bytes, filter = $crate::notebook::NoteFilter::default(), sort, explain, everywhere, assume_unchanged }
            items::Restore { name, kind, version, at, dry_run, lift_rejection }
            items::Restored { kind, path, version, diff, operation, backup, entry, message }
            items::Show { name, kind, version, offset, max_bytes = $crate::journal::DEFAULT_READ_BYTES }
            items::Tag { name, kind, add, remove }
            items::TagReply { path, tags, changed, message }
            items::Write { item }
            items::Link { source, target, text }
            items::Related { note, limit = $crate::items::DEFAULT_HITS }
            items::Rename { note, title }
            items::UnlinkedMentions { note }
            items::LinkReply { source, target, link, already_linked, message }
            items::RelatedNote { path, title, distance, reason, marks }
            items::RelatedReply { notes, skipped }
            items::RenameReply { old_path, path, title, links, files, not_rewritten, message }
            items::Mention { path, title, lines, unapproved }
            items::UnlinkedMentionsReply { notes, skipped }
            items::Shown { kind, name, path, version, state, text, offset, size, next_offset, marks, entry }
            items::FilePage { files, next, total, skipped }
            items::ScorePart { reason, field, amount }
            items::RecallHit { kind, path, title, category, date, day, score, terms, fields, lines, passage, marks, parts }
            items::RecallReply { hits, total, is_doubtful, rendered, warnings, skipped }
            journal::WriteFile { target, mode, content, truncate }
            journal::AppendDaily { heading, body }
            journal::Search { query, offset, limit, max_bytes = $crate::journal::DEFAULT_READ_BYTES, assume_unchanged, all_files }
            journal::FlushSummary { summary, messages }
            journal::Slash { line }
            journal::WriteReply { path, bytes, skipped_lines, truncated_from, backup, message }
            journal::ListedFile { path, size, modified }
            journal::SlashReply { text }
            journal::TermCount { term, lines }
            journal::SearchHit { path, terms, lines, total_lines, filename_only, date, long_term, heading, body, unapproved }
            journal::Skipped { path, kind, reason }
            journal::StatusReply { long_term_bytes, project_long_term_bytes, open_items, today_entries, skipped, text }
            journal::SearchResults { terms, total_files, hits, rendered, rendered_hits, skipped }
            notebook::WriteNote { title, content, template, group, tags, links, supersede, supersedes }
            notebook::NoteCondition { kind, value }
            notebook::NoteFilter { conditions, tagless, orphan, missing_backlink, recursive, max_distance }
            notebook::SortKey { by, ascending }
            notebook::Journal { entry }
            notebook::DeadLinks { only_notes }
            notebook::LoadMemories { limit = $crate::notebook::INITIAL_MEMORIES }
            notebook::RecallForTurn { turn, query, limit = $crate::notebook::DEFAULT_HITS }
            notebook::MemoryContext { turn, max_bytes = $crate::notebook::DEFAULT_MEMORIES_BYTES }
            notebook::RememberError { tool, error }
            notebook::RememberSummary { tool, summary }
            notebook::ImportedNote { id, title, content, tags, date }
            notebook::ImportNotes { folder, notes, dry_run }
            notebook::MemoriesReply { memories }
            notebook::InitReply { made, kept, message }
            notebook::NoteImport { id, path, state }
            notebook::ImportNotesReply { notes }
            notebook::Warning { path, message }
            notebook::RememberReply { path, title, state, message, warnings }
            notebook::TodayReply { path, text, created, warnings }
            notebook::JournalEntryReply { path, entry, created, message, warnings }
            notebook::TagCount { name, notes, number }
            notebook::TagsReply { tags, skipped }
            notebook::DeadLink { path, line, target, candidates, is_file }
            notebook::DeadLinksReply { links, skipped }
            notebook::ErrorReply { path, title, count, state, message }
            notebook::MemoryContextReply { text, included, left_out, unapproved, findings }
            prompt::ContextEntries { max_bytes = $crate::entries::DEFAULT_HYDRATE_BYTES, policy }
            prompt::Context { overflow, max_bytes = $crate::context::DEFAULT_BLOCK_BYTES, turn, entries, form }
            prompt::LineSource { first_line, last_line, path, key, heading, section, family }
            prompt::Flagged { path, key, section, findings }
            prompt::LeftOut { path, key, section, kind, reason, kept_bytes, left_out_bytes }
            prompt::ContextReply { block, tokens, left_out, findings, sources }
            prompt::PreambleFile { role, path, content, size }
            prompt::Preamble { files, memory, memory_prompt, max_bytes = $crate::context::DEFAULT_PREAMBLE_BYTES }
            prompt::PreamblePart { name, bytes }
            prompt::PreambleReply { text, tokens, parts, left_out }
            session::BeginSession { session, source, max_bytes = $crate::session::DEFAULT_SESSION_BYTES, form, dry_run }
            session::BeginSessionReply { text, tokens, hand_off, left_out, findings, sources }
            session::RecallForPrompt { session, prompt, max_bytes = $crate::session::DEFAULT_PROMPT_BYTES, min_score, keep_out, dry_run, form }
            session::NotShown { source, reason }
            session::RecallForPromptReply { text, sources, not_shown, unrecorded }
            session::RecallForTool { session, files, command, max_bytes = $crate::session::DEFAULT_TOOL_BYTES, form }
            session::RecallForToolReply { text, sources, not_shown }
            session::RecordToolUse { session, tool, files, command, failed, output, stored, exclude }
            session::RecordToolUseReply { recorded, error_note, unrecorded }
            session::ChooseHandOff { session, choice }
            session::ChooseHandOffReply { path, message }
            session::EndSession { session, finished, answer }
            session::EndSessionReply { note, kept, left_out }
            tools::Tool { name, description, input_schema, output_schema, set, read_only, destructive, idempotent }
            tools::ToolOptions { sets, dialect }
            trust::Pending { limit = $crate::approval::DEFAULT_PENDING_ITEMS, cursor, name, source }
            trust::ApproveItem { name, version }
            trust::Approve { items, dry_run }
            trust::Reject { items, dry_run, for_good }
            trust::PendingItem { name, path, is_entry, provenance, projects, source, agent, client, session, tool, version, size, preview, text, findings }
            trust::PendingReply { items, next, total, digest, skipped }
            trust::SkippedItem { name, reason }
            trust::ApproveReply { approved, skipped, message }
            trust::RejectReply { rejected, skipped, message }
            types::Timestamp { seconds, nanoseconds, utc_offset_seconds }
            types::Error { code, message, help }
            types::Marks { unapproved, only_in, superseded_by, superseded_since }
            types::Origin { agent, workspace, run, client, session, tool, provenance, operation, reason, at }
            types::Flag { kind, what, count }
        }

        $crate::$variants! { $openness:
            agents_md::AgentsMdCommand { SyncAgentsMd(value) }
            agents_md::AgentsMdReply { SyncAgentsMd(value) }
            config::LongTermScope { Shared, Project }
            config::SecretPolicy { Refuse, Redact, Allow }
            config::BackupPlace { History, Sibling }
            engine::ConfigError { InvalidProject(value), InvalidScope(value), InvalidPathPrefix, InvalidVersionScheme(value), InvalidMachine(value), InvalidSecret(value), LimitTooSmall(value) }
            engine::ResultError { UnknownKey(value), ForeignKey(value), UsedKey(value), InvalidResult { key, reason } = InvalidResult }
            engine::SubmitError { CommandIdNotNew { given, last } = CommandIdNotNew, TooManyCommands(value), InvalidTime }
            entries::ImportMode { Upsert, Replace }
            entries::EntriesCommand { PurgeEntries(value), Hydrate(value), OpenRun(value), Checkpoint = (Checkpoint), CloseRun = (CloseRun) }
            entries::StoreState { Stored, Updated, Moved(value), Unchanged, Forgotten, Conflict, Held }
            entries::ImportState { Upserted, Unchanged, Deleted, Rejected(value) }
            entries::EntriesReply { PurgeEntries(value), Hydrate(value), OpenRun(value), Checkpoint(value) }
            exchange::Format { JsonLines, ClaudeCode, OpenClaw, ZeroClaw, NullClaw, Hermes, BasicMemory, McpMemory, Gemini, Letta, Codex }
            exchange::Detected { Format(value), Markdown, ZkNotebook, ZerostackStore }
            exchange::ExchangeState { Stored, Updated, Unchanged, Renamed(value), Kept(value), Rejected(value) }
            exchange::ImportSource { Entries(value), Files(value), Notes(value), Rest(value) }
            exchange::Imported { Entries(value), Files(value), Notes(value), Rest(value) }
            exchange::ExportTarget { Entries(value), Files(value) }
            exchange::ExchangeCommand { ExportItems(value), ImportItems(value) }
            exchange::Exported { Entries(value), Files(value) }
            exchange::ExchangeReply { ExportItems(value), ImportItems(value) }
            fs::Precondition { Any, Absent, Matches(value) }
            fs::Op { Read { path, offset, max_bytes } = ReadOp, Write { path, content, precondition, keep_as, like } = WriteOp, Append { path, content, newline_first, precondition, may_tear, may_vanish } = AppendOp, ListDirectory { folder, after, limit, unless } = ListDirectoryOp, Remove { path, precondition, keep_as, may_return } = RemoveOp, Rename { path, to, precondition } = RenameOp, MakeDirectory { path } = MakeDirectoryOp, RemoveDirectory { path } = RemoveDirectoryOp, Generation }
            fs::ReadOutcome { Content(value), Absent }
            fs::WriteOutcome { Written(value), Stale(value), Unknown }
            fs::AppendOutcome { Written(value), Stale(value), Unknown(value) }
            fs::RemoveOutcome { Done, Stale(value) }
            fs::RenameOutcome { Done, Stale(value), Absent, Exists }
            fs::RemoveDirectoryOutcome { Removed, NotEmpty, Absent }
            fs::EntryKind { File, Directory, Other }
            fs::ListOutcome { Page(value), Unchanged }
            fs::Outcome { Read(value), Write(value), Append(value), ListDirectory(value), Remove(value), Rename(value), MakeDirectory, RemoveDirectory(value), Generation(value) }
            fs::FsError { Denied, TimedOut, Cancelled, InvalidPath(value), SymbolicLink, IsDirectory, NotDirectory, NotRegular, TooLarge(value), NoSpace, ReadOnly, Unsupported, NotDurable(value), Locked(value), Other(value) }
            history::HistoryCommand { ListOperations(value), ListVersions(value), CompareVersions(value), Undo(value), SetHistoryPolicy(value), Expunge(value), Snapshot(value), ReplaceFile(value) }
            history::PlaceKind { File, Backup, History, Index, State, Name }
            history::ChangeKind { Created, Changed, Removed, Moved }
            history::HistoryReply { ListOperations(value), ListVersions(value), CompareVersions(value), Undo(value), SetHistoryPolicy(value), Expunge(value), Snapshot(value), ReplaceFile(value) }
            history::MergePart { File, Frontmatter, Field(value), Paragraph }
            items::NewItem { Entry(value), File(value), Note(value) }
            items::Written { Entry(value), File(value), Note(value) }
            items::ItemsCommand { Edit(value), Forget(value), Link(value), ListFiles(value), ListItems(value), Recall(value), Related(value), Rename(value), Restore(value), Show(value), Tag(value), UnlinkedMentions(value), Write(value) }
            items::FileState { Missing, Empty, Text }
            items::ItemsReply { Edit(value), Forget(value), Link(value), ListFiles(value), ListItems(value), Recall(value), Related(value), Rename(value), Restore(value), Show(value), Tag(value), UnlinkedMentions(value), Write(value) }
            journal::Target { LongTerm, Scratchpad, Daily(value), Note(value), Page(value) }
            journal::WriteMode { Append, Overwrite }
            journal::JournalCommand { AppendDaily(value), Search(value), Status = (Status), FlushSummary(value), Slash(value) }
            journal::JournalReply { AppendDaily(value), Search(value), Status(value), Slash(value) }
            notebook::ConditionKind { Path, Exclude, Tag, LinkedBy, LinkTo, NoLinkedBy, NoLinkTo, Related, Mention, MentionedBy, Created, CreatedBefore, CreatedAfter, Modified, ModifiedBefore, ModifiedAfter }
            notebook::SortBy { Created, Modified, Path, Title, WordCount }
            notebook::NotebookCommand { InitNotebook = (InitNotebook), Journal(value), Today = (Today), Tags = (Tags), DeadLinks(value), LoadMemories(value), RecallForTurn(value), MemoryContext(value), RememberError(value), RememberSummary(value) }
            notebook::RememberState { Created, AlreadyThere, Superseded(value) }
            notebook::NoteImportState { Created, Updated, Unchanged, Kept(value), Rejected(value) }
            notebook::ItemKind { Note, Log, Session, Entry, File }
            notebook::ErrorState { Created, Counted, Full }
            notebook::NotebookReply { InitNotebook(value), RememberSummary(value), Journal(value), Today(value), Tags(value), DeadLinks(value), LoadMemories(value), MemoryContext(value), RememberError(value) }
            prompt::BlockForm { Claude, Openai, Plain }
            prompt::Overflow { Documented, Prioritised, Balanced }
            prompt::SourceFamily { Journal, Entries, Notebook }
            prompt::PreambleRole { BasePrompt, Instructions, Architecture }
            prompt::PromptCommand { Context(value), Preamble(value) }
            prompt::PromptReply { Context(value), Preamble(value) }
            session::BeginSource { Startup, Resume, Clear, Compact, Fork, Subagent }
            session::NotShownReason { Unapproved, OtherProject, Budget, AlreadyShown, StateFull }
            session::StoredItem { Entry(value), Note(value), Other }
            session::HandOffChoice { Next, Refused }
            session::SessionCommand { BeginSession(value), RecallForPrompt(value), RecallForTool(value), RecordToolUse(value), EndSession(value), ChooseHandOff(value) }
            session::SessionReply { BeginSession(value), RecallForPrompt(value), RecallForTool(value), RecordToolUse(value), EndSession(value), ChooseHandOff(value) }
            tools::ToolSet { Everyday, Journal, Entries, Notebook, Anthropic }
            tools::Dialect { Docs, Sdk }
            trust::TrustCommand { Pending(value), Approve(value), Reject(value) }
            trust::TrustReply { Pending(value), Approve(value), Reject(value) }
            types::Provenance { User, Agent, Tool, Imported }
            types::Moment { Second(value), Operation(value) }
            types::HydrationPolicy { Greedy, Prefix }
        }
    };
}
