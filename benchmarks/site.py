"""What a site costs: time and memory of its build, bytes and time of its first view, how fluent the heat map is.

Models of made-up strength answer problems of made-up difficulty; every tenth answer is kept, so that pages of problems
hold some.  The build runs in this process; then a real Chromium opens the pages from files, each several times in a
fresh context, and the median counts.

    python benchmarks/site.py --models 200 --json site-200.json
    python benchmarks/site.py --models 1000 --json site-1000.json
"""

import argparse
import json
import resource
import shutil
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchwright.core.digest import digest_of
from benchwright.core.results import ModelFacts, Origin, ScoredRun, StoredRun, Tally
from benchwright.core.runs import Score
from benchwright.leaderboard.policy import Policy, arrange
from benchwright.leaderboard.ranking import RankOptions, table_of
from benchwright.leaderboard.site.boards import table_id
from benchwright.leaderboard.site.build import build_site
from benchwright.leaderboard.site.model import SiteAnswer, SiteData, SiteOptions

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]
VISITS = 5
PAINT = "performance.getEntriesByName('first-contentful-paint').map(entry => entry.startTime)[0]"
# Milliseconds of every frame while the map is scrolled through in 60 steps, forwards and down.
SCROLL = """() => new Promise((resolve) => {
  const map = document.getElementById('map');
  const frames = [];
  let last = performance.now();
  let step = 0;
  const next = () => {
    const now = performance.now();
    frames.push(now - last);
    last = now;
    if (++step > 60) return resolve(frames.slice(1));
    map.scrollLeft = (map.scrollWidth * step) / 60;
    map.scrollTop = (map.scrollHeight * step) / 60;
    requestAnimationFrame(next);
  };
  requestAnimationFrame(next);
})"""


def runs_of(models: int, problems: int) -> list[ScoredRun]:
    """One sample of every model for every problem, by a logistic chance."""
    rng = np.random.default_rng(0)
    strength, difficulty = rng.normal(size=models), rng.normal(size=problems)
    passed = rng.random((models, problems)) < 1 / (1 + np.exp(difficulty - strength[:, None]))
    tallies = (Tally(scored=1, passed=0), Tally(scored=1, passed=1))
    ids = [f"Task/{number}" for number in range(problems)]
    return [
        _run(model, {name: tallies[int(one)] for name, one in zip(ids, line, strict=True)})
        for model, line in enumerate(passed)
    ]


def _run(model: int, tallies: dict[str, Tally]) -> ScoredRun:
    run = StoredRun(
        entry=digest_of(model),
        run_id=f"run-{model}",
        origin=Origin.OWN,
        benchmark="bigcodebench",
        version="v0.1.4",
        subset="full",
        variant="complete",
        model=f"maker/model-{model}-instruct",
        scores=(Score.CALIBRATED,),
        problems=len(tallies),
        cost=0.1 * (model + 1),
        facts=ModelFacts(released=f"202{4 + model % 3}-0{1 + model % 9}-11", parameters=1.0 + model, open_weights=True),
    )
    return ScoredRun(run=run, score=Score.CALIBRATED, tallies=tallies)


def build(models: int, problems: int, rounds: int, place: Path) -> dict[str, Any]:
    """Rate, then build; seconds of each, and the most memory of the whole."""
    runs = runs_of(models, problems)
    start = time.perf_counter()
    groups = arrange(runs, Policy())
    tables = tuple(table_of(group, RankOptions(title="BigCodeBench", rounds=rounds)) for group in groups)
    rated = time.perf_counter()
    kept = {run.run.entry for run in runs[::10]}
    text = "def task_func(x):\n" + "    x = x + 1\n" * 100
    answer = (SiteAnswer(text=text, outcome="failed", reason="assertion", detail="test_a: AssertionError"),)
    data = SiteData(
        title="Measured",
        tables=tables,
        runs=tuple(runs),
        answers=lambda entry, score, problem: answer if entry in kept else (),
        version="0",
    )
    report = build_site(data, place, SiteOptions())
    return {
        **report.to_plain(),
        "rating_seconds": rated - start,
        "build_seconds": time.perf_counter() - rated,
        "memory_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "table": table_id(tables[0]),
    }


def look(place: Path, table: str) -> dict[str, Any]:
    """What a browser loads and how long it takes."""
    from playwright.sync_api import sync_playwright

    seen: dict[str, Any] = {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
        visits = [_first_view(browser, place) for _ in range(VISITS)]
        seen["bytes_before_data"], seen["bytes_of_data"] = visits[0][:2]
        seen["first_paint_ms"] = statistics.median(visit[2] for visit in visits)
        seen["table_drawn_ms"] = statistics.median(visit[3] for visit in visits)
        page = browser.new_page(viewport={"width": 1280, "height": 850})
        start = time.perf_counter()
        page.goto(f"file://{place}/heatmap.html#cell=9&t={table}")
        while not page.evaluate("document.getElementById('map').dataset.drawn"):
            page.wait_for_timeout(5)
        seen["heat_map_drawn_ms"] = 1000 * (time.perf_counter() - start)
        frames = page.evaluate(SCROLL)
        seen["frame_ms_median"], seen["frame_ms_worst"] = statistics.median(frames), max(frames)
        browser.close()
    return seen


def _first_view(browser: Any, place: Path) -> tuple[int, int, float, float]:
    context = browser.new_context(viewport={"width": 1280, "height": 850})
    page = context.new_page()
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto(f"file://{place}/index.html")
    while not page.evaluate("document.querySelectorAll('#rows tr').length"):
        page.wait_for_timeout(5)
    drawn = page.evaluate("performance.now()")
    while (paint := page.evaluate(PAINT)) is None:  # the browser says when it painted only after it did
        page.wait_for_timeout(5)
    files = [Path(url.removeprefix("file://")) for url in requests if url.startswith("file://")]
    data = sum(file.stat().st_size for file in files if file.parent.name == "data")
    other = sum(file.stat().st_size for file in files if file.parent.name != "data")
    context.close()
    return other, data, paint, drawn


def main() -> None:
    """Build, look, report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=int, default=200)
    parser.add_argument("--problems", type=int, default=1140)
    parser.add_argument("--rounds", type=int, default=500, help="rounds of the ratings' bootstrap")
    parser.add_argument("--no-browser", action="store_true")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "site"
        found = build(options.models, options.problems, options.rounds, place)
        if not options.no_browser:
            found |= look(place, found["table"])
    for name, value in found.items():
        print(f"{name:22} {value:,.1f}" if isinstance(value, float) else f"{name:22} {value}")
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
