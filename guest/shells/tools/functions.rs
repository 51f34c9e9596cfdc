// Generated from the table of tools.

functions! {
    mem_recall(query: String, kind: Option<String>, tags: Option<Vec<String>>, everywhere: Option<bool>, limit: Option<i64>, cursor: Option<String>);
    mem_show(name: String, cursor: Option<String>);
    mem_remember(content: String, title: Option<String>, key: Option<String>, to: Option<String>, kind: Option<String>, category: Option<String>, tags: Option<Vec<String>>, links: Option<Vec<String>>, supersedes: Option<String>, provenance: Option<String>);
    mem_edit(name: String, old_str: String, new_str: String);
    mem_forget(name: String);
    mem_log(entry: String);
    mem_link(source: String, target: String, text: Option<String>);
    mem_related(note: String, limit: Option<i64>, cursor: Option<String>);
    mem_list(kind: Option<String>, category: Option<String>, tags: Option<Vec<String>>, limit: Option<i64>, cursor: Option<String>);
    mem_undo();
}
