//! A reader of GBNF grammars, as llama.cpp documents them, that derives random sentences. It knows
//! nothing of how gramc prints them.

use std::collections::HashMap;
use std::iter::Peekable;
use std::str::Chars;

use gramc_language_tests::rng::Rng;

/// What a rule derives.
#[derive(Debug)]
enum Node {
    Text(String),
    Class { negated: bool, ranges: Vec<(u32, u32)> },
    Rule(usize),
    Seq(Vec<Node>),
    Alt(Vec<Node>),
    Repeat(Box<Node>, usize, Option<usize>),
}

/// A grammar.
#[derive(Debug)]
pub struct Gbnf {
    rules: Vec<Node>,
    /// How many rules a shortest sentence of each rule is deep.
    depths: Vec<usize>,
    root: usize,
}

/// The depth of what derives nothing.
const ENDLESS: usize = usize::MAX / 4;

/// The characters that are tried in classes.
const SAMPLES: &str = "azAZ09_-. /:@#%é😀\u{7f}\u{2028}ß\"\\\n\t\u{0}\u{1f}\u{ffff}{}[],'+=~";

impl Gbnf {
    /// Reads a grammar.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn read(text: &str) -> Result<Self, String> {
        let mut names = HashMap::new();
        let lines: Vec<(&str, &str)> = text
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
            .map(|line| line.split_once(" ::= ").ok_or_else(|| format!("no rule: {line}")))
            .collect::<Result<_, _>>()?;
        for (at, (name, _)) in lines.iter().enumerate() {
            let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
            if !plain || names.insert(*name, at).is_some() {
                return Err(format!("the name `{name}`"));
            }
        }
        let read = |body: &str| {
            let mut reader = Reader { chars: body.chars().peekable(), names: &names };
            let node = reader.alternatives()?;
            match reader.chars.next() {
                None => Ok(node),
                Some(c) => Err(format!("`{c}` in {body}")),
            }
        };
        let rules = lines.iter().map(|(_, body)| read(body)).collect::<Result<Vec<_>, _>>()?;
        let root = *names.get("root").ok_or("no root")?;
        let mut depths = vec![ENDLESS; rules.len()];
        loop {
            let next: Vec<usize> = rules.iter().map(|rule| depth(rule, &depths)).collect();
            if next == depths {
                break;
            }
            depths = next;
        }
        let endless = depths.iter().position(|&depth| depth >= ENDLESS);
        match endless {
            Some(at) => Err(format!("`{}` never ends", lines[at].0)),
            None => Ok(Self { rules, depths, root }),
        }
    }

    /// A random sentence, of rules that are at most about so deep.
    pub fn sentence(&self, rng: &mut Rng, depth: usize) -> String {
        let mut out = String::new();
        self.derive(&self.rules[self.root], rng, depth, &mut out);
        out
    }

    fn derive(&self, node: &Node, rng: &mut Rng, left: usize, out: &mut String) {
        match node {
            Node::Text(text) => out.push_str(text),
            Node::Class { negated, ranges } => out.push(character(*negated, ranges, rng)),
            Node::Rule(at) => self.derive(&self.rules[*at], rng, left.saturating_sub(1), out),
            Node::Seq(parts) => parts.iter().for_each(|part| self.derive(part, rng, left, out)),
            Node::Alt(parts) => {
                let fits: Vec<&Node> =
                    parts.iter().filter(|part| depth(part, &self.depths) <= left).collect();
                let shortest = || parts.iter().min_by_key(|part| depth(part, &self.depths));
                let chosen = match fits.len() {
                    0 => shortest(),
                    count => Some(fits[rng.below(count)]),
                };
                if let Some(part) = chosen {
                    self.derive(part, rng, left, out);
                }
            }
            Node::Repeat(part, least, most) => {
                let room = most.map_or(3, |most| (most - least).min(3));
                let longest = most.filter(|&most| most <= 300 && left > 2 && rng.chance(4));
                let count = match longest {
                    _ if depth(part, &self.depths) > left => *least,
                    Some(most) => most,
                    None => least + rng.below(room + 1),
                };
                (0..count).for_each(|_| self.derive(part, rng, left, out));
            }
        }
    }
}

/// How many rules a shortest sentence is deep.
fn depth(node: &Node, depths: &[usize]) -> usize {
    match node {
        Node::Text(_) | Node::Class { .. } => 0,
        Node::Rule(at) => (depths[*at] + 1).min(ENDLESS),
        Node::Seq(parts) => parts.iter().map(|part| depth(part, depths)).max().unwrap_or(0),
        Node::Alt(parts) => parts.iter().map(|part| depth(part, depths)).min().unwrap_or(ENDLESS),
        Node::Repeat(part, least, _) => {
            if *least == 0 {
                0
            } else {
                depth(part, depths)
            }
        }
    }
}

