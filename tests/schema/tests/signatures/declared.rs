//! Declared types.

use gramc_schema::Draft;

use crate::signatures::{Differences, of_result, of_tool};

/// Compares texts with the schema of the parameters of their tool `t`.
fn assert_tools(rows: &[(&str, &str)], draft: Draft) {
    let mut differences = Differences(Vec::new());
    for (text, expected) in rows {
        differences.compare(text, &of_tool(text, draft), expected);
    }
    differences.assert_none();
}

#[test]
fn types_of_the_top_level_are_referred_to() {
    assert_tools(
        &[
            (
                "[A::Record | (street::Text), (zip::Text {default: \"0\", length: ...5})] [t:Tool | (a::A)==>(b::A {optional: true})==>(::Any)]",
                r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/A"},"b":{"$ref":"#/$defs/A"}},"required":["a"],"$defs":{"A":{"type":"object","properties":{"street":{"type":"string"},"zip":{"type":"string","maxLength":5,"default":"0"}},"required":["street"]}}}"##,
            ),
            (
                "[A::Record {description: \"D\", title: \"T\", open: false, size: ...3, examples: [{}]}] [t:Tool | (a::A {description: \"E\", default: {}})==>(::Any)]",
                r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/A","description":"E","default":{}}},"required":[],"$defs":{"A":{"type":"object","title":"T","description":"D","maxProperties":3,"properties":{},"required":[],"additionalProperties":false,"examples":[{}]}}}"##,
            ),
            (
                "/** Warmth */ [U::Enum | celsius, (fahrenheit {description: \"Old\"}), /** New */ kelvin] [t:Tool | (u::U {default: celsius})==>(::Any)]",
                r##"{"type":"object","properties":{"u":{"$ref":"#/$defs/U","default":"celsius"}},"required":[],"$defs":{"U":{"type":"string","description":"Warmth\n- fahrenheit: Old\n- kelvin: New","enum":["celsius","fahrenheit","kelvin"]}}}"##,
            ),
            (
                "[U::Enum | a, (b {description: \"B\"}), `c d`] [t:Tool | (u::U)==>(::Any)]",
                r##"{"type":"object","properties":{"u":{"$ref":"#/$defs/U"}},"required":["u"],"$defs":{"U":{"type":"string","description":"One of:\n- b: B","enum":["a","b","c d"]}}}"##,
            ),
            (
                "[V::Union | Text, `Int[]`, (::Null)] [t:Tool | (v::V)==>(::Any)]",
                r##"{"type":"object","properties":{"v":{"$ref":"#/$defs/V"}},"required":["v"],"$defs":{"V":{"anyOf":[{"type":"string"},{"type":"array","items":{"type":"integer"}},{"type":"null"}]}}}"##,
            ),
            (
                "[V::Union {oneOf: true, description: \"D\"} | Text, Int] [t:Tool | (v::V)==>(::Any)]",
                r##"{"type":"object","properties":{"v":{"$ref":"#/$defs/V"}},"required":["v"],"$defs":{"V":{"oneOf":[{"type":"string"},{"type":"integer"}],"description":"D"}}}"##,
            ),
            (
                "[V::Union | `\"a\"`, `\"b\"`] [t:Tool | (v::V)==>(::Any)]",
                r##"{"type":"object","properties":{"v":{"$ref":"#/$defs/V"}},"required":["v"],"$defs":{"V":{"type":"string","enum":["a","b"]}}}"##,
            ),
            (
                "[V::Union | Text] [t:Tool | (v::V)==>(::Any)]",
                r##"{"type":"object","properties":{"v":{"$ref":"#/$defs/V"}},"required":["v"],"$defs":{"V":{"anyOf":[{"type":"string"}]}}}"##,
            ),
            (
                "[C::Record | (kind::`\"c\"`), (r::Number)] [S::Record | (kind::`\"s\"`)] [V::Union {discriminator: \"kind\"} | C, S] [t:Tool | (v::V)==>(::Any)]",
                r##"{"type":"object","properties":{"v":{"$ref":"#/$defs/V"}},"required":["v"],"$defs":{"V":{"anyOf":[{"$ref":"#/$defs/C"},{"$ref":"#/$defs/S"}]},"C":{"type":"object","properties":{"kind":{"const":"c"},"r":{"type":"number"}},"required":["kind","r"]},"S":{"type":"object","properties":{"kind":{"const":"s"}},"required":["kind"]}}}"##,
            ),
            (
                "[Age::Alias | (::Integer {range: 0..150})] [t:Tool | (a::Age)==>(::Any)]",
                r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/Age"}},"required":["a"],"$defs":{"Age":{"type":"integer","minimum":0,"maximum":150}}}"##,
            ),
            (
                "[Age::Alias {description: \"D\"} | (::Int)] [Old::Alias | (::Age {range: 60...})] [t:Tool | (a::`Old[]`)==>(::Any)]",
                r##"{"type":"object","properties":{"a":{"type":"array","items":{"$ref":"#/$defs/Old"}}},"required":["a"],"$defs":{"Old":{"$ref":"#/$defs/Age","minimum":60},"Age":{"type":"integer","description":"D"}}}"##,
            ),
            // The bounds of a use override those of the type, whether null is allowed or not.
            (
                "[U::Union {size: 2..9} | `Text[]`, Text] [t:Tool | (a::`U?` {size: 1..3})==>(b::U {size: 1..3})==>(::Any)]",
                r##"{"type":"object","properties":{"a":{"anyOf":[{"anyOf":[{"type":"array","items":{"type":"string"}},{"type":"string"}]},{"type":"null"}],"minItems":1,"maxItems":3},"b":{"anyOf":[{"type":"array","items":{"type":"string"}},{"type":"string"}],"minItems":1,"maxItems":3}},"required":["a","b"]}"##,
            ),
            // Only used types are there, in order of their first use.
            (
                "[A::Alias | (::Text)] [B::Alias | (::Int)] [C::Record | (a::A)] [t:Tool | (c::C)==>(a::A)==>(::B)]",
                r##"{"type":"object","properties":{"c":{"$ref":"#/$defs/C"},"a":{"$ref":"#/$defs/A"}},"required":["c","a"],"$defs":{"C":{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"required":["a"]},"A":{"type":"string"}}}"##,
            ),
            (
                "[A::Alias | (::Text)] [t:Tool {open: \"A\"} | (m::Map {keys: \"A\", valueType: \"A\"})==>(::Any)]",
                r##"{"type":"object","properties":{"m":{"type":"object","propertyNames":{"$ref":"#/$defs/A"},"additionalProperties":{"$ref":"#/$defs/A"}}},"required":["m"],"additionalProperties":{"$ref":"#/$defs/A"},"$defs":{"A":{"type":"string"}}}"##,
            ),
            (
                "[A::Alias | (::Text)] [t:Tool | (a::A {injected: true})==>(::Any)]",
                r#"{"type":"object","properties":{},"required":[]}"#,
            ),
        ],
        Draft::Draft2020,
    );
}

