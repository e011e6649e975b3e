//! `gramc generate`: what it writes is checked by the tools of each language.

use std::fs;
use std::path::Path;

use gramc_json_schema::generate::{Generator, Texts};
use serde_json::{Map, Value};

use crate::support::{Folder, command, folder, gramc, root};

const SPECIFICATION: &str = r#"
/** Finds orders
    "of" \ any kind */
[list:Tool {description: "Lists */ orders", deprecated: true} |
  (from::Date)==>(class?::Kind)==>(`x-limit`::Int {range: 1..100, default: 20})==>(::Order[])
]
[`get-it`:Tool | (`_id`::Text {length: 1...})==>(json?::{copy: Bool, inner?: {deep: Text[]}})==>(::Order)]
[ping:Tool {description: "Pings"} | ()==>(::Null)]
[tools:Tool {description: "Everything"} | (any::Any)==>(map::Map<Int>)==>(::Shape)]
[Order::Record | (Kind::Kind), (next?::Order), (model_dump?::Text), (at::DateTime | Null), (price::Number)]
[Kind::Enum | a, b, `a rather long member`, `another rather long member`, `and a third one of them`]
[Shape::Union {discriminator: "kind"} | Circle, Square]
[Circle::Record | (kind::"circle"), (r::Number)]
[Square::Record | (kind::"square"), (parts::Shape[])]
[Client::Record | (a::Int)]
[owner:Tool {description: "Owner"} | (x::Client)==>(::Client)]
[`github/search`:Tool {description: "say \"\"\""} | (`a b`?::Int {range: 1.5...})==>(a_b::Int {default: 3})==>(::Int)]
[then:Tool {description: "a\r  'y': 1,\u2028b \\"} | (tags::Text[] {default: ["x"]})==>(`from`::Int)==>(::Any)]
[`__proto__`:Tool | (name::Text)==>(kids?::Node[])==>(::Open)]
[Node::Record | (name::Text), (kids?::Node[])]
[Spot::Record | (at::[Number, Number]), (ways?::[Text, Kind][])]
[spot:Tool {description: "Spots"} | (near::Spot)==>(::Spot)]
[Open::Record {fieldPatterns: {"^x-": "Text"}} | (id::Text)]
"#;

/// The specifications that are generated from: small ones, and imported APIs.
fn specifications() -> Folder {
    let folder = folder(&[("odd.gram", SPECIFICATION)]);
    for (name, document) in [
        ("train", "@readme/oas-examples/3.1/json/train-travel.json"),
        ("galaxy", "@scalar/galaxy/dist/latest.json"),
        ("github", "@octokit/openapi/generated/api.github.com.json"),
    ] {
        let path = root().join(".tools/apis/node_modules").join(document);
        gramc(&format!("import -o {name}.gram")).arg(&path).within(folder.path()).run().exits(0);
    }
    folder
}

fn generate(folder: &Folder, options: &str) {
    gramc(&format!("generate {options}")).within(folder.path()).run().exits(0);
}

/// What a program of a language says of a folder, which is nothing if all is well.
fn complaints(program: &Path, arguments: &[&str], within: &Path) -> String {
    let run = command(program).args(arguments).current_dir(within).output();
    let run = run
        .unwrap_or_else(|error| panic!("{}: {error}; run tests/real/install", program.display()));
    if run.status.success() {
        return String::new();
    }
    let said = [run.stdout, run.stderr].concat();
    String::from_utf8_lossy(&said).lines().take(20).collect::<Vec<_>>().join("\n")
}

#[test]
fn python_is_strict() {
    let folder = specifications();
    let tools = root().join(".tools/python-package/bin");
    for types in ["pydantic", "typeddict"] {
        for name in ["odd", "train", "galaxy", "github"] {
            generate(&folder, &format!("python {name}.gram -o {types} --types {types}"));
        }
        let place = folder.path().join(types);
        assert_eq!(complaints(&tools.join("mypy"), &["--strict", "."], &place), "", "{types}");
        for name in ["odd", "train", "galaxy", "odd_implementation"] {
            let import = format!("import {name}");
            let run = complaints(&tools.join("python"), &["-W", "error", "-c", &import], &place);
            assert_eq!(run, "", "{types} {name}");
        }
    }
}

