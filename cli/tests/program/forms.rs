//! Forms of links for other programs: Graphviz and Mermaid.

use super::support::Store;

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
