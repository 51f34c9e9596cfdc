//! Blocks of an index file, for tests that forge one.

use xxhash_rust::xxh3::xxh3_64_with_seed;

const BLOCK: usize = 8 << 10;
const HEAD: usize = 24;

/// Returns the content of the blocks of a first part.
pub fn content(part: &[u8]) -> Vec<u8> {
    part.chunks(BLOCK).flat_map(|block| block.get(HEAD..).unwrap_or_default()).copied().collect()
}

/// Returns a first part with other content, and with the checksums that it has then.
pub fn with_content(part: &[u8], content: &[u8]) -> Vec<u8> {
    let mut part = part.to_vec();
    for (block, content) in part.chunks_mut(BLOCK).zip(content.chunks(BLOCK - HEAD)) {
        block[HEAD..HEAD + content.len()].copy_from_slice(content);
    }
    sealed(part)
}

/// Corrects the checksums of a first part, so that only the decoder can reject it.
pub fn sealed(mut part: Vec<u8>) -> Vec<u8> {
    for (number, block) in (0..).zip(part.chunks_exact_mut(BLOCK)) {
        let checksum = xxh3_64_with_seed(&block[HEAD..], number);
        block[16..HEAD].copy_from_slice(&checksum.to_le_bytes());
    }
    part
}
