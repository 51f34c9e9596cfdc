//! [`Template`]: template of new notes, in a subset of Handlebars.
//!
//! Variables, `#if`, `#unless`, comments, white space control, and helpers that compute text. A template cannot run a
//! command, read the environment or include another template: such helpers are refused by name when the template is parsed.
//! Text is never escaped for HTML.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::str::FromStr;

use super::slug::slug;
use super::template_syntax::{Expression, Helper, Node, parse};
use crate::document::json_string;
use crate::sorted::SortedMap;
use crate::store::{Date, LocalTime};

/// Maximum size of a template in bytes.
pub const MAX_TEMPLATE_BYTES: usize = 64 << 10;

/// Maximum size of a rendered text in bytes.
pub const MAX_RENDERED_BYTES: usize = 256 << 10;

/// Maximum number of computed values; large ones count more. It bounds the time that a template takes.
const MAX_STEPS: u32 = 100_000;

/// A parsed template.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Template {
    nodes: Vec<Node>,
}

/// Variables of a template.
#[derive(Clone, Debug, Default)]
pub(crate) struct Variables(SortedMap<String, Variable>);

/// Value of a variable.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Variable {
    Missing,
    Flag(bool),
    Number(i64),
    Text(String),
    List(Vec<String>),
    Moment(LocalTime),
    Map(SortedMap<String, String>),
}

impl Variables {
    pub(crate) fn set(&mut self, name: &str, variable: Variable) {
        self.0.insert(name.to_string(), variable);
    }

    pub(crate) fn set_text(&mut self, name: &str, text: &str) {
        self.set(name, Variable::Text(text.to_string()));
    }
}

impl FromStr for Template {
    type Err = String;

    /// Parses a template.
    ///
    /// # Errors
    ///
    /// The problem and its line. A refused or unknown helper is named.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.len() > MAX_TEMPLATE_BYTES {
            return Err(format!("the template has {} bytes, the limit is {MAX_TEMPLATE_BYTES}", text.len()));
        }
        parse(text).map(|nodes| Self { nodes })
    }
}

impl Template {
    /// Returns true if the template uses the variable.
    pub(crate) fn uses(&self, name: &str) -> bool {
        self.nodes.iter().any(|node| node_uses(node, name))
    }

    /// Renders the text with these variables. Missing variables are empty.
    pub(crate) fn render(&self, variables: &Variables) -> Result<String, String> {
        let mut renderer = Renderer { variables, now: variables.0.get("now"), steps: 0 };
        let mut out = String::new();
        renderer.nodes(&self.nodes, &mut out)?;
        Ok(out)
    }
}

fn node_uses(node: &Node, name: &str) -> bool {
    let any = |nodes: &[Node]| nodes.iter().any(|node| node_uses(node, name));
    match node {
        Node::Text(_) => false,
        Node::Show(expression) => expression_uses(expression, name),
        Node::If { condition, then, otherwise, .. } => expression_uses(condition, name) || any(then) || any(otherwise),
    }
}

fn expression_uses(expression: &Expression, name: &str) -> bool {
    match expression {
        Expression::Path(path) => path.first().is_some_and(|first| first == name),
        Expression::Call(_, arguments) => arguments.iter().any(|argument| expression_uses(argument, name)),
        _ => false,
    }
}

struct Renderer<'a> {
    variables: &'a Variables,
    now: Option<&'a Variable>,
    steps: u32,
}

