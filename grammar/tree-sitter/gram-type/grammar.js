/**
 * @file Type expressions, which stand in backticks and in some strings of a gram text: `Text[]`.
 * @license MIT OR Apache-2.0
 */

/// <reference types="tree-sitter-cli/dsl" />
// @ts-check

export default grammar({
  name: "gram_type",

  extras: (_) => [/[\t\n\r ]/],

  word: ($) => $.name,

  rules: {
    expression: ($) => $._type,

    _type: ($) => choice($._member, $.union),

    union: ($) => seq($._member, repeat1(seq("|", $._member))),

    _member: ($) => choice($._primary, $.list, $.nullable),

    list: ($) => choice(seq($._member, "[", "]"), seq("[", $._type, "]")),

    nullable: ($) => seq($._member, "?"),

    _primary: ($) =>
      choice(
        $.name,
        alias("Map", $.name),
        $._literal,
        $.map,
        $.tuple,
        $.record,
        seq("(", $._type, ")"),
      ),

    map: ($) => seq(alias("Map", $.name), "<", field("values", $._type), ">"),

    tuple: ($) => seq("[", $._type, repeat1(seq(",", $._type)), "]"),

    record: ($) => seq("{", optional(seq($.field, repeat(seq(",", $.field)))), "}"),

    field: ($) =>
      seq(
        field("name", choice($._field_name, $.string)),
        optional("?"),
        ":",
        field("type", $._type),
        optional(seq("=", field("default", $._literal))),
      ),

    _field_name: ($) =>
      choice(
        $.name,
        alias(choice("Map", "true", "false", "null"), $.name),
      ),

    name: (_) => /[A-Za-z_][A-Za-z0-9_]*/,

    _literal: ($) => choice($.string, $.number, $.boolean, $.null),

    boolean: (_) => choice("true", "false"),

    null: (_) => "null",

    // As in JSON.
    number: (_) => /-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/,

    // As in JSON: surrogates come in pairs.
    string: (_) =>
      token(
        seq(
          '"',
          repeat(
            choice(
              /[^"\\\x00-\x1f]/,
              /\\["\\/bfnrt]/,
              /\\u([0-9a-cA-CefEF][0-9a-fA-F]{3}|[dD][0-7][0-9a-fA-F]{2})/,
              /\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}/,
            ),
          ),
          '"',
        ),
      ),
  },
});
