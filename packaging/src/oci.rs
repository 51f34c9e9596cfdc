//! OCI layouts of the components and of the contract, for registries that hold WebAssembly.
//!
//! The form is the artifact layout of the CNCF's working group for WebAssembly: a manifest whose configuration has the type
//! `application/vnd.wasm.config.v0+json`, and one layer `application/wasm`. A layout is one tar file, as `skopeo`, `oras` and
//! `crane` read it. Its time is `SOURCE_DATE_EPOCH`, otherwise the start of 1980, so that the same component gives the same bytes.

use std::path::{Path, PathBuf};

use chrono::{DateTime, SecondsFormat};
use serde_json::{Value, json};
use wit_component::DecodedWasm;
use wit_parser::{Resolve, WorldId};

use crate::archive::{Entry, read, sha256, tar, write};
use crate::release::{AUTHORS, Release};

const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const CONFIGURATION: &str = "application/vnd.wasm.config.v0+json";
const LAYER: &str = "application/wasm";

/// Time without `SOURCE_DATE_EPOCH`.
const TIME: &str = "1980-01-01T00:00:00Z";

/// Writes a layout for each component, and for the package of the contract, directly in the folder. Returns their paths, sorted.
pub(crate) fn build(release: &Release, out: &Path) -> Result<Vec<PathBuf>, String> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(out).map_err(|error| format!("cannot list {}: {error}", out.display()))? {
        let name = entry.map_err(|error| error.to_string())?.file_name().to_string_lossy().into_owned();
        names.extend(name.strip_suffix(".wasm").map(str::to_string));
    }
    names.sort();
    let layouts = names.iter().map(|name| {
        let bytes = read(&out.join(format!("{name}.wasm")))?;
        let layout = tar(&layout(release, name, &bytes)?)?;
        if component(&entries_of_tar(&layout)?)? != bytes {
            return Err(format!("the layout of {name} does not hold its component"));
        }
        write(&out.join(format!("{}-{name}-{}.oci.tar", Release::NAME, release.version)), &layout)
    });
    layouts.collect()
}

/// Returns the files of the layout of one component.
fn layout(release: &Release, name: &str, bytes: &[u8]) -> Result<Vec<Entry>, String> {
    let described = wit_component::decode(bytes).map_err(|error| format!("{name}.wasm: {error:#}"))?;
    let (about, sides) = match &described {
        DecodedWasm::Component(contract, world) => ("component", sides(contract, *world)),
        DecodedWasm::WitPackage(..) => ("contract", json!({"exports": [], "imports": []})),
    };
    let created = match std::env::var("SOURCE_DATE_EPOCH") {
        Ok(seconds) => {
            let time = seconds.parse().ok().and_then(|seconds| DateTime::from_timestamp(seconds, 0));
            let time =
                time.ok_or_else(|| format!("SOURCE_DATE_EPOCH is `{seconds}`, which is not a number of seconds"))?;
            time.to_rfc3339_opts(SecondsFormat::Secs, true)
        }
        Err(_) => TIME.to_string(),
    };
    let layer = blob(LAYER, bytes.to_vec());
    let configuration = json!({
        "created": created,
        "author": AUTHORS,
        "architecture": "wasm",
        "os": "wasip2",
        "layerDigests": [layer.0["digest"]],
        "component": sides,
    });
    let configuration = blob(CONFIGURATION, configuration.to_string().into_bytes());
    let mut titled = layer.0.clone();
    titled["annotations"] = json!({"org.opencontainers.image.title": format!("{name}.wasm")});
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": configuration.0,
        "layers": [titled],
        "annotations": {
            "org.opencontainers.image.title": name,
            "org.opencontainers.image.description": format!("{} ({about})", release.description),
            "org.opencontainers.image.version": release.version,
            "org.opencontainers.image.licenses": release.license,
            "org.opencontainers.image.source": release.repository,
            "org.opencontainers.image.created": created,
        },
    });
    let manifest = blob(MANIFEST, manifest.to_string().into_bytes());
    let mut named = manifest.0.clone();
    named["annotations"] = json!({"org.opencontainers.image.ref.name": release.version});
    let index = json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.index.v1+json",
        "manifests": [named],
    });
    let mut files = vec![
        Entry::text("oci-layout", r#"{"imageLayoutVersion":"1.0.0"}"#),
        Entry::text("index.json", index.to_string()),
    ];
    files.extend([manifest.1, configuration.1, layer.1]);
    Ok(files)
}

