//! [`Program`]: the stem of a word, by the rules of a language as data.
//!
//! The rules in `stems/` are those of the [Snowball](https://snowballstem.org) stemmers, version 3.1.1, in a short notation.
//! `stems/LICENSE` is Snowball's licence. One interpreter takes a fifth of the space that seven compiled stemmers take.
//!
//! # Notation
//!
//! A command moves a cursor over the word and may change the word. It succeeds or fails. White space between commands is
//! ignored. Rules begin forwards, at the start of the word; within `%` they go backwards, from its end.
//!
//! | Command | What it does |
//! | --- | --- |
//! | `"ab"` `v` `^v` `.` `_` | Steps over this text; a letter of the set `v`; a letter outside of it; any letter. `_`: is at the end |
//! | `[` `]` | Marks where a slice begins and ends, in the direction of the rules |
//! | `="ab"` `-` | Replaces the slice by a text; deletes it |
//! | `$` `:1` `,13` | Puts all marks 0 to 3 at the end of the word; mark 1 at the cursor; mark 1 at mark 3 if that is later |
//! | `1` `#1` | The cursor is at mark 1 or after it; is at mark 1 |
//! | `(X Y)` `{X\|Y}` `B` | All in turn; the first that succeeds; the commands of the definition `B` |
//! | `?X` `~X` `&X` `!X` | Tries `X`; does `X` and goes back; succeeds if `X` does, and goes back; succeeds if `X` fails |
//! | `*X` `@X` `+X` | Repeats `X` until it fails; goes to where `X` succeeds; goes to the end of that |
//! | `/1 X` `%X` | `X` goes back as far as mark 1; `X` goes backwards, from the end |
//! | `<P;ab cd:X\|_:Y>` | Steps over the longest of these texts, then does `P`, and `X` or `Y` (`_` is the empty text). `P` may begin with `/1` |
//!
//! A program begins with its sets, a line each: the name, a lower-case letter, and the letters of the set. Definitions follow, each below
//! a line with its name, a capital letter. `M` is the definition that is run.

use saddlebag_collections::prelude::*;

/// The rules of a language.
pub(super) struct Program {
    text: &'static [u8],
    /// For each `(`, `{`, `<`, `|` and `;` the next `|` or `;` of the same brackets, or the bracket that closes them.
    next: Vec<u16>,
    /// Line of each set and of each definition, by its name.
    lines: [u16; 128],
}

impl Program {
    pub(super) fn new(text: &'static str) -> Self {
        let text = text.as_bytes();
        let mut program = Self { text, next: vec![0; text.len()], lines: [0; 128] };
        let (mut open, mut is_quoted, mut before) = (Vec::new(), false, b'\n');
        for (at, &op) in text.iter().enumerate() {
            let place = u16::try_from(at).unwrap_or_default();
            is_quoted ^= op == b'"';
            if !is_quoted
                && matches!(op, b'|' | b';' | b')' | b'}' | b'>')
                && let Some(next) = open.pop().and_then(|from: usize| program.next.get_mut(from))
            {
                *next = place;
            }
            if !is_quoted && matches!(op, b'|' | b';' | b'(' | b'{' | b'<') {
                open.push(at);
            }
            if core::mem::replace(&mut before, op) == b'\n'
                && op.is_ascii_alphabetic()
                && let Some(line) = program.lines.get_mut(usize::from(op))
            {
                *line = place;
            }
        }
        program
    }

    /// Replaces the content of `out` by the stem of a word in lower case.
    pub(super) fn stem(&self, word: &str, out: &mut String) {
        let mut text = core::mem::take(out).into_bytes();
        text.clear();
        text.extend_from_slice(word.as_bytes());
        let (limit, slice) = (text.len(), (0, 0));
        let mut run =
            Run { program: self, text, cursor: 0, limit, floor: 0, is_backward: false, slice, marks: [limit; 4] };
        run.definition(b'M');
        debug_assert!(core::str::from_utf8(&run.text).is_ok(), "a broken invariant: a stem ends within a letter");
        *out = String::from_utf8(run.text).unwrap_or_default();
    }

    fn op(&self, at: usize) -> u8 {
        self.text.get(at).copied().unwrap_or(0)
    }

    fn next(&self, at: usize) -> usize {
        self.next.get(at).copied().map_or(0, usize::from)
    }

    /// Returns the bracket that closes those of a `(`, `{`, `<`, `|` or `;`, or the position of a closing bracket itself.
    fn close(&self, mut at: usize) -> usize {
        while matches!(self.op(at), b'(' | b'{' | b'<' | b'|' | b';') {
            at = self.next(at);
        }
        at
    }

