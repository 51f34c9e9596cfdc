//! Secrets in text, recognised by their form.
//!
//! The rules have the names of the rules of gitleaks (<https://github.com/gitleaks/gitleaks>, MIT) and match the same
//! forms: the prefix of a token, its characters, and their number. They are a table of parts, because regular
//! expressions would be a tenth of the component. Two rules use the context of a value: an assignment to a name such as
//! `api_key` (`generic-api-key`), and a password in an address (`url-password`).
//!
//! A missed secret is better than refused prose: a value of plain words, or one that says that it is an example, is
//! not reported.

use core::ops::Range;

use saddlebag_collections::{SlicePart, TextPart, order};

use crate::invisible::is_hidden;
use saddlebag_collections::prelude::*;

/// A secret in text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundSecret {
    /// Rule that matched.
    pub rule: &'static str,
    /// Byte range in the text.
    pub range: Range<usize>,
}

/// Character set of a part of a token.
#[derive(Clone, Copy)]
enum Set {
    /// ASCII letters and digits.
    Alnum,
    /// Letters, digits and `_`.
    Word,
    /// Letters, digits, `_` and `-`.
    WordDash,
    /// Upper-case letters and digits.
    Upper,
    /// Digits.
    Digit,
    /// Hexadecimal digits in lower case.
    Hex,
    /// Characters of Base64, padding included.
    Base64,
    /// Characters of Base64 in a URL.
    Query,
}

