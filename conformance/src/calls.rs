//! The loop: calls of tools, whose answers and requests must be those of the kit's own host in memory.
//!
//! Versions differ between hosts, so each is replaced by the number of its first appearance. If the versions of a host
//! do not follow from the bytes alone, neither they nor its reads are compared: a version that changes while the bytes do
//! not makes the component read again.

use std::io;

use saddlebag::protocol::FsOutcome;
use saddlebag_host::{Difference, first_difference};
use serde_json::{Value, json};

use crate::bench::Stores;
use crate::driver::{Driver, Opening, short};
use crate::host::{CallingHost, INDEX, InMemory, OwnedOpening, calls_of, native, time, value};
use crate::report::{Ended, Part, Ran, Report, check, left_out};

const PART: Part = Part::Loop;
/// Scheme whose versions follow from the bytes alone.
const OF_BYTES: &str = "sha256-hex";
/// A memory, and the calls that it gets.
struct Scenario {
    name: &'static str,
    calls: &'static str,
    project: Option<&'static str>,
    agent: Option<&'static str>,
}

const SCENARIOS: [Scenario; 4] = [
    Scenario { name: "a notebook with an agent", calls: "notebook", project: None, agent: Some("ada") },
    Scenario { name: "a project", calls: "notebook", project: Some("api-0db23a34"), agent: Some("ada") },
    Scenario { name: "no agent", calls: "without agent", project: None, agent: None },
    Scenario { name: "mistakes", calls: "mistakes", project: Some("web"), agent: Some("a b/ü") },
];

/// Runs all scenarios.
pub(crate) fn run(driver: &mut Driver, stores: &Stores, report: &mut Report<'_>) -> io::Result<()> {
    let compares_reads = driver.hello().version_scheme == OF_BYTES;
    for scenario in SCENARIOS {
        let ran = agrees(&scenario, compares_reads, driver, stores);
        report.add(PART, format!("{}: answers and requests are those of the kit", scenario.name), ran)?;
    }
    if !compares_reads {
        let reason = format!("versions of `{}` may change while the bytes do not", driver.hello().version_scheme);
        report.add(PART, "reads are those of the kit", left_out(&reason))?;
    }
    Ok(())
}

fn agrees(scenario: &Scenario, compares_reads: bool, driver: &mut Driver, stores: &Stores) -> Ran {
    driver.ready()?;
    let Scenario { project, agent, .. } = *scenario;
    let store = stores.fresh(driver.hello())?;
    let scheme = driver.hello().version_scheme.clone();
    let calls = calls_of(scenario.calls)?;
    let mut own_store = InMemory::like(driver.hello());
    let (mut numbers, mut own_numbers) = (Vec::new(), Vec::new());
    // The second opening finds what the first one has left, such as its copy of the index.
    for epoch in [77, 78] {
        driver.open(&Opening { store: &store, epoch, project, agent })?;
        if matches!(driver.perform(&"generation".into())?, Ok(FsOutcome::Generation(_))) {
            own_store.disk = own_store.disk.with_generation();
        }
        let opening = OwnedOpening { epoch, project: project.map(Into::into), agent: agent.map(Into::into) };
        let mut own =
            CallingHost::open(&native, opening, &scheme, &mut own_store).map_err(|error| error.to_string())?;
        for (number, call) in (1..).zip(&calls) {
            let now = time(number, epoch);
            let expected = own.call(now, &call.tool, call.input.to_string()).map_err(|error| error.to_string())?;
            let request = json!({ "call": {
                "id": number.to_string(), "now": value(&now)?, "tool": call.tool, "input": call.input,
            } });
            let answer = driver.ask(&request)?;
            let Some(actual) = answer.get("ok") else {
                return Err(Ended::Failed(format!("{} gave {}", short(&request), short(&answer))));
            };
            let expected = comparable(expected.json()?, compares_reads, &mut own_numbers);
            let actual = comparable(actual.clone(), compares_reads, &mut numbers);
            let difference = first_difference(&expected, &actual);
            if let Some(Difference { at, recorded, actual, .. }) = difference {
                let shown = |value: Option<Value>| value.map_or("nothing".to_string(), |value| short(&value));
                let (expected, actual) = (shown(recorded), shown(actual));
                check!(
                    false,
                    "call {number} of opening {epoch}, {}: `{at}` is {actual} instead of {expected}",
                    short(&request)
                );
            }
        }
    }
    Ok(())
}

/// Returns the result of a call without what may differ between hosts.
fn comparable(mut called: Value, compares_reads: bool, numbers: &mut Vec<String>) -> Value {
    if let Some(Value::Array(requests)) = called.get_mut("requests") {
        // A host may perform requests in any order. A key ends in the number of its request.
        requests.sort_by_cached_key(|request| {
            let key = request.get("key").and_then(Value::as_str).unwrap_or_default();
            key.rsplit('.').next().and_then(|number| number.parse::<u64>().ok())
        });
        if !compares_reads {
            requests.retain(is_change);
            // Reads count too.
            requests.iter_mut().filter_map(Value::as_object_mut).for_each(|request| drop(request.remove("key")));
        }
        let mut number_of = |version: &Value| {
            if !compares_reads {
                return 0;
            }
            let text = version.to_string();
            numbers.iter().position(|number| *number == text).unwrap_or_else(|| {
                numbers.push(text);
                numbers.len() - 1
            })
        };
        requests.iter_mut().filter_map(|request| request.get_mut("op")).for_each(|op| hide(op, &mut number_of));
    }
    without_nulls(&mut called);
    called
}

/// Returns true if a request changes a file that is not the index.
fn is_change(request: &Value) -> bool {
    let Some((kind, fields)) = request.get("op").and_then(Value::as_object).and_then(|op| op.iter().next()) else {
        return false;
    };
    let path = fields.get("path").and_then(Value::as_str).unwrap_or_default();
    !["read", "list-directory"].contains(&kind.as_str()) && !path.contains(INDEX)
}

/// Replaces what differs between hosts: versions, and the bytes of the index.
fn hide(op: &mut Value, number_of: &mut impl FnMut(&Value) -> usize) {
    for fields in op.as_object_mut().into_iter().flat_map(|op| op.values_mut()).filter_map(Value::as_object_mut) {
        fields.remove("unless");
        if fields.get("path").and_then(Value::as_str).is_some_and(|path| path.contains(INDEX)) {
            fields.remove("content");
        }
        if let Some(Value::Object(condition)) = fields.get_mut("precondition")
            && let Some(version) = condition.get_mut("matches")
        {
            *version = number_of(version).into();
        }
    }
}

/// Removes absent options, which a driver may leave out.
fn without_nulls(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, value| !value.is_null());
            fields.values_mut().for_each(without_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(without_nulls),
        _ => {}
    }
}
