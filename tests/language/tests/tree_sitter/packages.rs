//! What is put together for single editors.

use std::path::Path;
use std::process::Command;

use tree_sitter::Query;
use tree_sitter_loader::Loader;

use crate::tree_sitter::{Grammar, root};

fn run(command: &mut Command) -> String {
    let ran = command.output().expect("it starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(ran.status.success(), "{command:?}: {}{}", text(&ran.stdout), text(&ran.stderr));
    text(&ran.stdout)
}

fn script(path: &str) -> Command {
    Command::new(root().join("editors").join(path))
}

/// Reads a query, which has to fit its grammar.
fn query(grammar: Grammar, path: &Path) -> String {
    let text = std::fs::read_to_string(path);
    let text = text.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let query = Query::new(&grammar.language(), &text);
    assert!(query.is_ok(), "{}: {:?}", path.display(), query.err());
    text
}

#[test]
fn neovim_gets_parsers_and_queries() {
    let site = tempfile::tempdir().expect("a folder");
    run(script("neovim/install-parsers").arg(site.path()));
    for grammar in Grammar::ALL {
        let library = site.path().join(format!("parser/{}.so", grammar.name()));
        let language = Loader::load_language(&library, &format!("tree_sitter_{}", grammar.name()));
        assert_eq!(
            language.expect("a language").node_kind_count(),
            grammar.language().node_kind_count()
        );
        let queries = site.path().join("queries").join(grammar.name());
        query(grammar, &queries.join("highlights.scm"));
    }
    let queries = site.path().join("queries/gram");
    query(Grammar::Gram, &queries.join("injections.scm"));
    query(Grammar::Gram, &queries.join("folds.scm"));
}

#[test]
fn helix_gets_queries_with_its_own_names() {
    let runtime = tempfile::tempdir().expect("a folder");
    run(script("helix/install-queries").arg(runtime.path()));
    let read = |grammar: Grammar, name: &str| {
        query(grammar, &runtime.path().join("queries").join(grammar.name()).join(name))
    };
    for grammar in Grammar::ALL {
        let highlights = read(grammar, "highlights.scm");
        for unknown in ["@number", "@boolean", "@property", "@module", "@comment.doc"] {
            assert!(!highlights.contains(unknown), "{unknown} is left");
        }
        assert!(highlights.contains("@constant.numeric"));
    }
    assert!(read(Grammar::Gram, "injections.scm").contains("gram_type"));
    read(Grammar::Gram, "locals.scm");
}

#[test]
fn zed_gets_a_folder_with_everything() {
    // A project of its own, for only what is committed counts.
    let project = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(project.path().join("grammar")).expect("a folder");
    for part in ["editors", "grammar/tree-sitter"] {
        let copy = project.path().join(part);
        run(Command::new("cp").arg("-R").arg(root().join(part)).arg(copy));
    }
    let git = |words: &[&str]| {
        let names =
            ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgSign=false"];
        run(Command::new("git").current_dir(project.path()).args(names).args(words))
    };
    git(&["init", "--quiet"]);
    git(&["add", "editors", "grammar"]);
    git(&["commit", "--quiet", "--message", "All"]);
    let revision = git(&["rev-parse", "HEAD"]);
    let folder = project.path().join("extension");
    run(Command::new(project.path().join("editors/zed/prepare")).arg(&folder));

    let manifest = std::fs::read_to_string(folder.join("extension.toml")).expect("a manifest");
    let project = project.path().canonicalize().expect("it is there");
    let fields = [
        format!("repository = \"file://{}\"", project.display()),
        format!("rev = \"{}\"", revision.trim()),
    ];
    for field in &fields {
        assert!(manifest.matches(field.as_str()).count() >= 2, "{field} in {manifest}");
    }
    assert!(!manifest.contains("\"PROJECT\"") && !manifest.contains("\"REVISION\""));
    let languages = folder.join("languages");
    for name in ["highlights", "injections", "outline", "brackets", "indents"] {
        query(Grammar::Gram, &languages.join("gram").join(format!("{name}.scm")));
    }
    query(Grammar::Type, &languages.join("gram-type/highlights.scm"));
    // The names of grammars are those of the manifest, and the paths lead to their parsers.
    for grammar in Grammar::ALL {
        assert!(manifest.contains(&format!("[grammars.{}]", grammar.name())));
        let path = grammar.folder();
        let path = path.file_name().and_then(|name| name.to_str()).expect("a name");
        assert!(manifest.contains(&format!("path = \"grammar/tree-sitter/{path}\"")));
        let config = std::fs::read_to_string(languages.join(path).join("config.toml"));
        assert!(
            config.expect("it is there").contains(&format!("grammar = \"{}\"", grammar.name()))
        );
    }
}
