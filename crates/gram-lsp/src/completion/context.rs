//! What is being written at a place: told by the tokens before it, for the tree of a text that is
//! not whole says little.

use gram_check::names::{Kind, type_word};
use gram_syntax::{Span, Token, TokenKind as T, Tree};

/// How many tokens before a place are looked at.
const MOST: usize = 20_000;

/// What is being written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Nothing that could be completed.
    Nothing,
    /// A declaration at the top level.
    Declaration,
    /// A label behind the name of a pattern, inside of a pattern of this label.
    Label(Option<Kind>),
    /// A type.
    Type,
    /// The kind of an implementation.
    Implementation,
    /// The name of a parameter or field.
    Parameter,
    /// A name among the elements of a declaration, or of an implementation.
    Element(Kind),
    /// The key of an attribute.
    Key(Owner),
    /// The value of an attribute.
    Value(Owner, String),
    /// The name of a lint.
    Lint,
}

/// What attributes stand at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The text.
    Header,
    /// A declaration.
    Declaration(Kind),
    /// An implementation, of the kind that this word says.
    Implementation(String),
    /// A member of an enum.
    Member,
    /// A parameter, field, result or term, with its label as written.
    Field(String),
    /// A property of an object, in `fields`.
    Property,
}

/// What is being written, where, and whether in quotes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Context {
    pub(crate) wanted: Wanted,
    /// What is written of it, up to the place.
    pub(crate) word: Span,
    /// Whether it stands in quotes, or in backticks.
    pub(crate) quoted: bool,
    /// The keys that stand beside the one that is written.
    pub(crate) beside: Vec<String>,
}

/// What is being written at an offset.
pub(crate) fn context(tree: &Tree, at: u32) -> Context {
    let context = |wanted, word, quoted| Context { wanted, word, quoted, beside: Vec::new() };
    let last = tree.tokens_before(at).next_back();
    let text = tree.source().text();
    if let Some(token) = last.filter(|it| matches!(it.kind(), T::Comment | T::DocComment)) {
        let ends = token.kind() == T::DocComment && token.span().end <= at;
        if !ends {
            let before = text.get(token.span().start as usize..at as usize).unwrap_or_default();
            let lint = before.trim_start_matches('/').trim_start().starts_with("gram-allow:");
            let word = before.rsplit([',', ' ', ':']).next().unwrap_or_default();
            let word = Span::new(at - crate::position::number(word.len()), at);
            return context(if lint { Wanted::Lint } else { Wanted::Nothing }, word, false);
        }
    }
    // What is written already: a bare word, or what stands in quotes.
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
    let (wanted, beside) = wanted(&tokens, quoted == Some('`'), tree);
    let is_type = match &wanted {
        Wanted::Type => true,
        Wanted::Value(_, key) => is_typed(key),
        _ => false,
    };
    let word = match quoted {
        // The name that is being written, of an expression.
        Some(_) if is_type => {
            let inside = text.get(word.range()).unwrap_or_default();
            let name = type_word(inside);
            Span::new(at - crate::position::number(name.len()), at)
        }
        _ => word,
    };
    Context { wanted, word, quoted: quoted.is_some(), beside }
}

/// Whether the value of a key is a type expression.
pub(crate) fn is_typed(key: &str) -> bool {
    matches!(key, "elementType" | "valueType" | "keys" | "result" | "open" | "type")
}

