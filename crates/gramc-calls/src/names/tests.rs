use super::{KnownName, NameIndex, Suggestion};

fn index(names: &[&str]) -> NameIndex {
    NameIndex::new(names.iter().map(|name| KnownName { name, ..KnownName::default() }))
}

fn asked(names: &[&str], attempted: &str) -> Vec<String> {
    let found = index(names).suggest(attempted, 3);
    found.into_iter().map(|found| found.name.to_string()).collect()
}

#[track_caller]
fn first(names: &[&str], attempted: &str, expected: &str) {
    let found = asked(names, attempted);
    assert_eq!(found.first().map(String::as_str), Some(expected), "{attempted}: {found:?}");
}

/// The tools of a file system server.
const FILES: [&str; 11] = [
    "read_text_file",
    "read_multiple_files",
    "write_file",
    "edit_file",
    "create_directory",
    "list_directory",
    "directory_tree",
    "move_file",
    "search_files",
    "get_file_info",
    "list_allowed_directories",
];

/// The tools of a git server.
const GIT: [&str; 12] = [
    "git_status",
    "git_diff_unstaged",
    "git_diff_staged",
    "git_diff",
    "git_commit",
    "git_add",
    "git_reset",
    "git_log",
    "git_create_branch",
    "git_checkout",
    "git_show",
    "git_branch",
];

/// Some tools of a GitHub server.
const GITHUB: [&str; 14] = [
    "create_or_update_file",
    "search_repositories",
    "create_repository",
    "get_file_contents",
    "push_files",
    "create_issue",
    "create_pull_request",
    "fork_repository",
    "create_branch",
    "list_commits",
    "list_issues",
    "update_issue",
    "add_issue_comment",
    "search_code",
];

#[test]
fn another_spelling_finds_the_name() {
    let known = ["WriteFile", "ReadFile", "Weather"];
    for attempted in [
        "file_read",
        "readfile",
        "READ_FILE",
        "read-file",
        "read.file",
        "read/file",
        "read::file",
        "Read File",
        "fileRead",
        "read_files",
        "ReadFiles",
        "Files.Read",
        "readFlie",
        "raedFile",
        "RaedFlie",
        "filereads",
        "read_file_",
        "  ReadFile\n",
    ] {
        first(&known, attempted, "ReadFile");
    }
}

#[test]
fn what_is_the_same_is_nearest() {
    let found = index(&["ReadFile", "WriteFile"]).suggest("read_file", 1);
    assert_eq!(found, [Suggestion { name: "ReadFile".into(), container: None, nearness: 100 }]);
    // The verb differs, the noun does not.
    assert_eq!(asked(&["WriteFile", "ReadFile"], "get_file"), ["ReadFile", "WriteFile"]);
}

#[test]
fn a_typo_finds_the_name_and_its_neighbours() {
    let known = ["SendMail", "GitPush", "GitCommit", "GitStatus", "Weather"];
    assert_eq!(asked(&known, "GitComit"), ["GitCommit", "GitPush", "GitStatus"]);
    assert_eq!(asked(&known, "git_comit"), ["GitCommit", "GitPush", "GitStatus"]);
    assert_eq!(asked(&known, "gitcomit"), ["GitCommit"]);
    assert_eq!(asked(&known, "wheather"), ["Weather"]);
}

#[test]
fn what_stands_before_a_name_is_no_part_of_it() {
    let known = ["ReadFile", "WriteFile", "Server"];
    for attempted in [
        "functions.ReadFile",
        "functions.ReadFile:0",
        "mcp__server__read_file",
        "tools/ReadFile",
        "default_api.read_file",
        "mcp.server::ReadFile",
        "ReadFile({\"path\": \"a\"})",
        "functions.ReadFile<|channel|>json",
    ] {
        first(&known, attempted, "ReadFile");
    }
}

