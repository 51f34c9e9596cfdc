//! The files of the page, which are part of the program.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use saddlebag::trust::for_terminal;
use sha2::{Digest, Sha256};

/// Script of the page: Preact with htm, and our files in an order in which each knows those before it.
pub(super) const SCRIPT: &str = concat!(
    include_str!("page/vendor/htm-preact.js"),
    "\n",
    include_str!("page/strings.js"),
    include_str!("page/memory.js"),
    include_str!("page/parts.js"),
    include_str!("page/prompt.js"),
    include_str!("page/inbox.js"),
    include_str!("page/items.js"),
    include_str!("page/item.js"),
    include_str!("page/library.js"),
    include_str!("page/history.js"),
    include_str!("page/graph.js"),
    include_str!("page/health.js"),
    include_str!("page/app.js"),
);
pub(super) const STYLE: &str = include_str!("page/style.css");
const PAGE: &str = include_str!("page/index.html");
/// Place in the page for what differs: the head, and what follows the body's text.
const HEAD: &str = "<!-- head -->";
const END: &str = "<!-- end -->";

/// Policy of the served page: nothing from elsewhere, no script in the page itself, no frame around it.
pub(super) const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                                 img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Returns the page that the server serves. `csrf` is what its calls must show.
pub(super) fn served(csrf: &str, is_read_only: bool, memory: &str) -> String {
    let memory = escaped(memory);
    let head = format!(
        "<meta name=\"saddlebag-memory\" content=\"{memory}\">\n<meta name=\"saddlebag-csrf\" content=\"{csrf}\">\n<meta name=\"saddlebag-read-only\" content=\"{is_read_only}\">\n\
         <link rel=\"stylesheet\" href=\"app.css\">\n<script defer src=\"app.js\"></script>"
    );
    PAGE.replacen(HEAD, &head, 1).replacen(END, "", 1)
}

/// Returns the page as one file with the data that it shows, as JSON.
pub(super) fn one_file(data: &str) -> String {
    // Nothing in a script element ends it but `</script`, and `<!--` changes how the rest is read.
    let data = data.replace('<', "\\u003c");
    let policy = format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; img-src data:; base-uri 'none'; form-action 'none'",
        digest(SCRIPT),
        digest(STYLE)
    );
    let head = format!("<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n<style>{STYLE}</style>");
    let end = format!("<script type=\"application/json\" id=\"data\">{data}</script>\n<script>{SCRIPT}</script>");
    PAGE.replacen(HEAD, &head, 1).replacen(END, &end, 1)
}

/// Returns the page for a frame in a chat, whose host loads it and passes its calls on.
pub(crate) fn in_chat() -> String {
    let head = format!("<meta name=\"saddlebag-chat\" content=\"\">\n<style>{STYLE}</style>");
    PAGE.replacen(HEAD, &head, 1).replacen(END, &format!("<script>{SCRIPT}</script>"), 1)
}

fn digest(text: &str) -> String {
    BASE64_STANDARD.encode(Sha256::digest(text))
}

/// Returns text for HTML, in which hidden characters can be seen.
fn escaped(text: &str) -> String {
    let shown = for_terminal(text);
    let mut out = String::with_capacity(shown.len());
    for c in shown.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vendored_library_is_the_published_one() {
        let vendored = include_bytes!("page/vendor/htm-preact.js");
        let digest: String = Sha256::digest(vendored).iter().map(|byte| format!("{byte:02x}")).collect();
        let sums = include_str!("page/vendor/SHA256SUMS");
        assert!(sums.starts_with(&digest), "{digest} is not in SHA256SUMS");
    }

    #[test]
    fn the_page_needs_no_script_of_its_own_and_no_other_host() {
        let page = served("x", false, "<shop>");
        assert!(!page.contains("<script>") && !page.contains(" on") && !page.contains("style="), "{page}");
        assert!(!SCRIPT.contains("</script") && !SCRIPT.contains("<!--"));
        for text in [SCRIPT, STYLE, PAGE] {
            let foreign = text.split("http").skip(1).filter(|rest| rest.starts_with("://") || rest.starts_with("s://"));
            let foreign: Vec<&str> = foreign
                .filter(|rest| !rest.contains("www.w3.org"))
                .map(|rest| rest.get(..40).unwrap_or(rest))
                .collect();
            assert!(foreign.is_empty(), "{foreign:?}");
        }
    }

    #[test]
    fn data_cannot_end_the_script_that_holds_it() {
        let page = one_file(&serde_json::json!("</script><script>alert(1)</script><!--").to_string());
        let after = page.split("id=\"data\">").nth(1).unwrap();
        let data = after.split("</script>").next().unwrap();
        assert_eq!(serde_json::from_str::<String>(data).unwrap(), "</script><script>alert(1)</script><!--");
    }

    #[test]
    fn text_stays_text() {
        assert_eq!(escaped("<a b=\"c\">'&\u{202e}"), "&lt;a b=&quot;c&quot;&gt;&#39;&amp;[U+202E]");
    }
}
