// The leaderboard: choose a table, filter, sort, choose columns; the address keeps all of it.
(function () {
  "use strict";
  const { el, id } = BW;
  const view = { table: null, columns: [], shown: [], lines: new Map(), state: {} };
  const CHUNK = 250; // rows drawn before the browser paints again

  const first = function () {
    const narrow = window.matchMedia("(max-width: 640px)").matches;
    return view.columns.filter((column) => column.first && (!narrow || column.narrow)).map((column) => column.id);
  };

  const chosen = function () {
    const wanted = view.state.cols ? view.state.cols.split(",") : first();
    return view.columns.filter((column) => column.id === "model" || wanted.includes(column.id));
  };

  const sorting = function () {
    const [name, way] = (view.state.sort || "").split(":");
    const column = view.columns.find((one) => one.id === name);
    if (column) return { column: column, up: way === "up" };
    const usual = view.columns.find((one) => one.id === "rank") || view.columns.find((one) => one.id === "score");
    return { column: usual, up: usual.id === "rank" };
  };

  const sorted = function (rows) {
    const { column, up } = sorting();
    const keys = new Map(rows.map((row) => [row, column.sort(row)]));
    return [...rows].sort(function (x, y) {
      const [a, b] = [keys.get(x), keys.get(y)];
      if (a === null || b === null) return (a === null) - (b === null); // unknown comes last either way
      return up ? BW.compare(a, b) : BW.compare(b, a);
    });
  };

  const text = (row) => [row.model, row.label, row.scaffold].filter(Boolean).join(" ").toLowerCase();

  const kept = function (row) {
    const { q, origin, weights, size } = view.state;
    if (q && !q.toLowerCase().split(/\s+/).every((word) => text(row).includes(word))) return false;
    if (origin && (origin === "own") !== row.own) return false;
    if (weights && BW.weightsOf(row) !== weights) return false;
    if (size && !((row.facts || {}).parameters <= Number(size))) return false;
    return true;
  };

  const head = function () {
    const now = sorting();
    return el("tr", null, chosen().map((column) => BW.columnHead(column, now, order)));
  };

  const line = function (row) {
    if (!view.lines.has(row)) {
      const cells = chosen().map(function (column) {
        const about = { "data-column": column.id, class: column.number ? "number" : null };
        return column.header ? el("th", { scope: "row", ...about }, column.cell(row)) : el("td", about, column.cell(row));
      });
      view.lines.set(row, el("tr", null, cells));
    }
    return view.lines.get(row);
  };

  let drawing = 0;
  const draw = function () {
    const rows = sorted(view.table.rows.filter(kept));
    const body = id("rows");
    id("columns-head").replaceChildren(head());
    const turn = ++drawing;
    body.replaceChildren(...rows.slice(0, CHUNK).map(line));
    const rest = function (start) {
      if (turn !== drawing || start >= rows.length) return;
      body.append(...rows.slice(start, start + CHUNK).map(line));
      window.requestAnimationFrame(() => rest(start + CHUNK));
    };
    window.requestAnimationFrame(() => rest(CHUNK));
    const all = view.table.rows.length;
    const words = all === 1 ? "1 model" : `${BW.count(all)} models`;
    const count = rows.length === all ? words : `${BW.count(rows.length)} of ${words}`;
    id("count").textContent = count;
    id("empty").hidden = rows.length > 0;
    id("clear").hidden = !["q", "origin", "weights", "size"].some((name) => view.state[name]);
  };

  const changed = function (values) {
    Object.assign(view.state, values);
    BW.keep(view.state);
    draw();
  };

  const order = function (column, sort) {
    const up = sort === "none" ? Boolean(column.ascending) : sort === "descending";
    changed({ sort: `${column.id}:${up ? "up" : "down"}` });
    const button = document.querySelector(`#columns-head th[data-column="${column.id}"] button`);
    button.focus();
    BW.say(`Sorted by ${column.title}, ${up ? "ascending" : "descending"}.`);
  };

  const columnChoice = function () {
    const now = new Set(chosen().map((column) => column.id));
    BW.fill("columns", view.columns.filter((column) => column.id !== "model").map(function (column) {
      const box = el("input", { type: "checkbox", value: column.id, checked: now.has(column.id), onchange: choose });
      return el("label", { title: column.tip }, box, column.title);
    }));
  };

  const choose = function () {
    const wanted = [...document.querySelectorAll("#columns input:checked")].map((box) => box.value);
    view.lines.clear();
    changed({ cols: wanted.join(",") || "model" });
  };

  const about = function () {
    const table = view.table;
    const known = table.references.map((one) => el("li", null, one.text, " Source: ", BW.outside(one.source, one.url), "."));
    const notes = [...table.notes, table.method, table.anchor && `Anchor of the ratings: ${table.anchor}.`].filter(Boolean);
    id("title").textContent = table.title;
    BW.fill("warnings", table.warnings.map((one) => el("li", null, BW.warning(one))));
    BW.fill("reason", table.reason ? ["A table of its own: ", table.reason] : null);
    const shared = table.rows.length > 1 ? table.shared.map((i) => table.flags[i]).filter((flag) => flag.name !== "import") : [];
    BW.fill("shared", shared.map((flag) => el("li", null, "All rows: ", BW.flag(flag.name), " ", flag.text)));
    BW.fill("sources", bySaid(table.sources).map(imported));
    BW.fill("notes", known, notes.map((note) => el("li", null, note)));
    // One line for each kind of flag: what differs from row to row stands with the row, and on the model's page.
    const kinds = new Map();
    for (const flag of table.flags.filter((one) => one.name !== "import")) kinds.set(flag.name, [...(kinds.get(flag.name) || []), flag.text]);
    BW.fill("flags", [...kinds].map(([name, texts]) => [el("dt", null, BW.flag(name)), el("dd", null, texts[0], texts.length > 1 ? el("span", { class: "muted" }, ` For one of the rows; others differ in their numbers or dates, as their pages say.`) : null)]));
    id("flags-box").hidden = !table.flags.some((flag) => flag.name !== "import");
    id("caption").textContent = `${table.title}: models by ${table.metric || "score"}. Buttons in the column heads sort.`;
    for (const [name, page] of [["to-heatmap", "heatmap.html"], ["to-compare", "compare.html"]]) {
      id(name).hidden = !table.outcomes;
      id(name).setAttribute("href", `${page}#t=${table.id}`);
    }
    id("to-charts").setAttribute("href", `charts.html#t=${table.id}`);
    id("for-weights").hidden = !table.rows.some((row) => BW.weightsOf(row));
    id("for-size").hidden = !table.rows.some((row) => (row.facts || {}).parameters !== undefined);
    id("for-origin").hidden = !(table.rows.some((row) => row.own) && table.rows.some((row) => !row.own));
  };

  // Sources of one title of which the same is said, such as one official file for each model.
  const bySaid = function (sources) {
    const groups = new Map();
    for (const source of sources) {
      const key = JSON.stringify([source.title, source.url, source.note]);
      groups.set(key, [...(groups.get(key) || []), source]);
    }
    return [...groups.values()];
  };

  const NAMED = 6; // files of one title that are told by name; the page on methods lists all
  const several = function (sources) {
    const told = sources.map((source) => source.of).filter(Boolean);
    if (!told.length) return null;
    const more = told.length > NAMED ? ` and ${told.length - NAMED} more` : "";
    const named = told.slice(0, NAMED).join(", ") + more;
    return sources.length > 1 ? ` (${sources.length} files: ${named})` : ` (${named})`;
  };

  const imported = ([source, ...others]) => el("li", null, "Imported from ", el("b", null, BW.outside(source.title, source.url)), several([source, ...others]), ", not graded here.", source.note ? el("details", null, el("summary", null, "What the source says, and what was made of it"), source.note) : null);

  const places = function (table) {
    const scored = table.rows.filter((row) => row.score !== undefined);
    const scores = scored.map((row) => row.score).sort((a, b) => b - a);
    return new Map(scored.map((row) => [row, scores.indexOf(row.score) + 1]));
  };

  const show = async function () {
    view.state = BW.state();
    const head = BW.tableOf(view.state.t) || BW.tables()[0];
    if (!head) return;
    view.table = await BW.load("table-" + head.id);
    view.columns = BW.columns(view.table, places(view.table));
    view.lines.clear();
    BW.tableSelect(id("table"), BW.tables(), head.id);
    for (const name of ["q", "origin", "weights", "size"]) id(name).value = view.state[name] || "";
    about();
    columnChoice();
    draw();
    id("board").hidden = false;
  };

  id("table").addEventListener("change", function () {
    BW.keep({ t: id("table").value });
    show().catch(BW.failed);
  });
  id("q").addEventListener("input", () => changed({ q: id("q").value.trim() }));
  for (const name of ["origin", "weights", "size"]) id(name).addEventListener("change", () => changed({ [name]: id(name).value }));
  id("clear").addEventListener("click", function () {
    for (const name of ["q", "origin", "weights", "size"]) id(name).value = "";
    changed({ q: "", origin: "", weights: "", size: "" });
    id("q").focus();
  });
  id("usual").addEventListener("click", function () {
    view.lines.clear();
    changed({ cols: "" });
    columnChoice();
  });
  BW.page(show);
})();
