//! [`Log`]: the lines of a log.

use core::ops::Range;

use memchr::memmem::Finder;
use memchr::{memchr, memrchr};

use crate::line::{Head, json_string};

/// The bytes of a log: the lines of [`Record::to_line`](crate::Record::to_line), one after the other.
///
/// A writer that died may leave an incomplete line at the end. Before it appends, a writer must look at the last byte: if it is
/// not a line end, the writer begins with one.
#[derive(Clone, Copy, Debug)]
pub struct Log<'a> {
    bytes: &'a [u8],
}

impl<'a> Log<'a> {
    /// Returns the log that has these bytes.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// Returns the records, oldest first.
    pub fn lines(self) -> Lines<'a> {
        Lines { bytes: self.bytes, position: 0, wanted: None, damaged: 0 }
    }

    /// Returns the records whose line contains a path as a JSON string, oldest first. The path may also be that before a move, or
    /// text such as a reason, so check each change. The other lines are neither parsed nor checked for damage.
    pub fn lines_with(self, path: &str) -> Lines<'a> {
        let wanted = Finder::new(json_string(path).as_bytes()).into_owned();
        Lines { bytes: self.bytes, position: 0, wanted: Some(wanted), damaged: 0 }
    }
}

/// A record and its place in the log.
#[derive(Debug)]
pub struct Line<'a> {
    /// Bytes of the line in the log, with the line end.
    pub range: Range<usize>,
    /// The record.
    pub head: Head<'a>,
}

/// The records of a log, oldest first.
#[derive(Clone, Debug)]
pub struct Lines<'a> {
    bytes: &'a [u8],
    position: usize,
    /// JSON of the path.
    wanted: Option<Finder<'static>>,
    damaged: usize,
}

impl Lines<'_> {
    /// Returns the number of lines so far that are not records, without empty ones.
    pub fn damaged(&self) -> usize {
        self.damaged
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = Line<'a>;

    fn next(&mut self) -> Option<Line<'a>> {
        loop {
            let mut begin = self.position;
            let mut rest = self.bytes.get(begin..)?;
            if let Some(wanted) = &self.wanted {
                let found = wanted.find(rest)?;
                let line = memrchr(b'\n', rest.get(..found)?).map_or(0, |end| end + 1);
                begin += line;
                rest = rest.get(line..)?;
            }
            if rest.is_empty() {
                return None;
            }
            let line = rest.get(..memchr(b'\n', rest).map_or(rest.len(), |end| end + 1))?;
            self.position = begin + line.len();
            match core::str::from_utf8(line).ok().and_then(Head::from_line) {
                Some(head) => return Some(Line { range: begin..self.position, head }),
                None if line == b"\n" => {}
                None => self.damaged += 1,
            }
        }
    }
}