/// A part of a token.
#[derive(Clone, Copy)]
enum Part {
    /// Exactly this text.
    Is(&'static str),
    /// Characters of a set, from a minimum to a maximum number; as many as possible.
    Of(Set, usize, usize),
}

use Part::{Is, Of};
use Set::{Alnum, Base64, Digit, Hex, Query, Upper, Word, WordDash};

/// A rule: name, and parts of the token. The first part is fixed text.
type Shape = (&'static str, &'static [Part]);

const SHAPES: &[Shape] = &[
    ("1password-service-account-token", &[Is("ops_eyJ"), Of(Base64, 250, 1_000)]),
    ("age-secret-key", &[Is("AGE-SECRET-KEY-1"), Of(Upper, 58, 58)]),
    ("airtable-personal-access-token", &[Is("pat"), Of(Alnum, 14, 14), Is("."), Of(Hex, 64, 64)]),
    ("anthropic-admin-api-key", &[Is("sk-ant-admin01-"), Of(WordDash, 80, 120)]),
    ("anthropic-api-key", &[Is("sk-ant-api"), Of(Digit, 2, 2), Is("-"), Of(WordDash, 80, 120)]),
    ("anthropic-oauth-token", &[Is("sk-ant-oat"), Of(Digit, 2, 2), Is("-"), Of(WordDash, 80, 120)]),
    ("aws-access-token", &[Is("AKIA"), Of(Upper, 16, 16)]),
    ("aws-access-token", &[Is("ASIA"), Of(Upper, 16, 16)]),
    ("aws-access-token", &[Is("ABIA"), Of(Upper, 16, 16)]),
    ("aws-access-token", &[Is("ACCA"), Of(Upper, 16, 16)]),
    ("azure-functions-key", &[Is("?code="), Of(Query, 50, 128)]),
    ("azure-functions-key", &[Is("&code="), Of(Query, 50, 128)]),
    ("azure-sas-signature", &[Is("&sig="), Of(Query, 43, 128)]),
    ("azure-sas-signature", &[Is("?sig="), Of(Query, 43, 128)]),
    ("azure-shared-access-key", &[Is("SharedAccessKey="), Of(Base64, 43, 128)]),
    ("azure-storage-key", &[Is("AccountKey="), Of(Base64, 86, 88)]),
    ("cursor-api-key", &[Is("key_"), Of(Hex, 64, 64)]),
    ("databricks-api-token", &[Is("dapi"), Of(Hex, 32, 32)]),
    ("digitalocean-access-token", &[Is("doo_v1_"), Of(Hex, 64, 64)]),
    ("digitalocean-pat", &[Is("dop_v1_"), Of(Hex, 64, 64)]),
    ("digitalocean-refresh-token", &[Is("dor_v1_"), Of(Hex, 64, 64)]),
    ("discord-webhook-url", &[Is("discord.com/api/webhooks/"), Of(Digit, 17, 20), Is("/"), Of(WordDash, 60, 80)]),
    (
        "discord-webhook-url",
        &[Is("discord.com/api/v"), Of(Digit, 1, 2), Is("/webhooks/"), Of(Digit, 17, 20), Is("/"), Of(WordDash, 60, 80)],
    ),
    ("discord-webhook-url", &[Is("discordapp.com/api/webhooks/"), Of(Digit, 17, 20), Is("/"), Of(WordDash, 60, 80)]),
    ("docker-pat", &[Is("dckr_pat_"), Of(WordDash, 27, 36)]),
    ("doppler-api-token", &[Is("dp.pt."), Of(Alnum, 43, 43)]),
    ("figma-pat", &[Is("figd_"), Of(WordDash, 40, 60)]),
    ("flyio-access-token", &[Is("fm2_"), Of(Base64, 100, 1_000)]),
    ("flyio-access-token", &[Is("fo1_"), Of(WordDash, 43, 43)]),
    ("gcp-api-key", &[Is("AIza"), Of(WordDash, 35, 35)]),
    ("github-app-token", &[Is("ghs_"), Of(Alnum, 36, 255)]),
    ("github-app-token", &[Is("ghu_"), Of(Alnum, 36, 255)]),
    ("github-fine-grained-pat", &[Is("github_pat_"), Of(Word, 82, 255)]),
    ("github-oauth", &[Is("gho_"), Of(Alnum, 36, 255)]),
    ("github-pat", &[Is("ghp_"), Of(Alnum, 36, 255)]),
    ("github-refresh-token", &[Is("ghr_"), Of(Alnum, 36, 255)]),
    ("gitlab-deploy-token", &[Is("gldt-"), Of(WordDash, 20, 255)]),
    ("gitlab-kubernetes-agent-token", &[Is("glagent-"), Of(WordDash, 50, 255)]),
    ("gitlab-pat", &[Is("glpat-"), Of(WordDash, 20, 255)]),
    ("gitlab-ptt", &[Is("glptt-"), Of(Hex, 40, 40)]),
    ("gitlab-runner-authentication-token", &[Is("glrt-"), Of(WordDash, 20, 255)]),
    ("google-oauth-client-secret", &[Is("GOCSPX-"), Of(WordDash, 28, 40)]),
    ("grafana-service-account-token", &[Is("glsa_"), Of(Alnum, 32, 32), Is("_"), Of(Alnum, 8, 8)]),
    ("groq-api-key", &[Is("gsk_"), Of(Alnum, 52, 52)]),
    ("huggingface-access-token", &[Is("hf_"), Of(Alnum, 34, 40)]),
    ("heroku-api-key-v2", &[Is("HRKU-AA"), Of(WordDash, 58, 58)]),
    (
        "jwt",
        &[Is("eyJ"), Of(WordDash, 17, 4_096), Is(".eyJ"), Of(WordDash, 17, 16_384), Is("."), Of(WordDash, 10, 4_096)],
    ),
    ("linear-api-key", &[Is("lin_api_"), Of(Alnum, 40, 40)]),
    ("mailgun-private-api-token", &[Is("key-"), Of(Hex, 32, 32)]),
    ("netlify-pat", &[Is("nfp_"), Of(Alnum, 36, 40)]),
    ("new-relic-user-api-key", &[Is("NRAK-"), Of(Upper, 27, 27)]),
    ("notion-api-token", &[Is("ntn_"), Of(Alnum, 40, 60)]),
    ("notion-api-token", &[Is("secret_"), Of(Alnum, 43, 43)]),
    ("npm-access-token", &[Is("npm_"), Of(Alnum, 36, 36)]),
    ("openai-api-key", &[Is("sk-proj-"), Of(WordDash, 40, 255)]),
    ("openai-api-key", &[Is("sk-svcacct-"), Of(WordDash, 40, 255)]),
    ("openai-api-key", &[Is("sk-admin-"), Of(WordDash, 40, 255)]),
    ("openai-api-key", &[Is("sk-"), Of(Alnum, 48, 48)]),
    ("openrouter-api-key", &[Is("sk-or-v1-"), Of(Hex, 64, 64)]),
    ("perplexity-api-key", &[Is("pplx-"), Of(Alnum, 48, 48)]),
    ("planetscale-api-token", &[Is("pscale_tkn_"), Of(WordDash, 32, 64)]),
    ("planetscale-password", &[Is("pscale_pw_"), Of(WordDash, 32, 64)]),
    ("postman-api-token", &[Is("PMAK-"), Of(Hex, 24, 24), Is("-"), Of(Hex, 34, 34)]),
    ("pulumi-api-token", &[Is("pul-"), Of(Hex, 40, 40)]),
    ("pypi-upload-token", &[Is("pypi-AgEIcHlwaS5vcmc"), Of(WordDash, 50, 1_000)]),
    ("replicate-api-token", &[Is("r8_"), Of(Alnum, 37, 40)]),
    ("rubygems-api-token", &[Is("rubygems_"), Of(Hex, 48, 48)]),
    ("sendgrid-api-token", &[Is("SG."), Of(WordDash, 22, 22), Is("."), Of(WordDash, 43, 43)]),
    ("sentry-org-token", &[Is("sntrys_eyJ"), Of(Base64, 80, 500)]),
    ("sentry-user-token", &[Is("sntryu_"), Of(Hex, 64, 64)]),
    ("shopify-access-token", &[Is("shpat_"), Of(Alnum, 32, 32)]),
    ("shopify-shared-secret", &[Is("shpss_"), Of(Alnum, 32, 32)]),
    ("slack-app-token", &[Is("xapp-"), Of(Digit, 1, 1), Is("-"), Of(WordDash, 40, 200)]),
    ("slack-bot-token", &[Is("xoxb-"), Of(Digit, 10, 13), Is("-"), Of(WordDash, 20, 120)]),
    ("slack-user-token", &[Is("xoxp-"), Of(Digit, 10, 13), Is("-"), Of(WordDash, 30, 150)]),
    ("slack-webhook-url", &[Is("hooks.slack.com/services/"), Of(Base64, 40, 60)]),
    ("slack-webhook-url", &[Is("hooks.slack.com/triggers/"), Of(Base64, 40, 80)]),
    ("slack-webhook-url", &[Is("hooks.slack.com/workflows/"), Of(Base64, 40, 80)]),
    ("square-access-token", &[Is("EAAA"), Of(WordDash, 60, 60)]),
    ("square-access-token", &[Is("sq0atp-"), Of(WordDash, 22, 22)]),
    ("stripe-access-token", &[Is("sk_live_"), Of(Alnum, 10, 99)]),
    ("stripe-access-token", &[Is("sk_test_"), Of(Alnum, 10, 99)]),
    ("stripe-access-token", &[Is("rk_live_"), Of(Alnum, 10, 99)]),
    ("stripe-access-token", &[Is("rk_test_"), Of(Alnum, 10, 99)]),
    ("stripe-webhook-secret", &[Is("whsec_"), Of(Base64, 32, 88)]),
    ("supabase-access-token", &[Is("sbp_"), Of(Hex, 40, 40)]),
    ("supabase-secret-key", &[Is("sb_secret_"), Of(WordDash, 30, 60)]),
    ("tailscale-auth-key", &[Is("tskey-auth-"), Of(Alnum, 8, 24), Is("-"), Of(Alnum, 20, 40)]),
    ("twilio-api-key", &[Is("SK"), Of(Hex, 32, 32)]),
    ("vault-service-token", &[Is("hvs."), Of(WordDash, 90, 120)]),
    ("xai-api-key", &[Is("xai-"), Of(Alnum, 80, 80)]),
];

/// A rule for a token that is recognised by text in its middle: name, the set and the number of the characters before
/// that text, and the parts from that text on.
type MiddleShape = (&'static str, Set, usize, usize, &'static [Part]);

const MIDDLE_SHAPES: &[MiddleShape] = &[
    ("azure-ad-client-secret", Word, 4, 4, &[Is("Q~"), Of(WordDash, 31, 34)]),
    ("mailchimp-api-key", Hex, 32, 32, &[Is("-us"), Of(Digit, 1, 2)]),
    ("hashicorp-tf-api-token", Alnum, 14, 14, &[Is(".atlasv1."), Of(WordDash, 60, 70)]),
    ("mailgun-signing-key", Hex, 32, 32, &[Is("-"), Of(Hex, 8, 8), Is("-"), Of(Hex, 8, 8)]),
    ("telegram-bot-api-token", Digit, 8, 16, &[Is(":A"), Of(WordDash, 34, 34)]),
];

/// Last words of a name to which a secret is assigned.
const SECRET_NAMES: [&str; 19] = [
    "password",
    "passwd",
    "pwd",
    "passphrase",
    "secret",
    "token",
    "apikey",
    "api_key",
    "accesskey",
    "access_key",
    "account_key",
    "storage_key",
    "secret_key",
    "private_key",
    "signing_key",
    "encryption_key",
    "auth_key",
    "credential",
    "authorization",
];
/// Names whose value may be shorter and have any character.
const PASSWORD_NAMES: [&str; 4] = ["password", "passwd", "pwd", "passphrase"];
/// Parts of a value that is a placeholder or an example.
const PLACEHOLDERS: [&str; 12] = [
    "example",
    "placeholder",
    "changeme",
    "change-me",
    "your",
    "dummy",
    "redacted",
    "xxxx",
    "****",
    "....",
    "insert",
    "sample",
];

/// Returns the secrets in text, in order and without overlaps. Hidden characters and wide forms of letters do not hide a
/// secret.
pub fn secrets_in(text: &str) -> Vec<FoundSecret> {
    if !text.chars().any(|c| folded(c) != Some(c)) {
        return secrets_in_plain(text);
    }
    let mut plain = String::with_capacity(text.len());
    // Places where the distance to the original text changes: in the plain text, and in the original.
    let mut places: Vec<(usize, usize)> = Vec::new();
    for (at, c) in text.char_indices() {
        match folded(c) {
            Some(same) if same == c => {}
            other => {
                places.push((plain.len(), at));
                plain.extend(other);
                places.push((plain.len(), at + c.len_utf8()));
                continue;
            }
        }
        plain.push(c);
    }
    let original = |at: usize, is_end: bool| {
        let is_before = |(place, _): &(usize, usize)| if is_end { *place < at } else { *place <= at };
        let (place, start) = places.iter().take_while(|place| is_before(place)).last().copied().unwrap_or((0, 0));
        start + (at - place)
    };
    let mut found = secrets_in_plain(&plain);
    for FoundSecret { range, .. } in &mut found {
        let end = text.ceil_char_boundary(original(range.end, true));
        *range = text.floor_char_boundary(original(range.start, false))..end;
    }
    found
}

/// Returns a character as a reader takes it; `None` for one that nobody sees.
fn folded(c: char) -> Option<char> {
    match c {
        '\r' => Some(c),
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0),
        c => (!is_hidden(c)).then_some(c),
    }
}

