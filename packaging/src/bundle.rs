//! The `.mcpb` bundle: a zip file with the program and `manifest.json`, which a desktop client installs as an MCP server.
//!
//! A bundle has one program per operating system, because its manifest cannot tell processors apart. The bundle of a release
//! has both programs for macOS in one file.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::archive::{Entry, entries_of_zip, read, write, zip};
use crate::notices;
use crate::program::Program;
use crate::release::{AUTHORS, Release};
use crate::target::{Os, Target};

/// Programs that the bundle of a release takes, the best one first for each place. Windows runs the one for x86-64 on ARM too.
const LINUX: [&str; 2] = ["x86_64-unknown-linux-musl", "x86_64-unknown-linux-gnu"];
const DARWIN: [&str; 2] = ["x86_64-apple-darwin", "aarch64-apple-darwin"];
const WIN32: [&str; 2] = ["x86_64-pc-windows-msvc", "x86_64-pc-windows-gnu"];

type Tools = [(String, String)];

/// Files of a bundle for one operating system.
#[derive(Clone)]
pub(crate) struct Content {
    pub(crate) os: Os,
    pub(crate) program: Vec<u8>,
    /// Licences of the crates in the program. They differ between targets.
    pub(crate) notices: Vec<u8>,
}

/// Builds the bundle of one target and returns its path.
pub(crate) fn build(
    release: &Release,
    program: &Program,
    notices: &str,
    tools: &Tools,
    out: &Path,
) -> Result<PathBuf, String> {
    let (os, program_bytes) = (program.target.os, program.bytes.clone());
    let content = Content { os, program: program_bytes, notices: notices.into() };
    let bytes = bundle(release, &[content], tools)?;
    write(&out.join(file_of(release, &program.target.triple)), &bytes)
}

/// Returns the name of the bundle for all operating systems.
pub(crate) fn file_name(release: &Release) -> String {
    format!("{}-{}.mcpb", Release::NAME, release.version)
}

/// Builds the bundle for all operating systems from the bundles of the targets in the folder. Returns its path; `None`
/// if there is no such bundle.
pub(crate) fn build_for_all(release: &Release, out: &Path) -> Result<Option<PathBuf>, String> {
    let mut tools = None;
    let mut find = |triple: &str| -> Result<Option<Content>, String> {
        let Some((manifest, content)) = parts(release, triple, out)? else { return Ok(None) };
        if tools.is_none() {
            tools = Some(tools_of(&manifest).ok_or_else(|| format!("the bundle of {triple} lists no tools"))?);
        }
        Ok(Some(content))
    };
    let mut contents = Vec::new();
    for triples in [LINUX, WIN32] {
        let mut found = None;
        for triple in triples {
            if found.is_none() {
                found = find(triple)?;
            }
        }
        contents.extend(found);
    }
    let mut slices = Vec::new();
    for triple in DARWIN {
        slices.extend(find(triple)?);
    }
    if let Some(first) = slices.first().cloned() {
        let slices = slices.into_iter().map(|slice| slice.program).collect();
        contents.push(Content { program: universal(slices)?, ..first });
    }
    let Some(tools) = tools else { return Ok(None) };
    let bytes = bundle(release, &contents, &tools)?;
    write(&out.join(file_name(release)), &bytes).map(Some)
}

/// Returns what the bundle of a target has; `None` if the folder has no such bundle.
pub(crate) fn content(release: &Release, triple: &str, out: &Path) -> Result<Option<Content>, String> {
    Ok(parts(release, triple, out)?.map(|(_, content)| content))
}

/// Returns the manifest of the bundle of a target, and its content.
fn parts(release: &Release, triple: &str, out: &Path) -> Result<Option<(Vec<u8>, Content)>, String> {
    let path = out.join(file_of(release, triple));
    if !path.exists() {
        return Ok(None);
    }
    let os = Target::of(triple)?.os;
    let mut entries = entries_of_zip(&read(&path)?)?;
    let mut take = |name: &str| {
        let at = entries.iter().position(|entry| entry.path == name);
        let bytes = at.map(|at| entries.swap_remove(at).bytes);
        bytes.ok_or_else(|| format!("{} has no {name}", path.display()))
    };
    let (program, notices) = (take(&place(os, os.program()))?, take(&place(os, notices::NAME))?);
    Ok(Some((take("manifest.json")?, Content { os, program, notices })))
}

/// Returns the name of the bundle of a target.
pub(crate) fn file_of(release: &Release, triple: &str) -> String {
    format!("{}-{}-{triple}.mcpb", Release::NAME, release.version)
}

/// Returns the path of a file for one operating system in a bundle.
fn place(os: Os, file: &str) -> String {
    format!("server/{}/{file}", os.name())
}

fn bundle(release: &Release, contents: &[Content], tools: &Tools) -> Result<Vec<u8>, String> {
    let systems: Vec<Os> = contents.iter().map(|content| content.os).collect();
    let mut entries = vec![Entry::text("manifest.json", format!("{:#}\n", manifest(release, &systems, tools)?))];
    for Content { os, program, notices } in contents {
        entries.push(Entry::program(place(*os, os.program()), program));
        let path = place(*os, notices::NAME);
        entries.push(Entry { path, bytes: notices.clone(), is_program: false });
    }
    entries.extend(release.licenses()?.into_iter().map(|(name, text)| Entry::text(name, text)));
    zip(&entries)
}

