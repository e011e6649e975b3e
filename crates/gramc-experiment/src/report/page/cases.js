// The list of cases: filters, pages of rows, transcripts side by side, and export as CSV. All texts come
// from runs and are set as text, never as HTML.

(() => {
  const place = document.getElementById("case-list");
  if (!place) return;
  const ROWS = 50;
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const { arms, repeats, tags, reasons, cases } = read("case-data");
  const MEASURES = ["calls", "refused", "repairs", "tokens", "cost", "latency_ms"];

  /** An element with a class, text or elements, and properties. */
  function make(name, kind, content = [], properties = {}) {
    const element = document.createElement(name);
    if (kind) element.className = kind;
    element.append(...[content].flat());
    return Object.assign(element, properties);
  }

  const all = cases.map(([name, results, tagNumbers, runs], at) => {
    const inArms = runs.map(([count, graded, successes, ...measures]) => ({
      count,
      graded,
      successes,
      measures: measures.slice(0, MEASURES.length),
      reasons: measures[MEASURES.length].map((reason) => reasons[reason]),
    }));
    const ownTags = tagNumbers.map((tag) => tags[tag]);
    const texts = [name, ...ownTags, ...inArms.flatMap((arm) => arm.reasons)];
    const flaky = inArms.map((arm) => arm.successes > 0 && arm.successes < arm.graded);
    return { at, name, results, tags: ownTags, arms: inArms, flaky, text: texts.join("\n").toLowerCase() };
  });

  const filter = { text: "", result: "all", tag: "", arm: 1 };
  let [shown, page] = [all, 0];

  const RESULTS = [
    () => `won by ${arms[0]}`,
    (arm) => `won by ${arms[arm]}`,
    () => "flaky",
    () => "both failed",
    () => "both succeeded",
    () => "unanswered",
    () => "no expectation",
  ];
  const resultOf = (it, arm) => RESULTS[it.results[arm - 1]](arm);
  const isFlaky = (it, arm) => it.flaky[0] || it.flaky[arm];
  const hasResult = (it, result, arm) =>
    result === "all" || (result === 2 ? isFlaky(it, arm) : it.results[arm - 1] === result);

  function matches(it, result = filter.result) {
    return (
      hasResult(it, result, filter.arm) &&
      (filter.tag === "" || it.tags.includes(filter.tag)) &&
      it.text.includes(filter.text)
    );
  }

  // Controls.
  const search = make("input", "", [], { type: "search", id: "case-search", autocomplete: "off" });
  const results = make("div", "chips");
  results.setAttribute("role", "group");
  results.setAttribute("aria-label", "result");
  const status = make("p", "fine");
  status.setAttribute("role", "status");
  const list = make("ol", "cases");
  const pages = make("nav", "pages");
  pages.setAttribute("aria-label", "pages of cases");
  const field = (label, control) =>
    make("div", "field", [make("label", "", label, { htmlFor: control.id }), control]);
  const select = (id, options, changed) => {
    const control = make("select", "", [], { id });
    control.append(...options.map(([value, text]) => make("option", "", text, { value })));
    control.addEventListener("change", () => changed(control.value));
    return control;
  };
  const controls = make("div", "controls", [field("Search cases and reasons", search)]);
  if (arms.length > 2) {
    const options = arms.slice(1).map((arm, at) => [at + 1, `${arm} against ${arms[0]}`]);
    const control = select("case-arm", options, (value) => {
      filter.arm = Number(value);
      update();
    });
    controls.append(field("Compare", control));
  }
  if (tags.length > 0) {
    const options = [["", "all tags"], ...[...tags].sort().map((tag) => [tag, tag])];
    const control = select("case-tag", options, (value) => {
      filter.tag = value;
      update();
    });
    controls.append(field("Tag", control));
  }
  const save = make("button", "", "Export as CSV", { type: "button", id: "case-export" });
  controls.append(save);
  search.addEventListener("input", () => {
    filter.text = search.value.trim().toLowerCase();
    update();
  });
  const chips = ["all", 0, 1, 2, 3, 4, 5, 6].map((result) => {
    const chip = make("button", "chip", "", { type: "button" });
    chip.dataset.result = result;
    chip.addEventListener("click", () => {
      filter.result = result;
      update();
    });
    return { chip, result };
  });
  results.append(...chips.map(({ chip }) => chip));

  /** Applies the filter. The numbers on the buttons are those of the search and the tag. */
  function update() {
    const counts = new Map(chips.map(({ result }) => [result, 0]));
    shown = [];
    for (const it of all) {
      if (!matches(it, "all")) continue;
      for (const { result } of chips) {
        if (hasResult(it, result, filter.arm)) counts.set(result, counts.get(result) + 1);
      }
      if (hasResult(it, filter.result, filter.arm)) shown.push(it);
    }
    for (const { chip, result } of chips) {
      const name = result === "all" ? "all" : RESULTS[result](filter.arm);
      chip.textContent = `${name} ${counts.get(result)}`;
      chip.setAttribute("aria-pressed", String(filter.result === result));
      const exists = result === "all" || all.some((it) => hasResult(it, result, filter.arm));
      chip.hidden = !exists && filter.result !== result;
    }
    page = 0;
    showPage();
  }

  /** Makes the rows of the current page. Others do not exist. */
  function showPage() {
    const rows = shown.slice(page * ROWS, (page + 1) * ROWS);
    list.replaceChildren(...rows.map(row));
    list.start = page * ROWS + 1;
    const s = all.length === 1 ? "" : "s";
    status.textContent = `${shown.length} of ${all.length} case${s}`;
    const last = Math.ceil(shown.length / ROWS) - 1;
    const turn = (text, by) => {
      const button = make("button", "", text, { type: "button", disabled: page + by < 0 || page + by > last });
      button.addEventListener("click", () => {
        page += by;
        showPage();
        place.scrollIntoView();
      });
      return button;
    };
    pages.hidden = last < 1;
    pages.replaceChildren(
      turn("Previous", -1),
      make("span", "", `page ${page + 1} of ${last + 1}`),
      turn("Next", 1),
    );
  }

  function rate(arm) {
    if (arm.count === 0) return "no answer";
    const missing = arm.count < repeats ? `, ${repeats - arm.count} unanswered` : "";
    return (arm.graded < arm.count ? "no expectation" : `${arm.successes} of ${arm.graded}`) + missing;
  }

  function row(it) {
    const result = it.results[filter.arm - 1];
    const winner = result === 0 ? " won arm-0" : result === 1 ? ` won arm-${filter.arm % 8}` : "";
    const marks = [make("span", `result${winner}`, resultOf(it, filter.arm))];
    if (result !== 2 && isFlaky(it, filter.arm)) marks.push(make("span", "result", "flaky"));
    const rates = [0, filter.arm].map((arm) =>
      make("span", "rate-of", [make("span", `arm arm-${arm % 8}`, arms[arm]), ` ${rate(it.arms[arm])}`]),
    );
    const summary = make("summary", "", [
      make("span", "case", it.name),
      make("span", "marks", [...marks, ...it.tags.map((tag) => make("span", "tag", tag))]),
      make("span", "rates-of", rates),
    ]);
    const body = make("div", "body");
    const details = make("details", "", [summary, body]);
    // A closed row holds no transcript.
    details.addEventListener("toggle", () =>
      body.replaceChildren(...(details.open ? transcripts(it, filter.arm) : [])),
    );
    return make("li", "", details);
  }

  // Transcripts.
  let known;
  function runsOf(it) {
    if (!known) {
      const { texts, cases: runs } = read("transcript-data");
      known = { texts, runs: new Map(runs) };
    }
    const { texts } = known;
    return (known.runs.get(it.at) ?? []).map(([arm, repeat, success, end, missed, messages]) => ({
      arm: texts[arm],
      repeat,
      success,
      end: texts[end],
      missed: missed.map((text) => texts[text]),
      messages: messages.map((it) => message(texts, it)),
    }));
  }

  function transcripts(it, other) {
    const runs = runsOf(it);
    if (runs.length === 0) {
      return [make("p", "", "The transcripts of this case are not on this page; runs.jsonl has them.")];
    }
    const wins = it.results[other - 1] === 1 ? [false, true] : it.results[other - 1] === 0 ? [true, false] : [];
    const sides = [0, other].map((arm, side) => {
      const own = runs.filter((run) => run.arm === arms[arm]);
      const wanted = own.findIndex((run) => (run.success === true) === wins[side]);
      return { arm, own, at: Math.max(0, wanted) };
    });
    const turns = make("div", "turns");
    const show = () => turns.replaceChildren(...compared(sides.map(({ arm, own, at }) => ({ arm, run: own[at] }))));
    const choices = sides.filter(({ own }) => own.length > 1).map((side) => {
      const options = side.own.map((run, at) => [at, `run ${run.repeat + 1}: ${outcome(run)}`]);
      const control = select(`run-${it.at}-${side.arm}`, options, (value) => {
        side.at = Number(value);
        show();
      });
      control.value = side.at;
      return field(`Run of ${arms[side.arm]}`, control);
    });
    show();
    return choices.length > 0 ? [make("div", "controls", choices), turns] : [turns];
  }

  const outcome = (run) =>
    run.success === true ? "success" : run.success === false ? "no success" : "not graded";

  /** The cells of two runs, aligned. */
  function compared(sides) {
    const cells = sides.map(({ arm, run }) => {
      const head = make("h3", "", make("span", `arm arm-${arm % 8}`, arms[arm]));
      const cell = make("div", `side arm-${arm % 8}`, head);
      head.append(run ? `: ${outcome(run)}` : ": no answer");
      if (run && run.end !== "answered") cell.append(make("p", "fine", `ended: ${run.end}`));
      if (run && run.missed.length > 0) {
        cell.append(make("ul", "", run.missed.map((text) => make("li", "", text))));
      }
      return cell;
    });
    const messages = sides.map(({ run }) => (run ? run.messages : []));
    for (const [first, second] of alignMessages(...messages)) {
      if (first && second && first.key === second.key) {
        cells.push(make("div", "turn same", said(first, "in both")));
        continue;
      }
      const parts = first && second ? comparedParts(first, second) : [];
      [first, second].forEach((it, side) => {
        const { arm } = sides[side];
        cells.push(
          it
            ? make("div", `turn differs arm-${arm % 8}`, said(it, arms[arm], parts[side]))
            : make("div", "turn nothing"),
        );
      });
    }
    return cells;
  }

  const textsOf = (it) => [it.content, ...it.calls.map(([name, args]) => `${name} ${args}`)];

  /** The texts of two messages, each as parts that differ or not. */
  function comparedParts(first, second) {
    const [a, b] = [textsOf(first), textsOf(second)];
    const pairs = a.map((text, at) => compareTexts(text, b[at] ?? ""));
    const more = b.slice(a.length).map((text) => compareTexts("", text));
    return [pairs.map((pair) => pair[0]), [...pairs, ...more].map((pair) => pair[1])];
  }

  function said(it, where, parts = textsOf(it).map((text) => [[text, false]])) {
    const shown = parts.map((part, at) => {
      const texts = part.map(([text, differs]) => (differs ? make("mark", "", text) : text));
      return part.length > 0 && part[0][0] !== "" ? make("pre", at > 0 ? "call" : "", texts) : "";
    });
    return [make("p", "who", [make("b", "", it.role), ` ${where}`]), ...shown];
  }

  // Export.
  function csv() {
    const others = arms.slice(1);
    const head = [
      "case",
      ...(others.length === 1 ? ["result"] : others.map((arm) => `${arm} result`)),
      "flaky",
      "tags",
      ...arms.flatMap((arm) => ["runs", "successes", ...MEASURES].map((what) => `${arm} ${what}`)),
    ];
    const lines = shown.map((it) => [
      it.name,
      ...others.map((_, at) => resultOf(it, at + 1)),
      String(it.flaky.some(Boolean)),
      it.tags.join(" "),
      ...it.arms.flatMap((arm) => [arm.count, arm.graded === 0 ? "" : arm.successes, ...arm.measures]),
    ]);
    // A spreadsheet would run a text that begins like a formula.
    const cell = (value) => {
      const text = String(value ?? "");
      const isFormula = typeof value === "string" && /^[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text));
      const safe = isFormula ? `'${text}` : text;
      return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
    };
    return [head, ...lines].map((line) => line.map(cell).join(",") + "\r\n").join("");
  }

  save.addEventListener("click", () => {
    const url = URL.createObjectURL(new Blob([csv()], { type: "text/csv" }));
    make("a", "", "", { href: url, download: "cases.csv" }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
  });

  place.append(controls, results, status, list, pages);
  update();
})();
