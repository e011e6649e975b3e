//! The published grammar, `grammar/gram.ebnf`, against the reference: it accepts what the
//! reference accepts, and with its extensions what gramc accepts. Its type expressions are gramc's.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::{BTreeMap, BTreeSet, HashMap};

use gramc_language_tests::campaign;
use gramc_language_tests::corpus::{self, Expected};
use gramc_language_tests::generate::document;
use gramc_language_tests::mutate::mutate;
use gramc_language_tests::reference;
use gramc_language_tests::rng::Rng;
use gramc_language_tests::type_expressions::{edited, is_type};

/// An expression of the grammar.
#[derive(Debug)]
enum Expression {
    Literal(Vec<char>),
    /// One character in, or not in, one of the ranges.
    Class(bool, Vec<(char, char)>),
    Name(String),
    Sequence(Vec<Expression>),
    /// Alternatives, and whether each is an extension.
    Alternatives(Vec<(Expression, bool)>),
    /// An expression, how often at least, and whether at most once.
    Repeated(Box<Expression>, usize, bool),
    Difference(Box<Expression>, Box<Expression>),
}

type Grammar = BTreeMap<String, Expression>;

/// Reads the productions of a grammar in the W3C's form.
struct Reader<'a> {
    text: &'a str,
}

impl Reader<'_> {
    fn grammar(text: &str) -> Grammar {
        let mut reader = Reader { text };
        let mut grammar = Grammar::new();
        while let Some(name) = reader.name() {
            assert!(reader.eat("::="), "`::=` behind {name}");
            let expression = reader.alternatives();
            assert!(grammar.insert(name.clone(), expression).is_none(), "{name} is defined twice");
        }
        assert_eq!(reader.text.trim(), "", "the rest is no production");
        grammar
    }

    /// Passes over white space and comments, but not over the mark of an extension.
    fn skip(&mut self) {
        loop {
            self.text = self.text.trim_start();
            match self.text.strip_prefix("/*").and_then(|rest| rest.split_once("*/")) {
                Some((comment, rest)) if !comment.starts_with(" E") => self.text = rest,
                _ => return,
            }
        }
    }

    fn eat(&mut self, token: &str) -> bool {
        self.skip();
        let rest = self.text.strip_prefix(token);
        self.text = rest.unwrap_or(self.text);
        rest.is_some()
    }

    fn name(&mut self) -> Option<String> {
        self.skip();
        let part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let end = self.text.find(|c| !part(c)).unwrap_or(self.text.len());
        let (name, rest) = self.text.split_at(end);
        self.text = rest;
        (!name.is_empty()).then(|| name.to_owned())
    }

    fn alternatives(&mut self) -> Expression {
        let mut alternatives = Vec::new();
        loop {
            let sequence = self.sequence();
            self.skip();
            let extension = self.text.starts_with("/* E");
            if extension {
                self.text = self.text.split_once("*/").expect("a comment ends").1;
            }
            alternatives.push((sequence, extension));
            if !self.eat("|") {
                return Expression::Alternatives(alternatives);
            }
        }
    }

    fn sequence(&mut self) -> Expression {
        let mut parts = Vec::new();
        while let Some(mut part) = self.primary() {
            loop {
                part = match self.text.chars().next() {
                    Some('?') => Expression::Repeated(Box::new(part), 0, true),
                    Some('*') => Expression::Repeated(Box::new(part), 0, false),
                    Some('+') => Expression::Repeated(Box::new(part), 1, false),
                    _ => break,
                };
                self.text = &self.text[1..];
            }
            if self.eat("- ") {
                let other = self.primary().expect("something stands behind the minus");
                part = Expression::Difference(Box::new(part), Box::new(other));
            }
            parts.push(part);
        }
        assert!(!parts.is_empty(), "an alternative is empty before {:.40}", self.text);
        Expression::Sequence(parts)
    }

    fn primary(&mut self) -> Option<Expression> {
        self.skip();
        let before = self.text;
        let first = before.chars().next()?;
        let rest = &before[first.len_utf8()..];
        match first {
            '\'' | '"' => {
                let (literal, rest) = rest.split_once(first).expect("a literal ends");
                self.text = rest;
                Some(Expression::Literal(literal.chars().collect()))
            }
            '[' => {
                let (class, rest) = rest.split_once(']').expect("a class ends");
                self.text = rest;
                Some(Self::class(class))
            }
            '#' => {
                self.text = rest;
                let number = self.name().expect("a number");
                Some(Expression::Literal(vec![character(&number)]))
            }
            '(' => {
                self.text = rest;
                let inner = self.alternatives();
                assert!(self.eat(")"), "a group ends before {:.40}", self.text);
                Some(inner)
            }
            _ => {
                let name = self.name()?;
                if self.eat("::=") {
                    // The next production begins.
                    self.text = before;
                    return None;
                }
                Some(Expression::Name(name))
            }
        }
    }

    fn class(text: &str) -> Expression {
        let (negated, mut rest) = match text.strip_prefix('^') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let mut ranges: Vec<(char, char)> = Vec::new();
        let mut range = false;
        while let Some(first) = rest.chars().next() {
            let mut c = first;
            let mut len = first.len_utf8();
            if first == '#' {
                let number = &rest[1..];
                let end = number[1..].find(|c: char| !c.is_ascii_hexdigit());
                let number = &number[..end.map_or(number.len(), |end| end + 1)];
                (c, len) = (character(number), number.len() + 1);
            }
            rest = &rest[len..];
            match ranges.last_mut() {
                Some(last) if range => last.1 = c,
                Some(_) if c == '-' && !rest.is_empty() => {
                    range = true;
                    continue;
                }
                _ => ranges.push((c, c)),
            }
            range = false;
        }
        Expression::Class(negated, ranges)
    }
}

