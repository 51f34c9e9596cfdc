//! Credentials of a profile, from the files that other programs for S3 share.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// Credentials of a profile.
pub(super) struct Credentials {
    pub(super) id: String,
    pub(super) secret: String,
    pub(super) token: Option<String>,
    pub(super) region: Option<String>,
}

/// Returns the credentials of the profile that `AWS_PROFILE` names, or of `default`; `None` if the environment has
/// credentials itself, or no file has the profile.
pub(super) fn of_profile() -> Option<Credentials> {
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    if set("AWS_ACCESS_KEY_ID").is_some() {
        return None;
    }
    let profile = set("AWS_PROFILE").unwrap_or_else(|| "default".into());
    let folder = std::env::home_dir()?.join(".aws");
    let file = |variable, name: &str| set(variable).map_or_else(|| folder.join(name), PathBuf::from);
    let read = |path| std::fs::read_to_string(path).unwrap_or_default();
    let mut values = section(&read(file("AWS_CONFIG_FILE", "config")), &format!("profile {profile}"));
    values.extend(section(&read(file("AWS_CONFIG_FILE", "config")), &profile));
    values.extend(section(&read(file("AWS_SHARED_CREDENTIALS_FILE", "credentials")), &profile));
    let mut take = |name: &str| values.remove(name);
    Some(Credentials {
        id: take("aws_access_key_id")?,
        secret: take("aws_secret_access_key")?,
        token: take("aws_session_token"),
        region: take("region"),
    })
}

/// Returns the values of a section of an INI file.
fn section(text: &str, name: &str) -> BTreeMap<String, String> {
    let mut values = BTreeMap::new();
    let mut is_in = false;
    for line in text.lines().map(str::trim) {
        if let Some(header) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            is_in = header.trim() == name;
        } else if let Some((name, value)) = line.split_once('=').filter(|_| is_in && !line.starts_with(['#', ';'])) {
            values.insert(name.trim().to_string(), value.trim().to_string());
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_values_of_the_section_are_read() {
        let text = "[default]\naws_access_key_id = A\n[work]\n# aws_access_key_id = no\naws_access_key_id=B = C\n[x]\nregion=r";
        assert_eq!(section(text, "work")["aws_access_key_id"], "B = C");
        assert_eq!(section(text, "default")["aws_access_key_id"], "A");
        assert!(section(text, "none").is_empty());
    }
}
