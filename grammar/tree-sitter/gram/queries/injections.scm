; Type expressions: in backticks as a label, as a member of a union, and in the strings of the
; attributes with a type as value.

((labels (quoted_name content: (string_content) @injection.content))
  (#set! injection.language "gram_type"))

((subject_pattern
    labels: (labels (symbol) @_kind)
    elements: (subject_pattern_elements
      (pattern_reference
        identifier: (quoted_name content: (string_content) @injection.content))))
  (#eq? @_kind "Union")
  (#set! injection.language "gram_type"))

((record_property
    key: (symbol) @_key
    value: (string_literal content: (string_content) @injection.content))
  (#any-of? @_key "elementType" "valueType" "open" "keys" "result")
  (#set! injection.language "gram_type"))

((map_entry
    key: (symbol) @_key
    value: (string_literal content: (string_content) @injection.content))
  (#any-of? @_key "elementType" "valueType" "open" "keys" "type")
  (#set! injection.language "gram_type"))

; The tag of a string names its language: json`…`.

(tagged_string
  tag: (symbol) @injection.language
  content: (string_content) @injection.content)
