//! Properties of setup and removal over random documents.

use proptest::prelude::*;

use super::clients::{Client, Run, Scope};
use super::format::Format;
use super::json::Dialect;
use super::piece::{Piece, added, removed};
use super::places::{Places, Platform};
use super::value::Value;

/// Style of a random document: how many line ends, comments and commas it has, as numbers from a sequence.
struct Style {
    seed: u64,
    dialect: Dialect,
    newline: &'static str,
}

impl Style {
    fn next(&mut self, below: u64) -> u64 {
        self.seed = self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.seed >> 33) % below
    }

    /// Writes white space, with a comment now and then.
    fn space(&mut self, out: &mut String) {
        let has_comments = self.dialect != Dialect::Strict;
        match self.next(7) {
            0 => out.push(' '),
            1 => out.push_str(self.newline),
            2 => {
                out.push_str(self.newline);
                out.push_str(["\t", "  ", "    "][usize::try_from(self.next(3)).unwrap()]);
            }
            3 if has_comments => out.push_str(" /* {\"a\": [ é */ "),
            4 if has_comments => {
                out.push_str(" // \"mcpServers\": {},");
                out.push_str(self.newline);
            }
            _ => {}
        }
    }

    fn write(&mut self, value: &Value, out: &mut String) {
        let (open, close, pairs): (char, char, Vec<(Option<&String>, &Value)>) = match value {
            Value::Table(pairs) => ('{', '}', pairs.iter().map(|(key, value)| (Some(key), value)).collect()),
            Value::List(items) => ('[', ']', items.iter().map(|item| (None, item)).collect()),
            Value::Text(text) => return out.push_str(&serde_json::Value::from(text.as_str()).to_string()),
            Value::Number(number) => return out.push_str(number),
            Value::Bool(value) => return out.push_str(if *value { "true" } else { "false" }),
            Value::Null => return out.push_str("null"),
        };
        out.push(open);
        let last = pairs.len().saturating_sub(1);
        for (number, (key, value)) in pairs.into_iter().enumerate() {
            self.space(out);
            if let Some(key) = key {
                out.push_str(&serde_json::Value::from(key.as_str()).to_string());
                self.space(out);
                out.push(':');
            }
            self.space(out);
            self.write(value, out);
            self.space(out);
            let trails = matches!(self.dialect, Dialect::Jsonc | Dialect::Json5) && self.next(2) == 0;
            if number < last || trails {
                out.push(',');
            }
        }
        self.space(out);
        out.push(close);
    }
}

fn leaf() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        (-1000_i32..1000).prop_map(|number| Value::Number(number.to_string())),
        "[ -~é漢😀\\r\\n\"\\\\]{0,12}".prop_map(Value::Text),
    ]
}

fn tree() -> impl Strategy<Value = Value> {
    leaf().prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::List),
            prop::collection::btree_map("[a-zé \"]{0,6}", inner, 0..4)
                .prop_map(|pairs| Value::Table(pairs.into_iter().collect())),
        ]
    })
}

/// Returns documents that may have servers and hooks of others.
fn document() -> impl Strategy<Value = Value> {
    let server = tree().prop_map(|value| vec![("other".to_string(), value)]);
    let servers = prop::option::of(server.prop_map(Value::Table));
    let hooks = prop::option::of(prop::collection::vec(tree(), 1..3).prop_map(Value::List));
    let others = prop::collection::btree_map("[b-fé]{1,5}", tree(), 1..4);
    (servers, hooks, others, any::<bool>()).prop_map(|(servers, hooks, others, is_first)| {
        let servers = servers.map(|servers| ("mcpServers".to_string(), servers));
        let hooks = hooks.map(|list| ("hooks".to_string(), Value::Table(vec![("Stop".to_string(), list)])));
        let others = others.into_iter();
        let pairs: Vec<(String, Value)> = match is_first {
            true => servers.into_iter().chain(others).chain(hooks).collect(),
            false => others.chain(hooks).chain(servers).collect(),
        };
        Value::Table(pairs)
    })
}

fn places() -> Places {
    Places::new(Platform::Unix, [("HOME".into(), "/h".into())]).unwrap()
}

/// Returns the entries of a client.
fn pieces(client: Client, command: &str) -> Vec<Piece> {
    let run = Run { command: command.to_string(), ..Run::default() };
    let files = client.files(&places(), Scope::User, "/p".as_ref(), &run, true, &|_| false);
    files.into_iter().flat_map(|file| file.pieces).collect()
}

