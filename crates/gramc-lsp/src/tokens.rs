//! Semantic tokens.

use std::collections::HashMap;
use std::sync::Arc;

use gramc_check::names::{Kind, types_in};
use gramc_model::BUILT_IN;
use gramc_syntax::{Node, NodeKind as N, Span, TokenKind as T};
use lsp_types as lsp;
use lsp_types::{SemanticToken, SemanticTokensLegend};
use parking_lot::Mutex;
use serde::{Serialize, Serializer};

use crate::request::RequestContext;

/// A token type, as an index into the legend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
enum TokenType {
    Keyword,
    Type,
    Function,
    Class,
    Variable,
    Parameter,
    Property,
    EnumMember,
    String,
    Number,
    Comment,
    Operator,
    Decorator,
    Namespace,
}

const TYPES: [lsp::SemanticTokenType; 14] = [
    lsp::SemanticTokenType::KEYWORD,
    lsp::SemanticTokenType::TYPE,
    lsp::SemanticTokenType::FUNCTION,
    lsp::SemanticTokenType::CLASS,
    lsp::SemanticTokenType::VARIABLE,
    lsp::SemanticTokenType::PARAMETER,
    lsp::SemanticTokenType::PROPERTY,
    lsp::SemanticTokenType::ENUM_MEMBER,
    lsp::SemanticTokenType::STRING,
    lsp::SemanticTokenType::NUMBER,
    lsp::SemanticTokenType::COMMENT,
    lsp::SemanticTokenType::OPERATOR,
    lsp::SemanticTokenType::DECORATOR,
    lsp::SemanticTokenType::NAMESPACE,
];

const MODIFIERS: [lsp::SemanticTokenModifier; 3] = [
    lsp::SemanticTokenModifier::DECLARATION,
    lsp::SemanticTokenModifier::DEFAULT_LIBRARY,
    lsp::SemanticTokenModifier::DOCUMENTATION,
];
const DECLARATION: u32 = 1;
const BUILT_IN_TYPE: u32 = 2;
const DOCUMENTATION: u32 = 4;

/// The token types and modifiers.
pub(crate) fn legend() -> SemanticTokensLegend {
    SemanticTokensLegend { token_types: TYPES.to_vec(), token_modifiers: MODIFIERS.to_vec() }
}

type TypedSpan = (Span, TokenType, u32);

/// The tokens in a span, in order and without overlaps.
fn typed_spans(cx: &RequestContext, wanted: Span) -> Vec<TypedSpan> {
    let tree = cx.tree();
    let (mut named, mut tokens): (Vec<TypedSpan>, Vec<TypedSpan>) = (Vec::new(), Vec::new());
    let near = |span: Span| span.touches(wanted);
    for top in tree.root().children().filter(|top| near(top.span())) {
        top.descendants().for_each(|node| add_node(&mut named, node));
    }
    for token in tree.tokens_before(wanted.end.saturating_add(1)) {
        add_token(&mut tokens, token.kind(), token.span());
    }
    named.sort_by_key(|(span, ..)| span.start);
    // A name takes precedence over its token and may be part of it.
    let mut found = Vec::with_capacity(named.len() + tokens.len());
    let mut names = named.into_iter().peekable();
    let mut end = 0;
    for (span, is, more) in tokens {
        while let Some((name, is, more)) = names.next_if(|(name, ..)| name.start < span.end) {
            if name.start >= end.max(span.start) && name.end <= span.end {
                let before = Span::new(span.start.max(end), name.start);
                found.extend((!before.is_empty()).then_some((before, TokenType::String, 0)));
            }
            if name.start >= end && !name.is_empty() {
                found.push((name, is, more));
                end = name.end;
            }
        }
        let rest = Span::new(span.start.max(end), span.end);
        if !rest.is_empty() {
            found.push((rest, is, more));
            end = rest.end;
        }
    }
    for (name, is, more) in names {
        if name.start >= end && !name.is_empty() {
            found.push((name, is, more));
            end = name.end;
        }
    }
    found.retain(|(span, ..)| near(*span));
    found
}

