//! Text that a person expunged on one machine: the others find it with [`ExpungedTexts`], and a person there removes it.
//!
//! The shared log has the lines of all machines. The machine's own log has those that nothing is left to do for. A line comes from
//! outside, so it removes nothing: `sync` names it, and keeps the text from going back.

use std::collections::BTreeSet;
use std::path::Path;

use saddlebag::protocol::ErrorCode;
use saddlebag::store::{Layout, PathError, RelPath};

use super::digests::{ExpungedLine, ExpungedPlace, unite};
use super::disk::{Change, Disk};
use super::incoming::{COMMAND, ExpungedTexts, Received};
use super::memories::versions;
use super::names::original_path;
use crate::failure::Failure;
use crate::git::repository::{Difference, Repository};
use crate::global::Global;
use crate::output::{Output, single_line};
use crate::setup::sharing::{self, is_backup, is_state};
use crate::store::Root;

/// Maximum number of attempts to change a log that others change meanwhile.
const ATTEMPTS: usize = 5;

/// Number of contents of git that are in memory at once.
const READ_AT_ONCE: usize = 500;

/// Name of the machine's own log, in the folder of the state.
const OWN_LOG: &str = ".saddlebag/expunged.log";

/// The texts that were expunged on any machine, and those of them that are here.
pub(super) struct Expunges<'a> {
    global: &'a Global,
    pub(super) texts: ExpungedTexts,
    /// Lines of all machines.
    shared: String,
    /// Paths whose versions were searched.
    searched: BTreeSet<String>,
}

impl<'a> Expunges<'a> {
    /// Reads the logs of this machine, and searches for what others expunged.
    pub(super) fn open(disk: &mut Disk<'_>, global: &'a Global, output: &mut Output) -> Result<Self, Failure> {
        let mut expunges = Self::known(disk, global)?;
        let known = expunges.shared.clone();
        expunges.learn(&known, disk, output)?;
        Ok(expunges)
    }

    /// Reads the logs of this machine. Only the text that comes in is searched for what others expunged.
    pub(super) fn known(disk: &mut Disk<'_>, global: &'a Global) -> Result<Self, Failure> {
        let (own, shared) = (text(disk, &own_log()?)?, text(disk, &shared_log()?)?);
        let mut texts = ExpungedTexts::new(own);
        let shared = unite(texts.own(), &shared);
        texts.digests.add(&shared);
        Ok(Self { global, texts, shared, searched: BTreeSet::new() })
    }

    /// Takes the lines of a log of another machine, and searches for their texts.
    pub(super) fn learn(&mut self, log: &str, disk: &mut Disk<'_>, output: &mut Output) -> Result<(), Failure> {
        self.shared = unite(&self.shared, log);
        self.texts.digests.add(&self.shared);
        let open: Vec<String> = self.texts.open_lines().flat_map(ExpungedLine::paths).map(String::from).collect();
        for path in open {
            let Ok(file) = RelPath::new(path.clone()) else { continue };
            if is_state(&path) || !self.searched.insert(path) {
                continue;
            }
            for file in [file.clone(), Layout::backup_of(&file)] {
                if let Some(known) = disk.read(&file)? {
                    self.texts.digests.look(&known.bytes);
                }
            }
            for version in versions(&file, self.global, output) {
                self.texts.digests.look(&version);
            }
        }
        if self.texts.open_lines().any(ExpungedLine::hides_path) {
            self.look_for_names(disk)?;
        }
        self.look_for_notes(disk, output)
    }

    /// Searches the files and the commits for texts whose files are not named.
    fn look_for_names(&mut self, disk: &mut Disk<'_>) -> Result<(), Failure> {
        for path in disk.files()? {
            if let Some(known) = disk.read(&path)? {
                self.texts.digests.look_named(path.as_str(), &known.bytes);
            }
        }
        let root = Root::from_options(self.global)?;
        for (path, content) in committed(root.folder()?)? {
            self.texts.digests.look_named(&path, &content);
        }
        Ok(())
    }

