// Charts of a table, drawn by Vega from specifications made with the site.
(function () {
  "use strict";
  const { el, id } = BW;
  const FIRST = 40; // as in charts.py
  const WIDTHS = [860, 560, 220]; // as in chart_names.py
  const view = { charts: null, all: false };

  const dressed = function (spec, colours) {
    const dress = function (value, key) {
      if (Array.isArray(value)) return value.map((each) => (key === "range" && each in colours ? colours[each] : dress(each, "")));
      if (value && typeof value === "object") {
        return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, name === "data" ? each : dress(each, name)]));
      }
      return key === "color" && value in colours ? colours[value] : value;
    };
    return dress(spec, "");
  };

  // The spot of a point's name in the widest drawing that has room here; see chart_names.py.
  const withName = function (point, width) {
    const place = (point.names || {})[WIDTHS.find((least) => least <= width)];
    return { ...point, name: place || null };
  };

  const draw = async function (kind, spec) {
    const place = document.querySelector(`#${kind} .drawing`);
    const look = view.charts.looks[BW.dark() ? "dark" : "light"];
    const values = spec.data.values;
    const cut = kind === "ratings" && !view.all && values.length > FIRST;
    const shown = { ...dressed(spec, look.colours), config: look.config };
    if (place.clientWidth < 560) shown.config = { ...look.config, axisY: { ...look.config.axisY, labelLimit: 130 }, legend: { ...look.config.legend, columns: kind === "ratings" ? 1 : undefined } };
    // Names stand left of the ratings; on a phone both get narrower, so that nothing needs to be scrolled.
    const room = place.clientWidth;
    shown.width = kind === "ratings" ? Math.max(120, Math.min(760, room - (room < 560 ? 165 : 290))) : Math.max(220, Math.min(860, room - 70));
    if (cut) shown.data = { values: values.slice(0, FIRST) };
    else if (kind !== "ratings") {
      shown.data = { values: values.map((one) => withName(one, shown.width)) };
      const used = new Set(shown.data.values.map((one) => one.name && "names_" + one.name.replaceAll("-", "_")));
      shown.layer = shown.layer.filter((layer) => !(layer.name || "").startsWith("names_") || used.has(layer.name)); // Vega warns of empty ones
    }
    // Structured clones, since Vega adds to what it is given; its expressions are interpreted, so no script is made.
    const canvas = el("div");
    await window.vegaEmbed(canvas, JSON.parse(JSON.stringify(shown)), { actions: false, renderer: "svg", ast: true, tooltip: { theme: "custom" } });
    const drawn = canvas.querySelector("svg");
    drawn.setAttribute("role", "img");
    drawn.setAttribute("aria-label", `${document.querySelector(`#${kind} h2`).textContent}: ${values.length} models; the numbers are in the table below.`);
    const parts = [canvas];
    if (kind === "ratings" && values.length > FIRST) {
      const button = el("button", { type: "button", class: "more" }, cut ? `Show all ${values.length}` : `Show the first ${FIRST}`);
      button.addEventListener("click", function () {
        view.all = !view.all;
        draw(kind, spec).catch(BW.failed);
      });
      parts.push(el("div", null, button));
    }
    BW.fill(place, parts);
    if (kind === "ratings") {
      const rated = values.some((one) => one.rank);
      id("ratings-head").textContent = rated ? "Ratings" : "Scores";
      document.querySelector("#ratings > p").hidden = !rated;
    }
    numbers(kind, spec);
  };

  const numbers = function (kind, spec) {
    const x = { ratings: null, date: "Released", size: "Parameters, B", cost: "Cost, $" }[kind];
    const box = document.querySelector(`#${kind} .numbers`);
    const fill = function () {
      const head = ["Model", x || (spec.data.values.some((one) => one.rank) ? "Rating" : "Score, %"), "Interval", "Score, %", "Weights", "On the front"].filter((name) => !(name === "On the front" && !x) && !(name === "Interval" && x));
      const line = (one) => el("tr", null, el("th", { scope: "row" }, one.model), el("td", { class: "number" }, String(one.x)), x ? null : el("td", { class: "number" }, one.low === undefined ? "–" : `${one.low}–${one.high}`), el("td", { class: "number" }, one.score.toFixed(1)), el("td", null, one.weights), x ? el("td", null, one.front ? "yes" : "") : null);
      BW.fill(box.querySelector(".scroll"), el("table", null, el("thead", null, el("tr", null, head.map((name) => el("th", { scope: "col" }, name)))), el("tbody", null, spec.data.values.map(line))));
    };
    box.ontoggle = () => box.open && fill();
    if (box.open) fill();
  };

  const show = async function () {
    const state = BW.state();
    const table = BW.tableOf(state.t) || BW.tables().find((one) => one.charts.length) || BW.tables()[0];
    if (!table) return;
    BW.tableSelect(id("table"), BW.tables().filter((one) => one.charts.length), table.id);
    const still = BW.tables().find((one) => one.charts.length);
    if (table !== still) for (const picture of document.querySelectorAll(".drawing img")) picture.remove();
    view.charts = await BW.load("charts-" + table.id);
    for (const section of document.querySelectorAll(".chart")) section.hidden = !(section.id in view.charts.specs);
    id("none").hidden = table.charts.length > 0;
    id("none").textContent = `${table.title} has no numbers that could be drawn.`;
    for (const [kind, spec] of Object.entries(view.charts.specs)) await draw(kind, spec);
    document.body.dataset.drawn = table.id;
  };

  id("table").addEventListener("change", function () {
    BW.keep({ t: id("table").value });
    view.all = false;
    show().catch(BW.failed);
  });
  document.addEventListener("themechange", () => show().catch(BW.failed));
  BW.page(show);
})();
