//! The `.mcpb` bundle: a zip file with the program and `manifest.json`, which a desktop client installs as an MCP server.
//!
//! A bundle has one program per operating system, because its manifest cannot tell processors apart: on macOS one file with
//! the programs for both.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::archive::{Entry, write, zip};
use crate::program::Program;
use crate::release::Release;
use crate::target::Os;
use crate::template::fill;

const TEMPLATE: &str = "packaging/templates/mcpb.json";

/// Builds the bundle of these programs and returns its path. One of them must run here, because it lists the tools.
///
/// Linux and Windows get the program for x86-64: Windows runs it on ARM too.
pub(crate) fn build(release: &Release, programs: &[Program], out: &Path) -> Result<PathBuf, String> {
    let lists = programs.iter().find(|program| program.runs_here());
    let lists = lists.ok_or("no archive in the folder has a program that runs here and lists the tools")?;
    let bytes = bundle(release, programs, &lists.tools()?)?;
    write(&out.join(format!("{}-{}.mcpb", Release::NAME, release.version)), &bytes)
}

fn bundle(release: &Release, programs: &[Program], tools: &[Value]) -> Result<Vec<u8>, String> {
    let (mut files, mut platforms, mut overrides) = (Vec::new(), Vec::new(), Map::new());
    let mut entry_point = None;
    for os in [Os::Linux, Os::Darwin, Os::Win32] {
        let of_system: Vec<&Program> = programs.iter().filter(|program| program.target.os == os).collect();
        let on_intel = of_system.iter().find(|program| !program.target.is_arm);
        let Some(first) = on_intel.or(of_system.first()) else { continue };
        let slices: Vec<&[u8]> = of_system.iter().map(|program| program.bytes.as_slice()).collect();
        let bytes = if os == Os::Darwin { universal(&slices)? } else { first.bytes.clone() };
        let folder = format!("server/{}", os.name());
        let path = format!("{folder}/{}", os.program());
        overrides.insert(os.name().into(), json!({ "command": format!("${{__dirname}}/{path}") }));
        platforms.push(os.name());
        files.push(Entry::program(path.clone(), &bytes));
        // The licences of the crates differ between targets.
        for license in &first.licenses {
            files.push(Entry { path: format!("{folder}/{}", license.path), ..license.clone() });
        }
        entry_point.get_or_insert(path);
    }
    let mut values = release.values()?;
    values.extend([
        ("ENTRY_POINT", json!(entry_point.ok_or("a bundle needs a program")?)),
        ("OVERRIDES", overrides.into()),
        ("PLATFORMS", json!(platforms)),
        ("TOOLS", json!(tools)),
    ]);
    let manifest = fill(&release.text(TEMPLATE)?, &values)?;
    files.insert(0, Entry::text("manifest.json", format!("{manifest:#}\n")));
    zip(&files)
}

/// Joins programs for macOS: a header that says where the program for each processor is, each on its own pages.
fn universal(slices: &[&[u8]]) -> Result<Vec<u8>, String> {
    /// Pages of 16 KiB, as a power of two: the larger ones, of ARM.
    const ALIGNMENT: u32 = 14;
    if let [only] = slices {
        return Ok(only.to_vec());
    }
    let field = |slice: &[u8], at: usize| Some(u32::from_le_bytes(slice.get(at..at + 4)?.try_into().ok()?));
    let number = |length: usize| u32::try_from(length).map_err(|_| "a program is too large".to_string());
    let mut header = vec![0xcafe_babe, number(slices.len())?];
    let mut programs = vec![0; 1 << ALIGNMENT];
    for slice in slices {
        let (Some(0xfeed_facf), Some(processor), Some(kind)) = (field(slice, 0), field(slice, 4), field(slice, 8))
        else {
            return Err("a program for macOS does not begin as one".to_string());
        };
        header.extend([processor, kind, number(programs.len())?, number(slice.len())?, ALIGNMENT]);
        programs.extend_from_slice(slice);
        programs.resize(programs.len().next_multiple_of(1 << ALIGNMENT), 0);
    }
    for (place, byte) in programs.iter_mut().zip(header.into_iter().flat_map(u32::to_be_bytes)) {
        *place = byte;
    }
    Ok(programs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::entries_of_zip;
    use crate::target::Target;

    /// Header of a program for macOS without a single command.
    fn slice(cpu: u32, kind: u32) -> Vec<u8> {
        let fields = [0xfeed_facf_u32, cpu, kind, 2, 0, 0, 0, 0];
        fields.iter().flat_map(|field| field.to_le_bytes()).collect()
    }

    #[test]
    fn the_bundle_of_a_release_has_one_program_per_system_and_both_processors_of_macos() {
        let release = Release::read().expect("a release");
        let (intel, arm) = (slice(0x0100_0007, 3), slice(0x0100_000c, 0));
        let programs = [
            ("aarch64-unknown-linux-musl", b"not this one".to_vec()),
            ("x86_64-unknown-linux-musl", b"linux".to_vec()),
            ("x86_64-apple-darwin", intel.clone()),
            ("aarch64-apple-darwin", arm.clone()),
            ("x86_64-pc-windows-msvc", b"windows".to_vec()),
        ];
        let programs = programs.map(|(triple, bytes)| {
            let licenses = vec![Entry::text("LICENSE-MIT", triple)];
            Program { target: Target::of(triple).expect("known"), bytes, licenses, glibc: None }
        });
        let tools = [json!({ "name": "memory_recall", "description": "Find." })];
        let entries = entries_of_zip(&bundle(&release, &programs, &tools).expect("a bundle")).expect("entries");
        let bytes = |name: &str| &entries.iter().find(|entry| entry.path == name).expect(name).bytes;
        assert_eq!(bytes("server/linux/saddlebag"), b"linux");
        assert_eq!(bytes("server/linux/LICENSE-MIT"), b"x86_64-unknown-linux-musl");
        assert_eq!(bytes("server/win32/saddlebag.exe"), b"windows");
        let joined = bytes("server/darwin/saddlebag");
        let number = |at: usize| u32::from_be_bytes(joined[at..at + 4].try_into().expect("4 bytes"));
        assert_eq!((number(0), number(4)), (0xcafe_babe, 2));
        for (at, processor, slice) in [(8, 0x0100_0007, intel), (28, 0x0100_000c, arm)] {
            let (offset, size) = (number(at + 8) as usize, number(at + 12) as usize);
            assert_eq!((number(at), offset % (1 << 14), &joined[offset..offset + size]), (processor, 0, &slice[..]));
        }
        let manifest: Value = serde_json::from_slice(bytes("manifest.json")).expect("JSON");
        let overrides = manifest["server"]["mcp_config"]["platform_overrides"].as_object().expect("an object");
        assert_eq!(overrides.keys().collect::<Vec<_>>(), ["darwin", "linux", "win32"]);
        assert_eq!(overrides["win32"]["command"], "${__dirname}/server/win32/saddlebag.exe");
        assert_eq!(manifest["tools"][0]["name"], "memory_recall");
        assert!(universal(&[b"\x7fELF and more", b""]).is_err());
    }
}
