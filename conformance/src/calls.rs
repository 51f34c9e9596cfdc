//! The loop: calls of tools, whose answers and requests must be those of the kit's own host in memory.
//!
//! Requests that change no file, versions and the bytes of the index are not compared: they differ between hosts.

use std::io;

use saddlebag::protocol::FsOutcome;
use saddlebag_host::{Difference, Simulator, first_difference};
use serde_json::{Value, json};

use crate::bench::Stores;
use crate::driver::{Driver, Opening, short};
use crate::host::{CallingHost, calls_of, native, time, value};
use crate::report::{Ended, Part, Ran, Report};

const PART: Part = Part::Loop;
/// Beginning of the paths of the index, whose bytes contain versions.
const INDEX: &str = ".saddlebag/index";

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
    for scenario in SCENARIOS {
        let ran = agrees(&scenario, driver, stores);
        report.add(PART, format!("{}: answers and changes are those of the kit", scenario.name), ran)?;
    }
    Ok(())
}

fn agrees(scenario: &Scenario, driver: &mut Driver, stores: &Stores) -> Ran {
    driver.ready()?;
    let Scenario { project, agent, .. } = *scenario;
    let store = stores.fresh(driver.hello())?;
    let scheme = driver.hello().version_scheme.clone();
    let calls = calls_of(scenario.calls)?;
    let mut own_store = Simulator::new(1).with_hashes_of(&scheme);
    // The second opening finds what the first one has left, such as its copy of the index.
    for epoch in [77, 78] {
        let opening = Opening { epoch, project: project.map(Into::into), agent: agent.map(Into::into) };
        driver.open(&store, &opening)?;
        if matches!(driver.perform(&"generation".into())?, Ok(FsOutcome::Generation(_))) {
            own_store = own_store.with_generation();
        }
        let mut own =
            CallingHost::open(&native, opening, &scheme, &mut own_store).map_err(|error| error.to_string())?;
        for (number, call) in (1..).zip(&calls) {
            let now = time(number, epoch);
            let expected = own.call(now, call.tool.clone(), call.input.to_string())?;
            let request = json!({ "call": {
                "id": number.to_string(), "now": value(&now)?, "tool": call.tool, "input": call.input,
            } });
            let answer = driver.ask(&request)?;
            let Some(actual) = answer.get("ok") else {
                return Err(Ended::Failed(format!("{} gave {}", short(&request), short(&answer))));
            };
            let difference = first_difference(&comparable(expected), &comparable(actual.clone()));
            if let Some(Difference { at, recorded, actual, .. }) = difference {
                let shown = |value: Option<Value>| value.map_or("nothing".to_string(), |value| short(&value));
                let (expected, actual, call) = (shown(recorded), shown(actual), short(&request));
                let place = format!("call {number} of opening {epoch}, {call}");
                return Err(Ended::Failed(format!("{place}: `{at}` is {actual} instead of {expected}")));
            }
        }
    }
    Ok(())
}

/// Returns the result of a call without what may differ between hosts.
fn comparable(mut called: Value) -> Value {
    if let Some(Value::Array(requests)) = called.get_mut("requests") {
        // A host may perform requests in any order. A key ends in the number of its request.
        requests.sort_by_cached_key(|request| {
            let key = request.get("key").and_then(Value::as_str).unwrap_or_default();
            key.rsplit('.').next().and_then(|number| number.parse::<u64>().ok())
        });
        requests.retain_mut(|request| {
            // Reads count too.
            request.as_object_mut().map(|request| request.remove("key"));
            let op = request.get_mut("op").and_then(Value::as_object_mut).and_then(|op| op.iter_mut().next());
            let Some((kind, fields)) = op else { return false };
            if let Some(version) = fields.pointer_mut("/precondition/matches") {
                *version = Value::Null;
            }
            let path = fields.get("path").and_then(Value::as_str).unwrap_or_default();
            !["read", "list-directory"].contains(&kind.as_str()) && !path.contains(INDEX)
        });
    }
    without_nulls(&mut called);
    called
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
