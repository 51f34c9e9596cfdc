//! Completion of the path in the URI of a file.

use std::collections::BTreeSet;

use percent_encoding::percent_decode_str;
use rmcp::model::{ArgumentInfo, CompleteResult, CompletionInfo, ErrorData, Reference};
use saddlebag::notebook::slug;

use super::{prompts, resources};

/// Argument of the template of files.
const PATH: &str = "path";

/// Refuses a reference or an argument that does not exist.
pub(crate) fn check(reference: &Reference, argument: &ArgumentInfo) -> Result<(), ErrorData> {
    let invalid = |message: String| Err(ErrorData::invalid_params(message, None));
    let name = argument.name.escape_debug();
    match reference {
        Reference::Prompt(prompt) => {
            prompts::named(&prompt.name)?;
            invalid(format!("the prompt `{}` has no argument `{name}`; it has none", prompt.name))
        }
        Reference::Resource(resource) if resource.uri != resources::FILE_TEMPLATE => {
            let message =
                format!("`{}` is not a template; use {}", resource.uri.escape_debug(), resources::FILE_TEMPLATE);
            invalid(message)
        }
        Reference::Resource(_) if argument.name != PATH => {
            invalid(format!("the template has no argument `{name}`; it has `{PATH}`"))
        }
        Reference::Resource(_) => Ok(()),
        _ => invalid("only the template of files has completions".into()),
    }
}

/// Returns the paths that match what was typed, as they are written in a URI: first those that begin with it, then those with a
/// file or folder that begins with it, then those that have it anywhere.
pub(crate) fn complete(typed: &str, paths: &BTreeSet<String>) -> CompleteResult {
    let typed = percent_decode_str(typed).decode_utf8_lossy().to_lowercase();
    let mut matches: Vec<(usize, &String)> =
        paths.iter().filter_map(|path| Some((rank(&typed, &path.to_lowercase())?, path))).collect();
    matches.sort();
    let total = matches.len();
    let values = matches.into_iter().take(CompletionInfo::MAX_VALUES);
    let mut completion = CompletionInfo::default();
    completion.values = values.map(|(_, path)| resources::escaped_path(path)).collect();
    completion.total = u32::try_from(total).ok();
    completion.has_more = Some(total > completion.values.len());
    CompleteResult::new(completion)
}

/// Returns how well a path fits what was typed, the best first. The name of a file is made from a title, so a title fits too.
fn rank(typed: &str, path: &str) -> Option<usize> {
    let title = slug(typed);
    let begins = |beginning: &str| path.split('/').any(|segment| segment.starts_with(beginning));
    let is_title = typed.contains(' ') && !title.is_empty();
    let ranks = [path.starts_with(typed), begins(typed) || (is_title && begins(&title)), path.contains(typed)];
    ranks.into_iter().position(|matches| matches)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_matches_come_first_and_at_most_a_hundred() {
        let paths = ["notes/my plan.md", "notes/plan.md", "plan/a.md", "explanation.md", "other.md"];
        let paths: BTreeSet<String> = paths.map(String::from).into();
        let values = |typed| complete(typed, &paths).completion.values;
        assert_eq!(values("Plan"), ["plan/a.md", "notes/plan.md", "explanation.md", "notes/my%20plan.md"]);
        assert_eq!(values("notes/my%20p"), ["notes/my%20plan.md"]);
        let titled: BTreeSet<String> = ["facts/tax-rounding.md".to_string()].into();
        assert_eq!(complete("Tax rou", &titled).completion.values, ["facts/tax-rounding.md"]);
        assert_eq!(values("").len(), paths.len());
        let many: BTreeSet<String> = (0..250).map(|number| format!("n{number}.md")).collect();
        let completion = complete("n", &many).completion;
        assert_eq!((completion.values.len(), completion.total, completion.has_more), (100, Some(250), Some(true)));
    }
}
