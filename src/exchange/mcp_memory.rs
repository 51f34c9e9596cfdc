//! `memory.jsonl` of the reference memory server of the Model Context Protocol: entities with observations, and
//! relations between them.
//!
//! An imported entry keeps its entity in the tag `entity:<name>`, and is exported as an observation of that entity.
//! Any other entry is exported as an entity of the type `memory:<category>`. Its content is the only observation; its
//! tags are relations of the type `tagged`.

use serde_json::Value;

use super::json::{for_each_object, quoted, text_field};
use super::text::hash8;
use super::types::{Converted, Output, TextFile};
use crate::entries::ForeignEntry;
use saddlebag_collections::{
    prelude::*,
    sorted::{SortedMap, SortedSet},
};

/// Prefix of the tag with the name of the entity.
const ENTITY: &str = "entity:";
/// Prefix of the tag with the type of the entity.
const TYPE: &str = "type:";
/// Prefix of the tag of a relation, before its type and target.
const RELATION: &str = "rel:";
/// Tag of an entry for an entity without observations.
const EMPTY: &str = "mcp:no-observation";
/// Tag of an entry for an entity that only relations name.
const UNKNOWN: &str = "mcp:no-entity";
/// Prefix of the category, in the type of an entity for our own entry.
const OWN_TYPE: &str = "memory:";
/// Type of the relation to a tag.
const TAGGED: &str = "tagged";

#[derive(Default)]
struct Entity {
    name: String,
    kind: Option<String>,
    line: u32,
    observations: Vec<String>,
    relations: Vec<(String, String)>,
}

/// Entities, in the order in which they appear.
#[derive(Default)]
struct Graph {
    entities: Vec<Entity>,
    places: SortedMap<String, usize>,
    /// Observations of each entity, to drop duplicates.
    said: SortedSet<(usize, String)>,
    related: SortedSet<(usize, String, String)>,
}

impl Graph {
    /// Returns the index of an entity, and adds the entity if it is new.
    fn place(&mut self, name: &str, line: u32) -> usize {
        if let Some(&place) = self.places.get(name) {
            return place;
        }
        let place = self.entities.len();
        self.entities.push(Entity { name: name.into(), line, ..Entity::default() });
        self.places.insert(name.into(), place);
        place
    }

    /// Sets the type of an entity. If an entity appears twice, the server keeps the first type.
    fn describe(&mut self, place: usize, kind: String) {
        if let Some(entity) = self.entities.get_mut(place) {
            entity.kind.get_or_insert(kind);
        }
    }

    fn observe(&mut self, place: usize, text: String) {
        if self.said.insert((place, text.clone()))
            && let Some(entity) = self.entities.get_mut(place)
        {
            entity.observations.push(text);
        }
    }

    fn relate(&mut self, place: usize, (kind, to): (String, String)) {
        if self.related.insert((place, kind.clone(), to.clone()))
            && let Some(entity) = self.entities.get_mut(place)
        {
            entity.relations.push((kind, to));
        }
    }

    fn read_line(&mut self, object: &Value, number: u32) -> Result<(), String> {
        let needed = |name: &str| text_field(object, name)?.ok_or_else(|| format!("it has no `{name}`"));
        match needed("type")?.as_str() {
            "entity" => {
                let (name, kind) = (needed("name")?, needed("entityType")?);
                let Some(Value::Array(items)) = object.get("observations") else {
                    return Err("it has no array `observations`".into());
                };
                let texts: Option<Vec<String>> = items.iter().map(|item| item.as_str().map(String::from)).collect();
                let texts = texts.ok_or("an observation is not a string")?;
                let place = self.place(&name, number);
                self.describe(place, kind);
                texts.into_iter().filter(|text| !text.is_empty()).for_each(|text| self.observe(place, text));
                Ok(())
            }
            "relation" => {
                let relation = (needed("relationType")?, needed("to")?);
                let place = self.place(&needed("from")?, number);
                self.relate(place, relation);
                Ok(())
            }
            other => Err(format!("unknown type `{}`; the types are `entity` and `relation`", other.escape_debug())),
        }
    }
}

pub(super) fn read(file: &TextFile<'_>, converted: &mut Converted) {
    let mut graph = Graph::default();
    for_each_object(file, converted, |object, number, _| graph.read_line(object, number));
    graph.entities.iter().for_each(|entity| entity.give(file, converted));
}

