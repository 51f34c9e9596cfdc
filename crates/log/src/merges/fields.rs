//! [`merge_heads`]: the three-way merge of frontmatter by field.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use saddlebag_markdown::{Value, moment, yaml_scalar};

use crate::merges::head::{CHANGED, CREATED, Head, is_key};
use crate::merges::types::{Conflict, Part};

/// Field with the time when an entry was forgotten.
pub(crate) const FORGOTTEN: &str = "forgotten";
/// Field that says where the text comes from.
const PROVENANCE: &str = "provenance";
/// Field with the time of the approval.
const APPROVED: &str = "approved";
/// Field with the projects whose prompts the text goes into.
const PROJECTS: &str = "origin-project";
/// Name that no project has.
const NO_PROJECT: &str = "?";
/// Fields that say who wrote the text, and who approved it. They belong to the text, so they are taken from its side.
const TRUST: [&str; 7] =
    [PROVENANCE, APPROVED, "origin-agent", "origin-client", "origin-session", "origin-tool", PROJECTS];

/// Whose text the merged body is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextOf {
    /// Both sides have it.
    Both,
    /// Only one has it.
    One,
    /// Only other has it.
    Other,
    /// Neither: it is made of both.
    Neither,
}

impl TextOf {
    pub(crate) fn new(is_of_one: bool, is_of_other: bool) -> Self {
        match (is_of_one, is_of_other) {
            (true, true) => Self::Both,
            (true, false) => Self::One,
            (false, true) => Self::Other,
            (false, false) => Self::Neither,
        }
    }

    fn and(self, field: Self) -> Self {
        match (self, field) {
            (Self::Both, other) | (other, Self::Both) => other,
            (one, other) if one == other => one,
            _ => Self::Neither,
        }
    }
}

/// Merges the frontmatter of two texts with that of their base. `other` is the newer one.
pub(crate) fn merge_heads(
    base: &Head<'_>,
    one: &Head<'_>,
    other: &Head<'_>,
    mut text_of: TextOf,
    conflicts: &mut Vec<Conflict>,
) -> String {
    if one.whole == other.whole && text_of != TextOf::Neither {
        return one.whole.into();
    }
    if ![base, one, other].iter().all(|head| head.is_plain()) {
        return as_one_value(base, one, other, text_of, conflicts);
    }
    let mut fields: Vec<(&str, String)> = Vec::new();
    for key in keys(base, one, other) {
        if TRUST.iter().any(|trust| is_key(trust, key)) {
            continue;
        }
        let merged = merge_field(key, base, one, other, conflicts);
        if !is_time(key) {
            let is_of = |head: &Head<'_>| head.lines(key).map(str::trim_end) == merged.as_deref().map(str::trim_end);
            text_of = text_of.and(TextOf::new(is_of(one), is_of(other)));
        }
        fields.extend(merged.map(|lines| (key, lines)));
    }
    for (key, lines) in trust(one, other, text_of) {
        fields.push((key, lines));
    }
    if fields.is_empty() {
        return one.open.trim_end_matches(['-', '\r', '\n']).into();
    }
    let fences = [one, other].into_iter().find(|head| !head.close.is_empty());
    let (open, close) = fences.map_or(("---\n", "---\n"), |head| (head.open, head.close));
    let order = keys(base, one, other);
    let place = |key: &str| order.iter().position(|known| is_key(known, key)).unwrap_or(order.len());
    fields.sort_by_key(|(key, _)| place(key));
    let mut text = String::from(open);
    for (_, lines) in &fields {
        text.push_str(lines);
        if !lines.ends_with('\n') {
            text.push('\n');
        }
    }
    text.push_str(close);
    text
}

/// Returns the keys of all sides, each once: those of one, and each other key after the key that it follows in its side.
fn keys<'a>(base: &Head<'a>, one: &Head<'a>, other: &Head<'a>) -> Vec<&'a str> {
    let mut keys: Vec<&str> = Vec::new();
    for head in [base, one, other] {
        let mut place = 0;
        for field in &head.fields {
            match keys.iter().position(|key| is_key(key, field.key)) {
                Some(known) => place = known + 1,
                None => {
                    keys.insert(place.min(keys.len()), field.key);
                    place += 1;
                }
            }
        }
    }
    keys
}

fn is_time(key: &str) -> bool {
    CHANGED.iter().chain(&CREATED).any(|time| is_key(time, key))
}

/// Merges one field, and returns its lines.
fn merge_field(
    key: &str,
    base: &Head<'_>,
    one: &Head<'_>,
    other: &Head<'_>,
    conflicts: &mut Vec<Conflict>,
) -> Option<String> {
    let [in_base, in_one, in_other] = [base, one, other].map(|head| head.lines(key));
    let is_same = |one: Option<&str>, other: Option<&str>| one.map(str::trim_end) == other.map(str::trim_end);
    if is_same(in_one, in_other) || is_same(in_other, in_base) {
        return in_one.map(String::from);
    }
    if is_same(in_one, in_base) {
        return in_other.map(String::from);
    }
    let time = |head: &Head<'_>| head.value(key).and_then(moment);
    if is_time(key) && in_one.is_some() && in_other.is_some() {
        let takes_one = match CREATED.iter().any(|created| is_key(created, key)) {
            true => time(one).is_some_and(|one| time(other).is_none_or(|other| one < other)),
            false => time(one) > time(other),
        };
        return if takes_one { in_one } else { in_other }.map(String::from);
    }
    if is_key(key, FORGOTTEN) {
        return match (in_one, in_other) {
            (Some(_), Some(_)) if time(one) < time(other) => in_one,
            (of_one, of_other) => of_other.or(of_one),
        }
        .map(String::from);
    }
    if let (Some(Value::List(of_one)), Some(Value::List(of_other))) = (one.value(key), other.value(key)) {
        let of_base = match base.value(key) {
            Some(Value::List(items)) => items.as_slice(),
            _ => &[],
        };
        if let Some(items) = merge_sets(of_base, of_one, of_other) {
            let items: Vec<_> = items.iter().map(|item| yaml_scalar(item)).collect();
            let mut lines = format!("{key}: [{}]\n", items.join(", "));
            for comment in in_one.into_iter().chain(in_other).flat_map(str::lines).filter(|line| line.starts_with('#'))
            {
                if !lines.lines().any(|line| line == comment) {
                    lines.push_str(comment);
                    lines.push('\n');
                }
            }
            return Some(lines);
        }
    }
    let text = |lines: Option<&str>| lines.map(|lines| lines.trim_end().to_string());
    let conflict =
        Conflict { part: Part::Field(key.into()), base: text(in_base), ours: text(in_one), theirs: text(in_other) };
    if !conflicts.contains(&conflict) {
        conflicts.push(conflict);
    }
    // What one side deleted stays deleted.
    in_one.and(in_other).map(String::from)
}