#[test]
fn verbs_stand_for_each_other() {
    assert_eq!(
        asked(&["Weather", "RunCommand", "Execute"], "container.exec"),
        ["Execute", "RunCommand"]
    );
    first(&["ListFiles", "RemoveFile"], "rm_file", "RemoveFile");
    first(&["ListFiles", "RemoveFile"], "delete_files", "RemoveFile");
    first(&["SearchWeb", "ReadWeb"], "query_web", "SearchWeb");
    first(&["SaveNote", "EditNote"], "write_note", "SaveNote");
    first(&["SaveNote", "EditNote"], "modify_note", "EditNote");
    first(&["NewUser", "User"], "create_user", "NewUser");
    first(&["Tree", "List"], "ls", "List");
}

#[test]
fn a_container_is_named() {
    let known = [
        KnownName { name: "Math", container: None, destructive: false },
        KnownName { name: "Add", container: Some("List"), destructive: false },
        KnownName { name: "Add", container: Some("Math"), destructive: false },
        KnownName { name: "Subtract", container: Some("Math"), destructive: false },
    ];
    let names = NameIndex::new(known.into_iter());
    for attempted in ["Math.Add", "math_add", "MathAdd", "mcp__math__add", "Maths.Add"] {
        let found = names.suggest(attempted, 1);
        assert_eq!(found.len(), 1, "{attempted}");
        assert_eq!(found[0].name, "Add", "{attempted}");
        assert_eq!(found[0].container.as_deref(), Some("Math"), "{attempted}");
    }
    // Containers are suggested, too.
    assert_eq!(names.suggest("maths", 1)[0].name, "Math");
    assert_eq!(names.suggest("Math.Frobnicate", 1)[0].name, "Math");
}

#[test]
fn names_of_known_servers() {
    for (attempted, expected) in [
        ("read_file", "read_text_file"),
        ("ReadFile", "read_text_file"),
        ("listDir", "list_directory"),
        ("mkdir_create_dir", "create_directory"),
        ("fs.write", "write_file"),
        ("find_file", "search_files"),
        ("file_info", "get_file_info"),
        ("edit_files", "edit_file"),
        ("tree", "directory_tree"),
        ("allowed_directories", "list_allowed_directories"),
    ] {
        first(&FILES, attempted, expected);
    }
    for (attempted, expected) in [
        ("commit", "git_commit"),
        ("GitComit", "git_commit"),
        ("gitStatus", "git_status"),
        ("git.log", "git_log"),
        ("staged_diff", "git_diff_staged"),
        ("new_branch", "git_create_branch"),
        ("git_chekout", "git_checkout"),
    ] {
        first(&GIT, attempted, expected);
    }
    for (attempted, expected) in [
        ("createPR_pull_request", "create_pull_request"),
        ("open_pull_request", "create_pull_request"),
        ("search_repos", "search_repositories"),
        ("new_repo", "create_repository"),
        ("issues.list", "list_issues"),
        ("comment_issue", "add_issue_comment"),
        ("get_contents", "get_file_contents"),
        ("mcp__github__edit_issue", "update_issue"),
        ("commits", "list_commits"),
    ] {
        first(&GITHUB, attempted, expected);
    }
}

#[test]
fn nothing_near_is_nothing() {
    for attempted in
        ["", " ", "…", "get_weather", "xyzzy", "send_mail", "42", "(", "::", "🦀🦀🦀🦀"]
    {
        assert!(
            asked(&GITHUB, attempted).is_empty(),
            "{attempted}: {:?}",
            asked(&GITHUB, attempted)
        );
    }
    assert!(asked(&[], "read_file").is_empty());
    assert!(asked(&["get"], "git").is_empty());
    assert!(index(&GIT).suggest("git_status", 0).is_empty());
    assert!(asked(&["", "…", "Read"], "writ").is_empty());
}

#[test]
fn other_alphabets() {
    first(&["天気予報を取得", "ニュース"], "天気予報を取る", "天気予報を取得");
    first(&["ПрочитатьФайл", "Погода"], "файл_прочитать", "ПрочитатьФайл");
    first(&["Straße", "Weg"], "STRASE", "Straße");
}

#[test]
fn equally_near_names_keep_their_order() {
    assert_eq!(
        asked(&["GitPush", "GitPull", "GitTag"], "git_blame"),
        ["GitPush", "GitPull", "GitTag"]
    );
    assert_eq!(
        asked(&["GitTag", "GitPull", "GitPush"], "git_blame"),
        ["GitTag", "GitPull", "GitPush"]
    );
}