#[test]
fn types_inside_of_a_tool_are_written_in_place() {
    assert_tools(
        &[
            (
                "[t:Tool | (a::A)==>(b::`A[]`)==>(::Any), [A::Record {description: \"D\"} | (x::Int)]]",
                r#"{"type":"object","properties":{"a":{"type":"object","description":"D","properties":{"x":{"type":"integer"}},"required":["x"]},"b":{"type":"array","items":{"type":"object","description":"D","properties":{"x":{"type":"integer"}},"required":["x"]}}},"required":["a","b"]}"#,
            ),
            (
                "[t:Tool | (u::U)==>(::Any), [U::Enum | a, (b {description: \"B\"})]]",
                r#"{"type":"object","properties":{"u":{"type":"string","description":"One of:\n- b: B","enum":["a","b"]}},"required":["u"]}"#,
            ),
            (
                "[t:Tool | (a::A {description: \"E\"})==>(::Any), [A::Alias {description: \"D\", title: \"T\", default: 1} | (::Int {range: 1..5, examples: [2]})]]",
                r#"{"type":"object","properties":{"a":{"type":"integer","title":"T","description":"E","minimum":1,"maximum":5,"default":1,"examples":[2]}},"required":["a"]}"#,
            ),
            (
                "[t:Tool | (a::A)==>(::Any), [A::Alias | (::B)], [B::Union {oneOf: true} | Text, Int]]",
                r#"{"type":"object","properties":{"a":{"oneOf":[{"type":"string"},{"type":"integer"}]}},"required":["a"]}"#,
            ),
            // The tool's own type comes first.
            (
                "[A::Alias | (::Text)] [t:Tool | (a::A)==>(::Any), [A::Alias | (::Int)]]",
                r#"{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}"#,
            ),
            (
                "[A::Record {inline: true} | (x::Int)] [t:Tool | (a::A)==>(::Any)]",
                r#"{"type":"object","properties":{"a":{"type":"object","properties":{"x":{"type":"integer"}},"required":["x"]}},"required":["a"]}"#,
            ),
            (
                "[A::Record {inline: false} | (x::Int)] [t:Tool | (a::A)==>(::Any)]",
                r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"required":["a"],"$defs":{"A":{"type":"object","properties":{"x":{"type":"integer"}},"required":["x"]}}}"##,
            ),
        ],
        Draft::Draft2020,
    );
}

