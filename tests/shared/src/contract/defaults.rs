//! The fields of `wit/` that a caller may leave out, and the values that they have then.
//!
//! Each is an option in the contract. Where the crate has a plain field, the conversion puts the default in its place:
//! the constant that the command line and the tools use, too.

use std::fmt::Write as _;

use super::wit::snake;

/// A field, with the default that the conversion puts in its place.
struct Default {
    record: (&'static str, &'static str),
    field: &'static str,
    /// Path of the constant in the crate.
    value: &'static str,
    /// Default as the documentation of the field states it, after `none: `.
    #[cfg(feature = "compare")]
    said: Said,
}

#[cfg(feature = "compare")]
enum Said {
    Number(u64),
    Words(&'static str),
}

/// A default that is a constant of the crate, `saddlebag::` left out.
macro_rules! constant {
    ($record:expr, $field:literal, $($path:ident)::+) => {
        Default {
            record: $record,
            field: $field,
            value: stringify!($($path)::+),
            #[cfg(feature = "compare")]
            said: Said::Number(saddlebag::$($path)::+ as u64),
        }
    };
}

/// A filter that takes everything.
macro_rules! filter {
    ($record:expr, $said:literal) => {
        Default {
            record: $record,
            field: "filter",
            value: "notebook::NoteFilter::default()",
            #[cfg(feature = "compare")]
            said: Said::Words($said),
        }
    };
}

const DEFAULTS: [Default; 23] = [
    constant!(("agents-md", "sync-agents-md"), "max-bytes", agents_md::DEFAULT_SECTION_BYTES),
    constant!(("config", "entries-config"), "max-entries", entries::MAX_ENTRIES),
    constant!(("config", "entries-config"), "max-workspace-entries", entries::MAX_ENTRIES),
    constant!(("entries", "hydrate"), "max-bytes", entries::DEFAULT_HYDRATE_BYTES),
    constant!(("items", "show"), "max-bytes", journal::DEFAULT_READ_BYTES),
    constant!(("journal", "search"), "max-bytes", journal::DEFAULT_READ_BYTES),
    filter!(("items", "recall"), "every item"),
    constant!(("items", "recall"), "limit", items::DEFAULT_HITS),
    filter!(("items", "list-items"), "everything"),
    constant!(("items", "list-files"), "limit", journal::DEFAULT_LISTED_FILES),
    constant!(("notebook", "load-memories"), "limit", notebook::INITIAL_MEMORIES),
    constant!(("notebook", "memory-context"), "max-bytes", notebook::DEFAULT_MEMORIES_BYTES),
    constant!(("notebook", "recall-for-turn"), "limit", notebook::DEFAULT_HITS),
    constant!(("items", "related"), "limit", items::DEFAULT_HITS),
    constant!(("prompt", "context"), "max-bytes", context::DEFAULT_BLOCK_BYTES),
    constant!(("prompt", "context-entries"), "max-bytes", entries::DEFAULT_HYDRATE_BYTES),
    constant!(("prompt", "preamble"), "max-bytes", context::DEFAULT_PREAMBLE_BYTES),
    constant!(("session", "begin-session"), "max-bytes", session::DEFAULT_SESSION_BYTES),
    constant!(("session", "recall-for-prompt"), "max-bytes", session::DEFAULT_PROMPT_BYTES),
    constant!(("session", "recall-for-tool"), "max-bytes", session::DEFAULT_TOOL_BYTES),
    constant!(("history", "list-operations"), "limit", history::DEFAULT_HISTORY_ITEMS),
    constant!(("history", "list-versions"), "limit", history::DEFAULT_HISTORY_ITEMS),
    constant!(("trust", "pending"), "limit", approval::DEFAULT_PENDING_ITEMS),
];

/// The field of a record as `src/wit_convert/contract.rs` has it.
pub(crate) fn with_default(interface: &str, record: &str, field: &str) -> String {
    let mut shown = snake(field);
    let default = DEFAULTS.iter().find(|default| default.record == (interface, record) && default.field == field);
    if let Some(Default { value, .. }) = default {
        write!(shown, " = $crate::{}", value.replace(' ', "")).expect("a string");
    }
    shown
}

#[cfg(feature = "compare")]
mod tests {
    use wit_parser::{Resolve, Type, TypeDefKind};

    use super::super::wit::{contract, types};
    use super::{DEFAULTS, Default, Said};