/// Merges lists of texts as sets; `None` if they have other values.
fn merge_sets(base: &[Value], one: &[Value], other: &[Value]) -> Option<Vec<String>> {
    let texts = |values: &[Value]| values.iter().map(Value::text).collect::<Option<Vec<String>>>();
    let (base, one, other) = (texts(base)?, texts(one)?, texts(other)?);
    let mut items: Vec<String> =
        base.iter().filter(|item| one.contains(item) && other.contains(item)).cloned().collect();
    let mut added: Vec<String> = one.into_iter().chain(other).filter(|item| !base.contains(item)).collect();
    added.sort_unstable();
    items.extend(added);
    let mut seen: Vec<String> = Vec::new();
    for item in items {
        if !seen.contains(&item) {
            seen.push(item);
        }
    }
    Some(seen)
}

/// Returns the fields that say who wrote the text and who approved it.
fn trust<'a>(one: &Head<'a>, other: &Head<'a>, text_of: TextOf) -> Vec<(&'static str, String)> {
    let of = |head: &Head<'_>| {
        let lines = TRUST.iter().filter_map(|key| Some((*key, head.lines(key)?.to_string())));
        lines.collect::<Vec<_>>()
    };
    match text_of {
        TextOf::One => return of(one),
        TextOf::Other => return of(other),
        TextOf::Both | TextOf::Neither => {}
    }
    let least = if rank(one) > rank(other) { one } else { other };
    let mut fields = of(least);
    fields.retain(|(key, _)| *key != APPROVED && *key != PROJECTS);
    if text_of == TextOf::Both {
        // The same text: an approval of either counts.
        let approved = [other, one].into_iter().find_map(|head| head.lines(APPROVED));
        fields.extend(approved.map(|lines| (APPROVED, lines.to_string())));
    }
    fields.extend(projects(one, other).map(|lines| (PROJECTS, lines)));
    fields
}

/// Returns the projects whose prompts a text of both may go into: those of both.
fn projects(one: &Head<'_>, other: &Head<'_>) -> Option<String> {
    let named = |head: &Head<'_>| -> Option<Vec<String>> {
        Some(match head.value(PROJECTS)? {
            Value::List(items) => items.iter().filter_map(Value::text).collect(),
            value => value.text().into_iter().collect(),
        })
    };
    match (named(one), named(other)) {
        (None, None) => None,
        (Some(_), None) => one.lines(PROJECTS).map(String::from),
        (None, Some(_)) => other.lines(PROJECTS).map(String::from),
        (Some(of_one), Some(of_other)) => {
            let both: Vec<_> =
                of_one.iter().filter(|project| of_other.contains(project)).map(|p| yaml_scalar(p)).collect();
            Some(match both.as_slice() {
                [] => format!("{PROJECTS}: {}\n", yaml_scalar(NO_PROJECT)),
                [project] => format!("{PROJECTS}: {project}\n"),
                several => format!("{PROJECTS}: [{}]\n", several.join(", ")),
            })
        }
    }
}

/// Returns how far a text is from being trusted.
fn rank(head: &Head<'_>) -> u8 {
    match head.text(PROVENANCE).as_deref() {
        _ if !head.is_plain() && head.whole.to_lowercase().contains(PROVENANCE) => 3,
        None | Some("user") => 0,
        Some("agent") => 1,
        Some("tool") => 2,
        Some(_) => 3,
    }
}

/// Merges frontmatter that cannot be taken apart: that of the text, and if both have the text, the newer one.
fn as_one_value(
    base: &Head<'_>,
    one: &Head<'_>,
    other: &Head<'_>,
    text_of: TextOf,
    conflicts: &mut Vec<Conflict>,
) -> String {
    let taken = match text_of {
        TextOf::One => one,
        TextOf::Other => other,
        TextOf::Both if other.whole == base.whole && rank(one) >= rank(other) => one,
        TextOf::Both | TextOf::Neither if rank(one) > rank(other) => one,
        TextOf::Both | TextOf::Neither => other,
    };
    let left = if core::ptr::eq(taken, one) { other } else { one };
    // Nobody has approved a text of both sides, and one field of such frontmatter cannot be removed.
    let is_unapproved = text_of == TextOf::Neither && rank(taken) > 1;
    if is_unapproved || (left.whole != base.whole && left.whole != taken.whole) {
        let text = |head: &Head<'_>| Some(head.whole.trim_end().to_string()).filter(|text| !text.is_empty());
        conflicts.push(Conflict { part: Part::Frontmatter, base: text(base), ours: text(one), theirs: text(other) });
    }
    if is_unapproved { format!("---\n{PROVENANCE}: import\n---\n") } else { taken.whole.into() }
}
