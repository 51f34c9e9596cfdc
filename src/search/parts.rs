//! The index on disk: parts, which consist of blocks. Only the needed blocks are read.
//!
//! The file has a head, which is read as a whole, and a body, of which ranges are read. Both are cut into blocks, and
//! the body begins with a separate block. Each block is filled up with zeros to [`BLOCK_BYTES`], and begins with
//! [`MAGIC`], the number of the writing, and the XXH3 checksum (64 bits) of its content, with the number of the block
//! as the seed. So a block of another writing, a missing block and a changed byte are all noticed. The number of the
//! writing is a checksum of everything. [`BLOCKS_PER_PART`] blocks are one part, which is a file: a host may limit the
//! size of a write.
//!
//! The head begins with its own length and the length of the body, 8 bytes each.

use core::ops::Range;

use saddlebag_collections::{Piece, SparseBytes, prelude::*};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::changes::Call;
use crate::store::RelPath;
use saddlebag_protocol::{ReadOutcome, join};

/// First bytes of a block. The number changes with the format, and with the rules for which files are notes under the
/// same configuration.
pub(super) const MAGIC: [u8; 8] = *b"sbindex\x0d";
/// Size of a block in bytes.
const BLOCK_BYTES: usize = 8 << 10;
/// Length of the head of a block: magic bytes, writing, checksum.
const BLOCK_HEAD_BYTES: usize = 24;
/// Number of bytes of the file in a block.
const CONTENT_BYTES: usize = BLOCK_BYTES - BLOCK_HEAD_BYTES;
/// Number of blocks in a part, which has 2 MiB: each part is copied several times, which is faster while it fits into a
/// processor's cache.
const BLOCKS_PER_PART: usize = 256;
/// Maximum number of parts.
const MAX_PARTS: usize = 1024;
/// Number of blocks of the head that are read at once. All of it is read, and the memory of one read serves for the next:
/// fresh memory costs more than a further request. It divides [`BLOCKS_PER_PART`].
const HEAD_BLOCKS_AT_ONCE: usize = 32;
/// Number of blocks that are read together.
const BLOCKS_AT_ONCE: usize = 4 * BLOCKS_PER_PART;
/// Length of the lengths at the start of the head.
pub(super) const LENGTHS_BYTES: usize = 16;

/// Body of the index file that was read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Body {
    writing: u64,
    /// Number of its first block in the file.
    first_block: usize,
    bytes: SparseBytes,
    /// True if the ranges of a search were read.
    pub(super) was_searched: bool,
}

impl Body {
    /// Returns the number of the writing.
    pub(super) fn writing(&self) -> u64 {
        self.writing
    }

    /// Returns the bytes, as far as they are in memory.
    pub(crate) fn bytes(&self) -> &SparseBytes {
        &self.bytes
    }

    /// Reads ranges, if they are not in memory yet. `None` if the file has changed or is damaged.
    pub(super) async fn with(mut self, call: &Call, ranges: &[Range<usize>]) -> Option<Self> {
        let runs = self.missing(ranges);
        let reads: Vec<Range<usize>> = runs.iter().cloned().flat_map(|run| runs_of(run, BLOCKS_PER_PART)).collect();
        let mut reads = reads.as_slice();
        let mut contents: Vec<Vec<u8>> = Vec::with_capacity(runs.len());
        for run in &runs {
            let mut content = Vec::new();
            content.try_reserve_exact(run.len().saturating_mul(CONTENT_BYTES)).ok()?;
            contents.push(content);
        }
        let mut place = 0;
        while !reads.is_empty() {
            let mut blocks = 0;
            let fits = |read: &&Range<usize>| {
                blocks += read.len();
                blocks <= BLOCKS_AT_ONCE
            };
            let (batch, rest) = reads.split_at_checked(reads.iter().take_while(fits).count().max(1))?;
            reads = rest;
            for (blocks, bytes) in batch.iter().zip(read_blocks(call, batch).await) {
                while runs.get(place)?.end <= blocks.start {
                    place += 1;
                }
                take(&bytes?, blocks, self.writing, contents.get_mut(place)?)?;
            }
        }
        for (run, content) in runs.iter().zip(contents) {
            self.bytes.add((run.start - self.first_block) * CONTENT_BYTES, content);
        }
        Some(self)
    }

    /// Reads the ranges of a search.
    pub(super) async fn for_search(self, call: &Call, ranges: &[Range<usize>]) -> Option<Self> {
        Some(Self { was_searched: true, ..self.with(call, ranges).await? })
    }

