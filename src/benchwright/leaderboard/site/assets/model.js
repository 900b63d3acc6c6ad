// One row of one table: what is known of the model, where it is strong, and every task.
(function () {
  "use strict";
  const { el, tile } = BW;
  const SHOWN = 12; // groups shown to begin with

  const fact = (name, ...value) => [el("dt", null, name), el("dd", null, value)];

  const facts = function (table, row) {
    const known = row.facts || {};
    const source = row.source === undefined ? null : table.sources[row.source];
    return el("dl", { class: "facts" },
      row.label ? fact("Model", row.model) : null,
      fact("Results", row.own ? "own: graded with benchwright" : source ? ["imported from ", BW.outside(BW.sourceName(source), source.url), source.note ? ` (${source.note})` : ""] : "imported"),
      row.scaffold ? fact("Scaffold", row.scaffold) : null,
      known.link ? fact("Link", BW.outside(known.link, known.link)) : null,
      known.released ? fact("Released", known.released) : null,
      known.cutoff ? fact("Training data until", known.cutoff) : null,
      known.parameters !== undefined ? fact("Parameters", `${BW.size(known.parameters)} B`, known.active_parameters !== undefined && known.active_parameters !== known.parameters ? `, ${BW.size(known.active_parameters)} B of them active` : "") : null,
      BW.weightsOf(row) ? fact("Weights", BW.weightsOf(row)) : null,
      known.open_data ? fact("Open data", known.open_data) : null,
      row.cost !== undefined ? fact("Cost", `$ ${BW.money(row.cost)}`) : null,
      row.version ? fact("Data version", row.version) : null,
      row.finished ? fact("Run ended", row.finished.slice(0, 10)) : null,
      fact("Entry", el("code", { class: "digest" }, row.entry)));
  };

  const tiles = function (table, row) {
    const found = row.estimate;
    const made = [];
    if (found) made.push(tile(`${BW.percent(row.score)} %`, `${table.metric}, ${BW.interval(found.low, found.high)} (${found.method}), n = ${BW.count(found.n)}`));
    for (const [name, value] of Object.entries(row.reported || {})) made.push(tile(`${BW.percent(value)} %`, `${name}, as the source states it`));
    if (row.rated) made.push(tile(row.rated[0].toFixed(0), `rating, ${row.rated[1].toFixed(0)}–${row.rated[2].toFixed(0)}`));
    if (row.rank) made.push(tile(row.rank[1] === row.rank[2] ? String(row.rank[0]) : `${row.rank[1]}–${row.rank[2]}`, `rank, of ${table.models}`));
    if (row.faults) made.push(tile(String(row.faults), row.worst === undefined ? "faults" : `faults; ${BW.interval(row.worst, row.best)} % at worst and best`));
    if (row.missing) made.push(tile(String(row.missing), "missing, count as not solved"));
    return el("div", { class: "tiles" }, made);
  };

  const breakdown = function (matrix, codes, problems, title, group) {
    const few = (line) => line[2] < problems.small;
    const shares = BW.shares(matrix.palette);
    const at = new Map(problems.ids.map((name, i) => [name, i]));
    const sums = group.names.map(() => [0, 0, true]);
    matrix.problems.forEach(function (name, i) {
      const share = shares[codes[i]];
      if (share === null || !at.has(name)) return;
      for (const one of group.of[at.get(name)]) {
        sums[one][0] += share;
        sums[one][1] += 1;
        if (share !== 0 && share !== 1) sums[one][2] = false;
      }
    });
    const lines = group.names.map((name, i) => [name, ...sums[i], i]).filter(([, , n]) => n);
    if (!lines.length) return null;
    const make = function (line) {
      const [name, sum, n, whole] = line;
      const [low, high] = whole ? BW.stats.wilson(sum, n) : [null, null];
      const score = el("span", { class: "score" }, BW.bar(sum / n, low, high, 1), el("span", { class: "figure" }, BW.percent(sum / n)), el("span", { class: "muted" }, whole ? BW.interval(low, high) : ""));
      return el("tr", null, el("th", { scope: "row" }, name), el("td", { "data-column": "score" }, score), el("td", { class: "number" }, BW.count(n)), el("td", { class: "muted" }, few(line) ? "few tasks" : ""));
    };
    return el("section", null, el("h3", null, `By ${title.toLowerCase()}`), sortable(title, lines, make, few, group.ordered));
  };

  // Lines of [name, sum, n, whole, place].  The weakest come first, and groups of few tasks after all others, whose
  // scores say little; groups that have an order of their own begin in it.
  const sortable = function (title, lines, make, few, ordered) {
    const columns = [
      { title: title, up: true, key: ordered ? (line) => line[4] : (line) => line[0] },
      { title: "Solved, %", up: true, key: (line) => line[1] / line[2], fewLast: true },
      { title: "n", up: false, key: (line) => line[2], number: true },
    ];
    const now = { column: columns[ordered ? 0 : 1], up: true, all: lines.length <= SHOWN };
    const sorted = () => [...lines].sort(function (x, y) {
      if (now.column.fewLast && few(x) !== few(y)) return few(x) - few(y);
      const [a, b] = [now.column.key(x), now.column.key(y)];
      return (now.up ? BW.compare(a, b) : BW.compare(b, a)) || BW.compare(x[0], y[0]);
    });
    const head = el("tr");
    const body = el("tbody");
    const more = el("button", { type: "button", class: "more" }, `Show all ${lines.length}`);
    const draw = function () {
      BW.fill(head, columns.map((column) => BW.columnHead(column, now, order)), el("th", { scope: "col" }, el("span", { class: "unseen" }, "Remark")));
      BW.fill(body, sorted().slice(0, now.all ? lines.length : SHOWN).map(make));
      more.hidden = now.all;
    };
    const order = function (column) {
      now.up = column === now.column ? !now.up : column.up;
      now.column = column;
      draw();
      head.children[columns.indexOf(column)].firstChild.focus();
      BW.say(`Sorted by ${column.title}, ${now.up ? "ascending" : "descending"}.`);
    };
    more.addEventListener("click", function () {
      now.all = true;
      draw();
    });
    draw();
    return [el("div", { class: "scroll" }, el("table", { class: "board groups" }, el("thead", null, head), body)), more];
  };

  const listed = (names) => (names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${names.at(-1)}` : names[0]);

  const tasks = function (table, matrix, line) {
    const width = matrix.problems.length;
    const shares = BW.shares(matrix.palette);
    const codes = matrix.codes.subarray(line * width, (line + 1) * width);
    const found = { solved: [], partly: [], unsolved: [], fault: [], none: [] };
    const others = new Float64Array(width);
    const asked = new Uint32Array(width);
    for (let row = 0; row < matrix.rows.length; row++) {
      for (let i = 0; row !== line && i < width; i++) {
        const share = shares[matrix.codes[row * width + i]];
        if (share === null) continue;
        asked[i] += 1;
        others[i] += share;
      }
    }
    for (let i = 0; i < width; i++) found[BW.outcomeClass(matrix.palette[codes[i]])].push(i);
    const share = (i) => (asked[i] ? others[i] / asked[i] : 0);
    const link = (i) => el("a", { href: BW.taskAddress(table.benchmark, matrix.problems[i]) }, matrix.problems[i]);
    const telling = (i) => el("li", null, link(i), " ", el("span", { class: "muted" }, `${BW.percent(share(i), 0)} %`));
    const rare = found.solved.filter((i) => asked[i] && share(i) <= 0.2).sort((x, y) => share(x) - share(y));
    const usual = found.unsolved.filter((i) => share(i) >= 0.8).sort((x, y) => share(y) - share(x));
    const words = { solved: "Solved", partly: "Solved by some of its samples", unsolved: "Not solved", fault: "Unscored: fault on the grader's side", none: "Not asked" };
    const lists = Object.entries(words).filter(([kind]) => found[kind].length).map(([kind, word]) => el("section", null, el("h3", null, el("span", { class: "outcome " + kind }, `${word} (${BW.count(found[kind].length)})`)), BW.listed(found[kind], (i) => el("li", null, link(i)))));
    return { codes: codes, parts: [
      rare.length || usual.length ? el("div", { class: "columns" },
        rare.length ? el("section", null, el("h3", null, `Solved, by at most a fifth of the others (${rare.length})`), BW.listed(rare, telling, 30)) : null,
        usual.length ? el("section", null, el("h3", null, `Not solved, by at least four fifths of the others (${usual.length})`), BW.listed(usual, telling, 30)) : null) : null,
      lists] };
  };

  const elsewhere = async function (table, row) {
    const found = [];
    for (const head of BW.tables()) {
      if (head.id === table.id || BW.tables().length > 40) continue;
      const other = await BW.load("table-" + head.id);
      for (const one of other.rows.filter((each) => each.model === row.model)) {
        found.push(el("li", null, el("a", { href: BW.modelAddress(other, one) }, other.title), `: ${BW.percent(one.score)} % `, el("span", { class: "muted" }, one.own ? "own" : "imported")));
      }
    }
    BW.fill("elsewhere", found.length ? [el("h2", null, "In other tables"), el("ul", null, found)] : null);
  };

  const show = async function () {
    const [id, start] = BW.route();
    const head = BW.tableOf(id);
    if (!head) {
      if (id) throw new Error("There is no such table in this site; choose a model in the leaderboard.");
      return;
    }
    const table = await BW.load("table-" + id);
    const place = BW.findRow(table, start);
    if (place < 0) throw new Error(`There is no such entry in the table ${table.title}; choose a model in the leaderboard.`);
    const row = table.rows[place];
    document.title = BW.rowName(row);
    const neighbour = table.rows[place > 0 ? place - 1 : 1];
    const parts = [
      el("h1", null, BW.rowName(row)),
      el("p", null, el("a", { href: `index.html#t=${table.id}` }, table.title), " ", BW.badges(table, row)),
      tiles(table, row),
      facts(table, row),
      (row.flags || []).map((i) => table.flags[i]).filter((flag) => flag.name !== "import").map((flag) => el("p", null, BW.flag(flag.name), " ", flag.text)),
      table.warnings.map((one) => el("p", { class: "muted" }, BW.warning(one))),
      neighbour && table.outcomes ? el("p", null, el("a", { href: `compare.html#t=${table.id}&a=${encodeURIComponent(row.entry.slice(0, 16))}&b=${encodeURIComponent(neighbour.entry.slice(0, 16))}` }, `Compare with ${BW.rowName(neighbour)}`)) : null,
    ];
    if (table.outcomes) {
      const matrix = await BW.matrix(id);
      const line = matrix.rows.indexOf(place);
      if (line >= 0) {
        const problems = await BW.load("problems-" + head.problems_in);
        const made = tasks(table, matrix, line);
        const groups = Object.entries(problems.groups).map(([title, group]) => [title.toLowerCase(), breakdown(matrix, made.codes, problems, title, group)]).filter(([, made]) => made);
        const about = `Weakest first, where groups have no order of their own; those of fewer than ${problems.small} tasks last. n counts tasks with a score.`;
        parts.push(groups.length ? [el("h2", null, `Scores by ${listed(groups.map(([title]) => title))}`), el("p", { class: "muted" }, about), el("div", { class: "columns" }, groups.map(([, group]) => group))] : null, el("h2", null, "Tasks"), made.parts);
      }
    }
    BW.fill("content", parts, el("section", { id: "elsewhere" }));
    document.body.dataset.shown = row.entry;
    await elsewhere(table, row);
  };

  BW.page(show);
})();
