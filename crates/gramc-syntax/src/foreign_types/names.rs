//! Words of other languages' types.

/// Type names of other languages, and the built-in types.
pub(super) const NAMES: &[(&str, &[&str])] = &[
    (
        "Text",
        &[
            "string",
            "str",
            "char",
            "Char",
            "varchar",
            "Varchar",
            "VARCHAR",
            "text",
            "Str",
            "constr",
            "StrictStr",
            "nvarchar",
            "ID",
            "Path",
            "FilePath",
            "DirectoryPath",
            "PathBuf",
            "Filename",
            "Slug",
            "Regex",
            "RegExp",
            "Phone",
            "PhoneNumber",
            "Markdown",
            "Html",
        ],
    ),
    (
        "Int",
        &[
            "int",
            "integer",
            "long",
            "bigint",
            "short",
            "i32",
            "i64",
            "u32",
            "u64",
            "usize",
            "int32",
            "int64",
            "uint32",
            "uint64",
            "i8",
            "u8",
            "i16",
            "u16",
            "isize",
            "conint",
            "StrictInt",
            "smallint",
            "tinyint",
            "serial",
            "Bigint",
            "BigInt",
            "Long",
        ],
    ),
    (
        "Number",
        &[
            "number",
            "float",
            "double",
            "decimal",
            "Decimal",
            "f32",
            "f64",
            "real",
            "numeric",
            "confloat",
            "condecimal",
            "StrictFloat",
            "Money",
            "Currency",
            "Percent",
        ],
    ),
    ("Bool", &["bool", "boolean", "StrictBool"]),
    ("Object", &["object", "dict", "Dict", "struct"]),
    ("Array", &["array", "list", "tuple", "conlist"]),
    ("Map", &["map", "Dictionary"]),
    ("Any", &["any", "unknown", "mixed", "interface", "JSON", "Json", "JsonValue"]),
    (
        "Null",
        &[
            "null",
            "void",
            "Void",
            "Unit",
            "None",
            "NoneType",
            "nil",
            "undefined",
            "never",
            "unit",
            "Nothing",
            "Never",
        ],
    ),
    ("Bytes", &["bytes", "bytearray", "blob", "Blob", "Buffer", "Base64", "File", "Binary"]),
    ("DateTime", &["datetime", "timestamp", "Timestamp"]),
    ("Uri", &["URL", "Url", "url", "HttpUrl", "AnyUrl"]),
    ("Email", &["EmailStr", "email"]),
    ("Date", &["date"]),
    ("Uuid", &["UUID", "uuid", "guid", "Guid"]),
    ("Ipv4", &["IpAddress", "IPAddress", "ip"]),
];

pub(super) const LISTS: &[&str] = &[
    "List",
    "Array",
    "Set",
    "Vec",
    "Sequence",
    "Iterable",
    "Collection",
    "ReadonlyArray",
    "list",
    "set",
    "array",
    "frozenset",
    "slice",
    "vector",
    "conlist",
    "conset",
];
pub(super) const MAPS: &[&str] =
    &["Map", "Record", "Dict", "HashMap", "dict", "map", "Mapping", "Dictionary", "record"];
pub(super) const OPTIONS: &[&str] =
    &["Optional", "Maybe", "Option", "Nullable", "optional", "nullable", "nullish"];
pub(super) const WRAPPERS: &[&str] =
    &["Readonly", "Final", "Annotated", "Box", "NonNullable", "Arc", "Rc", "Ref", "ClassVar"];
pub(super) const UNIONS: &[&str] =
    &["Union", "Literal", "Enum", "OneOf", "AnyOf", "union", "literal", "enum", "oneOf", "anyOf"];
pub(super) const TUPLES: &[&str] = &["Tuple", "tuple"];

/// Modules that types of other languages are taken from: `z.string()`, `typing.List`.
pub(super) const MODULES: &[&str] = &[
    "z",
    "zod",
    "t",
    "typing",
    "v",
    "yup",
    "Joi",
    "joi",
    "Type",
    "types",
    "S",
    "Schema",
    "coerce",
    "datetime",
    "uuid",
    "decimal",
    "pydantic",
    "np",
    "pd",
    "collections",
    "sql",
    "pl",
    "abc",
    "json",
];

/// Types of several words.
pub(super) const PHRASES: &[(&str, &str)] = &[
    ("date-time", "DateTime"),
    ("date time", "DateTime"),
    ("double precision", "Number"),
    ("character varying", "Text"),
    ("long long", "Int"),
    ("long int", "Int"),
    ("short int", "Int"),
    ("whole number", "Int"),
    ("floating point", "Number"),
];

/// What precedes a type in other languages and says nothing that gram has a word for.
pub(super) const MODIFIERS: &[&str] = &[
    "readonly", "const", "final", "required", "mut", "var", "let", "val", "static", "new", "ref",
    "struct", "signed", "volatile", "dyn", "a", "an", "some", "inout", "out", "in",
];

/// What gram has nothing like: how it begins, the message and the help.
pub(super) const PREFIXES: &[(&[&str], &str, &str)] = &[
    (&["keyof"], "gram has no `keyof`", "list the names as texts: \"street\" | \"city\""),
    (&["typeof"], "gram has no `typeof`", "write the name of the type"),
    (&["infer", "asserts"], "gram has no conditional types", "write the type itself"),
    (
        &["fn", "func", "function", "lambda", "Func", "Callable", "Function", "callable"],
        FUNCTIONS,
        HELP_FUNCTIONS,
    ),
];

pub(super) const FUNCTIONS: &str = "gram has no function types";
pub(super) const HELP_FUNCTIONS: &str =
    "write the type of a value as JSON has it, such as Text: a call cannot pass functions";
pub(super) const INTERSECTIONS: &str = "gram has no intersections";
pub(super) const HELP_INTERSECTIONS: &str =
    "declare a record that extends others: [Both::Record {extends: [A, B]}]";

/// Types whose values are of no other type with them.
pub(super) const SCALARS: &[&str] = &[
    "Text", "String", "Int", "Integer", "Number", "Double", "Float", "Bool", "Boolean", "Null",
    "Bytes", "Date", "DateTime", "Uri", "Email", "Uuid",
];

/// Operators on the fields of records, and the attribute of a record that says the same.
pub(super) const OF_RECORDS: &[(&str, &str)] =
    &[("Pick", "pick"), ("Omit", "omit"), ("Partial", "partial"), ("DeepPartial", "partial")];

/// Other operators on types, and what to write instead.
pub(super) const OPERATORS: &[(&[&str], &str)] = &[
    (&["Required"], "declare a record whose fields have no `?`"),
    (&["Exclude", "Extract"], "list the members that are left: \"street\" | \"city\""),
    (
        &["Result", "Either", "ReturnType", "Parameters"],
        "write the type of the value itself: a call that fails has no result",
    ),
];