    /// Adds what another command has read of the same file meanwhile.
    pub(super) fn merge(&mut self, other: &Self) {
        if !self.bytes.is_whole() {
            self.bytes.merge(&other.bytes);
        }
    }

    /// Returns true if all ranges are in memory.
    pub(super) fn has(&self, ranges: &[Range<usize>]) -> bool {
        ranges.iter().all(|range| self.bytes.get(range.clone()).is_some())
    }

    /// Reads everything that is not in memory yet. `None` if the file has changed or is damaged.
    pub(super) async fn whole(self, call: &Call) -> Option<Self> {
        let all = 0..self.bytes.len();
        self.with(call, &[all]).await
    }

    /// Returns the blocks with the ranges that are not in memory: sorted, not adjacent.
    fn missing(&self, ranges: &[Range<usize>]) -> Vec<Range<usize>> {
        let missing = ranges.iter().filter(|range| self.bytes.get((*range).clone()).is_none());
        let mut blocks: Vec<Range<usize>> = missing
            .map(|range| {
                let (start, end) = (range.start / CONTENT_BYTES, range.end.div_ceil(CONTENT_BYTES));
                self.first_block + start..self.first_block + end
            })
            .collect();
        saddlebag_collections::order::sort_slice_by_key(&mut blocks, |blocks| blocks.start);
        let mut merged: Vec<Range<usize>> = Vec::with_capacity(blocks.len());
        for blocks in blocks {
            match merged.last_mut().filter(|last| blocks.start <= last.end) {
                Some(last) => last.end = last.end.max(blocks.end),
                None => merged.push(blocks),
            }
        }
        merged
    }
}

/// Returns the parts that a file is written in.
///
/// `head` begins with [`LENGTHS_BYTES`] bytes, which are filled in.
pub(super) fn parts<'a>(head: &'a mut [u8], body: &'a [Piece]) -> Option<(u64, impl Iterator<Item = Vec<u8>> + 'a)> {
    let length = body.iter().map(|piece| piece.len()).sum();
    let lengths = [head.len(), length].into_iter().flat_map(|length| (length as u64).to_le_bytes());
    head.get_mut(..LENGTHS_BYTES)?.iter_mut().zip(lengths).for_each(|(byte, length)| *byte = length);
    let head = &*head;
    let writing = body.iter().fold(xxh3_64(head), |before, piece| xxh3_64_with_seed(piece, before));
    let count = blocks_of(head.len()) + blocks_of(length);
    if count > MAX_PARTS * BLOCKS_PER_PART {
        return None;
    }
    let (mut head, mut body, mut first) = (head.chunks(CONTENT_BYTES), body.iter(), &[][..]);
    let mut numbers = 0..count;
    let parts = core::iter::from_fn(move || {
        let mut part = Vec::with_capacity(BLOCKS_PER_PART * BLOCK_BYTES);
        for number in numbers.by_ref().take(BLOCKS_PER_PART) {
            let start = part.len();
            part.resize(start + BLOCK_HEAD_BYTES, 0);
            match head.next() {
                Some(content) => part.extend_from_slice(content),
                None => move_bytes(&mut first, &mut body, CONTENT_BYTES, &mut part),
            }
            part.resize(start + BLOCK_BYTES, 0);
            let (block_head, content) = part.get_mut(start..)?.split_at_mut_checked(BLOCK_HEAD_BYTES)?;
            let numbers = [writing, xxh3_64_with_seed(content, number as u64)];
            let bytes = MAGIC.into_iter().chain(numbers.into_iter().flat_map(u64::to_le_bytes));
            block_head.iter_mut().zip(bytes).for_each(|(place, byte)| *place = byte);
        }
        (!part.is_empty()).then_some(part)
    });
    Some((writing, parts))
}

/// Moves bytes from the front of pieces to `out`, at most `count`. `first` is what is left of the piece before them.
fn move_bytes<'a>(
    first: &mut &'a [u8],
    pieces: &mut impl Iterator<Item = &'a Piece>,
    mut count: usize,
    out: &mut Vec<u8>,
) {
    loop {
        let (now, later) = first.split_at_checked(count).unwrap_or((*first, &[]));
        out.extend_from_slice(now);
        (*first, count) = (later, count - now.len());
        if count == 0 {
            return;
        }
        match pieces.next() {
            Some(next) => *first = next,
            None => return,
        }
    }
}

