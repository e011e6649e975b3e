//! The grammar of type expressions accepts what gramc accepts.

use gramc_language_tests::campaign;
use gramc_language_tests::rng::Rng;
use gramc_language_tests::type_expressions::{edited, is_type};

use crate::tree_sitter::{Grammar, parse};

#[test]
fn type_expressions_get_our_verdict() {
    let mut parser = Grammar::Type.parser();
    let (seed, cases) = (campaign::seed().wrapping_add(12), campaign::cases() / 4);
    let mut accepted = 0;
    for case in 0..cases {
        let mut rng = Rng::for_case(seed, case);
        let text = edited(&mut rng);
        // Tree-sitter passes over a byte order mark at the start of any text.
        if text.starts_with('\u{feff}') {
            continue;
        }
        let wanted = is_type(&text);
        accepted += usize::from(wanted);
        let (found, sexp) = parse(&mut parser, &text);
        assert_eq!(found, wanted, "case {case} of seed {seed}: {text:?}\n{sexp}");
    }
    assert!(accepted * 4 > cases && accepted * 10 < cases * 9, "{accepted} of {cases} are types");
}
