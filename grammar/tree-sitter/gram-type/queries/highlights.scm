(name) @type

((name) @type.builtin
  (#any-of? @type.builtin
    "Text" "String" "Int" "Integer" "Double" "Float" "Number" "Bool" "Boolean" "Object" "Array"
    "List" "Map" "Any" "Null" "Date" "Time" "DateTime" "Duration" "Email" "Uri" "Uuid" "Ipv4"
    "Ipv6" "Hostname" "Bytes"))

(field name: (_) @property)

(string) @string
(number) @number
(boolean) @boolean
(null) @constant.builtin
(field name: (string) @property)

["|" "?" "="] @operator
["," ":"] @punctuation.delimiter
["(" ")" "[" "]" "{" "}" "<" ">"] @punctuation.bracket
