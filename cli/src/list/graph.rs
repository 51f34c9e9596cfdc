//! The links between notes, in forms that other programs draw.

use std::collections::BTreeMap;

use clap::ValueEnum;
use saddlebag::items::{ItemList, ListedItem};
use saddlebag::trust::for_terminal;

use crate::failure::Failure;
use crate::output::Output;

/// Form of the links.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum GraphForm {
    /// Text for Graphviz.
    Dot,
    /// Text for Mermaid.
    Mermaid,
}

/// Prints notes and links.
pub(super) fn print(reply: &ItemList, form: GraphForm, output: &mut Output) -> Result<(), Failure> {
    let numbers: BTreeMap<&str, usize> =
        reply.items.iter().enumerate().map(|(number, note)| (note.path.as_str(), number)).collect();
    let links: Vec<(usize, usize)> = reply
        .links
        .iter()
        .filter_map(|link| Some((*numbers.get(link.source.as_str())?, *numbers.get(link.target.as_str())?)))
        .collect();
    let title = |note: &ListedItem| {
        let marks: String = note.marks.texts().iter().map(|mark| format!(" ({mark})")).collect();
        for_terminal(&format!("{}{marks}", note.name)).replace('\n', " ")
    };
    let titles: Vec<String> = reply.items.iter().map(title).collect();
    match form {
        GraphForm::Dot => {
            output.line("digraph memory {\n  node [shape=box];")?;
            for (number, title) in titles.iter().enumerate() {
                let title = title.replace('\\', "\\\\").replace('"', "\\\"");
                output.line(&format!("  n{number} [label=\"{title}\"];"))?;
            }
            for (source, target) in links {
                output.line(&format!("  n{source} -> n{target};"))?;
            }
            output.line("}")?;
        }
        GraphForm::Mermaid => {
            output.line("graph LR")?;
            for (number, title) in titles.iter().enumerate() {
                output.line(&format!("  n{number}[\"{}\"]", of_mermaid(title)))?;
            }
            for (source, target) in links {
                output.line(&format!("  n{source} --> n{target}"))?;
            }
        }
    }
    Ok(())
}

/// Returns a label as Mermaid writes it: signs with a meaning become numbers.
fn of_mermaid(title: &str) -> String {
    title.chars().map(|c| if "\"#<>&;`".contains(c) { format!("#{};", u32::from(c)) } else { c.to_string() }).collect()
}
