//! [`unified`]: a difference of two texts for people.

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use crate::diff::hunks;

/// Returns the difference of two texts as `git diff` shows it, without the lines that name the files: each hunk with `context`
/// common lines around it. Empty if the texts are equal.
///
/// ```
/// use saddlebag_log::unified;
///
/// assert_eq!(unified("one\ntwo\n", "one\n2\n", 3), "@@ -1,2 +1,2 @@\n one\n-two\n+2\n");
/// ```
pub fn unified(before: &str, after: &str, context: usize) -> String {
    let lines_before: Vec<&str> = before.split_inclusive('\n').collect();
    let lines_after: Vec<&str> = after.split_inclusive('\n').collect();
    let mut out = String::new();
    let mut hunks = changed_lines(before, after).into_iter().peekable();
    while let Some(first) = hunks.next() {
        let mut group = Vec::from([first]);
        // Hunks share their header if the context between them leaves nothing out.
        while let (Some(last), Some(next)) = (group.last(), hunks.peek())
            && next.before.start.saturating_sub(last.before.end) <= context.saturating_mul(2)
            && let Some(next) = hunks.next()
        {
            group.push(next);
        }
        write_group(&mut out, &group, &lines_before, &lines_after, context);
    }
    out
}

/// A part that is different, in lines.
struct Changed {
    before: Range<usize>,
    after: Range<usize>,
}

fn changed_lines(before: &str, after: &str) -> Vec<Changed> {
    let mut count_before = Counter::new(before);
    let mut count_after = Counter::new(after);
    let lines = |range: &Range<usize>, of: &mut Counter<'_>| of.line_at(range.start)..of.line_at(range.end);
    hunks(before.as_bytes(), after.as_bytes())
        .into_iter()
        .map(|hunk| Changed {
            before: lines(&hunk.before, &mut count_before),
            after: lines(&hunk.after, &mut count_after),
        })
        .collect()
}

/// Counts the lines before a byte. The bytes are asked for in their order.
struct Counter<'a> {
    bytes: &'a [u8],
    position: usize,
    lines: usize,
}

impl<'a> Counter<'a> {
    fn new(text: &'a str) -> Self {
        Self { bytes: text.as_bytes(), position: 0, lines: 0 }
    }

    fn line_at(&mut self, byte: usize) -> usize {
        let passed = self.bytes.get(self.position..byte).unwrap_or_default();
        self.lines += memchr::memchr_iter(b'\n', passed).count();
        // The last line may have no end.
        if byte == self.bytes.len() && !passed.is_empty() && !passed.ends_with(b"\n") {
            self.lines += 1;
        }
        self.position = byte;
        self.lines
    }
}

fn write_group(out: &mut String, group: &[Changed], before: &[&str], after: &[&str], context: usize) {
    let (Some(first), Some(last)) = (group.first(), group.last()) else { return };
    let lead = first.before.start.min(context);
    let trail = before.len().saturating_sub(last.before.end).min(context);
    let range_before = first.before.start - lead..last.before.end + trail;
    let range_after = first.after.start.saturating_sub(lead)..last.after.end + trail;
    out.push_str(&format!("@@ -{} +{} @@\n", header(&range_before), header(&range_after)));
    let mut position = range_before.start;
    for changed in group {
        write_lines(out, ' ', before, position..changed.before.start);
        write_lines(out, '-', before, changed.before.clone());
        write_lines(out, '+', after, changed.after.clone());
        position = changed.before.end;
    }
    write_lines(out, ' ', before, position..range_before.end);
}

/// Returns the first line and the number of lines, which is left out if it is 1. An empty range names the line before it.
fn header(lines: &Range<usize>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => format!("{}", lines.start + 1),
        count => format!("{},{count}", lines.start + 1),
    }
}

fn write_lines(out: &mut String, mark: char, lines: &[&str], range: Range<usize>) {
    for line in lines.get(range).unwrap_or_default() {
        out.push(mark);
        out.push_str(line);
        if !line.ends_with('\n') {
            out.push_str("\n\\ No newline at end of file\n");
        }
    }
}