/// The character of `x41`.
fn character(number: &str) -> char {
    let number = number.strip_prefix('x').expect("a number begins with x");
    u32::from_str_radix(number, 16).ok().and_then(char::from_u32).expect("it is a character")
}

/// Applies a grammar to a text.
struct Matcher<'a> {
    grammar: &'a Grammar,
    extensions: bool,
    text: Vec<char>,
    known: HashMap<(&'a str, usize), Option<usize>>,
}

impl<'a> Matcher<'a> {
    fn accepts(grammar: &'a Grammar, extensions: bool, text: &str) -> bool {
        Self::matches(grammar, "FILE", extensions, text)
    }

    fn matches(grammar: &'a Grammar, start: &'a str, extensions: bool, text: &str) -> bool {
        let text: Vec<char> = text.chars().collect();
        let end = text.len();
        let mut matcher = Matcher { grammar, extensions, text, known: HashMap::new() };
        matcher.name(start, 0) == Some(end)
    }

    /// Where a production that begins at `at` ends.
    fn name(&mut self, name: &'a str, at: usize) -> Option<usize> {
        if let Some(known) = self.known.get(&(name, at)) {
            return *known;
        }
        let phrase = name.starts_with(|c: char| c.is_ascii_lowercase());
        let end = self.expression(&self.grammar[name], at, phrase);
        self.known.insert((name, at), end);
        end
    }

    fn trivia(&mut self, mut at: usize) -> usize {
        while let Some(end) = self.name("TRIVIA", at) {
            at = end;
        }
        at
    }

    fn expression(&mut self, expression: &'a Expression, at: usize, phrase: bool) -> Option<usize> {
        match expression {
            Expression::Literal(literal) => {
                let at = if phrase { self.trivia(at) } else { at };
                let found = self.text.get(at..at + literal.len())?;
                (found == literal.as_slice()).then_some(at + literal.len())
            }
            Expression::Class(negated, ranges) => {
                let c = *self.text.get(at)?;
                let inside = ranges.iter().any(|(first, last)| (*first..=*last).contains(&c));
                (inside != *negated).then_some(at + 1)
            }
            Expression::Name(name) => {
                let token = !name.starts_with(|c: char| c.is_ascii_lowercase());
                let at = if phrase && token { self.trivia(at) } else { at };
                self.name(name, at)
            }
            Expression::Sequence(parts) => {
                parts.iter().try_fold(at, |at, part| self.expression(part, at, phrase))
            }
            Expression::Alternatives(alternatives) => {
                let extensions = self.extensions;
                let meant = alternatives.iter().filter(|(_, extension)| extensions || !extension);
                meant.filter_map(|(inner, _)| self.expression(inner, at, phrase)).max()
            }
            Expression::Repeated(inner, least, once) => {
                let (mut end, mut count) = (at, 0);
                while let Some(next) = self.expression(inner, end, phrase) {
                    count += 1;
                    // What matches nothing would match for ever.
                    if next == end || *once {
                        end = next;
                        break;
                    }
                    end = next;
                }
                (count >= *least).then_some(end)
            }
            Expression::Difference(inner, other) => {
                let end = self.expression(inner, at, phrase)?;
                // Trivia before both does not count.
                let from = if phrase { self.trivia(at) } else { at };
                (self.expression(other, from, phrase) != Some(end)).then_some(end)
            }
        }
    }
}

