//! Writes the tables of `src/tables.rs`, from those of `unicode-normalization`.
//!
//! So they always have the Unicode version of that crate, and the repository contains no copy of them.

#![allow(clippy::print_stdout, reason = "how a build script speaks to cargo")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::{
    canonical_combining_class, compose, decompose_canonical, decompose_compatible, is_combining_mark,
};

/// Binary logarithm of the number of characters in a block. This one and the next give the smallest tables.
const BLOCK_BITS: u32 = 3;
/// Binary logarithm of the number of blocks in a group.
const GROUP_BITS: u32 = 5;

/// Value of a character without decomposition: it is a mark. Its combining class is in the lowest 8 bits.
const PLAIN_MARK: u16 = 0x8000;
/// Value of a character with decomposition: it is a mark.
const MARK: u16 = 0x4000;
/// Value of a character with canonical decomposition: its combining class is that of the first character there.
const HAS_CLASS: u16 = 0x2000;
/// The bits of a value that have the number of the decomposition, counted from 1.
const NUMBER: u16 = 0x1fff;

fn main() -> ExitCode {
    println!("cargo::rerun-if-changed=build.rs");
    let written = tables().and_then(|tables| {
        let folder = std::env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?;
        std::fs::write(Path::new(&folder).join("tables.rs"), tables).map_err(|error| error.to_string())
    });
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            println!("cargo::error={message}");
            ExitCode::FAILURE
        }
    }
}

/// Returns the source of the tables.
fn tables() -> Result<String, String> {
    let decompositions = Decompositions::new()?;
    let mut values = Vec::new();
    let mut differing = Vec::new();
    for c in 0..=u32::from(char::MAX) {
        let Some(c) = char::from_u32(c) else {
            values.push(0);
            continue;
        };
        values.push(decompositions.value(c)?);
        if let (Some(canonical), Some(_)) = (canonical(c), compatible_only(c)) {
            differing.push((c, decompositions.number(&canonical, false)?));
        }
    }
    let mut out = String::new();
    for (name, bits) in [("PLAIN_MARK", PLAIN_MARK), ("MARK", MARK), ("HAS_CLASS", HAS_CLASS), ("NUMBER", NUMBER)] {
        constant(&mut out, name, "u16", bits);
    }
    constant(&mut out, "BLOCK_BITS", "u32", BLOCK_BITS);
    constant(&mut out, "GROUP_BITS", "u32", GROUP_BITS);
    write_values(&mut out, &values)?;
    decompositions.write(&mut out)?;
    table(&mut out, "DIFFERING", "(char, u16)", &differing);
    write_compositions(&mut out)?;
    Ok(out)
}

/// Returns the canonical decomposition, unless it is the character itself. Hangul is computed, and not in the tables.
fn canonical(c: char) -> Option<String> {
    let mut is_other = false;
    decompose_canonical(c, |part| is_other |= part != c);
    let mut parts = String::new();
    if is_other {
        decompose_canonical(c, |part| parts.push(part));
    }
    (is_other && !is_hangul(c)).then_some(parts)
}

/// Returns the compatibility decomposition if it differs from the canonical decomposition.
fn compatible_only(c: char) -> Option<String> {
    let mut is_other = false;
    decompose_compatible(c, |part| is_other |= part != c);
    let mut parts = String::new();
    if is_other {
        decompose_compatible(c, |part| parts.push(part));
    }
    (is_other && !is_hangul(c) && canonical(c).as_ref() != Some(&parts)).then_some(parts)
}

fn is_hangul(c: char) -> bool {
    matches!(c, '\u{ac00}'..='\u{d7a3}')
}

/// All different decompositions, numbered from 1: first the canonical ones, of each kind the shorter ones first.
struct Decompositions {
    /// By kind (true for compatibility), number of UTF-16 units, and text.
    numbers: BTreeMap<(bool, usize, String), u16>,
}

impl Decompositions {
    fn new() -> Result<Self, String> {
        let mut numbers = BTreeMap::new();
        for c in '\0'..=char::MAX {
            let of_character = [(false, canonical(c)), (true, compatible_only(c))];
            for (kind, parts) in of_character {
                if let Some(parts) = parts {
                    numbers.insert((kind, units(&parts), parts), 0);
                }
            }
        }
        for (number, place) in (1..).zip(numbers.values_mut()) {
            *place = number;
        }
        match u16::try_from(numbers.len()) {
            Ok(count) if count <= NUMBER => Ok(Self { numbers }),
            _ => Err(format!("{} decompositions are more than {NUMBER}", numbers.len())),
        }
    }

    fn number(&self, parts: &str, is_compatible: bool) -> Result<u16, String> {
        let key = (is_compatible, units(parts), parts.to_owned());
        self.numbers.get(&key).copied().ok_or_else(|| format!("{parts:?} has no number"))
    }

    /// Returns what the tables say of a character.
    fn value(&self, c: char) -> Result<u16, String> {
        let class = canonical_combining_class(c);
        let is_mark = is_combining_mark(c);
        let (parts, is_compatible) = match (compatible_only(c), canonical(c)) {
            (Some(parts), _) => (parts, true),
            (None, Some(parts)) => (parts, false),
            (None, None) if is_mark => return Ok(PLAIN_MARK | u16::from(class)),
            (None, None) if class == 0 => return Ok(0),
            (None, None) => return Err(format!("{c:?} has the class {class} and is not a mark")),
        };
        let mut value = self.number(&parts, is_compatible)?;
        if is_mark {
            value |= MARK;
        }
        if class != 0 {
            if is_compatible || parts.chars().next().map(canonical_combining_class) != Some(class) {
                return Err(format!("the class {class} of {c:?} is not that of a canonical decomposition {parts:?}"));
            }
            value |= HAS_CLASS;
        }
        Ok(value)
    }