fn secrets_in_plain(text: &str) -> Vec<FoundSecret> {
    let mut found = Vec::new();
    for (rule, parts) in SHAPES {
        let Some((Is(prefix), _)) = parts.split_first() else { continue };
        for (start, _) in text.match_indices(prefix) {
            if is_joined(text, start, parts) {
                continue;
            }
            if let Some(end) = token_end(text, start, start, parts) {
                found.push(FoundSecret { rule, range: start..end });
            }
        }
    }
    for (rule, set, least, most, parts) in MIDDLE_SHAPES {
        let Some((Is(middle), _)) = parts.split_first() else { continue };
        for (at, _) in text.match_indices(middle) {
            let before = text.as_bytes().part(..at).iter().rev().take(most + 1);
            let letters = before.take_while(|byte| set.has(**byte)).count();
            // One more character of the set would belong to a longer word, and so does a letter, except before a number: `bot1234`.
            let start = at - letters;
            let before = start.checked_sub(1).and_then(|before| text.as_bytes().get(before));
            let is_word = !matches!(set, Digit) && before.is_some_and(u8::is_ascii_alphanumeric);
            let is_in_bounds = !is_word && (*least..=*most).contains(&letters);
            if let Some(end) = token_end(text, start, at, parts).filter(|_| is_in_bounds) {
                found.push(FoundSecret { rule, range: start..end });
            }
        }
    }
    private_keys(text, &mut found);
    assigned(text, &mut found);
    url_passwords(text, &mut found);
    curl_passwords(text, &mut found);
    order::sort_slice(&mut found, |a, b| {
        (a.range.start, core::cmp::Reverse(a.range.end)).cmp(&(b.range.start, core::cmp::Reverse(b.range.end)))
    });
    let mut last = 0;
    found.retain(|secret| {
        let is_apart = secret.range.start >= last;
        if is_apart {
            last = secret.range.end;
        }
        is_apart
    });
    found
}

