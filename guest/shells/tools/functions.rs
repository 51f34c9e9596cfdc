// Generated from the table of tools.

functions! {
    memory_write(target: String, name: Option<String>, content: String, mode: Option<String>);
    memory_read(source: String, name: Option<String>, cursor: Option<String>);
    memory_edit(target: String, name: Option<String>, old_str: Option<String>, new_str: Option<String>);
    memory_search(query: String, cursor: Option<String>);
    memory_store(key: String, content: String, category: Option<String>, tags: Option<Vec<String>>, provenance: Option<String>);
    memory_recall(key: Option<String>, query: Option<String>, limit: Option<i64>, cursor: Option<String>);
    memory_list(category: Option<String>, tags: Option<Vec<String>>, limit: Option<i64>, cursor: Option<String>);
    memory_forget(key: String);
    notebook_remember(title: String, content: String, kind: Option<String>, tags: Option<Vec<String>>, links: Option<Vec<String>>, supersede: Option<bool>, supersedes: Option<String>, provenance: Option<String>);
    notebook_recall(query: String, tags: Option<Vec<String>>, limit: Option<i64>, cursor: Option<String>);
    notebook_journal(entry: String);
    notebook_link(source: String, target: String, text: Option<String>);
    notebook_related(note: String, limit: Option<i64>, cursor: Option<String>);
}
