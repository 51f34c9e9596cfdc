//! Reads the transcripts of a client as sessions of the project.
//!
//! A transcript is read line by line, so that one of many megabytes needs little memory. A line that is not JSON or is too
//! long is skipped and counted, because clients write new kinds of lines at any time.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use ruzstd::decoding::StreamingDecoder;
use ruzstd::decoding::errors::FrameDecoderError;
use saddlebag_host::{io_cause, project_root};
use serde_json::Value;

use super::args::SourceName;
use super::claude_code::{self, Branches};
use super::codex;
use super::find::{Found, Listing, is_compressed};
use super::gemini::Chat;
use super::lines::{MAX_LINE, each_line};
use super::note::{Candidate, LeftOut};
use super::session::Session;
use crate::client_json::parsed;
use crate::import::gemini_digest;

/// Maximum size of a transcript, and of all that are read, in bytes.
const MAX_FILE: u64 = 256 << 20;
const MAX_TOTAL: u64 = 1 << 30;

/// Maximum size of a transcript that is one JSON object, in bytes.
const MAX_OBJECT: u64 = 32 << 20;

/// Number of lines, and of bytes, in which a transcript must name its folder. A compressed file may hold much more than its own
/// size.
const HEAD_LINES: usize = 50;
const MAX_HEAD: u64 = 32 << 20;

/// Sessions to take.
pub(super) struct Wanted<'a> {
    pub(super) source: SourceName,
    /// Root of the project.
    pub(super) project: &'a Path,
    pub(super) all_projects: bool,
    /// Sessions that ended before are left out, in nanoseconds since 1970-01-01T00:00:00Z.
    pub(super) since: Option<u64>,
    pub(super) limit: usize,
}

/// Notes of the transcripts, the oldest first, and the transcripts that cannot be read.
#[derive(Default)]
pub(super) struct Sessions {
    pub(super) notes: Vec<Candidate>,
    pub(super) unreadable: Vec<(String, String)>,
}

impl Wanted<'_> {
    /// Reads the sessions of a listing.
    pub(super) fn read(&self, listing: Listing, left_out: &mut LeftOut) -> Sessions {
        let mut sessions = Sessions { unreadable: listing.unreadable, ..Sessions::default() };
        let mut chosen: Vec<(Found, PathBuf)> = Vec::new();
        let mut total = 0;
        for found in listing.files {
            let name = found.path.to_string_lossy().into_owned();
            match self.folder(&found) {
                Err(error) => sessions.unreadable.push((name, io_cause(&error).to_string())),
                Ok(None) => left_out.add("of another project", &name),
                Ok(Some(_)) if found.size > MAX_FILE => {
                    left_out.add(&format!("larger than {} MiB", MAX_FILE >> 20), &name);
                }
                Ok(Some(_)) if total + found.size > MAX_TOTAL => {
                    left_out.add(&format!("beyond {} MiB of transcripts", MAX_TOTAL >> 20), &name);
                }
                Ok(Some(_)) if chosen.len() == self.limit => left_out.add("over --limit", &name),
                Ok(Some(folder)) => {
                    total += found.size;
                    chosen.push((found, folder));
                }
            }
        }
        let mut seen = BTreeSet::new();
        // A resumed session repeats lines of an older one, so the older one is read first.
        for (found, folder) in chosen.into_iter().rev() {
            let name = found.path.to_string_lossy().into_owned();
            let session = match self.session(&found, &folder, &mut seen, left_out) {
                Ok(session) => session,
                Err(error) => {
                    sessions.unreadable.push((name, io_cause(&error).to_string()));
                    continue;
                }
            };
            let ended = session.as_ref().and_then(|session| saddlebag::document::parse_date(session.last.as_deref()?));
            if self.since.zip(ended).is_some_and(|(since, ended)| ended < since) {
                left_out.add("before --since", &name);
                continue;
            }
            match session.and_then(|session| session.note(&time_of(&found))) {
                Some(note) => sessions.notes.push(note),
                None => left_out.add("without a prompt or an outcome, or only thanks", &name),
            }
        }
        sessions
    }

    /// Returns the folder to which the paths of a session are relative; `None` if the session is of another project.
    fn folder(&self, found: &Found) -> io::Result<Option<PathBuf>> {
        let folders = match self.source {
            SourceName::Gemini => {
                let mut chat = Chat::default();
                self.gemini_head(found, &mut chat)?;
                if chat.project.as_deref() == Some(&gemini_digest(self.project)) {
                    return Ok(Some(self.project.to_path_buf()));
                }
                chat.folders
            }
            _ => folder_in_head(&found.path)?.into_iter().collect(),
        };
        if folders.iter().any(|folder| self.is_of_project(folder)) {
            return Ok(Some(self.project.to_path_buf()));
        }
        let is_taken = self.all_projects || found.is_named;
        Ok(is_taken.then(|| folders.first().map(|folder| project_root(Path::new(folder))).unwrap_or_default()))
    }

    /// Returns true if a folder belongs to the project. A folder that is gone belongs to the project above it.
    fn is_of_project(&self, folder: &str) -> bool {
        let folder = Path::new(folder);
        if folder.exists() { project_root(folder) == self.project } else { folder.starts_with(self.project) }
    }

    fn session(
        &self,
        found: &Found,
        folder: &Path,
        seen: &mut BTreeSet<u64>,
        left_out: &mut LeftOut,
    ) -> io::Result<Option<Session>> {
        let path = &found.path;
        let preset = (!folder.as_os_str().is_empty()).then(|| folder.to_string_lossy().into_owned());
        let mut session = Session::new(self.source.as_str(), String::new(), preset.clone());
        match self.source {
            SourceName::ClaudeCode => {
                // The name of the file is the session, whatever the lines that it repeats say.
                session.id = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
                let mut branches = Branches::default();
                each_value(path, &mut LeftOut::default(), |line| branches.add(line))?;
                let dropped = branches.dropped();
                each_value(path, left_out, |line| claude_code::read(line, &dropped, seen, &mut session))?;
            }
            SourceName::Codex => each_value(path, left_out, |line| codex::read(line, seen, &mut session))?,
            SourceName::Gemini => {
                let mut chat = Chat::default();
                if is_object(path) {
                    chat.read(&object(path)?);
                } else {
                    each_value(path, left_out, |line| chat.read(line))?;
                }
                if chat.is_full {
                    left_out.add("messages beyond the limit of a session", &path.to_string_lossy());
                }
                return Ok(chat.session(preset));
            }
        }
        Ok(Some(session))
    }

    fn gemini_head(&self, found: &Found, chat: &mut Chat) -> io::Result<()> {
        if is_object(&found.path) {
            chat.read(&object(&found.path)?);
            return Ok(());
        }
        head(&found.path, |line| {
            chat.read(line);
            chat.project.is_none()
        })
    }
}

