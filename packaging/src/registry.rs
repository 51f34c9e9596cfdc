//! `server.json`: the entry of the registry of MCP servers, which names the packages and how a client starts each.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::archive::{read, sha256, write};
use crate::bundle;
use crate::release::Release;
use crate::wheel::python_version;

const SCHEMA: &str = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";

/// Maximum length of the description in characters.
const MAX_DESCRIPTION: usize = 100;

/// Writes the entry and returns its path. A bundle is named only if the folder has it.
pub(crate) fn build(release: &Release, out: &Path) -> Result<PathBuf, String> {
    let bundle = out.join(bundle::file_name(release));
    let digest = if bundle.exists() { Some(sha256(&read(&bundle)?)) } else { None };
    let entry = entry(release, digest.as_deref())?;
    write(&out.join("server.json"), format!("{entry:#}\n").as_bytes())
}

fn entry(release: &Release, bundle_digest: Option<&str>) -> Result<Value, String> {
    let length = release.description.chars().count();
    if length > MAX_DESCRIPTION {
        return Err(format!("the description has {length} characters, and `server.json` takes {MAX_DESCRIPTION}"));
    }
    let version = &release.version;
    let stdio = json!({ "type": "stdio" });
    let serve = json!([{ "type": "positional", "value": "mcp" }]);
    let root = json!([{
        "name": "SADDLEBAG_ROOT",
        "description": "Existing folder of the memory. Without it, the data folder of the platform",
        "format": "filepath",
    }]);
    let mut packages = vec![
        json!({
            "registryType": "npm", "identifier": Release::NAME, "version": version, "runtimeHint": "npx",
            "packageArguments": serve, "environmentVariables": root, "transport": stdio,
        }),
        json!({
            "registryType": "pypi", "identifier": Release::NAME, "version": python_version(version)?,
            "runtimeHint": "uvx", "packageArguments": serve, "environmentVariables": root, "transport": stdio,
        }),
        json!({
            "registryType": "oci", "identifier": image(release)?, "runtimeHint": "docker",
            "runtimeArguments": [
                { "type": "named", "name": "--mount", "value": "type=volume,src=saddlebag,dst=/memory" },
            ],
            "packageArguments": serve, "transport": stdio,
        }),
    ];
    if let Some(digest) = bundle_digest {
        packages.push(json!({
            "registryType": "mcpb", "identifier": release.download(&bundle::file_name(release)),
            "version": version, "fileSha256": digest, "transport": stdio,
        }));
    }
    Ok(json!({
        "$schema": SCHEMA,
        "name": release.server_name()?,
        "title": "Saddlebag",
        "description": release.description,
        "version": version,
        "websiteUrl": release.repository,
        "repository": { "url": release.repository, "source": "github" },
        "packages": packages,
    }))
}

/// Returns the name of the container image with its tag.
fn image(release: &Release) -> Result<String, String> {
    let path = release.repository.strip_prefix("https://github.com/");
    let path = path.ok_or_else(|| format!("the repository {} is not on GitHub", release.repository))?;
    Ok(format!("ghcr.io/{path}:{}", release.version))
}
