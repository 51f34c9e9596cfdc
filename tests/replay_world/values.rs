//! Values of any component as the JSON of a trace, by their types: `docs/writing-a-host.md` describes the form.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Map, Value, json};
use wasmtime::component::{Type, Val};

const NOT_FINITE: [(&str, f64); 3] = [("NaN", f64::NAN), ("Infinity", f64::INFINITY), ("-Infinity", f64::NEG_INFINITY)];

/// Converts JSON to a value of this type.
pub(crate) fn read(json: &Value, wanted: &Type) -> Result<Val, String> {
    let refused = || format!("{json} is not a value of {wanted:?}");
    let number = || json.as_str().ok_or_else(refused);
    Ok(match wanted {
        Type::Bool => Val::Bool(json.as_bool().ok_or_else(refused)?),
        Type::U8 => Val::U8(whole(json).ok_or_else(refused)?),
        Type::S32 => Val::S32(whole(json).ok_or_else(refused)?),
        Type::U32 => Val::U32(whole(json).ok_or_else(refused)?),
        Type::S64 => Val::S64(number()?.parse().map_err(|_| refused())?),
        Type::U64 => Val::U64(number()?.parse().map_err(|_| refused())?),
        Type::Float64 => {
            let word = |text: &str| NOT_FINITE.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
            Val::Float64(json.as_f64().or_else(|| json.as_str().and_then(word)).ok_or_else(refused)?)
        }
        Type::String => Val::String(json.as_str().ok_or_else(refused)?.to_string()),
        Type::List(list) if list.ty() == Type::U8 => {
            let bytes = BASE64_STANDARD.decode(json.as_str().ok_or_else(refused)?).map_err(|_| refused())?;
            Val::List(bytes.into_iter().map(Val::U8).collect())
        }
        Type::List(list) => {
            let items = json.as_array().ok_or_else(refused)?;
            Val::List(items.iter().map(|item| read(item, &list.ty())).collect::<Result<_, _>>()?)
        }
        Type::Record(record) => {
            let fields = json.as_object().ok_or_else(refused)?;
            let field = |name: &str, wanted: &Type| {
                let value = fields.get(name).ok_or_else(|| format!("{json} has no field `{name}`"))?;
                Ok((name.to_string(), read(value, wanted)?))
            };
            Val::Record(record.fields().map(|wanted| field(wanted.name, &wanted.ty)).collect::<Result<_, String>>()?)
        }
        Type::Enum(_) => Val::Enum(json.as_str().ok_or_else(refused)?.to_string()),
        Type::Variant(variant) => {
            let (name, payload) = case(json).ok_or_else(refused)?;
            let wanted = variant.cases().find(|case| case.name == name).ok_or_else(refused)?;
            Val::Variant(name.to_string(), optional(payload, wanted.ty.as_ref())?)
        }
        Type::Option(_) if json.is_null() => Val::Option(None),
        Type::Option(option) => Val::Option(Some(Box::new(read(json, &option.ty())?))),
        Type::Result(result) => match case(json) {
            Some(("ok", payload)) => Val::Result(Ok(optional(payload, result.ok().as_ref())?)),
            Some(("err", payload)) => Val::Result(Err(optional(payload, result.err().as_ref())?)),
            _ => return Err(refused()),
        },
        other => return Err(format!("traces have no values of {other:?}")),
    })
}

/// Converts a value to JSON.
pub(crate) fn write(value: &Val) -> Result<Value, String> {
    Ok(match value {
        Val::Bool(value) => json!(value),
        Val::U8(value) => json!(value),
        Val::S32(value) => json!(value),
        Val::U32(value) => json!(value),
        Val::S64(value) => json!(value.to_string()),
        Val::U64(value) => json!(value.to_string()),
        Val::Float64(value) if value.is_finite() => json!(value),
        Val::Float64(value) if value.is_nan() => json!("NaN"),
        Val::Float64(value) => json!(if *value > 0.0 { "Infinity" } else { "-Infinity" }),
        Val::String(text) | Val::Enum(text) => json!(text),
        Val::List(items) => Value::Array(items.iter().map(write).collect::<Result<_, _>>()?),
        Val::Record(fields) => {
            let fields = fields.iter().map(|(name, value)| Ok((name.clone(), write(value)?)));
            Value::Object(fields.collect::<Result<Map<_, _>, String>>()?)
        }
        Val::Variant(name, None) => json!(name),
        Val::Variant(name, Some(payload)) => json!({ name: write(payload)? }),
        Val::Option(None) => Value::Null,
        Val::Option(Some(value)) => write(value)?,
        Val::Result(Ok(payload)) => json!({ "ok": payload.as_deref().map(write).transpose()? }),
        Val::Result(Err(payload)) => json!({ "err": payload.as_deref().map(write).transpose()? }),
        other => return Err(format!("traces have no value such as {other:?}")),
    })
}

fn whole<T: TryFrom<i64>>(json: &Value) -> Option<T> {
    json.as_i64().and_then(|number| T::try_from(number).ok())
}

/// Splits a case into its name and its payload.
fn case(json: &Value) -> Option<(&str, Option<&Value>)> {
    match json {
        Value::String(name) => Some((name, None)),
        Value::Object(fields) if fields.len() == 1 => {
            fields.iter().next().map(|(name, value)| (name.as_str(), Some(value)))
        }
        _ => None,
    }
}

fn optional(payload: Option<&Value>, wanted: Option<&Type>) -> Result<Option<Box<Val>>, String> {
    match (payload, wanted) {
        (Some(payload), Some(wanted)) => Ok(Some(Box::new(read(payload, wanted)?))),
        (None | Some(Value::Null), None) => Ok(None),
        _ => Err(format!("the payload {payload:?} is not one of {wanted:?}")),
    }
}
