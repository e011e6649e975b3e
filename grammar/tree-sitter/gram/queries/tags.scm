; Definitions of a file and their references. Labels are captured as references because these
; queries cannot have other captures.

((doc_comment)* @doc
  .
  (subject_pattern
    identifier: (_) @name
    labels: (labels (symbol) @local.reference)) @definition.function
  (#any-of? @local.reference "Tool" "Container" "Agent")
  (#strip! @doc "^/[*]+\\s*|\\s*[*]+/$")
  (#select-adjacent! @doc @definition.function))

((doc_comment)* @doc
  .
  (subject_pattern
    identifier: (_) @name
    labels: (labels (symbol) @local.reference)) @definition.type
  (#any-of? @local.reference "Record" "Enum" "Union" "Alias")
  (#strip! @doc "^/[*]+\\s*|\\s*[*]+/$")
  (#select-adjacent! @doc @definition.type))

((doc_comment)* @doc
  .
  (subject_pattern
    identifier: (_) @name
    labels: (labels (symbol) @local.reference)) @definition.module
  (#any-of? @local.reference "Library" "Experiment")
  (#strip! @doc "^/[*]+\\s*|\\s*[*]+/$")
  (#select-adjacent! @doc @definition.module))

(pattern_reference identifier: (_) @name) @reference.call
(labels (symbol) @name) @reference.type
