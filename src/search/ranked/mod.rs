mod stem;
mod tokens;