fn add_token(found: &mut Vec<TypedSpan>, kind: T, span: Span) {
    use T::{
        Backticked, Comment, Dash, DashGreater, DocComment, DoubleQuoted, Equals, EqualsGreater,
        Fenced, FencedTagged, LessDash, LessEquals, LessTilde, SingleQuoted, Tilde, TildeGreater,
    };
    let (is, more) = match kind {
        Comment => (TokenType::Comment, 0),
        DocComment => (TokenType::Comment, DOCUMENTATION),
        SingleQuoted | DoubleQuoted | Backticked | Fenced | FencedTagged => (TokenType::String, 0),
        Dash | Equals | Tilde | DashGreater | EqualsGreater | TildeGreater | LessDash
        | LessEquals | LessTilde => (TokenType::Operator, 0),
        kind if kind.is_number() => (TokenType::Number, 0),
        _ => return,
    };
    found.push((span, is, more));
}

fn add_node(found: &mut Vec<TypedSpan>, node: Node<'_>) {
    match node.kind() {
        N::SubjectPattern => {
            let subject = node.subject();
            let kind = subject.labels().find_map(|label| Kind::of_label(&label.content()));
            if let (Some(name), Some(kind)) = (subject.identifier, kind) {
                found.push((name.span(), token_type_of(kind), DECLARATION));
            }
            let is = match kind {
                Some(Kind::Enum) => TokenType::EnumMember,
                Some(Kind::Union) => TokenType::Type,
                Some(Kind::Experiment) => TokenType::Namespace,
                Some(Kind::Agent | Kind::Container) => TokenType::Function,
                _ => TokenType::Variable,
            };
            for element in node.elements().filter(|it| it.kind() == N::PatternReference) {
                found.extend(element.children().next().map(|name| (name.span(), is, 0)));
            }
            for label in subject.labels() {
                let is = if Kind::of_label(&label.content()).is_some() {
                    TokenType::Keyword
                } else {
                    TokenType::Type
                };
                found.push((label.span(), is, 0));
            }
        }
        N::NodePattern => {
            let subject = node.subject();
            if let Some(name) = subject.identifier {
                found.push((name.span(), TokenType::Parameter, 0));
            }
            for label in subject.labels() {
                add_types(found, label);
            }
        }
        N::RecordProperty | N::MapEntry | N::TypeField => {
            if let Some(key) = node.children().next() {
                found.push((key.span(), TokenType::Property, 0));
            }
        }
        N::PropertyAnnotation | N::IdentifiedAnnotation => {
            if let Some(key) = node.children().next() {
                found.push((key.span(), TokenType::Decorator, 0));
            }
        }
        N::Boolean => found.push((node.span(), TokenType::Keyword, 0)),
        _ => {}
    }
}

fn token_type_of(kind: Kind) -> TokenType {
    match kind {
        Kind::Tool => TokenType::Function,
        Kind::Agent => TokenType::Class,
        Kind::Container | Kind::Library | Kind::Experiment => TokenType::Namespace,
        Kind::Record | Kind::Enum | Kind::Union | Kind::Alias => TokenType::Type,
        Kind::Term => TokenType::Variable,
    }
}

fn add_types(found: &mut Vec<TypedSpan>, label: Node<'_>) {
    types_in(label, |name, span| {
        let more = if BUILT_IN.contains(&name) { BUILT_IN_TYPE } else { 0 };
        found.push((span, TokenType::Type, more));
    });
}

/// Encodes tokens relative to the previous token. Multi-line tokens are split at line ends.
fn encode(cx: &RequestContext, words: &[TypedSpan]) -> Vec<SemanticToken> {
    let positions = cx.positions();
    let mut tokens = Vec::with_capacity(words.len());
    let (mut line, mut column) = (0, 0);
    for (span, is, more) in words {
        let text = cx.file.text().get(span.range()).unwrap_or_default();
        let mut start = span.start;
        for part in text.split_inclusive(['\n', '\r']) {
            let shown = part.trim_end_matches(['\n', '\r']);
            let length = positions.encoding().count(shown);
            if length > 0 {
                let at = positions.position_from(line, start);
                let before = if at.line == line { column } else { 0 };
                tokens.push(SemanticToken {
                    delta_line: at.line - line,
                    delta_start: at.character - before,
                    length,
                    token_type: *is as u32,
                    token_modifiers_bitset: *more,
                });
                (line, column) = (at.line, at.character);
            }
            start += crate::position::number(part.len());
        }
    }
    tokens
}

