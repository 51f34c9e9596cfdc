//! The common parts of the MCP server and the page. [`worker`] runs calls on one store. [`http`] and [`connections`] serve
//! HTTP to this machine. [`noticed`] gathers changes of its folder.
//! [`secret`] makes secrets for those who may ask.

pub(crate) mod connections;
pub(crate) mod http;
pub(crate) mod noticed;
pub(crate) mod secret;
pub(crate) mod worker;