/// The names of a large library, with three words each.
fn many(count: usize) -> Vec<String> {
    let words =
        ["alpha", "bravo", "customer", "delta", "invoice", "folder", "golf", "hotel", "order"];
    let verbs = ["Get", "Create", "Update", "Delete", "List"];
    let name = |at: usize| {
        let (verb, first) = (verbs[at % verbs.len()], words[at / 5 % words.len()]);
        format!("{verb}_{first}_{}_{at}", words[at / 45 % words.len()])
    };
    (0..count).map(name).collect()
}

#[test]
fn hostile_names_are_cut() {
    let many = many(10_000);
    let names = NameIndex::new(many.iter().map(|name| KnownName { name, ..KnownName::default() }));
    let long = [
        "a".repeat(1_000_000),
        "get_".repeat(250_000),
        "🦀é\u{301}\u{200b}".repeat(100_000),
        ".".repeat(1_000_000),
        "aB".repeat(500_000),
        format!("{}GetAlpha", "x.".repeat(500_000)),
        "customar_ordar_invoise_foldar_hotal_dalta_brava_alpho".repeat(10_000),
        "\u{130}".repeat(500_000),
    ];
    for name in &long {
        assert!(names.suggest(name, 3).len() <= 3);
    }
    // A long known name is handled, too.
    let names = index(&[&long[0], "ReadFile"]);
    assert_eq!(names.suggest("read_file", 1)[0].name, "ReadFile");
    assert!(names.suggest(&long[2], 1).is_empty());
}

#[test]
fn large_libraries() {
    let many = many(100_000);
    let names = NameIndex::new(many.iter().map(|name| KnownName {
        name,
        container: Some("Everything"),
        destructive: false,
    }));
    for nth in [7, 77, 7_777, 77_777] {
        let attempted = many[nth].replace('_', "-").to_uppercase();
        assert_eq!(names.suggest(&attempted, 1)[0].name, many[nth]);
        let attempted = format!("functions.{}", many[nth].replace("er", "re"));
        assert_eq!(names.suggest(&attempted, 1)[0].name, many[nth]);
    }
}

#[test]
fn a_letter_that_a_short_name_lacks_is_added() {
    first(&["Add", "Subtract", "Addresses"], "Ad", "Add");
    first(&["git_add", "git_log"], "git_ad", "git_add");
    first(&["run_task", "stop"], "ru_task", "run_task");
    assert_eq!(asked(&["Address", "Advance"], "Ad"), [""; 0]);
    assert_eq!(asked(&["Add"], "A"), [""; 0]);
}

#[test]
fn no_suggestion_means_the_opposite() {
    for (known, attempted) in [
        ("approve_payment", "reject_payment"),
        ("lock_door", "unlock_door"),
        ("door_lock", "door_unlock"),
        ("enable_user", "disable_user"),
        ("createUser", "delete-user"),
    ] {
        assert!(asked(&[known], attempted).is_empty(), "{attempted}");
        assert!(asked(&[attempted], known).is_empty(), "{known}");
    }
}

#[test]
fn a_destructive_tool_is_suggested_for_its_own_words_alone() {
    let known = KnownName { name: "delete_users", container: None, destructive: true };
    let names = NameIndex::new([known].into_iter());
    for (attempted, is_suggested) in [
        ("list_users", false),
        ("disable_user", false),
        ("users", false),
        ("deleteUsers", true),
        ("delete_usrs", true),
        ("remove_user", true),
        ("functions.delete_users:0", true),
    ] {
        assert_eq!(!names.suggest(attempted, 3).is_empty(), is_suggested, "{attempted}");
    }
}

#[test]
fn the_same_verb_is_nearer_than_the_same_noun() {
    let known = ["create_file", "read", "exec"];
    for attempted in ["ReadFile", "readfile", "repo_browser.read_file"] {
        first(&known, attempted, "read");
    }
    first(&known, "functionsexec5", "exec");
}