#[test]
fn recursive_types_are_always_referred_to() {
    assert_tools(
        &[
            (
                "[t:Tool | (a::Tree)==>(::Any), [Tree::Record | (value::Int), (children::`Tree[]`)]]",
                r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/Tree"}},"required":["a"],"$defs":{"Tree":{"type":"object","properties":{"value":{"type":"integer"},"children":{"type":"array","items":{"$ref":"#/$defs/Tree"}}},"required":["value","children"]}}}"##,
            ),
            (
                "[Tree::Record {inline: true} | (next::`Tree?`)] [t:Tool | (a::Tree)==>(::Any)]",
                r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/Tree"}},"required":["a"],"$defs":{"Tree":{"type":"object","properties":{"next":{"anyOf":[{"$ref":"#/$defs/Tree"},{"type":"null"}]}},"required":["next"]}}}"##,
            ),
            (
                "[t:Tool | (a::A)==>(::Any), [A::Union | Text, `B[]`], [B::Record | (a::A), (c::C)], [C::Alias | (::Int)]]",
                r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"required":["a"],"$defs":{"A":{"anyOf":[{"type":"string"},{"type":"array","items":{"$ref":"#/$defs/B"}}]},"B":{"type":"object","properties":{"a":{"$ref":"#/$defs/A"},"c":{"type":"integer"}},"required":["a","c"]}}}"##,
            ),
        ],
        Draft::Draft2020,
    );
}

#[test]
fn nullable_declared_types() {
    assert_tools(
        &[
            (
                "[A::Alias | (::Text)] [t:Tool | (a::`A?`)==>(b::A {nullable: true})==>(::Any)]",
                r##"{"type":"object","properties":{"a":{"anyOf":[{"$ref":"#/$defs/A"},{"type":"null"}]},"b":{"anyOf":[{"$ref":"#/$defs/A"},{"type":"null"}]}},"required":["a","b"],"$defs":{"A":{"type":"string"}}}"##,
            ),
            (
                "[t:Tool | (a::`A?`)==>(::Any), [A::Alias | (::Text {length: 1...})]]",
                r#"{"type":"object","properties":{"a":{"type":["string","null"],"minLength":1}},"required":["a"]}"#,
            ),
            (
                "[t:Tool | (a::`U?`)==>(::Any), [U::Enum | a, b]]",
                r#"{"type":"object","properties":{"a":{"anyOf":[{"type":"string","enum":["a","b"]},{"type":"null"}]}},"required":["a"]}"#,
            ),
            (
                "[t:Tool | (a::`R?`)==>(::Any), [R::Record | (x::Int)]]",
                r#"{"type":"object","properties":{"a":{"type":["object","null"],"properties":{"x":{"type":"integer"}},"required":["x"]}},"required":["a"]}"#,
            ),
            (
                "[t:Tool | (a::`V?`)==>(::Any), [V::Union | Text, Int]]",
                r#"{"type":"object","properties":{"a":{"anyOf":[{"anyOf":[{"type":"string"},{"type":"integer"}]},{"type":"null"}]}},"required":["a"]}"#,
            ),
            (
                "[A::Record {nullable: true} | (x::Int)] [t:Tool | (a::A)==>(::Any)]",
                r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"required":["a"],"$defs":{"A":{"type":["object","null"],"properties":{"x":{"type":"integer"}},"required":["x"]}}}"##,
            ),
        ],
        Draft::Draft2020,
    );
}

