//! Options of `saddlebag mcp`.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use saddlebag::tools::ToolSet;
use saddlebag_collections::Word;

use crate::help::example;

/// Default address of the HTTP server.
const DEFAULT_ADDRESS: &str = "127.0.0.1:7423";
/// Default maximum size of a message, in bytes. It exceeds the arguments of a tool, which have at most 1 MiB, even if
/// every character is escaped.
const DEFAULT_MESSAGE_BYTES: u32 = 8 << 20;

/// Serve memory to MCP clients, on standard input or HTTP
#[derive(Debug, Args)]
#[command(after_help = example("mcp --http 127.0.0.1:7423"))]
pub(crate) struct McpArgs {
    /// Local address to serve HTTP on, instead of standard input and output [without ADDRESS: 127.0.0.1:7423; port 0:
    /// any free port]
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, default_missing_value = DEFAULT_ADDRESS, value_parser = loopback)]
    pub(crate) http: Option<SocketAddr>,
    /// Sets of tools: everyday, journal, entries, notebook, anthropic; over HTTP also page, with which clients show the page inside a
    /// chat, and approve as the person [default: everyday]
    #[arg(long, value_name = "SETS", value_delimiter = ',', value_parser = served())]
    pub(crate) tools: Vec<Served>,
    /// File with the bearer token for HTTP, created if it is missing [default: $SADDLEBAG_MCP_TOKEN, else
    /// `saddlebag-mcp-token` in the platform's data folder]
    #[arg(long, value_name = "FILE", requires = "http")]
    pub(crate) token_file: Option<PathBuf>,
    /// Do not watch the folder: check every file at each question, and tell clients of no changes
    #[arg(long)]
    pub(crate) no_watch: bool,
    /// Time limit of one call, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) timeout: u64,
    /// Maximum size of one message, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = DEFAULT_MESSAGE_BYTES, value_parser = clap::value_parser!(u32).range(1024..))]
    pub(crate) max_message_bytes: u32,
}

/// A set of tools; `None` is the page over HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Served(pub(crate) Option<ToolSet>);

fn served() -> impl TypedValueParser<Value = Served> {
    let words = ToolSet::VARIANTS.iter().map(|set| set.word()).chain(["page"]);
    PossibleValuesParser::new(words).map(|word| Served(word.parse().ok()))
}

/// Parses an address that only this machine can reach.
fn loopback(text: &str) -> Result<SocketAddr, String> {
    let address = match text.strip_prefix("localhost:").map(str::parse) {
        Some(Ok(port)) => SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port),
        _ => text.parse().map_err(|_| format!("not an address and a port; give one such as {DEFAULT_ADDRESS}"))?,
    };
    if address.ip().is_loopback() {
        return Ok(address);
    }
    Err(format!(
        "other machines can reach this address, and memory is served only to this one; give one such as \
         {DEFAULT_ADDRESS} or [::1]:7423, and put your own proxy in front to serve other machines"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_this_machine_are_taken() {
        for good in ["127.0.0.1:7423", "127.9.9.9:0", "[::1]:80", "localhost:7423"] {
            assert!(loopback(good).unwrap().ip().is_loopback(), "{good}");
        }
        for bad in ["0.0.0.0:7423", "[::]:7423", "192.168.0.1:80", "localhost", "7423", "", "example.com:80"] {
            assert!(loopback(bad).is_err(), "{bad}");
        }
    }
}
