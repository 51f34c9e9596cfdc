use alloc::string::String;
use alloc::vec::Vec;

use proptest::prelude::*;

use crate::{Digest, State, Step, Version, versions};

/// Returns the state that a letter names; `-` is an absent file.
fn state(name: char) -> State {
    if name == '-' { State::Absent } else { State::Bytes(Digest([name as u8; 16])) }
}

/// Checks the versions of steps such as `x:AB` (operation `x`, from A to B). `expected` has the newest version first: its state,
/// and the index of its step or `~` for others.
#[track_caller]
fn check(steps: &str, current: char, expected: &str) {
    let steps: Vec<Step<'_>> = steps.split_whitespace().map(step).collect();
    let shown = |version: &Version| {
        let name = ('-'..='Z').find(|name| state(*name) == version.state).unwrap();
        version.step.map_or_else(|| format!("{name}~"), |step| format!("{name}{step}"))
    };
    let found: Vec<String> = versions(&steps, state(current)).iter().map(shown).collect();
    assert_eq!(found.join(" "), expected);
}

#[test]
fn each_record_made_its_state() {
    check("", '-', "");
    check("x:-A", 'A', "A0");
    check("x:-A y:AB z:B-", '-', "-2 B1 A0");
    check("x:-A y:AB z:B- w:-A", 'A', "A3 -2 B1 A0");
}

#[test]
fn a_state_before_the_first_record_was_made_by_others() {
    check("", 'A', "A~");
    check("x:AB", 'B', "B0 A~");
    check("x:AB", 'A', "A~ B0 A~");
}

#[test]
fn a_change_that_others_took_back_is_a_version() {
    check("x:-A y:AB", 'A', "A~ B1 A0");
    check("x:-A y:AB z:AC", 'C', "C2 A~ B1 A0");
    check("x:-A y:AB z:AC w:AD", 'A', "A~ D3 A~ C2 A~ B1 A0");
    check("x:-A", '-', "-~ A0");
}

#[test]
fn a_change_may_fail_any_number_of_times() {
    let failures = |operation: &str| format!("{operation}:AB ").repeat(200);
    check(&format!("x:-A {}z:AC", failures("y")), 'C', "C201 A~ B200 A0");
    check(&format!("x:-A {}", failures("y")), 'A', "A~ B200 A0");
    check("x:-A y:AB z:AB w:AB", 'A', "A~ B3 A0");
    check(&format!("x:-A {}z:CD", failures("y")), 'D', "D201 C~ B200 A0");
}

#[test]
fn edits_by_others_are_versions() {
    check("x:-A", 'B', "B~ A0");
    check("x:-A y:BC", 'C', "C1 B~ A0");
    check("x:-A y:BC", 'D', "D~ C1 B~ A0");
    check("x:-A y:AB", '-', "-~ B1 A0");
    check("x:-A y:AB z:-C", 'C', "C2 -~ B1 A0");
}

#[test]
fn a_change_that_was_tried_again_did_not_happen_at_first() {
    // An editor was faster than the operation y.
    check("x:-A y:AB y:CD", 'D', "D2 C~ A0");
    check("x:-A y:AB y:CD y:EF", 'F', "F3 E~ C~ A0");
    // Without a second attempt, it happened.
    check("x:-A y:AB z:CD", 'D', "D2 C~ B1 A0");
    // The second change of an operation goes on from the first.
    check("x:-A y:AB y:BC z:DE", 'E', "E3 D~ C2 B1 A0");
}

#[test]
fn another_writer_was_faster() {
    // The writer of y read A, and recorded its change after x had made B of it.
    check("w:-A x:AB y:AC y:BD", 'D', "D3 B1 A0");
    check("w:-A x:AB y:AC", 'B', "B1 A0");
    // Two changes were made meanwhile.
    check("v:-A w:AB x:BC y:AD y:CE", 'E', "E4 C2 B1 A0");
}

#[test]
fn an_old_state_that_others_brought_back_hides_no_version() {
    check("x:-A y:AB z:BC w:CD", 'A', "A~ D3 C2 B1 A0");
    check("x:-A y:AB z:BA w:AC", 'B', "B~ C3 A2 B1 A0");
    check("x:-A y:-B", 'B', "B1 -~ A0");
}

#[test]
fn a_record_that_changes_nothing_makes_no_version() {
    check("x:-A y:AA", 'A', "A0");
    check("x:-A y:AA z:AB", 'B', "B2 A0");
    check("x:AA", 'A', "A~");
}

#[test]
fn appends_to_a_large_file_follow_each_other_by_size() {
    let append = |operation, before, after| Step { operation, before: State::Size(before), after: State::Size(after) };
    let steps = [append("x", 100, 110), append("y", 110, 120), append("z", 125, 130)];
    let found: Vec<(State, Option<usize>)> =
        versions(&steps, State::Size(130)).iter().map(|version| (version.state, version.step)).collect();
    let expected = [(130, Some(2)), (125, None), (120, Some(1)), (110, Some(0)), (100, None)];
    assert_eq!(found, expected.map(|(size, step)| (State::Size(size), step)));
}

