//! Compares received parameter names with declared ones.

use crate::names::opposites::{MAX_LENGTH, plain, words};

pub(super) use crate::names::opposites::are_opposite;

/// Words that models confuse in parameter names, taken from their invalid calls.
const ALIKE: [&[&str]; 8] = [
    &["path", "file", "filename", "filepath", "pathname", "location"],
    &["query", "q", "search", "term", "keyword", "keywords"],
    &["text", "content", "contents", "body", "message", "data"],
    &["url", "uri", "link", "href", "address"],
    &["id", "identifier", "key"],
    &["limit", "count", "max", "maximum", "size", "number", "n"],
    &["dir", "directory", "folder"],
    &["cmd", "command", "script"],
];

/// The subset of these words that are equivalent in every tool.
const SAME: [&[&str]; 6] = [
    &["path", "file", "filename", "filepath", "pathname"],
    &["query", "q"],
    &["url", "uri"],
    &["id", "identifier"],
    &["dir", "directory", "folder"],
    &["cmd", "command"],
];

/// Whether a received name is likely a variant of a declared one.
pub(super) fn is_near(sent: &str, declared: &str) -> bool {
    if sent.len() > MAX_LENGTH || declared.len() > MAX_LENGTH {
        return false;
    }
    // Most names are not similar, so the expensive comparison of words comes last.
    is_similar(sent, declared) && !are_opposite(sent, declared)
}

/// Whether two names differ only in case and separators: `dry_run`, `dryRun`.
pub(super) fn is_variant(sent: &str, declared: &str) -> bool {
    sent.len() <= MAX_LENGTH && plain(sent) == plain(declared) && !plain(sent).is_empty()
}

fn is_similar(sent: &str, declared: &str) -> bool {
    let (sent_letters, declared_letters) = (plain(sent), plain(declared));
    if sent_letters == declared_letters || share_a_group(&ALIKE, &sent_letters, &declared_letters) {
        return true;
    }
    let most = (declared_letters.chars().count() / 3).clamp(1, 3);
    // Nearly all very short names are similar to each other.
    if declared_letters.len() > 3 && strsim::osa_distance(&sent_letters, &declared_letters) <= most
    {
        return true;
    }
    let (long, short) = if sent_letters.len() > declared_letters.len() {
        (&sent_letters, &declared_letters)
    } else {
        (&declared_letters, &sent_letters)
    };
    if long.len() == short.len() {
        return in_order(&sent_letters) == in_order(&declared_letters) && is_same(sent, declared);
    }
    short.len() > 3
        && (long.starts_with(short.as_str())
            || (long.ends_with(short.as_str()) && holds_at_end(&words(sent), &words(declared))))
}

/// The letters of a name, sorted.
fn in_order(letters: &str) -> Vec<char> {
    let mut letters: Vec<_> = letters.chars().collect();
    letters.sort_unstable();
    letters
}

/// Whether a received name may be corrected to a declared one: the same words in another case,
/// order or grammatical number, or one typo in a word.
pub(super) fn is_same(sent: &str, declared: &str) -> bool {
    if sent.len() > MAX_LENGTH || declared.len() > MAX_LENGTH || are_opposite(sent, declared) {
        return false;
    }
    let (plain_sent, plain_declared) = (plain(sent), plain(declared));
    if plain_sent == plain_declared || share_a_group(&SAME, &plain_sent, &plain_declared) {
        return true;
    }
    let (sent, declared) = (words(sent), words(declared));
    // A longer name is another parameter: `message_id` is not `message`.
    if sent.len() != declared.len() {
        return false;
    }
    let (mut one, mut other) = (sent.clone(), declared.clone());
    one.sort_unstable();
    other.sort_unstable();
    let mut different = sent.iter().zip(&declared).filter(|(sent, declared)| sent != declared);
    one == other
        || matches!(
            (different.next(), different.next()),
            (Some((sent, declared)), None) if is_slip(sent, declared)
        )
}

/// Whether two words differ by one inserted, deleted or swapped letter. A replaced letter only
/// counts in long words, because short ones are often different words.
fn is_slip(sent: &str, declared: &str) -> bool {
    let long = declared.chars().count();
    let same_length = sent.chars().count() == long;
    let swapped = strsim::levenshtein(sent, declared) > 1;
    strsim::osa_distance(sent, declared) == 1
        && sent.chars().next() == declared.chars().next()
        && long >= if same_length && !swapped { 7 } else { 5 }
}

fn share_a_group(groups: &[&[&str]], one: &str, other: &str) -> bool {
    groups.iter().any(|group| group.contains(&one) && group.contains(&other))
}

/// Whether one name ends with the words of the other.
fn holds_at_end(one: &[String], other: &[String]) -> bool {
    one.ends_with(other) || other.ends_with(one)
}

#[cfg(test)]
mod tests {
    use super::{is_near, is_same};

    #[test]
    fn slips_are_near() {
        for (sent, declared) in [
            ("file", "path"),
            ("filePath", "file_path"),
            ("pth", "path"),
            ("querry", "query"),
            ("user", "user_name"),
            ("max", "limit"),
            ("desc", "description"),
        ] {
            assert!(is_near(sent, declared), "{sent} {declared}");
        }
        for (sent, declared) in
            [("a", "b"), ("password", "path"), ("unit", "city"), ("", "x"), ("text", "context")]
        {
            assert!(!is_near(sent, declared), "{sent} {declared}");
        }
    }

    #[test]
    fn what_surely_means_the_same_is() {
        for (sent, declared) in [
            ("file", "path"),
            ("filePath", "file_path"),
            ("Limit", "limit"),
            ("name_user", "userName"),
            ("qery", "query"),
            ("tag", "tags"),
            ("recieve", "receive"),
        ] {
            assert!(is_same(sent, declared), "{sent} {declared}");
            assert!(is_near(sent, declared), "{sent} {declared}");
        }
        for (sent, declared) in [
            ("text", "context"),
            ("max", "limit"),
            ("state", "stage"),
            ("date", "data"),
            ("hour", "your"),
            ("price", "max_price"),
            ("id", "user_id"),
            ("pth", "path"),
            ("x", ""),
            ("user", "user_name"),
            ("message_id", "message"),
            ("timeout_ms", "timeout"),
            ("skip_include", "include"),
            ("commit_message", "message"),
        ] {
            assert!(!is_same(sent, declared), "{sent} {declared}");
        }
    }

    #[test]
    fn nothing_is_meant_for_its_opposite() {
        for (sent, declared) in [
            ("min_price", "max_price"),
            ("minprice", "maxPrice"),
            ("exclude", "include"),
            ("export", "import"),
            ("created_before", "createdAfter"),
            ("start", "end"),
            ("start_date", "endDate"),
            ("fromDate", "toDate"),
            ("first_name", "last_name"),
            ("source_path", "target_path"),
            ("enable", "disable"),
            ("lock", "unlock"),
            ("no_cache", "cache"),
            ("oldText", "newText"),
        ] {
            for (one, other) in [(sent, declared), (declared, sent)] {
                assert!(!is_near(one, other), "{one} {other}");
                assert!(!is_same(one, other), "{one} {other}");
            }
        }
    }
}