    /// Searches the files for versions of notes that were expunged as a whole, also under another path.
    fn look_for_notes(&mut self, disk: &mut Disk<'_>, output: &mut Output) -> Result<(), Failure> {
        let with_note = |line: &&ExpungedLine| line.note().is_some();
        let open: Vec<ExpungedLine> = self.texts.open_lines().filter(with_note).cloned().collect();
        let paths: BTreeSet<String> =
            self.texts.digests.lines().iter().filter_map(ExpungedLine::note).map(|note| note.path.clone()).collect();
        if paths.is_empty() {
            return Ok(());
        }
        for path in disk.files()? {
            // A conflict copy is a version of its note.
            let copy = original_path(&path).map(|(original, _)| original);
            let mut of: Vec<&RelPath> = [Some(&path), copy.as_ref()].into_iter().flatten().collect();
            of.retain(|path| paths.contains(path.as_str()));
            if of.is_empty() && open.is_empty() {
                continue;
            }
            let Some(known) = disk.read(&path)? else { continue };
            // Another note may have been made in the same second. Only this one had the text.
            let mut is_moved = |line: &&ExpungedLine| {
                line.note().is_some_and(|note| note.is_dated() && note.is_in(&known.bytes))
                    && versions(&path, self.global, output).iter().any(|version| self.texts.digests.is_in(version))
            };
            let moved = open.iter().find(&mut is_moved).cloned();
            let line = of.iter().find_map(|of| self.texts.line_of_note(of.as_str(), &known.bytes)).or(moved);
            self.texts.notes.extend(line.map(|line| (path, line)));
        }
        Ok(())
    }

    /// Puts the expunged texts of all files that fit into the report: another tool may have brought them.
    pub(super) fn report_files(
        &mut self,
        disk: &mut Disk<'_>,
        is_wanted: impl Fn(&RelPath) -> bool,
    ) -> Result<(), Failure> {
        if self.texts.digests.lines().is_empty() {
            return Ok(());
        }
        for path in disk.files()?.iter().filter(|path| is_wanted(path)) {
            let Some(known) = disk.read(path)? else { continue };
            let original = original_path(path).map(|(original, _)| disk.read(&original)).transpose()?.flatten();
            if let Some(original) = original {
                self.texts.look_beside(&original.bytes, &known.bytes);
            }
            self.texts.report(path, None, &known.bytes);
        }
        Ok(())
    }

    /// Refuses to send a file with an expunged text, unless the remote repository has the text in the same file.
    pub(super) fn check_sent(
        &mut self,
        repository: &Repository,
        sent: &[Difference],
        disk: &mut Disk<'_>,
        dry_run: bool,
    ) -> Result<(), Failure> {
        if self.texts.digests.lines().is_empty() {
            return Ok(());
        }
        for some in sent.chunks(READ_AT_ONCE) {
            let (changes, blobs): (Vec<&Difference>, Vec<String>) =
                some.iter().filter_map(|change| Some((change, change.after.clone()?))).unzip();
            for (change, content) in changes.into_iter().zip(repository.contents(&blobs)?) {
                let shown = repository.shown(&change.path).unwrap_or_default();
                let is_note = self.texts.is_note(&shown, &content);
                let before = match self.texts.is_in(&content) || is_note {
                    true => repository.contents(change.before.as_slice())?,
                    false => continue,
                };
                if !is_note && before.iter().any(|content| self.texts.is_in(content)) {
                    continue;
                }
                if !dry_run {
                    self.write_shared(disk)?;
                }
                return Err(brings_back(&change.path));
            }
        }
        Ok(())
    }

    pub(super) fn write_shared(&self, disk: &mut Disk<'_>) -> Result<(), Failure> {
        add_lines(disk, &shared_log()?, &self.shared)
    }

    /// Writes the logs. Nothing is left to do for texts that are not here.
    pub(super) fn finish(&mut self, disk: &mut Disk<'_>) -> Result<Vec<Received>, Failure> {
        let left = self.texts.left();
        let here: Vec<String> = left.iter().map(|left| left.line.line()).collect();
        let done =
            self.texts.open_lines().map(ExpungedLine::line).filter(|line| !here.contains(line)).collect::<String>();
        if !self.shared.is_empty() {
            self.write_shared(disk)?;
            add_lines(disk, &own_log()?, &done)?;
        }
        Ok(left)
    }
}

/// Finds the texts that other machines expunged and that are here, with their lines.
pub(crate) fn received(global: &Global, output: &mut Output) -> Result<Vec<Received>, Failure> {
    let mut disk = Disk::open(global, "expunge")?;
    let mut expunges = Expunges::open(&mut disk, global, output)?;
    expunges.report_files(&mut disk, |_| true)?;
    Ok(expunges.texts.left())
}