#[test]
fn attributes_override_those_of_the_type() {
    assert_tools(
        &[
            // What the type does not state becomes a sibling of the reference.
            (
                "[A::Alias | (::Int {range: 0..150})] [t:Tool | (a::A {multipleOf: 5})==>(::Any)]",
                r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/A","multipleOf":5}},"required":["a"],"$defs":{"A":{"type":"integer","minimum":0,"maximum":150}}}"##,
            ),
            (
                "[A::Alias | (::Int {range: 0..150})] [t:Tool | (a::A {range: 100..200, description: \"D\"})==>(b::A)==>(::Any)]",
                r##"{"type":"object","properties":{"a":{"type":"integer","description":"D","minimum":100,"maximum":200},"b":{"$ref":"#/$defs/A"}},"required":["a","b"],"$defs":{"A":{"type":"integer","minimum":0,"maximum":150}}}"##,
            ),
            (
                "[A::Alias {title: \"T\"} | (::Text {length: 1..9, pattern: \"^a\"})] [t:Tool | (a::A {length: 2..20})==>(::Any)]",
                r#"{"type":"object","properties":{"a":{"type":"string","title":"T","minLength":2,"maxLength":20,"pattern":"^a"}},"required":["a"]}"#,
            ),
            // Both ends of a range, length or size are one attribute.
            (
                "[A::Alias | (::Text {length: 1..9})] [t:Tool | (a::A {length: ...20})==>(::Any)]",
                r#"{"type":"object","properties":{"a":{"type":"string","maxLength":20}},"required":["a"]}"#,
            ),
            (
                "[t:Tool | (a::A {range: 5...})==>(::Any), [A::Alias | (::Int {range: ...9, multipleOf: 5})]]",
                r#"{"type":"object","properties":{"a":{"type":"integer","minimum":5,"multipleOf":5}},"required":["a"]}"#,
            ),
            (
                "[U::Enum | a, b, c] [t:Tool | (a::U {enum: [a, b]})==>(::Any)]",
                r#"{"type":"object","properties":{"a":{"type":"string","enum":["a","b"]}},"required":["a"]}"#,
            ),
            (
                "[t:Tool | (a::A {range: 5..9})==>(::Any), [A::Alias | (::Int {range: 0..7})]]",
                r#"{"type":"object","properties":{"a":{"type":"integer","minimum":5,"maximum":9}},"required":["a"]}"#,
            ),
        ],
        Draft::Draft2020,
    );
}

#[test]
fn names_in_defs() {
    assert_tools(
        &[
            (
                "[A::Record {schemaName: \"v1.Address\"} | (x::`A?`)] [t:Tool | (a::A)==>(::Any)]",
                r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/v1.Address"}},"required":["a"],"$defs":{"v1.Address":{"type":"object","properties":{"x":{"anyOf":[{"$ref":"#/$defs/v1.Address"},{"type":"null"}]}},"required":["x"]}}}"##,
            ),
            (
                "[A::Alias {schemaName: \"a/b~c\"} | (::Int)] [t:Tool | (a::A)==>(::Any)]",
                r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/a~1b~0c"}},"required":["a"],"$defs":{"a/b~c":{"type":"integer"}}}"##,
            ),
            (
                "[A::Alias {schemaName: \"X\"} | (::Int)] [B::Alias {schemaName: \"X\"} | (::Text)] [t:Tool | (a::A)==>(b::B)==>(::Any)]",
                r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/X"},"b":{"$ref":"#/$defs/X2"}},"required":["a","b"],"$defs":{"X":{"type":"integer"},"X2":{"type":"string"}}}"##,
            ),
            (
                "[A::Alias | (::B)] [B::Alias | (::Int)] [C::Alias | (::Int)] [t:Tool {defs: [A]} | (x::Text)==>(::Any), [L::Alias | (::Text)]]",
                r##"{"type":"object","properties":{"x":{"type":"string"}},"required":["x"],"$defs":{"A":{"$ref":"#/$defs/B"},"B":{"type":"integer"}}}"##,
            ),
            (
                "[t:Tool {defs: [L]} | (x::L)==>(::Any), [L::Alias | (::Text)]]",
                r#"{"type":"object","properties":{"x":{"type":"string"}},"required":["x"],"$defs":{"L":{"type":"string"}}}"#,
            ),
        ],
        Draft::Draft2020,
    );
}

