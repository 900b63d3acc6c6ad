// Models × tasks on a canvas that draws only what is in sight.  One pixel per cell is painted once per ordering; the
// browser scales the part in sight, so that 200 × 1,140 cells and more scroll without delay.
(function () {
  "use strict";
  const { el, id } = BW;
  const TOP = 34; // strip with the share of models that solve each task
  const ROW = 13; // least height of a row: names must stay legible
  const view = { table: null, matrix: null, rows: [], tasks: [], cursor: null, image: null, width: 1, height: ROW, gutter: 200 };

  const colourOf = (name) => BW.colour(name).match(/[\d.]+/g).slice(0, 3).map(Number);

  // --- what is drawn ------------------------------------------------------------------------------------------------

  const colours = function () {
    const [solved, unsolved, fault, none] = ["solved", "unsolved", "fault", "none"].map(colourOf);
    return view.matrix.palette.map(function ([scored, passed, faults]) {
      if (!scored) return faults ? fault : none;
      return solved.map((part, i) => (part * passed + unsolved[i] * (scored - passed)) / scored);
    });
  };

  const count = function () {
    const { matrix } = view;
    const shares = BW.shares(matrix.palette);
    const width = matrix.problems.length;
    view.solvers = new Float64Array(width);
    view.asked = new Uint32Array(width);
    view.means = new Float64Array(matrix.rows.length);
    view.samples = new Uint32Array(width);
    view.passed = new Uint32Array(width);
    for (let row = 0; row < matrix.rows.length; row++) {
      let scored = 0;
      for (let i = 0; i < width; i++) {
        const share = shares[matrix.codes[row * width + i]];
        if (share === null) continue;
        scored += 1;
        const [samples, passed] = matrix.palette[matrix.codes[row * width + i]];
        view.samples[i] += samples;
        view.passed[i] += passed;
        view.asked[i] += 1;
        view.solvers[i] += share;
        view.means[row] += share;
      }
      view.means[row] /= scored || 1;
    }
  };

  const order = function () {
    const { matrix, table } = view;
    const name = (row) => BW.rowName(table.rows[matrix.rows[row]]);
    view.rows = [...matrix.rows.keys()].sort((a, b) => (id("rows").value === "name" ? name(a).localeCompare(name(b)) : view.means[b] - view.means[a] || a - b));
    const share = (task) => (view.asked[task] ? view.solvers[task] / view.asked[task] : 0);
    view.tasks = [...matrix.problems.keys()];
    if (id("tasks").value === "share") view.tasks.sort((a, b) => share(b) - share(a) || a - b);
    view.share = share;
  };

  // Cells per pixel column when there are more tasks than pixels: their mean colour.
  const paint = function () {
    const { matrix, rows, tasks } = view;
    const columns = Math.min(tasks.length, Math.max(1, Math.ceil(tasks.length * view.width)));
    const canvas = el("canvas");
    canvas.width = columns;
    canvas.height = rows.length;
    const context = canvas.getContext("2d");
    const image = context.createImageData(columns, rows.length);
    const palette = colours();
    for (let y = 0; y < rows.length; y++) {
      const start = rows[y] * tasks.length;
      for (let x = 0; x < columns; x++) {
        const from = Math.floor((x * tasks.length) / columns);
        const to = Math.max(from + 1, Math.floor(((x + 1) * tasks.length) / columns));
        let [red, green, blue] = [0, 0, 0];
        for (let i = from; i < to; i++) {
          const colour = palette[matrix.codes[start + tasks[i]]];
          red += colour[0];
          green += colour[1];
          blue += colour[2];
        }
        const place = 4 * (y * columns + x);
        image.data[place] = red / (to - from);
        image.data[place + 1] = green / (to - from);
        image.data[place + 2] = blue / (to - from);
        image.data[place + 3] = 255;
      }
    }
    context.putImageData(image, 0, 0);
    view.image = canvas;
  };

  const measure = function () {
    const map = id("map");
    view.gutter = map.clientWidth < 520 ? 122 : map.clientWidth < 900 ? 200 : 270;
    const room = Math.max(60, map.clientWidth - view.gutter);
    const wanted = Number(id("cell").value);
    view.width = wanted || Math.min(24, room / view.tasks.length);
    view.height = Math.max(ROW, view.width);
    const extent = id("extent");
    extent.style.width = Math.round(view.gutter + view.width * view.tasks.length) + "px";
    extent.style.height = Math.round(TOP + view.height * view.rows.length) + "px";
    map.style.maxHeight = Math.round(TOP + view.height * view.rows.length + 20) + "px";
  };

  const labels = function (context, first, last, text, muted) {
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    const room = view.gutter - 46;
    for (let y = first; y < last; y++) {
      const row = view.rows[y];
      const middle = TOP + y * view.height - id("map").scrollTop + view.height / 2;
      let name = BW.rowName(view.table.rows[view.matrix.rows[row]]);
      if (context.measureText(name).width > room) {
        name = name.slice(0, 60);
        while (name.length > 1 && context.measureText(name + "…").width > room) name = name.slice(0, -1);
        name += "…";
      }
      context.fillStyle = text;
      context.textAlign = "left";
      context.fillText(name, 4, middle);
      context.fillStyle = muted;
      context.textAlign = "right";
      context.fillText(BW.percent(view.means[row]), view.gutter - 6, middle);
    }
  };

  const strip = function (context, wide, left, muted, bar) {
    context.fillStyle = bar;
    for (let x = 0; x < wide - view.gutter; x++) {
      const task = view.tasks[Math.floor((x + left) / view.width)];
      if (task === undefined) break;
      const high = view.share(task) * (TOP - 8);
      context.fillRect(view.gutter + x, TOP - 3 - high, 1, high);
    }
    context.fillStyle = muted;
    context.font = "11px system-ui, sans-serif";
    context.textAlign = "right";
    context.textBaseline = "middle";
    context.fillText(view.gutter > 150 ? "share that solves the task" : "solve share", view.gutter - 6, TOP / 2);
  };

  const draw = function () {
    view.waiting = false;
    const map = id("map");
    const canvas = id("canvas");
    const [wide, high] = [map.clientWidth, Math.min(map.clientHeight, TOP + Math.ceil(view.height * view.rows.length))];
    const dense = window.devicePixelRatio || 1;
    canvas.width = Math.round(wide * dense);
    canvas.height = Math.round(high * dense);
    canvas.style.width = wide + "px";
    canvas.style.height = high + "px";
    const context = canvas.getContext("2d");
    context.scale(dense, dense);
    const { text, muted, ground, focus } = view.look;
    context.fillStyle = ground;
    context.fillRect(0, 0, wide, high);
    const [left, top] = [map.scrollLeft, map.scrollTop];
    const first = Math.floor(top / view.height);
    const last = Math.min(view.rows.length, Math.ceil((top + high - TOP) / view.height));
    context.save();
    context.beginPath();
    context.rect(view.gutter, TOP, wide - view.gutter, high - TOP);
    context.clip();
    context.imageSmoothingEnabled = false;
    context.drawImage(view.image, 0, first, view.image.width, last - first, view.gutter - left, TOP + first * view.height - top, view.width * view.tasks.length, (last - first) * view.height);
    context.fillStyle = ground;
    for (let y = first; y <= last; y++) context.fillRect(view.gutter, TOP + y * view.height - top - 0.5, wide, 1);
    if (view.width >= 8) {
      for (let x = Math.floor(left / view.width); x * view.width < left + wide; x++) context.fillRect(view.gutter + x * view.width - left - 0.5, TOP, 1, high);
    }
    if (view.cursor) {
      context.strokeStyle = focus;
      context.lineWidth = 2;
      const size = Math.max(5, view.width);
      const x = view.gutter + view.cursor.x * view.width - left - (size - view.width) / 2;
      context.strokeRect(x, TOP + view.cursor.y * view.height - top, size, view.height);
    }
    context.restore();
    context.save();
    context.beginPath();
    context.rect(0, TOP, view.gutter, high - TOP);
    context.clip();
    labels(context, first, last, text, muted);
    context.restore();
    strip(context, wide, left, muted, view.look.bar);
    map.dataset.drawn = String(view.rows.length * view.tasks.length);
  };

  const redraw = function () {
    if (view.waiting || !view.image) return;
    view.waiting = true;
    window.requestAnimationFrame(draw);
  };

  // --- what is said -------------------------------------------------------------------------------------------------

  const tell = function (aloud) {
    const { x, y } = view.cursor;
    const { matrix, table } = view;
    const task = view.tasks[x];
    const row = table.rows[matrix.rows[view.rows[y]]];
    const counts = matrix.palette[matrix.codes[view.rows[y] * matrix.problems.length + task]];
    const width = matrix.problems.length;
    const solvers = BW.solvedBy(matrix.rows.map((_, i) => matrix.palette[matrix.codes[i * width + task]]));
    BW.fill("cell-text", el("a", { href: BW.modelAddress(table, row) }, BW.rowName(row)), " on ", el("a", { href: BW.taskAddress(table.benchmark, matrix.problems[task]) }, matrix.problems[task]), ": ", el("b", { class: "outcome " + BW.outcomeClass(counts) }, BW.outcomeWord(counts)), ". ", el("span", { class: "muted" }, solvers + "."));
    if (aloud) BW.say(`${BW.rowName(row)}, ${matrix.problems[task]}: ${BW.outcomeWord(counts)}. ${solvers}.`);
    redraw();
  };

  const inSight = function () {
    const map = id("map");
    const { x, y } = view.cursor;
    const [wide, high] = [map.clientWidth - view.gutter, map.clientHeight - TOP];
    map.scrollLeft = Math.max(Math.min(map.scrollLeft, x * view.width), (x + 1) * view.width - wide);
    map.scrollTop = Math.max(Math.min(map.scrollTop, y * view.height), (y + 1) * view.height - high);
  };

  const move = function (event) {
    const page = Math.max(1, Math.floor((id("map").clientHeight - TOP) / view.height) - 1);
    const cursor = view.cursor || { x: 0, y: 0 };
    const last = { x: view.tasks.length - 1, y: view.rows.length - 1 };
    const to = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1], PageUp: [0, -page], PageDown: [0, page], Home: [-last.x, 0], End: [last.x, 0] }[event.key];
    if (event.key === "Enter" && view.cursor) window.location.href = BW.taskAddress(view.table.benchmark, view.matrix.problems[view.tasks[cursor.x]]);
    if (!to || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    const start = view.cursor ? to : [0, 0]; // the first key only shows where the cursor is
    view.cursor = { x: Math.max(0, Math.min(last.x, cursor.x + start[0])), y: Math.max(0, Math.min(last.y, cursor.y + start[1])) };
    inSight();
    tell(true);
  };

  const point = function (event) {
    const box = id("canvas").getBoundingClientRect();
    const x = Math.floor((event.clientX - box.left - view.gutter + id("map").scrollLeft) / view.width);
    const y = Math.floor((event.clientY - box.top - TOP + id("map").scrollTop) / view.height);
    const inside = event.clientX - box.left >= view.gutter && event.clientY - box.top >= TOP;
    if (!inside || x < 0 || y < 0 || x >= view.tasks.length || y >= view.rows.length) return;
    if (view.cursor && view.cursor.x === x && view.cursor.y === y) return;
    view.cursor = { x: x, y: y };
    tell(false);
  };

  const legend = function () {
    const kinds = new Set(view.matrix.palette.map(BW.outcomeClass));
    const words = { solved: "solved", partly: "partly solved", unsolved: "not solved", fault: "unscored: fault on the grader's side", none: "not asked" };
    const used = new Uint8Array(view.matrix.palette.length);
    for (const code of view.matrix.codes) used[code] = 1;
    const seen = new Set(view.matrix.palette.filter((_, code) => used[code]).map(BW.outcomeClass));
    BW.fill("legend", Object.entries(words).filter(([kind]) => kinds.has(kind) && seen.has(kind)).map(([kind, word]) => el("span", { class: "outcome " + kind }, word)), el("span", { class: "muted" }, `${BW.count(view.matrix.rows.length)} models × ${BW.count(view.matrix.problems.length)} tasks`));
  };

  const numbers = function () {
    const { matrix, tasks, table } = view;
    const many = matrix.palette.some(([scored]) => scored > 1);
    const line = (task) => el("tr", null, el("th", { scope: "row" }, el("a", { href: BW.taskAddress(table.benchmark, matrix.problems[task]) }, matrix.problems[task])), el("td", { class: "number" }, BW.count(many ? view.passed[task] : view.solvers[task])), el("td", { class: "number" }, BW.count(many ? view.samples[task] : view.asked[task])), el("td", { class: "number" }, BW.percent(view.share(task))));
    const body = el("tbody", null, tasks.slice(0, 100).map(line));
    const head = el("thead", null, el("tr", null, ["Task", many ? "Samples that pass" : "Models that solve it", "of", many ? "Mean of the models, %" : "%"].map((name, i) => el("th", { scope: "col", class: i ? "number" : null }, name))));
    const box = id("numbers").querySelector(".scroll");
    BW.fill(box, el("table", null, head, body));
    if (tasks.length > 100) {
      const more = el("button", { type: "button", class: "more" }, `Show all ${BW.count(tasks.length)}`);
      more.addEventListener("click", function () {
        BW.add(body, tasks.slice(100).map(line));
        more.remove();
      });
      box.append(more);
    }
  };

  // --- the page -----------------------------------------------------------------------------------------------------

  const look = function () {
    view.look = Object.fromEntries(["text", "muted", "raised", "focus", "bar"].map((name) => [name, BW.colour(name)]));
    view.look.ground = view.look.raised;
  };

  const arrange = function () {
    order();
    measure();
    look();
    paint();
    view.cursor = null;
    BW.fill("cell-text", " ");
    if (id("numbers").open) numbers();
    redraw();
  };

  const show = async function () {
    const state = BW.state();
    const tables = BW.tables().filter((table) => table.outcomes);
    id("none").hidden = tables.length > 0;
    id("content").hidden = !tables.length;
    if (!tables.length) return;
    const head = tables.find((table) => table.id === state.t) || tables[0];
    BW.tableSelect(id("table"), tables, head.id);
    for (const name of ["rows", "tasks", "cell"]) {
      if ([...id(name).options].some((option) => option.value === state[name])) id(name).value = state[name];
    }
    view.table = await BW.load("table-" + head.id);
    view.matrix = await BW.matrix(head.id);
    count();
    legend();
    arrange();
  };

  const keep = () => BW.keep({ t: id("table").value, rows: id("rows").value, tasks: id("tasks").value, cell: id("cell").value });
  id("table").addEventListener("change", function () {
    keep();
    show().catch(BW.failed);
  });
  for (const name of ["rows", "tasks", "cell"]) {
    id(name).addEventListener("change", function () {
      keep();
      arrange();
    });
  }
  const map = id("map");
  map.addEventListener("scroll", redraw, { passive: true });
  map.addEventListener("pointermove", point);
  map.addEventListener("click", point);
  map.addEventListener("keydown", move);
  id("numbers").addEventListener("toggle", () => id("numbers").open && view.matrix && numbers());
  new ResizeObserver(function () {
    if (!view.image || map.clientWidth === view.seen) return;
    view.seen = map.clientWidth;
    measure();
    paint();
    redraw();
  }).observe(map);
  document.addEventListener("themechange", function () {
    if (!view.image) return;
    look();
    paint();
    redraw();
  });
  BW.page(show);
})();
