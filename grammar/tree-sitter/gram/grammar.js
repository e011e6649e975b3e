/**
 * @file Gram notation with the six extensions of `../../spec.md`.
 * @license MIT OR Apache-2.0
 *
 * The names of nodes and fields are the same as in the reference grammar, so a text has the same tree
 * as in the output of `gramc parse`. (The field `subject`, which no tree shows, is omitted: it prevents
 * queries from naming two parts of a subject.) `../../gram.ebnf` contains the same productions.
 */

/// <reference types="tree-sitter-cli/dsl" />
// @ts-check

// If the text of a string and a comment could begin at the same position, the text takes precedence:
// `"//cdn"` is a string (extension E4). A doc comment has the precedence of all other tokens, so the
// longer one of it and a text applies, as in the reference grammar.
const COMMENT = -1;

const NUMBER = /-?(0|[1-9][0-9]*)/;

export default grammar({
  name: "gram",

  extras: ($) => [/[\t\n\v\f\r ]/, $.comment, $.doc_comment],

  // `<` after a type's name opens its arguments (extension E5) or a record (extension E2).
  conflicts: ($) => [
    [$._node_label, $.type_arguments],
    [$._type_primary, $.type_arguments],
  ],

  rules: {
    gram_pattern: ($) =>
      seq(field("root", optional($.record)), repeat($._top_level_pattern)),

    _top_level_pattern: ($) =>
      choice($.annotated_pattern, $.subject_pattern, $._path_pattern),

    // ---- Annotations ----

    annotated_pattern: ($) =>
      seq(
        field("annotations", $.annotations),
        field("elements", choice($.subject_pattern, $._path_pattern)),
      ),

    annotations: ($) =>
      choice(
        seq($.identified_annotation, repeat($.property_annotation)),
        repeat1($.property_annotation),
      ),

    identified_annotation: ($) =>
      seq(
        "@@",
        choice(
          seq(field("identifier", $._identifier), optional(field("labels", $.labels))),
          field("labels", $.labels),
        ),
      ),

    property_annotation: ($) =>
      seq("@", field("key", $.symbol), "(", field("value", $._value), ")"),

    // ---- Patterns ----

    subject_pattern: ($) =>
      seq(
        "[",
        optional($._subject),
        field("elements", optional(seq("|", $.subject_pattern_elements))),
        "]",
      ),

    subject_pattern_elements: ($) =>
      listed(choice($.subject_pattern, $._path_pattern, $.pattern_reference)),

    pattern_reference: ($) => field("identifier", $._identifier),

    _path_pattern: ($) => choice($.relationship_pattern, $.node_pattern),

    relationship_pattern: ($) =>
      seq(
        field("left", $.node_pattern),
        field(
          "kind",
          choice($.undirected_arrow, $.left_arrow, $.right_arrow, $.bidirectional_arrow),
        ),
        field("right", $._path_pattern),
      ),

    node_pattern: ($) => seq("(", optional($._node_subject), ")"),

    undirected_arrow: ($) => arrow($, "", ""),
    left_arrow: ($) => arrow($, "<", ""),
    right_arrow: ($) => arrow($, "", ">"),
    bidirectional_arrow: ($) => arrow($, "<", ">"),

    // ---- Subjects ----

    _subject: ($) =>
      choice(
        seq(
          field("identifier", $._identifier),
          optional(field("labels", $.labels)),
          optional(field("record", $._subject_record)),
        ),
        seq(field("labels", $.labels), optional(field("record", $._subject_record))),
        field("record", $._subject_record),
      ),

    // In a node, the identifier may be marked as optional (extension E6), and a label may be a type
    // expression (extension E5).
    _node_subject: ($) =>
      choice(
        seq(
          field("identifier", $._identifier),
          optional("?"),
          optional(field("labels", alias($._node_labels, $.labels))),
          optional(field("record", $._subject_record)),
        ),
        seq(
          field("labels", alias($._node_labels, $.labels)),
          optional(field("record", $._subject_record)),
        ),
        field("record", $._subject_record),
      ),

    _node_labels: ($) => repeat1(seq(choice(":", "::"), $._node_label)),

    _node_label: ($) =>
      choice($.symbol, $.quoted_name, alias($._bare_type, $.type_expression)),

    // ---- Types ----

    // A name alone is a label, as in plain gram.
    _bare_type: ($) =>
      choice(
        seq(alias($._compound_member, $.type_member), repeat(seq("|", $.type_member))),
        seq(alias($._named_member, $.type_member), repeat1(seq("|", $.type_member))),
      ),

    _named_member: ($) => alias($.symbol, $.type_name),

    _compound_member: ($) =>
      choice(
        seq(alias($.symbol, $.type_name), repeat1($._type_suffix)),
        seq($._compound_type, repeat($._type_suffix)),
      ),

    type_expression: ($) => seq($.type_member, repeat(seq("|", $.type_member))),

    type_member: ($) => seq($._type_primary, repeat($._type_suffix)),

    _type_suffix: (_) => choice(seq("[", "]"), "?"),

    _type_primary: ($) => choice(alias($.symbol, $.type_name), $._compound_type),

    _compound_type: ($) =>
      choice(
        $.type_arguments,
        $.type_group,
        $.type_tuple,
        $.type_record,
        alias($._double_quoted_literal, $.string_literal),
        alias($._json_number, $.decimal),
      ),

    type_arguments: ($) =>
      seq(alias($.symbol, $.type_name), "<", listed($.type_expression), ">"),

    type_group: ($) => seq("(", $.type_expression, ")"),

    type_tuple: ($) => seq("[", listed($.type_expression), "]"),

    type_record: ($) => seq("{", optional(listed($.type_field)), "}"),

    type_field: ($) =>
      seq(
        choice($.symbol, $.double_quoted_name),
        optional("?"),
        ":",
        $.type_expression,
        optional($._subject_record),
        optional(seq("=", choice($._value, alias($._json_number, $.decimal)))),
      ),

    _double_quoted_literal: ($) => doubleQuoted($),

    // In a subject, a record may be written in angle brackets (extension E2).
    _subject_record: ($) => choice($.record, alias($._angle_record, $.record)),

    _identifier: ($) => choice($.symbol, $.quoted_name, $.integer),

    labels: ($) => repeat1(seq(choice(":", "::"), choice($.symbol, $.quoted_name))),

    record: ($) => seq("{", optional(listed($.record_property)), "}"),

    _angle_record: ($) => seq("<", optional(listed($.record_property)), ">"),

    record_property: ($) =>
      seq(field("key", $._key_name), choice(":", "::"), field("value", $._value)),

    _key_name: ($) => choice($.symbol, $.quoted_name, $.double_quoted_name),

    // ---- Values ----

    // Arrays and maps may contain arrays and maps, and an array may be empty (extension E1).
    _value: ($) =>
      choice(
        $.range,
        $._numeric_literal,
        $.boolean_literal,
        $.tagged_string,
        $.symbol,
        $.string_literal,
        $.array,
        $.map,
      ),

    array: ($) => seq("[", optional(listed($._value)), "]"),

    map: ($) => seq("{", optional(listed($.map_entry)), "}"),

    map_entry: ($) => seq(field("key", $._key_name), ":", field("value", $._value)),

    range: ($) =>
      choice(
        seq(
          field("lower", $._numeric_literal),
          choice(seq("..", field("upper", $._numeric_literal)), "..."),
        ),
        seq("...", field("upper", $._numeric_literal)),
      ),

    boolean_literal: (_) => choice("true", "false"),

    symbol: (_) => /[a-zA-Z_][0-9a-zA-Z_.\-@]*/,

    _numeric_literal: ($) =>
      choice($.integer, $.decimal, $.hexadecimal, $.octal, $.measurement),

    integer: (_) => NUMBER,
    decimal: (_) => token(seq(NUMBER, /\.[0-9]+/)),
    hexadecimal: (_) => /0x[0-9a-fA-F]+/,
    octal: (_) => /0[0-7]+/,
    measurement: (_) => token(seq(NUMBER, /[a-zA-Z]+/)),
    // After the numbers of gram: a text that matches both is a number of gram.
    _json_number: (_) => token(seq(NUMBER, /(\.[0-9]+)?([eE][+-]?[0-9]+)?/)),

    // ---- Strings ----

    quoted_name: ($) => backticked($),

    double_quoted_name: ($) => doubleQuoted($),

    string_literal: ($) =>
      choice(singleQuoted($), doubleQuoted($), backticked($), seq("```", fenceBody($))),

    tagged_string: ($) =>
      choice(
        seq(field("tag", $.symbol), backticked($)),
        seq("```", field("tag", $.symbol), fenceBody($)),
      ),

    // A backslash precedes one of a few letters, the delimiter, or `u` and four hexadecimal digits
    // (extension E3).
    _single_quoted_text: (_) => token.immediate(/(\\['bfnrt/\\]|\\u([0-9a-cefA-CEF][0-9a-fA-F]{3}|[dD][0-7][0-9a-fA-F]{2}|[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|[^'\\\n])*/),
    _double_quoted_text: (_) => token.immediate(/(\\["bfnrt/\\]|\\u([0-9a-cefA-CEF][0-9a-fA-F]{3}|[dD][0-7][0-9a-fA-F]{2}|[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|[^"\\\n])*/),
    _backticked_text: (_) => token.immediate(/(\\[`bfnrt/\\]|\\u([0-9a-cefA-CEF][0-9a-fA-F]{3}|[dD][0-7][0-9a-fA-F]{2}|[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|[^`\\\n])*/),
    _fenced_text: (_) => token.immediate(/([^`]|`[^`]|``[^`])+/),

    // ---- Comments ----

    comment: (_) => token(prec(COMMENT, seq("//", /[^\n]*/))),
    doc_comment: (_) => token(seq("/**", /[^*]*\*+([^/*][^*]*\*+)*/, "/")),
  },
});

/** One or more, with commas between. */
function listed(rule) {
  return seq(rule, repeat(seq(",", rule)));
}

/** An arrow of the three families, with an optional subject, between two ends. */
function arrow($, left, right) {
  return choice(
    ...["-", "=", "~"].map((line) =>
      seq(
        left + line,
        optional(seq("[", optional($._subject), "]")),
        line + right,
      ),
    ),
  );
}

function quoted(text, quote, $) {
  return seq(quote, field("content", alias(text, $.string_content)), quote);
}

function singleQuoted($) {
  return quoted($._single_quoted_text, "'", $);
}

function doubleQuoted($) {
  return quoted($._double_quoted_text, '"', $);
}

function backticked($) {
  return quoted($._backticked_text, "`", $);
}

function fenceBody($) {
  return seq("\n", field("content", optional(alias($._fenced_text, $.string_content))), "```");
}
