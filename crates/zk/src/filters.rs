//! Named filters: a word among the paths that is the name of arguments in `[filter]` of the configuration.

use clap::Parser;

use super::args::{BadUse, FilterArgs, refusal};

/// Arguments of a name.
#[derive(Debug, Parser)]
#[command(name = "filter", disable_help_flag = true)]
struct Named {
    #[command(flatten)]
    filter: FilterArgs,
}

/// Replaces names by their arguments. A name wins over a path. Within its own arguments a name is a path, so that
/// names cannot form a cycle.
///
/// An option with one value, such as `--limit`, keeps the value of the command line. Lists are joined, and the keys of
/// `--sort` on the command line count more.
pub fn expand(args: FilterArgs, filters: &[(String, String)]) -> Result<FilterArgs, BadUse> {
    expand_unless(args, filters, &mut Vec::new())
}

fn expand_unless(
    mut args: FilterArgs,
    filters: &[(String, String)],
    expanded: &mut Vec<String>,
) -> Result<FilterArgs, BadUse> {
    for name in std::mem::take(&mut args.path) {
        let named = filters.iter().find(|(filter, _)| *filter == name);
        match named.filter(|_| !expanded.contains(&name)) {
            None => args.path.push(name),
            Some((_, line)) => {
                let wrong = |problem: &str| BadUse(format!("{name}: the named filter `{line}`: {problem}"));
                let words = words(line).ok_or_else(|| wrong("a quote is not closed"))?;
                let named = Named::try_parse_from(std::iter::once("filter".to_string()).chain(words));
                let named = named.map_err(|error| wrong(&refusal(&error)))?;
                expanded.push(name);
                args = merge(args, expand_unless(named.filter, filters, expanded)?)?;
            }
        }
    }
    Ok(args)
}

fn merge(args: FilterArgs, named: FilterArgs) -> Result<FilterArgs, BadUse> {
    let match_strategy = match (args.r#match.as_slice(), named.r#match.as_slice()) {
        ([], _) => named.match_strategy,
        (_, []) => args.match_strategy,
        _ if args.match_strategy == named.match_strategy => args.match_strategy,
        _ => {
            let (one, other) = (args.match_strategy, named.match_strategy);
            return Err(BadUse(format!("--match-strategy is {one} and, in a named filter, {other}")));
        }
    };
    Ok(FilterArgs {
        path: joined(args.path, named.path),
        interactive: args.interactive || named.interactive,
        limit: args.limit.or(named.limit),
        r#match: joined(args.r#match, named.r#match),
        match_strategy,
        exclude: joined(args.exclude, named.exclude),
        tag: joined(args.tag, named.tag),
        tagless: args.tagless || named.tagless,
        mention: joined(args.mention, named.mention),
        mentioned_by: joined(args.mentioned_by, named.mentioned_by),
        link_to: joined(args.link_to, named.link_to),
        no_link_to: joined(args.no_link_to, named.no_link_to),
        linked_by: joined(args.linked_by, named.linked_by),
        no_linked_by: joined(args.no_linked_by, named.no_linked_by),
        orphan: args.orphan || named.orphan,
        missing_backlink: args.missing_backlink || named.missing_backlink,
        related: joined(args.related, named.related),
        max_distance: args.max_distance.or(named.max_distance),
        recursive: args.recursive || named.recursive,
        created: args.created.or(named.created),
        created_before: args.created_before.or(named.created_before),
        created_after: args.created_after.or(named.created_after),
        modified: args.modified.or(named.modified),
        modified_before: args.modified_before.or(named.modified_before),
        modified_after: args.modified_after.or(named.modified_after),
        // The last key counts most.
        sort: joined(named.sort, args.sort),
    })
}

fn joined(mut one: Vec<String>, other: Vec<String>) -> Vec<String> {
    one.extend(other);
    one
}

/// Splits a line into words as a shell does, without any other feature of a shell. `None` if a quote is not closed.
fn words(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            c if c.is_whitespace() => words.extend(word.take()),
            '\'' => loop {
                match chars.next()? {
                    '\'' => break,
                    c => word.get_or_insert_default().push(c),
                }
            },
            '"' => loop {
                match chars.next()? {
                    '"' => break,
                    '\\' => match chars.next()? {
                        c @ ('"' | '\\') => word.get_or_insert_default().push(c),
                        c => word.get_or_insert_default().extend(['\\', c]),
                    },
                    c => word.get_or_insert_default().push(c),
                }
            },
            '\\' => word.get_or_insert_default().extend(chars.next()),
            c => word.get_or_insert_default().push(c),
        }
        if matches!(c, '\'' | '"') {
            word.get_or_insert_default();
        }
    }
    words.extend(word);
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(arguments: &[&str], filters: &[(&str, &str)]) -> Result<FilterArgs, BadUse> {
        let filters: Vec<(String, String)> =
            filters.iter().map(|(name, line)| ((*name).to_string(), (*line).to_string())).collect();
        let arguments = std::iter::once("filter").chain(arguments.iter().copied());
        expand(Named::try_parse_from(arguments).expect("valid").filter, &filters)
    }

    #[test]
    fn a_line_is_taken_apart_as_a_shell_does_it() {
        let taken = |line: &str| words(line).map(|words| words.join("|"));
        for (line, expected) in [
            ("", ""),
            ("  --tag  a b ", "--tag|a|b"),
            ("--created 'last two weeks'", "--created|last two weeks"),
            (r#"-m "a \"b\" \d" c\ d"#, r#"-m|a "b" \d|c d"#),
            ("a''b ''", "ab|"),
        ] {
            assert_eq!(taken(line).as_deref(), Some(expected), "{line}");
        }
        assert_eq!((taken("'a"), taken(r#"a "b\"#)), (None, None));
    }

    #[test]
    fn a_name_expands_to_its_arguments() {
        let filters =
            [("recent", "--sort modified- -n 5 db"), ("db", "--tag db db"), ("bad", "'"), ("worse", "--nope")];
        let args = expanded(&["recent", "x.md", "--tag", "a", "--sort", "title", "-n", "2"], &filters).expect("valid");
        assert_eq!((args.path, args.tag), (vec!["db".into(), "x.md".into()], vec!["a".into(), "db".into()]));
        assert_eq!((args.sort, args.limit), (vec!["modified-".into(), "title".into()], Some(2)));
        for name in ["bad", "worse"] {
            let BadUse(message) = expanded(&[name], &filters).expect_err("refused");
            assert!(message.starts_with(&format!("{name}: the named filter")), "{message}");
        }
    }

    #[test]
    fn strategies_of_queries_must_agree() {
        let filters = [("exact", "-Me -m x"), ("plain", "--tag y")];
        assert_eq!(expanded(&["exact"], &filters).expect("valid").match_strategy, "e");
        assert_eq!(expanded(&["plain", "-Mr", "-m", "x"], &filters).expect("valid").match_strategy, "r");
        assert!(expanded(&["exact", "-m", "y"], &filters).is_err());
    }
}
