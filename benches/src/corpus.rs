//! A deterministic corpus of Markdown notes of about 2 KB each.
//!
//! Words are pseudo-words with Zipf-distributed frequencies. Planted lines answer known queries: every
//! 2nd note "uses redis for caching", every 50th "postgres listens on port 5432", every 200th the word
//! "needleterm", every 997th "the zanzibar incident was resolved".

use std::fs;
use std::io;
use std::path::Path;

const SYLLABLES: [&str; 41] = [
    "ba", "be", "bi", "bo", "bu", "ka", "ke", "ki", "ko", "ku", "la", "le", "li", "lo", "lu", "ma", "me", "mi", "mo",
    "mu", "na", "ne", "ni", "no", "nu", "ra", "re", "ri", "ro", "ru", "sa", "se", "si", "so", "su", "ta", "te", "ti",
    "to", "tu", "va",
];
const VOCABULARY: usize = 4000;
pub(crate) const PROJECT: &str = "proj";

/// xorshift64*, a random generator with the same numbers on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() >> 33) as usize % limit
    }

    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Words and the running sums of their frequencies.
struct Vocabulary {
    words: Vec<String>,
    sums: Vec<f64>,
}

impl Vocabulary {
    fn new(random: &mut Random) -> Self {
        let mut words = std::collections::BTreeSet::new();
        while words.len() < VOCABULARY {
            let syllables = 2 + random.below(3);
            words.insert((0..syllables).map(|_| SYLLABLES[random.below(SYLLABLES.len())]).collect::<String>());
        }
        let mut words: Vec<String> = words.into_iter().collect();
        for i in (1..words.len()).rev() {
            words.swap(i, random.below(i + 1));
        }
        let mut sum = 0.0;
        let sums = (0..words.len())
            .map(|rank| {
                sum += 1.0 / (rank as f64 + 3.0);
                sum
            })
            .collect();
        Self { words, sums }
    }

    fn word(&self, random: &mut Random) -> &str {
        let at = random.unit() * self.sums.last().copied().unwrap_or(1.0);
        &self.words[self.sums.partition_point(|&sum| sum < at).min(self.words.len() - 1)]
    }

    fn body(&self, random: &mut Random, size: usize, planted: &[&str]) -> String {
        let mut lines = Vec::new();
        let mut total = 0;
        while total < size {
            let count = 6 + random.below(9);
            let words: Vec<&str> = (0..count).map(|_| self.word(random)).collect();
            let roll = random.unit();
            let mark = if roll < 0.08 {
                "## "
            } else if roll < 0.36 {
                "- "
            } else {
                ""
            };
            let line = format!("{mark}{}", words.join(" "));
            total += line.len() + 1;
            lines.push(line);
        }
        for line in planted {
            lines.insert(random.below(lines.len()), (*line).to_string());
        }
        lines.join("\n") + "\n"
    }
}

/// Returns the lines of note `i` that answer known queries.
fn planted(i: usize) -> Vec<&'static str> {
    let lines = [
        (2, "uses redis for caching"),
        (50, "postgres listens on port 5432"),
        (200, "a needleterm in a haystack"),
        (997, "the zanzibar incident was resolved"),
    ];
    lines.into_iter().filter(|(every, _)| i.is_multiple_of(*every)).map(|(_, line)| line).collect()
}

/// Writes a notebook of `notes` notes with `links` wiki-links each below `root`.
pub(crate) fn write_notebook(root: &Path, notes: usize, links: usize) -> io::Result<()> {
    let mut random = Random(42);
    let vocabulary = Vocabulary::new(&mut random);
    let config =
        "[note]\nfilename = \"{{slug title}}\"\n\n[format.markdown]\nlink-format = \"wiki\"\nhashtags = true\n";
    let folders = ["facts", "decisions", "daily"];
    for folder in [".zk", "facts", "decisions", "daily"] {
        fs::create_dir_all(root.join(folder))?;
    }
    fs::write(root.join(".zk/config.toml"), config)?;
    let stem = |i: usize| format!("n{i:05}-{}", vocabulary.words[(i * 37) % VOCABULARY]);
    for i in 0..notes {
        let (title, tag, day) = (stem(i).replace('-', " "), i % 50, 1 + i % 28);
        let mut text =
            format!("---\ntitle: \"{title}\"\ndate: 2026-04-{day:02} 10:00:00\ntags: [t{tag}, common]\n---\n\n");
        text.push_str(&vocabulary.body(&mut random, 1900, &planted(i)));
        if links > 0 {
            let links: Vec<String> = (0..links).map(|_| format!("[[{}]]", stem(random.below(notes)))).collect();
            text.push_str(&format!("\nSee {}\n", links.join(", ")));
        }
        fs::write(root.join(folders[i % 3]).join(format!("{}.md", stem(i))), text)?;
    }
    Ok(())
}

/// Writes long-term memory, a scratchpad and logs below `root`.
pub(crate) fn write_journal(root: &Path) -> io::Result<()> {
    let mut random = Random(42);
    let vocabulary = Vocabulary::new(&mut random);
    let project = root.join("projects").join(PROJECT);
    fs::create_dir_all(project.join("daily"))?;
    for day in 1..=25 {
        let text = vocabulary.body(&mut random, 2000, &["### 10:00 — worked on deploy"]);
        fs::write(project.join(format!("daily/2026-05-{day:02}.md")), text)?;
    }
    fs::write(root.join("MEMORY.md"), vocabulary.body(&mut random, 4000, &["- prefers port 5432 for postgres"]))?;
    fs::write(project.join("SCRATCHPAD.md"), "- [ ] open item\n- [x] closed item\n")
}
