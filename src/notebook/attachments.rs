//! [`Attachments`]: files and folders of a notebook that are not notes, so that a link to one is not reported as dead.

use super::select::{path_parts, resolve_path};
use crate::changes::Call;
use crate::search::list_tree;
use crate::store::{NOTE_SUFFIX, RelPath};
use saddlebag_collections::{
    prelude::*,
    sorted::{SortedMap, SortedSet},
};
use saddlebag_markdown::{Link, LinkKind, paths::file_name, percent};
use saddlebag_protocol::Error;

/// Extensions of the files that a wiki link can name. A title such as `Node.js` or `v1.2` has none of them.
const FILE_EXTENSIONS: [&str; 29] = [
    "3gp", "avif", "base", "bmp", "canvas", "csv", "docx", "flac", "gif", "jpeg", "jpg", "m4a", "mkv", "mov", "mp3",
    "mp4", "ogg", "ogv", "pdf", "png", "pptx", "svg", "tif", "tiff", "wav", "webm", "webp", "xlsx", "zip",
];

/// Returns true if a link names a file that is not a note: a picture, or a target with the extension of another file.
pub(super) fn names_a_file(link: &Link) -> bool {
    let name = file_name(link.target.trim());
    let extension = name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase()).unwrap_or_default();
    let is_note = NOTE_SUFFIX.strip_prefix('.') == Some(extension.as_str());
    match link.kind {
        LinkKind::Image => !is_note,
        LinkKind::Markdown => {
            let is_extension = extension.len() <= 5 && extension.bytes().all(|byte| byte.is_ascii_alphanumeric());
            !is_note && is_extension && extension.bytes().any(|byte| byte.is_ascii_alphabetic())
        }
        _ => FILE_EXTENSIONS.contains(&extension.as_str()),
    }
}

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
            let name = file_name(path).to_lowercase();
            if let Some(named) = found.by_name.get_or_insert(name, Vec::new()) {
                named.push(path.to_string());
            }
            found.paths.insert(path.to_string());
        }
        found
    }

    /// Returns true if a link that leads to no note leads to a file or a folder, or out of the notebook, where the
    /// component cannot look.
    pub(super) fn has(&self, from: &str, link: &Link) -> bool {
        let target = link.target.trim();
        [target, &percent::decode(target)].into_iter().any(|target| self.has_target(from, link, target))
    }

    fn has_target(&self, from: &str, link: &Link, target: &str) -> bool {
        let with_suffix = [target, NOTE_SUFFIX].concat();
        let in_folder = resolve_path(from, target);
        if in_folder.is_none() && !target.ends_with(NOTE_SUFFIX) {
            return true;
        }
        let is_there = |target: &str| {
            let places = [resolve_path(from, target), path_parts(target).map(|parts| parts.join("/"))];
            places.into_iter().flatten().any(|path| path.is_empty() || self.paths.contains(&path))
        };
        is_there(target)
            || is_there(&with_suffix)
            || link.kind.is_wiki() && [target, &with_suffix].into_iter().any(|target| self.has_name(target))
    }

    /// Returns true if a path ends in the target of a wiki link.
    fn has_name(&self, target: &str) -> bool {
        let Some(target) = path_parts(target).map(|parts| parts.join("/").to_lowercase()) else { return false };
        let name = file_name(&target);
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
    use saddlebag_markdown::{Note, TagSyntax};

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
            assert!(!note.links.is_empty());
            for link in &note.links {
                assert_eq!(attachments.has("a/note.md", link), expected, "{link:?}");
            }
        }
    }
}
