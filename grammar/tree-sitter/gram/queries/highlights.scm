; If several patterns match a node, the last one applies, so general patterns come first.

(comment) @comment
(doc_comment) @comment.documentation

; ---- Names ----

(symbol) @constant
((symbol) @constant.builtin
  (#eq? @constant.builtin "null"))

(subject_pattern identifier: (_) @variable)
(node_pattern identifier: (_) @variable)
(pattern_reference identifier: (_) @variable)
(identified_annotation identifier: (_) @variable)
(undirected_arrow identifier: (_) @variable)
(left_arrow identifier: (_) @variable)
(right_arrow identifier: (_) @variable)
(bidirectional_arrow identifier: (_) @variable)

; The parameters of a signature, and the other nodes of paths.
(relationship_pattern left: (node_pattern identifier: (_) @variable.parameter))
(relationship_pattern right: (node_pattern identifier: (_) @variable.parameter))

; ---- Labels: types and kinds of declarations ----

(labels [(symbol) (quoted_name)] @type)

((labels (symbol) @type.builtin)
  (#any-of? @type.builtin
    "Text" "String" "Int" "Integer" "Double" "Float" "Number" "Bool" "Boolean" "Object" "Array"
    "List" "Map" "Any" "Null" "Date" "Time" "DateTime" "Duration" "Email" "Uri" "Uuid" "Ipv4"
    "Ipv6" "Hostname" "Bytes"))

(type_name) @type

((type_name) @type.builtin
  (#any-of? @type.builtin
    "Text" "String" "Int" "Integer" "Double" "Float" "Number" "Bool" "Boolean" "Object" "Array"
    "List" "Map" "Any" "Null" "Date" "Time" "DateTime" "Duration" "Email" "Uri" "Uuid" "Ipv4"
    "Ipv6" "Hostname" "Bytes"))

((type_name) @constant.builtin
  (#any-of? @constant.builtin "true" "false" "null"))

(type_field . [(symbol) (double_quoted_name)] @property)

((subject_pattern
    identifier: (_) @function
    labels: (labels (symbol) @_kind))
  (#any-of? @_kind "Tool" "Container" "Agent"))

((subject_pattern
    identifier: (_) @type.definition
    labels: (labels (symbol) @_kind))
  (#any-of? @_kind "Record" "Enum" "Union" "Alias"))

((subject_pattern
    identifier: (_) @module
    labels: (labels (symbol) @_kind))
  (#any-of? @_kind "Library" "Experiment"))

((subject_pattern
    labels: (labels (symbol) @keyword))
  (#any-of? @keyword
    "Tool" "Record" "Enum" "Union" "Alias" "Container" "Agent" "Library" "Experiment"))

; ---- Records and annotations ----

(record_property key: (_) @property)
(map_entry key: (_) @property)
(property_annotation "@" @attribute key: (symbol) @attribute)
(identified_annotation "@@" @attribute)

; ---- Values ----

(string_literal) @string
(tagged_string) @string
(tagged_string tag: (symbol) @attribute)
(boolean_literal) @boolean
[
  (integer)
  (decimal)
  (hexadecimal)
  (octal)
  (measurement)
] @number

; An identifier may be a number.
(subject_pattern identifier: (integer) @variable)
(node_pattern identifier: (integer) @variable)
(pattern_reference identifier: (integer) @variable)

; ---- Punctuation ----

(range [".." "..."] @operator)

[
  (undirected_arrow)
  (left_arrow)
  (right_arrow)
  (bidirectional_arrow)
] @operator

["?" "="] @operator

["(" ")" "[" "]" "{" "}" "<" ">"] @punctuation.bracket
["," "|" ":" "::"] @punctuation.delimiter
