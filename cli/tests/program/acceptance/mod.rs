//! What a user may expect of any memory for agents, through the program, each with a control that shows that the test can fail.

mod deleted;
mod model;
mod rejected_values;
mod undone;
