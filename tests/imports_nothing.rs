//! The component imports nothing at all.

use std::collections::BTreeMap;

use saddlebag::Config;
use support::{COMPONENT, runtime};
use wasmparser::{Instance, Parser, Payload};
use wasmtime::Store;
use wasmtime::component::Linker;

#[test]
fn imports_nothing() {
    let mut depth = 0_usize;
    let mut component_imports = Vec::new();
    let mut module_imports: Vec<Vec<String>> = Vec::new();
    let mut given: Vec<BTreeMap<u32, Vec<String>>> = Vec::new();
    for payload in Parser::new(0).parse_all(COMPONENT) {
        match payload.unwrap() {
            Payload::ModuleSection { .. } => {
                depth += 1;
                module_imports.push(Vec::new());
            }
            // The shims that name the types of the exports import only from the component itself.
            Payload::ComponentSection { .. } => depth += 1,
            Payload::ComponentImportSection(imports) if depth == 0 => {
                component_imports.extend(imports.into_iter().map(|import| import.unwrap().name.name.to_string()));
            }
            Payload::ImportSection(imports) => {
                let names = imports.into_imports().map(|import| import.unwrap().module.to_string());
                module_imports.last_mut().unwrap().extend(names);
            }
            Payload::InstanceSection(instances) => {
                given.extend(instances.into_iter().filter_map(|instance| match instance.unwrap() {
                    Instance::Instantiate { module_index, args } => {
                        let names = args.iter().map(|arg| arg.name.to_string()).collect();
                        Some(BTreeMap::from([(module_index, names)]))
                    }
                    Instance::FromExports(_) => None,
                }))
            }
            Payload::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
    }

    assert_eq!(depth, 0);
    assert_eq!(component_imports, [""; 0], "the component imports something");
    assert!(!module_imports.is_empty(), "no module was looked at");
    // A module inside may import; then the component itself supplies it, as it has nothing else to give.
    for (index, imports) in module_imports.iter().enumerate() {
        let index = u32::try_from(index).unwrap();
        let supplied: Vec<&String> = given.iter().filter_map(|instance| instance.get(&index)).flatten().collect();
        for import in imports {
            assert!(supplied.contains(&import), "module {index} imports `{import}`, which nobody inside gives it");
            assert!(!import.starts_with("wasi"), "module {index} imports `{import}`");
        }
    }
}

#[test]
fn an_empty_linker_is_enough() {
    let component = runtime().component();
    let mut store = Store::new(component.engine(), ());
    store.set_epoch_deadline(u64::MAX / 2);

    let instance = Linker::<()>::new(component.engine()).instantiate(&mut store, component);

    assert!(instance.is_ok(), "{:?}", instance.err());
    assert!(runtime().open(Config::default()).is_ok());
}
