//! Parameters that were accepted before the text of the arguments was complete.

/// The accepted parameters.
#[derive(Debug)]
pub(crate) struct JudgedValues {
    /// In the order of the text.
    pub(super) values: Vec<JudgedValue>,
    /// The values as the implementation receives them.
    pub(super) out: String,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct JudgedValue {
    /// The index of the parameter.
    pub(super) parameter: usize,
    /// The node of the value.
    pub(super) node: u32,
    /// The span in `JudgedValues::out`.
    pub(super) start: usize,
    pub(super) end: usize,
    /// The number of steps of the validation, if it changed nothing: all rules accept the value.
    pub(super) steps: Option<usize>,
}

impl JudgedValues {
    pub(super) fn find(&self, node: u32) -> Option<JudgedValue> {
        let place = self.values.binary_search_by_key(&node, |value| value.node).ok()?;
        self.values.get(place).copied()
    }

    /// The JSON of a value.
    pub(super) fn json(&self, value: JudgedValue) -> &str {
        self.out.get(value.start..value.end).unwrap_or_default()
    }
}
