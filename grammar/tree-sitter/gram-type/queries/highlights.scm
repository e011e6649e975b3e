; If several patterns match a node, the last one applies.

(doc_comment) @comment.documentation
(comment) @comment

(type_name) @type

((type_name) @type.builtin
  (#any-of? @type.builtin
    "Text" "String" "Int" "Integer" "Double" "Float" "Number" "Bool" "Boolean" "Object" "Array"
    "List" "Map" "Any" "Null" "Date" "Time" "DateTime" "Duration" "Email" "Uri" "Uuid" "Ipv4"
    "Ipv6" "Hostname" "Bytes"))

((type_name) @constant.builtin
  (#any-of? @constant.builtin "true" "false" "null"))

(symbol) @constant
(string_literal) @string
(tagged_string) @string
(boolean_literal) @boolean
[
  (integer)
  (decimal)
  (hexadecimal)
  (octal)
  (measurement)
] @number

(type_field . [(symbol) (double_quoted_name)] @property)
(record_property key: (_) @property)
(map_entry key: (_) @property)

["|" "?" "=" ".." "..."] @operator
["," ":"] @punctuation.delimiter
["(" ")" "[" "]" "{" "}" "<" ">"] @punctuation.bracket
