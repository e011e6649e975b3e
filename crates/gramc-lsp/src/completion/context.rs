//! The syntax expected at the cursor. It is derived from the tokens before the cursor because the
//! tree of an incomplete text has too little structure.

use super::types::{TypePlace, place};
use gramc_check::names::{Kind, type_word};
use gramc_model::attributes::{AttributeOwner, ImplementationKind};
use gramc_syntax::{Span, Token, TokenKind as T, Tree};

/// Maximum number of tokens that are read before the cursor.
const MAX_TOKENS: usize = 20_000;

/// The syntax expected at the cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Expected {
    Nothing,
    /// A declaration at the top level. Whether its bracket is there.
    Declaration {
        opened: bool,
    },
    /// A label after the name of a pattern, with the kind of the enclosing pattern.
    Label(Option<Kind>),
    Type,
    Implementation,
    ArmLabel,
    /// The name of a parameter or field.
    Parameter,
    /// A name among the elements of a declaration, or of an implementation.
    Element(Kind),
    Key(RecordOwner),
    Value(RecordOwner, String),
    Lint,
}

/// The syntax that attributes belong to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RecordOwner {
    Header,
    Declaration(Kind),
    Implementation(String),
    Arm,
    Member,
    /// A parameter, field, result or term, with its label.
    Field(String),
    /// A property of an object, in `fields`.
    Property,
}

impl RecordOwner {
    /// The owner in the table of attributes; `None` for an unknown kind of implementation.
    pub(super) fn attribute_owner(&self) -> Option<AttributeOwner> {
        Some(match self {
            Self::Header => AttributeOwner::Header,
            Self::Declaration(kind) => kind.attribute_owner(),
            Self::Arm => AttributeOwner::Arm,
            Self::Member => AttributeOwner::Member,
            Self::Implementation(word) => {
                let mut kinds = ImplementationKind::ALL.into_iter();
                AttributeOwner::Implementation(kinds.find(|kind| kind.name() == word)?)
            }
            Self::Property | Self::Field(_) => AttributeOwner::Field,
        })
    }
}

/// The expected syntax and the text already typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CompletionContext {
    pub(crate) expected: Expected,
    /// The text already typed, up to the cursor.
    pub(crate) word: Span,
    /// Whether the cursor is inside quotes or backticks.
    pub(crate) quoted: bool,
    /// The other keys of the record.
    pub(crate) siblings: Vec<String>,
}

pub(crate) fn context(tree: &Tree, at: u32) -> CompletionContext {
    let last = tree.tokens_before(at).next_back();
    let text = tree.source().text();
    if let Some(token) = last.filter(|it| matches!(it.kind(), T::Comment | T::DocComment)) {
        let ends = token.kind() == T::DocComment && token.span().end <= at;
        if !ends {
            let before = text.get(token.span().start as usize..at as usize).unwrap_or_default();
            let lint = before.trim_start_matches('/').trim_start().starts_with("gram-allow:");
            let word = before.rsplit([',', ' ', ':']).next().unwrap_or_default();
            let word = Span::from(at as usize - word.len()..at as usize);
            let expected = if lint { Expected::Lint } else { Expected::Nothing };
            return CompletionContext { expected, word, quoted: false, siblings: Vec::new() };
        }
    }
    // The typed text is a bare word or the content of quotes.
    let quotes = [T::SingleQuoted, T::DoubleQuoted, T::Backticked, T::Unclosed];
    let (from, word, quoted) = match last {
        Some(token) if token.kind() == T::Symbol => {
            (token.span().start, Span::new(token.span().start, at), None)
        }
        Some(token)
            if quotes.contains(&token.kind())
                && (at < token.span().end || token.kind() == T::Unclosed) =>
        {
            let start = token.span().start;
            (start, Span::new(start + 1, at), token.text().chars().next())
        }
        _ => (at, Span::empty(at), None),
    };
    let tokens = before(tree, from);
    let expected = find_expected(&tokens, quoted == Some('`'), tree);
    let siblings = if matches!(expected, Expected::Key(_)) { keys(&tokens) } else { Vec::new() };
    let is_type = match &expected {
        Expected::Type => true,
        Expected::Value(_, key) => is_typed(key),
        _ => false,
    };
    let word = match quoted {
        // Only the last name of a type expression is completed.
        Some(_) if is_type => {
            let name = type_word(text.get(word.range()).unwrap_or_default());
            Span::from(at as usize - name.len()..at as usize)
        }
        _ => word,
    };
    CompletionContext { expected, word, quoted: quoted.is_some(), siblings }
}

