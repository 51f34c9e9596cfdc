//! Pages of HTML without a script.

use std::fmt::Write as _;

use saddlebag::trust::for_terminal;

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;margin:1rem;color-scheme:light dark}table{border-collapse:collapse}\
                     th,td{text-align:left;vertical-align:top;padding:.2rem .8rem .2rem 0;border-bottom:1px solid #8884;\
                     overflow-wrap:anywhere}.text{font-family:ui-monospace,monospace;white-space:pre-wrap}";

/// Returns text for HTML, in which hidden characters can be seen.
pub(crate) fn escaped(text: &str) -> String {
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

/// Returns a page. The body is HTML.
pub(crate) fn page(title: &str, body: &str) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{0}</title>\n\
         <style>{STYLE}</style>\n<h1>{0}</h1>\n{body}</html>\n",
        escaped(title)
    );
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stays_text() {
        assert_eq!(escaped("<a b=\"c\">'&\u{202e}"), "&lt;a b=&quot;c&quot;&gt;&#39;&amp;[U+202E]");
        assert!(page("<x>", "<p>y</p>").contains("<h1>&lt;x&gt;</h1>\n<p>y</p>"));
    }
}
