//! The conformance kit on the host of the local disk: calls of tools have the requests and answers of the kit's own host.

use saddlebag_conformance::{HostDriver, Part, check_driver};
use saddlebag_host::Durability;
use support::{Kind, both_engines, try_engine};

#[both_engines]
fn calls_of_tools_conform(kind: Kind) {
    let driver = move || -> Box<dyn FnMut(&str) -> String> {
        let mut driver = HostDriver::local(Durability::Fast, move |config| try_engine(kind, config));
        Box::new(move |line| driver.answer(line))
    };
    check_driver(&[Part::Loop], driver).unwrap();
}