/// Returns the failure for a file that would bring expunged text back.
pub(super) fn brings_back(path: &str) -> Failure {
    let path = single_line(path);
    let message = format!("`{path}` has text that was expunged, and would bring it back");
    Failure::new(ErrorCode::Conflict, message, format!("{COMMAND}; then run this again"))
}

/// Returns the contents that git has of the store's files in all commits, with their paths.
fn committed(root: &Path) -> Result<Vec<(String, Vec<u8>)>, Failure> {
    let mut found = Vec::new();
    if sharing::is_in_git(root) {
        let repository = Repository::open(root, root)?;
        let blobs = repository.head.as_deref().map(|head| repository.new_blobs(head, None)).transpose()?;
        for some in blobs.unwrap_or_default().chunks(READ_AT_ONCE) {
            let ids: Vec<String> = some.iter().map(|(blob, _)| blob.clone()).collect();
            let contents = some.iter().zip(repository.contents(&ids)?);
            found.extend(contents.filter_map(|((_, path), content)| Some((repository.shown(path)?, content))));
        }
    }
    Ok(found)
}

/// Returns the line for text that is about to be expunged; `None` if no shared file has it. `item` is the path and the content of a
/// note that is expunged as a whole.
pub(crate) fn line_for(
    text: &str,
    item: Option<(&str, &str)>,
    root: &Path,
    global: &Global,
) -> Result<Option<ExpungedLine>, Failure> {
    let shared = sharing::shared(root)?;
    if shared.is_empty() {
        return Ok(None);
    }
    let mut places = BTreeSet::new();
    let mut add = |path: &str, content: &[u8]| {
        if sharing::is_shared(&shared, path) && !is_state(path) && !is_backup(path) {
            places.extend(ExpungedPlace::of(path, content, text));
        }
    };
    let mut disk = Disk::open(global, "expunge")?;
    for path in disk.files()? {
        if let Some(known) = disk.read(&path)? {
            add(path.as_str(), &known.bytes);
        }
    }
    for (path, content) in committed(root)? {
        add(&path, &content);
    }
    let now = global.now.unwrap_or_else(saddlebag_host::now);
    let line = ExpungedLine::new(text, places, now.seconds);
    let item = item.filter(|(path, _)| sharing::is_shared(&shared, path));
    Ok(match item {
        Some((path, content)) => line.map(|line| line.of_note(path, content, text)),
        None => line,
    })
}

/// Writes a line to the logs, for this machine and for the others.
pub(crate) fn share(line: &ExpungedLine, global: &Global) -> Result<(), Failure> {
    let mut disk = Disk::open(global, "expunge")?;
    for log in [own_log()?, shared_log()?] {
        add_lines(&mut disk, &log, &line.line())?;
    }
    Ok(())
}

fn own_log() -> Result<RelPath, Failure> {
    valid(RelPath::new(OWN_LOG))
}

fn shared_log() -> Result<RelPath, Failure> {
    valid(RelPath::new(sharing::EXPUNGED))
}

fn valid(path: Result<RelPath, PathError>) -> Result<RelPath, Failure> {
    path.map_err(|error| Failure::new(ErrorCode::Internal, format!("the path of a log: {error}"), ""))
}

fn text(disk: &mut Disk<'_>, path: &RelPath) -> Result<String, Failure> {
    Ok(disk.read(path)?.map(|known| String::from_utf8_lossy(&known.bytes).into_owned()).unwrap_or_default())
}

/// Adds lines to a log.
fn add_lines(disk: &mut Disk<'_>, log: &RelPath, lines: &str) -> Result<(), Failure> {
    for _ in 0..ATTEMPTS {
        let known = disk.read(log)?;
        let before = known.as_ref().map(|known| String::from_utf8_lossy(&known.bytes).into_owned()).unwrap_or_default();
        if lines.lines().all(|line| before.lines().any(|known| known == line))
            || disk.write_log(log, known.as_ref(), unite(&before, lines))? == Change::Made
        {
            return Ok(());
        }
    }
    let message = format!("`{log}` was changed {ATTEMPTS} times meanwhile");
    Err(Failure::new(ErrorCode::Contention, message, "run this again"))
}
