//! `server.json`: the entry of the registry of MCP servers, which names the packages and how a client starts each.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::archive::{sha256, write};
use crate::release::Release;
use crate::template::fill;
use crate::wheel::python_version;

const TEMPLATE: &str = "packaging/templates/server.json";

/// Writes the entry, which names the bundle with its digest, and returns its path.
pub(crate) fn build(release: &Release, bundle: &Path, out: &Path) -> Result<PathBuf, String> {
    let bytes = std::fs::read(bundle).map_err(|error| format!("cannot read {}: {error}", bundle.display()))?;
    let name = bundle.file_name().unwrap_or_default().to_string_lossy();
    let mut values = release.values()?;
    values.extend([
        ("PYTHON_VERSION", json!(python_version(&release.version)?)),
        ("BUNDLE", json!(release.download(&name))),
        ("BUNDLE_SHA256", json!(sha256(&bytes))),
    ]);
    let entry = fill(&release.text(TEMPLATE)?, &values)?;
    write(&out.join("server.json"), format!("{entry:#}\n").as_bytes())
}