fn character(negated: bool, ranges: &[(u32, u32)], rng: &mut Rng) -> char {
    let within =
        |c: char| negated != ranges.iter().any(|&(low, high)| (low..=high).contains(&u32::from(c)));
    let samples: Vec<char> = SAMPLES.chars().filter(|&c| within(c)).collect();
    if !negated && (samples.is_empty() || rng.chance(50)) {
        let (low, high) = ranges[rng.below(ranges.len())];
        let code = rng.between(low as usize, high as usize);
        let code = u32::try_from(code).expect("codes are small");
        return char::from_u32(code).or(char::from_u32(low)).expect("the bounds are characters");
    }
    match samples.len() {
        0 => (' '..=char::MAX).find(|&c| within(c)).expect("no class is empty"),
        count => samples[rng.below(count)],
    }
}

struct Reader<'g> {
    chars: Peekable<Chars<'g>>,
    names: &'g HashMap<&'g str, usize>,
}

impl Reader<'_> {
    fn alternatives(&mut self) -> Result<Node, String> {
        let mut all = vec![self.sequence()?];
        while self.chars.next_if_eq(&'|').is_some() {
            all.push(self.sequence()?);
        }
        Ok(if all.len() == 1 { all.remove(0) } else { Node::Alt(all) })
    }

    fn sequence(&mut self) -> Result<Node, String> {
        let mut parts = Vec::new();
        loop {
            while self.chars.next_if_eq(&' ').is_some() {}
            let item = match self.chars.peek() {
                None | Some('|' | ')') => return Ok(Node::Seq(parts)),
                Some('"') => self.text()?,
                Some('[') => self.class()?,
                Some('(') => {
                    self.chars.next();
                    let inner = self.alternatives()?;
                    self.expect(')')?;
                    inner
                }
                Some(_) => self.name()?,
            };
            parts.push(self.repeated(item)?);
        }
    }

    fn expect(&mut self, c: char) -> Result<(), String> {
        self.chars.next_if_eq(&c).map(|_| ()).ok_or_else(|| format!("`{c}` is missing"))
    }

    fn name(&mut self) -> Result<Node, String> {
        let mut name = String::new();
        while let Some(c) = self.chars.next_if(|c| c.is_ascii_alphanumeric() || *c == '-') {
            name.push(c);
        }
        self.names
            .get(name.as_str())
            .map(|&at| Node::Rule(at))
            .ok_or_else(|| format!("unknown rule `{name}`, then {:?}", self.chars.peek()))
    }

    fn text(&mut self) -> Result<Node, String> {
        self.chars.next();
        let mut text = String::new();
        while self.chars.next_if_eq(&'"').is_none() {
            text.push(self.character()?);
        }
        Ok(Node::Text(text))
    }

    fn character(&mut self) -> Result<char, String> {
        let c = self.chars.next().ok_or("the line ends")?;
        if c != '\\' {
            return Ok(c);
        }
        let digits = match self.chars.next() {
            Some('x') => 2,
            Some('u') => 4,
            Some('U') => 8,
            Some('n') => return Ok('\n'),
            Some('r') => return Ok('\r'),
            Some('t') => return Ok('\t'),
            Some(c @ ('"' | '\\' | '[' | ']')) => return Ok(c),
            other => return Err(format!("the escape {other:?}")),
        };
        let code: String = self.chars.by_ref().take(digits).collect();
        let code = u32::from_str_radix(&code, 16).map_err(|error| format!("{code}: {error}"))?;
        char::from_u32(code).ok_or_else(|| format!("{code} is no character"))
    }

    fn class(&mut self) -> Result<Node, String> {
        self.chars.next();
        let negated = self.chars.next_if_eq(&'^').is_some();
        let mut ranges = Vec::new();
        while self.chars.next_if_eq(&']').is_none() {
            let low = self.character()?;
            let is_range = self.chars.peek() == Some(&'-');
            let high = if is_range {
                self.chars.next();
                self.character()?
            } else {
                low
            };
            ranges.push((u32::from(low), u32::from(high)));
        }
        Ok(Node::Class { negated, ranges })
    }

    fn repeated(&mut self, item: Node) -> Result<Node, String> {
        let (least, most) = match self.chars.peek() {
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('?') => (0, Some(1)),
            Some('{') => {
                self.chars.next();
                let bounds: String =
                    std::iter::from_fn(|| self.chars.next_if(|&c| c != '}')).collect();
                let number = |text: &str| text.parse().map_err(|error| format!("{text}: {error}"));
                match bounds.split_once(',') {
                    None => (number(&bounds)?, Some(number(&bounds)?)),
                    Some((least, "")) => (number(least)?, None),
                    Some((least, most)) => (number(least)?, Some(number(most)?)),
                }
            }
            _ => return Ok(item),
        };
        self.chars.next();
        if matches!(self.chars.peek(), Some('*' | '+' | '?' | '{')) {
            return Err("a repetition is repeated".to_owned());
        }
        Ok(Node::Repeat(Box::new(item), least, most))
    }
}