/// Returns true if a transcript is one JSON object, and not one per line.
fn is_object(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "json")
}

/// Reads a transcript that is one JSON object.
fn object(path: &Path) -> io::Result<Value> {
    let mut bytes = Vec::new();
    open(path)?.take(MAX_OBJECT + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_OBJECT {
        return Err(io::Error::other(format!("it is one JSON object of more than {} MiB", MAX_OBJECT >> 20)));
    }
    parsed(&bytes).map_err(|_| io::Error::other("it is not valid JSON, or incomplete"))
}

/// Opens a regular file, and unpacks it if it is compressed. The kind is checked before, because opening a pipe would block.
fn open(path: &Path) -> io::Result<Box<dyn Read>> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let file = File::open(path)?;
    Ok(if is_compressed(path) { Box::new(Unpacked::new(BufReader::new(file))?) } else { Box::new(file) })
}

/// The bytes of a file that `zstd` has compressed, in one frame or several.
struct Unpacked<R: BufRead> {
    /// Frame that is being unpacked; `None` at the end.
    frame: Option<StreamingDecoder<R, ruzstd::decoding::FrameDecoder>>,
}

impl<R: BufRead> Unpacked<R> {
    fn new(input: R) -> io::Result<Self> {
        let invalid = |error: FrameDecoderError| io::Error::other(format!("it cannot be unpacked: {error}"));
        Ok(Self { frame: Some(StreamingDecoder::new(input).map_err(invalid)?) })
    }
}

impl<R: BufRead> Read for Unpacked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(frame) = &mut self.frame {
            let count = frame.read(buffer)?;
            if count > 0 || buffer.is_empty() {
                return Ok(count);
            }
            let Some(mut rest) = self.frame.take().map(StreamingDecoder::into_inner) else { break };
            if !rest.fill_buf()?.is_empty() {
                *self = Self::new(rest)?;
            }
        }
        Ok(0)
    }
}