/// Values go through the models and come out as they went in.
#[test]
fn python_calls_tools() {
    let folder = folder(&[("odd.gram", SPECIFICATION)]);
    generate(&folder, "python odd.gram -o .");
    folder.write(
        "run.py",
        r#"
import asyncio
from typing import Any
import odd

class Implementation(odd.Tools):
    async def list_(self, parameters: odd.ListParameters) -> list[odd.Order]:
        assert parameters.x_limit == 20
        return [odd.Order(Kind=parameters.class_ or "a", at=None, price=1.5, model_dump_="m")]
    async def get_it(self, parameters: odd.GetItParameters) -> odd.Order:
        assert parameters.json_ is not None and parameters.json_.inner is not None
        return odd.Order.model_validate({"Kind": "b", "at": None, "price": 2, "next": {"Kind": "a", "at": None, "price": 3}})
    async def ping(self, parameters: odd.PingParameters) -> None:
        pass
    async def tools_(self, parameters: odd.ToolsParameters) -> odd.Shape:
        return odd.Square(kind="square", parts=[odd.Circle(kind="circle", r=1)])
    async def owner(self, parameters: odd.OwnerParameters) -> odd.ClientType:
        return parameters.x
    async def github_search(self, parameters: odd.GithubSearchParameters) -> int:
        assert parameters.a_b_2 is None
        return parameters.a_b
    async def spot(self, parameters: odd.SpotParameters) -> odd.Spot:
        assert parameters.near.at == (1.5, 2), parameters
        return odd.Spot(at=(0, 1), ways=[("x", "a")])
    async def then(self, parameters: odd.ThenParameters) -> Any:
        return [parameters.tags, parameters.from_]
    async def proto(self, parameters: odd.ProtoParameters) -> odd.Open:
        assert parameters.kids is not None
        return odd.Open.model_validate({"id": parameters.kids[0].name, "x-more": "y"})

async def main() -> None:
    handlers = odd.handlers(Implementation())
    asked: list[Any] = []
    async def call(name: str, arguments: dict[str, Any]) -> Any:
        asked.append((name, arguments))
        return await handlers[name](**arguments)
    client = odd.Client(call)
    orders = await client.list_(odd.ListParameters.model_validate({"from": "2026-01-02", "class": "b"}))
    assert orders[0].model_dump_ == "m" and orders[0].Kind_ == "b", orders
    order = await client.get_it(odd.GetItParameters.model_validate({"_id": "1", "json": {"copy": True, "inner": {"deep": ["x"]}}}))
    assert order.next is not None and order.next.Kind_ == "a"
    assert await client.ping(odd.PingParameters()) is None
    shape = await client.tools_(odd.ToolsParameters(any=None, map={"a": 1}))
    assert isinstance(shape, odd.Square) and isinstance(shape.parts[0], odd.Circle)
    assert (await client.owner(odd.OwnerParameters(x=odd.ClientType(a=1)))).a == 1
    assert await client.github_search(odd.GithubSearchParameters.model_validate({"a_b": 3})) == 3
    assert await client.then(odd.ThenParameters(from_=1)) == [["x"], 1]
    spot = await client.spot(odd.SpotParameters.model_validate({"near": {"at": [1.5, 2]}}))
    assert spot.ways == [("x", "a")], spot
    asked.pop()
    for at in [[1], [1, 2, 3], ["1", 2]]:
        try:
            odd.Spot.model_validate({"at": at})
        except ValueError:
            continue
        raise AssertionError(at)
    kid = odd.Node(name="k")
    opened = await client.proto(odd.ProtoParameters(name="n", kids=[kid]))
    assert opened.model_extra == {"x-more": "y"}, opened
    assert asked == [
        ("list", {"from": "2026-01-02", "class": "b"}),
        ("get-it", {"_id": "1", "json": {"copy": True, "inner": {"deep": ["x"]}}}),
        ("ping", {}),
        ("tools", {"any": None, "map": {"a": 1}}),
        ("owner", {"x": {"a": 1}}),
        ("github/search", {"a_b": 3}),
        ("then", {"from": 1}),
        ("__proto__", {"name": "n", "kids": [{"name": "k"}]}),
    ], asked
    for wrong in [{"_id": ""}, {}, {"_id": 1}]:
        try:
            odd.GetItParameters.model_validate(wrong)
        except ValueError:
            continue
        raise AssertionError(wrong)

asyncio.run(main())
"#,
    );
    let python = root().join(".tools/python-package/bin/python");
    assert_eq!(complaints(&python, &["-W", "error", "run.py"], folder.path()), "");
}

