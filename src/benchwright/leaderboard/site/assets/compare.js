// Two models on the same problems: how far apart, how sure, and where.
(function () {
  "use strict";
  const { el, id, tile } = BW;
  const view = { table: null, matrix: null };

  const drawn = function (name, attributes, ...children) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  };

  // The difference and its interval against zero.
  const scale = function (found) {
    const { low, high } = found.interval;
    const most = Math.max(0.05, Math.abs(low), Math.abs(high), Math.abs(found.difference)) * 1.15;
    const x = (value) => 310 + (value / most) * 290;
    const text = (at, said) => drawn("text", { x: at, y: 52, fill: "var(--muted)", "font-size": 12, "text-anchor": "middle" }, said);
    return drawn("svg", { viewBox: "0 0 620 58", class: "line-scale", role: "img", "aria-label": `Difference ${BW.signed(found.difference)} points, interval ${BW.signed(low)} to ${BW.signed(high)}` },
      drawn("line", { x1: 10, x2: 610, y1: 36, y2: 36, stroke: "var(--rule)" }),
      drawn("line", { x1: 310, x2: 310, y1: 6, y2: 40, stroke: "var(--edge)", "stroke-dasharray": "3 3" }),
      drawn("line", { x1: x(low), x2: x(high), y1: 20, y2: 20, stroke: "var(--accent)", "stroke-width": 3 }),
      drawn("circle", { cx: x(found.difference), cy: 20, r: 6, fill: "var(--accent)" }),
      text(310, "0"), text(x(-most) + 46, "B is better"), text(x(most) - 46, "A is better"));
  };

  // In the words of bw compare, with the models' names.
  const sentence = function (found, a, b) {
    const { low, high } = found.interval;
    const n = BW.count(found.n);
    if (!found.onlyA.length && !found.onlyB.length) return `No difference shown at n = ${n} (no problem came out differently).`;
    const about = `95 % interval ${BW.signed(low)} to ${BW.signed(high)}, p = ${BW.pValue(found.p)}`;
    if (low <= 0 && high >= 0) return `No difference shown at n = ${n}: A minus B is ${BW.signed(found.difference)} points (${about}). That is not the same as there being none.`;
    const doubt = found.p >= 0.05 ? " The exact test alone would not show it." : "";
    const [better, worse] = low > 0 ? [a, b] : [b, a];
    return `${better} solves ${BW.percent(Math.abs(found.difference))} points more than ${worse} (A minus B: ${about}, n = ${n}).${doubt}`;
  };

  const tasks = (places) => BW.listed(places, (place) => el("li", null, el("a", { href: BW.taskAddress(view.table.benchmark, view.matrix.problems[place]) }, view.matrix.problems[place])));

  const result = function (a, b) {
    const { table, matrix } = view;
    const [rowA, rowB] = [table.rows[matrix.rows[a]], table.rows[matrix.rows[b]]];
    const [nameA, nameB] = [BW.rowName(rowA), BW.rowName(rowB)];
    const found = BW.stats.compare(matrix, a, b);
    view.found = found;
    const names = el("p", null, el("b", null, "A "), el("a", { href: BW.modelAddress(table, rowA) }, nameA), " ", BW.badges(table, rowA), el("br"), el("b", null, "B "), el("a", { href: BW.modelAddress(table, rowB) }, nameB), " ", BW.badges(table, rowB));
    if (!found.n) return [names, el("p", { class: "problem" }, "There is no problem that counts for both.")];
    const alone = found.samples === 1 ? "solves alone" : "is ahead on";
    const cells = found.samples === 1 ? [["Both solve", found.both], ["Neither solves", found.neither]] : [["Both always solve", found.both], ["Both never solve", found.neither], ["Equal in part", found.tied]];
    return [
      names,
      el("p", { class: "sentence" }, sentence(found, nameA, nameB)),
      el("div", { class: "tiles" },
        tile(`${BW.percent(found.meanA)} %`, "A"), tile(`${BW.percent(found.meanB)} %`, "B"),
        tile(BW.signed(found.difference), `points, 95 % interval ${BW.signed(found.interval.low)} to ${BW.signed(found.interval.high)}`),
        tile(BW.pValue(found.p), found.samples === 1 ? "p, exact McNemar" : "p, sign test"), tile(BW.count(found.n), "problems for both")),
      scale(found),
      el("ul", null, cells.map(([what, count]) => el("li", null, `${what}: ${BW.count(count)}`)), found.leftOut ? el("li", null, `Left out, not asked or unscored on one side: ${BW.count(found.leftOut)}`) : null),
      table.warnings.map((one) => el("p", { class: "muted" }, BW.warning(one))),
      el("div", { class: "columns" },
        el("section", null, el("h2", null, `A ${alone} (${found.onlyA.length})`), tasks(found.onlyA)),
        el("section", null, el("h2", null, `B ${alone} (${found.onlyB.length})`), tasks(found.onlyB))),
    ];
  };

  const choice = function (select, place) {
    const { table, matrix } = view;
    BW.fill(select, matrix.rows.map((row, i) => BW.option(String(i), BW.rowName(table.rows[row]), i === place)));
  };

  const place = function (start, otherwise) {
    const row = BW.findRow(view.table, start);
    const found = view.matrix.rows.indexOf(row);
    return row >= 0 && found >= 0 ? found : otherwise;
  };

  const compare = function () {
    const [a, b] = [Number(id("a").value), Number(id("b").value)];
    const entry = (i) => view.table.rows[view.matrix.rows[i]].entry.slice(0, 16);
    BW.keep({ t: view.table.id, a: entry(a), b: entry(b) });
    BW.fill("content", result(a, b));
    document.body.dataset.compared = `${a},${b}`;
  };

  const show = async function () {
    const state = BW.state();
    const tables = BW.tables().filter((table) => table.outcomes > 1);
    id("none").hidden = tables.length > 0;
    for (const name of ["table", "a", "b", "swap"]) id(name).disabled = !tables.length;
    if (!tables.length) return;
    const head = tables.find((table) => table.id === state.t) || tables[0];
    BW.tableSelect(id("table"), tables, head.id);
    view.table = await BW.load("table-" + head.id);
    view.matrix = await BW.matrix(head.id);
    const a = place(state.a, 0);
    choice(id("a"), a);
    choice(id("b"), place(state.b, a === 0 ? 1 : 0));
    compare();
  };

  BW.comparison = () => view.found; // for tests and for readers' own calculations in the console
  id("table").addEventListener("change", function () {
    BW.keep({ t: id("table").value });
    show().catch(BW.failed);
  });
  for (const name of ["a", "b"]) id(name).addEventListener("change", compare);
  id("swap").addEventListener("click", function () {
    [id("a").value, id("b").value] = [id("b").value, id("a").value];
    compare();
  });
  BW.page(show);
})();
