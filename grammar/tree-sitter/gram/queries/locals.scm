; Names belong to a file; parameters belong to their tool.

(gram_pattern) @local.scope

((subject_pattern
    labels: (labels (symbol) @_kind)) @local.scope
  (#eq? @_kind "Tool"))

((subject_pattern
    identifier: (symbol) @local.definition
    labels: (labels (symbol) @_kind))
  (#any-of? @_kind
    "Record" "Enum" "Union" "Alias" "Tool" "Container" "Agent" "Library" "Experiment"))

(relationship_pattern left: (node_pattern identifier: (symbol) @local.definition))

(labels (symbol) @local.reference)
(type_name) @local.reference
(pattern_reference identifier: (symbol) @local.reference)
