(subject_pattern
  identifier: (_) @name
  labels: (labels (symbol) @context)) @item