/// Reads the head, and what follows in its last read. `None` if there is no index file, or if it is damaged.
pub(super) async fn open(call: &Call) -> Option<(Vec<u8>, Body)> {
    let path = part_path(call, 0)?;
    let limit = u32::try_from(HEAD_BLOCKS_AT_ONCE * BLOCK_BYTES).ok()?;
    let ReadOutcome::Content(content) =
        call.fs.read(&path, 0, limit.min(call.scope.limits.max_file_bytes)).await.ok()?
    else {
        return None;
    };
    let writing = u64::from_le_bytes(*content.bytes.get(MAGIC.len()..)?.first_chunk()?);
    let blocks = content.bytes.len() / BLOCK_BYTES;
    let mut head = Vec::new();
    head.try_reserve_exact(blocks * CONTENT_BYTES).ok()?;
    take(&content.bytes, &(0..blocks), writing, &mut head)?;
    drop(content);
    let length = |at: usize| usize::try_from(u64::from_le_bytes(*head.get(at..)?.first_chunk()?)).ok();
    let (head_length, body_length) = (length(0)?, length(LENGTHS_BYTES / 2)?);
    let first_block = blocks_of(head_length);
    if first_block.checked_add(blocks_of(body_length))? > MAX_PARTS * BLOCKS_PER_PART {
        return None;
    }
    let bytes = SparseBytes::new(body_length);
    let mut body = Body { writing, first_block, bytes, was_searched: false };
    let start_of_body = first_block * CONTENT_BYTES;
    if head.len() > start_of_body {
        body.bytes.add(0, head.split_off(start_of_body));
    } else {
        head.try_reserve_exact(start_of_body.checked_sub(head.len())?).ok()?;
        for blocks in runs_of(blocks..first_block, HEAD_BLOCKS_AT_ONCE) {
            let bytes = read_blocks(call, core::slice::from_ref(&blocks)).await.pop()??;
            take(&bytes, &blocks, writing, &mut head)?;
        }
    }
    head.truncate(head_length);
    Some((head, body))
}

pub(super) fn part_path(call: &Call, number: usize) -> Option<RelPath> {
    call.scope.layout.in_notebook(&format!(".saddlebag/index/{number:04}")).ok()
}

fn blocks_of(length: usize) -> usize {
    length.div_ceil(CONTENT_BYTES)
}

/// Splits blocks at all multiples of a number. With [`BLOCKS_PER_PART`], that is where their part ends.
fn runs_of(blocks: Range<usize>, multiple: usize) -> impl Iterator<Item = Range<usize>> {
    let mut next = blocks.start;
    core::iter::from_fn(move || {
        let end = blocks.end.min((next / multiple + 1) * multiple);
        let part = next..end;
        next = end;
        (!part.is_empty()).then_some(part)
    })
}

/// Reads blocks, each range of one part. `None` for a range that cannot be read as a whole.
async fn read_blocks(call: &Call, ranges: &[Range<usize>]) -> Vec<Option<Vec<u8>>> {
    let limit = call.scope.limits.max_file_bytes;
    let mut reads = Vec::with_capacity(ranges.len());
    for blocks in ranges {
        let bytes = u32::try_from(blocks.len() * BLOCK_BYTES).ok().filter(|bytes| *bytes <= limit);
        let Some((path, bytes)) = part_path(call, blocks.start / BLOCKS_PER_PART).zip(bytes) else {
            return vec![None; ranges.len()];
        };
        reads.push(call.fs.read(&path, (blocks.start % BLOCKS_PER_PART * BLOCK_BYTES) as u64, bytes));
    }
    let answers = join(reads).await.into_iter().zip(ranges);
    let whole = |(answer, blocks): (_, &Range<usize>)| match answer {
        Ok(ReadOutcome::Content(content)) if content.bytes.len() == blocks.len() * BLOCK_BYTES => Some(content.bytes),
        _ => None,
    };
    answers.map(whole).collect()
}

/// Adds the content of blocks to `out`. `None` if one is damaged or of another writing.
fn take(bytes: &[u8], blocks: &Range<usize>, writing: u64, out: &mut Vec<u8>) -> Option<()> {
    let mut numbers = blocks.clone();
    for block in bytes.chunks_exact(BLOCK_BYTES) {
        let (magic, rest) = block.split_first_chunk::<8>()?;
        let (of, rest) = rest.split_first_chunk::<8>()?;
        let (checksum, content) = rest.split_first_chunk::<8>()?;
        let is_right = *magic == MAGIC
            && u64::from_le_bytes(*of) == writing
            && xxh3_64_with_seed(content, numbers.next()? as u64) == u64::from_le_bytes(*checksum);
        is_right.then_some(())?;
        out.extend_from_slice(content);
    }
    numbers.next().is_none().then_some(())
}