#[test]
fn the_parameter_object() {
    assert_tools(
        &[
            (
                "[t:Tool {description: \"D\", schemaTitle: \"S\", schemaDescription: \"E\", requires: [\"b\"], schemaExtensions: {`$comment`: \"C\", x-order: [1]}} | (a::Int)==>(::Any)]",
                r#"{"type":"object","title":"S","description":"E","properties":{"a":{"type":"integer"}},"required":["a","b"],"$comment":"C","x-order":[1]}"#,
            ),
            (
                "[t:Tool {schema: json`{\"type\": \"object\", \"minProperties\": 1}`} | (a::Int)==>(::Any)]",
                r#"{"type":"object","minProperties":1}"#,
            ),
            (
                "[A::Alias | (::Int)] [t:Tool {schema: json`{\"type\": \"object\", \"properties\": {\"a\": {\"$ref\": \"#/$defs/A\"}}}`} | (a::A)==>(::Any)]",
                r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"type":"integer"}}}"##,
            ),
        ],
        Draft::Draft2020,
    );
}

#[test]
fn what_imports_write() {
    assert_tools(
        &[
            (
                "[t:Tool | (a::Object {requires: [\"b\"]})==>(c::`{d: Int}` {requires: [\"e\"], open: true})==>(::Any)]",
                r#"{"type":"object","properties":{"a":{"type":"object","properties":{},"required":["b"]},"c":{"type":"object","properties":{"d":{"type":"integer"}},"required":["d","e"],"additionalProperties":true}},"required":["a","c"]}"#,
            ),
            (
                "[R::Record {requires: [\"b\"]} | (a::Int)] [t:Tool | (r::R)==>(::Any)]",
                r##"{"type":"object","properties":{"r":{"$ref":"#/$defs/R"}},"required":["r"],"$defs":{"R":{"type":"object","properties":{"a":{"type":"integer"}},"required":["a","b"]}}}"##,
            ),
            (
                "[t:Tool | (a::`Text | Number` {typeList: true, length: 1...})==>(b::`Null | Int[]` {typeList: true})==>(::Any)]",
                r#"{"type":"object","properties":{"a":{"type":["string","number"],"minLength":1},"b":{"type":["null","array"],"items":{"type":"integer"}}},"required":["a","b"]}"#,
            ),
            (
                "[t:Tool | (a::A)==>(::Any), [A::Union {typeList: true} | Text, Bool]]",
                r#"{"type":"object","properties":{"a":{"type":["string","boolean"]}},"required":["a"]}"#,
            ),
            (
                "[t:Tool | (a::Text {x-order: 1, extensions: {readOnly: true, `$comment`: c}, default: \"d\", deprecated: true})==>(::Any)]",
                r#"{"type":"object","properties":{"a":{"type":"string","default":"d","deprecated":true,"x-order":1,"readOnly":true,"$comment":"c"}},"required":[]}"#,
            ),
            (
                "[t:Tool | (a::Text {schema: json`{\"not\": {\"type\": \"null\"}}`, optional: true})==>(b::Object {fields: [{name: \"x\", type: \"Any\", schema: json`true`}]})==>(::Any)]",
                r#"{"type":"object","properties":{"a":{"not":{"type":"null"}},"b":{"type":"object","properties":{"x":true},"required":["x"]}},"required":["b"]}"#,
            ),
            (
                "[A::Alias | (::Any {schema: json`{\"if\": true}`})] [t:Tool | (a::A)==>(::Any)]",
                r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"required":["a"],"$defs":{"A":{"if":true}}}"##,
            ),
            (
                "[t:Tool | (a::Array)==>(b::`Any[]`)==>(c::Map)==>(d::`Map<Any>`)==>(e::Object)==>(f::`{}`)==>(::Any)]",
                r#"{"type":"object","properties":{"a":{"type":"array"},"b":{"type":"array","items":{}},"c":{"type":"object"},"d":{"type":"object","additionalProperties":{}},"e":{"type":"object"},"f":{"type":"object","properties":{},"required":[]}},"required":["a","b","c","d","e","f"]}"#,
            ),
            (
                "[t:Tool | (a::`Array?`)==>(b::`Any[]?`)==>(c::`Map?`)==>(::Any)]",
                r#"{"type":"object","properties":{"a":{"type":["array","null"]},"b":{"type":["array","null"],"items":{}},"c":{"type":["object","null"]}},"required":["a","b","c"]}"#,
            ),
            (
                "[t:Tool | (a::Object {keys: '\"x\" | \"y\"'})==>(::Any)]",
                r#"{"type":"object","properties":{"a":{"type":"object","propertyNames":{"type":"string","enum":["x","y"]}}},"required":["a"]}"#,
            ),
        ],
        Draft::Draft2020,
    );
}