    /// Returns the position of the quote at the end of a literal.
    fn end_of_text(&self, at: usize) -> usize {
        let rest = self.text.get(at..).unwrap_or_default();
        at + rest.iter().position(|byte| *byte == b'"').unwrap_or(rest.len())
    }

    /// Returns the position after a command.
    fn skip(&self, at: usize) -> usize {
        match self.op(at) {
            b'(' | b'{' | b'<' => self.close(at) + 1,
            b'"' => self.end_of_text(at + 1) + 1,
            b'=' => self.end_of_text(at + 2) + 1,
            b'?' | b'~' | b'&' | b'!' | b'*' | b'@' | b'+' | b'%' => self.skip(at + 1),
            b'/' => self.skip(at + 2),
            b':' | b'#' | b'^' => at + 2,
            b',' => at + 3,
            _ => at + 1,
        }
    }

    /// Returns the letters of a set.
    fn set(&self, name: u8) -> &'static [u8] {
        let line = self.lines.get(usize::from(name)).copied().map_or(0, usize::from);
        let rest = self.text.get(line + 2..).unwrap_or_default();
        rest.iter().position(|byte| *byte == b'\n').and_then(|end| rest.get(..end)).unwrap_or_default()
    }
}

/// One word while the commands change it. All positions in it are bytes, between two letters.
struct Run<'p> {
    program: &'p Program,
    text: Vec<u8>,
    cursor: usize,
    limit: usize,
    /// Where going backwards ends.
    floor: usize,
    is_backward: bool,
    slice: (usize, usize),
    marks: [usize; 4],
}

impl Run<'_> {
    /// Runs the command at a position of the program, and returns the position after it; `None` if it failed.
    fn command(&mut self, at: usize) -> Option<usize> {
        let next = at + 1;
        match self.op(at) {
            b'(' => Some(self.sequence(next)? + 1),
            b'{' => {
                let (saved, mut from) = (self.saved(), at);
                loop {
                    if let Some(end) = self.sequence(from + 1) {
                        return Some(self.program.close(end) + 1);
                    }
                    self.restore(saved);
                    from = self.program.next(from);
                    if self.op(from) != b'|' {
                        return None;
                    }
                }
            }
            b'"' => {
                let end = self.program.end_of_text(next);
                let literal = self.program.text.get(next..end)?;
                self.step_over(literal).then_some(end + 1)
            }
            b'=' => {
                let end = self.program.end_of_text(next + 1);
                self.replace(self.program.text.get(next + 1..end)?);
                Some(end + 1)
            }
            b'-' => {
                self.replace(b"");
                Some(next)
            }
            b'[' if self.is_backward => self.at_slice_end(next),
            b']' if !self.is_backward => self.at_slice_end(next),
            b'[' | b']' => {
                self.slice.0 = self.cursor;
                Some(next)
            }
            b'.' => {
                self.step(self.letter()?.len());
                Some(next)
            }
            b'_' => self.letter().is_none().then_some(next),
            b'$' => {
                self.marks = [self.limit; 4];
                Some(next)
            }
            b':' => {
                self.put_mark(next, self.cursor);
                Some(next + 1)
            }
            b',' => {
                self.put_mark(next, self.mark(next).max(self.mark(next + 1)));
                Some(next + 2)
            }
            b'0'..=b'3' => (self.mark(at) <= self.cursor).then_some(next),
            b'#' => (self.mark(next) == self.cursor).then_some(next + 1),
            b'a'..=b'z' => self.step_in_set(at, true).then_some(next),
            b'^' => self.step_in_set(next, false).then_some(next + 1),
            b'A'..=b'Z' => self.definition(self.op(at)).then_some(next),
            b'/' => self.limited(self.digit(next), |run| run.command(next + 1)),
            b'%' => {
                (self.floor, self.cursor, self.is_backward) = (self.cursor, self.limit, true);
                let end = self.command(next);
                (self.cursor, self.floor, self.is_backward) = (self.floor, 0, false);
                end
            }
            b'<' => self.one_of(at),
            b'*' => loop {
                let saved = self.saved();
                if self.command(next).is_none() {
                    self.restore(saved);
                    return Some(self.program.skip(next));
                }
            },
            op @ (b'@' | b'+') => loop {
                let saved = self.saved();
                let end = self.command(next);
                if op == b'@' || end.is_none() {
                    self.restore(saved);
                }
                if end.is_some() {
                    return end;
                }
                self.step(self.letter()?.len());
            },
            op @ (b'?' | b'~' | b'&' | b'!') => {
                let saved = self.saved();
                let end = self.command(next);
                if op != b'?' || end.is_none() {
                    self.restore(saved);
                }
                match op {
                    b'&' => end,
                    b'!' => end.is_none().then(|| self.program.skip(next)),
                    _ => Some(end.unwrap_or_else(|| self.program.skip(next))),
                }
            }
            _ => {
                debug_assert!(false, "a broken invariant: no command at {at}");
                None
            }
        }
    }

    /// Runs commands up to the end of an alternative, and returns the position of that end; `None` if one failed.
    fn sequence(&mut self, mut at: usize) -> Option<usize> {
        loop {
            while matches!(self.op(at), b' ' | b'\n') {
                at += 1;
            }
            if matches!(self.op(at), b')' | b'}' | b'|' | b'>' | b';' | 0) {
                return Some(at);
            }
            at = self.command(at)?;
        }
    }

    /// Runs the command of a definition.
    fn definition(&mut self, name: u8) -> bool {
        let line = self.program.lines.get(usize::from(name)).copied().map_or(0, usize::from);
        self.command(line + 2).is_some()
    }

    /// Runs `<P;ab cd:X|_:Y>`.
    fn one_of(&mut self, at: usize) -> Option<usize> {
        let (mut prelude, cases) = (at + 1, self.program.next(at));
        let action = if self.op(prelude) == b'/' {
            prelude += 2;
            self.limited(self.digit(at + 2), |run| run.longest(cases))
        } else {
            self.longest(cases)
        }?;
        self.sequence(prelude)?;
        let end = self.sequence(action)?;
        Some(self.program.close(end) + 1)
    }

    /// Steps over the longest text of the cases, and returns the position of its commands.
    fn longest(&mut self, mut case: usize) -> Option<usize> {
        let (mut action, mut longest) = (None, None);
        while matches!(self.op(case), b';' | b'|') {
            let (mut at, mut is_in_case) = (case + 1, false);
            loop {
                let end = at + self.program.text.get(at..)?.iter().position(|byte| matches!(byte, b' ' | b':'))?;
                let text = self.program.text.get(at..end).filter(|text| *text != b"_").unwrap_or_default();
                if longest.is_none_or(|longest| text.len() > longest) && self.is_here(text) {
                    (longest, is_in_case) = (Some(text.len()), true);
                }
                at = end + 1;
                if self.op(end) == b':' {
                    break;
                }
            }
            if is_in_case {
                action = Some(at);
            }
            case = self.program.next(case);
        }
        self.step(longest?);
        action
    }

    /// Runs commands that go back as far as a mark.
    fn limited(&mut self, mark: usize, run: impl FnOnce(&mut Self) -> Option<usize>) -> Option<usize> {
        let mark = *self.marks.get(mark).filter(|mark| **mark <= self.cursor)?;
        let floor = core::mem::replace(&mut self.floor, mark);
        let end = run(self);
        self.floor = floor;
        end
    }
}

