//! The notebook's subcommands.

mod args;
mod json;

use std::collections::BTreeMap;

use saddlebag::Reply;
use saddlebag::notebook::{
    GraphReply, NoteInfo, NotebookCommand, NotebookReply, RecallHit, RestoreNote, TagsReply, Warning,
};
use saddlebag::search::Skipped;

pub(crate) use args::Command;
pub(crate) use json::reply as json;

use crate::failure::{Exit, Failure, wrong_reply};
use crate::global::Global;
use crate::output::{FAINT, Output, STRONG, warn_of_skipped};
use crate::store::execute;

/// Runs the subcommand.
pub(crate) fn run(command: Command, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
    let tag = command.tag().map(str::to_string);
    run_command(command.into_command()?, tag, global, output)
}

/// Restores the note that has or had this path.
pub(crate) fn restore(note: String, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
    run_command(NotebookCommand::RestoreNote(RestoreNote { note }), None, global, output)
}

fn run_command(
    command: NotebookCommand,
    tag: Option<String>,
    global: &Global,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let reply = execute(command, global, output)?;
    let Reply::Notebook(notebook) = &reply else { return Err(wrong_reply()) };
    let exit = match notebook {
        // The note has its new name, and not every link to it.
        NotebookReply::Rename(reply) if !reply.not_rewritten.is_empty() => Exit::Failed,
        _ if is_empty(notebook) => Exit::Nothing,
        _ => Exit::Done,
    };
    if output.is_json() {
        output.object(&json(notebook))?;
        return Ok(exit);
    }
    print(notebook, output)?;
    output.flush()?;
    if let (Exit::Nothing, Some(tag)) = (exit, tag) {
        output.note(&format!("no note has a tag that fits `{tag}`; `tags` lists those that there are"));
    }
    let (warnings, skipped): (&[Warning], &[Skipped]) = match notebook {
        NotebookReply::Recall(reply) => (&reply.warnings, &reply.skipped),
        NotebookReply::ListNotes(reply) | NotebookReply::Orphans(reply) => (&reply.warnings, &reply.skipped),
        NotebookReply::Remember(reply) => (&reply.warnings, &[]),
        NotebookReply::Journal(reply) => (&reply.warnings, &[]),
        NotebookReply::Today(reply) => (&reply.warnings, &[]),
        _ => (&[], &[]),
    };
    warnings.iter().for_each(|warning| output.warning(&format!("{}: {}", warning.path, warning.message)));
    warn_of_skipped(skipped, output);
    Ok(exit)
}

fn is_empty(reply: &NotebookReply) -> bool {
    match reply {
        NotebookReply::Recall(reply) => reply.hits.is_empty(),
        NotebookReply::ListNotes(reply) | NotebookReply::Orphans(reply) => reply.notes.is_empty(),
        NotebookReply::Related(reply) => reply.notes.is_empty(),
        NotebookReply::Tags(reply) => reply.tags.is_empty(),
        NotebookReply::Graph(graph) => graph.notes.is_empty(),
        NotebookReply::DeadLinks(reply) => reply.links.is_empty(),
        NotebookReply::UnlinkedMentions(reply) => reply.notes.is_empty(),
        _ => false,
    }
}

fn print(reply: &NotebookReply, output: &mut Output) -> Result<(), Failure> {
    match reply {
        NotebookReply::Init(reply) => output.line(&reply.message)?,
        NotebookReply::Remember(reply) | NotebookReply::RememberSummary(reply) => output.line(&reply.message)?,
        NotebookReply::Link(reply) => output.line(&reply.message)?,
        NotebookReply::Rename(reply) => output.line(&reply.message)?,
        NotebookReply::Forget(reply) => output.line(&reply.message)?,
        NotebookReply::RestoreNote(reply) => output.line(&reply.message)?,
        NotebookReply::RememberError(reply) => output.line(&reply.message)?,
        NotebookReply::Journal(reply) => output.line(&reply.message)?,
        NotebookReply::LoadMemories(reply) | NotebookReply::RecallForTurn(reply) => {
            output.line(&format!("{} memories", reply.memories))?;
        }
        NotebookReply::MemoryContext(section) => output.text(&section.text)?,
        NotebookReply::Today(reply) => output.text(&reply.text)?,
        NotebookReply::Recall(reply) if reply.hits.is_empty() => output.line("Nothing found.")?,
        NotebookReply::Recall(reply) => {
            for (number, hit) in reply.hits.iter().enumerate() {
                if number > 0 {
                    output.line("")?;
                }
                print_hit(hit, output)?;
            }
        }
        NotebookReply::ListNotes(reply) | NotebookReply::Orphans(reply) => print_notes(&reply.notes, output)?,
        NotebookReply::Related(reply) => {
            for note in &reply.notes {
                output.line(&format!("{}  {}  ({})", note.path, note.title, note.reason))?;
            }
        }
        NotebookReply::Tags(TagsReply { tags }) => {
            let width = tags.iter().map(|tag| tag.notes.to_string().len()).max().unwrap_or_default();
            for tag in tags {
                output.line(&format!("{:width$}  {}", tag.notes, tag.name))?;
            }
        }
        NotebookReply::Graph(graph) => {
            for (note, targets) in links_of_notes(graph) {
                output.styled(STRONG, &format!("{}  {}{}", note.path, note.title, mark(note)))?;
                for target in targets {
                    output.line(&format!("  -> {target}"))?;
                }
            }
        }
        NotebookReply::DeadLinks(reply) => {
            for link in &reply.links {
                let meaning = match link.candidates.as_slice() {
                    [] => "no such note".to_string(),
                    candidates => format!("could be {}", candidates.join(", ")),
                };
                output.line(&format!("{}:{}  {}  ({meaning})", link.path, link.line, link.target))?;
            }
        }
        NotebookReply::UnlinkedMentions(reply) => {
            for note in &reply.notes {
                let lines: Vec<String> = note.lines.iter().map(u32::to_string).collect();
                output.line(&format!("{}:{}  {}", note.path, lines.join(","), note.title))?;
            }
        }
        _ => return Err(wrong_reply()),
    }
    Ok(())
}

