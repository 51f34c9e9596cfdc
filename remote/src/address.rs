//! [`Address`]: names a store that several machines reach.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use url::Url;

/// Address of a store: `s3://BUCKET/PREFIX` or `postgres://HOST/DATABASE?space=NAME`.
///
/// Shown, it contains no password, because an address with one is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// Folder of a bucket.
    Bucket {
        /// Name of the bucket.
        bucket: String,
        /// Folder in the bucket; empty for the whole bucket.
        prefix: String,
    },
    /// Space of a database. Each space is a store.
    Database {
        /// Address of the database, without the space.
        url: String,
        /// Name of the space.
        space: String,
    },
}

/// Space of an address that names none.
const DEFAULT_SPACE: &str = "main";

/// Parameter of the address of a database that names its space.
const SPACE: &str = "space";

/// Other parameters: those of a connection that do not contradict the rest of the address.
const PARAMETERS: [&str; 12] = [
    "channel_binding",
    "connect_timeout",
    "hostaddr",
    "keepalives",
    "keepalives_idle",
    "keepalives_interval",
    "keepalives_retries",
    "load_balance_hosts",
    "options",
    "sslmode",
    "target_session_attrs",
    "tcp_user_timeout",
];

fn shown_parameters() -> String {
    format!("`{SPACE}`, `{}`", PARAMETERS.join("`, `"))
}

/// Maximum length of the name of a space, in bytes.
const MAX_SPACE_BYTES: usize = 100;

/// Reason why a text is not an address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// The text is not a URL.
    #[error("the address is not a URL: {0}")]
    NotUrl(url::ParseError),
    /// The scheme is neither `s3` nor `postgres`.
    #[error("an address begins with s3:// or postgres://, not `{0}://`")]
    Scheme(String),
    /// The URL contains a password, which would be seen in the list of processes and in the history of the shell.
    #[error("an address contains no password")]
    Password,
    /// The bucket or the database is missing.
    #[error("the address names no {0}")]
    Missing(&'static str),
    /// The address of a database has a parameter that does not exist, or has it twice.
    #[error("the address has the parameter `{0}`, which is unknown or repeated; there are {known}", known = shown_parameters())]
    Parameter(String),
    /// A part of the address cannot be used.
    #[error("the address cannot have `{0}`")]
    Part(String),
}

impl Address {
    /// Returns the scheme: `s3` or `postgres`.
    pub fn scheme(&self) -> &'static str {
        match self {
            Self::Bucket { .. } => "s3",
            Self::Database { .. } => "postgres",
        }
    }
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let mut url = Url::parse(text).map_err(AddressError::NotUrl)?;
        let is_secret = |name: &str| name.eq_ignore_ascii_case("password");
        if url.password().is_some() || url.query_pairs().any(|(name, _)| is_secret(&name)) {
            return Err(AddressError::Password);
        }
        match url.scheme() {
            "s3" => bucket(text, &url),
            "postgres" | "postgresql" => {
                // After a mistake in the part before it, a password would be in the path.
                if url.path().contains('@') {
                    return Err(AddressError::Password);
                }
                if url.host_str().is_none_or(str::is_empty) {
                    return Err(AddressError::Missing("host"));
                }
                if url.path().trim_matches('/').is_empty() {
                    return Err(AddressError::Missing("database"));
                }
                let mut names = BTreeSet::new();
                let is_known = |name: &str| name == SPACE || PARAMETERS.contains(&name);
                if let Some((name, _)) =
                    url.query_pairs().find(|(name, _)| !is_known(name) || !names.insert(name.to_string()))
                {
                    return Err(AddressError::Parameter(name.escape_debug().to_string()));
                }
                let (spaces, others): (Vec<_>, Vec<_>) =
                    url.query_pairs().into_owned().partition(|(name, _)| name == SPACE);
                let space = spaces.into_iter().next().map_or(DEFAULT_SPACE.to_string(), |(_, space)| space);
                if space.is_empty() || space.len() > MAX_SPACE_BYTES || space.chars().any(char::is_control) {
                    return Err(AddressError::Part(format!("space={}", space.escape_debug())));
                }
                url.set_query(None);
                if !others.is_empty() {
                    url.query_pairs_mut().extend_pairs(others);
                }
                // The database takes a `+` as it is.
                let query = url.query().map(|query| query.replace('+', "%20"));
                url.set_query(query.as_deref());
                Ok(Self::Database { url: url.to_string(), space })
            }
            other => Err(AddressError::Scheme(other.to_string())),
        }
    }
}