/// Returns the text with its secrets replaced by the names of their rules.
pub fn redact(text: &str, found: &[FoundSecret]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for FoundSecret { rule, range } in found {
        debug_assert!(from <= range.start, "a broken invariant: secrets that overlap or are not in order");
        out.push_str(text.part(from..range.start));
        out.push_str("[redacted: ");
        out.push_str(rule);
        out.push(']');
        from = range.end;
    }
    out.push_str(text.part(from..));
    out
}

/// Returns the beginning of the text, at most `max` bytes. It ends before a secret that the cut would divide, because a
/// search for secrets does not find a part of one.
pub fn head_without_divided_secret(text: &str, max: usize) -> &str {
    /// More bytes than any secret has.
    const REACH: usize = 32 << 10;
    let cut = saddlebag_markdown::head(text, max);
    if cut.len() == text.len() {
        return text;
    }
    let start = text.ceil_char_boundary(cut.len().saturating_sub(REACH));
    let near = saddlebag_markdown::head(text.part(start..), cut.len() - start + REACH);
    let divided = secrets_in(near).into_iter().map(|secret| start + secret.range.start..start + secret.range.end);
    let divided = divided.into_iter().find(|range| range.start < cut.len() && cut.len() < range.end);
    divided.map_or(cut, |range| text.part(..range.start))
}

/// Returns true if the character before a token makes it a part of a longer word.
fn is_joined(text: &str, start: usize, parts: &[Part]) -> bool {
    let bytes = text.as_bytes();
    let before = start.checked_sub(1).and_then(|before| bytes.get(before));
    before.zip(bytes.get(start)).is_some_and(|(before, first)| joins(*before, *first, parts, is_distinct(parts)))
}

/// Returns the end of a token, if it is complete and random enough. `start` is where the token begins, `at` is where its
/// parts begin.
fn token_end(text: &str, start: usize, at: usize, parts: &[Part]) -> Option<usize> {
    let bytes = text.as_bytes();
    let is_distinct = is_distinct(parts);
    let (mut at, first) = (at, at);
    let mut last = None;
    for part in parts {
        match part {
            Is(text) => {
                let has_it = bytes.get(at..at + text.len()) == Some(text.as_bytes());
                at += if has_it { text.len() } else { return None };
            }
            Of(set, least, most) => {
                let run = run(bytes, at, *set, *most);
                if run < *least {
                    return None;
                }
                at += run;
                last = Some(*set);
            }
        }
    }
    // More characters of the set make a longer word, which is a token only if its prefix says so.
    if let Some(set) = last.filter(|set| bytes.get(at).is_some_and(|byte| set.has(*byte))) {
        at += if is_distinct { run(bytes, at, set, usize::MAX) } else { return None };
    }
    let prefix = match parts.first() {
        Some(Is(prefix)) if start == first => prefix.len(),
        _ => 0,
    };
    let token = text.get(start + prefix..at)?;
    (!stands_for_another(token) && entropy(token) >= 2 * BIT + BIT / 2).then_some(at)
}

