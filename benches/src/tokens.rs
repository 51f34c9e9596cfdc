//! Prints the number of tokens (`o200k_base`) of the text on standard input.

#![allow(clippy::print_stdout, reason = "the number is the output")]

use std::error::Error;
use std::io::Read as _;

fn main() -> Result<(), Box<dyn Error>> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    println!("{}", tiktoken_rs::o200k_base()?.encode_ordinary(&text).len());
    Ok(())
}