impl Entity {
    fn give(&self, file: &TextFile<'_>, converted: &mut Converted) {
        let Self { name, kind, line, observations, relations } = self;
        let own = kind.as_deref().and_then(|kind| kind.strip_prefix(OWN_TYPE)).filter(|category| !category.is_empty());
        if let (Some(category), [content]) = (own, observations.as_slice()) {
            let tag = |(kind, to): &(String, String)| match kind.as_str() {
                TAGGED => to.clone(),
                kind => format!("{RELATION}{kind}:{to}"),
            };
            let tags = relations.iter().map(tag).collect();
            let entry = file.entry(*line, name.clone(), category, content);
            return converted.entries.push(ForeignEntry { tags, ..entry });
        }
        let mut tags = [format!("{ENTITY}{name}")].to_vec();
        tags.extend(kind.iter().map(|kind| format!("{TYPE}{kind}")));
        let related = relations.iter().map(|(kind, to)| format!("{RELATION}{kind}:{to}"));
        if observations.is_empty() {
            tags.push(if kind.is_some() { EMPTY } else { UNKNOWN }.into());
            tags.extend(related);
            let entry = file.entry(*line, format!("mcp_{name}"), "core", name);
            return converted.entries.push(ForeignEntry { tags, ..entry });
        }
        // The first observation of an entity carries its relations.
        let mut related: Vec<String> = related.collect();
        for content in observations {
            let tags = tags.iter().cloned().chain(core::mem::take(&mut related)).collect();
            let entry = file.entry(*line, format!("mcp_{name}#{}", hash8(content)), "core", content);
            converted.entries.push(ForeignEntry { tags, ..entry });
        }
    }
}

pub(super) fn export(entries: &[ForeignEntry]) -> Output {
    let mut exported = Output::default();
    let mut graph = Graph::default();
    for entry in entries {
        let tag = |prefix: &str| entry.tags.iter().find_map(|tag| tag.strip_prefix(prefix)).map(str::to_string);
        let has = |name: &str| entry.tags.iter().any(|tag| tag == name);
        let relation = |tag: &str| {
            let (kind, to) = tag.strip_prefix(RELATION)?.split_once(':')?;
            Some((kind.to_string(), to.to_string()))
        };
        let Some(name) = tag(ENTITY) else {
            if graph.places.contains_key(&entry.key) {
                exported.leave_out(entry, "another entity has this name");
                continue;
            }
            let place = graph.place(&entry.key, 0);
            graph.describe(place, format!("{OWN_TYPE}{}", entry.category));
            graph.observe(place, entry.content.clone());
            for tag in &entry.tags {
                graph.relate(place, relation(tag).unwrap_or_else(|| (TAGGED.into(), tag.clone())));
            }
            continue;
        };
        let place = graph.place(&name, 0);
        if !has(UNKNOWN) {
            graph.describe(place, tag(TYPE).unwrap_or_else(|| entry.category.clone()));
        }
        if !has(EMPTY) && !has(UNKNOWN) {
            graph.observe(place, entry.content.clone());
        }
        for tag in &entry.tags {
            relation(tag).into_iter().for_each(|relation| graph.relate(place, relation));
        }
    }
    let entities = &graph.entities;
    let described = entities.iter().filter_map(|entity| {
        let observations: Vec<String> = entity.observations.iter().map(|text| quoted(text)).collect();
        let (name, kind) = (quoted(&entity.name), quoted(entity.kind.as_deref()?));
        let observations = observations.join(",");
        Some(format!("{{\"type\":\"entity\",\"name\":{name},\"entityType\":{kind},\"observations\":[{observations}]}}"))
    });
    let related = entities.iter().flat_map(|entity| {
        entity.relations.iter().map(|(kind, to)| {
            let (from, to, kind) = (quoted(&entity.name), quoted(to), quoted(kind));
            format!("{{\"type\":\"relation\",\"from\":{from},\"to\":{to},\"relationType\":{kind}}}")
        })
    });
    let lines: Vec<String> = described.chain(related).collect();
    exported.file("memory.jsonl".into(), lines.join("\n"));
    exported
}
