//! The failure of a test says in which engine, and at which seed or case.

use std::process::Command;

use proptest::prelude::*;
use support::arbitrary::cases;
use support::{Kind, both_engines, each};

#[both_engines]
#[ignore = "fails on purpose: started by `a_failure_names_the_engine_and_the_seed`"]
fn it_fails_at_a_seed(kind: Kind) {
    for seed in each("seed", 0..24) {
        for crash in each("crash", 0..3) {
            assert!(kind != Kind::Component || (seed, crash) != (7, 2));
        }
    }
    for seed in each("seed", 100..124) {
        assert!(kind != Kind::Native || seed != 111);
    }
}

#[both_engines]
#[ignore = "fails on purpose: started by `a_failure_of_a_property_names_the_engine_and_the_seed`"]
fn it_fails_at_a_case(kind: Kind) {
    proptest!(cases(256), |(seed in 0_u64..1_000_000)| {
        prop_assert!(kind != Kind::Component || seed < 7);
    });
}

/// Runs a test of this file that is otherwise ignored, in a separate process.
fn output_of(test: &str) -> String {
    let own = std::env::current_exe().unwrap();
    let name = format!("failures_say_where::{test}");
    let output = Command::new(own).args([&name, "--ignored"]).env_remove("PROPTEST_CASES").output().unwrap();
    assert_eq!(output.status.code(), Some(101), "it fails: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_failure_names_the_engine_and_the_seed() {
    let output = output_of("it_fails_at_a_seed");
    for test in ["native", "component"] {
        let failed = format!("test failures_say_where::it_fails_at_a_seed::{test} ... FAILED");
        assert!(output.contains(&failed), "{failed}\n{output}");
    }
    assert!(output.contains("it fails at crash 2\nit fails at seed 7\n"), "{output}");
    assert!(output.contains("it fails at seed 111\n"), "{output}");
    assert_eq!(output.matches("it fails at").count(), 3, "a loop that has ended is not named: {output}");
}

#[test]
fn a_failure_of_a_property_names_the_engine_and_the_seed() {
    let output = output_of("it_fails_at_a_case");
    assert!(output.contains("it_fails_at_a_case::native ... ok"), "{output}");
    assert!(output.contains("it_fails_at_a_case::component ... FAILED"), "{output}");
    assert!(output.contains("minimal failing input: seed = 7\n"), "{output}");
}
