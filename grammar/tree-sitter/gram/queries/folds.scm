[
  (subject_pattern)
  (node_pattern)
  (record)
  (type_record)
  (map)
  (array)
  (doc_comment)
] @fold