#[test]
fn many_records_take_little_time() {
    let states: Vec<State> = (0_u32..100_000).map(|number| State::Size((number % 1000).into())).collect();
    let steps: Vec<Step<'_>> =
        states.windows(2).map(|pair| Step { operation: "x", before: pair[0], after: pair[1] }).collect();
    for current in [states[99_999], State::Size(5), State::Absent] {
        let begin = std::time::Instant::now();
        assert!(versions(&steps, current).len() >= 100_000);
        assert!(begin.elapsed() < core::time::Duration::from_secs(1));
    }
}

/// One event in the life of a file.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// A change is recorded and made.
    Change,
    /// A change is recorded, and the program dies before it is made.
    Crash,
    /// An editor writes the file.
    Edit,
    /// A change is recorded, an editor is faster, and the operation tries again.
    Retry,
    /// A writer records a change from a state that another writer has changed meanwhile, and tries again.
    Race,
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let event = prop_oneof![
        4 => Just(Event::Change),
        1 => Just(Event::Crash),
        1 => Just(Event::Edit),
        1 => Just(Event::Retry),
        1 => Just(Event::Race),
    ];
    proptest::collection::vec(event, 0..40)
}

/// The steps that events record, and the versions that they make, oldest first.
#[derive(Default)]
struct Model {
    steps: Vec<(usize, State, State)>,
    versions: Vec<Version>,
    state: State,
    operation: usize,
    new: u64,
}

impl Model {
    fn new_state(&mut self) -> State {
        self.new += 1;
        State::Size(self.new)
    }

    fn record(&mut self, operation: usize, before: State) -> (usize, State) {
        let after = self.new_state();
        self.steps.push((operation, before, after));
        (self.steps.len() - 1, after)
    }

    fn make(&mut self, step: Option<usize>, state: State) {
        self.versions.push(Version { state, step });
        self.state = state;
    }

    fn edit(&mut self) {
        let state = self.new_state();
        // The second of two edits without a record between them hides the first.
        if self.versions.last().is_some_and(|version| version.step.is_none()) {
            self.versions.pop();
        }
        self.make(None, state);
    }

    fn run(&mut self, event: Event) {
        self.operation += 1;
        let operation = self.operation;
        match event {
            Event::Change => {
                let (step, after) = self.record(operation, self.state);
                self.make(Some(step), after);
            }
            Event::Crash => {
                // What cannot be told apart: the change may have been made, and taken back by others.
                let before = self.state;
                let (step, after) = self.record(operation, before);
                self.make(Some(step), after);
                self.make(None, before);
            }
            Event::Edit => self.edit(),
            Event::Retry => {
                self.record(operation, self.state);
                // The attempt recorded the state before, so an earlier edit is not hidden.
                let state = self.new_state();
                self.make(None, state);
                let (step, after) = self.record(operation, self.state);
                self.make(Some(step), after);
            }
            Event::Race => {
                let before = self.state;
                let (faster, after) = self.record(operation, before);
                self.make(Some(faster), after);
                self.operation += 1;
                self.record(self.operation, before);
                let (step, after) = self.record(self.operation, self.state);
                self.make(Some(step), after);
            }
        }
    }
}

proptest! {
    /// No state comes twice.
    #[test]
    fn the_versions_are_those_of_the_model(events in events()) {
        let mut model = Model::default();
        events.into_iter().for_each(|event| model.run(event));
        let names: Vec<String> = model.steps.iter().map(|(operation, ..)| format!("{operation}")).collect();
        let steps: Vec<Step<'_>> = model.steps.iter().zip(&names)
            .map(|(&(_, before, after), operation)| Step { operation, before, after })
            .collect();
        let mut expected = model.versions;
        expected.reverse();
        prop_assert_eq!(versions(&steps, model.state), expected);
    }

    /// Few states, in any order: what always holds.
    #[test]
    fn any_steps_end_in_versions_that_fit_together(
        steps in proptest::collection::vec((0..4_u8, 0..4_u8, 0..4_u8), 0..20),
        current in 0..4_u8,
    ) {
        let state = |number: u8| if number == 0 { State::Absent } else { State::Size(number.into()) };
        let operations = ["a", "b", "c", "d"];
        let steps: Vec<Step<'_>> = steps.into_iter()
            .map(|(operation, before, after)| Step { operation: operations[usize::from(operation)], before: state(before), after: state(after) })
            .collect();
        let found = versions(&steps, state(current));
        prop_assert_eq!(found.first().map(|version| version.state).unwrap_or_default(), state(current));
        let made: Vec<usize> = found.iter().filter_map(|version| version.step).collect();
        prop_assert!(made.windows(2).all(|pair| pair[0] > pair[1]));
        for (place, version) in found.iter().enumerate() {
            let older = found.get(place + 1);
            prop_assert!(older.is_none_or(|older| older.state != version.state), "{found:?}");
            if let Some(step) = version.step {
                prop_assert_eq!(steps[step].after, version.state);
                prop_assert_eq!(older.map(|older| older.state).unwrap_or_default(), steps[step].before);
            }
        }
    }
}

fn step(text: &str) -> Step<'_> {
    let (operation, states) = text.split_once(':').unwrap();
    let mut states = states.chars().map(state);
    Step { operation, before: states.next().unwrap(), after: states.next().unwrap() }
}
