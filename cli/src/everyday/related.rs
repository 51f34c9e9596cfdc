//! `related`: lists the notes around a note; `link`: writes a link between two.

use saddlebag::notebook::{
    DEFAULT_HITS, Link, LinkReply, Related, RelatedReply, UnlinkedMentions, UnlinkedMentionsReply,
};
use saddlebag::store::Timestamp;

use crate::input::shown_path;
use crate::note::shared::{mark, marked};
use crate::output::warn_of_skipped;
use crate::prelude::*;
use crate::subcommand::Ask;

/// List the notes around a note: links, backlinks, shared links
#[derive(Debug, Args)]
#[command(after_help = example("related \"Load balancer\""))]
pub(crate) struct RelatedArgs {
    /// Path, name, title or alias of the note
    #[arg(value_parser = shown_path)]
    note: String,
    /// Maximum number of notes
    #[arg(long, short = 'n', value_name = "N", default_value_t = DEFAULT_HITS, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// Instead, list the notes that name the note without linking to it
    #[arg(long, conflicts_with = "limit")]
    mentions: bool,
}

/// Notes around a note, or notes that name it.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Around {
    Related(RelatedReply),
    Mentions(UnlinkedMentionsReply),
}

impl Subcommand for RelatedArgs {
    type Json = Around;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        let Self { note, limit, mentions } = self;
        let mut store = Store::open(global)?;
        let around = match mentions {
            true => Around::Mentions(store.call(UnlinkedMentions { note }, output)?),
            false => Around::Related(store.call(Related { note, limit }, output)?),
        };
        let (is_empty, skipped) = match &around {
            Around::Related(reply) => (reply.notes.is_empty(), &reply.skipped),
            Around::Mentions(reply) => (reply.notes.is_empty(), &reply.skipped),
        };
        if !output.json(&around)? {
            print(&around, output)?;
            output.flush()?;
            if is_empty {
                let what = if mentions { "no other note mentions it" } else { "no note is related to it" };
                output.note(&format!("{what}; `saddlebag link NOTE OTHER` links two notes"));
            }
            warn_of_skipped(skipped, output);
        }
        Ok(if is_empty { Exit::Nothing } else { Exit::Done })
    }
}

fn print(around: &Around, output: &mut Output) -> Result<(), Failure> {
    match around {
        Around::Related(reply) => reply.notes.iter().try_for_each(|note| {
            output.line(&format!("{}  {}  ({}){}", note.path, note.title, note.reason, marked(&note.marks)))
        }),
        Around::Mentions(reply) => reply.notes.iter().try_for_each(|note| {
            let lines: Vec<String> = note.lines.iter().map(u32::to_string).collect();
            output.line(&format!("{}:{}  {}{}", note.path, lines.join(","), note.title, mark(note.unapproved)))
        }),
    }?;
    Ok(())
}

/// Add a link to a note at the end of another note
#[derive(Debug, Args)]
#[command(after_help = example("link \"Load balancer\" deploy"))]
pub(crate) struct LinkArgs {
    /// Note that gets the link
    #[arg(value_parser = shown_path)]
    source: String,
    /// Note that the link leads to
    #[arg(value_parser = shown_path)]
    target: String,
    /// Text of the link [default: the title of the note]
    text: Option<String>,
}

impl Ask for LinkArgs {
    type Request = Link;

    fn request(self, _: Timestamp) -> Result<Link, Failure> {
        Ok(Link { source: self.source, target: self.target, text: self.text })
    }

    fn print(reply: &LinkReply, output: &mut Output) -> Result<(), Failure> {
        Ok(output.line(reply.message.as_str())?)
    }
}
