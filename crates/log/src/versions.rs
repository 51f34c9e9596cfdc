//! [`versions`]: the states that a file had.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use crate::record::{Change, Record, State};

/// Maximum number of records in a row that are taken for changes that never happened because an older one made the state.
const MOST_SKIPPED: usize = 64;

/// A recorded change of one path, without its contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step<'a> {
    /// Operation of the record.
    pub operation: &'a str,
    /// The file before the change.
    pub before: State,
    /// The file after the change.
    pub after: State,
}

impl<'a> Step<'a> {
    /// Returns the step that a change of a record is.
    pub fn new(record: &'a Record, change: &Change) -> Self {
        Self { operation: &record.operation, before: change.before, after: change.after }
    }
}

/// A state that a file had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version {
    /// The file in this version.
    pub state: State,
    /// Index of the step that made it; `None` if others made it without a record, such as an editor.
    pub step: Option<usize>,
}

/// Returns the versions of a file, newest first. `steps` are the recorded changes of its path, oldest first, without those that
/// were [lost](Record::lost); `current` is the file now. The first version is `current`, unless the file is absent and has no versions.
///
/// A record is written before its change is made, so the change may never have happened, and others write without records. Going
/// backwards from `current`, these rules decide what made a state:
///
/// 1. The newest step whose `after` is the state made it. The steps after that one never happened. The state before is its
///    `before`.
/// 2. If there is no such step, others made the state, and the newest step happened before that, unless it was tried again: the
///    next step is the same change, or the next step of the same operation has a `before` that is not its `after`.
/// 3. If the file existed before the first step, others made that state.
///
/// A step that rule 1 skips must look like one that never happened: its `before` is that of the step that made the state
/// (which was faster), or it was tried again, and no other of these steps begins where it ends. Otherwise others
/// brought an old state back, and rule 2 holds. A step that changes nothing makes no version.
///
/// A program that was killed, or a full disk, can prevent a recorded change. Such a change looks like one that others took back,
/// and counts as one: a version too many hides nothing.
pub fn versions(steps: &[Step<'_>], current: State) -> Vec<Version> {
    let steps: Vec<(usize, &Step<'_>)> =
        steps.iter().enumerate().filter(|(_, step)| step.before != step.after).collect();
    let tried_again = tried_again(&steps);
    // Places of the steps that make a state, in their order.
    let mut makers: BTreeMap<State, Vec<usize>> = BTreeMap::new();
    for (place, (_, step)) in steps.iter().enumerate() {
        makers.entry(step.after).or_default().push(place);
    }
    let mut versions = Vec::new();
    let mut state = current;
    // Steps from here on are explained.
    let mut end = steps.len();
    while let Some((index, step)) = end.checked_sub(1).and_then(|last| steps.get(last)) {
        let last = end - 1;
        let maker = makers.get_mut(&state).and_then(|places| {
            while places.last().is_some_and(|place| *place >= end) {
                places.pop();
            }
            places.last().copied()
        });
        if let Some(maker) = maker
            && let Some((index, made)) = steps.get(maker)
            && never_happened(maker, &steps, end, &tried_again)
        {
            versions.push(Version { state, step: Some(*index) });
            state = made.before;
            end = maker;
            continue;
        }
        let is_first_attempt = tried_again.contains(&last);
        if !is_first_attempt || step.before != state {
            versions.push(Version { state, step: None });
        }
        if !is_first_attempt {
            versions.push(Version { state: step.after, step: Some(*index) });
        }
        state = step.before;
        end = last;
    }
    if state != State::Absent {
        versions.push(Version { state, step: None });
    }
    versions
}

/// Returns true if all steps after `maker`, before `end`, look like changes that never happened.
fn never_happened(maker: usize, steps: &[(usize, &Step<'_>)], end: usize, tried_again: &BTreeSet<usize>) -> bool {
    let passed = maker + 1..end;
    if passed.len() > MOST_SKIPPED {
        return false;
    }
    let before_maker = steps.get(maker).map(|(_, step)| step.before);
    let mut made = BTreeSet::new();
    passed.into_iter().all(|place| {
        let Some((_, step)) = steps.get(place) else { return false };
        // None of these steps ends at the state: the newest that does is the maker.
        let has_chain = made.contains(&step.before);
        made.insert(step.after);
        let is_faster = Some(step.before) == before_maker;
        !has_chain && (is_faster || tried_again.contains(&place))
    })
}

/// Returns the places of the steps after which the next step is the same change, or the next step of the same operation has a
/// `before` that is not their `after`.
fn tried_again(steps: &[(usize, &Step<'_>)]) -> BTreeSet<usize> {
    let mut next: BTreeMap<&str, State> = BTreeMap::new();
    let mut places = BTreeSet::new();
    for (place, pair) in steps.windows(2).enumerate() {
        if let [(_, step), (_, next)] = pair
            && (step.before, step.after) == (next.before, next.after)
        {
            places.insert(place);
        }
    }
    for (place, (_, step)) in steps.iter().enumerate().rev() {
        let next = next.insert(step.operation, step.before);
        if next.is_some_and(|before| before != step.after) {
            places.insert(place);
        }
    }
    places
}