/// Returns true if the fixed parts of a token are long enough and not a word, so that a letter before it or after it
/// does not make it another word: `ghp_` is one, `sk-` and `AKIA` are not.
fn is_distinct(parts: &[Part]) -> bool {
    let texts = || parts.iter().filter_map(|part| if let Is(text) = part { Some(*text) } else { None });
    let is_word = texts().all(|text| text.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    let ends_like_a_name = texts().next().is_some_and(|text| text.ends_with('_'));
    !is_word && (ends_like_a_name || texts().map(str::len).sum::<usize>() >= 5)
}

/// Returns true if the character before a token makes it a part of a longer word.
fn joins(before: u8, first: u8, parts: &[Part], is_distinct: bool) -> bool {
    let is_key_of_something = before == b'-' && matches!(parts.first(), Some(Is("key-")));
    // In `keyAKIA…` the capital begins a new word.
    let is_of_word = before.is_ascii_alphanumeric() && !(before.is_ascii_lowercase() && first.is_ascii_uppercase());
    is_key_of_something || (!is_distinct && is_of_word && (first.is_ascii_alphanumeric() || first == b'_'))
}

fn run(bytes: &[u8], at: usize, set: Set, most: usize) -> usize {
    bytes.part(at..).iter().take(most).take_while(|byte| set.has(**byte)).count()
}

impl Set {
    fn has(self, byte: u8) -> bool {
        let is_alnum = byte.is_ascii_alphanumeric();
        match self {
            Alnum => is_alnum,
            Word => is_alnum || byte == b'_',
            WordDash => is_alnum || matches!(byte, b'_' | b'-'),
            Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Digit => byte.is_ascii_digit(),
            Hex => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
            Base64 => is_alnum || matches!(byte, b'+' | b'/' | b'='),
            Query => is_alnum || matches!(byte, b'%' | b'+' | b'/' | b'=' | b'_' | b'-'),
        }
    }
}

/// Finds keys in PEM. The head alone does not count.
fn private_keys(text: &str, found: &mut Vec<FoundSecret>) {
    const HEAD: &str = "-----BEGIN ";
    const LEAST: usize = 64;
    const MOST: usize = 16_384;
    for (start, _) in text.match_indices(HEAD) {
        let rest = text.part(start + HEAD.len()..);
        let Some((kind, after)) = rest.split_once("-----") else { continue };
        if kind.len() > 100 || !(kind.ends_with("PRIVATE KEY") || kind.ends_with("PRIVATE KEY BLOCK")) {
            continue;
        }
        let after = saddlebag_markdown::head(after, MOST);
        let end = after.find("-----END").unwrap_or(after.len());
        // In a string literal, the line ends are written as `\n`.
        let body = after.part(..end);
        let letters = body.bytes().filter(|&byte| Base64.has(byte)).count();
        if letters >= LEAST {
            let body_start = start + HEAD.len() + kind.len() + "-----".len();
            let close = after.get(end + "-----END".len()..).and_then(|close| close.find("-----"));
            let stop = close.map_or(end, |close| end + "-----END".len() + close + "-----".len());
            found.push(FoundSecret { rule: "private-key", range: start..body_start + stop });
        }
    }
}

/// Finds values that are assigned to a name of a secret.
fn assigned(text: &str, found: &mut Vec<FoundSecret>) {
    let bytes = text.as_bytes();
    for (at, _) in text.match_indices(['=', ':']) {
        let Some(name) = name_before(text, at) else { continue };
        value_at(text, &name, at + 1, found);
    }
    // An option of a command, such as `--token VALUE`.
    for (at, _) in text.match_indices("--") {
        let is_of_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let end = at + bytes.part(at..).iter().take(40).take_while(|byte| is_of_name(byte)).count();
        if bytes.get(end) == Some(&b' ')
            && let Some(name) = name_before(text, end)
        {
            value_at(text, &name, end + 1, found);
        }
    }
}

/// Finds a value that begins at a place after the name of a secret.
fn value_at(text: &str, name: &str, mut start: usize, found: &mut Vec<FoundSecret>) {
    let (bytes, at) = (text.as_bytes(), start - 1);
    let is_between = |byte: &u8| matches!(byte, b' ' | b'\t' | b'"' | b'\'' | b'`' | b'*' | b'=' | b'>');
    while start < at + 8 && bytes.get(start).is_some_and(is_between) {
        start += 1;
    }
    for scheme in ["Bearer ", "bearer ", "Basic ", "token "] {
        if text.get(start..).is_some_and(|rest| rest.starts_with(scheme)) {
            start += scheme.len();
        }
    }
    let is_password = PASSWORD_NAMES.iter().any(|known| name.ends_with(known));
    let is_of_value = |byte: &u8| match is_password {
        true => byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\'' | b'`'),
        false => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'=' | b'+' | b'/' | b'~' | b'-'),
    };
    let length = bytes.part(start..).iter().take(512).take_while(|byte| is_of_value(byte)).count();
    let Some(value) = text.get(start..start + length) else { return };
    let value = value.trim_end_matches(['.', ',', ';', ')', ']', '}', '*']);
    let is_secret = if is_password { is_password_like(value) } else { is_token_like(value) };
    if is_secret {
        found.push(FoundSecret { rule: "generic-api-key", range: start..start + value.len() });
    }
}

/// Returns the name before an assignment in lower case, with `_` for `-`, if it is the name of a secret.
fn name_before(text: &str, at: usize) -> Option<String> {
    let before = text.get(..at)?.trim_end_matches([' ', '\t', '"', '\'', '`', '*', ':', ')', ']']);
    let is_of_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b' ');
    let length = before.as_bytes().iter().rev().take(40).take_while(|byte| is_of_name(byte)).count();
    let name = before.get(before.len() - length..)?.to_ascii_lowercase().replace(['-', ' '], "_");
    SECRET_NAMES.iter().any(|known| name.ends_with(known)).then_some(name)
}

fn is_token_like(value: &str) -> bool {
    let has = |test: fn(&u8) -> bool| value.as_bytes().iter().any(test);
    value.len() >= 16
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_alphabetic)
        && !value.starts_with(['/', '.', '~', '-'])
        && !is_written_in_words(value)
        && !stands_for_another(value)
        && entropy(value) >= if is_key_in_hex(value) { 3 * BIT } else { 3 * BIT + BIT / 2 }
}

/// Returns true for a key of at least 128 bits in hexadecimal digits, which have less randomness each.
fn is_key_in_hex(value: &str) -> bool {
    value.len() >= 32 && value.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn is_password_like(value: &str) -> bool {
    let has = |test: fn(&u8) -> bool| usize::from(value.as_bytes().iter().any(test));
    let kinds = has(u8::is_ascii_lowercase)
        + has(u8::is_ascii_uppercase)
        + has(u8::is_ascii_digit)
        + has(u8::is_ascii_punctuation);
    value.len() >= 10
        && kinds >= 3
        && !value.starts_with(['$', '%', '<', '{', '(', '[', '/', '~', '.'])
        && !value.contains(['(', '{', '<', '['])
        && !value.contains("://")
        && !is_written_in_words(value)
        && !stands_for_another(value)
        && entropy(value) >= 3 * BIT
}

/// Finds passwords in `scheme://user:password@host`.
fn url_passwords(text: &str, found: &mut Vec<FoundSecret>) {
    for (at, mark) in text.match_indices("://") {
        let start = at + mark.len();
        let Some(rest) = text.get(start..) else { continue };
        let end = rest.find(|c: char| c.is_whitespace() || matches!(c, '/' | '"' | '\'' | '`' | '<' | '>'));
        let authority = rest.part(..end.unwrap_or(rest.len()));
        let Some((user, password)) = authority.rsplit_once('@').and_then(|(login, _)| login.split_once(':')) else {
            continue;
        };
        let has_scheme = at > 0 && text.as_bytes().get(at - 1).is_some_and(u8::is_ascii_alphanumeric);
        if has_scheme && is_random_password(password) {
            let from = start + user.len() + 1;
            found.push(FoundSecret { rule: "url-password", range: from..from + password.len() });
        }
    }
}

/// Finds passwords in `curl -u user:password`.
fn curl_passwords(text: &str, found: &mut Vec<FoundSecret>) {
    for (at, option) in text.match_indices(" -u").chain(text.match_indices(" --user")) {
        let line = text.part(..at).rsplit('\n').next().unwrap_or_default();
        let after = at + option.len();
        let value = text.part(after..).trim_start_matches([' ', '=', '"', '\'']);
        let start = text.len() - value.len();
        let end = value.find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'')).unwrap_or(value.len());
        let Some((user, password)) = value.part(..end).split_once(':') else { continue };
        if line.contains("curl") && !password.starts_with('/') && is_random_password(password) {
            let from = start + user.len() + 1;
            found.push(FoundSecret { rule: "curl-auth-user", range: from..from + password.len() });
        }
    }
}