#[test]
fn typescript_is_strict() {
    let folder = specifications();
    let compiler = root().join(".tools/npm-package/node_modules/typescript/bin/tsc");
    let compiler = compiler.display().to_string();
    for name in ["odd", "train", "galaxy", "github"] {
        generate(&folder, &format!("typescript {name}.gram -o ts"));
    }
    let place = folder.path().join("ts");
    folder.write(
        "ts/use.ts",
        r#"
import { client, handlers, type Order, type Tools } from "./odd.js";
const call = async (name: string, parameters: object): Promise<unknown> => [name, parameters];
const tools: Tools = client(call);
const orders: Order[] = await tools.list({ from: "2026-01-02", "x-limit": 3 });
// @ts-expect-error a wrong member
await tools.list({ from: "2026-01-02", class: "c" });
// @ts-expect-error a missing parameter
await tools.getIt({});
handlers(tools)["get-it"];
console.log(orders);
"#,
    );
    let options = ["--strict", "--exactOptionalPropertyTypes", "--noUnusedLocals", "--noEmit"];
    let more = ["--module", "nodenext", "--target", "es2022"];
    let mut arguments = vec![compiler.as_str()];
    arguments.extend(options.iter().chain(&more));
    let files = ["odd-implementation.ts", "train.ts", "galaxy.ts", "github.ts", "use.ts"];
    arguments.extend(files);
    fs::write(place.join("package.json"), r#"{"type": "module"}"#).expect("it can be written");
    let node = Path::new("node");
    let found = complaints(node, &arguments, &place);
    // There are no types of Node.js here.
    let found: Vec<_> = found.lines().filter(|line| !line.contains("'console'")).collect();
    assert_eq!(found, [""; 0]);
}

/// The manifest of a package with the generated modules. Its dependencies are those of gramc.
const MANIFEST: &str = r#"[package]
name = "generated"
version = "0.1.0"
edition = "2024"

[dependencies]
serde = { version = "1", features = ["derive"] }
serde_json = "1"

[workspace]
"#;

/// Values go through the schemas of zod, which refuse others.
#[test]
fn zod_checks_values() {
    let folder = specifications();
    let packages = root().join(".tools/npm-package/node_modules");
    // The schemas of GitHub's API need more memory than the compiler has.
    for name in ["odd", "train", "galaxy"] {
        generate(&folder, &format!("typescript {name}.gram -o ts --zod"));
    }
    let place = folder.path().join("ts");
    std::os::unix::fs::symlink(&packages, place.join("node_modules")).expect("a link");
    folder.write(
        "ts/run.ts",
        r#"
import { client, handlers, squareSchema, type Tools } from "./odd.js";

const shop: Tools = {
  list: async () => [{ Kind: "a", at: null, price: 1 }],
  getIt: async () => ({ Kind: "b", at: null, price: "no" }) as never,
  ping: async () => null,
  tools: async () => ({ kind: "square", parts: [{ kind: "circle", r: 1 }] }),
  owner: async (parameters) => parameters.x,
  githubSearch: async (parameters) => parameters.a_b ?? 0,
  then_: async (parameters) => parameters.from,
  spot: async (parameters) => ({ at: parameters.near.at, ways: [["x", "a"]] }),
  __proto___: async (parameters) => ({ id: parameters.kids?.[0]?.name ?? "", "x-more": "y" }),
};
const known: Record<string, (parameters: never) => Promise<unknown>> = handlers(shop);
const tools = client(async (name, parameters) => known[name]!(parameters as never));
const refuses = async (work: () => Promise<unknown>) => {
  try {
    await work();
  } catch {
    return;
  }
  throw new Error("it is not refused");
};
const orders = await tools.list({ from: "2026-01-02", "x-limit": 3 });
if (orders[0]!.Kind !== "a") throw new Error("another order");
if ((await tools.ping({})) !== null) throw new Error("another result");
if ((await tools.owner({ x: { a: 1 } })).a !== 1) throw new Error("another owner");
squareSchema.parse(await tools.tools({ any: 1, map: { a: 1 } }));
if ((await tools.githubSearch({ a_b: 3 })) !== 3) throw new Error("another number");
if ((await tools.then_({ from: 1 })) !== 1) throw new Error("another start");
if ((await tools.spot({ near: { at: [1, 2] } })).at[1] !== 2) throw new Error("another place");
await refuses(() => tools.spot({ near: { at: [1] as never } }));
const opened = await tools.__proto___({ name: "n", kids: [{ name: "k" }] });
if (opened.id !== "k" || opened["x-more"] !== "y") throw new Error("fields are lost");
await refuses(() => tools.list({ from: "2026-01-02", "x-limit": 0 }));
await refuses(() => tools.getIt({ _id: "1" }));
await refuses(() => tools.owner({ x: { a: "1" as never } }));
"#,
    );
    fs::write(place.join("package.json"), r#"{"type": "module"}"#).expect("it can be written");
    let compiler = packages.join("typescript/bin/tsc").display().to_string();
    let options = ["--strict", "--noUnusedLocals", "--module", "nodenext", "--target", "es2022"];
    let mut arguments = vec![compiler.as_str()];
    arguments.extend(options);
    arguments.extend(["--outDir", "js", "run.ts", "train.ts", "galaxy.ts"]);
    assert_eq!(complaints(Path::new("node"), &arguments, &place), "");
    assert_eq!(complaints(Path::new("node"), &["js/run.js"], &place), "");
}

/// Integers and closed objects, which the types of languages do not mean by themselves.
const CHECKED: &str = r#"
[check:Tool | (n::Int)==>(few?::Int {range: 1..9})==>(inner?::Closed)==>(either?::Int | Text)==>(::Any)]
[Closed::Record {open: false} | (a?::Int {multipleOf: 2})]
"#;

/// Arguments of `check`, and whether they are valid.
const CHECKED_CALLS: [(&str, bool); 14] = [
    (r#"{"n": 1}"#, true),
    (r#"{"n": 1.0, "few": 2.0, "either": 3.0, "inner": {"a": 4.0}}"#, true),
    (r#"{"n": 9007199254740993}"#, true),
    (r#"{"n": 1e30}"#, true),
    (r#"{"n": 1, "more": 1}"#, true),
    (r#"{"n": 1.5}"#, false),
    (r#"{"n": "1"}"#, false),
    (r#"{"n": true}"#, false),
    (r#"{"n": 1, "few": 0}"#, false),
    (r#"{"n": 1, "few": 10.0}"#, false),
    (r#"{"n": 1, "either": 0.5}"#, false),
    (r#"{"n": 1, "inner": {"a": 3}}"#, false),
    (r#"{"n": 1, "inner": {"b": 1}}"#, false),
    (r#"{"n": 1, "inner": {"a": 2, "b": 1}}"#, false),
];

/// Calls as JSON: for each tool of a file, arguments and whether they are valid. Those of the tools of
/// APIs are values at the edges of their schemas, also with a fraction of zero.
fn calls_of(folder: &Folder, name: &str) -> String {
    let mut calls: Vec<(String, Value, bool)> = Vec::new();
    let run =
        gramc(&format!("compile {name}.gram --target json-schema")).within(folder.path()).run();
    let schemas: Map<String, Value> = serde_json::from_str(&run.stdout).expect("it is JSON");
    for (tool, schema) in schemas {
        let Ok(generator) = Generator::new(&schema, Texts::Plain) else { continue };
        if name == "checked" {
            for (call, is_valid) in CHECKED_CALLS {
                let arguments: Value = serde_json::from_str(call).expect("it is JSON");
                assert_eq!(generator.allows(&arguments), is_valid, "{call}");
                calls.push((tool.clone(), arguments, is_valid));
            }
            continue;
        }
        for value in generator.edges().iter().take(60) {
            calls.push((tool.clone(), with_fractions(value), true));
            calls.push((tool.clone(), value.clone(), true));
        }
    }
    assert!(calls.len() > 10, "{name}: {}", calls.len());
    serde_json::to_string(&calls).expect("it can be written")
}

/// A value with `1.0` instead of `1`.
fn with_fractions(value: &Value) -> Value {
    match value {
        Value::Number(number) => number.as_f64().map_or(Value::Null, Value::from),
        Value::Array(items) => items.iter().map(with_fractions).collect(),
        Value::Object(map) => {
            map.iter().map(|(key, value)| (key.clone(), with_fractions(value))).collect()
        }
        other => other.clone(),
    }
}

/// The files whose checkers are compared with their schemas.
fn checked_files() -> Folder {
    let folder = specifications();
    folder.write("checked.gram", CHECKED);
    for name in CHECKED_FILES {
        folder.write(&format!("out/{name}.json"), calls_of(&folder, name));
    }
    folder
}

const CHECKED_FILES: [&str; 4] = ["checked", "odd", "train", "galaxy"];

#[test]
fn pydantic_accepts_what_the_schemas_accept() {
    let folder = checked_files();
    for name in CHECKED_FILES {
        generate(&folder, &format!("python {name}.gram -o out"));
    }
    folder.write(
        "out/run.py",
        r#"
import asyncio, importlib, json, sys
from typing import Any

class Accepted(Exception):
    pass

class Tools:
    def __getattr__(self, name: str) -> Any:
        async def tool(parameters: Any) -> Any:
            raise Accepted
        return tool

async def main() -> None:
    wrong = 0
    for name in sys.argv[1:]:
        handlers = importlib.import_module(name).handlers(Tools())
        for tool, arguments, is_valid in json.load(open(f"{name}.json")):
            accepted, reason = False, None
            try:
                await handlers[tool](**arguments)
            except Accepted:
                accepted = True
            except ValueError as error:
                reason = error
            if accepted != is_valid:
                wrong += 1
                print(name, tool, json.dumps(arguments)[:300], is_valid, str(reason)[:300])
    sys.exit(wrong > 0)

asyncio.run(main())
"#,
    );
    let python = root().join(".tools/python-package/bin/python");
    let arguments = [&["run.py"][..], &CHECKED_FILES].concat();
    assert_eq!(complaints(&python, &arguments, &folder.path().join("out")), "");
}

#[test]
fn zod_accepts_what_the_schemas_accept() {
    let folder = checked_files();
    let packages = root().join(".tools/npm-package/node_modules");
    for name in CHECKED_FILES {
        generate(&folder, &format!("typescript {name}.gram -o out --zod"));
    }
    let place = folder.path().join("out");
    std::os::unix::fs::symlink(&packages, place.join("node_modules")).expect("a link");
    folder.write(
        "out/run.js",
        r#"
import { readFileSync } from "node:fs";

class Accepted extends Error {}
const tools = new Proxy({}, { get: () => async () => { throw new Accepted(); } });
let wrong = 0;
for (const name of process.argv.slice(2)) {
  const { handlers } = await import(`./js/${name}.js`);
  const known = handlers(tools);
  for (const [tool, parameters, isValid] of JSON.parse(readFileSync(`${name}.json`, "utf8"))) {
    let reason;
    try {
      await known[tool](parameters);
    } catch (error) {
      reason = error;
    }
    if (reason instanceof Accepted !== isValid) {
      wrong += 1;
      console.log(name, tool, JSON.stringify(parameters).slice(0, 300), isValid, `${reason}`.slice(0, 300));
    }
  }
}
process.exit(wrong > 0 ? 1 : 0);
"#,
    );
    fs::write(place.join("package.json"), r#"{"type": "module"}"#).expect("it can be written");
    let compiler = packages.join("typescript/bin/tsc").display().to_string();
    let files = CHECKED_FILES.map(|name| format!("{name}.ts"));
    let mut arguments = vec![compiler.as_str()];
    arguments.extend(["--strict", "--module", "nodenext", "--target", "es2022", "--outDir", "js"]);
    arguments.extend(files.iter().map(String::as_str));
    assert_eq!(complaints(Path::new("node"), &arguments, &place), "");
    let arguments = [&["run.js"][..], &CHECKED_FILES].concat();
    assert_eq!(complaints(Path::new("node"), &arguments, &place), "");
}

/// A program with an implementation and clients of it, in itself and over MCP.
const PROGRAM: &str = r#"
#![allow(dead_code, deprecated, async_fn_in_trait)]
mod galaxy;
mod odd;
mod odd_implementation;
mod train;

use std::future::Future;
use std::io::{Read, Write};
use std::pin::pin;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};

use odd::{Client, Kind, Order, Shape, ToolError, Tools};
use serde_json::{Value, json};

struct Shop;

impl Tools for Shop {
    async fn list(&self, parameters: odd::ListParameters) -> Result<Vec<Order>, ToolError> {
        let kind = parameters.class.unwrap_or(Kind::ARatherLongMember);
        Ok(vec![Order { kind, next: None, model_dump: None, at: None, price: 1.5 }])
    }
    async fn get_it(&self, parameters: odd::GetItParameters) -> Result<Order, ToolError> {
        let json = parameters.json.ok_or("no json")?;
        let next = Order { kind: Kind::B, next: None, model_dump: Some("m".into()), at: None, price: 3.0 };
        assert_eq!(json.inner.map(|inner| inner.deep), Some(vec!["x".to_owned()]));
        Ok(Order { kind: Kind::A, next: Some(Box::new(next)), model_dump: None, at: None, price: 2.0 })
    }
    async fn ping(&self, _: odd::PingParameters) -> Result<(), ToolError> {
        Ok(())
    }
    async fn tools(&self, parameters: odd::ToolsParameters) -> Result<Shape, ToolError> {
        assert_eq!(parameters.map.get("a"), Some(&1));
        Ok(serde_json::from_value(json!({"kind": "square", "parts": [{"kind": "circle", "r": 1.0}]}))?)
    }
    async fn owner(&self, parameters: odd::OwnerParameters) -> Result<odd::ClientType, ToolError> {
        Ok(parameters.x)
    }
    async fn github_search(&self, parameters: odd::GithubSearchParameters) -> Result<i64, ToolError> {
        Ok(parameters.a_b_2.unwrap_or(0))
    }
    async fn spot(&self, parameters: odd::SpotParameters) -> Result<odd::Spot, ToolError> {
        assert_eq!(parameters.near.at, (1.0, 2.0));
        Ok(odd::Spot { at: (0.0, 1.0), ways: Some(vec![("x".to_owned(), Kind::A)]) })
    }
    async fn then(&self, parameters: odd::ThenParameters) -> Result<Value, ToolError> {
        Ok(json!(parameters.from))
    }
    async fn proto(&self, parameters: odd::ProtoParameters) -> Result<odd::Open, ToolError> {
        Ok(serde_json::from_value(json!({"id": parameters.name, "x-more": "y"}))?)
    }
}

fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => unreachable!("nothing waits here"),
    }
}

/// The result of a request to an MCP server.
fn ask(server: &Mutex<Child>, method: &str, params: &Value) -> Result<Value, ToolError> {
    let mut server = server.lock().unwrap();
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    writeln!(server.stdin.as_mut().ok_or("no input")?, "{request}")?;
    loop {
        let (mut line, mut byte) = (Vec::new(), [0]);
        while byte[0] != b'\n' {
            server.stdout.as_mut().ok_or("no output")?.read_exact(&mut byte)?;
            line.push(byte[0]);
        }
        let mut message: Value = serde_json::from_slice(&line)?;
        if message["id"] == 1 {
            return Ok(message["result"].take());
        }
    }
}

fn call_tool(server: &Mutex<Child>, name: &str, arguments: &Value) -> Result<Value, ToolError> {
    let params = json!({"name": name, "arguments": arguments});
    let mut result = ask(server, "tools/call", &params)?;
    if result["isError"] == true {
        return Err(result["content"][0]["text"].as_str().unwrap_or_default().into());
    }
    Ok(result["structuredContent"].take())
}

/// An implementation behind `gramc mcp`, each of whose calls starts this program again.
fn through_mcp(gramc: &str) -> Result<(), ToolError> {
    let server = Command::new(gramc)
        .args(["mcp", "odd.gram", "--library", "library.gram"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let server = Mutex::new(server);
    let who = json!({"name": "test", "version": "1"});
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": who});
    ask(&server, "initialize", &hello)?;
    let client = Client(|name: &'static str, arguments: Value| {
        std::future::ready(call_tool(&server, name, &arguments))
    });
    let spot = serde_json::from_value(json!({"near": {"at": [1, 2]}}))?;
    assert_eq!(now(client.spot(spot))?.ways, Some(vec![("x".to_owned(), Kind::A)]));
    let refused = call_tool(&server, "spot", &json!({"near": {"at": [1]}}));
    assert!(refused.is_err_and(|error| error.to_string().contains("near.at")));
    server.lock().unwrap().kill()?;
    Ok(())
}

fn main() -> Result<(), ToolError> {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, mode, name] = &arguments[..] {
        if mode == "through" {
            return through_mcp(name);
        }
        let arguments = serde_json::from_reader(std::io::stdin())?;
        println!("{}", now(odd::call(&Shop, name, arguments))?);
        return Ok(());
    }
    let client = Client(|name: &'static str, arguments: Value| async move {
        odd::call(&Shop, name, arguments).await
    });
    let parameters = serde_json::from_value(json!({"from": "2026-01-02"}))?;
    assert_eq!(now(client.list(parameters))?[0].kind, Kind::ARatherLongMember);
    let arguments = json!({"_id": "1", "json": {"copy": true, "inner": {"deep": ["x"]}}});
    let order = now(client.get_it(serde_json::from_value(arguments)?))?;
    let expected = json!({"Kind": "a", "next": {"Kind": "b", "model_dump": "m", "at": null, "price": 3.0}, "at": null, "price": 2.0});
    assert_eq!(serde_json::to_value(&order)?, expected);
    now(client.ping(serde_json::from_value(json!({}))?))?;
    let shape = now(client.tools(serde_json::from_value(json!({"any": 1, "map": {"a": 1}}))?))?;
    let Shape::Square(square) = shape else { return Err("no square".into()) };
    assert!(matches!(square.parts[0], Shape::Circle(_)));
    let spot = now(odd::call(&Shop, "spot", json!({"near": {"at": [1, 2]}})))?;
    assert_eq!(spot, json!({"at": [0.0, 1.0], "ways": [["x", "a"]]}));
    let owner = now(odd::call(&Shop, "owner", json!({"x": {"a": 1}})))?;
    assert_eq!(owner, json!({"a": 1}));
    assert!(now(odd::call(&Shop, "owner", json!({}))).is_err());
    assert!(now(odd::call(&odd_implementation::Implementation, "ping", json!({}))).is_err());
    Ok(())
}
"#;

#[test]
fn rust_has_no_warnings_and_calls_tools() {
    let folder = specifications();
    // GitHub's API takes minutes.
    for name in ["odd", "train", "galaxy"] {
        generate(&folder, &format!("rust {name}.gram -o rust/src"));
    }
    folder.write("rust/Cargo.toml", MANIFEST);
    folder.write("rust/src/main.rs", PROGRAM);
    let place = folder.path().join("rust");
    // What gramc is built with is there already.
    fs::copy(root().join("Cargo.lock"), place.join("Cargo.lock")).expect("it can be copied");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let run = |arguments: &[&str]| complaints(Path::new(&cargo), arguments, &place);
    assert_eq!(run(&["clippy", "--offline", "--quiet", "--", "-D", "warnings"]), "");
    assert_eq!(run(&["run", "--offline", "--quiet"]), "");
    folder.write("rust/odd.gram", SPECIFICATION);
    let names = ["list", "get-it", "ping", "tools", "owner", "github/search", "spot", "then"];
    let entries = names.map(|name| {
        format!("  (`{name}`:Command {{run: [\"target/debug/generated\", \"call\", \"{name}\"]}})")
    });
    let entries = entries.join(",\n");
    let other =
        "  (`__proto__`:Command {run: [\"target/debug/generated\", \"call\", \"__proto__\"]})";
    folder.write("rust/library.gram", format!("[shop:Library |\n{entries},\n{other}\n]\n"));
    let gramc = env!("CARGO_BIN_EXE_gramc-under-test");
    assert_eq!(run(&["run", "--offline", "--quiet", "--", "through", gramc]), "");
}

#[test]
fn a_check_writes_nothing() {
    let folder =
        folder(&[("shop.gram", "[f:Tool {description: \"Does it\"} | (a::Text)==>(::Text)]\n")]);
    let check = || gramc("generate python shop.gram -o out --check").within(folder.path()).run();
    check().exits(1).says(&["out/shop.py does not exist: run `gramc generate`"]);
    assert!(!folder.path().join("out").exists());
    generate(&folder, "python shop.gram -o out");
    check().exits(0);
    folder.write("out/shop_implementation.py", "# mine\n");
    generate(&folder, "python shop.gram -o out");
    let own = fs::read_to_string(folder.path().join("out/shop_implementation.py"));
    assert_eq!(own.expect("it is there"), "# mine\n");
    folder.write("shop.gram", "[f:Tool {description: \"Does it\"} | (a::Int)==>(::Text)]\n");
    check().exits(1).says(&["out/shop.py is out of date"]);
    gramc("generate python - -o out")
        .input("[A::Enum | a]")
        .within(folder.path())
        .run()
        .fails_with(&["no tools"]);
}
