//! [`LocalPaths`]: paths of a machine in text, which notes do not keep.

/// Folders of the system. They are the same on every machine, and say nothing about the person.
const OF_THE_SYSTEM: [&str; 8] = ["/bin/", "/dev/", "/etc/", "/lib/", "/proc/", "/sbin/", "/sys/", "/usr/"];

/// Paths of this machine, with the folder of the project.
pub(super) struct LocalPaths {
    folder: Option<String>,
}

impl LocalPaths {
    pub(super) fn new(folder: Option<&str>) -> Self {
        let folder = folder.map(|folder| folder.replace('\\', "/").trim_end_matches('/').to_string());
        Self { folder: folder.filter(|folder| !folder.is_empty()) }
    }

    /// Returns the text with paths of the project made relative, and any other absolute path cut to its last part.
    pub(super) fn hidden_in(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        let mut before = None;
        while let Some(c) = rest.chars().next() {
            let is_start = before.is_none_or(|c: char| c.is_whitespace() || "\"'`([{=,;<>|".contains(c));
            let length = if is_start { path_length(rest) } else { 0 };
            if length > 0 {
                out.push_str(&self.hidden(&rest[..length]));
                before = rest[..length].chars().next_back();
                rest = &rest[length..];
            } else {
                out.push(c);
                before = Some(c);
                rest = &rest[c.len_utf8()..];
            }
        }
        out
    }

    fn hidden(&self, path: &str) -> String {
        let slashed = path.replace('\\', "/");
        if let Some(below) = self.folder.as_deref().and_then(|folder| slashed.strip_prefix(folder)) {
            match below.strip_prefix('/') {
                Some("") => return ".".into(),
                Some(below) => return below.into(),
                None if below.is_empty() => return ".".into(),
                None => {}
            }
        }
        let parts: Vec<&str> = slashed.split('/').filter(|part| !part.is_empty()).collect();
        let is_of_system = OF_THE_SYSTEM.iter().any(|folder| slashed.starts_with(folder));
        match parts.as_slice() {
            // `/` and a command such as `/review` are not places.
            [] | [_] => path.into(),
            _ if is_of_system => path.into(),
            [.., last] => format!("…/{last}"),
        }
    }
}

/// Returns the length of the absolute path that the text begins with; 0 if it begins with none.
fn path_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let is_drive = bytes.first().is_some_and(u8::is_ascii_alphabetic)
        && bytes.get(1) == Some(&b':')
        && matches!(bytes.get(2), Some(b'\\' | b'/'));
    // `//` begins a comment.
    let is_root = bytes.first() == Some(&b'/') && bytes.get(1).is_some_and(|next| *next != b'/');
    if !is_drive && !is_root {
        return 0;
    }
    let is_end = |(at, c): &(usize, char)| {
        let is_colon = *c == ':' && *at > 1;
        c.is_whitespace() || c.is_control() || "\"'`()[]{}<>|;,&*?".contains(*c) || is_colon
    };
    let end = text.char_indices().find(is_end).map_or(text.len(), |(at, _)| at);
    text[..end].trim_end_matches('.').len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_absolute_path_of_a_machine_is_left() {
        let paths = LocalPaths::new(Some("/home/ada/shop/"));
        for (text, hidden) in [
            ("cd /home/ada/shop && make", "cd . && make"),
            ("edit /home/ada/shop/src/tax.py:12.", "edit src/tax.py:12."),
            ("cp '/home/ada/other plan/x.txt' .", "cp '…/other plan/x.txt' ."),
            ("see /srv/data/plan.txt, then /tmp/x/y", "see …/plan.txt, then …/y"),
            ("C:\\Users\\ada\\plan.txt", "…/plan.txt"),
            ("--in=/home/ada/a.txt", "--in=…/a.txt"),
            ("/home/ada/shopping/list.txt", "…/list.txt"),
            ("/etc/hosts and /usr/bin/python3 stay", "/etc/hosts and /usr/bin/python3 stay"),
            ("and/or, /review, src/a.rs, https://x.org/a/b // c", "and/or, /review, src/a.rs, https://x.org/a/b // c"),
            ("", ""),
        ] {
            assert_eq!(paths.hidden_in(text), hidden, "{text}");
        }
        assert_eq!(LocalPaths::new(None).hidden_in("/home/ada/shop/a"), "…/a");
    }
}