/// Returns true for a password that is neither a word, nor a variable, nor an example.
fn is_random_password(password: &str) -> bool {
    let is_random = password.bytes().any(|byte| byte.is_ascii_digit())
        && password.bytes().any(|byte| byte.is_ascii_alphabetic())
        && entropy(password) >= 2 * BIT + BIT / 2;
    let is_variable = password.starts_with(['$', '{', '%', '<', '*']) || password.contains("${");
    password.len() >= 8 && is_random && !is_variable && !stands_for_another(password)
}

fn stands_for_another(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    PLACEHOLDERS.iter().any(|known| lower.contains(known)) || is_counted_up(&lower)
}

/// Returns true for a value that is typed in the order of the digits and letters, such as `1234567890abcdef`. A random value
/// may have a short row of these.
fn is_counted_up(value: &str) -> bool {
    let bytes = value.as_bytes();
    let follows = |pair: &&[u8]| match pair {
        [b'9', next] => matches!(next, b'0' | b'a'),
        [one, next] => *next == one + 1,
        _ => false,
    };
    bytes.windows(2).filter(follows).count() * 3 > bytes.len() * 2
}

/// Returns true if every part between signs is a word, a number, or a word with a number.
fn is_written_in_words(value: &str) -> bool {
    let mut parts = value.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty());
    parts.all(|part| {
        let digits = part.trim_start_matches(|c: char| c.is_alphabetic());
        let word = part.part(..part.len() - digits.len());
        let is_number =
            digits.chars().all(|c| c.is_ascii_digit()) && digits.len() <= if word.is_empty() { 10 } else { 4 };
        let is_one_case = word.chars().skip(1).all(char::is_lowercase) || word.chars().all(char::is_uppercase);
        is_number && is_one_case && word.len() <= 16
    })
}

/// One bit, in the unit of [`entropy`].
const BIT: u64 = 256;

/// Returns the entropy of the text's bytes (Shannon), in [`BIT`]s per character.
fn entropy(text: &str) -> u64 {
    let mut counts = [0_u32; 256];
    for byte in text.bytes() {
        if let Some(count) = counts.get_mut(usize::from(byte)) {
            *count += 1;
        }
    }
    let length = text.len() as u64;
    if length == 0 {
        return 0;
    }
    let spent: u64 = counts.iter().map(|&count| u64::from(count) * log2(u64::from(count))).sum();
    log2(length).saturating_sub(spent / length)
}