/// The program.
impl Run<'_> {
    fn op(&self, at: usize) -> u8 {
        self.program.op(at)
    }

    fn digit(&self, at: usize) -> usize {
        usize::from(self.op(at).wrapping_sub(b'0'))
    }

    fn mark(&self, at: usize) -> usize {
        self.marks.get(self.digit(at)).copied().unwrap_or_default()
    }

    fn put_mark(&mut self, at: usize, position: usize) {
        let digit = self.digit(at);
        if let Some(mark) = self.marks.get_mut(digit) {
            *mark = position;
        }
    }
}

/// The word.
impl Run<'_> {
    /// Returns the place of the cursor. Going backwards, only text after it changes.
    fn saved(&self) -> usize {
        if self.is_backward { self.limit - self.cursor } else { self.cursor }
    }

    fn restore(&mut self, saved: usize) {
        self.cursor = if self.is_backward { self.limit.saturating_sub(saved) } else { saved };
    }

    /// Returns what is before the cursor in the direction of the rules.
    fn ahead(&self) -> &[u8] {
        let range = if self.is_backward { self.floor..self.cursor } else { self.cursor..self.limit };
        self.text.get(range).unwrap_or_default()
    }

    fn is_here(&self, text: &[u8]) -> bool {
        if self.is_backward { self.ahead().ends_with(text) } else { self.ahead().starts_with(text) }
    }

    fn step(&mut self, bytes: usize) {
        self.cursor = if self.is_backward { self.cursor - bytes } else { self.cursor + bytes };
    }

    fn step_over(&mut self, text: &[u8]) -> bool {
        let is_here = self.is_here(text);
        if is_here {
            self.step(text.len());
        }
        is_here
    }

    /// Returns the next letter; `None` at the end.
    fn letter(&self) -> Option<&[u8]> {
        let ahead = self.ahead();
        let is_start = |byte: &u8| byte & 0xc0 != 0x80;
        if self.is_backward {
            ahead.get(ahead.iter().rposition(is_start)?..)
        } else {
            let (_, rest) = ahead.split_first()?;
            ahead.get(..rest.iter().position(is_start).unwrap_or(rest.len()) + 1)
        }
    }

    /// Steps over a letter of the set that the program names at a position, or over one outside of it.
    fn step_in_set(&mut self, at: usize, is_inside: bool) -> bool {
        let Some(letter) = self.letter() else { return false };
        let (steps, set) = (letter.len(), self.program.set(self.op(at)));
        let is_found = set.windows(steps).any(|one| one == letter) == is_inside;
        if is_found {
            self.step(steps);
        }
        is_found
    }

    fn at_slice_end(&mut self, next: usize) -> Option<usize> {
        self.slice.1 = self.cursor;
        Some(next)
    }

    /// Replaces the slice. The cursor stays at its letter.
    fn replace(&mut self, text: &[u8]) {
        let (start, end) = self.slice;
        if start > end || end > self.text.len() {
            debug_assert!(false, "a broken invariant: the slice is not in the word");
            return;
        }
        self.text.splice(start..end, text.iter().copied());
        let moved = |at: usize| at - (end - start) + text.len();
        self.limit = moved(self.limit);
        if self.cursor >= end {
            self.cursor = moved(self.cursor);
        } else if self.cursor > start {
            self.cursor = start;
        }
        self.slice.1 = start + text.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRAMS: [(&str, &str); 7] = [
        ("english", include_str!("stems/english.txt")),
        ("german", include_str!("stems/german.txt")),
        ("spanish", include_str!("stems/spanish.txt")),
        ("french", include_str!("stems/french.txt")),
        ("italian", include_str!("stems/italian.txt")),
        ("portuguese", include_str!("stems/portuguese.txt")),
        ("russian", include_str!("stems/russian.txt")),
    ];

    /// `stems/words.txt` has words of Snowball's own tests, and what its compiled stemmers make of them.
    #[test]
    fn stems_are_those_of_snowball() {
        let mut stem = String::new();
        for section in include_str!("stems/words.txt").split('[').skip(1) {
            let (language, words) = section.split_once("]\n").unwrap();
            let (_, rules) = PROGRAMS.iter().find(|(name, _)| *name == language).unwrap();
            let program = Program::new(rules);
            assert!(words.lines().count() > 100, "{language}");
            for line in words.lines() {
                let (word, expected) = line.split_once(' ').unwrap();
                program.stem(word, &mut stem);
                assert_eq!(stem, expected, "{language}: {word}");
            }
        }
    }

    #[test]
    fn every_command_does_what_the_notation_says() {
        for (rules, word, expected) in [
            (r#"["ab"]="x""#, "abc", "xc"),
            (r#"%(["c"]-)"#, "abc", "ab"),
            (r#".[v]-"#, "bab", "bb"),
            (r#"[^v]-"#, "bab", "ab"),
            (r#"{"b"|"a"}[.]-"#, "ab", "a"),
            (r#"?("a""c")[.]-"#, "ab", "b"),
            (r#"~("a""b")[.]-"#, "abc", "bc"),
            (r#"&"ab"["a"]-"#, "ab", "b"),
            (r#"!"b"["a"]-"#, "ab", "b"),
            (r#"*"a"[.]-"#, "aab", "aa"),
            (r#"@"b"[.]-"#, "aabc", "aac"),
            (r#"+"b"[.]-"#, "aabc", "aab"),
            (r#"$...:1%(1"e"[.]-)"#, "abcde", "abce"),
            (r#"$...:1%(["de"]1-)"#, "abcde", "abc"),
            (r#"$...:1%(["cde"]1-)"#, "abcde", "abcde"),
            (r#"$..:3&.:1,13.#1[.]-"#, "abcde", "abcde"),
            (r#"$.:1%(/1+"b"[.]-)"#, "abc", "abc"),
            (r#"%([<];bc:="x"|c:="y"|_:>)"#, "abc", "ax"),
            (r#"%([<];bd:="x"|c d:="y"|_:>)"#, "abc", "aby"),
            (r#"%([<];bd:="x"|_:[.]->)"#, "abc", "ab"),
            (r#"$..:1%([</1];bc:-|c:->)"#, "abc", "ab"),
            (r#"B[.]-"#, "abc", "ac"),
            (r#".._["a"]-"#, "ab", "ab"),
        ] {
            let text = ["v ae\nM\n(", rules, ")\nB\n\"a\"\n"].concat();
            let mut stem = String::new();
            Program::new(text.leak()).stem(word, &mut stem);
            assert_eq!(stem, expected, "{rules}");
        }
    }
}