    /// Writes the text of all decompositions, and a range of numbers for each kind and length.
    fn write(&self, out: &mut String) -> Result<(), String> {
        let [mut canonical, mut compatible] = [Vec::new(), Vec::new()];
        let mut ranges: Vec<((bool, usize), [usize; 4])> = Vec::new();
        for ((is_compatible, length, parts), &number) in &self.numbers {
            let class = (*is_compatible, *length);
            let text: &mut Vec<u16> = if *is_compatible { &mut compatible } else { &mut canonical };
            match ranges.last_mut() {
                Some((last, [_, end, ..])) if *last == class => *end += 1,
                _ => ranges.push((class, [number.into(), usize::from(number) + 1, text.len(), *length])),
            }
            text.extend(parts.encode_utf16());
        }
        let first_compatible = self.numbers.keys().filter(|(is_compatible, ..)| !is_compatible).count() + 1;
        constant(out, "FIRST_COMPATIBLE", "u16", first_compatible);
        table(out, "CANONICAL", "u16", &canonical);
        table(out, "COMPATIBLE", "u16", &compatible);
        let ranges: Vec<[usize; 4]> = ranges.into_iter().map(|(_, range)| range).collect();
        table(out, "RANGES", "[u16; 4]", &ranges);
        Ok(())
    }
}

fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

/// Writes the value of each character in three levels; equal blocks and groups are written once.
fn write_values(out: &mut String, values: &[u16]) -> Result<(), String> {
    let (blocks, groups) = distinct(values, 1 << BLOCK_BITS);
    let groups: Vec<u16> =
        groups.into_iter().map(|block| u16::try_from(block).map_err(|e| e.to_string())).collect::<Result<_, _>>()?;
    let (groups, top) = distinct(&groups, 1 << GROUP_BITS);
    let mut top: Vec<u8> =
        top.into_iter().map(|group| u8::try_from(group).map_err(|e| e.to_string())).collect::<Result<_, _>>()?;
    // The last group, of characters without a value, is that of all that the table does not have.
    let last = top.last().copied();
    while top.last().copied() == last && top.len() > 1 {
        top.pop();
    }
    table(out, "TOP", "u8", &top);
    table(out, "GROUPS", "u16", &groups);
    table(out, "VALUES", "u16", &blocks);
    Ok(())
}

/// Cuts a list into parts of `size`. Returns the different parts one after the other, and for each part its place.
fn distinct<T: Copy + Ord>(list: &[T], size: usize) -> (Vec<T>, Vec<usize>) {
    let mut places = BTreeMap::new();
    let mut parts = Vec::new();
    let list = list.chunks(size).map(|part| {
        let next = places.len();
        *places.entry(part).or_insert_with(|| {
            parts.extend_from_slice(part);
            next
        })
    });
    let list = list.collect();
    (parts, list)
}

/// Writes the pairs of characters that compose.
fn write_compositions(out: &mut String) -> Result<(), String> {
    // By the second character: there are few.
    let mut small: BTreeMap<u16, BTreeSet<[u16; 2]>> = BTreeMap::new();
    let mut large = BTreeSet::new();
    for c in '\0'..=char::MAX {
        let Some(parts) = canonical(c) else { continue };
        if !parts.nfc().eq([c]) {
            continue;
        }
        let mut before = parts.chars();
        let second = before.next_back().ok_or("a decomposition is empty")?;
        let first: Vec<char> = before.nfc().collect();
        let &[first] = first.as_slice() else {
            return Err(format!("{c:?} is not composed of two characters"));
        };
        if compose(first, second) != Some(c) {
            return Err(format!("{first:?} and {second:?} are not {c:?}"));
        }
        match [first, second, c].map(|c| u16::try_from(u32::from(c))) {
            [Ok(first), Ok(second), Ok(c)] => {
                small.entry(second).or_default().insert([first, c]);
            }
            [Ok(_), Ok(_), Err(_)] => return Err(format!("{c:?} needs more bits than its parts")),
            _ => {
                large.insert([first, second, c]);
            }
        }
    }
    let mut end = 0;
    let mut seconds = Vec::new();
    for (&second, pairs) in &small {
        end += pairs.len();
        seconds.push([usize::from(second), end]);
    }
    table(out, "SECONDS", "[u16; 2]", &seconds);
    table(out, "FIRSTS", "[u16; 2]", &small.into_values().flatten().collect::<Vec<_>>());
    table(out, "LARGE_COMPOSITIONS", "[char; 3]", &large.into_iter().collect::<Vec<_>>());
    Ok(())
}

fn constant(out: &mut String, name: &str, kind: &str, value: impl std::fmt::Display) {
    // Writing to a string cannot fail.
    let _ = writeln!(out, "const {name}: {kind} = {value};");
}

fn table<T: std::fmt::Debug>(out: &mut String, name: &str, kind: &str, items: &[T]) {
    let _ = writeln!(out, "static {name}: [{kind}; {}] = {items:?};", items.len());
}
