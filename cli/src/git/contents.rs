//! The contents of files in a repository: they are read and stored many at a time, as a process of git for each is slow.

use saddlebag::protocol::ErrorCode;

use super::repository::Repository;
use super::run::MAX_OUTPUT;
use crate::failure::{Failure, ProgramCode};

impl Repository {
    /// Returns the contents of blobs.
    pub(crate) fn contents(&self, blobs: &[String]) -> Result<Vec<Vec<u8>>, Failure> {
        let sizes = self.sizes(blobs)?;
        let mut contents = Vec::with_capacity(blobs.len());
        let mut rest = blobs;
        while !rest.is_empty() {
            let mut bytes = 0;
            let fits = |size: &&u64| {
                bytes += **size;
                bytes <= MAX_OUTPUT / 2
            };
            let count = sizes.get(contents.len()..).unwrap_or_default().iter().take_while(fits).count();
            let (some, later) = rest.split_at(count.clamp(1, rest.len()));
            self.contents_of(some, &mut contents)?;
            rest = later;
        }
        Ok(contents)
    }

    /// Returns the content that a file has in a commit, with its path relative to the top of the work tree; `None` if it is not there.
    pub(crate) fn content_at(&self, commit: &str, path: &str) -> Result<Option<Vec<u8>>, Failure> {
        let named = format!("{commit}:{path}");
        let Ok(blob) = self.lines(&["rev-parse", "--verify", "--quiet", &named]) else { return Ok(None) };
        Ok(self.contents(&blob)?.pop())
    }

    /// Returns the contents of files in a commit, through one process; `None` for a file that it does not have.
    pub(crate) fn contents_at(&self, commit: &str, paths: &[String]) -> Result<Vec<Option<Vec<u8>>>, Failure> {
        let names: String = paths.iter().map(|path| format!("{commit}:{path}\n")).collect();
        let output = self.read(&["cat-file", "--batch"], names.as_bytes())?;
        let mut rest = output.as_slice();
        let mut contents = Vec::new();
        for _ in paths {
            // `ID blob SIZE`, a line end, the bytes, and a line end; or `NAME missing` and a line end.
            let Some(end) = rest.iter().position(|byte| *byte == b'\n') else { break };
            let (head, after) = rest.split_at(end + 1);
            let head = String::from_utf8_lossy(head);
            let size = head.trim_end().split_once(" blob ").and_then(|(_, size)| size.parse::<usize>().ok());
            contents.push(size.and_then(|size| after.get(..size)).map(<[u8]>::to_vec));
            rest = after.get(size.map_or(0, |size| size + 1)..).unwrap_or_default();
        }
        contents.resize(paths.len(), None);
        Ok(contents)
    }

    fn contents_of(&self, blobs: &[String], contents: &mut Vec<Vec<u8>>) -> Result<(), Failure> {
        let names: String = blobs.iter().map(|blob| format!("{blob}\n")).collect();
        let output = self.read(&["cat-file", "--batch"], names.as_bytes())?;
        let mut rest = output.as_slice();
        for blob in blobs {
            // `ID blob SIZE`, a line end, the bytes, and a line end.
            let content = (|| {
                let end = rest.iter().position(|byte| *byte == b'\n')?;
                let head = std::str::from_utf8(rest.get(..end)?).ok()?;
                let size: usize = head.strip_prefix(blob.as_str())?.strip_prefix(" blob ")?.parse().ok()?;
                let content = rest.get(end + 1..end + 1 + size)?;
                rest = rest.get(end + size + 2..)?;
                Some(content.to_vec())
            })();
            contents.push(content.ok_or_else(|| missing(blob))?);
        }
        Ok(())
    }