/// Each note with the notes that it links to. Links are looked through once, and not once for each note.
fn links_of_notes(graph: &GraphReply) -> Vec<(&NoteInfo, Vec<&str>)> {
    let mut targets: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for link in &graph.links {
        targets.entry(&link.source).or_default().push(&link.target);
    }
    graph.notes.iter().map(|note| (note, targets.remove(note.path.as_str()).unwrap_or_default())).collect()
}

fn print_notes(notes: &[NoteInfo], output: &mut Output) -> Result<(), Failure> {
    for note in notes {
        output.line(&format!("{}  {}{}", note.path, note.title, mark(note)))?;
    }
    Ok(())
}

/// The mark of a note that is in no prompt until it is approved.
fn mark(note: &NoteInfo) -> String {
    note.unapproved.map(|from| format!("  [unapproved: {from}]")).unwrap_or_default()
}

fn print_hit(hit: &RecallHit, output: &mut Output) -> Result<(), Failure> {
    let place = match hit.lines.as_slice() {
        [first, last] if first != last => format!(":{first}-{last}"),
        [first, ..] => format!(":{first}"),
        [] => String::new(),
    };
    output.styled(STRONG, &format!("{}{place}  {}", hit.path, hit.title))?;
    let mut why = format!("[{}] in {}", hit.terms.join(", "), hit.fields.join(", "));
    if let Some(from) = hit.unapproved {
        why.push_str(&format!(", unapproved: {from}"));
    }
    if let Some(newer) = &hit.superseded_by {
        why.push_str(&format!("; superseded by {newer}"));
    }
    output.styled(FAINT, &why)?;
    output.line(hit.passage.trim_end())?;
    if !hit.parts.is_empty() {
        output.styled(FAINT, &format!("score {:.3}", hit.score))?;
        for part in &hit.parts {
            let field = if part.field.is_empty() { String::new() } else { format!(" in {}", part.field) };
            output.styled(FAINT, &format!("  {:>8.3}  {}{field}", part.amount, part.reason))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use saddlebag::notebook::GraphLink;

    use super::*;

    fn ring(notes: usize) -> GraphReply {
        let path = |number: usize| format!("facts/a-note-of-a-ring-{}.md", number % notes);
        GraphReply {
            notes: (0..notes).map(|number| NoteInfo { path: path(number), ..NoteInfo::default() }).collect(),
            links: (0..notes)
                .map(|number| GraphLink { source: path(number), target: path(number + 1), ..GraphLink::default() })
                .collect(),
        }
    }

    #[test]
    fn a_graph_of_many_notes_is_printed_in_time_linear_in_its_notes() {
        let time = |notes: usize| -> Duration {
            let graph = ring(notes);
            let times = (0..5).map(|_| {
                let begun = Instant::now();
                let links = links_of_notes(&graph);
                assert!(links.iter().all(|(_, targets)| targets.len() == 1));
                begun.elapsed()
            });
            times.min().expect("times")
        };
        // A loaded machine may slow one measurement, and none makes a quadratic one fast: that takes 64 times as long.
        let mut ratios = (0..20).map(|_| time(16_000).as_secs_f64() / time(2_000).as_secs_f64());
        let best = ratios.by_ref().find(|ratio| *ratio < 24.0);
        assert!(best.is_some(), "16,000 notes took at least 24 times as long as 2,000 in each of 20 measurements");
    }
}
