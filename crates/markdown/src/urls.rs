//! URLs in the text: `<https://…>`, and a bare `https://…`.

use core::ops::Range;

use memchr::memchr_iter;

use super::references;
use super::text::{at, looked_at, searched};

/// Returns the address in the `<…>` that starts at `start`, and true if it is an e-mail address.
pub(super) fn autolink(bytes: &[u8], start: usize) -> Option<(Range<usize>, bool)> {
    let inner = start + 1;
    let rest = bytes.get(inner..)?;
    let length = rest.iter().position(|&byte| byte <= b' ' || matches!(byte, b'<' | b'>' | 0x7f));
    let length = searched(rest, length)?;
    let address = rest.get(..length)?;
    if at(rest, length) != b'>' {
        return None;
    }
    let address_text = core::str::from_utf8(address).ok()?;
    if references::has_scheme(address_text) {
        return Some((inner..inner + length, false));
    }
    let (local, host) = address_text.split_once('@')?;
    let is_local = |byte: u8| byte.is_ascii_alphanumeric() || b".!#$%&'*+/=?^_`{|}~-".contains(&byte);
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    (!local.is_empty() && local.bytes().all(is_local) && host.split('.').all(is_label))
        .then_some((inner..inner + length, true))
}

/// Returns the bare URL whose `://` is at `colon`. It does not reach before `consumed`.
pub(super) fn bare(text: &str, consumed: usize, colon: usize) -> Option<Range<usize>> {
    let read = text.as_bytes().get(consumed..colon)?;
    let scheme = ["https", "http"].into_iter().find(|scheme| {
        let head = read.len().checked_sub(scheme.len()).and_then(|start| read.get(start..));
        head.is_some_and(|head| head.eq_ignore_ascii_case(scheme.as_bytes()))
    })?;
    let start = colon - scheme.len();
    if text.get(..start)?.chars().next_back().is_some_and(char::is_alphanumeric) {
        return None;
    }
    let first = colon + 3;
    let url = text.get(first..)?;
    if !url.chars().next().is_some_and(char::is_alphanumeric) {
        return None;
    }
    let length = url
        .find(|character: char| character.is_whitespace() || character.is_control() || r#"<>[]"`|"#.contains(character))
        .unwrap_or(url.len());
    looked_at(length);
    let length = without_punctuation(url.as_bytes().get(..length)?);
    Some(start..first + length)
}

/// Returns the length of the URL without the punctuation of the sentence around it.
fn without_punctuation(url: &[u8]) -> usize {
    let count = |mark: u8| memchr_iter(mark, url).count();
    let (opened, mut closed) = (count(b'('), count(b')'));
    let mut length = url.len();
    while let Some(last) = length.checked_sub(1).and_then(|last| url.get(last)) {
        match last {
            b')' if closed > opened => closed -= 1,
            b'?' | b'!' | b'.' | b',' | b':' | b';' | b'*' | b'_' | b'~' | b'\'' => {}
            _ => break,
        }
        length -= 1;
    }
    length
}
