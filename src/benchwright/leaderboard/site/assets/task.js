// One problem: what was asked, who solves it, and what the answers came to.
(function () {
  "use strict";
  const { el, id } = BW;

  const facts = function (task) {
    const names = { domains: "Domains", libraries: "Libraries", repository: "Repository", difficulty: "Difficulty", created: "Public since" };
    const known = Object.entries(names).filter(([name]) => task.facts[name]);
    return known.length ? el("dl", { class: "facts" }, known.map(([name, title]) => [el("dt", null, title), el("dd", null, [task.facts[name]].flat().join(", "))])) : null;
  };

  const solvers = function (table, column) {
    const places = column.rows || table.rows.map((_, i) => i);
    const codes = BW.unpack(column, places.length);
    const groups = { solved: [], partly: [], unsolved: [], fault: [], none: [] };
    places.forEach((place, i) => groups[BW.outcomeClass(column.palette[codes[i]])].push([table.rows[place], column.palette[codes[i]]]));
    const words = { solved: "Solved by", partly: "Partly solved by", unsolved: "Not solved by", fault: "Unscored: fault on the grader's side" };
    const name = ([row, counts]) => el("li", null, el("a", { href: BW.modelAddress(table, row) }, BW.rowName(row)), counts[0] > 1 ? el("span", { class: "muted" }, ` ${counts[1]} of ${counts[0]}`) : null);
    return el("section", null,
      el("h2", null, el("a", { href: `index.html#t=${table.id}` }, table.title)),
      el("p", null, `${BW.solvedBy([...codes].map((code) => column.palette[code]))}.`),
      Object.entries(words).filter(([kind]) => groups[kind].length).map(([kind, word]) => [el("h3", null, el("span", { class: "outcome " + kind }, `${word} (${groups[kind].length})`)), BW.listed(groups[kind], name, 40)]));
  };

  const sample = function (one, number, of) {
    const tests = one.tests || [];
    return [
      el("p", null, of > 1 ? `Sample ${number + 1}: ` : null, el("span", { class: "outcome " + ({ passed: "solved", fault: "fault" }[one.outcome] || "unsolved") }, (one.outcome || "").replaceAll("_", " ")), one.reason ? `, ${one.reason.replaceAll("_", " ")}` : null, one.planned ? `; ${one.passed || 0} of ${one.planned} tests passed` : null, one.transcript ? [" · ", BW.outside("transcript", one.transcript)] : null),
      one.detail && one.outcome !== "passed" ? el("p", { class: "muted" }, one.detail) : null,
      one.text ? el("pre", { tabindex: "0" }, one.text) : null,
      one.note ? el("p", { class: "muted" }, one.note) : null,
      tests.length ? el("details", null, el("summary", null, `Tests (${tests.length + (one.more_tests || 0)})`), el("ul", null, tests.map(([name, passed, message]) => el("li", null, el("span", { class: "outcome " + (passed ? "solved" : "unsolved") }, name, el("span", { class: "unseen" }, passed ? " passed" : " failed")), message ? el("pre", { tabindex: "0" }, message) : null)), one.more_tests ? el("li", { class: "muted" }, `${one.more_tests} more are not shown.`) : null)) : null,
    ];
  };

  // An answer's text becomes part of the page when it is opened, so that a hundred of them do not weigh on it.
  const answer = function (table, given) {
    const row = table.rows[given.row];
    const passed = given.samples.filter((one) => one.outcome === "passed").length;
    const kind = passed === given.samples.length ? "solved" : passed ? "partly" : given.samples.every((one) => one.outcome === "fault") ? "fault" : "unsolved";
    const box = el("details", { class: "answer" }, el("summary", null, el("span", { class: "outcome " + kind }, BW.rowName(row)), " ", el("span", { class: "muted" }, given.samples.map((one) => (one.reason || one.outcome || "").replaceAll("_", " ")).slice(0, 4).join(", "))));
    box.addEventListener("toggle", function () {
      if (box.open && box.children.length === 1) BW.add(box, given.samples.map((one, i) => sample(one, i, given.samples.length)));
    });
    return box;
  };

  const neighbours = function (problems, number) {
    const link = (place, before, after) => (place in problems.ids ? el("a", { href: BW.taskAddress(problems.benchmark, problems.ids[place]) }, before, problems.ids[place], after) : el("span"));
    return el("p", { class: "line" }, link(number - 1, "← ", ""), link(number + 1, "", " →"));
  };

  const prompt = (one) => [el("h2", null, one.title), el("pre", { tabindex: "0" }, one.text), one.cut ? el("p", { class: "muted" }, "Cut here; the benchmark's data has the whole text.") : null];

  // Tasks that a reader may mean: the id itself, otherwise its last part, such as 13 for BigCodeBench/13, otherwise any part.
  const meant = function (ids, text) {
    const wanted = text.toLowerCase();
    const last = (id) => id.split(/\/|__|-/).pop();
    for (const fits of [(id) => id === wanted, (id) => last(id) === wanted, (id) => wanted.split(/\s+/).every((word) => id.includes(word))]) {
      const found = ids.filter((id) => fits(id.toLowerCase()));
      if (found.length) return found;
    }
    return [];
  };

  const choose = function (problems, text) {
    const found = meant(problems.ids, text);
    if (found.length === 1) {
      window.location.hash = BW.taskAddress(problems.benchmark, found[0]).slice("task.html".length);
      return;
    }
    window.history.replaceState(null, "", window.location.pathname); // so that every link below leads somewhere else
    const words = found.length ? `${BW.count(found.length)} tasks of ${problems.benchmark} fit “${text}”.` : `No task of ${problems.benchmark} fits “${text}”.`;
    const link = (name) => el("li", null, el("a", { href: BW.taskAddress(problems.benchmark, name) }, name));
    BW.fill("content", el("h1", null, "Tasks"), el("p", { class: found.length ? null : "problem" }, words), BW.listed(found, link));
    BW.say(words);
  };

  const form = async function (name) {
    const benchmarks = window.BW_DATA.index.benchmarks;
    const chosen = benchmarks.find((one) => one.name === name) || benchmarks[0];
    id("find").hidden = !chosen;
    if (!chosen) return null;
    BW.fill("benchmark", benchmarks.map((one) => BW.option(one.name, one.name, one === chosen)));
    const problems = await BW.load("problems-" + chosen.digest);
    BW.fill("ids", problems.ids.map((one) => el("option", { value: one })));
    return problems;
  };

  const show = async function () {
    const [benchmark, ...rest] = BW.route();
    const problems = await form(benchmark);
    if (!benchmark || !problems) return;
    const name = rest.join("/");
    const number = problems.benchmark === benchmark ? problems.ids.indexOf(name) : -1;
    if (number < 0) throw new Error(`There is no task ${name} of ${benchmark} in this site.`);
    const task = await BW.load(`task-${problems.digest}-${number}`);
    const tables = new Map();
    for (const column of task.tables) tables.set(column.id, await BW.load("table-" + column.id));
    document.title = name;
    const warnings = [...new Map([...tables.values()].flatMap((table) => table.warnings).map((one) => [one.text, one])).values()];
    BW.fill("content",
      el("h1", null, name), el("p", { class: "muted" }, benchmark), facts(task),
      warnings.map((one) => el("p", { class: "muted" }, BW.warning(one))),
      task.prompts.length ? task.prompts.map(prompt) : el("p", { class: "muted" }, "The statement is not part of this site: the benchmark's data was not at hand when it was built."),
      task.tables.map((column) => solvers(tables.get(column.id), column)),
      task.answers.length ? el("section", null, el("h2", null, `Answers (${task.answers.length})`), task.answers.map((given) => answer(tables.get(given.table), given))) : null,
      neighbours(problems, number));
    document.body.dataset.shown = name;
  };

  id("find").addEventListener("submit", function (event) {
    event.preventDefault();
    const text = id("task").value.trim();
    const benchmark = window.BW_DATA.index.benchmarks.find((one) => one.name === id("benchmark").value);
    if (text) BW.load("problems-" + benchmark.digest).then((problems) => choose(problems, text)).catch(BW.failed);
  });
  id("benchmark").addEventListener("change", () => form(id("benchmark").value).catch(BW.failed));
  BW.page(show);
})();
