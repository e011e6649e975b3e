(subject_pattern "]" @end) @indent
(node_pattern ")" @end) @indent
(record "}" @end) @indent
(map "}" @end) @indent
(array "]" @end) @indent
