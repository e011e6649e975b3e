//! Repairs values of the wrong type whose meaning is certain.

use gramc_json_schema::text::MAX_DEPTH;
use gramc_json_schema::type_set::TypeSet;
use serde_json::Value;

use super::json_repair;
use super::number;
use super::problem::{NoteDetail, ProblemCode, RepairRule};
use super::received::Received;
use super::report::MalformedArguments;
use super::shape::{AllowedValues, Composition, Shape, ShapeId};
use super::tape::{NodeKind, Tape};
use super::validate::ValidationRun;

/// The maximum number of arrays to wrap a value in. Recursive array types would allow any number.
const MAX_AROUND: u32 = 4;

/// Strings that mean true, in lowercase.
const YES: [&str; 4] = ["true", "1", "yes", "on"];
/// Strings that mean false, in lowercase.
const NO: [&str; 4] = ["false", "0", "no", "off"];

/// Whether a string looks like an array or an object.
fn is_enclosed(text: &str) -> bool {
    let text = text.trim();
    (text.starts_with('[') && text.ends_with(']')) || (text.starts_with('{') && text.ends_with('}'))
}

/// Whether a string cannot be the text of several items, or of none.
fn is_single(text: &str) -> bool {
    let text = text.trim();
    let begins = |c: char| matches!(c, '[' | '(' | '{' | '<' | '"' | '\'' | '`' | '-' | '*' | '•');
    !text.is_empty()
        && !text.starts_with(begins)
        && !text.contains([',', ';', '|', '\n', '\t', '、', '，'])
        && !["null", "none", "nil", "undefined", "n/a", "empty", "all"]
            .iter()
            .any(|word| text.eq_ignore_ascii_case(word))
        && !text.split_whitespace().any(|word| matches!(word, "and" | "or" | "&"))
        && (!text.contains(' ')
            || text.split_whitespace().any(|word| !word.contains(['/', '\\', '.', '@', ':'])))
}

/// The type of the JSON that a string begins with, if it is an object or an array.
fn kind_in(text: &str) -> Option<TypeSet> {
    match text.trim_start().as_bytes().first()? {
        b'{' => Some(TypeSet::OBJECT),
        b'[' => Some(TypeSet::ARRAY),
        _ => None,
    }
}

