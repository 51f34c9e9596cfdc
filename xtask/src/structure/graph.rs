//! Dependencies between the files of a crate, and circles among them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path as FilePath, PathBuf};

use super::source::{Module, Path};

/// Maximum number of imports from a name to its definition.
const LONGEST_CHAIN: usize = 16;

/// The modules of one crate by their paths, `""` for the root, each with the file that it is in.
struct Modules(BTreeMap<String, (usize, Module)>);

/// Target of a path.
enum Target {
    Module(String),
    /// Something defined in this file.
    File(usize),
}

/// The files of a crate, and for each those that it knows, with the path by which it does.
pub(crate) struct Graph {
    pub(crate) files: Vec<String>,
    pub(crate) edges: Vec<BTreeMap<usize, String>>,
}

impl Graph {
    /// Reads the crate whose root is the file `root`; names of files begin below `base`.
    pub(crate) fn read(base: &FilePath, root: &FilePath) -> Result<Self, String> {
        let (mut files, mut modules) = (Vec::new(), Modules(BTreeMap::new()));
        load(base, root, "", &mut files, &mut modules)?;
        let mut edges = vec![BTreeMap::new(); files.len()];
        for (name, (file, module)) in &modules.0 {
            let mut add = |path: &Path, target: Option<Target>| match target {
                Some(Target::File(known)) if known != *file => {
                    edges[*file].entry(known).or_insert_with(|| path.join("::"));
                }
                _ => {}
            };
            for import in &module.imports {
                let target = modules.resolve(name, &import.path, LONGEST_CHAIN);
                match (&import.name, target) {
                    // A module shows what its children have.
                    _ if import.is_public && modules.leads_below(name, &import.path) => {}
                    (None, Some(Target::Module(all))) => {
                        add(&import.path, modules.0.get(&all).map(|(file, _)| Target::File(*file)));
                    }
                    // Items that are used through a named module are among the paths.
                    (_, target) => add(&import.path, target),
                }
            }
            for path in &module.paths {
                add(path, modules.resolve(name, path, LONGEST_CHAIN));
            }
        }
        modules.add_calls(&mut edges);
        Ok(Self { files, edges })
    }

    /// Returns the same for folders: each folder, and each file beside one, is a room that knows what its files know.
    /// There is a graph for each folder, of what is directly in it.
    pub(crate) fn by_folder(&self) -> Vec<Self> {
        let folders = self.files.iter().flat_map(|file| file.match_indices('/').map(|(at, _)| &file[..=at]));
        // The root of a crate whose files have no folder is "".
        let folders: BTreeSet<&str> = folders.chain([""]).collect();
        folders.into_iter().map(|folder| self.rooms(folder)).collect()
    }

    fn rooms(&self, folder: &str) -> Self {
        // The file of a folder's own module shows what is in the folder, so it knows and is known by all.
        let room = |file: &str| {
            let below = file.strip_prefix(folder).filter(|below| !matches!(*below, "mod.rs" | "lib.rs" | "main.rs"))?;
            Some(format!("{folder}{}", below.split_inclusive('/').next().unwrap_or(below)))
        };
        let rooms: BTreeSet<String> = self.files.iter().filter_map(|file| room(file)).collect();
        let files: Vec<String> = rooms.into_iter().collect();
        let number = |file: &str| room(file).and_then(|room| files.binary_search(&room).ok());
        let mut edges = vec![BTreeMap::new(); files.len()];
        for (file, known) in self.files.iter().zip(&self.edges) {
            let Some(from) = number(file) else { continue };
            for (known, path) in known {
                if let Some(known) = number(&self.files[*known]).filter(|known| *known != from) {
                    edges[from].entry(known).or_insert_with(|| format!("{path} in {file}"));
                }
            }
        }
        Self { files, edges }
    }

    /// The circles: sets of files each of which knows every other, perhaps through others.
    pub(crate) fn circles(&self) -> Vec<Vec<usize>> {
        let reach: Vec<BTreeSet<usize>> = (0..self.files.len()).map(|file| self.reach(file)).collect();
        let mut circles: BTreeSet<Vec<usize>> = BTreeSet::new();
        for file in 0..self.files.len() {
            if reach[file].contains(&file) {
                circles.insert(reach[file].iter().copied().filter(|other| reach[*other].contains(&file)).collect());
            }
        }
        circles.into_iter().collect()
    }

    /// The files that a file knows, directly or through others.
    fn reach(&self, from: usize) -> BTreeSet<usize> {
        let (mut reached, mut next) = (BTreeSet::new(), vec![from]);
        while let Some(file) = next.pop() {
            next.extend(self.edges[file].keys().copied().filter(|known| reached.insert(*known)));
        }
        reached
    }

    /// The files of a circle, each with those in it that it knows.
    pub(crate) fn describe(&self, circle: &[usize]) -> String {
        let lines = circle.iter().flat_map(|file| {
            let known = self.edges[*file].iter().filter(|(known, _)| circle.contains(known));
            known.map(|(known, path)| format!("  {} names {path}, of {}\n", self.files[*file], self.files[*known]))
        });
        lines.collect()
    }
}

