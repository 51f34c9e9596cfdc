//! Bearer token that a client of the HTTP server must send.

use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use saddlebag_host::{PrivateError, PrivateFolder, Readers};
use subtle::ConstantTimeEq;

use crate::failure::{Failure, ProgramCode};
use crate::server::secret::Secret;

/// Environment variable with the token, used without `--token-file`.
const VARIABLE: &str = "SADDLEBAG_MCP_TOKEN";
/// Minimum length of a token, in bytes: 128 bits in hexadecimal digits.
const MIN_BYTES: usize = 32;
const MAX_BYTES: usize = 4096;

/// Bearer token. It is never printed.
pub(crate) struct Token(String);

impl Token {
    /// Returns the token and its file. The file of `--token-file` comes first, then the environment variable, which
    /// has no file, then the user's own file.
    pub(crate) fn load(file: Option<&Path>) -> Result<(Self, Option<PathBuf>), Failure> {
        if let Some(file) = file {
            return Ok((Self::in_file(file)?, Some(file.to_path_buf())));
        }
        if let Some(text) = std::env::var_os(VARIABLE).filter(|text| !text.is_empty()) {
            let token = text.to_str().and_then(Self::parse).ok_or_else(|| refused(VARIABLE))?;
            return Ok((token, None));
        }
        let file = default_file()?;
        Ok((Self::in_file(&file)?, Some(file)))
    }

    /// Returns true if the value of an `Authorization` header has this token. The time depends only on the length of
    /// the value, not on how much of it is right.
    pub(crate) fn is_shown_by(&self, header: &[u8]) -> bool {
        let Some((scheme, shown)) = header.split_at_checked("Bearer ".len()) else { return false };
        scheme.eq_ignore_ascii_case(b"Bearer ") && bool::from(shown.trim_ascii().ct_eq(self.0.as_bytes()))
    }

    /// Returns the token in a file, or creates a file with a new token. The file is opened once, and the open file is
    /// checked.
    fn in_file(file: &Path) -> Result<Self, Failure> {
        let name = format!("the token file `{}`", file.display());
        let unusable = |error: PrivateError| {
            let help = "it must be a file that only you may read (chmod 600), in folders that only you may write \
                        (chmod go-w), and not a link";
            Failure::new(ProgramCode::Token, format!("cannot use {name}: {error}"), help)
        };
        let unwritable = |error: io::Error| {
            let message = format!("cannot write {name}: {}", saddlebag_host::io_cause(&error));
            Failure::new(ProgramCode::Token, message, "name a file in a folder that exists, with --token-file")
        };
        let above = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let Some(file_name) = file.file_name().and_then(|name| name.to_str()) else {
            return Err(unwritable(io::ErrorKind::InvalidFilename.into()));
        };
        let folder = match PrivateFolder::open(above) {
            Err(error) if error.is_missing() => return Err(unwritable(io::ErrorKind::NotFound.into())),
            folder => folder.map_err(unusable)?,
        };
        match folder.open_file(file_name, Readers::Owner) {
            Ok(open) => {
                let mut text = String::new();
                // A file that is longer than any token does not contain one.
                let read = open.take(MAX_BYTES as u64 + 3).read_to_string(&mut text);
                read.ok().and_then(|_| Self::parse(&text)).ok_or_else(|| refused(&name))
            }
            Err(error) if error.is_missing() => {
                let token = Self::new()?;
                folder.create_new(file_name).and_then(|mut file| writeln!(file, "{}", token.0)).map_err(unwritable)?;
                Ok(token)
            }
            Err(error) => Err(unusable(error)),
        }
    }

    fn new() -> Result<Self, Failure> {
        let with_help = |failure| {
            let help = "give your own token, in a file with --token-file".into();
            Failure { help, ..failure }
        };
        Secret::new().map(|secret| Self(secret.into_string())).map_err(with_help)
    }

    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let is_token =
            (MIN_BYTES..=MAX_BYTES).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
        is_token.then(|| Self(text.to_string()))
    }
}

fn refused(place: &str) -> Failure {
    let message = format!("{place} has no token of {MIN_BYTES} to {MAX_BYTES} printable ASCII characters");
    Failure::new(ProgramCode::Token, message, "remove it to have one created, or create one: `openssl rand -hex 32`")
}

fn default_file() -> Result<PathBuf, Failure> {
    let root = saddlebag_host::default_root().ok_or_else(|| {
        Failure::new(
            ProgramCode::Token,
            "there is no home folder to keep the token in",
            "name a file with --token-file",
        )
    })?;
    // The file is beside the store and not in it, because a store may be shared.
    let file = root.with_file_name("saddlebag-mcp-token");
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).map_err(|error| {
            Failure::new(
                ProgramCode::Token,
                format!("cannot make {}: {error}", folder.display()),
                "name a file with --token-file",
            )
        })?;
    }
    Ok(file)
}

#[cfg(test)]
#[allow(clippy::print_stderr, reason = "a test that cannot run says so")]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_shown_whole_or_not_at_all() {
        let token = Token::new().unwrap();
        let header = |text: &str| token.is_shown_by(text.as_bytes());
        assert!(header(&format!("Bearer {}", token.0)) && header(&format!("bearer {}", token.0)));
        let half = &token.0[..20];
        for wrong in ["", "Bearer", "Bearer ", &token.0, &format!("Basic {}", token.0), &format!("Bearer {half}")] {
            assert!(!header(wrong), "{wrong}");
        }
        assert_ne!(token.0, Token::new().unwrap().0);
    }

    #[test]
    fn a_file_keeps_its_token_and_is_for_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        let made = Token::in_file(&file).unwrap();
        assert_eq!(made.0, Token::in_file(&file).unwrap().0);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
            fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
            assert!(Token::in_file(&file).is_err());
        }
        for (name, text) in [("short", "secret".to_string()), ("long", "x".repeat(MAX_BYTES + 1))] {
            let file = folder.path().join(name);
            fs::write(&file, text).unwrap();
            #[cfg(unix)]
            std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
            assert!(Token::in_file(&file).is_err(), "{name}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_token_that_somebody_else_could_have_put_there_is_refused() {
        use std::os::unix::fs::{PermissionsExt, symlink};

        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        Token::in_file(&file).unwrap();
        symlink(&file, folder.path().join("link")).unwrap();
        assert!(Token::in_file(&folder.path().join("link")).is_err());
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
        assert!(Token::in_file(&file).is_err());
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700)).unwrap();
        Token::in_file(&file).unwrap();
        if rustix::process::geteuid().is_root() {
            rustix::fs::chown(&file, Some(rustix::fs::Uid::from_raw(65534)), None).unwrap();
            assert!(Token::in_file(&file).is_err());
        } else {
            eprintln!("a token of another user: not run, as only root can give a file away");
        }
    }
}
