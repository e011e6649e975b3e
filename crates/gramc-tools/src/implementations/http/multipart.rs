//! Bodies of `multipart/form-data`.
//!
//! The module of `reqwest` for them would bring a list of all media types along, to guess from names
//! of files that calls do not have.

use serde_json::Value;
use uuid::Uuid;

use super::values::text;

/// A body in the making.
pub(super) struct Multipart {
    boundary: String,
    body: Vec<u8>,
}

impl Multipart {
    pub(super) fn new() -> Self {
        // A random boundary, which no value contains.
        Self { boundary: format!("gramc-{}", Uuid::new_v4().simple()), body: Vec::new() }
    }

    /// Adds a value: a scalar as text, anything else as JSON.
    pub(super) fn add(&mut self, name: &str, value: &Value, media_type: Option<&str>) {
        let is_json = value.is_object() || value.is_array();
        let media_type = media_type.or(is_json.then_some("application/json"));
        self.part(name, "", media_type, text(value).as_bytes());
    }

    pub(super) fn add_file(&mut self, name: &str, bytes: &[u8], media_type: Option<&str>) {
        let file = format!("; filename=\"{}\"", quote(name));
        self.part(name, &file, media_type.or(Some("application/octet-stream")), bytes);
    }

    fn part(&mut self, name: &str, file: &str, media_type: Option<&str>, value: &[u8]) {
        let (boundary, name) = (&self.boundary, quote(name));
        let kind = media_type.map(|it| format!("Content-Type: {it}\r\n")).unwrap_or_default();
        let head = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"{file}\r\n{kind}\r\n"
        );
        self.body.extend_from_slice(head.as_bytes());
        self.body.extend_from_slice(value);
        self.body.extend_from_slice(b"\r\n");
    }

    /// The content type and the body.
    pub(super) fn finish(mut self) -> (String, Vec<u8>) {
        let boundary = self.boundary;
        self.body.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
        (format!("multipart/form-data; boundary={boundary}"), self.body)
    }
}

/// A name between quotes, as browsers write it.
fn quote(name: &str) -> String {
    name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}