impl Renderer<'_> {
    fn nodes(&mut self, nodes: &[Node], out: &mut String) -> Result<(), String> {
        for node in nodes {
            match node {
                Node::Text(text) => out.push_str(text),
                Node::Show(expression) => out.push_str(&self.value(expression)?.to_text()),
                Node::If { condition, negated, then, otherwise } => {
                    let holds = self.value(condition)?.is_true() != *negated;
                    self.nodes(if holds { then } else { otherwise }, out)?;
                }
            }
            check_size(out.len())?;
        }
        Ok(())
    }

    fn value(&mut self, expression: &Expression) -> Result<Variable, String> {
        let value = match expression {
            Expression::Text(text) => Variable::Text(text.clone()),
            Expression::Number(number) => Variable::Number(*number),
            Expression::Flag(flag) => Variable::Flag(*flag),
            Expression::Path(path) => self.variable(path),
            Expression::Call(helper, arguments) => {
                let mut values = Vec::with_capacity(arguments.len());
                for argument in arguments {
                    values.push(self.value(argument)?);
                }
                let value = self.call(*helper, &values)?;
                check_size(value.size())?;
                value
            }
        };
        self.steps = self.steps.saturating_add(1 + u32::try_from(value.size() / 64).unwrap_or(u32::MAX / 2));
        if self.steps > MAX_STEPS {
            return Err("it takes too many steps".to_string());
        }
        Ok(value)
    }

    fn variable(&self, path: &[String]) -> Variable {
        let mut names = path.iter().map(String::as_str);
        let found = names.next().and_then(|name| self.variables.0.get(name).cloned());
        match (found, names.next()) {
            (Some(Variable::Map(map)), Some(name)) => {
                map.get(name).map_or(Variable::Missing, |text| Variable::Text(text.clone()))
            }
            (Some(found), None) => found,
            _ => Variable::Missing,
        }
    }

    fn call(&self, helper: Helper, arguments: &[Variable]) -> Result<Variable, String> {
        let argument = |at: usize| arguments.get(at).unwrap_or(&Variable::Missing);
        let text = |at: usize| argument(at).to_text();
        Ok(Variable::Text(match helper {
            Helper::Slug => match text(0) {
                empty if empty.is_empty() => empty,
                title => slug(&title),
            },
            Helper::FormatDate => format_date(self.moment(argument(0))?, &text(1))?,
            Helper::Date => return self.moment(argument(0)).map(Variable::Moment),
            Helper::Json => argument(0).json(),
            Helper::Concat => arguments.iter().map(Variable::to_text).collect(),
            Helper::Substring => substring(&text(0), argument(1).number(), argument(2).number()),
        }))
    }

    /// Returns a time, or parses the words for one.
    fn moment(&self, value: &Variable) -> Result<LocalTime, String> {
        let now = match self.now {
            Some(Variable::Moment(now)) => *now,
            _ => return Err("a date is missing".to_string()),
        };
        match value {
            Variable::Moment(moment) => Ok(*moment),
            other => {
                let words = other.to_text();
                named_date(now, &words).ok_or_else(|| {
                    let help = "use now, today, yesterday, tomorrow, `3 days ago`, `in 2 weeks` or 2026-05-30";
                    format!("`{}` is not a date; {help}", words.escape_debug())
                })
            }
        }
    }
}

impl Variable {
    fn is_true(&self) -> bool {
        match self {
            Self::Missing | Self::Flag(false) | Self::Number(0) => false,
            Self::Text(text) => !text.is_empty(),
            Self::List(items) => !items.is_empty(),
            Self::Map(map) => !map.is_empty(),
            Self::Flag(true) | Self::Number(_) | Self::Moment(_) => true,
        }
    }

    fn to_text(&self) -> String {
        match self {
            Self::Missing | Self::Map(_) => String::new(),
            Self::Flag(flag) => flag.to_string(),
            Self::Number(number) => number.to_string(),
            Self::Text(text) => text.clone(),
            Self::List(items) => items.join(", "),
            Self::Moment(moment) => moment.to_string(),
        }
    }

    fn number(&self) -> Option<i64> {
        match self {
            Self::Number(number) => Some(*number),
            other => other.to_text().trim().parse().ok(),
        }
    }