/// Calls a function with each line of a transcript that is JSON.
fn each_value(path: &Path, left_out: &mut LeftOut, mut take: impl FnMut(&Value)) -> io::Result<()> {
    let mut broken = 0;
    let mut input = BufReader::with_capacity(1 << 16, open(path)?.take(MAX_FILE));
    let skipped = each_line(&mut input, |line| {
        match parsed(line) {
            Ok(value) => take(&value),
            Err(_) => broken += 1,
        }
        true
    })?;
    let name = path.to_string_lossy();
    // A compressed file may hold much more than its own size.
    let rest = input.into_inner();
    if rest.limit() == 0 && rest.into_inner().read(&mut [0])? > 0 {
        left_out.add(&format!("the part of a transcript over {} MiB", MAX_FILE >> 20), &name);
    }
    left_out.add_many("lines that are not JSON", &name, broken);
    left_out.add_many(&format!("lines of more than {} MiB", MAX_LINE >> 20), &name, skipped);
    Ok(())
}

/// Calls a function with the first lines of a transcript, until it returns false.
fn head(path: &Path, mut take: impl FnMut(&Value) -> bool) -> io::Result<()> {
    let mut count = 0;
    each_line(BufReader::new(open(path)?.take(MAX_HEAD)), |line| {
        count += 1;
        let goes_on = parsed(line).ok().is_none_or(|value| take(&value));
        goes_on && count < HEAD_LINES
    })
    .map(|_| ())
}

/// Returns the folder in which a session of Claude Code or Codex ran.
fn folder_in_head(path: &Path) -> io::Result<Option<String>> {
    let mut folder = None;
    head(path, |line| {
        let named = line.get("cwd").or_else(|| line.get("payload")?.get("cwd"));
        folder = named.and_then(Value::as_str).map(String::from);
        folder.is_none()
    })?;
    Ok(folder)
}

