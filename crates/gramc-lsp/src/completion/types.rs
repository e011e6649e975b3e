//! The place in a type expression without backticks, by the tokens before the cursor.

use gramc_syntax::{Token, TokenKind as T};

/// What can be written at a place in a type expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TypePlace {
    Type,
    Field,
    /// Inside of the record of attributes of a field whose type begins at this token.
    Attributes(usize),
    Other,
}

enum Frame {
    /// `(`, `[` or `<` around types.
    Types,
    Record(Part),
    /// A record of attributes of a field whose type begins at this token, or a bracket inside of
    /// one.
    Attributes(usize),
}

/// The part of a field of a record type.
#[derive(PartialEq, Eq)]
enum Part {
    Name,
    Type(usize),
    Default,
}

/// The place behind the tokens that follow the colons of a label. Nothing where the type is over.
pub(super) fn place(tokens: &[Token<'_>]) -> Option<TypePlace> {
    let mut frames = vec![Frame::Types];
    // Whether a type has just ended.
    let mut complete = false;
    for (at, token) in tokens.iter().enumerate() {
        let kind = token.kind();
        let attributes = matches!(frames.last(), Some(Frame::Attributes(_)));
        match kind {
            T::LBrace | T::LBracket | T::LParen if attributes => {
                frames.push(Frame::Attributes(usize::MAX));
            }
            // The attributes of the node.
            T::LBrace if complete && frames.len() == 1 => return None,
            T::LBrace if complete => {
                let start = match frames.last() {
                    Some(Frame::Record(Part::Type(start))) => *start,
                    _ => at,
                };
                frames.push(Frame::Attributes(start));
            }
            T::LBrace => {
                frames.push(Frame::Record(Part::Name));
                complete = false;
            }
            T::LBracket | T::LParen | T::Less => {
                frames.push(Frame::Types);
                complete = false;
            }
            T::RBrace | T::RBracket | T::RParen | T::Greater => {
                frames.pop();
                complete = true;
            }
            _ if attributes => {}
            T::Comma => {
                if let Some(Frame::Record(part)) = frames.last_mut() {
                    *part = Part::Name;
                }
                complete = false;
            }
            T::Colon | T::ColonColon | T::Equals => {
                if let Some(Frame::Record(part)) = frames.last_mut() {
                    *part = if kind == T::Equals { Part::Default } else { Part::Type(at + 1) };
                }
                complete = false;
            }
            T::Pipe => complete = false,
            _ => complete = true,
        }
    }
    Some(match frames.last()? {
        Frame::Attributes(start) => TypePlace::Attributes(*start),
        Frame::Record(Part::Name) if !complete => TypePlace::Field,
        Frame::Record(Part::Name | Part::Default) => TypePlace::Other,
        _ if complete => TypePlace::Other,
        _ => TypePlace::Type,
    })
}