/// Reads a file and those of its modules.
fn load(
    base: &FilePath,
    path: &FilePath,
    name: &str,
    files: &mut Vec<String>,
    modules: &mut Modules,
) -> Result<(), String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let below = path.strip_prefix(base).unwrap_or(path);
    files.push(below.to_string_lossy().replace('\\', "/"));
    place(Module::parse(&text), files.len() - 1, name, modules);
    let children: Vec<String> = modules.0[name].1.children.iter().cloned().collect();
    for child in children {
        let folder = match path.file_stem().and_then(|stem| stem.to_str()) {
            Some("mod" | "lib" | "main") | None => path.with_file_name(&child),
            Some(_) => path.with_extension("").join(&child),
        };
        let candidates: [PathBuf; 2] = [folder.with_extension("rs"), folder.join("mod.rs")];
        let file = candidates.iter().find(|file| file.is_file());
        let file = file.ok_or_else(|| format!("the module `{child}` of {} has no file", path.display()))?;
        load(base, file, &join(name, &child), files, modules)?;
    }
    Ok(())
}

fn place(mut module: Module, file: usize, name: &str, modules: &mut Modules) {
    for (child, inline) in std::mem::take(&mut module.inline) {
        place(inline, file, &join(name, &child), modules);
    }
    modules.0.insert(name.to_string(), (file, module));
}

impl Modules {
    /// Adds the files that a file knows because it calls functions that another file implements for a type.
    fn add_calls(&self, edges: &mut [BTreeMap<usize, String>]) {
        let all = self.0.iter().flat_map(|(name, (file, module))| module.impls.iter().map(move |of| (name, *file, of)));
        // A type by its file and its name.
        let all = all.filter_map(|(module, file, implementation)| {
            let of = &implementation.of;
            match self.resolve(module, of, LONGEST_CHAIN)? {
                Target::File(defined) => Some(((defined, of.last()?.as_str()), file, implementation)),
                Target::Module(_) => None,
            }
        });
        let all: Vec<_> = all.collect();
        // Several traits may have a function of this name.
        let only = |name: &str, of: Option<(usize, &str)>| {
            let is_of = |other: (usize, &str)| of.is_none_or(|of| of == other);
            let mut with = all.iter().filter(|(other, _, with)| is_of(*other) && with.methods.contains(name));
            with.next().filter(|_| with.next().is_none())
        };
        let mut add = |file: usize, known: usize, call: String| {
            if known != file {
                edges[file].entry(known).or_insert(call);
            }
        };
        for (of, file, implementation) in &all {
            for called in &implementation.called {
                if let Some((_, known, _)) = only(called, Some(*of)) {
                    add(*file, *known, format!("self.{called}()"));
                }
            }
        }
        for (name, (file, module)) in &self.0 {
            for path in &module.paths {
                let [above @ .., called] = path.as_slice() else { continue };
                let Some(Target::File(defined)) = self.resolve(name, above, LONGEST_CHAIN) else { continue };
                let of = above.last().map(|of| (defined, of.as_str()));
                if let Some((_, known, _)) = only(called, of) {
                    add(*file, *known, path.join("::"));
                }
            }
            // The type of a value is not known. A method that is beside its type is known with the type.
            for called in &module.called {
                if let Some(((defined, _), known, implementation)) = only(called, None)
                    && defined != known
                    && implementation.of_trait.is_none()
                {
                    add(*file, *known, format!(".{called}()"));
                }
            }
        }
    }

    /// Resolves a path in the module `from`; `None` if it is in another crate.
    fn resolve(&self, from: &str, path: &[String], chain: usize) -> Option<Target> {
        let (mut at, mut rest) = (from.to_string(), path);
        let mut is_first = true;
        while let Some((word, after)) = rest.split_first() {
            match word.as_str() {
                "crate" => at = String::new(),
                "self" => {}
                "super" => at = at.rsplit_once("::").map_or(String::new(), |(above, _)| above.to_string()),
                word => match self.named(&at, word, is_first, chain)? {
                    Target::Module(module) => at = module,
                    Target::File(file) => return Some(Target::File(file)),
                },
            }
            (rest, is_first) = (after, false);
        }
        Some(Target::Module(at))
    }

    /// Resolves a name in a module. An unknown first word is another crate, or a type of the language.
    fn named(&self, at: &str, word: &str, is_first: bool, chain: usize) -> Option<Target> {
        let child = join(at, word);
        if self.0.contains_key(&child) {
            return Some(Target::Module(child));
        }
        let chain = chain.checked_sub(1)?;
        let (file, module) = self.0.get(at)?;
        if module.defined.contains(word) {
            return Some(Target::File(*file));
        }
        // `use saddlebag::x` names a crate that may have the name of what it imports.
        let is_itself = |path: &Path| path.len() == 1 && path[0] == word;
        let import = module.imports.iter().find(|import| import.name.as_deref() == Some(word));
        if let Some(import) = import {
            return if is_itself(&import.path) { None } else { self.resolve(at, &import.path, chain) };
        }
        for import in module.imports.iter().filter(|import| import.name.is_none()) {
            if let Some(Target::Module(all)) = self.resolve(at, &import.path, chain)
                && all != at
                && self.has(&all, word)
            {
                return self.named(&all, word, false, chain);
            }
        }
        // An exported macro has its path at the root, wherever it is defined.
        let exported = self.0.values().find(|(_, module)| at.is_empty() && module.macros.contains(word));
        // Macros define things that are not seen here.
        if is_first { None } else { Some(Target::File(exported.map_or(*file, |(file, _)| *file))) }
    }

    fn has(&self, at: &str, word: &str) -> bool {
        self.0.contains_key(&join(at, word))
            || self.0.get(at).is_some_and(|(_, module)| {
                module.defined.contains(word)
                    || module.imports.iter().any(|import| import.name.as_deref() == Some(word))
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