/// Whether the value of a key is a type expression.
pub(crate) fn is_typed(key: &str) -> bool {
    matches!(key, "elementType" | "valueType" | "keys" | "result" | "open" | "type")
}

/// The tokens of the declaration around an offset, up to that offset, without trivia. As in the
/// parser's error recovery, a declaration begins at a bracket or annotation at the start of a line.
fn before(tree: &Tree, from: u32) -> Vec<Token<'_>> {
    let text = tree.source().text();
    let begins = |token: &Token<'_>| {
        let start = token.span().start as usize;
        matches!(token.kind(), T::LBracket | T::At | T::AtAt)
            && (start == 0 || text.as_bytes().get(start - 1) == Some(&b'\n'))
    };
    let mut tokens = Vec::new();
    for token in tree.tokens_before(from).rev().take(MAX_TOKENS) {
        if token.kind().is_trivia() || token.span().end > from {
            continue;
        }
        tokens.push(token);
        if begins(&token) {
            break;
        }
    }
    tokens.reverse();
    tokens
}

/// The index of an open bracket's token.
type BracketIndex = usize;

fn open_brackets(tokens: &[Token<'_>]) -> Vec<BracketIndex> {
    let mut open: Vec<BracketIndex> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let opening = match token.kind() {
            T::LBracket | T::LParen | T::LBrace => {
                open.push(at);
                continue;
            }
            T::RBracket => T::LBracket,
            T::RParen => T::LParen,
            T::RBrace => T::LBrace,
            _ => continue,
        };
        // An unmatched closing bracket is ignored.
        if let Some(at) = open.iter().rposition(|at| tokens[*at].kind() == opening) {
            open.truncate(at);
        }
    }
    open
}

