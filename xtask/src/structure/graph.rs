//! Dependencies between the files of a crate, and circles among them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path as FilePath;

use super::source::Source;

/// Maximum number of imports from a name to its definition.
const LONGEST_CHAIN: usize = 8;

/// Functions of a type that iterators and options have too.
const OF_STD: [&str; 2] = ["collect", "replace"];

/// The modules of one crate by their paths, `""` for the root, each with the number of its file.
struct Modules(BTreeMap<String, (usize, Source)>);

/// Target of a path.
enum Target {
    Module(String),
    /// Something defined in this file.
    File(usize),
    /// Another crate, or a type of the language.
    Elsewhere,
}

/// The files of a crate, and for each those that it knows, with the path by which it does.
pub(super) struct Graph {
    pub(super) files: Vec<String>,
    pub(super) edges: Vec<BTreeMap<usize, String>>,
}

impl Graph {
    /// Reads the crate whose root is the file `root`, below `base`.
    pub(super) fn read(base: &FilePath, root: &str) -> Self {
        let (mut files, mut modules) = (Vec::new(), Modules(BTreeMap::new()));
        load(base, root, "", &mut files, &mut modules);
        let mut edges = vec![BTreeMap::new(); files.len()];
        let mut add = |from: usize, known: usize, path: String| {
            if from != known {
                edges[from].entry(known).or_insert(path);
            }
        };
        let distant = modules.distant_methods();
        for (name, (file, source)) in &modules.0 {
            for import in &source.imports {
                match modules.resolve(name, &import.path, LONGEST_CHAIN) {
                    // A module shows what its children have.
                    _ if import.is_public && modules.leads_below(name, &import.path) => {}
                    Target::File(known) => add(*file, known, import.path.join("::")),
                    // Items that are used through a named module are among the paths.
                    Target::Module(all) if import.name.is_none() => {
                        add(*file, modules.0[&all].0, import.path.join("::"));
                    }
                    _ => {}
                }
            }
            for path in &source.paths {
                if let Target::File(known) = modules.resolve(name, path, LONGEST_CHAIN) {
                    add(*file, known, path.join("::"));
                }
            }
            for (known, of, method, is_only) in &distant {
                let has_path =
                    |path: [&String; 2]| source.paths.iter().any(|known| known.iter().rev().take(2).rev().eq(path));
                if has_path([of, method])
                    || has_path([&"Self".to_string(), method])
                        && source.methods.iter().any(|(own, _)| own.last() == Some(of))
                    || *is_only && source.called.contains(method)
                {
                    add(*file, *known, format!("{of}::{method}"));
                }
            }
        }
        Self { files, edges }
    }

    /// Returns the graph of what is directly in a folder: a folder or a file in it is a room, which knows what its files know.
    /// The file of the folder's own module is left out: it shows what is in the folder, so it knows and is known by all.
    pub(super) fn rooms(&self, folder: &str) -> Self {
        let room = |file: &str| {
            let below = file.strip_prefix(folder).filter(|below| !matches!(*below, "mod.rs" | "lib.rs" | "main.rs"))?;
            Some(format!("{folder}{}", below.split_inclusive('/').next().unwrap_or(below)))
        };
        let files: BTreeSet<String> = self.files.iter().filter_map(|file| room(file)).collect();
        let files: Vec<String> = files.into_iter().collect();
        let number = |file: &str| room(file).and_then(|room| files.binary_search(&room).ok());
        let mut edges = vec![BTreeMap::new(); files.len()];
        for (file, known) in self.files.iter().zip(&self.edges) {
            for (known, path) in known {
                if let (Some(from), Some(known)) = (number(file), number(&self.files[*known]))
                    && from != known
                {
                    edges[from].entry(known).or_insert_with(|| format!("{path} in {file}"));
                }
            }
        }
        Self { files, edges }
    }

    /// Returns the files that know themselves through others, and the rooms of each folder that do, with what they name.
    pub(super) fn circles(&self) -> String {
        let folders = self.files.iter().flat_map(|file| file.match_indices('/').map(|(at, _)| &file[..=at]));
        // The root of a crate whose files have no folder is "".
        let folders: BTreeSet<&str> = folders.chain([""]).collect();
        let rooms = folders.into_iter().map(|folder| self.rooms(folder).own_circles());
        rooms.chain([self.own_circles()]).collect()
    }

    fn own_circles(&self) -> String {
        let reach: Vec<BTreeSet<usize>> = (0..self.files.len()).map(|file| self.reach(file)).collect();
        let edges = self.edges.iter().enumerate().flat_map(|(from, known)| known.iter().map(move |edge| (from, edge)));
        let in_circles = edges.filter(|(from, (known, _))| reach[**known].contains(from));
        let lines = in_circles
            .map(|(from, (known, path))| format!("{} names {path}, of {}\n", self.files[from], self.files[*known]));
        lines.collect()
    }