    fn size(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::List(items) => items.iter().map(String::len).sum(),
            _ => 0,
        }
    }

    fn json(&self) -> String {
        match self {
            Self::Missing => "null".to_string(),
            Self::Flag(flag) => flag.to_string(),
            Self::Number(number) => number.to_string(),
            Self::Text(_) | Self::Moment(_) => json_string(&self.to_text()),
            Self::List(items) => {
                format!("[{}]", items.iter().map(|item| json_string(item)).collect::<Vec<_>>().join(", "))
            }
            Self::Map(map) => {
                let fields = map.iter().map(|(key, value)| format!("{}: {}", json_string(key), json_string(value)));
                format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
            }
        }
    }
}

/// Parses `now`, `today`, `yesterday`, `tomorrow`, `3 days ago`, `in 2 weeks`, `last week`, `next week`, or a day as
/// `YYYY-MM-DD`. All except the last keep the time of day.
fn named_date(now: LocalTime, words: &str) -> Option<LocalTime> {
    let words = words.trim();
    if let Some(date) = Date::parse(words) {
        return Some(now.at_start_of(date));
    }
    let mut parts = [""; 3];
    for (place, word) in words.split_whitespace().enumerate() {
        *parts.get_mut(place)? = word;
    }
    let lower = |word: &str| word.to_ascii_lowercase();
    let [first, second, third] = parts.map(lower);
    let days = match (first.as_str(), second.as_str(), third.as_str()) {
        ("now" | "today", "", "") => 0,
        ("yesterday", "", "") => -1,
        ("tomorrow", "", "") => 1,
        ("last", "week", "") => -7,
        ("next", "week", "") => 7,
        ("in", count, unit) => days(count, unit)?,
        (count, unit, "ago") => days(count, unit)?.checked_neg()?,
        _ => return None,
    };
    now.plus_days(days)
}

fn days(count: &str, unit: &str) -> Option<i64> {
    let count = i64::from(count.parse::<u32>().ok()?);
    match unit {
        "day" | "days" => Some(count),
        "week" | "weeks" => count.checked_mul(7),
        _ => None,
    }
}

/// Formats a date by one of zk's names, or by a pattern of `strftime`.
fn format_date(moment: LocalTime, name: &str) -> Result<String, String> {
    let pattern = match name {
        "" => "%Y-%m-%d",
        "short" => "%m/%d/%Y",
        "medium" => "%b %-d, %Y",
        "long" => "%B %-d, %Y",
        "full" => "%A, %B %-d, %Y",
        "year" => "%Y",
        "time" => "%H:%M",
        "timestamp" => "%Y%m%d%H%M",
        "timestamp-unix" => "%s",
        "elapsed" => return Err("`elapsed` is not supported: its text would be wrong a day later".to_string()),
        pattern => pattern,
    };
    if pattern.len() > 256 {
        return Err(format!("the date pattern has {} bytes, the limit is 256", pattern.len()));
    }
    moment.format(pattern).ok_or_else(|| format!("`{}` is not a valid date pattern", pattern.escape_debug()))
}

/// Returns this many characters from a position on; a negative position counts from the end.
fn substring(text: &str, start: Option<i64>, length: Option<i64>) -> String {
    let count = i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
    let start = match start.unwrap_or(0) {
        start if start < 0 => count.saturating_add(start).max(0),
        start => start,
    };
    let length = length.unwrap_or(count).max(0);
    let number = |n: i64| usize::try_from(n).unwrap_or(usize::MAX);
    text.chars().skip(number(start)).take(number(length)).collect()
}

