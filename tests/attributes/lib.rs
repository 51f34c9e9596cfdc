//! The attributes of the tests that run in both engines, and of those that run at night.
//!
//! [`macro@both_engines`] makes two tests of one function. The name of a test that fails says which engine it ran in,
//! and a failure in one engine does not keep the other one from running.
//!
//! `test-case` and `rstest` do the same for any list of arguments. This attribute is here instead, because
//!
//! - it names the engines in one place, and not above each test;
//! - it adds nothing to the name of a test but `native` or `component`;
//! - it has no dependency. Theirs turn on features of `syn`, on which wasmtime depends, so that wasmtime would be
//!   compiled once with those features and once without.

use proc_macro::{Delimiter, Group, TokenStream, TokenTree};

/// Attribute of a test whose native twin runs in every change.
const SECOND_ENGINE: &str = "#[ignore = \"runs at night: the native engine runs it in every change\"]";

/// Attribute of a test that takes long.
const LONG: &str = "#[ignore = \"runs at night: it takes long\"]";

/// Makes two tests of a function that takes a `support::Kind`: `<function>::native` and `<function>::component`.
///
/// Every change runs the native one. The component runs the same code, so its test has `#[ignore]` and runs at night. With
/// `#[both_engines(every_change)]` every change runs both: that is for the border between the component and its host, and
/// for one run of each command. With `#[both_engines(nightly)]` both run at night.
///
/// It replaces `#[test]`; `#[ignore]` and `#[should_panic]` below it apply to both tests. A test that compares the
/// engines, or needs one of them, has `#[test]` as usual.
///
/// ```text
/// #[both_engines]
/// fn what_is_written_is_read_back(kind: Kind) {
///     let mut host = host(kind, Config::default(), &[]);
///     ..
/// }
/// ```
#[proc_macro_attribute]
pub fn both_engines(arguments: TokenStream, function: TokenStream) -> TokenStream {
    let (native_at_night, component_at_night) = match arguments.to_string().as_str() {
        "" => ("", SECOND_ENGINE),
        "every_change" => ("", ""),
        "nightly" => (LONG, LONG),
        _ => return refusal("`both_engines` takes `every_change`, `nightly` or nothing"),
    };
    let (of_tests, function) = split(function);
    let Some(name) = name(&function) else { return refusal("`both_engines` belongs above a function") };
    let test = |engine: &str, kind: &str, at_night: &str| {
        // A function that returns something does not compile here, so no `Result` is thrown away.
        format!("#[test] {of_tests} {at_night} fn {engine}() {{ super::{name}(::support::Kind::{kind}) }}")
    };
    let is_ignored = of_tests.contains("ignore");
    let native = test("native", "Native", if is_ignored { "" } else { native_at_night });
    let component = test("component", "Component", if is_ignored { "" } else { component_at_night });
    let tests = format!("mod {name} {{ {native} {component} }}");
    match tests.parse::<TokenStream>() {
        Ok(tests) => function.into_iter().chain(tests).collect(),
        Err(error) => refusal(&error.to_string()),
    }
}

/// Makes a test of a function, `<function>::nightly`, that runs at night because it is long. It replaces `#[test]`.
#[proc_macro_attribute]
pub fn nightly(arguments: TokenStream, function: TokenStream) -> TokenStream {
    if !arguments.is_empty() {
        return refusal("`nightly` takes no arguments");
    }
    let Some(name) = name(&function) else { return refusal("`nightly` belongs above a function") };
    let test = format!("mod {name} {{ #[test] {LONG} fn nightly() {{ super::{name}() }} }}");
    match test.parse::<TokenStream>() {
        Ok(test) => function.into_iter().chain(test).collect(),
        Err(error) => refusal(&error.to_string()),
    }
}

/// Takes the attributes off that say how a test is run: the compiler ignores them on a function that is not a test.
fn split(function: TokenStream) -> (String, TokenStream) {
    let (mut of_tests, mut rest) = (String::new(), Vec::new());
    for token in function {
        match token {
            TokenTree::Group(group) if is_of_tests(&group) && is_hash(rest.last()) => {
                rest.pop();
                of_tests.push_str(&format!("#{group} "));
            }
            token => rest.push(token),
        }
    }
    (of_tests, rest.into_iter().collect())
}

fn is_of_tests(group: &Group) -> bool {
    let first = group.stream().into_iter().next().map(|word| word.to_string());
    group.delimiter() == Delimiter::Bracket && matches!(first.as_deref(), Some("ignore" | "should_panic"))
}

fn is_hash(token: Option<&TokenTree>) -> bool {
    matches!(token, Some(TokenTree::Punct(mark)) if mark.as_char() == '#')
}

/// Returns the word after the first `fn`.
fn name(function: &TokenStream) -> Option<String> {
    let mut tokens = function.clone().into_iter();
    tokens.find(|token| matches!(token, TokenTree::Ident(word) if word.to_string() == "fn"))?;
    match tokens.next()? {
        TokenTree::Ident(name) => Some(name.to_string()),
        _ => None,
    }
}

fn refusal(message: &str) -> TokenStream {
    format!("::core::compile_error!({message:?});").parse().unwrap_or_default()
}
