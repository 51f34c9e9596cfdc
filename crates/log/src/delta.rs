//! The difference of two contents, as bytes: what to copy, what to leave out, what to insert.
//!
//! A difference is a sequence of steps through the content before. A step has three numbers: how many bytes to copy, how many to
//! leave out, and how many to insert, followed by the bytes to insert. After the last step, the rest is copied. A number is
//! written in groups of seven bits, lowest first; the highest bit of a byte says that another follows.

use alloc::vec::Vec;

use crate::diff::{common_prefix, common_suffix, hunks};

/// Returns the difference that makes `after` out of `before`.
///
/// ```
/// use saddlebag_log::delta;
///
/// let delta = delta::encode(b"one\ntwo\nthree\n", b"one\n2\nthree\n");
/// assert_eq!(delta, [4, 3, 1, b'2']);
/// assert_eq!(delta::decode(b"one\ntwo\nthree\n", &delta, 100).unwrap(), b"one\n2\nthree\n");
/// ```
pub fn encode(before: &[u8], after: &[u8]) -> Vec<u8> {
    let mut delta = Vec::new();
    let mut position = 0;
    for hunk in hunks(before, after) {
        let removed = before.get(hunk.before.clone()).unwrap_or_default();
        let inserted = after.get(hunk.after).unwrap_or_default();
        // A changed line mostly shares its ends with the old one.
        let prefix = common_prefix(removed, inserted);
        let (removed, inserted) = (rest(removed, prefix), rest(inserted, prefix));
        let suffix = common_suffix(removed, inserted);
        let inserted = inserted.get(..inserted.len().saturating_sub(suffix)).unwrap_or_default();
        let removed = removed.len().saturating_sub(suffix);
        let begin = hunk.before.start + prefix;
        put_number(&mut delta, begin.saturating_sub(position));
        put_number(&mut delta, removed);
        put_number(&mut delta, inserted.len());
        delta.extend_from_slice(inserted);
        position = begin + removed;
    }
    delta
}

/// Returns the content that [`encode`] was given as `after`.
///
/// `None` if the difference is damaged or belongs to another content, or if the result has more than `max` bytes. The result has at
/// most as many bytes as `before` and `delta` together.
pub fn decode(before: &[u8], delta: &[u8], max: usize) -> Option<Vec<u8>> {
    let (mut before, mut delta) = (before, delta);
    let mut after = Vec::new();
    let mut add = |bytes: &[u8]| -> Option<()> {
        if bytes.len() > max.saturating_sub(after.len()) {
            return None;
        }
        after.extend_from_slice(bytes);
        Some(())
    };
    while !delta.is_empty() {
        let copied = take_number(&mut delta)?;
        let left_out = take_number(&mut delta)?;
        let inserted = take_number(&mut delta)?;
        add(take(&mut before, copied)?)?;
        take(&mut before, left_out)?;
        add(take(&mut delta, inserted)?)?;
    }
    add(before)?;
    Some(after)
}

fn rest(bytes: &[u8], from: usize) -> &[u8] {
    bytes.get(from..).unwrap_or_default()
}

fn put_number(out: &mut Vec<u8>, mut number: usize) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn take_number(bytes: &mut &[u8]) -> Option<usize> {
    let mut number = 0_u64;
    // Nine groups are enough for every size, and do not overflow.
    for shift in (0..63).step_by(7) {
        let byte = *take(bytes, 1)?.first()?;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return usize::try_from(number).ok();
        }
    }
    None
}

fn take<'a>(bytes: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(count)?;
    *bytes = rest;
    Some(taken)
}
