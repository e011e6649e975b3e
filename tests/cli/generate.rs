//! `gramc generate`: what it writes is checked by the tools of each language.

use std::fs;
use std::path::Path;

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
    assert asked == [
        ("list", {"from": "2026-01-02", "class": "b"}),
        ("get-it", {"_id": "1", "json": {"copy": True, "inner": {"deep": ["x"]}}}),
        ("ping", {}),
        ("tools", {"any": None, "map": {"a": 1}}),
        ("owner", {"x": {"a": 1}}),
    ], asked
    for wrong in [{"_id": ""}, {}]:
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