#[test]
fn declared_types_in_draft_7() {
    assert_tools(
        &[
            (
                "[A::Alias | (::Int)] [t:Tool | (a::A)==>(b::A {description: \"D\"})==>(c::`A?`)==>(::Any)]",
                r##"{"type":"object","properties":{"a":{"$ref":"#/definitions/A"},"b":{"allOf":[{"$ref":"#/definitions/A"}],"description":"D"},"c":{"anyOf":[{"$ref":"#/definitions/A"},{"type":"null"}]}},"required":["a","b","c"],"definitions":{"A":{"type":"integer"}}}"##,
            ),
            (
                "[t:Tool | (a::Tree)==>(::Any), [Tree::Record | (children::`Tree[]` {size: ...9}), (pair::`[Tree, Int]` {optional: true})]]",
                r##"{"type":"object","properties":{"a":{"$ref":"#/definitions/Tree"}},"required":["a"],"definitions":{"Tree":{"type":"object","properties":{"children":{"type":"array","maxItems":9,"items":{"$ref":"#/definitions/Tree"}},"pair":{"type":"array","items":[{"$ref":"#/definitions/Tree"},{"type":"integer"}],"additionalItems":false,"minItems":2}},"required":["children"]}}}"##,
            ),
        ],
        Draft::Draft7,
    );
}

#[test]
fn results() {
    let rows = [
        ("[t:Tool | ()==>(::Any)]", ""),
        ("[t:Tool | ()==>(::Any {description: \"D\"})]", ""),
        (
            "[t:Tool | ()==>(r::`Int[]` {size: 1...})]",
            r#"{"type":"array","minItems":1,"items":{"type":"integer"}}"#,
        ),
        (
            "[A::Record {description: \"D\"} | (x::Int)] [t:Tool | ()==>(::A)]",
            r#"{"type":"object","description":"D","properties":{"x":{"type":"integer"}},"required":["x"]}"#,
        ),
        (
            "[A::Record {description: \"D\"} | (x::Int)] [t:Tool | ()==>(::`A[]`)]",
            r##"{"type":"array","items":{"$ref":"#/$defs/A"},"$defs":{"A":{"type":"object","description":"D","properties":{"x":{"type":"integer"}},"required":["x"]}}}"##,
        ),
        (
            "[A::Record | (next::`A?`)] [t:Tool | ()==>(::A {description: \"E\"})]",
            r##"{"type":"object","description":"E","properties":{"next":{"anyOf":[{"$ref":"#/$defs/A"},{"type":"null"}]}},"required":["next"],"$defs":{"A":{"type":"object","properties":{"next":{"anyOf":[{"$ref":"#/$defs/A"},{"type":"null"}]}},"required":["next"]}}}"##,
        ),
        ("[t:Tool | ()==>(::A), [A::Enum | a, b]]", r#"{"type":"string","enum":["a","b"]}"#),
        ("[t:Tool | ()==>(::Any {schema: json`{\"type\": \"object\"}`})]", r#"{"type":"object"}"#),
    ];
    let mut differences = Differences(Vec::new());
    for (text, expected) in rows {
        differences.compare(text, &of_result(text, Draft::Draft2020), expected);
    }
    differences.assert_none();
}
