//! Words of other languages' types.

use crate::words::Words;

/// Type names of other languages, and the built-in types.
pub(super) const NAMES: &[(&str, Words)] = &[
    (
        "Text",
        Words(
            "string str char Char varchar Varchar VARCHAR text Str constr StrictStr nvarchar ID \
        Path FilePath DirectoryPath PathBuf Filename Slug Regex RegExp Phone PhoneNumber \
        Markdown Html",
        ),
    ),
    (
        "Int",
        Words(
            "int integer long bigint short i32 i64 u32 u64 usize int32 int64 uint32 uint64 i8 u8 \
        i16 u16 isize conint StrictInt smallint tinyint serial Bigint BigInt Long",
        ),
    ),
    (
        "Number",
        Words(
            "number float double decimal Decimal f32 f64 real numeric confloat condecimal \
        StrictFloat Money Currency Percent",
        ),
    ),
    ("Bool", Words("bool boolean StrictBool")),
    ("Object", Words("object dict Dict struct")),
    ("Array", Words("array list tuple conlist")),
    ("Map", Words("map Dictionary")),
    ("Any", Words("any unknown mixed interface JSON Json JsonValue")),
    ("Null", Words("null void Void Unit None NoneType nil undefined never unit Nothing Never")),
    ("Bytes", Words("bytes bytearray blob Blob Buffer Base64 File Binary")),
    ("DateTime", Words("datetime timestamp Timestamp")),
    ("Uri", Words("URL Url url HttpUrl AnyUrl")),
    ("Email", Words("EmailStr email")),
    ("Date", Words("date")),
    ("Uuid", Words("UUID uuid guid Guid")),
    ("Ipv4", Words("IpAddress IPAddress ip")),
];

pub(super) const LISTS: Words = Words(
    "List Array Set Vec Sequence Iterable Collection ReadonlyArray list set array \
        frozenset slice vector conlist conset",
);
pub(super) const MAPS: Words = Words("Map Record Dict HashMap dict map Mapping Dictionary record");
pub(super) const OPTIONS: Words = Words("Optional Maybe Option Nullable optional nullable nullish");
pub(super) const WRAPPERS: Words =
    Words("Readonly Final Annotated Box NonNullable Arc Rc Ref ClassVar");
pub(super) const UNIONS: Words =
    Words("Union Literal Enum OneOf AnyOf union literal enum oneOf anyOf");
pub(super) const TUPLES: Words = Words("Tuple tuple");

/// Modules that types of other languages are taken from: `z.string()`, `typing.List`.
pub(super) const MODULES: Words = Words(
    "z zod t typing v yup Joi joi Type types S Schema coerce datetime uuid decimal \
        pydantic np pd collections sql pl abc json",
);

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
pub(super) const MODIFIERS: Words = Words(
    "readonly const final required mut var let val static new ref struct signed volatile \
        dyn a an some inout out in",
);

/// What gram has nothing like: how it begins, the message and the help.
pub(super) const PREFIXES: &[(Words, &str, &str)] = &[
    (Words("keyof"), "gram has no `keyof`", "list the names as texts: \"street\" | \"city\""),
    (Words("typeof"), "gram has no `typeof`", "write the name of the type"),
    (Words("infer asserts"), "gram has no conditional types", "write the type itself"),
    (Words("fn func function lambda Func Callable Function callable"), FUNCTIONS, HELP_FUNCTIONS),
];

pub(super) const FUNCTIONS: &str = "gram has no function types";
pub(super) const HELP_FUNCTIONS: &str =
    "write the type of a value as JSON has it, such as Text: a call cannot pass functions";
pub(super) const INTERSECTIONS: &str = "gram has no intersections";
pub(super) const HELP_INTERSECTIONS: &str =
    "declare a record that extends others: [Both::Record {extends: [A, B]}]";

/// Types whose values are of no other type with them.
pub(super) const SCALARS: Words = Words(
    "Text String Int Integer Number Double Float Bool Boolean Null Bytes Date DateTime \
        Uri Email Uuid",
);

/// Operators on the fields of records, and the attribute of a record that says the same.
pub(super) const OF_RECORDS: &[(&str, &str)] =
    &[("Pick", "pick"), ("Omit", "omit"), ("Partial", "partial"), ("DeepPartial", "partial")];

/// Other operators on types, and what to write instead.
pub(super) const OPERATORS: &[(Words, &str)] = &[
    (Words("Required"), "declare a record whose fields have no `?`"),
    (Words("Exclude Extract"), "list the members that are left: \"street\" | \"city\""),
    (
        Words("Result Either ReturnType Parameters"),
        "write the type of the value itself: a call that fails has no result",
    ),
];