fn check_size(size: usize) -> Result<(), String> {
    if size > MAX_RENDERED_BYTES {
        return Err(format!("it gives more than {MAX_RENDERED_BYTES} bytes"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Timestamp;

    fn variables() -> Variables {
        let now = Timestamp { seconds: 1_779_667_200, nanoseconds: 0, utc_offset_seconds: 5400 };
        let mut variables = Variables::default();
        variables.set("now", Variable::Moment(now.local().expect("valid")));
        variables.set_text("title", "It's <b> \"quoted\"");
        variables.set_text("content", "one\ntwo");
        variables.set_text("empty", "");
        variables.set("tags", Variable::List(["a", "b c"].map(String::from).to_vec()));
        variables.set("extra", Variable::Map([("author".to_string(), "Ada".to_string())].into_iter().collect()));
        variables
    }

    fn render(template: &str) -> Result<String, String> {
        Template::from_str(template)?.render(&variables())
    }

    #[test]
    fn variables_and_helpers_give_text() {
        for (template, text) in [
            ("{{title}}", "It's <b> \"quoted\""),
            ("{{{ title }}} {{& title}}", "It's <b> \"quoted\" It's <b> \"quoted\""),
            ("{{extra.author}}|{{extra.none}}|{{none}}|{{extra}}", "Ada|||"),
            ("{{slug title}}", "it-s-b-quoted"),
            ("{{slug (concat title \" \" extra.author)}}", "it-s-b-quoted-ada"),
            ("{{json title}} {{json tags}} {{json none}}", "\"It's <b> \\\"quoted\\\"\" [\"a\", \"b c\"] null"),
            ("{{format-date now}}", "2026-05-25"),
            ("{{format-date now '%Y/%m'}}", "2026/05"),
            ("{{format-date now \"long\"}}, {{format-date now 'time'}}", "May 25, 2026, 01:30"),
            ("{{format-date now 'timestamp-unix'}}", "1779667200"),
            ("{{format-date (date 'yesterday') '%d'}}", "24"),
            (
                "{{substring 'A full quote' 2 4}}|{{substring 'A full quote' -5 5}}|{{substring '日本' 1 9}}",
                "full|quote|本",
            ),
            ("{{tags}}", "a, b c"),
            ("a {{! no }}b{{!-- }} --}}c", "a bc"),
            ("\\{{title}}", "{{title}}"),
            ("{ {a}} }}", "{ {a}} }}"),
        ] {
            assert_eq!(render(template).as_deref(), Ok(text), "{template}");
        }
    }

    #[test]
    fn blocks_choose() {
        for (template, text) in [
            ("{{#if title}}y{{else}}n{{/if}}", "y"),
            ("{{#if empty}}y{{else}}n{{/if}}", "n"),
            ("{{#if empty}}y{{else}}{{#if tags}}t{{else}}n{{/if}}{{/if}}", "t"),
            ("{{#unless empty}}u{{/unless}}", "u"),
            ("a\n{{#if title}}\nb\n{{/if}}\nc\n", "a\nb\nc\n"),
            ("{{#if title}}\n{{#if tags}}\nb\n{{/if}}\n{{/if}}\n", "b\n"),
            ("a  {{~title~}}  b", "aIt's <b> \"quoted\"b"),
            ("a {{~#if title}} b {{~/if~}} c", "a bc"),
            ("{{#if (substring title 0 1)}}x{{/if}}", "x"),
        ] {
            assert_eq!(render(template).as_deref(), Ok(text), "{template}");
        }
    }

    /// Templates do not run or read anything.
    #[test]
    fn what_would_run_or_read_something_is_refused_by_name() {
        for (template, named) in [
            ("{{sh \"rm -rf /\"}}", "`sh`"),
            ("{{#if (sh 'x')}}{{/if}}", "`sh`"),
            ("{{#sh}}x{{/sh}}", "`sh`"),
            ("{{env.HOME}}", "`env`"),
            ("{{style 'red' title}}", "`style`"),
            ("{{unknown title}}", "`unknown`"),
            ("{{#each tags}}x{{/each}}", "`each`"),
            ("{{#if empty}}y{{else if tags}}t{{/if}}", "`else`"),
            ("{{> other}}", "`other`"),
            ("\n{{#*inline \"x\"}}{{/inline}}", "line 2"),
            ("{{format-link 'a' 'b'}}", "`format-link`"),
            ("{{format-date now 'elapsed'}}", "`elapsed`"),
            ("{{format-date 'someday'}}", "`someday`"),
        ] {
            let problem = render(template).expect_err(template);
            assert!(problem.contains(named), "{template}: {problem}");
        }
    }

    #[test]
    fn broken_templates_are_errors() {
        for template in [
            "{{",
            "{{title",
            "{{title}",
            "{{{title}}",
            "{{#if}}",
            "{{#if a}}",
            "{{/if}}",
            "{{#if a}}{{/unless}}",
            "{{else}}",
            "{{'open}}",
            "{{slug (title}}",
            "{{}}",
            "{{#}}",
            "{{! x",
            "{{slug a=b}}",
            "{{ title }}}x{{#if",
        ] {
            assert!(render(template).is_err(), "{template:?}");
        }
    }

    #[test]
    fn two_tags_can_take_away_the_same_white_space() {
        assert_eq!(render("a {{~title~}} {{~title~}} b"), render("a{{title}}{{title}}b"));
    }

    proptest::proptest! {
        #[test]
        fn no_template_panics(pieces in proptest::collection::vec(
            proptest::sample::select(alloc::vec![
                "{{", "}}", "{{{", "}}}", "{{#if ", "{{#unless tags}}", "{{/if}}", "{{/unless}}", "{{else}}", "{{else if ",
                "{{!--", "--}}", "~", "title", "slug ", "(", ")", "'", "\\", "\n", " ", "日",
                "substring ", "-1", "9999999999", "format-date now ", "%", "{{~^~}}", ".", "@", "\u{301}", "json ",
            ]),
            0..24,
        )) {
            let _ = render(&pieces.concat());
        }

        #[test]
        fn no_name_or_pattern_panics(text in ".{0,60}") {
            let name = slug(&text);
            proptest::prop_assert!(!name.is_empty() && name.len() <= 100 && !name.starts_with(['.', '-']));
            let path = crate::store::RelPath::new(format!("{name}-999.md"));
            proptest::prop_assert!(path.is_ok());
            let _ = super::super::glob::Glob::from_str(&text).map(|glob| glob.matches(&text));
            let _ = super::super::config::NotebookConfig::parse(&text);
        }
    }

    #[test]
    fn size_and_depth_are_bounded() {
        assert!(render(&"{{#if title}}".repeat(1_000)).is_err());
        assert!(render(&format!("{{{{slug {}", "(slug ".repeat(1_000))).is_err());
        let mut many = variables();
        many.set("tags", Variable::List(alloc::vec!["x".repeat(100); 1_000]));
        let template = |text: &str| Template::from_str(text).expect("valid").render(&many);
        assert!(template(&"{{tags}}".repeat(4)).is_err());
        assert!(template("{{concat tags tags tags}}").is_err());
        assert!(template(&"{{substring tags 0 1}}".repeat(100)).is_err());
        assert!(Template::from_str(&"x".repeat(100_000)).is_err());
    }

    #[test]
    fn it_is_known_what_a_template_uses() {
        let template =
            Template::from_str("{{#if (slug a)}}{{else}}{{#unless b}}{{c.d}}{{/unless}}{{/if}}").expect("valid");
        assert!(["a", "b", "c"].iter().all(|name| template.uses(name)));
        assert!(!template.uses("d"));
    }

    #[test]
    fn words_name_a_day() {
        let now = Timestamp { seconds: 1_779_667_200, nanoseconds: 0, utc_offset_seconds: 0 }.local().expect("valid");
        for (words, expected) in [
            ("now", "2026-05-25 00:00:00"),
            (" Yesterday ", "2026-05-24 00:00:00"),
            ("3 days ago", "2026-05-22 00:00:00"),
            ("in 2 weeks", "2026-06-08 00:00:00"),
            ("2024-02-29", "2024-02-29 00:00:00"),
        ] {
            assert_eq!(named_date(now, words).map(|time| time.to_string()).as_deref(), Some(expected), "{words}");
        }
        for words in
            ["", "someday", "2026-02-30", "in 3 moons", "in 4000000000 weeks", "now now now now", "-1 days ago"]
        {
            assert_eq!(named_date(now, words), None, "{words}");
        }
    }
}