/// Returns what a value says without our server and our hooks.
fn others(value: &Value) -> Vec<(String, Value)> {
    let Value::Table(pairs) = value else { return Vec::new() };
    pairs.iter().filter(|(key, _)| !["mcpServers", "hooks", "mcp_servers"].contains(&key.as_str())).cloned().collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn setup_and_removal_leave_every_byte_of_json_as_it_was(
        value in document(),
        seed in any::<u64>(),
        dialect in prop::sample::select(vec![Dialect::Strict, Dialect::Comments, Dialect::Jsonc, Dialect::Json5]),
        newline in prop::sample::select(vec!["\n", "\r\n"]),
    ) {
        let mut text = String::new();
        let mut style = Style { seed, dialect, newline };
        style.space(&mut text);
        style.write(&value, &mut text);
        style.space(&mut text);
        let format = Format::Json(dialect);
        prop_assert!(format.parse(&text).unwrap().says(&value), "{}", text);
        let entries = pieces(Client::ClaudeCode, "/opt/saddlebag");
        let once = added(Some(&text), format, &entries, false).unwrap();
        prop_assert!(once.foreign.is_empty());
        let once = once.text.unwrap();
        prop_assert_eq!(others(&format.parse(&once).unwrap()), others(&value));
        let twice = added(Some(&once), format, &entries, false).unwrap().text.unwrap();
        prop_assert_eq!(&twice, &once);
        for before in [Some(Some(text.as_str())), None] {
            let after = removed(&once, format, &entries, before).unwrap().text.unwrap();
            prop_assert_eq!(&after, &text, "with {}", once);
        }
        let moved = added(Some(&once), format, &pieces(Client::ClaudeCode, "/usr/bin/saddlebag"), false).unwrap();
        let after = removed(&moved.text.unwrap(), format, &entries, None).unwrap().text.unwrap();
        prop_assert_eq!(&after, &text, "after a change of the program");
    }

    #[test]
    fn setup_and_removal_leave_every_byte_of_toml_as_it_was(
        lines in prop::collection::vec(0_usize..9, 0..8),
        number in 0_u32..1000,
        newline in prop::sample::select(vec!["\n", "\r\n"]),
    ) {
        let mut text = String::new();
        for (at, line) in lines.iter().enumerate() {
            let line = match line {
                0 => format!("# a [mcp_servers.saddlebag] é {number}"),
                1 => String::new(),
                2 => format!("[t{at}] # x\nk = {number}"),
                3 => format!("[t{at}.\"é.a\"]\nk = [\n  1, # one\n  'two',\n]"),
                4 => format!("[mcp_servers.s{at}]\ncommand = 'x'\n\n[mcp_servers.s{at}.env]\nA = \"\"\"\n[b]\n\"\"\""),
                5 => format!("[[list{at}]]\nname = {{ a = 1979-05-27, b = [{number}.5] }}"),
                6 => format!("  [t{at}]\n\t\"k e y\"   =   true"),
                7 => format!("[mcp_servers.s{at}]\nurl = 'y' # end"),
                _ => format!("[t{at}.mcp_servers.saddlebag]\ncommand = 'not ours'"),
            };
            text.push_str(&line.replace('\n', newline));
            text.push_str(newline);
        }
        let value = Format::Toml.parse(&text).unwrap();
        let run = Run { command: "/opt/a b\"/saddlebag".into(), ..Run::default() };
        let entries: Vec<Piece> = pieces(Client::Codex, &run.command)
            .into_iter().filter(|piece| matches!(piece, Piece::Server { .. })).collect();
        let once = added(Some(&text), Format::Toml, &entries, false).unwrap().text.unwrap();
        prop_assert!(once.starts_with(&text));
        prop_assert_eq!(others(&Format::Toml.parse(&once).unwrap()), others(&value));
        let twice = added(Some(&once), Format::Toml, &entries, false).unwrap().text.unwrap();
        prop_assert_eq!(&twice, &once);
        for before in [Some(Some(text.as_str())), None] {
            let after = removed(&once, Format::Toml, &entries, before).unwrap().text.unwrap();
            prop_assert_eq!(&after, &text, "with {}", once);
        }
        let longer = format!("{once}{newline}[later]{newline}k = 1{newline}");
        let after = removed(&longer, Format::Toml, &entries, None).unwrap().text.unwrap();
        prop_assert_eq!(after, format!("{text}{newline}[later]{newline}k = 1{newline}"));
    }

    #[test]
    fn no_text_makes_setup_panic(text in "[{}\\[\\]\":,a-c/*\\r\\n #=.']{0,60}") {
        for format in [Dialect::Strict, Dialect::Comments, Dialect::Jsonc, Dialect::Json5].map(Format::Json).into_iter().chain([Format::Toml]) {
            let client = if format == Format::Toml { Client::Codex } else { Client::ClaudeCode };
            let entries = pieces(client, "saddlebag");
            if let Ok(edited) = added(Some(&text), format, &entries, false) {
                let _ = removed(&edited.text.unwrap_or_default(), format, &entries, None);
            }
        }
    }
}
