//! What the MCP server and the page share: one store that serves many calls ([`worker`]), and HTTP on this machine ([`http`],
//! [`connections`]), with [`secret`]s for those who may ask.

pub(crate) mod connections;
pub(crate) mod http;
pub(crate) mod secret;
pub(crate) mod worker;