/// Returns the interfaces that a component exports and imports, sorted.
fn sides(contract: &Resolve, world: WorldId) -> Value {
    let world = &contract.worlds[world];
    let names = |items: &mut dyn Iterator<Item = String>| {
        let mut names: Vec<String> = items.collect();
        names.sort();
        names
    };
    let exports = names(&mut world.exports.keys().map(|key| contract.name_world_key(key)));
    let imports = names(&mut world.imports.keys().map(|key| contract.name_world_key(key)));
    json!({"exports": exports, "imports": imports})
}

/// Returns the descriptor of some content, and the file that holds it.
fn blob(media_type: &str, bytes: Vec<u8>) -> (Value, Entry) {
    let digest = sha256(&bytes);
    let descriptor = json!({"mediaType": media_type, "digest": format!("sha256:{digest}"), "size": bytes.len()});
    (descriptor, Entry { path: format!("blobs/sha256/{digest}"), bytes, is_program: false })
}

/// Returns the component of a layout, after every digest and every size was checked.
fn component(files: &[Entry]) -> Result<&[u8], String> {
    let file = |path: &str| {
        let found = files.iter().find(|file| file.path == path);
        found.map(|file| file.bytes.as_slice()).ok_or_else(|| format!("the layout has no {path}"))
    };
    let parsed = |bytes: &[u8]| -> Result<Value, String> {
        serde_json::from_slice(bytes).map_err(|error| format!("the layout is damaged: {error}"))
    };
    let content = |descriptor: &Value| {
        let digest = descriptor["digest"].as_str().and_then(|digest| digest.strip_prefix("sha256:"));
        let digest = digest.ok_or("a descriptor has no SHA-256")?;
        let bytes = file(&format!("blobs/sha256/{digest}"))?;
        if sha256(bytes) != digest || descriptor["size"] != bytes.len() {
            return Err(format!("blobs/sha256/{digest} has another digest or size"));
        }
        Ok(bytes)
    };
    if parsed(file("oci-layout")?)?["imageLayoutVersion"] != "1.0.0" {
        return Err("the layout has another version".to_string());
    }
    let manifest = parsed(content(&parsed(file("index.json")?)?["manifests"][0])?)?;
    let configuration = parsed(content(&manifest["config"])?)?;
    if configuration["layerDigests"][0] != manifest["layers"][0]["digest"] {
        return Err("the configuration names another layer".to_string());
    }
    content(&manifest["layers"][0])
}

fn entries_of_tar(bytes: &[u8]) -> Result<Vec<Entry>, String> {
    let failed = |error: std::io::Error| format!("cannot read a tar file: {error}");
    let mut archive = ::tar::Archive::new(bytes);
    let entries = archive.entries().map_err(failed)?.map(|entry| {
        let mut entry = entry.map_err(failed)?;
        let path = entry.path().map_err(failed)?.to_string_lossy().into_owned();
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut entry, &mut bytes).map_err(failed)?;
        Ok(Entry { path, bytes, is_program: false })
    });
    entries.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A component without content.
    const EMPTY: [u8; 8] = *b"\0asm\x0d\0\x01\0";

    fn files() -> Vec<Entry> {
        layout(&Release::read().expect("a release"), "empty", &EMPTY).expect("a layout")
    }

    #[test]
    fn a_layout_holds_the_component_and_says_what_it_is() {
        let files = entries_of_tar(&tar(&files()).expect("a tar file")).expect("entries");
        assert_eq!(component(&files), Ok(&EMPTY[..]));
        let texts: Vec<String> = files.iter().map(|file| String::from_utf8_lossy(&file.bytes).into_owned()).collect();
        for word in [MANIFEST, CONFIGURATION, LAYER, "\"wasip2\"", "MIT OR Apache-2.0", TIME, "empty.wasm"] {
            assert!(texts.iter().any(|text| text.contains(word)), "{word}: {texts:#?}");
        }
    }

    #[test]
    fn a_byte_that_changes_anywhere_is_noticed() {
        let mut files = files();
        for number in 2..files.len() {
            for place in 0..files[number].bytes.len() {
                files[number].bytes[place] ^= 1;
                assert!(component(&files).is_err(), "byte {place} of {}", files[number].path);
                files[number].bytes[place] ^= 1;
            }
        }
    }
}
