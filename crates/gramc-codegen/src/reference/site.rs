//! What the pages show, and where they refer to.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;

use gramc_check::Valid;
use gramc_model::print::print_declarations;
use gramc_model::{Module, Place, Tool, TypeId, walk};
use gramc_schema::Target;
use gramc_schema::emit::{Compilation, Entry, Options};

/// The contents of a reference.
#[derive(Debug, Clone)]
pub struct ReferenceOptions<'o> {
    /// Its title.
    pub title: &'o str,
    /// The files whose tools it contains. Their types may be in other files.
    pub files: Range<usize>,
    /// The targets whose definitions it shows.
    pub targets: &'o [Target],
}

/// A specification with the addresses of its declarations.
pub(crate) struct Site<'m> {
    pub(crate) title: String,
    pub(crate) module: &'m Module,
    pub(crate) valid: Valid<&'m Module>,
    /// The tools, in the order of the files.
    pub(crate) tools: Vec<&'m Tool>,
    /// All declarations with their texts, by kind.
    pub(crate) declarations: Vec<Declaration>,
    /// The index of each declaration by kind and name.
    places: HashMap<(&'static str, String), usize>,
    /// The tools and types that refer to a type.
    users: HashMap<String, BTreeSet<(&'static str, String)>>,
}

/// A declaration as gram.
pub(crate) struct Declaration {
    pub(crate) kind: &'static str,
    pub(crate) name: String,
    pub(crate) text: String,
    /// The name of its page.
    pub(crate) file: String,
}

/// The kinds of declarations that have pages, in the order of the overview, with their headings.
pub(crate) const KINDS: [(&str, &str); 5] = [
    ("tool", "Tools"),
    ("type", "Types"),
    ("term", "Vocabulary"),
    ("container", "Containers"),
    ("agent", "Agents"),
];

impl<'m> Site<'m> {
    pub(crate) fn new(module: &'m Valid<Module>, options: &ReferenceOptions<'_>) -> Self {
        let tools = tools(module, options);
        let hidden = list_imported(module, &tools, options);
        let mut places = HashMap::new();
        let mut declarations: Vec<Declaration> = Vec::new();
        let mut files = FileNames::default();
        for (title, text) in print_declarations(module) {
            let Some((kind, name)) = title.split_once(' ') else { continue };
            let known = KINDS.into_iter().find(|(known, _)| *known == kind);
            let Some((kind, _)) = known.filter(|_| !hidden.contains(&(kind, name))) else {
                continue;
            };
            // Files that do not import each other may declare the same name.
            let key = (kind, name.to_owned());
            if let Some(known) = places.get(&key).and_then(|at: &usize| declarations.get_mut(*at)) {
                known.text.push('\n');
                known.text.push_str(&text);
            } else {
                places.insert(key, declarations.len());
                let file = files.file(kind, name);
                declarations.push(Declaration { kind, name: name.to_owned(), text, file });
            }
        }
        let mut site = Self {
            title: options.title.to_owned(),
            module,
            valid: module.into(),
            tools,
            declarations,
            places,
            users: HashMap::new(),
        };
        site.find_users();
        site
    }

    fn declaration(&self, name: &str, kind: &'static str) -> Option<&Declaration> {
        self.declarations.get(*self.places.get(&(kind, name.to_owned()))?)
    }

    /// The page of a declaration, if it has one.
    pub(crate) fn link(&self, name: &str, kind: &'static str) -> Option<&str> {
        self.declaration(name, kind).map(|it| it.file.as_str())
    }

    /// The text of a declaration.
    pub(crate) fn text(&self, name: &str, kind: &'static str) -> &str {
        self.declaration(name, kind).map_or("", |it| it.text.as_str())
    }

    /// The description of a declaration that is not a tool.
    pub(crate) fn description(&self, name: &str, kind: &str) -> &str {
        let module = self.module;
        let found = match kind {
            "type" => {
                let mut types = module.types.iter().map(|(_, declared)| declared);
                let declared = types.find(|it| !it.local && it.name == name);
                declared.and_then(|it| it.type_use.description.as_deref())
            }
            "term" => {
                let term = module.terms.iter().find(|it| it.field.name == name);
                term.and_then(|it| it.field.type_use.description.as_deref())
            }
            "container" => module.container(name).and_then(|it| it.description.as_deref()),
            _ => module.agent(name).and_then(|it| it.description.as_deref()),
        };
        found.unwrap_or_default()
    }

    /// The declarations that refer to a type, each with its kind.
    pub(crate) fn users(&self, name: &str) -> impl Iterator<Item = &(&'static str, String)> {
        self.users.get(name).into_iter().flatten()
    }

    fn find_users(&mut self) {
        let types = &self.module.types;
        let name = |id: TypeId| types.get(id).filter(|it| !it.local).map(|it| it.name.to_string());
        let mut users: HashMap<String, BTreeSet<_>> = HashMap::new();
        for (id, declared) in types.iter().filter(|(_, declared)| !declared.local) {
            for used in reachable_types(self.module, walk::names_of(types, id)) {
                let user = ("type", declared.name.to_string());
                if let Some(used) = name(used) {
                    add(&mut users, used, user.clone());
                }
            }
        }
        for tool in &self.tools {
            let mut used = Vec::new();
            let fields = tool.parameters.iter().map(|parameter| &parameter.type_use);
            for type_use in fields.chain([&tool.result.type_use]) {
                walk::names_of_type_use(type_use, &mut |id| used.push(id));
            }
            for used in reachable_types(self.module, used) {
                let user = ("tool", tool.name.to_string());
                if let Some(used) = name(used) {
                    add(&mut users, used, user.clone());
                }
            }
        }
        self.users = users;
    }
}

/// The tools of the files, without those that are only imported.
fn tools<'m>(module: &'m Valid<Module>, options: &ReferenceOptions<'_>) -> Vec<&'m Tool> {
    let files = options.files.clone();
    let options = Options { files, expanded: true, ..Options::new(Target::JsonSchema, 0) };
    let compilation = Compilation::new(module, &options);
    let tools = compilation.entries().iter().filter_map(|entry| match entry {
        Entry::Tool(tool) => Some(*tool),
        Entry::Container(_) | Entry::Agent(_) => None,
    });
    tools.collect()
}

/// The kinds and names of the tools, containers and agents that are only imported.
fn list_imported<'m>(
    module: &'m Valid<Module>,
    tools: &[&'m Tool],
    options: &ReferenceOptions<'_>,
) -> HashSet<(&'static str, &'m str)> {
    let shown: HashSet<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    let is_elsewhere =
        |place: Option<Place>| place.is_some_and(|it| !options.files.contains(&it.file));
    let spans = module.spans();
    let tools = module.tools.iter().map(|tool| tool.name.as_str());
    let tools = tools.filter(|name| !shown.contains(name)).map(|name| ("tool", name));
    let containers = module.containers.iter().enumerate();
    let containers = containers.filter(|(at, _)| is_elsewhere(spans.container(*at)));
    let agents = module.agents.iter().enumerate();
    let agents = agents.filter(|(at, _)| is_elsewhere(spans.agent(*at)));
    tools
        .chain(containers.map(|(_, container)| ("container", container.name.as_str())))
        .chain(agents.map(|(_, agent)| ("agent", agent.name.as_str())))
        .collect()
}

fn add(
    users: &mut HashMap<String, BTreeSet<(&'static str, String)>>,
    used: String,
    user: (&'static str, String),
) {
    if user != ("type", used.clone()) {
        users.entry(used).or_default().insert(user);
    }
}

/// The types that are named, also within local types, which have no pages.
fn reachable_types(module: &Module, mut open: Vec<TypeId>) -> BTreeSet<TypeId> {
    let mut found = BTreeSet::new();
    while let Some(id) = open.pop() {
        if found.insert(id) && module.types.get(id).is_some_and(|declared| declared.local) {
            open.extend(walk::names_of(&module.types, id));
        }
    }
    found
}

/// Names of files, which differ also where upper and lower case do not.
#[derive(Default)]
struct FileNames(HashMap<String, u32>);

impl FileNames {
    fn file(&mut self, kind: &str, name: &str) -> String {
        /// The maximum length of a name in that of its file.
        const MAX_FILE_NAME: usize = 100;
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
        let name: String = name.chars().map(plain).take(MAX_FILE_NAME).collect();
        let stem = format!("{kind}-{name}");
        let times = self.0.entry(stem.to_ascii_lowercase()).or_default();
        *times += 1;
        if *times == 1 { format!("{stem}.html") } else { format!("{stem}.{times}.html") }
    }
}
