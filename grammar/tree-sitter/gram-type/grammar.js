/**
 * @file Type expressions in backticks and in some strings of a gram text: `Text[]`.
 * @license MIT OR Apache-2.0
 *
 * They are the types of `../gram/grammar.js`, where they also follow `::` without backticks.
 */

/// <reference types="tree-sitter-cli/dsl" />
// @ts-check

import gram from "../gram/grammar.js";

export default grammar(gram, {
  name: "gram_type",

  rules: {
    // The start of the other grammar.
    gram_pattern: ($) => $.type_expression,
  },
});
