//! Letta's MemFS: a file for each block of memory.

use alloc::string::ToString;

use super::text::{body, text_of};
use super::types::{Converted, TextFile};
use crate::document::Frontmatter;
use crate::entries::ForeignEntry;

pub(super) fn import(files: &[TextFile<'_>]) -> Converted {
    Converted::of(files, |file, converted| {
        let frontmatter = Frontmatter::parse(file.text);
        if let Some(problem) = &frontmatter.problem {
            return converted.reject(file, problem.line, problem.message.clone());
        }
        let key = file.path.strip_suffix(".md").unwrap_or(file.path);
        let is_system = file.path.starts_with("system/") || file.path.contains("/system/");
        converted.entries.push(ForeignEntry {
            key: key.into(),
            category: if is_system { "core" } else { "memfs" }.into(),
            tags: ["letta".to_string()].to_vec(),
            content: body(file.text, &frontmatter).into(),
            summary: text_of(&frontmatter, "description"),
            ..file.at(1)
        });
    })
}
