//! Tags in running text: `#tag`, `#more words#`, `:one:two:`.
//!
//! The rules are zk's (`reference/notebook.md`, section 2.2).

use super::text::looked_at;
use saddlebag_collections::SortedSet;
use saddlebag_collections::prelude::*;
use saddlebag_collections::{TextPart, is_picture};
use unicode_normalization::char::canonical_combining_class;

/// Number of names up to which the list itself is searched.
const FEW: usize = 16;

/// Maximum number of different tags of a note.
pub(super) const MAX_TAGS: usize = 65_536;

/// Names in the order of their first occurrence, without duplicates.
#[derive(Debug, Default)]
pub(super) struct Names {
    list: Vec<String>,
    /// All names, once there are more than a few.
    set: SortedSet<String>,
}

impl Names {
    pub(super) fn push(&mut self, name: String) {
        if self.list.len() == MAX_TAGS {
            return;
        }
        if self.list.len() < FEW {
            if self.list.contains(&name) {
                return;
            }
        } else {
            if self.set.is_empty() {
                self.set.extend(self.list.iter().cloned());
            }
            if self.set.contains(&name) {
                return;
            }
            self.set.insert(name.clone());
        }
        self.list.push(name);
    }

    pub(super) fn into_list(self) -> Vec<String> {
        self.list
    }
}

/// Returns true if tags may contain the character.
fn is_tag_char(character: char) -> bool {
    match character {
        '/' | '@' | '\'' | '~' | '-' | '_' | '$' | '%' | '&' | '+' | '=' | ':' | '#' => true,
        _ if character.is_ascii() => character.is_ascii_alphanumeric(),
        _ => character.is_alphanumeric() || is_picture(character) || is_joined(character),
    }
}

/// Returns true for a character that changes or joins those beside it, such as an accent.
fn is_joined(character: char) -> bool {
    canonical_combining_class(character) != 0 || "\u{200d}\u{20e3}\u{fe0f}".contains(character)
}

/// Returns true if a tag can start at `start`: the previous character is not part of one.
pub(super) fn may_start(text: &str, start: usize) -> bool {
    !text.get(..start).and_then(|before| before.chars().next_back()).is_some_and(is_tag_char)
}

/// Returns true if a character of a tag is at `start`.
pub(super) fn continues(text: &str, start: usize) -> bool {
    text.get(start..).and_then(|rest| rest.chars().next()).is_some_and(is_tag_char)
}

/// Returns the tag whose `#` is at `start`, and its end.
pub(super) fn hashtag(text: &str, start: usize, multiword: bool) -> Option<(String, usize)> {
    let first = start + 1;
    if text.get(first..)?.starts_with(is_joined) {
        return None;
    }
    let mut tag = String::new();
    let mut run = first;
    let mut plain = None;
    let mut closed = false;
    let mut end = text.len();
    let mut after_space = false;
    let mut characters = text.get(first..)?.char_indices();
    let flush = |tag: &mut String, run: usize, to: usize| tag.push_str(text.part(run..to));
    while let Some((offset, character)) = characters.next() {
        looked_at(character.len_utf8());
        let at = first + offset;
        match character {
            '\\' => {
                let Some((next, escaped)) = characters.next().filter(|(_, escaped)| *escaped != '\n') else {
                    end = at;
                    break;
                };
                flush(&mut tag, run, at);
                tag.push(escaped);
                run = first + next + escaped.len_utf8();
                after_space = false;
            }
            '#' => {
                closed = multiword && at > first && !after_space;
                end = at;
                break;
            }
            ' ' if multiword && at > first => {
                if plain.is_none() {
                    flush(&mut tag, run, at);
                    run = at;
                    plain = Some((tag.len(), at));
                }
                after_space = true;
            }
            _ if is_tag_char(character) => after_space = false,
            _ => {
                end = at;
                break;
            }
        }
    }
    flush(&mut tag, run, end);
    if closed {
        end += 1;
    } else if let Some((length, at)) = plain {
        tag.truncate(length);
        end = at;
    } else if text.get(end..).is_some_and(|rest| rest.starts_with('#')) {
        return None;
    }
    // A number is an issue or an order, not a tag.
    tag.chars().any(|character| !character.is_numeric() && character != ' ').then_some((tag, end))
}

/// Reads the tags that start with the `:` at `start`. Returns the end of the last one.
pub(super) fn colon_tags(text: &str, start: usize, mut add: impl FnMut(String)) -> Option<usize> {
    let first = start + 1;
    let mut tag = String::new();
    let mut end = None;
    let mut characters = text.get(first..)?.char_indices();
    while let Some((offset, character)) = characters.next() {
        looked_at(character.len_utf8());
        match character {
            ':' => {
                if tag.chars().all(|character| character == '-') {
                    break;
                }
                add(core::mem::take(&mut tag));
                end = Some(first + offset + 1);
            }
            '\\' => match characters.next() {
                Some((_, escaped)) if escaped != '\n' => tag.push(escaped),
                _ => break,
            },
            _ if is_tag_char(character) => tag.push(character),
            _ => break,
        }
    }
    end
}
