// What all pages share.  Data may hold anybody's text: it becomes text nodes and attributes, never markup.
(function () {
  "use strict";
  const BW = window.BW;
  window.BW_DATA = window.BW_DATA || {};

  // --- elements ---------------------------------------------------------------------------------------------------

  // el("a", {href: "x", class: "y", onclick: f}, "text", element, null, [more])
  BW.el = function (tag, attributes, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value === null || value === undefined || value === false) continue;
      if (typeof value === "function") made.addEventListener(name.slice(2), value);
      else made.setAttribute(name, value === true ? "" : String(value));
    }
    BW.add(made, children);
    return made;
  };

  BW.add = function (parent, children) {
    for (const child of children.flat(Infinity)) {
      if (child !== null && child !== undefined && child !== false) parent.append(child); // strings become text nodes
    }
    return parent;
  };

  BW.id = (name) => document.getElementById(name);

  BW.fill = function (id, ...children) {
    const place = typeof id === "string" ? BW.id(id) : id;
    place.replaceChildren();
    return BW.add(place, children);
  };

  // A link if the address is one of the web, the bare text otherwise (javascript:, data: and the like).
  BW.outside = function (text, address) {
    let url = null;
    try {
      url = new URL(address);
    } catch (error) {
      return text;
    }
    if (url.protocol !== "http:" && url.protocol !== "https:") return text;
    return BW.el("a", { href: url.href, rel: "noopener noreferrer nofollow", class: "outside" }, text);
  };

  // --- data -------------------------------------------------------------------------------------------------------

  const waiting = {};
  // The data of that name; file names are digests and numbers that the site itself made.
  BW.load = function (name) {
    if (name in window.BW_DATA) return Promise.resolve(window.BW_DATA[name]);
    waiting[name] =
      waiting[name] ||
      new Promise(function (resolve, reject) {
        const script = document.createElement("script");
        script.src = "data/" + name + ".js";
        script.onload = () => resolve(window.BW_DATA[name]);
        script.onerror = () => reject(new Error("The file data/" + name + ".js is missing; build the site again."));
        document.head.append(script);
      });
    return waiting[name];
  };

  BW.tables = () => window.BW_DATA["index"].tables;
  BW.tableOf = (id) => BW.tables().find((table) => table.id === id);
  BW.rowName = (row) => row.label || row.model;
  BW.findRow = (table, start) => table.rows.findIndex((row) => start && row.entry.startsWith(start));

  BW.weightsOf = (row) => (row.facts && "open_weights" in row.facts ? (row.facts.open_weights ? "open" : "closed") : null);

  // Counts' code of every cell, a row per model.
  BW.unpack = function (packed, cells) {
    const text = atob(packed.data);
    const codes = packed.bits === 16 ? new Uint16Array(cells) : new Uint8Array(cells);
    if (packed.bits === 16) {
      for (let i = 0; i < cells; i++) codes[i] = text.charCodeAt(2 * i) | (text.charCodeAt(2 * i + 1) << 8);
    } else {
      const each = 8 / packed.bits;
      const mask = (1 << packed.bits) - 1;
      for (let i = 0; i < cells; i++) codes[i] = (text.charCodeAt((i / each) | 0) >> ((i % each) * packed.bits)) & mask;
    }
    return codes;
  };

  BW.matrix = async function (id) {
    const packed = await BW.load("matrix-" + id);
    if (!packed.codes) packed.codes = BW.unpack(packed, packed.rows.length * packed.problems.length);
    return packed;
  };

  // Share of passing samples by code; null where nothing counts.
  BW.shares = (palette) => palette.map(([scored, passed]) => (scored ? passed / scored : null));

  BW.outcomeWord = function ([scored, passed, faults]) {
    if (!scored) return faults ? "unscored: our fault" : "not asked";
    if (scored === 1 && !faults) return passed ? "solved" : "not solved";
    const fault = faults ? `, ${faults} unscored` : "";
    return `${passed} of ${scored} solved${fault}`;
  };

  // Half a sentence on who solves a problem, from the counts of every model.
  BW.solvedBy = function (counts) {
    const counting = counts.filter(([scored]) => scored);
    const models = counting.length;
    if (!models) return "No answer to it counts";
    const samples = counting.reduce((sum, [scored]) => sum + scored, 0);
    const passed = counting.reduce((sum, one) => sum + one[1], 0);
    const mean = BW.percent(counting.reduce((sum, one) => sum + one[1] / one[0], 0) / models);
    if (samples === models) return `${passed} of ${models} ${models === 1 ? "model solves" : "models solve"} it (${mean} %)`;
    const all = `Solved in ${BW.count(passed)} of ${BW.count(samples)} samples`;
    if (models === 1) return `${all} (${mean} %)`;
    return `${all} (mean of the models: ${mean} %), at least once by ${counting.filter((one) => one[1]).length} of ${models} models`;
  };

  BW.outcomeClass = function ([scored, passed, faults]) {
    if (!scored) return faults ? "fault" : "none";
    return passed === scored ? "solved" : passed ? "partly" : "unsolved";
  };

  // --- numbers and dates --------------------------------------------------------------------------------------------

  BW.percent = (value, digits = 1) => (value === null || value === undefined ? "–" : (100 * value).toFixed(digits));
  BW.signed = function (value) {
    const text = (100 * value).toFixed(1);
    return text === "-0.0" || text === "0.0" ? "0.0" : value > 0 ? "+" + text : "−" + text.slice(1);
  };
  BW.count = (value) => value.toLocaleString("en-US");
  BW.pValue = (p) => (p === 1 ? "1" : p >= 0.01 ? p.toFixed(2) : p.toPrecision(1).replace("e-", " × 10^−"));
  BW.money = (value) => (value >= 100 ? value.toFixed(0) : value >= 1 ? value.toFixed(2) : value.toPrecision(2));
  BW.size = (value) => (value >= 10 ? value.toFixed(0) : String(Number(value.toPrecision(2))));

  // --- addresses ----------------------------------------------------------------------------------------------------

  BW.state = function () {
    const state = {};
    for (const [name, value] of new URLSearchParams(window.location.hash.slice(1))) state[name] = value;
    return state;
  };
  // Without an entry in the history: going back leaves the page, as readers expect of a filter.
  BW.keep = function (state) {
    const kept = new URLSearchParams();
    for (const [name, value] of Object.entries(state)) if (value !== "" && value !== null && value !== undefined) kept.set(name, value);
    const text = kept.toString();
    window.history.replaceState(null, "", text ? "#" + text : window.location.pathname + window.location.search);
  };
  BW.modelAddress = (table, row) => `model.html#/${table.id}/${encodeURIComponent(row.entry.slice(0, 16))}`;
  BW.taskAddress = (benchmark, problem) =>
    `task.html#/${encodeURIComponent(benchmark)}/${problem.split("/").map(encodeURIComponent).join("/")}`;
  BW.route = function () {
    const text = window.location.hash;
    if (!text.startsWith("#/")) return [];
    try {
      return text.slice(2).split("/").map(decodeURIComponent);
    } catch (error) {
      return []; // a broken escape names nothing
    }
  };

  // --- shared pieces of pages ---------------------------------------------------------------------------------------

  BW.say = function (text) {
    BW.id("said").textContent = text;
  };

  BW.option = (value, text, selected) => BW.el("option", { value: value, selected: selected }, text);

  BW.tableSelect = function (select, tables, chosen) {
    BW.fill(select, tables.map((table) => BW.option(table.id, `${table.title} (${BW.count(table.models)})`, table.id === chosen)));
  };

  // Long names of metrics may be parted before their bracket, and nowhere else.
  BW.breakable = (text) => text.split(/(?=\[)/).flatMap((part, i) => (i ? [BW.el("wbr"), part] : [part]));

  // What columns sort by: numbers, or names in the order of the numbers in them.
  BW.compare = (a, b) => (typeof a === "string" ? a.localeCompare(b, "en", { numeric: true }) : a - b);

  // The head of a column, whose button sorts: now.column is sorted by, now.up from low to high.
  BW.columnHead = function (column, now, order) {
    const sort = column === now.column ? (now.up ? "ascending" : "descending") : "none";
    const button = BW.el("button", { type: "button", title: column.tip, onclick: () => order(column, sort) }, BW.breakable(column.title), BW.el("span", { class: "arrow", "aria-hidden": "true" }));
    return BW.el("th", { scope: "col", "data-column": column.id, class: column.number ? "number" : null, "aria-sort": sort }, button);
  };

  BW.tile = (big, what) => BW.el("div", { class: "tile" }, BW.el("span", { class: "big" }, big), BW.el("span", { class: "what" }, what));

  BW.warning = (one) => [one.text, " (", BW.outside("source", one.url), ")"];

  BW.sourceName = (source) => (source.of ? `${source.title} (${source.of})` : source.title);

  // Marks that a reader must see with a name: where it comes from, and what is odd about it.
  BW.badges = function (table, row) {
    const made = [];
    if (!row.own) {
      const source = row.source === undefined ? null : table.sources[row.source];
      const alone = table.imported && new Set(table.sources.map((one) => one.title)).size === 1; // then the page says once where all come from
      made.push(badge("import", source && !alone ? source.title : "imported", source ? `Imported from ${BW.sourceName(source)}. ${source.note}` : "Imported."));
    }
    for (const index of row.flags || []) {
      const flag = table.flags[index];
      const everywhere = table.rows.length > 1 && table.shared.includes(index); // said once, beside the table
      if (flag.name !== "import" && !everywhere) made.push(BW.flag(flag.name, flag.text));
    }
    return made;
  };
  const badge = (kind, text, title) => BW.el("span", { class: "badge " + kind, title: title }, text);
  BW.flag = (name, text) => badge("flag", name.replaceAll("_", " "), text);

  BW.interval = (low, high) => `${BW.percent(low)}–${BW.percent(high)}`;

  // A bar with its interval, drawn to scale; decoration, since the numbers stand beside it.
  BW.bar = function (value, low, high, top) {
    const place = (share) => Math.max(0, Math.min(100, (100 * share) / top)).toFixed(2) + "%";
    const fill = BW.el("span", { class: "bar-fill" });
    fill.style.width = place(value);
    const parts = [fill];
    if (low !== undefined && low !== null) {
      const whisker = BW.el("span", { class: "bar-whisker" });
      whisker.style.left = place(low);
      whisker.style.width = `calc(${place(high)} - ${place(low)})`;
      parts.push(whisker);
    }
    return BW.el("span", { class: "bar", "aria-hidden": "true" }, parts);
  };

  // Lists that may be long show their beginning and a button.
  BW.listed = function (items, make, first = 60) {
    const list = BW.el("ul", { class: "ids" });
    BW.add(list, items.slice(0, first).map(make));
    if (items.length <= first) return [list];
    const more = BW.el("button", { type: "button", class: "more" }, `Show all ${BW.count(items.length)}`);
    more.addEventListener("click", function () {
      BW.add(list, items.slice(first).map(make));
      more.remove();
    });
    return [list, more];
  };

  BW.colour = function (name) {
    const probe = BW.el("span", { hidden: true });
    probe.style.color = `var(--${name})`;
    document.body.append(probe);
    const value = window.getComputedStyle(probe).color;
    probe.remove();
    return value;
  };

  BW.failed = function (error) {
    BW.fill("content", BW.el("p", { class: "problem", role: "alert" }, error.message));
  };

  // Runs a page again whenever the address names something else.
  BW.page = function (show) {
    const run = () => Promise.resolve().then(show).catch(BW.failed);
    window.addEventListener("hashchange", run);
    run();
  };
})();
