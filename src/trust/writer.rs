//! [`Writer`]: the agent, the client, the session and the tool that wrote text, as its file names them.

use saddlebag_collections::prelude::*;
use saddlebag_markdown::{Frontmatter, Value, remove_field, set_field, yaml_scalar};

/// Fields of the frontmatter for the agent, the client, the session and the tool.
const FIELDS: [&str; 4] = ["origin-agent", "origin-client", "origin-session", "origin-tool"];

/// The names that the origin of a command gave. A file has no field for a name that was not given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Writer {
    pub(crate) agent: Option<String>,
    pub(crate) client: Option<String>,
    pub(crate) session: Option<String>,
    pub(crate) tool: Option<String>,
}

impl Writer {
    /// Reads the names in the frontmatter of a file.
    pub(crate) fn from_frontmatter(frontmatter: &Frontmatter) -> Self {
        let name = |field: &str| frontmatter.value(field).and_then(Value::text).filter(|name| !name.is_empty());
        let [agent, client, session, tool] = FIELDS.map(name);
        Self { agent, client, session, tool }
    }

    /// Returns the agent that the frontmatter of a file names, or else the client; `None` for a person.
    pub(crate) fn name_in(frontmatter: &Frontmatter) -> Option<String> {
        let Self { agent, client, .. } = Self::from_frontmatter(frontmatter);
        let by_agent = || frontmatter.value("provenance").and_then(Value::text).filter(|word| word == "agent");
        agent.or(client).or_else(by_agent)
    }

    /// The fields of a file, with the names that they have.
    pub(crate) fn fields(&self) -> [(&'static str, Option<&str>); 4] {
        let Self { agent, client, session, tool } = self;
        let [of_agent, of_client, of_session, of_tool] = FIELDS;
        [
            (of_agent, agent.as_deref()),
            (of_client, client.as_deref()),
            (of_session, session.as_deref()),
            (of_tool, tool.as_deref()),
        ]
    }

    /// Returns the text of a file with these names and no others. `None` if its frontmatter could not be made to say so.
    pub(crate) fn sign(&self, text: &str) -> Option<String> {
        let mut signed = text.to_owned();
        let mut frontmatter = Frontmatter::parse(&signed);
        for (field, name) in self.fields() {
            let known = frontmatter.value(field);
            if known.and_then(Value::text).as_deref() == name && known.is_some() == name.is_some() {
                continue;
            }
            signed = match name {
                Some(name) => set_field(&signed, field, &yaml_scalar(name)),
                None => remove_field(&signed, field),
            };
            frontmatter = Frontmatter::parse(&signed);
        }
        (Self::from_frontmatter(&frontmatter) == *self).then_some(signed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn writer(session: Option<&str>, tool: Option<&str>) -> Writer {
        Writer { session: session.map(String::from), tool: tool.map(String::from), ..Writer::default() }
    }

    #[test]
    fn a_signature_reads_back_whatever_the_name_is() {
        for name in
            ["memory_store", "1.10", "true", "a: b # c", "\"quoted\"", "名前", "b1946ac9-2f3e-4c5d-8a7b-000000000001"]
        {
            for text in ["plain", "---\nkey: a\n---\n\nx", "---\r\nkey: a\r\norigin-tool: old\r\n---\r\nx"] {
                let writer = writer(Some(name), Some(name));
                let signed = writer.sign(text).expect(text);
                assert_eq!(Writer::from_frontmatter(&Frontmatter::parse(&signed)), writer, "{signed:?}");
                assert_eq!(writer.sign(&signed).as_deref(), Some(signed.as_str()));
            }
        }
    }

    #[test]
    fn a_text_without_a_writer_stays_as_it_is() {
        for text in ["", "plain", "---\nkey: a\n---\n\nx", "---\nkey: [\n---\nx"] {
            assert_eq!(Writer::default().sign(text).as_deref(), Some(text));
        }
    }

    #[test]
    fn a_signature_replaces_what_a_file_claims() {
        let claimed = "---\norigin-agent: root\norigin-session: s\nkey: a\n---\n\nx";
        let signed = writer(None, Some("memory_store")).sign(claimed).expect("it is signed");
        assert_eq!(signed, "---\nkey: a\norigin-tool: memory_store\n---\n\nx");
        // A file that says it twice cannot be made to say it once.
        assert_eq!(Writer::default().sign("---\norigin-tool: a\norigin-tool: b\n---\nx"), None);
    }
}
