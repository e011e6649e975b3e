//! Which operations are imported.

use crate::source::SourceOperation;

/// Patterns of operations. `*` matches any characters.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Filter<'f> {
    pub(crate) include: &'f [String],
    pub(crate) exclude: &'f [String],
    pub(crate) tags: &'f [String],
}

impl Filter<'_> {
    /// Whether an operation is imported.
    pub(crate) fn chooses(&self, name: &str, operation: &SourceOperation<'_>) -> bool {
        let place = operation.place();
        let texts = [name, operation.id.unwrap_or(name), &place, &operation.path];
        let is_any = |patterns: &[String]| {
            patterns.iter().any(|pattern| texts.iter().any(|text| is_match(pattern, text)))
        };
        let has_tag = |tag: &String| operation.tags.iter().any(|known| is_match(tag, known));
        (self.include.is_empty() || is_any(self.include))
            && !is_any(self.exclude)
            && (self.tags.is_empty() || self.tags.iter().any(has_tag))
    }
}

/// Whether a text matches a pattern, letter case aside.
fn is_match(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.to_lowercase(), text.to_lowercase());
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else {
        return false;
    };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = rest.get(at + part.len()..).unwrap_or_default(),
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::is_match;

    #[test]
    fn a_star_matches_any_characters() {
        for (pattern, text, expected) in [
            ("getPet", "getPet", true),
            ("getpet", "getPet", true),
            ("getPet", "getPets", false),
            ("get*", "getPet", true),
            ("*Pet", "getPet", true),
            ("*pet*", "getPetById", true),
            ("get*Id", "getPetById", true),
            ("GET /pets*", "GET /pets/{id}", true),
            ("a*a", "a", false),
            ("a*b*c", "a-c", false),
            ("*", "", true),
        ] {
            assert_eq!(is_match(pattern, text), expected, "{pattern} {text}");
        }
    }
}
