//! [`Answer`]: text and structured result of a tool, in pages of bounded size.

use super::arguments::on_one_line;
use super::json::{Object, cursor_text};
use crate::trust::{Flag, ForModel, Marks};
use saddlebag_collections::prelude::*;
use saddlebag_markdown::head;

/// Maximum size of the text of an answer in bytes, without the line that says how to get more.
pub const MAX_ANSWER_BYTES: usize = 32_768;

/// Answer of a tool.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) text: String,
    pub(super) structured: Option<ForModel>,
    /// Findings in stored text that was made harmless before it came here.
    pub(super) flags: Vec<Flag>,
}

impl Answer {
    pub(super) fn new(text: impl Into<String>, structured: Object) -> Self {
        Self { text: text.into(), structured: Some(structured.finish()), flags: Vec::new() }
    }
}

/// Returns the marks of an item, each in brackets after a space.
pub(super) fn marked(marks: &Marks) -> String {
    marks.texts().iter().map(|mark| format!(" ({})", on_one_line(mark))).collect()
}

/// One item of a list or a search: text for the model, and JSON for programs.
pub(super) struct Item {
    pub(super) text: String,
    pub(super) object: Object,
}

/// Items that fit into one answer. There is at least one, cut if necessary.
pub(super) struct Page {
    items: Vec<Item>,
}

impl Page {
    pub(super) fn from_items(items: impl Iterator<Item = Item>) -> Self {
        let mut bytes = 0;
        let mut page = Self { items: Vec::new() };
        for mut item in items {
            let size = item.text.len() + 1;
            if bytes + size > MAX_ANSWER_BYTES {
                if !page.items.is_empty() {
                    break;
                }
                item.text = head(&item.text, MAX_ANSWER_BYTES).to_string();
            }
            bytes += size;
            page.items.push(item);
        }
        page
    }

    pub(super) fn len(&self) -> u32 {
        u32::try_from(self.items.len()).unwrap_or(u32::MAX)
    }

    /// Builds the answer: a headline, the items under `field`, and the cursor of the next page.
    pub(super) fn answer(self, headline: &str, field: &str, total: Option<u64>, next: Option<&str>) -> Answer {
        let mut text = headline.to_string();
        for item in &self.items {
            text.push('\n');
            text.push_str(&item.text);
        }
        if let Some(next) = next {
            text.push_str(&more(next));
        }
        let objects: Vec<Object> = self.items.into_iter().map(|item| item.object).collect();
        let mut object = Object::new();
        object.objects(field, &objects);
        if let Some(total) = total {
            object.count("total", total);
        }
        object.next(next);
        Answer::new(text, object)
    }
}

/// Returns the line that tells the model how to get the next page.
pub(super) fn more(next: &str) -> String {
    let next = cursor_text(next);
    format!("\n(more: call again with the same arguments and cursor {next})")
}
