//! Documents, annotated patterns and subject patterns.

use super::Parser;
use super::group::{After, Group, Items, is_closer};
use crate::token::TokenKind as T;
use crate::tree::NodeKind as N;

impl Parser<'_> {
    /// `gram_pattern = record? top_level_pattern*`: the document and its record, without its
    /// patterns.
    pub(super) fn begin(&mut self) -> u32 {
        self.before = self.diagnostics.len();
        let root = self.open(N::Document);
        self.skip_trivia(0);
        if self.kind() == T::LBrace {
            self.record();
        }
        root
    }

    /// `top_level_pattern*`, up to the end of the text or to the token of a number.
    pub(super) fn patterns(&mut self) {
        loop {
            if self.begins_line(self.at) && !is_closer(self.kind()) {
                self.before = self.diagnostics.len();
            }
            match self.kind() {
                T::End => break,
                T::LBracket => self.subject_pattern(),
                T::LParen => self.path(),
                T::At | T::AtAt => self.annotated_pattern(),
                T::LBrace => {
                    self.report_mistake("misplaced-header");
                    self.record();
                }
                _ if !self.begins_line(self.at) && self.foreign_comment() => {}
                _ => self.stray(),
            }
            self.open = [0; 4];
            self.swallowed = None;
        }
    }

    /// `annotated_pattern = annotations ( subject_pattern | path_pattern )`
    fn annotated_pattern(&mut self) {
        let pattern = self.open(N::AnnotatedPattern);
        self.annotations();
        match self.kind() {
            T::LBracket => self.subject_pattern(),
            T::LParen => self.path(),
            _ => self.report_mistake("annotated"),
        }
        self.close(pattern);
    }

    /// `annotations = identified_annotation property_annotation* | property_annotation+`
    fn annotations(&mut self) {
        let annotations = self.open(N::Annotations);
        if self.kind() == T::AtAt {
            self.identified_annotation();
        }
        loop {
            match self.kind() {
                T::At => self.property_annotation(),
                T::AtAt => {
                    self.report_mistake("late-annotation");
                    self.identified_annotation();
                }
                _ => break,
            }
        }
        self.close(annotations);
    }

    /// `identified_annotation = "@@" ( identifier labels? | labels )`
    fn identified_annotation(&mut self) {
        let annotation = self.open(N::IdentifiedAnnotation);
        self.bump();
        let named = self.identifier();
        let labelled = self.labels();
        if !named && !labelled {
            self.report_mistake("nameless-identified");
        }
        self.close(annotation);
    }

    /// `property_annotation = "@" symbol "(" value ")"`
    fn property_annotation(&mut self) {
        let annotation = self.open(N::PropertyAnnotation);
        self.bump();
        if self.kind() == T::Symbol {
            self.leaf(N::Symbol);
            if self.kind() == T::LParen {
                let group = self.group(T::RParen);
                self.bump();
                self.value();
                self.close_group(group, Items::Annotation);
            } else {
                self.report_mistake("annotation-value");
            }
        } else {
            self.report_mistake("nameless-annotation");
        }
        self.close(annotation);
    }

    /// `subject_pattern = "[" subject? ( "|" subject_pattern_elements )? "]"`
    ///
    /// `subject_pattern_elements = element ( "," element )*`
    ///
    /// `element = subject_pattern | path_pattern | pattern_reference`
    fn subject_pattern(&mut self) {
        let mut stack = std::mem::take(&mut self.patterns);
        loop {
            // At the bracket that opens a pattern.
            if stack.len() >= self.limits.max_depth {
                self.too_deep();
            } else if let Some(pattern) = self.subject_pattern_head() {
                let group = pattern.group;
                stack.push(pattern);
                if !self.element(group) {
                    continue;
                }
            }
            // After an element.
            loop {
                let Some(pattern) = stack.last() else {
                    self.patterns = stack;
                    return;
                };
                let (group, id, elements) = (pattern.group, pattern.id, pattern.elements);
                match self.after_item(group, Items::Elements) {
                    After::Item if self.ends_unclosed(group) => {
                        self.close_elements(id, elements);
                        stack.pop();
                    }
                    After::Item => {
                        if self.element(group) {
                            continue;
                        }
                        break;
                    }
                    After::Closed | After::Abandoned => {
                        self.close_elements(id, elements);
                        stack.pop();
                    }
                }
            }
        }
    }

    /// Ends a pattern whose elements end before its closing bracket.
    fn close_elements(&mut self, id: u32, elements: u32) {
        self.close(elements);
        // The elements do not include the closing bracket of the pattern.
        let last_child = self.last_child_token(elements);
        self.node(elements).last = last_child;
        self.close(id);
    }

    /// The last token of a node's last child.
    fn last_child_token(&mut self, id: u32) -> u32 {
        let end = self.node(id).end;
        let mut last = self.node(id).first;
        let mut child = id + 1;
        while child < end {
            let node = self.node(child);
            last = node.last;
            child = node.end;
        }
        last
    }

    /// `"[" subject? "|"` of a pattern that has elements; `None` when it is complete without.
    fn subject_pattern_head(&mut self) -> Option<Pattern> {
        let id = self.open(N::SubjectPattern);
        let group = self.group(T::RBracket);
        self.bump();
        self.subject();
        if self.kind() != T::Pipe {
            self.missing_bar(group);
        }
        if self.eat(T::Pipe) || self.kind() == T::LParen {
            while self.foreign_comment() {}
            if self.ends_unclosed(group) {
                self.close(id);
                return None;
            }
            if self.kind() == T::RBracket {
                self.report_mistake("no-elements");
                self.close_group(group, Items::One);
                self.close(id);
                return None;
            }
            let elements = self.open(N::Elements);
            return Some(Pattern { id, elements, group });
        }
        self.close_group(group, Items::One);
        self.close(id);
        None
    }

    /// One element; `false` when it is a pattern, which is still to be read.
    fn element(&mut self, group: Group) -> bool {
        match self.kind() {
            T::LBracket => return false,
            T::LParen => self.path(),
            T::Symbol | T::Backticked | T::Integer => self.pattern_reference(),
            T::QuoteOpen if self.text(self.at) == "`" => self.pattern_reference(),
            _ => self.no_element(group),
        }
        true
    }

    /// `pattern_reference = identifier`
    fn pattern_reference(&mut self) {
        let reference = self.open(N::PatternReference);
        self.identifier();
        self.close(reference);
    }

    /// Whether, after something stray, a pattern begins: at the start of a line, or where `[name`
    /// stands.
    fn at_pattern(&self) -> bool {
        match self.kind() {
            T::End => true,
            T::LBracket => {
                self.begins_line(self.at) || matches!(self.second(), T::Symbol | T::Backticked)
            }
            T::LParen | T::At | T::AtAt => self.begins_line(self.at),
            _ => false,
        }
    }

    /// Whether a declaration begins after text of another language: `[name:` or `@key(`.
    fn at_named_pattern(&self) -> bool {
        let name = self.after(self.at);
        let named = match self.kind() {
            T::End => return true,
            T::At | T::AtAt | T::LBracket => self.tokens.kind(name),
            _ => return false,
        };
        let behind = match named {
            // A name in pieces: only gram quotes like that.
            T::QuoteOpen | T::Colon | T::ColonColon => return true,
            _ => self.tokens.kind(self.after(name)),
        };
        matches!(behind, T::Colon | T::ColonColon | T::LParen | T::Pipe)
    }

    /// An unexpected token at the top level.
    fn stray(&mut self) {
        let foreign = self.stray_error();
        let node = self.open(N::Error);
        self.bump();
        while !self.at_pattern() || (foreign && !self.at_named_pattern()) {
            self.bump();
        }
        self.close(node);
    }
}

/// A pattern whose elements are being parsed.
pub(super) struct Pattern {
    id: u32,
    elements: u32,
    group: Group,
}
