//! [`ZkResolver`]: where links lead by zk's rules.

use hashbrown::HashMap;
use saddlebag_markdown::{
    Link, LinkKind,
    paths::{folder, join, normalize, without_extension},
};

use saddlebag_collections::{order, part::SlicePart, prelude::*};

/// Resolves links as zk does: `[[auth]]` leads to `author-style.md` where there is nothing better.
///
/// Each rule looks for a part of a path, and the shortest path wins. A sorted list of all ends of all paths finds
/// them without reading every path.
#[derive(Debug)]
pub(super) struct ZkResolver<'a> {
    paths: Vec<&'a str>,
    /// By path without the extension.
    by_place: HashMap<&'a str, usize>,
    /// For each note its place among the paths from short to long.
    ranks: Vec<usize>,
    /// The note, and where in its path the end begins.
    ends: Vec<(u32, u32)>,
    /// Results of earlier calls, with the kind of the rule.
    known: HashMap<(bool, String), Option<usize>>,
}

impl<'a> ZkResolver<'a> {
    /// Learns the paths of all notes.
    pub(super) fn new(paths: Vec<&'a str>) -> Self {
        let lengths: Vec<usize> = paths.iter().map(|path| path.chars().count()).collect();
        let mut by_length: Vec<usize> = (0..paths.len()).collect();
        order::sort_slice_by_key(&mut by_length, |&note| (lengths.get(note).copied(), paths.get(note).copied()));
        let mut ranks = vec![0; paths.len()];
        for (rank, &note) in by_length.iter().enumerate() {
            if let Some(place) = ranks.get_mut(note) {
                *place = rank;
            }
        }
        let mut ends = Vec::with_capacity(paths.iter().map(|path| path.len()).sum());
        for (note, path) in (0_u32..).zip(&paths) {
            ends.extend((0_u32..).zip(path.bytes()).map(|(at, _)| (note, at)));
        }
        let by_place = paths.iter().enumerate().map(|(note, path)| (without_extension(path), note)).collect();
        let mut resolver = Self { paths, by_place, ranks, ends, known: HashMap::new() };
        let mut ends = core::mem::take(&mut resolver.ends);
        order::sort_slice(&mut ends, |&a, &b| resolver.end(a).cmp(resolver.end(b)));
        resolver.ends = ends;
        resolver
    }

    fn end(&self, (note, at): (u32, u32)) -> &'a [u8] {
        self.paths.get(note as usize).and_then(|path| path.as_bytes().get(at as usize..)).unwrap_or_default()
    }

    /// The note that a link of the note `from` leads to.
    pub(super) fn resolve(&mut self, from: usize, link: &Link) -> Option<usize> {
        // zk knows neither embeds nor links in the frontmatter.
        if link.is_external || !matches!(link.kind, LinkKind::Wiki | LinkKind::Markdown) || link.target.is_empty() {
            return None;
        }
        let href = zk_href(self.paths.get(from).copied().unwrap_or_default(), link)?;
        if let Some(&note) = self.by_place.get(href.as_str()) {
            return Some(note);
        }
        let key = (link.kind == LinkKind::Wiki, href);
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let found = self.search(key.1.as_bytes(), key.0);
        self.known.insert(key, found);
        found
    }

    /// The shortest path that has the text: of a wiki-link best in its file name, of others at its
    /// beginning.
    fn search(&self, href: &[u8], is_wiki: bool) -> Option<usize> {
        let start = self.ends.partition_point(|&end| self.end(end) < href);
        let ends = self.ends.part(start..).iter();
        let best = ends
            .map_while(|&end| self.end(end).strip_prefix(href).map(|after| (end, after)))
            .filter_map(|((note, at), after)| {
                let is_last_part = !after.contains(&b'/');
                let fits = is_wiki || (at == 0 && (is_last_part || after.starts_with(b"/")));
                let rank = self.ranks.get(note as usize)?;
                fits.then_some((is_wiki && !is_last_part, *rank, note as usize))
            })
            .min();
        best.map(|(_, _, note)| note)
    }
}

/// The target of a link as zk notes it: of a Markdown link relative to the root of the notebook.
///
/// `None` if it leaves the notebook.
pub(crate) fn zk_href(from: &str, link: &Link) -> Option<String> {
    match link.kind {
        kind if kind.is_wiki() => Some(link.target.clone()),
        _ if link.is_external => Some(link.target.clone()),
        _ if link.target.starts_with('/') => normalize(&link.target).filter(|href| !href.is_empty()),
        _ => join(folder(from), &link.target).filter(|href| !href.is_empty()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use saddlebag_markdown::{Note, TagSyntax};

    #[test]
    fn a_link_leads_to_the_shortest_path_that_has_its_text() {
        let paths = ["daily/auth.md", "author-style.md", "auth/index.md", "facts/a b.md"];
        let text = "[[auth]] [[style]] [x](auth) [y](../facts/a%20b.md) [[nope]] [z](../../out) [w](https://x.y)";
        let note = Note::parse(text, TagSyntax::default());
        let mut resolver = ZkResolver::new(paths.to_vec());
        let found: Vec<Option<usize>> = note.links.iter().map(|link| resolver.resolve(0, link)).collect();
        assert_eq!(found, [Some(0), Some(1), Some(0), Some(3), None, None, None]);
        assert_eq!(zk_href(paths[0], &note.links[3]).as_deref(), Some("facts/a b.md"));
        assert_eq!(zk_href(paths[0], &note.links[5]), None);
    }
}
