//! A memory in a folder, as variables of the environment describe it.

use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use saddlebag::store::Timestamp;
use saddlebag::trust::Provenance;

use crate::executor::Executor;
use crate::folder::Folder;
use crate::guest::{Guest, Options};

/// Folder of the store if `SADDLEBAG_STORE` is not set.
const STORE: &str = "/memory";

/// Returns a random number of the system.
///
/// # Panics
///
/// The system has no random numbers, without which two writers may take one name.
#[allow(clippy::expect_used, reason = "nothing can be written safely without")]
pub fn random() -> u64 {
    getrandom::u64().expect("the system has random numbers")
}

/// Returns the time, with the offset that `SADDLEBAG_UTC_OFFSET` names, such as `+02:00`; WASI has no time zones.
///
/// # Errors
///
/// The variable has another form.
pub fn now() -> Result<Timestamp, String> {
    let offset = match std::env::var("SADDLEBAG_UTC_OFFSET") {
        Ok(text) => {
            parse_offset(&text).ok_or_else(|| format!("SADDLEBAG_UTC_OFFSET is `{text}`; an example is +02:00"))?
        }
        Err(_) => 0,
    };
    let since = SystemTime::now().duration_since(UNIX_EPOCH).map_err(|error| error.to_string())?;
    let seconds = i64::try_from(since.as_secs()).map_err(|error| error.to_string())?;
    Ok(Timestamp { seconds, nanoseconds: since.subsec_nanos(), utc_offset_seconds: offset })
}

fn parse_offset(text: &str) -> Option<i32> {
    let (sign, rest) = match text.split_at_checked(1)? {
        ("+", rest) => (1, rest),
        ("-", rest) => (-1, rest),
        _ => return None,
    };
    let (hours, minutes) = rest.split_once(':')?;
    let part = |text: &str, most: i32| {
        let is_number = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| text.parse::<i32>().ok()).flatten().filter(|value| *value <= most)
    };
    Some(sign * (part(hours, 23)? * 3600 + part(minutes, 59)? * 60))
}

/// Opens the memory in the folder `SADDLEBAG_STORE`, for the agent `SADDLEBAG_AGENT` and the project `SADDLEBAG_PROJECT`.
/// `SADDLEBAG_ONLY_HOSTS_WRITE=1` says that only hosts of the lock protocol change files.
///
/// # Errors
///
/// The folder cannot be opened, or a variable is invalid.
pub fn open() -> Result<Guest<Folder>, String> {
    let variable = |name: &str| std::env::var(name).ok().filter(|text| !text.is_empty());
    let root = PathBuf::from(variable("SADDLEBAG_STORE").unwrap_or_else(|| STORE.into()));
    let only_hosts_write = match variable("SADDLEBAG_ONLY_HOSTS_WRITE").as_deref() {
        None | Some("0") => false,
        Some("1") => true,
        Some(other) => return Err(format!("SADDLEBAG_ONLY_HOSTS_WRITE is `{other}`, not 0 or 1")),
    };
    let folder = Folder::open(&root, only_hosts_write, random)
        .map_err(|error| format!("the folder {} of the store cannot be opened: {error}", root.display()))?;
    let options = Options {
        epoch: random() >> 1,
        project: variable("SADDLEBAG_PROJECT"),
        agent: Some(variable("SADDLEBAG_AGENT").unwrap_or_else(|| "main".into())),
        index_file: true,
        provenance: Provenance::Agent,
    };
    Guest::open(Executor::new(folder, random), options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offset_has_a_sign_hours_and_minutes() {
        assert_eq!(["+02:00", "-09:30", "+00:00"].map(parse_offset), [Some(7200), Some(-34200), Some(0)]);
        for text in ["", "2", "02:00", "+2:00", "+02", "+24:00", "+02:60", "+02:0x", "é02:00", "+-2:00"] {
            assert_eq!(parse_offset(text), None, "{text}");
        }
    }
}