    /// Returns the sizes of blobs, in bytes.
    pub(crate) fn sizes(&self, blobs: &[String]) -> Result<Vec<u64>, Failure> {
        if blobs.is_empty() {
            return Ok(Vec::new());
        }
        let names: String = blobs.iter().map(|blob| format!("{blob}\n")).collect();
        let output = self.read(&["cat-file", "--batch-check=%(objecttype) %(objectsize)"], names.as_bytes())?;
        let output = String::from_utf8_lossy(&output);
        let size = |line: &str| line.strip_prefix("blob ")?.trim().parse().ok();
        blobs.iter().zip(output.lines()).map(|(blob, line)| size(line).ok_or_else(|| missing(blob))).collect()
    }

    /// Returns the blobs of commits that another one does not have, each with its path.
    pub(crate) fn new_blobs(&self, commit: &str, known: Option<&str>) -> Result<Vec<(String, String)>, Failure> {
        let known = known.map(|known| format!("^{known}"));
        let mut arguments =
            vec!["rev-list", "--objects", "--filter=object:type=blob", "--filter-provided-objects", commit];
        arguments.extend(known.as_deref());
        let lines = self.lines(&arguments)?;
        Ok(lines
            .iter()
            .filter_map(|line| line.split_once(' '))
            .map(|(blob, path)| (blob.into(), path.into()))
            .collect())
    }

    /// Returns the identifier of a content, as `git add` would store it at this path.
    pub(crate) fn blob(&self, path: &str, bytes: &[u8], is_kept: bool) -> Result<String, Failure> {
        let place = format!("--path={path}");
        let mut arguments = vec!["hash-object", "--stdin", &place];
        if is_kept {
            arguments.push("-w");
        }
        self.line(&arguments, bytes)
    }

    /// Stores contents of files in the work tree as `git add` would, and returns their blobs.
    pub(crate) fn blobs(&self, files: &[(String, Vec<u8>)]) -> Result<Vec<String>, Failure> {
        let is_plain = |path: &String| !path.contains('\n') && !path.starts_with('"');
        let names: String = files.iter().map(|(path, _)| format!("{path}\n")).collect();
        // git reads the files itself. It fails if one is gone meanwhile.
        let known = match files.iter().all(|(path, _)| is_plain(path)) && files.len() > 1 {
            true => self.read(&["hash-object", "-w", "--stdin-paths"], names.as_bytes()).ok(),
            false => None,
        };
        let known = String::from_utf8_lossy(known.as_deref().unwrap_or_default()).into_owned();
        let mut known = known.lines();
        let mut blobs = Vec::with_capacity(files.len());
        for (path, bytes) in files {
            let is_same = |_: &&str| self.bytes(path).as_ref() == Some(bytes);
            blobs.push(match known.next().filter(is_same) {
                Some(blob) => blob.to_string(),
                None => self.blob(path, bytes, true)?,
            });
        }
        Ok(blobs)
    }

    /// Stores contents as they are, and returns their blobs.
    pub(crate) fn store(&self, contents: &[Vec<u8>]) -> Result<Vec<String>, Failure> {
        match contents {
            [] => return Ok(Vec::new()),
            [one] => return Ok(vec![self.line(&["hash-object", "-w", "--stdin"], one)?]),
            _ => {}
        }
        let mut commands = Vec::new();
        for (mark, content) in contents.iter().enumerate() {
            let mark = mark + 1;
            commands.extend(format!("blob\nmark :{mark}\ndata {}\n", content.len()).into_bytes());
            commands.extend_from_slice(content);
            commands.extend(format!("\nget-mark :{mark}\n").into_bytes());
        }
        commands.extend_from_slice(b"done\n");
        let output = self.read(&["fast-import", "--quiet", "--done"], &commands)?;
        let blobs: Vec<String> = String::from_utf8_lossy(&output).lines().map(String::from).collect();
        match blobs.len() == contents.len() {
            true => Ok(blobs),
            false => {
                let message = format!("`git fast-import` stored {} of {} contents", blobs.len(), contents.len());
                Err(Failure::new(ErrorCode::Storage, message, "run this again"))
            }
        }
    }
}

fn missing(blob: &str) -> Failure {
    let message = format!("git does not have the content {blob}");
    Failure::new(ProgramCode::Input, message, "run `git fsck` to see what is missing")
}