/// Returns the time of the last change of a file, in RFC 3339.
fn time_of(found: &Found) -> String {
    let since = found.modified.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    saddlebag::store::utc_text(u64::try_from(since.as_nanos()).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use ruzstd::encoding::{CompressionLevel, compress_to_vec};
    use saddlebag_tests_shared::mutations::each_mutation;

    use super::*;

    /// Lines of each client, in our own words, with all that the readers look for.
    const LINES: [(SourceName, &str, &str); 4] = [
        (
            SourceName::ClaudeCode,
            "s.jsonl",
            r#"{"type":"user","uuid":"u1","parentUuid":null,"cwd":"/s","timestamp":"2026-11-02T09:00:00Z","message":{"content":"fix the tax report"}}
{"type":"assistant","uuid":"a1","parentUuid":"u1","message":{"content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"make"}},{"type":"tool_use","id":"t2","name":"Edit","input":{"file_path":"/s/a.py"}}]}}
{"type":"user","uuid":"r1","parentUuid":"a1","message":{"content":[{"type":"tool_result","tool_use_id":"t1","is_error":true}]}}
{"type":"assistant","uuid":"a2","parentUuid":"r1","message":{"content":[{"type":"text","text":"Done."}]}}"#,
        ),
        (
            SourceName::Codex,
            "rollout-1.jsonl",
            r#"{"timestamp":"2026-11-02T09:00:00Z","type":"session_meta","payload":{"id":"c1","cwd":"/s"}}
{"timestamp":"2026-11-02T09:00:01Z","type":"event_msg","payload":{"type":"user_message","message":"fix the tax report"}}
{"timestamp":"2026-11-02T09:00:02Z","type":"response_item","payload":{"type":"function_call","call_id":"1","arguments":"{\"command\":[\"bash\",\"-lc\",\"make\"]}"}}
{"timestamp":"2026-11-02T09:00:03Z","type":"response_item","payload":{"type":"function_call_output","call_id":"1","output":"{\"metadata\":{\"exit_code\":1}}"}}
{"timestamp":"2026-11-02T09:00:04Z","type":"event_msg","payload":{"type":"agent_message","message":"Done."}}"#,
        ),
        (
            SourceName::Gemini,
            "session-1.jsonl",
            r#"{"sessionId":"g1","projectHash":"x","directories":["/s"]}
{"id":"1","timestamp":"2026-11-02T09:00:00Z","type":"user","content":[{"text":"fix the tax report"}]}
{"id":"2","type":"gemini","content":"Done.","toolCalls":[{"id":"c","name":"run_shell_command","args":{"command":"make"},"status":"error"}]}
{"$rewindTo":"9"}
{"$set":{"messages":[{"id":"1","type":"user","content":"fix it once again"},{"id":"2","type":"gemini","content":"y"}]}}"#,
        ),
        (
            SourceName::Gemini,
            "session-2.json",
            r#"{"sessionId":"g2","projectHash":"x","messages":[{"id":"1","type":"user","content":"fix the tax report"},{"id":"2","type":"gemini","content":"Done."}]}"#,
        ),
    ];

    fn read(source: SourceName, path: &Path) -> (Sessions, LeftOut) {
        let project = path.parent().expect("a folder");
        let wanted = Wanted { source, project, all_projects: true, since: None, limit: 9 };
        let size = fs::metadata(path).expect("a file").len();
        let found = Found { path: path.into(), size, modified: std::time::UNIX_EPOCH, is_named: false };
        let mut left_out = LeftOut::default();
        let sessions = wanted.read(Listing { files: vec![found], unreadable: Vec::new() }, &mut left_out);
        (sessions, left_out)
    }

    #[test]
    fn a_damaged_compressed_transcript_is_reported_or_read_in_part() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("rollout-1.jsonl.zst");
        let packed = compress_to_vec(LINES[1].2.as_bytes(), CompressionLevel::Fastest);
        fs::write(&path, &packed).expect("written");
        assert_eq!(read(SourceName::Codex, &path).0.notes.len(), 1);
        for at in 0..packed.len() {
            let mut bytes = packed.clone();
            bytes[at] ^= 1 << (at % 8);
            bytes.truncate(if at % 3 == 0 { at } else { packed.len() });
            fs::write(&path, &bytes).expect("written");
            let (sessions, left_out) = read(SourceName::Codex, &path);
            let named = sessions.unreadable.len() + sessions.notes.len() + left_out.iter().count();
            assert!(named > 0, "byte {at}");
        }
    }

    #[test]
    fn the_head_of_a_compressed_transcript_is_bounded() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("rollout-1.jsonl.zst");
        // One line without an end, of which only a part is unpacked.
        let long = vec![b' '; usize::try_from(MAX_HEAD).expect("fits") + (1 << 20)];
        let mut text = long;
        text.extend_from_slice(LINES[1].2.as_bytes());
        fs::write(&path, compress_to_vec(text.as_slice(), CompressionLevel::Fastest)).expect("written");
        assert!(fs::metadata(&path).expect("a file").len() < 1 << 20);
        assert_eq!(folder_in_head(&path).expect("read"), None);
    }

    #[test]
    fn broken_and_hostile_transcripts_never_fail_and_give_bounded_notes() {
        let folder = tempfile::tempdir().expect("a folder");
        for (source, name, lines) in LINES {
            let path = folder.path().join(name);
            // In each further sample, one value has another type.
            let values = lines.match_indices(":\"").map(|(at, _)| at + 1);
            let retyped = values.zip(["null", "[]", "{}", "0", "true"].into_iter().cycle()).map(|(at, other)| {
                let end = lines[at + 1..].find('"').map_or(lines.len(), |end| at + end + 2);
                format!("{}{other}{}", &lines[..at], &lines[end..])
            });
            let samples: Vec<String> = retyped.chain([lines.to_string()]).collect();
            let samples: Vec<&[u8]> = samples.iter().map(String::as_bytes).collect();
            let mut made = 0;
            each_mutation(3, &samples, 1_000, |bytes| {
                fs::write(&path, bytes).expect("written");
                let (sessions, left_out) = read(source, &path);
                made += sessions.notes.len();
                for note in &sessions.notes {
                    let is_bounded = note.title.len() <= 160 && note.content.len() <= 12_000 && note.id.len() <= 300;
                    assert!(is_bounded && !note.title.chars().any(char::is_control), "{note:?}");
                }
                assert!(left_out.iter().all(|(reason, _, first)| reason.len() < 200 && first.len() <= 200));
            });
            assert!(made > 20, "{name}: only {made} of the broken transcripts gave a note");
        }
    }

    #[test]
    fn what_is_over_a_limit_or_of_another_project_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let (source, name, lines) = LINES[0];
        let path = folder.path().join(name);
        fs::write(&path, lines).expect("written");
        let project = folder.path().join("other");
        let listing = |size| {
            let found = Found { path: path.clone(), size, modified: std::time::UNIX_EPOCH, is_named: false };
            Listing { files: vec![found], unreadable: Vec::new() }
        };
        let read = |all_projects, since, limit, size| {
            let mut left_out = LeftOut::default();
            let wanted = Wanted { source, project: &project, all_projects, since, limit };
            let sessions = wanted.read(listing(size), &mut left_out);
            (sessions.notes.len(), left_out)
        };
        for ((notes, left_out), reason) in [
            (read(false, None, 9, 1), "of another project"),
            (read(true, None, 0, 1), "over --limit"),
            (read(true, None, 9, MAX_FILE + 1), "larger than 256 MiB"),
            (read(true, Some(u64::MAX), 9, 1), "before --since"),
        ] {
            assert_eq!((notes, left_out.count(reason)), (0, 1), "{reason}: {left_out:?}");
        }
        assert_eq!(read(true, None, 9, 1).0, 1);
    }
}
