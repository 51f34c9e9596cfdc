//! What a user may expect of any memory for agents, through the program, MCP and hooks, each with a control that shows that the
//! test can fail.

mod corrected;
mod deleted;
mod evidence;
mod model;
mod prompts;
mod rejected_values;
mod scope;
mod undone;
mod ways;