/// The tokens of the declaration that is being written, up to a place, without trivia. It begins
/// where the parser begins a declaration after an error: at a bracket or annotation that begins a
/// line.
fn before(tree: &Tree, from: u32) -> Vec<Token<'_>> {
    let text = tree.source().text();
    let begins = |token: &Token<'_>| {
        let start = token.span().start as usize;
        matches!(token.kind(), T::LBracket | T::At | T::AtAt)
            && (start == 0 || text.as_bytes().get(start - 1) == Some(&b'\n'))
    };
    let mut tokens = Vec::new();
    for token in tree.tokens_before(from).rev().take(MOST) {
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

/// What is open: the place of its bracket among the tokens.
type Open = usize;

fn wanted(tokens: &[Token<'_>], backticked: bool, tree: &Tree) -> (Wanted, Vec<String>) {
    let mut open: Vec<Open> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match token.kind() {
            T::LBracket | T::LParen | T::LBrace => open.push(at),
            T::RBracket => close(tokens, &mut open, T::LBracket),
            T::RParen => close(tokens, &mut open, T::LParen),
            T::RBrace => close(tokens, &mut open, T::LBrace),
            _ => {}
        }
    }
    let nothing = (Wanted::Nothing, Vec::new());
    let Some(inner) = open.pop() else {
        let fresh = tokens.last().is_none_or(|last| {
            matches!(last.kind(), T::RBracket | T::RParen | T::RBrace) && !backticked
        });
        return (if fresh { Wanted::Declaration } else { Wanted::Nothing }, Vec::new());
    };
    let rest = &tokens[inner + 1..];
    let last = rest.last().map(|token| token.kind());
    let colon = matches!(last, Some(T::Colon | T::ColonColon));
    match tokens[inner].kind() {
        T::LBracket if in_arrow(tokens, inner) => nothing,
        T::LBracket => match open.last() {
            Some(&outer) if tokens[outer].kind() == T::LBrace => value(tokens, &open, tree),
            outer => {
                let holder = outer.and_then(|outer| label(&tokens[outer + 1..inner]));
                if bar(rest).is_some() {
                    let kind = label(rest).and_then(Kind::of_label);
                    return (kind.map_or(Wanted::Nothing, Wanted::Element), Vec::new());
                }
                let holder = holder.and_then(Kind::of_label);
                (if colon { Wanted::Label(holder) } else { Wanted::Nothing }, Vec::new())
            }
        },
        T::LParen => {
            let holder = holder(tokens, &open);
            let wanted = match (holder, colon) {
                (Some(Kind::Library), true) => Wanted::Implementation,
                (Some(Kind::Enum), true) => Wanted::Nothing,
                (_, true) => Wanted::Type,
                (Some(Kind::Library), false) if rest.is_empty() => Wanted::Element(Kind::Library),
                (Some(Kind::Tool | Kind::Record), false) if rest.is_empty() => Wanted::Parameter,
                _ => Wanted::Nothing,
            };
            (wanted, Vec::new())
        }
        _ => {
            open.push(inner);
            value(tokens, &open, tree)
        }
    }
}

fn close(tokens: &[Token<'_>], open: &mut Vec<Open>, kind: T) {
    // A bracket that nothing opened closes nothing.
    if let Some(at) = open.iter().rposition(|at| tokens[*at].kind() == kind) {
        open.truncate(at);
    }
}

/// Whether a bracket stands in an arrow: `=[greet:Func]=>`.
fn in_arrow(tokens: &[Token<'_>], at: usize) -> bool {
    let before = at.checked_sub(1).map(|at| tokens[at].kind());
    matches!(
        before,
        Some(T::Equals | T::Dash | T::Tilde | T::LessDash | T::LessEquals | T::LessTilde)
    )
}

/// The bar of a pattern whose tokens these are, behind its bracket.
fn bar(rest: &[Token<'_>]) -> Option<usize> {
    let mut depth = 0_u32;
    rest.iter().position(|token| {
        match token.kind() {
            T::LBracket | T::LParen | T::LBrace => depth += 1,
            T::RBracket | T::RParen | T::RBrace => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && token.kind() == T::Pipe
    })
}

/// The first label of what begins with these tokens.
fn label<'t>(rest: &[Token<'t>]) -> Option<&'t str> {
    let colon = |token: &Token<'_>| matches!(token.kind(), T::Colon | T::ColonColon);
    let at = rest.iter().take(2).position(colon)?;
    rest.get(at + 1).map(|token| token.text())
}

/// What the innermost open pattern declares.
fn holder(tokens: &[Token<'_>], open: &[Open]) -> Option<Kind> {
    let outer = open.iter().rev().find(|at| tokens[**at].kind() == T::LBracket)?;
    label(&tokens[outer + 1..]).and_then(Kind::of_label)
}

/// What is written in a record, map or array of values: a key, or the value of one.
fn value(tokens: &[Token<'_>], open: &[Open], tree: &Tree) -> (Wanted, Vec<String>) {
    let Some(&brace) = open.last() else { return (Wanted::Nothing, Vec::new()) };
    let rest = &tokens[brace + 1..];
    // The entry that is being written begins behind the last comma of this level.
    let mut depth = 0_u32;
    let mut start = 0;
    let mut beside = Vec::new();
    for (at, token) in rest.iter().enumerate() {
        match token.kind() {
            T::LBracket | T::LParen | T::LBrace => depth += 1,
            T::RBracket | T::RParen | T::RBrace => depth = depth.saturating_sub(1),
            T::Comma if depth == 0 => start = at + 1,
            T::Colon if depth == 0 && at > 0 => beside.push(name(&rest[at - 1])),
            _ => {}
        }
        // What is open inside belongs to the entry that is being written.
    }
    let entry = &rest[start..];
    let key = match entry {
        [key, colon, ..] if matches!(colon.kind(), T::Colon | T::ColonColon) => Some(name(key)),
        _ => None,
    };
    let Some(owner) = owner(tokens, open, tree) else { return (Wanted::Nothing, Vec::new()) };
    match key {
        Some(key) => (Wanted::Value(owner, key), Vec::new()),
        None if entry.is_empty() => (Wanted::Key(owner), beside),
        None => (Wanted::Nothing, Vec::new()),
    }
}

/// A key, freed of quotes.
fn name(token: &Token<'_>) -> String {
    token.text().trim_matches(['`', '"', '\'']).to_owned()
}

/// What a record belongs to, whose brace is the innermost that is open.
fn owner(tokens: &[Token<'_>], open: &[Open], tree: &Tree) -> Option<Owner> {
    let (&brace, outer) = open.split_last()?;
    let Some(&holder_at) = outer.last() else {
        let first = tree.tokens().find(|token| !token.kind().is_trivia())?;
        let header = first.span() == tokens[brace].span();
        return header.then_some(Owner::Header);
    };
    let between = &tokens[holder_at + 1..brace];
    match tokens[holder_at].kind() {
        T::LBracket => {
            let values =
                outer.iter().rev().nth(1).is_some_and(|at| tokens[*at].kind() == T::LBrace);
            if values {
                // An object in a list: of properties, if of anything.
                return Some(Owner::Property);
            }
            let kind = label(between).and_then(Kind::of_label)?;
            bar(between).is_none().then_some(Owner::Declaration(kind))
        }
        T::LParen => {
            let own = label(between).unwrap_or_default().to_owned();
            match holder(tokens, outer) {
                Some(Kind::Library) => Some(Owner::Implementation(own)),
                Some(Kind::Enum) => Some(Owner::Member),
                _ => Some(Owner::Field(own)),
            }
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is wanted at the `¦` of a text.
    fn at(text: &str) -> (Wanted, String) {
        let offset = text.find('¦').unwrap_or_default();
        let text = text.replace('¦', "");
        let parse = gram_syntax::parse(gram_syntax::SourceFile::new("a.gram", text.clone()));
        let found = context(parse.tree(), crate::position::number(offset));
        (found.wanted, text.get(found.word.range()).unwrap_or_default().to_owned())
    }

    #[test]
    fn what_is_wanted_follows_from_what_is_open() {
        use Wanted as W;
        let field = |label: &str| Owner::Field(label.to_owned());
        let word = |text: &str| text.to_owned();
        for (text, wanted, written) in [
            ("¦", W::Declaration, ""),
            ("(a::Text)\n¦", W::Declaration, ""),
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
            ("[a:Tool {¦} | ()==>(::Text)]", W::Key(Owner::Declaration(Kind::Tool)), ""),
            ("[a:Tool | (x::Int {ra¦", W::Key(field("Int")), "ra"),
            ("[a:Tool | (x::Int {range: 1..2, ¦})==>(::Text)]", W::Key(field("Int")), ""),
            ("[a:Tool | (x::Text {format: \"da¦", W::Value(field("Text"), word("format")), "da"),
            ("(x::Bool {default: ¦})", W::Value(field("Bool"), word("default")), ""),
            (
                "(x::List {elementType: \"Te¦\"})",
                W::Value(field("List"), word("elementType")),
                "Te",
            ),
            (
                "[a:Container {source: \"¦\"} | b]",
                W::Value(Owner::Declaration(Kind::Container), word("source")),
                "",
            ),
            ("[a:Library | (b:Mcp {¦", W::Key(Owner::Implementation(word("Mcp"))), ""),
            ("[a:Enum | (b {¦", W::Key(Owner::Member), ""),
            ("{imports: [\"ty¦\"]}", W::Value(Owner::Header, word("imports")), "ty"),
            ("{¦}", W::Key(Owner::Header), ""),
            ("(x::Object {fields: [{¦", W::Key(Owner::Property), ""),
            ("// gram-allow: nam¦", W::Lint, "nam"),
            ("// a word¦", W::Nothing, "word"),
            ("[a:Tool | (x::Text)=[¦]=>(::Text)]", W::Nothing, ""),
        ] {
            assert_eq!(at(text), (wanted, written.to_owned()), "{text}");
        }
    }
}
