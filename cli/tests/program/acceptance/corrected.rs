//! A correction answers, also after everything derived is made again. What it replaced is in the history.

use super::ways::{Seat, WAYS, Way, fill, remove_index};
use crate::hook::Hooks;
#[cfg(feature = "server")]
use crate::mcp::text;
#[cfg(feature = "server")]
use serde_json::json;

/// Somebody who corrects the memory: a person with the program, or an agent with its tools. A hook corrects nothing.
struct Corrects<'a> {
    seat: &'a Seat<'a>,
    by: Way,
}

impl Corrects<'_> {
    fn remembers(&self, title: &str, content: &str, supersedes: Option<&str>) {
        match self.by {
            #[cfg(feature = "server")]
            Way::Mcp => {
                let mut arguments = json!({ "title": title, "content": content });
                if let Some(path) = supersedes {
                    arguments["supersedes"] = path.into();
                }
                self.calls("mem_remember", arguments);
            }
            _ => {
                let superseding = supersedes.map(|path| ["--supersedes", path]);
                let command = [&["remember", title, content], superseding.as_slice().as_flattened()].concat();
                self.seat.run(&command).exits(0);
            }
        }
    }

    fn edits(&self, name: &str, old: &str, new: &str) {
        match self.by {
            #[cfg(feature = "server")]
            Way::Mcp => self.calls("mem_edit", json!({ "name": name, "old_str": old, "new_str": new })),
            _ => drop(self.seat.run(&["edit", name, "--old", old, "--new", new]).exits(0)),
        }
    }

    fn forgets(&self, name: &str) {
        match self.by {
            #[cfg(feature = "server")]
            Way::Mcp => self.calls("mem_forget", json!({ "name": name })),
            _ => drop(self.seat.run(&["forget", name]).exits(0)),
        }
    }

    #[cfg(feature = "server")]
    fn calls(&self, tool: &str, arguments: serde_json::Value) {
        let answer = self.seat.client().call(tool, arguments);
        assert_ne!(answer["isError"], true, "{answer}");
    }

    /// Checks that the first answer of each way is the corrected one, also with a new index.
    #[track_caller]
    fn answers(&self, question: &str, now: &str, before: &str) {
        for _ in 0..2 {
            for way in WAYS {
                let found = match way {
                    Way::Program => self.seat.run(&["recall", question, "--limit", "1"]).stdout,
                    #[cfg(feature = "server")]
                    Way::Mcp => {
                        let first = json!({ "query": question, "limit": 1 });
                        text(&self.seat.client().call("mem_recall", first)).to_string()
                    }
                    Way::Hooks => self.seat.prompt(*way, question),
                };
                assert!(found.contains(now) && !found.contains(before), "{way:?}, {question}: {found}");
            }
            remove_index(&self.seat.hooks.store.root);
        }
    }

    #[track_caller]
    fn was(&self, name: &str, text: &str) {
        let shown = self.seat.run(&["show", name]).exits(0).stdout;
        assert!(shown.contains(text), "{name}: {shown}");
    }
}

/// Replacement, reversal, retraction, a corrected part and a limited period: each answers by every way.
#[test]
fn a_correction_of_each_shape_answers_after_the_index_is_made_anew() {
    for by in &WAYS[..WAYS.len() - 1] {
        let hooks = Hooks::new();
        let seat = Seat::new(&hooks, "tax", "main");
        let corrects = Corrects { seat: &seat, by: *by };
        let path = |name: &str| format!("{}/facts/{name}.md", seat.memory());

        // Replacement, and a part of a record.
        let both = "Staging listens on port 8080.\n\nThe town of staging is Oslo.";
        corrects.remembers("Staging", both, None);
        fill(&hooks.store.root);
        corrects.answers("which port does staging listen on?", "8080", "8443");
        corrects.edits("Staging", "port 8080", "port 8443");
        corrects.answers("which port does staging listen on?", "8443", "8080");
        corrects.answers("in which town is staging?", "Oslo", "8080");
        corrects.was("Staging@2", "8080");

        // Reversal: the newer decision is taken back by a third one.
        corrects.remembers("Tide logs as text", "Tide logs are written as text.", None);
        corrects.remembers("Tide logs as JSON", "Tide logs are written as JSON.", Some(&path("tide-logs-as-text")));
        corrects.answers("how are tide logs written?", "JSON", "as text.");
        corrects.remembers(
            "Plain tide logs",
            "Tide logs are written in plain lines again.",
            Some(&path("tide-logs-as-json")),
        );
        corrects.answers("how are tide logs written?", "plain lines", "JSON.");
        corrects.was("Tide logs as JSON", "JSON");

        // A limited period: while it lasts, the exception answers; after it, the rule.
        corrects.remembers("Freeze rule", "Deploys are frozen on Fridays.", None);
        corrects.remembers("Freeze in December", "Deploys are frozen until January.", Some(&path("freeze-rule")));
        corrects.answers("when are deploys frozen?", "January", "Fridays");
        corrects.forgets("Freeze in December");
        corrects.answers("when are deploys frozen?", "Fridays", "January");
        corrects.was("freeze-in-december@2", "January");

        // Retraction without a new value.
        corrects.remembers("Owner", "The gateway is owned by Imke.", None);
        corrects.answers("who owns the gateway?", "Imke", "8443");
        corrects.forgets("Owner");
        remove_index(&hooks.store.root);
        seat.finds("who owns the gateway?", &[], &["Imke"]);
        corrects.was("owner@2", "Imke");
    }
}
