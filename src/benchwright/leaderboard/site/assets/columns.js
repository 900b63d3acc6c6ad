// The leaderboard's columns: what each is called, what it sorts by, and what stands in its cells.
(function () {
  "use strict";
  const el = BW.el;
  const muted = (...children) => el("span", { class: "muted" }, children);
  const range = (low, high) => (low === high ? String(low) : `${low}–${high}`);

  const scoreCell = function (table, row) {
    if (row.score === undefined) return "–";
    const found = row.estimate;
    const bar = BW.bar(row.score, found && found.low, found && found.high, 1);
    for (const line of table.references) {
      const tick = el("span", { class: "bar-tick", title: `${line.label}: ${BW.percent(line.value)} %` });
      tick.style.left = 100 * line.value + "%";
      bar.append(tick);
    }
    const parts = [bar, el("span", { class: "figure" }, BW.percent(row.score))];
    if (found) parts.push(muted(BW.interval(found.low, found.high)));
    return el("span", { class: found ? "score" : "score bare" }, parts);
  };

  const modelCell = function (table, row) {
    const name = el("a", { class: "name", href: BW.modelAddress(table, row) }, BW.rowName(row));
    const badges = BW.badges(table, row);
    return [name, badges.length ? el("span", { class: "badges" }, badges) : null];
  };

  const weights = BW.weightsOf;

  const sizeCell = function (row) {
    const { parameters, active_parameters: active } = row.facts || {};
    if (parameters === undefined) return "–";
    return active !== undefined && active !== parameters ? [BW.size(parameters), muted(` (${BW.size(active)} active)`)] : BW.size(parameters);
  };

  const fact = (name) => (row) => (row.facts && row.facts[name] !== undefined ? row.facts[name] : null);
  const plain = (name) => (row) => (row[name] === undefined ? null : row[name]);
  const day = (text) => (text ? text.slice(0, 10) : null);
  const source = (table, row) => (row.own ? "own" : row.source === undefined ? "imported" : BW.sourceName(table.sources[row.source]));

  // Every column that says something about some row; `first` are those shown unless the reader chooses others.
  BW.columns = function (table, places) {
    const others = [...new Set(table.rows.flatMap((row) => Object.keys(row.reported || {})))].filter((name) => name !== table.metric);
    const rated = table.rows.some((row) => row.rank);
    const all = [
      {
        id: "rank", title: rated ? "Rank" : "Place", first: true, narrow: true, number: !rated, ascending: true,
        tip: rated ? "Rank by rating, with the range that the ratings' intervals allow" : "Place by the score alone; nothing here was rated",
        sort: (row) => (row.rank ? row.rank[0] : places.get(row) ?? null),
        cell: (row) => (row.rank ? el("span", { class: "rank" }, el("span", null, String(row.rank[0])), muted(row.rank[1] === row.rank[2] ? null : range(row.rank[1], row.rank[2]))) : String(places.get(row) ?? "–")),
      },
      { id: "model", title: "Model", first: true, narrow: true, ascending: true, header: true, sort: (row) => BW.rowName(row).toLowerCase(), cell: (row) => modelCell(table, row) },
      { id: "score", title: table.metric ? `${table.metric}, %` : "Score, %", first: true, narrow: true, figures: true, tip: "Share of problems solved, with its 95 % interval where there is one", sort: plain("score"), cell: (row) => scoreCell(table, row) },
      {
        id: "rating", title: "Rating", first: true, number: true, tip: table.method || "Rating", sort: (row) => (row.rated ? row.rated[0] : null),
        cell: (row) => (row.rated ? [row.rated[0].toFixed(0), muted(row.held ? " not finite" : ` ${row.rated[1].toFixed(0)}–${row.rated[2].toFixed(0)}`)] : "–"),
      },
      ...others.map((name, place) => ({ id: `reported${place}`, title: `${name}, %`, first: true, number: true, tip: "As the source states it", sort: (row) => (row.reported || {})[name] ?? null, cell: (row) => BW.percent((row.reported || {})[name]) })),
      { id: "solved", title: "Solved", first: true, number: true, tip: "Problems solved, of the problems asked", sort: plain("solved"), cell: (row) => (row.solved === undefined ? "–" : [BW.count(row.solved), muted(row.n ? ` / ${BW.count(row.n)}` : "")]) },
      { id: "scaffold", title: "Scaffold", first: true, ascending: true, sort: plain("scaffold"), cell: (row) => row.scaffold || "–" },
      { id: "size", title: "Size, B", first: true, number: true, tip: "Parameters in billions", sort: fact("parameters"), cell: sizeCell },
      { id: "weights", title: "Weights", first: true, ascending: true, sort: weights, cell: (row) => weights(row) || "–" },
      { id: "released", title: "Released", first: true, number: true, sort: fact("released"), cell: (row) => day(fact("released")(row)) || "–" },
      { id: "cost", title: "Cost, $", first: true, number: true, tip: "US dollars for the model, all runs behind the row", sort: plain("cost"), cell: (row) => (row.cost === undefined ? "–" : BW.money(row.cost)) },
      { id: "faults", title: "Faults", first: true, number: true, tip: "Samples that failed on our side; left out of the score", sort: plain("faults"), cell: (row) => (row.faults ? [String(row.faults), muted(row.worst === undefined ? null : ` ${BW.interval(row.worst, row.best)}`)] : "0") },
      { id: "missing", title: "Missing", first: false, number: true, tip: "Problems without an answer; they count as not solved", sort: plain("missing"), cell: (row) => String(row.missing || 0) },
      { id: "runs", title: "Runs", first: true, number: true, tip: "Runs pooled in the row, and the standard deviation of their scores", sort: plain("runs"), cell: (row) => [String(row.runs || 1), muted(row.spread === undefined ? null : ` ± ${BW.percent(row.spread)}`)] },
      { id: "samples", title: "Samples", first: false, number: true, tip: "Samples for each problem", sort: (row) => (row.estimate ? row.estimate.samples : null), cell: (row) => (row.estimate ? String(row.estimate.samples) : "–") },
      { id: "cutoff", title: "Cut-off", first: false, number: true, tip: "Date up to which the training data reaches", sort: fact("cutoff"), cell: (row) => day(fact("cutoff")(row)) || "–" },
      { id: "data", title: "Open data", first: false, ascending: true, sort: fact("open_data"), cell: (row) => fact("open_data")(row) || "–" },
      { id: "version", title: "Data version", first: false, ascending: true, sort: plain("version"), cell: (row) => row.version || "–" },
      { id: "source", title: "Source", first: false, ascending: true, sort: (row) => source(table, row).toLowerCase(), cell: (row) => source(table, row) },
      { id: "finished", title: "Run ended", first: false, number: true, sort: plain("finished"), cell: (row) => day(row.finished) || "–" },
    ];
    return all.filter((column) => table.rows.some((row) => column.sort(row) !== null));
  };
})();