    /// Fields that are options in the crate as well, since a command does something else without them.
    const OPEN: [((&str, &str), &str, &str); 4] = [
        (("items", "recall"), "max-bytes", "no budget"),
        (("journal", "search"), "limit", "50 in the list"),
        (("items", "list-items"), "limit", "all"),
        (("notebook", "note-filter"), "max-distance", "any number"),
    ];

    /// The names of budgets and limits.
    const BUDGETS: [&str; 5] = ["max-bytes", "limit", "max-distance", "max-entries", "max-workspace-entries"];

    /// Returns true if a caller does not choose the budgets of a record: the component asks for operations,
    /// `default-config` has the limits, and a reply repeats the request.
    fn is_given(interface: &str, record: &str) -> bool {
        interface != "fs" && (interface, record) != ("config", "limits") && !record.ends_with("-reply")
    }

    fn field<'a>(contract: &'a Resolve, record: (&str, &str), field: &str) -> &'a wit_parser::Field {
        types(contract)
            .filter(|(interface, name, _)| (*interface, *name) == record)
            .find_map(|(.., definition)| match &definition.kind {
                TypeDefKind::Record(record) => record.fields.iter().find(|one| one.name == field),
                _ => None,
            })
            .unwrap_or_else(|| panic!("{record:?} has no field {field}"))
    }

    fn assert_says(contract: &Resolve, record: (&str, &str), name: &str, said: &str) {
        let field = field(contract, record, name);
        let Type::Id(id) = field.ty else { panic!("{record:?}.{name} is not an option") };
        assert!(matches!(contract.types[id].kind, TypeDefKind::Option(_)), "{record:?}.{name} is not an option");
        let docs = field.docs.contents.as_deref().unwrap_or_default().replace('\n', " ");
        let is_said = docs.split("none: ").nth(1).and_then(|rest| rest.strip_prefix(said));
        let ends = is_said.is_some_and(|rest| rest.starts_with(['.', ',', ';']));
        assert!(ends, "the documentation of {record:?}.{name} does not say `none: {said}`, but: {docs}");
    }

    /// A number with its thousands apart, as the documentation has it.
    fn grouped(number: u64) -> String {
        let digits = number.to_string();
        let mut shown = String::new();
        for (place, digit) in digits.chars().enumerate() {
            if place > 0 && (digits.len() - place).is_multiple_of(3) {
                shown.push(',');
            }
            shown.push(digit);
        }
        shown
    }

    /// Every budget may be left out.
    #[test]
    fn every_budget_may_be_left_out_and_its_documentation_says_what_it_is_then() {
        let contract = contract();
        let mut budgets = 0;
        for (interface, name, definition) in types(&contract).filter(|(interface, name, _)| is_given(interface, name)) {
            let TypeDefKind::Record(record) = &definition.kind else { continue };
            for one in record.fields.iter().filter(|one| BUDGETS.contains(&one.name.as_str())) {
                let has_default =
                    DEFAULTS.iter().any(|known| known.record == (interface, name) && known.field == one.name);
                let is_open = OPEN.iter().any(|(record, field, _)| *record == (interface, name) && *field == one.name);
                assert!(has_default || is_open, "{interface}.{name}.{} has no default", one.name);
                budgets += 1;
            }
        }
        assert_eq!(budgets, DEFAULTS.len() - 2 + OPEN.len(), "each is there once; two defaults are filters");
        for Default { record, field, said, .. } in &DEFAULTS {
            match said {
                Said::Number(number) => assert_says(&contract, *record, field, &grouped(*number)),
                Said::Words(words) => assert_says(&contract, *record, field, words),
            }
        }
        for (record, field, said) in OPEN {
            assert_says(&contract, record, field, said);
        }
    }

    #[test]
    fn a_filter_may_be_left_out_wherever_a_command_takes_one() {
        let contract = contract();
        for (interface, name, definition) in types(&contract) {
            let TypeDefKind::Record(record) = &definition.kind else { continue };
            let is_filter =
                |ty: Type| matches!(ty, Type::Id(id) if contract.types[id].name.as_deref() == Some("note-filter"));
            let plain = record.fields.iter().find(|field| is_filter(field.ty));
            assert!(plain.is_none(), "{interface}.{name} has a filter that cannot be left out: {plain:?}");
        }
    }
}
