//! The texts of formats, as far as they have a short grammar. Each is a text that the check of calls
//! accepts; unusual ones are left out.

use gramc_json_schema::regular::{Language, Regex};
use gramc_json_schema::strings::CHECKED_FORMATS;

/// Texts of a format, or `None` if any text has it.
pub(crate) fn texts(format: &str) -> Option<Regex> {
    CHECKED_FORMATS.contains(&format).then(|| translate(&source(format)))
}

/// Texts of a format that patterns often ask for in addition.
pub(crate) fn variants(format: &str) -> Vec<Regex> {
    let schemes: &[&str] = if format == "uri" { &["https?", "https", "http"] } else { &[] };
    schemes.iter().map(|scheme| translate(&format!("{scheme}://{}", uri_rest()))).collect()
}

/// Whether some texts of a format are left out.
pub(crate) fn is_partial(format: &str) -> bool {
    matches!(format, "time" | "date-time" | "email" | "uri" | "ipv6" | "hostname")
}

/// Base64 with padding.
pub(crate) fn base64() -> Regex {
    translate("([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=|[A-Za-z0-9+/][AQgw]==)?")
}

fn translate(source: &str) -> Regex {
    // The sources are patterns that the tests translate.
    Language::of_pattern(&format!("^(?:{source})$")).map_or(Regex::NEVER, |it| it.texts)
}

const TIME: &str = r"([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)";

/// A label of a host name. Hyphens are single: in other places they announce encoded names.
const LABEL: &str = "[A-Za-z0-9]{1,20}(-[A-Za-z0-9]{1,20}){0,2}";

fn source(format: &str) -> String {
    match format {
        "date" => date(),
        "time" => TIME.to_owned(),
        "date-time" => format!("({})T({TIME})", date()),
        "duration" => {
            let time = r"T(\d+H(\d+M(\d+S)?)?|\d+M(\d+S)?|\d+S)";
            let date = r"(\d+Y(\d+M(\d+D)?)?|\d+M(\d+D)?|\d+D)";
            format!(r"P({date}({time})?|{time}|\d+W)")
        }
        "email" => {
            let atom = "[A-Za-z0-9_+-]{1,20}";
            let label = "[A-Za-z0-9]{1,20}(-[A-Za-z0-9]{1,20})?";
            format!(r"{atom}(\.{atom}){{0,2}}@({label}\.){{1,3}}[A-Za-z]{{2,20}}")
        }
        "uri" => {
            let scheme = "[A-Za-z][A-Za-z0-9+.-]*";
            let query = uri_query();
            format!("{scheme}:(//{}|{URI_CHAR}+(/{URI_CHAR}*)*{query})", uri_rest())
        }
        "uuid" => "[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}".to_owned(),
        "ipv4" => {
            let byte = r"(\d|[1-9]\d|1\d\d|2[0-4]\d|25[0-5])";
            format!(r"{byte}(\.{byte}){{3}}")
        }
        "ipv6" => ipv6(),
        _ => format!(r"{LABEL}(\.{LABEL}){{0,3}}"),
    }
}

/// A character of a path.
const URI_CHAR: &str = r"([A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})";

fn uri_query() -> String {
    format!(r"(\?({URI_CHAR}|[/?])*)?(#({URI_CHAR}|[/?])*)?")
}

/// What follows the slashes of an address.
fn uri_rest() -> String {
    format!(r"[A-Za-z0-9][A-Za-z0-9.-]*(:[1-9]\d{{0,3}})?(/{URI_CHAR}*)*{}", uri_query())
}

/// The calendar, with its leap years.
fn date() -> String {
    let leap = r"(\d\d(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)";
    let month = r"((0[13578]|1[02])-(0[1-9]|[12]\d|3[01])|(0[469]|11)-(0[1-9]|[12]\d|30)|02-(0[1-9]|1\d|2[0-8]))";
    format!(r"(\d{{4}}-{month}|{leap}-02-29)")
}

/// Eight groups, or fewer around a `::`.
fn ipv6() -> String {
    let group = "[0-9A-Fa-f]{1,4}";
    let mut source = format!("{group}(:{group}){{7}}");
    for before in 0..=7 {
        let head = match before {
            0 => String::new(),
            _ => format!("{group}(:{group}){{{}}}", before - 1),
        };
        let tail = match 7 - before {
            0 => String::new(),
            left => format!("({group}(:{group}){{0,{}}})?", left - 1),
        };
        for part in ["|", &head, "::", &tail] {
            source.push_str(part);
        }
    }
    source
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::matches;

    #[test]
    fn formats_hold_what_they_should() {
        for (format, inside, outside) in [
            (
                "date",
                &["2024-02-29", "2000-02-29", "2023-12-31", "0000-02-29"][..],
                &["2023-02-29", "1900-02-29", "2023-04-31", "2023-00-10", "2023-1-1"][..],
            ),
            ("time", &["23:59:59Z", "00:00:00.5+01:30"], &["24:00:00Z", "12:00:00", "12:60:00Z"]),
            ("date-time", &["2024-02-29T12:00:00Z"], &["2024-02-30T12:00:00Z", "2024-02-29"]),
            (
                "duration",
                &["P1D", "PT5M", "P1Y2M3DT4H5M6S", "P3W"],
                &["P", "PT", "P1Y1D", "P1WT1H", "1D"],
            ),
            (
                "email",
                &["a@b.co", "first.last+tag@mail.example.com"],
                &["a@b", "a..b@c.de", "@b.co", "a b@c.de"],
            ),
            (
                "uri",
                &["https://a.example/x?y=1#z", "urn:isbn:1", "mailto:a@b.co"],
                &["a.example", "https://", "http://a b"],
            ),
            (
                "uuid",
                &["6f1b3f3e-9c1d-4a58-8f0e-3a1c2b4d5e6f"],
                &["6f1b3f3e9c1d4a588f0e3a1c2b4d5e6f"],
            ),
            ("ipv4", &["0.0.0.0", "255.10.9.199"], &["256.1.1.1", "1.2.3", "01.2.3.4"]),
            (
                "ipv6",
                &["::", "::1", "fe80::1:2", "1:2:3:4:5:6:7:8", "1::", "1:2:3:4:5:6:7::"],
                &["1:2:3", "1::2::3", ":::", "1:2:3:4:5:6:7:8::"],
            ),
            ("hostname", &["a", "a-b.example.com"], &["-a", "a..b", "a.", "xn--a"]),
        ] {
            let texts = texts(format).unwrap_or(Regex::NEVER);
            for text in inside {
                assert!(matches(&texts, text), "{format} {text}");
            }
            for text in outside {
                assert!(!matches(&texts, text), "{format} {text}");
            }
        }
        assert_eq!(texts("int32"), None);
        assert!(
            matches(&base64(), "aGk=") && matches(&base64(), "") && !matches(&base64(), "aGl=")
        );
    }
}
