//! Forms of links and of the block for other programs: Graphviz, Mermaid, and pages without a script.

use saddlebag::trust::is_hidden;

use super::support::{Store, hostile_texts};

/// A title with what has a meaning in each form.
const TITLE: &str = "A \"b\" < &;#\\";

fn store() -> Store {
    let store = Store::new();
    store.put("facts/one.md", "# One\n\n[[two]]\n");
    store.put("facts/two.md", format!("# {TITLE}\n\ntext\n"));
    store
}

#[test]
fn links_are_printed_for_graphviz_and_mermaid() {
    let store = store();
    let dot = store.run(&["list", "--links", "--sort", "path", "--format", "dot"]).exits(0).stdout;
    assert!(dot.contains("n1 [label=\"A \\\"b\\\" < &;#\\\\\"];") && dot.contains("n0 -> n1;"), "{dot}");
    let mermaid = store.run(&["list", "--links", "--sort", "path", "--format", "mermaid"]).exits(0).stdout;
    assert!(mermaid.contains("n1[\"A #34;b#34; #60; #38;#59;#35;\\\"]"), "{mermaid}");
    assert!(mermaid.contains("n0 --> n1"), "{mermaid}");
    store.run(&["list", "--format", "dot"]).exits(2);
    store.run(&["--json", "list", "--links", "--format", "dot"]).exits(2);
}

#[test]
fn links_and_the_block_are_printed_as_pages_without_a_script() {
    let store = store();
    store.run(&["write", "long_term", "uses <script>alert(1)</script>"]).exits(0);
    let links = store.run(&["list", "--links", "--format", "html"]).exits(0).stdout;
    let block = store.run(&["context", "--report", "--format", "html"]).exits(0).stdout;
    for page in [&links, &block] {
        assert!(page.starts_with("<!doctype html>") && page.contains("default-src 'none'"), "{page}");
        assert!(!page.contains("<script"), "{page}");
    }
    assert!(links.contains("<a href=\"#n"), "{links}");
    assert!(block.contains("MEMORY.md</td>") && block.contains("&lt;script&gt;alert(1)"), "{block}");
    store.run(&["context", "--format", "html"]).exits(2);
    store.run(&["--json", "context", "--report", "--format", "html"]).exits(2);
}

#[test]
fn hostile_text_is_text_on_a_page_without_a_script() {
    for (name, text) in hostile_texts() {
        let store = Store::new();
        let title = text.replace('\n', " ");
        store.put("facts/one.md", format!("# {title}\n\n[[two|{title}]]\n"));
        store.put("facts/two.md", "# Two\n");
        store.put("MEMORY.md", format!("- fact {text}\n"));
        let links = store.run(&["list", "--links", "--format", "html"]).exits(0).stdout;
        let block = store.run(&["context", "--report", "--format", "html"]).exits(0).stdout;
        for page in [&links, &block] {
            let tags = page.split('<').skip(1).map(|tag| tag.split(['>', ' ']).next().unwrap_or_default());
            for tag in tags.map(|tag| tag.trim_start_matches('/')) {
                let is_harmful = ["script", "img", "svg", "iframe", "b", "textarea", "system:obey"].contains(&tag);
                assert!(!is_harmful, "{name}: <{tag}> in {page}");
            }
            assert_eq!(page.chars().find(|&c| c != '\n' && is_hidden(c)), None, "{name}: {page}");
        }
    }
}
