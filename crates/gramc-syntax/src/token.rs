//! Tokens. Joined, they are exactly the text.

use crate::span::Span;

/// The kind of a token.
///
/// A string is one token. It is split into pieces only if it has trivia inside its delimiters, which
/// the grammar permits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum TokenKind {
    /// Spaces, tabs, line breaks; a byte order mark at the start of the text.
    Whitespace,
    /// `// …` to the end of the line.
    Comment,
    /// `/** … */`
    DocComment,
    /// `[a-zA-Z_][0-9a-zA-Z_.\-@]*`
    Symbol,
    /// `-?(0|[1-9]\d*)`
    Integer,
    /// `-?(0|[1-9]\d*)\.\d+`
    Decimal,
    /// `0x[0-9a-fA-F]+`
    Hexadecimal,
    /// `0[0-7]+`
    Octal,
    /// An integer with a unit: `2s`.
    Measurement,
    /// `'…'`
    SingleQuoted,
    /// `"…"`
    DoubleQuoted,
    /// `` `…` ``
    Backticked,
    /// Text between lines of three backticks.
    Fenced,
    /// The same with a tag after the opening backticks.
    FencedTagged,
    /// The opening delimiter of a `'`, `"` or `` ` `` string in pieces.
    QuoteOpen,
    /// The text of such a string; may be empty.
    QuoteText,
    /// Its closing delimiter.
    QuoteClose,
    /// The opening backticks of a fenced string in pieces.
    FenceOpen,
    /// The line breaks that end its first line.
    FenceLine,
    /// Its text.
    FenceText,
    /// Its closing backticks.
    FenceClose,
    /// `[`
    LBracket,
    /// `]`
    RBracket,
    /// `(`
    LParen,
    /// `)`
    RParen,
    /// `{`
    LBrace,
    /// `}`
    RBrace,
    /// `<`
    Less,
    /// `>`
    Greater,
    /// `|`
    Pipe,
    /// `?`
    Question,
    /// `,`
    Comma,
    /// `:`
    Colon,
    /// `::`
    ColonColon,
    /// `@`
    At,
    /// `@@`
    AtAt,
    /// `..`
    DotDot,
    /// `...`
    DotDotDot,
    /// `-`
    Dash,
    /// `=`
    Equals,
    /// `~`
    Tilde,
    /// `->`
    DashGreater,
    /// `=>`
    EqualsGreater,
    /// `~>`
    TildeGreater,
    /// `<-`
    LessDash,
    /// `<=`
    LessEquals,
    /// `<~`
    LessTilde,
    /// An unclosed string, fenced string or comment. The lexer reports it.
    Unclosed,
    /// Characters that begin no token.
    Unknown,
    /// The end of the text, an empty token.
    End,
}

impl TokenKind {
    /// Whether the grammar ignores tokens of this kind.
    pub const fn is_trivia(self) -> bool {
        (self as u8) <= (Self::DocComment as u8)
    }

    /// Whether all tokens of this kind have the same text.
    pub(crate) const fn is_punctuation(self) -> bool {
        (self as u8) >= (Self::LBracket as u8) && (self as u8) <= (Self::LessTilde as u8)
    }

    /// Whether this is a string, or the text of one in pieces.
    pub const fn is_string(self) -> bool {
        (self as u8) >= (Self::SingleQuoted as u8) && (self as u8) <= (Self::FenceText as u8)
    }

    /// A unique bit. There are fewer kinds than bits.
    const fn bit(self) -> u64 {
        1 << (self as u8)
    }

    /// Whether this is one of the five kinds of number.
    pub const fn is_number(self) -> bool {
        (self as u8) >= (Self::Integer as u8) && (self as u8) <= (Self::Measurement as u8)
    }
}

/// The tokens of a text: kinds and starts in separate vectors, five bytes per token. The last token
/// is [`TokenKind::End`].
#[derive(Debug, Clone, Default)]
pub(crate) struct Tokens {
    kinds: Vec<TokenKind>,
    starts: Vec<u32>,
    /// A bit for each kind that was ever among them.
    seen: u64,
}

impl Tokens {
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        Self { kinds: Vec::with_capacity(capacity), starts: Vec::with_capacity(capacity), seen: 0 }
    }

    #[inline]
    pub(crate) fn push(&mut self, kind: TokenKind, start: u32) {
        self.kinds.push(kind);
        self.starts.push(start);
        self.seen |= kind.bit();
    }

    /// Whether tokens of one of these kinds may exist. If false, there are none.
    pub(crate) fn may_have(&self, kinds: &[TokenKind]) -> bool {
        kinds.iter().any(|kind| self.seen & kind.bit() != 0)
    }

    /// The number of tokens, the end included.
    pub(crate) fn len(&self) -> usize {
        self.kinds.len()
    }

    #[inline]
    pub(crate) fn kind(&self, index: u32) -> TokenKind {
        self.kinds.get(index as usize).copied().unwrap_or(TokenKind::End)
    }

    /// The span of a token; empty at the end of the text for the end token.
    #[inline]
    pub(crate) fn span(&self, index: u32) -> Span {
        Span::new(self.start(index), self.end(index))
    }

    /// Where a token starts.
    #[inline]
    pub(crate) fn start(&self, index: u32) -> u32 {
        self.starts.get(index as usize).copied().unwrap_or_else(|| self.text_end())
    }

    /// Where a token ends.
    #[inline]
    pub(crate) fn end(&self, index: u32) -> u32 {
        self.starts.get(index as usize + 1).copied().unwrap_or_else(|| self.text_end())
    }

    /// The offset of the end token.
    #[cold]
    fn text_end(&self) -> u32 {
        self.starts.last().copied().unwrap_or_default()
    }

    /// The index of the token that contains the byte at `offset`.
    pub(crate) fn at(&self, offset: u32) -> u32 {
        let index = self.starts.partition_point(|&start| start <= offset);
        crate::span::offset(index.saturating_sub(1))
    }

    /// Removes all tokens from index `len` on.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.kinds.truncate(len);
        self.starts.truncate(len);
    }

    /// Removes all tokens that start at or after `offset`.
    pub(crate) fn truncate_from(&mut self, offset: usize) {
        self.truncate(self.starts.partition_point(|&start| (start as usize) < offset));
    }

    pub(crate) fn shrink(&mut self) {
        self.kinds.shrink_to_fit();
        self.starts.shrink_to_fit();
    }
}