fn all_tokens(cx: &RequestContext) -> Arc<Vec<SemanticToken>> {
    let whole = Span::from(0..cx.file.text().len());
    Arc::new(encode(cx, &typed_spans(cx, whole)))
}

/// The tokens of a document. They are shared with the cache.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FullTokens {
    #[serde(skip_serializing_if = "Option::is_none")]
    result_id: Option<String>,
    #[serde(serialize_with = "serialize_flat")]
    data: Arc<Vec<SemanticToken>>,
}

fn serialize_flat<S: Serializer>(
    data: &Arc<Vec<SemanticToken>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(data.iter().flat_map(|token| {
        let SemanticToken { delta_line, delta_start, length, .. } = *token;
        [delta_line, delta_start, length, token.token_type, token.token_modifiers_bitset]
    }))
}

/// All tokens, or the changes since the previous response.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum TokensOrDelta {
    Full(FullTokens),
    Delta(lsp::SemanticTokensDelta),
}

/// `textDocument/semanticTokens/full`
pub(crate) fn full(cx: &RequestContext) -> FullTokens {
    let data = all_tokens(cx);
    FullTokens { result_id: Some(cx.client.tokens.insert(&cx.file.uri, &data)), data }
}

/// `textDocument/semanticTokens/range`
pub(crate) fn range(cx: &RequestContext, span: Span) -> FullTokens {
    FullTokens { result_id: None, data: Arc::new(encode(cx, &typed_spans(cx, span))) }
}

/// `textDocument/semanticTokens/full/delta`: one edit between the common start and end.
pub(crate) fn delta(cx: &RequestContext, params: lsp::SemanticTokensDeltaParams) -> TokensOrDelta {
    let data = all_tokens(cx);
    let before = cx.client.tokens.get(&cx.file.uri, &params.previous_result_id);
    let result_id = Some(cx.client.tokens.insert(&cx.file.uri, &data));
    let Some(before) = before else {
        return TokensOrDelta::Full(FullTokens { result_id, data });
    };
    let start = before.iter().zip(&*data).take_while(|(one, other)| one == other).count();
    let (old, new) = (&before[start..], &data[start..]);
    let same = old.iter().rev().zip(new.iter().rev()).take_while(|(one, other)| one == other);
    let same = same.count();
    let (old, new) = (&old[..old.len() - same], &new[..new.len() - same]);
    let number = |count: usize| crate::position::number(count * 5);
    let edits = if old.is_empty() && new.is_empty() {
        Vec::new()
    } else {
        let (start, delete_count) = (number(start), number(old.len()));
        vec![lsp::SemanticTokensEdit { start, delete_count, data: Some(new.to_vec()) }]
    };
    TokensOrDelta::Delta(lsp::SemanticTokensDelta { result_id, edits })
}

/// The tokens last sent for each document.
#[derive(Debug, Default)]
pub(crate) struct TokenCache(Mutex<TokenCacheState>);

#[derive(Debug, Default)]
struct TokenCacheState {
    count: u64,
    of: HashMap<String, (String, Arc<Vec<SemanticToken>>)>,
}

impl TokenCache {
    /// Stores the tokens of a document and returns their result id.
    fn insert(&self, uri: &lsp::Uri, data: &Arc<Vec<SemanticToken>>) -> String {
        let mut state = self.0.lock();
        state.count += 1;
        let id = state.count.to_string();
        state.of.insert(uri.as_str().to_owned(), (id.clone(), Arc::clone(data)));
        id
    }

    /// The tokens sent with a result id.
    fn get(&self, uri: &lsp::Uri, id: &str) -> Option<Arc<Vec<SemanticToken>>> {
        let state = self.0.lock();
        let (known, data) = state.of.get(uri.as_str())?;
        (known == id).then(|| Arc::clone(data))
    }

    /// Removes a document.
    pub(crate) fn forget(&self, uri: &lsp::Uri) {
        self.0.lock().of.remove(uri.as_str());
    }
}