    /// The files that a file knows, directly or through others.
    fn reach(&self, from: usize) -> BTreeSet<usize> {
        let (mut reached, mut next) = (BTreeSet::new(), vec![from]);
        while let Some(file) = next.pop() {
            next.extend(self.edges[file].keys().copied().filter(|known| reached.insert(*known)));
        }
        reached
    }
}

/// Reads a file and those of its modules.
fn load(base: &FilePath, path: &str, name: &str, files: &mut Vec<String>, modules: &mut Modules) {
    let source = Source::new(&fs::read_to_string(base.join(path)).expect("text"));
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    let own = file.trim_end_matches(".rs");
    let folder = if matches!(own, "mod" | "lib" | "main") { folder.to_string() } else { format!("{folder}/{own}") };
    files.push(path.to_string());
    let children = source.children.clone();
    modules.0.insert(name.to_string(), (files.len() - 1, source));
    for child in children {
        let candidates = [format!("{folder}/{child}.rs"), format!("{folder}/{child}/mod.rs")];
        let file = candidates.iter().map(|file| file.trim_start_matches('/')).find(|file| base.join(file).is_file());
        let file = file.unwrap_or_else(|| panic!("the module `{child}` of {path} has no file"));
        load(base, file, &join(name, &child), files, modules);
    }
}

impl Modules {
    /// Returns the functions that a file implements for a type of another file: the file, the names of type and function, and
    /// whether no other type has a function of this name: the type of a value on which it is called is not known.
    fn distant_methods(&self) -> Vec<(usize, String, String, bool)> {
        let all = self.0.iter().flat_map(|(name, (file, source))| {
            source.methods.iter().map(move |(of, method)| (name, *file, of, method))
        });
        let mut times = BTreeMap::new();
        all.clone().for_each(|(.., method)| *times.entry(method).or_insert(0) += 1);
        let distant = all.filter_map(|(name, file, of, method)| {
            let defined = self.resolve(name, of, LONGEST_CHAIN);
            let is_distant = matches!(defined, Target::File(defined) if defined != file);
            is_distant.then_some((
                file,
                of.last()?.clone(),
                method.clone(),
                times[method] == 1 && !OF_STD.contains(&&**method),
            ))
        });
        distant.collect()
    }

    /// Resolves a path in the module `from`.
    fn resolve(&self, from: &str, path: &[String], chain: usize) -> Target {
        let mut at = from.to_string();
        for (number, word) in path.iter().enumerate() {
            match word.as_str() {
                "crate" => at = String::new(),
                "self" => {}
                "super" => at = at.rsplit_once("::").map_or(String::new(), |(above, _)| above.to_string()),
                word => match self.named(&at, word, chain) {
                    Some(Target::Module(module)) => at = module,
                    Some(target) => return target,
                    None if number == 0 => return Target::Elsewhere,
                    None => {
                        // An exported macro has its path at the root, wherever it is defined. Macros define things that are
                        // not seen here.
                        let exported =
                            self.0.values().find(|(_, source)| at.is_empty() && source.macros.contains(word));
                        return Target::File(exported.unwrap_or(&self.0[&at]).0);
                    }
                },
            }
        }
        Target::Module(at)
    }

    /// Resolves a name in a module; `None` if the module neither defines nor imports it.
    fn named(&self, at: &str, word: &str, chain: usize) -> Option<Target> {
        let chain = chain.checked_sub(1)?;
        let child = join(at, word);
        let (file, source) = self.0.get(at)?;
        if self.0.contains_key(&child) {
            return Some(Target::Module(child));
        } else if source.defined.contains(word) {
            return Some(Target::File(*file));
        }
        if let Some(import) = source.imports.iter().find(|import| import.name.as_deref() == Some(word)) {
            // `use saddlebag::x` names a crate that may have the name of what it imports.
            let is_crate = import.path == [word];
            return Some(if is_crate { Target::Elsewhere } else { self.resolve(at, &import.path, chain) });
        }
        let mut globs = source.imports.iter().filter(|import| import.name.is_none());
        globs.find_map(|import| match self.resolve(at, &import.path, chain) {
            Target::Module(all) if all != at => self.named(&all, word, chain),
            _ => None,
        })
    }

    /// Returns true if a path begins with a child of the module.
    fn leads_below(&self, from: &str, path: &[String]) -> bool {
        let path = if path.first().is_some_and(|first| first == "self") { &path[1..] } else { path };
        path.first().is_some_and(|first| self.0.contains_key(&join(from, first)))
    }
}

fn join(above: &str, name: &str) -> String {
    if above.is_empty() { name.to_string() } else { format!("{above}::{name}") }
}
