//! Schemas of draft 7, with sentences for what that draft cannot express.

use gramc_json_schema::draft7::{LostKeyword, to_draft7};
use gramc_json_schema::pointer::{below, dotted};
use serde_json::Value;

use crate::lower::{Became, Loss, Lowered, Restore, add_sentence, constraint_sentence};

/// Rewrites the schema of a tool's parameters.
pub(super) fn lower(tool: &str, schema: &Value) -> Lowered {
    let written = to_draft7(schema);
    let mut value = written.schema;
    let mut losses = Vec::new();
    for LostKeyword { from, place, keyword, value: lost } in written.lost {
        let sentence = constraint_sentence(keyword, &lost, schema);
        let place = value.pointer_mut(&place).and_then(Value::as_object_mut);
        let became = match (sentence, place) {
            (Some(sentence), Some(place)) => {
                add_sentence(place, sentence.clone());
                Became::sentence(sentence)
            }
            _ => Became::dropped("draft 7 has no such keyword"),
        };
        losses.push(Loss {
            tool: tool.to_owned(),
            path: dotted(&below(&from, keyword.name())).into_owned(),
            constraint: keyword.name().to_owned(),
            value: lost,
            became,
        });
    }
    Lowered { value, losses, restore: Restore::default() }
}
