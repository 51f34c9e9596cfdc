//! What a user may expect of any memory for agents, test by test, each with a control that shows that the test can fail.

mod rejected_values;
