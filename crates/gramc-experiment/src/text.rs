//! Numbers as text.

/// A fraction in percent, with at most two decimals.
pub(crate) fn percent(fraction: f64) -> String {
    let percent = (1e4 * fraction).round() / 1e2;
    percent.to_string()
}

/// A p-value for users.
pub(crate) fn p_value(p: f64) -> String {
    match p {
        p if p.is_nan() => "–".to_owned(),
        p if p < 0.0001 => "< 0.0001".to_owned(),
        p => format!("{p:.4}"),
    }
}