fn manifest(release: &Release, systems: &[Os], tools: &Tools) -> Result<Value, String> {
    let first = systems.first().ok_or("a bundle needs a program")?;
    let command = |os: Os| format!("${{__dirname}}/{}", place(os, os.program()));
    let mut overrides = Map::new();
    for os in Os::ALL.into_iter().filter(|os| systems.contains(os)) {
        overrides.insert(os.name().into(), json!({ "command": command(os) }));
    }
    let tools: Vec<Value> = tools.iter().map(|(name, about)| json!({ "name": name, "description": about })).collect();
    Ok(json!({
        "manifest_version": "0.3",
        "name": Release::NAME,
        "display_name": "Saddlebag",
        "version": release.version,
        "description": release.description,
        "long_description": "Remembers facts, decisions and open tasks between conversations, as Markdown files in a folder \
                             that you choose. The server reads and writes only that folder and uses no network.",
        "author": { "name": AUTHORS, "url": release.repository },
        "repository": { "type": "git", "url": format!("{}.git", release.repository) },
        "homepage": release.repository,
        "documentation": format!("{}/blob/main/docs/mcp.md", release.repository),
        "support": format!("{}/issues", release.repository),
        "license": release.license,
        "keywords": release.keywords,
        "server": {
            "type": "binary",
            "entry_point": place(*first, first.program()),
            "mcp_config": {
                "command": command(*first),
                "args": ["--root", "${user_config.folder}", "--notebook", "mcp"],
                "platform_overrides": overrides,
            },
        },
        "tools": tools,
        "tools_generated": false,
        "compatibility": { "platforms": systems.iter().map(|os| os.name()).collect::<Vec<_>>() },
        "user_config": {
            "folder": {
                "type": "directory",
                "title": "Folder of the memory",
                "description": "Existing folder for the Markdown files. A folder of notes that you have is opened in place.",
                "required": true,
            },
        },
    }))
}

fn tools_of(manifest: &[u8]) -> Option<Vec<(String, String)>> {
    let manifest: Value = serde_json::from_slice(manifest).ok()?;
    let field = |tool: &Value, name: &str| tool[name].as_str().map(str::to_string);
    manifest["tools"].as_array()?.iter().map(|tool| Some((field(tool, "name")?, field(tool, "description")?))).collect()
}

/// Returns one program for macOS from those for its processors.
fn universal(slices: Vec<Vec<u8>>) -> Result<Vec<u8>, String> {
    if let [only] = slices.as_slice() {
        return Ok(only.clone());
    }
    let failed = |error: fat_macho::Error| format!("cannot join the programs for macOS: {error}");
    let mut writer = fat_macho::FatWriter::new();
    for slice in slices {
        writer.add(slice).map_err(failed)?;
    }
    let mut joined = Vec::new();
    writer.write_to(&mut joined).map_err(failed)?;
    Ok(joined)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Header of a program for macOS without a single command.
    fn slice((cpu, kind): (u32, u32)) -> Vec<u8> {
        let fields = [0xfeed_facf_u32, cpu, kind, 2, 0, 0, 0, 0];
        fields.iter().flat_map(|field| field.to_le_bytes()).collect()
    }

    #[test]
    fn the_bundle_of_a_release_has_one_program_per_system_and_both_processors_of_macos() {
        let release = Release::read().expect("a release");
        let folder = tempfile::tempdir().expect("a folder");
        let tools = [("memory_recall".to_string(), "Find.".to_string())];
        assert_eq!(build_for_all(&release, folder.path()), Ok(None));
        let (intel, arm) = ((0x0100_0007, 3), (0x0100_000c, 0));
        let programs = [
            ("x86_64-unknown-linux-musl", b"linux".to_vec()),
            ("aarch64-unknown-linux-musl", b"not this one".to_vec()),
            ("x86_64-apple-darwin", slice(intel)),
            ("aarch64-apple-darwin", slice(arm)),
            ("x86_64-pc-windows-msvc", b"windows".to_vec()),
        ];
        for (triple, bytes) in programs {
            let os = Target::of(triple).expect("known").os;
            let content = Content { os, program: bytes, notices: triple.into() };
            let bytes = bundle(&release, &[content], &tools).expect("a bundle");
            write(&folder.path().join(file_of(&release, triple)), &bytes).expect("written");
        }
        let path = build_for_all(&release, folder.path()).expect("built").expect("a bundle");
        let entries = entries_of_zip(&read(&path).expect("bytes")).expect("entries");
        let bytes = |name: &str| &entries.iter().find(|entry| entry.path == name).expect(name).bytes;
        assert_eq!(bytes("server/linux/saddlebag"), b"linux");
        assert_eq!(bytes("server/linux/THIRD-PARTY-LICENSES.txt"), b"x86_64-unknown-linux-musl");
        assert_eq!(bytes("server/win32/saddlebag.exe"), b"windows");
        let reader = fat_macho::FatReader::new(bytes("server/darwin/saddlebag")).expect("a program for two processors");
        assert_eq!(reader.extract("x86_64"), Some(slice(intel).as_slice()));
        assert_eq!(reader.extract("arm64"), Some(slice(arm).as_slice()));
        let manifest: Value = serde_json::from_slice(bytes("manifest.json")).expect("JSON");
        let overrides = manifest["server"]["mcp_config"]["platform_overrides"].as_object().expect("an object");
        assert_eq!(overrides.keys().collect::<Vec<_>>(), ["darwin", "linux", "win32"]);
        assert_eq!(overrides["win32"]["command"], "${__dirname}/server/win32/saddlebag.exe");
        assert_eq!(manifest["tools"][0]["name"], "memory_recall");
    }
}
