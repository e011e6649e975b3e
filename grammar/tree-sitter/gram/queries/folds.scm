[
  (subject_pattern)
  (node_pattern)
  (record)
  (map)
  (array)
  (doc_comment)
] @fold