impl ValidationRun<'_> {
    /// Handles a value of a type that the shape does not accept.
    pub(super) fn other_kind(&mut self, received: Received<'_>, shape: &Shape) -> bool {
        if self.rules.repair {
            let node = received.node();
            if matches!(node.kind, NodeKind::Plain | NodeKind::Escaped) {
                let text = received.content();
                if let Some((rule, json)) = self.meaning(shape, &text) {
                    return self.instead(received, rule, &json);
                }
                if let Some(fits) = self.json_text(received, shape, &text) {
                    return fits;
                }
            }
            if self.rules.lossy && shape.kinds.meets(TypeSet::ARRAY) && self.alone(received, shape)
            {
                return true;
            }
        }
        let detail = self.unreadable(received, shape).unwrap_or(NoteDetail::None);
        self.refuse(received, ProblemCode::TypeMismatch, detail)
    }

    /// Why a string that begins as the expected array or object does cannot be read.
    fn unreadable(&self, received: Received<'_>, shape: &Shape) -> Option<NoteDetail> {
        if self.quiet || !matches!(received.node().kind, NodeKind::Plain | NodeKind::Escaped) {
            return None;
        }
        let text = received.content();
        if !shape.kinds.meets(kind_in(&text)?) {
            return None;
        }
        let error = Tape::read(&text).err()?;
        let (at, what) = match json_repair::repair(&text) {
            Ok(_) => (error.at, error.what),
            Err(unclear) => (unclear.at, unclear.what),
        };
        let MalformedArguments { line, column, .. } = MalformedArguments::new(&text, at, what);
        Some(NoteDetail::NotJson(format!("{what} (line {line}, column {column})").into()))
    }

    /// The boolean or number that a string certainly represents, if the shape accepts it.
    fn meaning(&self, shape: &Shape, text: &str) -> Option<(RepairRule, String)> {
        let wants = |kinds| shape.kinds.meets(kinds);
        let boolean = wants(TypeSet::BOOLEAN).then(|| self.truth(text)).flatten();
        let number = wants(TypeSet::NUMBER).then(|| number::in_text(text)).flatten();
        match (boolean, number) {
            (Some(truth), None) => Some((RepairRule::TextToBoolean, truth.to_string())),
            (None, Some(number)) if number::is_whole(&number) && wants(TypeSet::INTEGER) => {
                let number = number::written_whole(&number).unwrap_or(number);
                Some((RepairRule::TextToInteger, number))
            }
            (None, Some(number)) if wants(TypeSet::FRACTION) => {
                Some((RepairRule::TextToNumber, number))
            }
            _ => None,
        }
    }

    fn truth(&self, text: &str) -> Option<bool> {
        let text = text.trim();
        let is = |word: &&str| text.eq_ignore_ascii_case(word);
        if !self.rules.lossy && !["true", "false"].iter().any(is) {
            return None;
        }
        let truth = YES.iter().any(is);
        (truth || NO.iter().any(is)).then_some(truth)
    }

    /// Replaces the received value.
    fn instead(&mut self, received: Received<'_>, rule: RepairRule, json: &str) -> bool {
        Tape::read(json).is_ok_and(|other| self.use_instead(received, rule, &other))
    }

    /// Parses a string that contains the expected array or object. `None` if it does not.
    fn json_text(&mut self, received: Received<'_>, shape: &Shape, text: &str) -> Option<bool> {
        let kinds = kind_in(text)?;
        if !shape.kinds.meets(kinds) {
            return None;
        }
        let repaired_json;
        let inner = match Tape::read(text) {
            Ok(inner) => inner,
            Err(_) if is_enclosed(text) => {
                repaired_json =
                    json_repair::repair(text).ok().filter(|it| self.rules.lossy || !it.lossy)?;
                Tape::read(&repaired_json.json).ok()?
            }
            Err(_) => return None,
        };
        if self.is_too_deep(&inner) {
            return None;
        }
        if shape.kinds.meets(TypeSet::ARRAY.or(TypeSet::STRING).without(kinds)) {
            // The string itself may be an item of an array, so its JSON only counts if it is valid.
            return self.try_instead(received, RepairRule::JsonText, &inner).then_some(true);
        }
        Some(self.use_instead(received, RepairRule::JsonText, &inner))
    }

    /// Uses another value in place of the received one if it is accepted.
    fn try_instead(&mut self, received: Received<'_>, rule: RepairRule, other: &Tape<'_>) -> bool {
        let start = self.out.len();
        let trial = self.trial(self.rules, |run| run.value(received.replace_with(other)));
        if trial.fits && self.quiet {
            self.changes += 1;
            self.keep(&trial);
            return true;
        }
        self.out.truncate(start);
        trial.fits && self.use_instead(received, rule, other)
    }

    /// Checks another value in place of the received one, and notes its output as the repair.
    fn use_instead(&mut self, received: Received<'_>, rule: RepairRule, other: &Tape<'_>) -> bool {
        let (place, start) = (self.accepted.repairs.len(), self.out.len());
        self.note_repair(received.path, rule, received.json(), None);
        self.gather_secrets(other, 0);
        let fits = self.value(received.replace_with(other));
        if fits {
            let to = self.display(self.out.get(start..).unwrap_or_default());
            if let Some(repair) = self.accepted.repairs.get_mut(place) {
                repair.to = Some(to);
            }
        }
        fits
    }

    /// Whether a value is certainly a single item: a string that is no written list, or an object
    /// with a declared field.
    fn is_item(&self, received: Received<'_>, items: Option<ShapeId>) -> bool {
        let item = items.map(|id| self.shapes.behind(id));
        match received.node().kind {
            NodeKind::Null | NodeKind::List => false,
            NodeKind::True | NodeKind::False | NodeKind::Number => true,
            NodeKind::Plain | NodeKind::Escaped => {
                let text = received.content();
                is_single(&text)
                    || item
                        .and_then(|item| item.values.as_ref())
                        .is_some_and(|values| values.list.iter().any(|it| *it == *text))
            }
            NodeKind::Object => {
                let t = received.tape;
                let fields = item.and_then(|item| item.object.as_deref());
                t.entries(received.at).any(|(key, _)| {
                    fields.is_some_and(|it| it.field(&t.content(t.node(key)), 0).is_some())
                })
            }
        }
    }

    /// Wraps a value in an array.
    fn alone(&mut self, received: Received<'_>, shape: &Shape) -> bool {
        let list = format!("[{}]", received.json());
        let Ok(wrapped) = Tape::read(&list) else { return false };
        if self.is_too_deep(&wrapped) {
            return false;
        }
        let rules = shape.list.as_deref();
        if !self.is_item(received, rules.and_then(|rules| rules.rest)) {
            return false;
        }
        if rules.is_some_and(|rules| rules.first.len() > 1)
            || rules
                .and_then(|rules| rules.rest)
                .is_some_and(|items| self.leads_back(items, received.shape))
        {
            return false;
        }
        if self.alone == MAX_AROUND {
            return false;
        }
        self.alone += 1;
        let fits = self.try_instead(received, RepairRule::SingleToList, &wrapped);
        self.alone -= 1;
        fits
    }

    /// Whether a separately parsed value exceeds the nesting depth at its position. Otherwise,
    /// strings within strings could nest without limit.
    fn is_too_deep(&self, inner: &Tape<'_>) -> bool {
        self.depth + inner.depth() > MAX_DEPTH
    }

    /// Whether the items of an array may be the array itself. A single value is not wrapped then:
    /// it would already be valid, or it would be wrapped forever.
    fn leads_back(&self, items: ShapeId, list: ShapeId) -> bool {
        let behind = |id: ShapeId| match self.shapes.list[id as usize].others {
            Composition::Same(other) => other,
            _ => id,
        };
        let items = behind(items);
        items == list
            || match &self.shapes.list[items as usize].others {
                Composition::Any(members) | Composition::One(members) => {
                    members.iter().any(|&member| behind(member) == list)
                }
                _ => false,
            }
    }

    /// Handles a value of the right type that is not one of the allowed values.
    pub(super) fn other_value(&mut self, received: Received<'_>, values: &AllowedValues) -> bool {
        let node = received.node();
        if self.rules.repair
            && self.rules.lossy
            && matches!(node.kind, NodeKind::Plain | NodeKind::Escaped)
            && let Some(member) = values.in_another_case(&received.content())
        {
            let json = Value::from(member).to_string();
            return self.instead(received, RepairRule::EnumCase, &json);
        }
        let code =
            if values.constant { ProblemCode::ConstMismatch } else { ProblemCode::NotInEnum };
        self.refuse(received, code, NoteDetail::None)
    }
}