/// Reads the address of a bucket. A URL has no `..` any more, so the text itself is looked at.
fn bucket(text: &str, url: &Url) -> Result<Address, AddressError> {
    if !url.username().is_empty() {
        return Err(AddressError::Part(format!("{}@", url.username())));
    }
    let (_, rest) = text.split_once("://").unwrap_or_default();
    let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
    let prefix = prefix.trim_end_matches('/');
    if bucket.is_empty() {
        return Err(AddressError::Missing("bucket"));
    }
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let segments = prefix.split('/').filter(|_| !prefix.is_empty());
    for part in segments.chain([bucket]) {
        if ["", ".", ".."].contains(&part) || !part.bytes().all(is_plain) {
            let shown = rest.split('?').next().unwrap_or_default();
            return Err(AddressError::Part(shown.escape_debug().to_string()));
        }
    }
    Ok(Address::Bucket { bucket: bucket.to_string(), prefix: prefix.to_string() })
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bucket { bucket, prefix } if prefix.is_empty() => write!(f, "s3://{bucket}"),
            Self::Bucket { bucket, prefix } => write!(f, "s3://{bucket}/{prefix}"),
            Self::Database { url, space } => {
                let separator = if url.contains('?') { '&' } else { '?' };
                write!(f, "{url}{separator}space={space}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_as_it_is_read() {
        for text in ["s3://notes", "s3://notes/team/a", "postgres://ann@db:5432/memory?sslmode=disable&space=team"] {
            let address: Address = text.parse().unwrap();
            assert_eq!(address.to_string(), text);
            assert_eq!(address.to_string().parse(), Ok(address));
        }
        let text = "postgres://db/memory?options=-c%20search_path%3Da%2Bb&space=main";
        assert_eq!(text.parse::<Address>().unwrap().to_string(), text);
        let address: Address = "postgres://db/memory".parse().unwrap();
        assert_eq!(address.to_string(), "postgres://db/memory?space=main");
    }

    #[test]
    fn an_address_with_a_password_is_refused_and_the_error_does_not_repeat_it() {
        for text in [
            "postgres://ann:hunter2@db/memory",
            "postgres://db/memory?password=hunter2",
            "s3://key:hunter2@b",
            "postgres://ann:1/hunter2@db/m",
        ] {
            let error = text.parse::<Address>().unwrap_err();
            assert_eq!(error, AddressError::Password, "{text}");
            assert!(!error.to_string().contains("hunter2"));
        }
    }

    #[test]
    fn a_mistyped_parameter_is_refused_by_name() {
        for (query, name) in
            [("spaec=team", "spaec"), ("sslmode=disable&Space=team", "Space"), ("space=a&space=b", "space")]
        {
            let error = format!("postgres://db/memory?{query}").parse::<Address>().unwrap_err();
            assert_eq!(error, AddressError::Parameter(name.into()), "{query}");
            assert!(error.to_string().contains("`sslmode`"), "{error}");
        }
    }

    #[test]
    fn what_names_no_store_is_refused() {
        for text in [
            "s3://",
            "s3:///x",
            "postgres://db",
            "postgres:///memory",
            "http://db/x",
            "s3://b/a//b",
            "s3://b/%2e%2e",
            "s3://b/x/..",
            "s3://b?x=1",
        ] {
            assert!(text.parse::<Address>().is_err(), "{text}");
        }
    }
}