/// Returns the logarithm to the base 2, in parts of [`BIT`]; 0 for 0.
fn log2(number: u64) -> u64 {
    let Some(whole) = number.checked_ilog2() else { return 0 };
    // Lies in [1, 2), with 30 bits after the point.
    let mut rest = if whole >= 30 { number >> (whole - 30) } else { number << (30 - whole) };
    let mut bits = 0;
    for _ in 0..8 {
        rest = (rest * rest) >> 30;
        bits <<= 1;
        if rest >= 2 << 30 {
            rest >>= 1;
            bits |= 1;
        }
    }
    u64::from(whole) * BIT + bits
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Generates text that looks random and is the same each time. Tokens are made here, so that no scanner finds one
    /// in this file.
    fn random(set: Set, length: usize, seed: u64) -> String {
        let letters: Vec<char> = (33_u8..127).filter(|&byte| set.has(byte) && byte != b'=').map(char::from).collect();
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            letters[(state % letters.len() as u64) as usize]
        };
        (0..length).map(|_| next()).collect()
    }

    fn token(parts: &[Part], seed: u64) -> String {
        let part = |(place, part): (usize, &Part)| match part {
            Is(text) => (*text).to_string(),
            Of(set, least, _) => random(*set, *least, seed * 31 + place as u64),
        };
        parts.iter().enumerate().map(part).collect()
    }

    fn rules(text: &str) -> Vec<&'static str> {
        secrets_in(text).into_iter().map(|secret| secret.rule).collect()
    }

    #[test]
    fn every_rule_knows_its_tokens_in_any_surroundings() {
        for (rule, parts) in SHAPES {
            for seed in 1..6 {
                let token = token(parts, seed);
                if stands_for_another(&token) {
                    continue;
                }
                for text in [
                    token.clone(),
                    format!("the key is {token}."),
                    format!("KEY=\"{token}\"\nnext"),
                    format!("({token}) 記憶"),
                    format!("`{token}`"),
                ] {
                    let found = secrets_in(&text);
                    assert_eq!(found.len(), 1, "{rule}: {text}");
                    assert_eq!(text.get(found[0].range.clone()), Some(token.as_str()), "{rule}: {text}");
                    let redacted = redact(&text, &found);
                    assert!(!redacted.contains(&token) && redacted.contains(&format!("[redacted: {}]", found[0].rule)));
                    assert_eq!(secrets_in(&redacted), []);
                }
                // A name before it does not hide it. Neither does a letter beside a prefix that words do not have.
                let texts = [format!("KEY_{token}"), format!("KEY_{token} x"), format!("é{token}é")];
                let beside = [format!("x{token}"), format!("{token}x"), format!("7{token}x")];
                for text in texts.iter().chain(beside.iter().filter(|_| is_distinct(parts))) {
                    let found = secrets_in(text);
                    let has_it =
                        |found: &FoundSecret| text.get(found.range.clone()).is_some_and(|is| is.contains(&token));
                    assert!(found.iter().any(has_it), "{rule}: {text}: {found:?}");
                }
                // One that is cut short is not a token.
                let cut: String = token.chars().take(token.len() / 2).collect();
                assert_eq!(rules(&cut), Vec::<&str>::new(), "{rule}: {cut}");
            }
        }
    }

    #[test]
    fn hidden_characters_and_wide_letters_hide_no_token() {
        let token = "ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8";
        let (one, two) = token.split_at(9);
        let wide = format!("ｇｈｐ＿{}", token.part(4..));
        for (before, hidden) in [
            ("", format!("{one}\u{200b}{two}")),
            ("é \u{200b}", format!("{one}\u{ad}{two}")),
            ("\u{202e}x ", format!("g\u{2060}h\u{200b}\u{200b}p_{}", token.part(4..))),
            ("ａ ", wide),
        ] {
            let text = format!("{before}{hidden}. é\u{200b}");
            let found = secrets_in(&text);
            assert_eq!(found.len(), 1, "{text}");
            assert_eq!(text.get(found[0].range.clone()), Some(hidden.as_str()), "{text}");
            assert_eq!(secrets_in(&redact(&text, &found)), []);
        }
    }

    #[test]
    fn a_password_of_curl_is_found_and_a_variable_is_not() {
        let password = "kouC2WsUKJ5joGTI6ncBQ9rC";
        for text in [
            format!("curl -u admin:{password} https://x.com/api"),
            format!("curl -sS --user \"admin:{password}\" x"),
            format!("cd x && curl --user=admin:{password} x"),
            format!("curl -uadmin:{password}"),
        ] {
            let found = secrets_in(&text);
            assert_eq!((found.len(), found[0].rule), (1, "curl-auth-user"), "{text}");
            assert_eq!(text.get(found[0].range.clone()), Some(password), "{text}");
        }
        for text in ["curl -u admin:$PASSWORD1 x", "sort -u a:b2c3d4e5f6g7h8", "curl -u https://x.com:8080/a1b2c3d4 x"]
        {
            assert_eq!(rules(text), Vec::<&str>::new(), "{text}");
        }
    }

    #[test]
    fn tokens_with_a_known_middle_are_found_whole() {
        for (rule, set, least, most, parts) in MIDDLE_SHAPES {
            for (seed, length) in (1..6).flat_map(|seed| [(seed, *least), (seed, *most)]) {
                let token = random(*set, length, seed + 99) + &token(parts, seed);
                for text in
                    [token.clone(), format!("the key is {token}."), format!("KEY=\"{token}\""), format!("({token})")]
                {
                    let found = secrets_in(&text);
                    assert!(found.iter().any(|found| text[found.range.clone()] == token), "{rule}: {text}: {found:?}");
                }
            }
        }
        assert_eq!(rules("at 12:Ab and 2026-05-25T12:Always"), Vec::<&str>::new());
    }

    #[test]
    fn a_number_before_the_middle_of_a_token_may_follow_a_letter() {
        for seed in 1..20 {
            let token = random(Digit, 10, seed) + ":A" + &random(WordDash, 34, seed + 9);
            for text in
                [format!("https://api.telegram.org/bot{token}/getMe"), format!("bot{token}"), format!("x {token}")]
            {
                assert_eq!(rules(&text), ["telegram-bot-api-token"], "{text}");
            }
        }
    }

    #[test]
    fn keys_are_found_under_their_names_and_as_options() {
        for seed in 1..60 {
            let (hex, base64) = (random(Hex, 32, seed), random(Alnum, 86, seed) + "==");
            for text in [
                format!("TWILIO_AUTH_TOKEN={hex}"),
                format!("AZURE_STORAGE_KEY={base64}"),
                format!("AZURE_STORAGE_ACCOUNT_KEY=\"{base64}\""),
                format!("az storage blob list --account-key {base64} -c x"),
                format!("tool --api-key '{hex}'"),
                format!("https://f.azurewebsites.net/api/x?code={}==", random(Alnum, 54, seed)),
                format!(
                    "https://discord.com/api/v10/webhooks/{}/{}",
                    random(Digit, 18, seed),
                    random(WordDash, 68, seed)
                ),
            ] {
                assert_eq!(rules(&text).len(), 1, "{text}");
            }
        }
        for text in [
            "--token-file /run/secrets/x1y2z3a4b5c6d7e8",
            "--password-stdin true",
            "--key a1b2",
            "-- token a1b2c3d4e5f6g7h8i9j0",
        ] {
            assert_eq!(rules(text), Vec::<&str>::new(), "{text}");
        }
    }

    #[test]
    fn a_cut_divides_no_secret() {
        let token = token(&[Is("ghp_"), Of(Alnum, 36, 36)], 3);
        let text = format!("the key is {token} and more");
        for max in 0..text.len() + 2 {
            let head = head_without_divided_secret(&text, max);
            let is_whole = head.contains(&token);
            assert!(head.len() <= max && text.starts_with(head));
            assert!(is_whole || head.len() <= "the key is ".len(), "{head}");
        }
        let key = format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----", random(Alnum, 400, 4));
        assert_eq!(head_without_divided_secret(&format!("a {key}"), 100), "a ");
        assert_eq!(head_without_divided_secret("記憶", 4), "記");
    }

    #[test]
    fn a_random_key_with_a_row_of_digits_is_no_example() {
        let found = |value: &str| rules(&format!("{}{value}", "gh".to_string() + "p_")).len();
        assert_eq!(found(&format!("0123456789{}", random(Alnum, 26, 5))), 1);
        assert_eq!(found(&format!("{}abcdef{}", random(Alnum, 15, 6), random(Alnum, 15, 7))), 1);
        assert_eq!(found("1234567890abcdefghijklmnopqrstuvwxyz"), 0);
        assert_eq!(found("0123456789abcdef0123456789abcdef0123"), 0);
    }

    #[test]
    fn keys_in_pem_are_found_whole() {
        let lines: Vec<String> = (1..4).map(|seed| random(Alnum, 64, seed)).collect();
        for kind in ["", "RSA ", "OPENSSH ", "EC "] {
            let body = lines.join("\n");
            let key = format!("-----BEGIN {kind}PRIVATE KEY-----\n{body}\n-----END {kind}PRIVATE KEY-----");
            let text = format!("before\n{key}\nafter");
            let found = secrets_in(&text);
            assert_eq!(redact(&text, &found), "before\n[redacted: private-key]\nafter");
        }
        assert_eq!(rules("-----BEGIN PRIVATE KEY----- is how it begins"), Vec::<&str>::new());
        let public = format!("-----BEGIN PUBLIC KEY-----\n{}\n-----END PUBLIC KEY-----", lines.join("\n"));
        assert_eq!(rules(&public), Vec::<&str>::new());
    }

    #[test]
    fn a_value_assigned_to_the_name_of_a_secret_is_a_secret() {
        let value = random(Alnum, 32, 7);
        for text in [
            format!("api_key = \"{value}\""),
            format!("API-KEY: {value}"),
            format!("export GITHUB_TOKEN={value}"),
            format!("\"client_secret\": \"{value}\","),
            format!("- **API key:** `{value}`"),
            format!("Authorization: Bearer {value}"),
            format!("token => '{value}'"),
            "db_password = kT9#mQ2$vLx4w!".to_string(),
            format!("postgres://app:{}@db.internal/app", random(Alnum, 16, 3)),
        ] {
            assert_eq!(secrets_in(&text).len(), 1, "{text}");
        }
    }

    #[test]
    fn prose_hashes_and_placeholders_are_not_secrets() {
        let base64 = random(Base64, 4_000, 5);
        let hex = random(Hex, 64, 6);
        for text in [
            "The password is in the vault; ask Priya for the token.",
            "password: see 1Password, entry harbor-gateway-2026",
            "token: rotate every 90 days",
            "max_tokens: 4096, tokens: 12345678901234567",
            "secret: kv/data/production/app1-secret",
            "api_key: ${API_KEY}",
            "API_KEY=your-api-key-here-1234",
            "password = os.environ[\"DB_PASSWORD_2\"]",
            "token: <TOKEN_FROM_CI_2026_05>",
            "AKIAIOSFODNN7EXAMPLE",
            "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "postgres://user:password@localhost:5432/db and https://user:${PASS_1}@host",
            "commit 9fceb02d0ae598e95dc970b74767f19372d61af8 fixed it",
            "id 550e8400-e29b-41d4-a716-446655440000, session 01ARZ3NDEKTSV4RRFFQ69G5FAV",
            "sk-learn and sk-or-not, task-force, risk_live_stock",
            "https://example.com/a?b=c:d@e and mailto:a@b.example",
            "key: lead_acme_corp_2026_warm",
            "eyJhbGciOiJIUzI1NiJ9 is the head of a token",
            "The secret: keep the port at 5433, the token-bucket-2 at 100/s.",
            "- 12:30 deployed v2.14.3 (sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855)",
            &format!("![diagram](data:image/png;base64,{base64})"),
            &format!("sha256 {hex}  saddlebag.tar.gz"),
            &format!("{hex}\n{base64}"),
            "パスワードは金庫にある。token：なし",
        ] {
            assert_eq!(rules(text), Vec::<&str>::new(), "{text}");
        }
    }

    #[test]
    fn random_base64_and_hex_are_not_secrets() {
        for seed in 0..50 {
            for set in [Alnum, Base64, Hex, WordDash] {
                let text = random(set, 2_000, seed + 1);
                assert_eq!(rules(&text), Vec::<&str>::new(), "{text}");
            }
        }
    }

    #[test]
    fn entropy_is_that_of_shannon() {
        for text in ["", "a", "ab", "aabb", "abcd", "hello world", "kT9#mQ2$vLx4w!"] {
            let length = text.len() as f64;
            let of = |byte: u8| text.bytes().filter(|&other| other == byte).count() as f64 / length;
            let expected: f64 = (0..=255).map(of).filter(|&p| p > 0.0).map(|p| -p * std::primitive::f64::log2(p)).sum();
            let given = entropy(text) as f64 / BIT as f64;
            assert!((given - expected).abs() < 0.03, "{text}: {given}, not {expected}");
        }
    }
}
