//! [`Attachments`]: files and folders of a notebook that are not notes, so that a link to one is not reported as dead.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::select::{path_parts, resolve_path};
use super::types::NoteView;
use crate::document::Link;
use crate::engine::Call;
use crate::percent;
use crate::protocol::Error;
use crate::search::list_tree;
use crate::sorted::{SortedMap, SortedSet};
use crate::store::{NOTE_SUFFIX, RelPath};

/// Files and folders of a notebook: images, a licence, notes that are left out.
#[derive(Default)]
pub(super) struct Attachments {
    /// Paths relative to the notebook.
    paths: SortedSet<String>,
    /// Paths by file name in lower case. A wiki link names a file wherever it is.
    by_name: SortedMap<String, Vec<String>>,
}

impl Attachments {
    /// Lists the folders of the notebook.
    pub(super) async fn list(call: &Call) -> Result<Self, Error> {
        let layout = &call.scope.layout;
        let listed = list_tree(&call.fs, layout.project_folder(), &call.scope.limits).await?;
        Ok(Self::from_paths(listed.iter().filter_map(|path: &RelPath| layout.below_notebook(path))))
    }

    fn from_paths<'a>(paths: impl Iterator<Item = &'a str>) -> Self {
        let mut found = Self { paths: SortedSet::default(), by_name: SortedMap::default() };
        for path in paths {
            let name = path.rsplit('/').next().unwrap_or(path).to_lowercase();
            if let Some(named) = found.by_name.get_or_insert(name, Vec::new()) {
                named.push(path.to_string());
            }
            found.paths.insert(path.to_string());
        }
        found
    }

    /// Returns true if a link that leads to no note leads to a file or a folder, or out of the notebook, where the
    /// component cannot look.
    pub(super) fn has(&self, from: &NoteView<'_>, link: &Link) -> bool {
        let target = link.target.trim();
        [target, &percent::decode(target)].into_iter().any(|target| self.has_target(from, link, target))
    }

    fn has_target(&self, from: &NoteView<'_>, link: &Link, target: &str) -> bool {
        let with_suffix = [target, NOTE_SUFFIX].concat();
        let in_folder = resolve_path(from.path, target);
        if in_folder.is_none() && !target.ends_with(NOTE_SUFFIX) {
            return true;
        }
        let is_there = |target: &str| {
            let places = [resolve_path(from.path, target), path_parts(target).map(|parts| parts.join("/"))];
            places.into_iter().flatten().any(|path| path.is_empty() || self.paths.contains(&path))
        };
        is_there(target)
            || is_there(&with_suffix)
            || link.kind.is_wiki() && [target, &with_suffix].into_iter().any(|target| self.has_name(target))
    }

    /// Returns true if a path ends in the target of a wiki link.
    fn has_name(&self, target: &str) -> bool {
        let Some(target) = path_parts(target).map(|parts| parts.join("/").to_lowercase()) else { return false };
        let name = target.rsplit('/').next().unwrap_or(&target);
        let ends_so = |path: &String| {
            let path = path.to_lowercase();
            path.strip_suffix(&target).is_some_and(|before| before.is_empty() || before.ends_with('/'))
        };
        !name.is_empty() && self.by_name.get(name).is_some_and(|paths| paths.iter().any(ends_so))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Note, TagSyntax};

    #[test]
    fn a_link_to_a_file_or_a_folder_leads_somewhere() {
        let files = ["LICENSE", "img", "img/A b.png", "drafts/x.md", "a/scan.pdf", ".github/ci.yml"];
        let attachments = Attachments::from_paths(files.into_iter());
        for (text, expected) in [
            ("[x](../LICENSE) [x](/LICENSE) [x](LICENSE) [[LICENSE]]", true),
            ("[x](../img/) [x](../img/A%20b.png) ![x](<../img/A b.png>) ![[a B.png]] ![[img/A b.png|300]]", true),
            ("[x](scan.pdf) [x](../drafts/x.md) [[drafts/x]] [[x]] [x](../.github/ci.yml)", true),
            ("[x](../../outside.txt)", true),
            ("[x](none.pdf) ![x](img/none.png) ![[none.png]] [[NONE]] [x](../../up.md) [[g/A b.png]]", false),
        ] {
            let note = Note::parse(text, TagSyntax::default());
            let from = NoteView { path: "a/note.md", text, note: &note, modified: 0, created: 0, is_undated: false };
            assert!(!note.links.is_empty());
            for link in &note.links {
                assert_eq!(attachments.has(&from, link), expected, "{link:?}");
            }
        }
    }
}