fn find_expected(tokens: &[Token<'_>], backticked: bool, tree: &Tree) -> Expected {
    let mut open = open_brackets(tokens);
    if let Some(found) = in_bare_type(tokens, &open, tree) {
        return found;
    }
    let Some(inner) = open.pop() else {
        let is_fresh = tokens.last().is_none_or(|last| {
            matches!(last.kind(), T::RBracket | T::RParen | T::RBrace) && !backticked
        });
        let declaration = Expected::Declaration { opened: false };
        return if is_fresh { declaration } else { Expected::Nothing };
    };
    let rest = &tokens[inner + 1..];
    let last = rest.last().map(|token| token.kind());
    let colon = matches!(last, Some(T::Colon | T::ColonColon));
    match tokens[inner].kind() {
        T::LBracket if in_arrow(tokens, inner) => Expected::Nothing,
        T::LBracket => match open.last() {
            Some(&outer) if tokens[outer].kind() == T::LBrace => value(tokens, &open, tree),
            _ if bar(rest).is_some() => {
                let kind = label(rest).and_then(Kind::of_label);
                kind.map_or(Expected::Nothing, Expected::Element)
            }
            outer if colon => {
                let holder = outer.and_then(|outer| label(&tokens[outer + 1..inner]));
                Expected::Label(holder.and_then(Kind::of_label))
            }
            None if rest.is_empty() => Expected::Declaration { opened: true },
            _ => Expected::Nothing,
        },
        T::LParen => match (enclosing_kind(tokens, &open), colon) {
            (Some(Kind::Library), true) => Expected::Implementation,
            (Some(Kind::Experiment), true) => Expected::ArmLabel,
            (Some(Kind::Enum), true) => Expected::Nothing,
            (_, true) => Expected::Type,
            (Some(Kind::Library), false) if rest.is_empty() => Expected::Element(Kind::Library),
            (Some(Kind::Tool | Kind::Record), false) if rest.is_empty() => Expected::Parameter,
            _ => Expected::Nothing,
        },
        _ => {
            open.push(inner);
            value(tokens, &open, tree)
        }
    }
}

/// The expected syntax in a type expression that follows the colons of a node's label.
fn in_bare_type(tokens: &[Token<'_>], open: &[BracketIndex], tree: &Tree) -> Option<Expected> {
    let at = open.iter().position(|at| tokens[*at].kind() == T::LParen)?;
    let paren = open[at];
    let kind = enclosing_kind(tokens, &open[..at]);
    if matches!(kind, Some(Kind::Library | Kind::Experiment | Kind::Enum)) {
        return None;
    }
    let rest = &tokens[paren + 1..];
    let colons = label_at(rest)?;
    // A name alone, or nothing yet, is completed as any label.
    let ty = rest.get(colons + 1..).filter(|ty| !ty.is_empty())?;
    Some(match place(ty)? {
        TypePlace::Type => Expected::Type,
        TypePlace::Field => Expected::Parameter,
        TypePlace::Other => Expected::Nothing,
        TypePlace::Attributes(start) => {
            let first = ty.get(start).map(|token| token.span())?;
            let brace_at = *open.last()?;
            let brace = tokens[brace_at].span();
            let label = tree.source().slice(Span::new(first.start, brace.start)).trim().to_owned();
            let owner = RecordOwner::Field(label);
            match value(tokens, &[paren, brace_at], tree) {
                Expected::Value(_, key) => Expected::Value(owner, key),
                Expected::Key(_) => Expected::Key(owner),
                _ => Expected::Nothing,
            }
        }
    })
}

/// Whether a bracket belongs to an arrow: `=[greet:Func]=>`.
fn in_arrow(tokens: &[Token<'_>], at: usize) -> bool {
    let before = at.checked_sub(1).map(|at| tokens[at].kind());
    matches!(
        before,
        Some(T::Equals | T::Dash | T::Tilde | T::LessDash | T::LessEquals | T::LessTilde)
    )
}

/// The bar of the pattern whose tokens after the bracket are given.
fn bar(rest: &[Token<'_>]) -> Option<usize> {
    at_top(rest).find(|(_, token)| token.kind() == T::Pipe).map(|(at, _)| at)
}

/// The first label of the pattern or node that begins with these tokens.
fn label<'t>(rest: &[Token<'t>]) -> Option<&'t str> {
    rest.get(label_at(rest)? + 1).map(|token| token.text())
}

/// The colons before the first label of the pattern or node that begins with these tokens, behind
/// a name and a `?`.
fn label_at(rest: &[Token<'_>]) -> Option<usize> {
    let colon = |token: &Token<'_>| matches!(token.kind(), T::Colon | T::ColonColon);
    rest.iter().take(3).position(colon)
}

/// The kind of the innermost open pattern.
fn enclosing_kind(tokens: &[Token<'_>], open: &[BracketIndex]) -> Option<Kind> {
    let outer = open.iter().rev().find(|at| tokens[**at].kind() == T::LBracket)?;
    label(&tokens[outer + 1..]).and_then(Kind::of_label)
}

/// The tokens of the current entry of a record, map or array, after the last comma at its level.
fn current_entry<'t, 's>(rest: &'s [Token<'t>]) -> &'s [Token<'t>] {
    let commas = at_top(rest).filter(|(_, token)| token.kind() == T::Comma);
    &rest[commas.last().map_or(0, |(at, _)| at + 1)..]
}

/// The tokens outside of nested brackets. Brackets that are still open belong to the last entry.
fn at_top<'t, 's>(rest: &'s [Token<'t>]) -> impl Iterator<Item = (usize, &'s Token<'t>)> {
    let mut depth = 0_u32;
    rest.iter().enumerate().filter(move |(_, token)| {
        match token.kind() {
            T::LBracket | T::LParen | T::LBrace => depth += 1,
            T::RBracket | T::RParen | T::RBrace => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0
    })
}

/// The keys of the record at the end of the tokens.
fn keys(tokens: &[Token<'_>]) -> Vec<String> {
    let Some(brace) = open_brackets(tokens).pop() else { return Vec::new() };
    let rest = &tokens[brace + 1..];
    let colons = at_top(rest).filter(|(at, token)| *at > 0 && token.kind() == T::Colon);
    colons.map(|(at, _)| name(&rest[at - 1])).collect()
}

/// The expected syntax in a record, map or array: a key or a value.
fn value(tokens: &[Token<'_>], open: &[BracketIndex], tree: &Tree) -> Expected {
    let Some(&brace) = open.last() else { return Expected::Nothing };
    let entry = current_entry(&tokens[brace + 1..]);
    let key = match entry {
        [key, colon, ..] if matches!(colon.kind(), T::Colon | T::ColonColon) => Some(name(key)),
        _ => None,
    };
    if let [.., colon] = &tokens[..brace]
        && colon.kind() == T::Colon
        && brace.checked_sub(2).is_some_and(|at| name(&tokens[at]) == "fieldPatterns")
    {
        // A map of types by patterns.
        return if key.is_some() { Expected::Type } else { Expected::Nothing };
    }
    match (owner(tokens, open, tree), key) {
        (Some(owner), Some(key)) => Expected::Value(owner, key),
        (Some(owner), None) if entry.is_empty() => Expected::Key(owner),
        _ => Expected::Nothing,
    }
}

/// A key without its quotes.
fn name(token: &Token<'_>) -> String {
    token.text().trim_matches(['`', '"', '\'']).to_owned()
}

fn owner(tokens: &[Token<'_>], open: &[BracketIndex], tree: &Tree) -> Option<RecordOwner> {
    let (&brace, outer) = open.split_last()?;
    let Some(&holder_at) = outer.last() else {
        let first = tree.tokens().find(|token| !token.kind().is_trivia())?;
        let header = first.span() == tokens[brace].span();
        return header.then_some(RecordOwner::Header);
    };
    let between = &tokens[holder_at + 1..brace];
    match tokens[holder_at].kind() {
        T::LBracket => {
            let values =
                outer.iter().rev().nth(1).is_some_and(|at| tokens[*at].kind() == T::LBrace);
            if values {
                // An object in a list is a property in `fields`.
                return Some(RecordOwner::Property);
            }
            let kind = label(between).and_then(Kind::of_label)?;
            bar(between).is_none().then_some(RecordOwner::Declaration(kind))
        }
        T::LParen => {
            let first = label_at(between).and_then(|at| between.get(at + 1));
            let own = first.map_or("", |first| {
                let label = Span::new(first.span().start, tokens[brace].span().start);
                tree.source().slice(label).trim()
            });
            let own = own.to_owned();
            match enclosing_kind(tokens, outer) {
                Some(Kind::Library) => Some(RecordOwner::Implementation(own)),
                Some(Kind::Experiment) => Some(RecordOwner::Arm),
                Some(Kind::Enum) => Some(RecordOwner::Member),
                _ => Some(RecordOwner::Field(own)),
            }
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The context at `¦`.
    fn at(text: &str) -> (Expected, String) {
        let offset = text.find('¦').unwrap_or_default();
        let text = text.replace('¦', "");
        let parse = gramc_syntax::parse(gramc_syntax::SourceFile::new("a.gram", text.clone()));
        let found = context(parse.tree(), crate::position::number(offset));
        (found.expected, text.get(found.word.range()).unwrap_or_default().to_owned())
    }

    #[test]
    fn context_follows_from_open_brackets() {
        use Expected as W;
        let field = |label: &str| RecordOwner::Field(label.to_owned());
        let word = |text: &str| text.to_owned();
        for (text, expected, written) in [
            ("¦", W::Declaration { opened: false }, ""),
            ("(a::Text)\n¦", W::Declaration { opened: false }, ""),
            ("(a::Text)\n[¦]", W::Declaration { opened: true }, ""),
            ("[a:Agent | [¦", W::Nothing, ""),
            ("[a:Experiment | (b:¦", W::ArmLabel, ""),
            ("[a:Experiment | (b:Arm {¦", W::Key(RecordOwner::Arm), ""),
            ("[a:¦", W::Label(None), ""),
            ("[a:To¦ | ()==>(::Text)]", W::Label(None), "To"),
            ("[a:Agent | [b:¦", W::Label(Some(Kind::Agent)), ""),
            ("[a:Tool | (x::Te¦", W::Type, "Te"),
            ("[a:Tool | (x::`Te¦", W::Type, "Te"),
            ("[a:Tool | (x::`Map<It¦>`)==>(::Text)]", W::Type, "It"),
            ("[a:Tool | (x::Text)==>(¦", W::Parameter, ""),
            ("[a:Tool | (x::Text)==>(::¦)]", W::Type, ""),
            ("[a:Tool | (per¦)==>(::Text)]", W::Parameter, "per"),
            ("(x::¦)", W::Type, ""),
            ("[a:Agent | b, ¦]", W::Element(Kind::Agent), ""),
            ("[a:Agent {model: 'x'} | re¦]", W::Element(Kind::Agent), "re"),
            ("[a:Library | (¦", W::Element(Kind::Library), ""),
            ("[a:Library | (b:¦", W::Implementation, ""),
            ("[a:Union | ¦]", W::Element(Kind::Union), ""),
            ("[a:Tool {¦} | ()==>(::Text)]", W::Key(RecordOwner::Declaration(Kind::Tool)), ""),
            ("[a:Tool | (x::Int {ra¦", W::Key(field("Int")), "ra"),
            ("[a:Tool | (x::Int {range: 1..2, ¦})==>(::Text)]", W::Key(field("Int")), ""),
            ("[a:Tool | (x::Int[] {¦", W::Key(field("Int[]")), ""),
            ("[a:Tool | (x::Text {format: \"da¦", W::Value(field("Text"), word("format")), "da"),
            ("(x::Bool {default: ¦})", W::Value(field("Bool"), word("default")), ""),
            (
                "(x::List {elementType: \"Te¦\"})",
                W::Value(field("List"), word("elementType")),
                "Te",
            ),
            (
                "[a:Container {source: \"¦\"} | b]",
                W::Value(RecordOwner::Declaration(Kind::Container), word("source")),
                "",
            ),
            ("[a:Tool {fieldPatterns: {\"^x-\": \"Te¦\"}} | ()==>(::Null)]", W::Type, "Te"),
            ("[a:Tool {fieldPatterns: {¦}} | ()==>(::Null)]", W::Nothing, ""),
            ("[a:Library | (b:Mcp {¦", W::Key(RecordOwner::Implementation(word("Mcp"))), ""),
            (
                "[a:Experiment | (b:Arm {library: \"st¦",
                W::Value(RecordOwner::Arm, word("library")),
                "st",
            ),
            ("[a:Enum | (b {¦", W::Key(RecordOwner::Member), ""),
            ("{imports: [\"ty¦\"]}", W::Value(RecordOwner::Header, word("imports")), "ty"),
            ("{¦}", W::Key(RecordOwner::Header), ""),
            ("(x::Object {fields: [{¦", W::Key(RecordOwner::Property), ""),
            ("// gram-allow: nam¦", W::Lint, "nam"),
            ("// a word¦", W::Nothing, "word"),
            ("[a:Tool | (x::Text)=[¦]=>(::Text)]", W::Nothing, ""),
        ] {
            assert_eq!(at(text), (expected, written.to_owned()), "{text}");
        }
    }
}
