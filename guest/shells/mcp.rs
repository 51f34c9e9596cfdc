//! `saddlebag-mcp.wasm`: an MCP server over standard input and output, for runtimes of `wasi:cli`.

#![allow(clippy::disallowed_methods, reason = "JSON has no control characters")]

use std::io::{self, BufRead as _, Write as _};

use saddlebag_guest::Mcp;
use saddlebag_guest::environment::{now, open};

fn main() -> io::Result<()> {
    let mut server = Mcp::new(open().map_err(io::Error::other)?);
    let mut output = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        if let Some(answer) = server.answer(now().map_err(io::Error::other)?, &line) {
            writeln!(output, "{answer}")?;
            output.flush()?;
        }
    }
    Ok(())
}