fn grammar() -> Grammar {
    let path = gramc_language_tests::root().join("grammar/gram.ebnf");
    Reader::grammar(&std::fs::read_to_string(path).expect("there is a grammar"))
}

/// Whether a string's text might begin with a comment, which no production shows.
fn may_hide_a_comment(text: &str) -> bool {
    let begins = |rest: &str| rest.trim_start().starts_with('/');
    let quoted = text.match_indices(['"', '\'', '`']).any(|(at, _)| begins(&text[at + 1..]));
    quoted || (text.contains("```") && text.lines().any(begins))
}

/// Runs on a stack that is large enough for the deepest text, for the matcher recurses.
fn on_a_large_stack(test: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(1 << 30).spawn(test);
    if let Err(panic) = thread.expect("a thread starts").join() {
        std::panic::resume_unwind(panic);
    }
}

#[test]
fn all_names_are_defined_and_used() {
    fn names<'g>(expression: &'g Expression, found: &mut BTreeSet<&'g str>) {
        match expression {
            Expression::Name(name) => drop(found.insert(name)),
            Expression::Sequence(parts) => parts.iter().for_each(|part| names(part, found)),
            Expression::Alternatives(parts) => parts.iter().for_each(|part| names(&part.0, found)),
            Expression::Repeated(inner, ..) => names(inner, found),
            Expression::Difference(inner, other) => {
                names(inner, found);
                names(other, found);
            }
            Expression::Literal(_) | Expression::Class(..) => {}
        }
    }
    let grammar = grammar();
    let mut used = BTreeSet::from(["FILE", "TYPE"]);
    for expression in grammar.values() {
        names(expression, &mut used);
    }
    let defined: BTreeSet<_> = grammar.keys().map(String::as_str).collect();
    assert_eq!(used, defined);
    assert!(defined.len() > 60, "{defined:?}");
}

#[test]
fn the_corpus_gets_the_verdicts_that_it_states() {
    on_a_large_stack(|| {
        let grammar = grammar();
        let (mut wrong, mut right, mut hidden) = (Vec::new(), 0, 0);
        for case in corpus::load() {
            let plain = Matcher::accepts(&grammar, false, &case.text);
            let extended = Matcher::accepts(&grammar, true, &case.text);
            let expected = (case.expected == Expected::Ok, case.expected != Expected::Err);
            if (plain, extended) == expected {
                right += 1;
            } else if may_hide_a_comment(&case.text) {
                hidden += 1;
            } else {
                wrong.push(format!("{}: {plain} {extended} {:?}", case.name, case.text));
            }
        }
        assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
        // A filter that hid everything would hide mistakes.
        assert!(right > 800 && hidden < 60, "{right} right, {hidden} hidden");
    });
}

#[test]
fn generated_and_edited_documents_get_the_verdict_of_the_reference() {
    on_a_large_stack(|| {
        let grammar = grammar();
        let seed = campaign::seed().wrapping_add(3);
        let cases = campaign::cases() / 20;
        let (mut accepted, mut hidden) = (0, 0);
        for case in 0..cases {
            let mut rng = Rng::for_case(seed, case);
            let mut text = document(&mut rng);
            if rng.chance(60) {
                text = mutate(&mut rng, &text);
            }
            let expected = reference::accepts(&text);
            accepted += usize::from(expected);
            let found = Matcher::accepts(&grammar, false, &text);
            if found != expected && may_hide_a_comment(&text) {
                hidden += 1;
            } else {
                assert_eq!(found, expected, "case {case} of seed {seed}: {text:?}");
            }
        }
        assert!(accepted > cases / 10, "only {accepted} of {cases} were accepted");
        assert!(hidden < cases / 10, "{hidden} of {cases} were not compared");
    });
}

#[test]
fn type_expressions_get_the_verdict_of_gramc() {
    on_a_large_stack(|| {
        let grammar = grammar();
        let seed = campaign::seed().wrapping_add(13);
        let cases = campaign::cases() / 5;
        let mut accepted = 0;
        for case in 0..cases {
            let text = edited(&mut Rng::for_case(seed, case));
            let wanted = is_type(&text);
            accepted += usize::from(wanted);
            let found = Matcher::matches(&grammar, "TYPE", true, &text);
            assert_eq!(found, wanted, "case {case} of seed {seed}: {text:?}");
        }
        assert!(accepted * 4 > cases && accepted * 10 < cases * 9, "{accepted} of {cases}");
    });
}
