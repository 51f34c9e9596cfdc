//! JSON Schemas, generated from the fields of the table.

use super::json::Object;
use super::spec::{Field, Kind};
use saddlebag_collections::prelude::*;

/// Returns the schema of an object with these fields. If `closed` is set, the object may have no other fields.
pub(super) fn of(fields: &[Field], closed: bool) -> String {
    let mut properties = Object::new();
    for field in fields {
        properties.object(field.name, &property(field));
    }
    let mut schema = Object::new();
    schema.text("type", "object");
    schema.object("properties", &properties);
    let required: Vec<&str> = fields.iter().filter(|field| field.required).map(|field| field.name).collect();
    if !required.is_empty() {
        schema.texts("required", &required);
    }
    if closed {
        schema.flag("additionalProperties", false);
    }
    schema.finish().into_string()
}

fn property(field: &Field) -> Object {
    let mut property = Object::new();
    let array = |items: &str, property: &mut Object| {
        let mut of_items = Object::new();
        of_items.text("type", items);
        property.text("type", "array");
        property.object("items", &of_items);
    };
    match field.kind {
        Kind::Text => property.text("type", "string"),
        Kind::Word(words) => {
            property.text("type", "string");
            property.texts("enum", words);
        }
        Kind::Flag => property.text("type", "boolean"),
        Kind::Integer { least, most } => {
            property.text("type", "integer");
            if least > i64::MIN {
                property.number("minimum", least);
            }
            if most < i64::MAX {
                property.number("maximum", most);
            }
        }
        Kind::Texts(most) => {
            array("string", &mut property);
            if most < usize::MAX {
                property.number("maxItems", i64::try_from(most).unwrap_or(i64::MAX));
            }
        }
        Kind::Range => {
            array("integer", &mut property);
            property.number("minItems", 2);
            property.number("maxItems", 2);
        }
        Kind::Objects => array("object", &mut property),
    }
    if !field.description.is_empty() {
        property.text("description", field.description);
    }
    property
}
