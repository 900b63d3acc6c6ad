"""The pages in a real browser: what a reader does with them, and what they must be for every reader."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from browsing import Visitor, addresses, data_of
from site_pieces import site

from benchwright.core.results import Tally
from benchwright.leaderboard.site import charts
from benchwright.leaderboard.site.boards import table_id
from benchwright.leaderboard.site.build import build_site
from benchwright.leaderboard.site.model import SiteData, SiteOptions
from benchwright.leaderboard.site.payload import packed
from benchwright.leaderboard.tables import LeaderboardRow
from benchwright.stats.intervals import expanded_tail, wilson
from benchwright.stats.paired import bonett_price, mcnemar_exact, paired_difference

DATA = site()
IDS = [table_id(table) for table in DATA.tables]


@pytest.fixture(scope="module")
def folder(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built once; needs the browser first so that nothing is built in vain."""
    place = tmp_path_factory.mktemp("site") / "site"
    picture = charts.still_picture(charts.charts(DATA.tables[0], DATA)["ratings"], charts.LIGHT)
    with pytest.MonkeyPatch.context() as patched:  # one picture stands for all: the tests of charts look at each
        patched.setattr(charts, "still_picture", lambda spec, look: picture)
        build_site(DATA, place, SiteOptions())
    return place


@pytest.fixture(scope="module")
def shared(browser: Any, folder: Path) -> Iterator[Visitor]:
    """One window for the tests that change nothing but the address."""
    visitor = Visitor(browser, folder)
    yield visitor
    visitor.context.close()


@pytest.fixture
def visitor(shared: Visitor) -> Iterator[Visitor]:
    """That window; whatever a test does, no page may complain or reach for the network."""
    shared.errors.clear()
    shared.requests.clear()
    yield shared
    shared.check()


def board(visitor: Visitor, state: str = f"t={IDS[0]}") -> Any:
    """The leaderboard, drawn."""
    return visitor.open(f"index.html#{state}", "document.querySelectorAll('#rows tr').length")


def names(page: Any) -> list[str]:
    """Models from top to bottom."""
    return list(page.eval_on_selector_all("#rows .name", "found => found.map(one => one.textContent)"))


KEYS: dict[str, Callable[[LeaderboardRow], Any]] = {
    "rank": lambda row: row.rated and row.rated.rank,
    "model": lambda row: row.model,
    "score": lambda row: row.estimate and row.estimate.value,
    "rating": lambda row: row.rated and row.rated.rating,
    "solved": lambda row: row.solved,
    "size": lambda row: row.facts.parameters,
    "weights": lambda row: "open" if row.facts.open_weights else "closed",
    "released": lambda row: row.facts.released,
    "cost": lambda row: row.cost,
    "faults": lambda row: row.faults or None,
    "scaffold": lambda row: row.scaffold,
    "finished": lambda row: row.finished,
    "missing": lambda row: row.missing or None,
}


def test_every_column_sorts_both_ways(visitor: Visitor) -> None:
    """A click on a head sorts by it, a second one the other way round; what is not known comes last both times."""
    page = board(visitor, f"t={IDS[0]}&cols={','.join(KEYS)}")
    heads = page.eval_on_selector_all("#columns-head th", "found => found.map(one => one.dataset.column)")
    assert set(heads) == set(KEYS)
    by_name = {row.model: row for row in DATA.tables[0].rows}
    for column in heads:
        for _ in range(2):
            page.click(f'#columns-head th[data-column="{column}"] button')
            way = page.get_attribute(f'#columns-head th[data-column="{column}"]', "aria-sort")
            values = [KEYS[column](by_name[name]) for name in names(page)]
            known = [value for value in values if value is not None]
            assert known == sorted(known, reverse=way == "descending"), column
            assert values[: len(known)] == known
        assert page.eval_on_selector_all("th[aria-sort=ascending], th[aria-sort=descending]", "all => all.length") == 1


def test_search_and_filters_narrow_the_table(visitor: Visitor) -> None:
    """Search looks at names and scaffolds, filters at weights and size; clearing brings all back."""
    page = board(visitor)
    page.fill("#q", "MODEL c")
    assert names(page) == ["model c"]
    assert page.text_content("#count") == "1 of 6 models"
    page.fill("#q", "nothing like it")
    assert page.is_visible("#empty")
    page.click("#clear")
    assert len(names(page)) == 6
    page.select_option("#weights", "closed")
    assert set(names(page)) == {row.model for row in DATA.tables[0].rows if row.facts.open_weights is False}
    page.select_option("#weights", "")
    page.select_option("#size", "10")
    assert names(page) == [row.model for row in DATA.tables[0].rows if (row.facts.parameters or 99) <= 10]


def test_a_permalink_brings_everything_back(visitor: Visitor) -> None:
    """Table, sorting, filters and columns are in the address; opening it again shows the same."""
    page = board(visitor)
    page.click('#columns-head th[data-column="cost"] button')
    page.select_option("#weights", "open")
    page.click("summary:has-text('Columns')")
    page.uncheck("#columns input[value=released]")
    page.check("#columns input[value=cutoff]")
    shown, address = page.inner_text("table.board"), page.url
    assert "Cut-off" in shown
    assert "Released" not in shown
    board(visitor, address.partition("#")[2])
    assert page.inner_text("table.board") == shown
    assert page.input_value("#weights") == "open"


def test_tables_say_what_they_are(visitor: Visitor) -> None:
    """Own results are called calibrated, imports carry their source, a table of its own has its reason."""
    page = board(visitor)
    assert "pass@1[calibrated]" in page.inner_text("#columns-head")
    assert page.eval_on_selector_all("#rows .badge.import", "all => all.length") == 0
    page.select_option("#table", IDS[2])
    visitor.wait("document.getElementById('title').textContent.startsWith('SWE')")
    assert "Imported from Their leaderboard, not graded here." in page.inner_text("#sources")
    assert "5 to 10 % are wrong themselves." in page.inner_text("#warnings")
    assert page.eval_on_selector_all("#rows .badge.import", "all => all.length") == 4
    page.select_option("#table", IDS[3])
    visitor.wait("document.getElementById('title').textContent.includes('Their')")
    assert "Numbers alone." in page.inner_text("#reason")
    assert "70.0" in page.inner_text("#rows tr:first-child")
    assert "People solve 97 %." in page.inner_text("#notes")
    shared = "1–2"
    board(visitor)
    assert shared in page.inner_text("#rows tr:first-child .rank")


def pairs() -> list[tuple[int, int, int]]:
    """Table, and two of its rows."""
    greedy = [(0, a, b) for a in range(6) for b in range(6) if a != b and (a + b) % 2]
    return [*greedy, (1, 0, 1), (1, 2, 1), (2, 0, 3)]


def tallies_of(data: SiteData, table: int, row: int) -> dict[str, Tally]:
    """The verdicts behind a row."""
    entry = data.tables[table].rows[row].entry
    return dict(next(run.tallies for run in data.runs if run.run.entry == entry))


def exact_bootstrap(gains: np.ndarray, denominator: int) -> tuple[float, float]:
    """Both ends of the bootstrap's interval with endlessly many rounds, by convolving one draw with itself."""
    whole = np.rint(gains * denominator).astype(int)
    one = np.bincount(whole - whole.min(), minlength=1) / len(whole)
    total = np.array([1.0])
    for _ in range(len(whole)):
        total = np.convolve(total, one)
    below = np.cumsum(total)
    tail = expanded_tail(len(gains), 0.95)
    ends = [int(np.searchsorted(below, share - 1e-12)) for share in (tail, 1 - tail)]
    low, high = ((end + len(whole) * whole.min()) / denominator / len(whole) for end in ends)
    return low, high


def test_comparisons_are_those_of_python(visitor: Visitor) -> None:
    """Difference, p, counts and interval of two models are what benchwright's statistics say of the same verdicts."""
    page = visitor.open(f"compare.html#t={IDS[0]}", "document.body.dataset.compared")
    for table, a, b in pairs():
        if page.input_value("#table") != IDS[table]:
            page.evaluate("delete document.body.dataset.compared")
            page.select_option("#table", IDS[table])
            visitor.wait("document.body.dataset.compared")
        page.select_option("#a", str(a))
        page.select_option("#b", str(b))
        found = page.evaluate("BW.comparison()")
        first, second = tallies_of(DATA, table, a), tallies_of(DATA, table, b)
        common = [p for p in first if p in second and first[p].scored and second[p].scored]
        shares = [np.array([side[p].passed / side[p].scored for p in common]) for side in (first, second)]
        expected = paired_difference(*shares, rng=np.random.default_rng(0), rounds=4000)
        assert found["difference"] == pytest.approx(expected.difference, abs=1e-12)
        assert found["p"] == pytest.approx(expected.p_value, rel=1e-9)
        assert (len(found["onlyA"]), len(found["onlyB"]), found["n"]) == (expected.only_a, expected.only_b, expected.n)
        interval = (found["interval"]["low"], found["interval"]["high"])
        if table == 1:
            assert interval == pytest.approx(exact_bootstrap(shares[0] - shares[1], 20), abs=1e-9)
        assert interval == pytest.approx((expected.low, expected.high), abs=0.02 if table == 1 else 1e-9)
        shown = page.inner_text("#content")
        assert f"{abs(100 * expected.difference):.1f}" in shown
    page.click("#swap")
    assert page.evaluate("BW.comparison().difference") == pytest.approx(-found["difference"])


def test_formulas_in_the_browser_are_those_of_python(visitor: Visitor) -> None:
    """McNemar's exact p and Wilson's interval for many counts, and codes of every width, agree."""
    page = visitor.open(f"compare.html#t={IDS[0]}", "document.body.dataset.compared")
    counts = [(a, b) for a in (0, 1, 3, 10, 57, 400) for b in (0, 1, 2, 9, 60, 500)]
    found = page.evaluate("counts => counts.map(([a, b]) => BW.stats.mcnemar(a, b))", counts)
    assert found == pytest.approx([mcnemar_exact(a, b) for a, b in counts], rel=1e-9)
    found = page.evaluate("counts => counts.map(([a, b]) => Object.values(BW.stats.bonettPrice(a, b, 1140)))", counts)
    assert np.ravel(found) == pytest.approx(np.ravel([bonett_price(a, b, 1140) for a, b in counts]), abs=1e-12)
    sizes = [1, 2, 3, 8, 41, 148, 1140]
    found = page.evaluate("sizes => sizes.map(BW.stats.expandedTail)", sizes)
    assert found == pytest.approx([expanded_tail(n, 0.95) for n in sizes], rel=1e-6)
    shares = [(k, n) for n in (1, 7, 148, 1140) for k in (0, 1, n // 2, n) if k <= n]
    intervals = page.evaluate("shares => shares.map(([k, n]) => BW.stats.wilson(k, n))", shares)
    assert np.ravel(intervals) == pytest.approx(np.ravel([wilson(k, n) for k, n in shares]), abs=1e-12)
    for kinds in (2, 4, 16, 256, 60_000):
        codes = np.random.default_rng(kinds).integers(0, kinds, 37).astype(np.uint16)
        read = page.evaluate("([packed, n]) => [...BW.unpack(packed, n)]", [packed(codes, kinds), len(codes)])
        assert read == codes.tolist()


def test_the_interval_stays_right_for_many_samples(visitor: Visitor) -> None:
    """Where shares have no small common denominator, rounding them moves the interval by less than can be read."""
    page = visitor.open(f"compare.html#t={IDS[0]}", "document.body.dataset.compared")
    rng = np.random.default_rng(5)
    gains = rng.integers(0, 12, 1140) / rng.integers(11, 24, 1140) - rng.integers(0, 12, 1140) / 17
    found = page.evaluate("gains => BW.stats.bootstrapMean(gains, 1e9)", gains.tolist())
    half = 1.959964 * gains.std() / np.sqrt(len(gains))
    assert not found["exact"]
    assert (found["low"], found["high"]) == pytest.approx((gains.mean() - half, gains.mean() + half), abs=0.0015)


PIXELS = """points => {
  const canvas = document.getElementById('canvas');
  const image = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  return points.map(([x, y]) => image.data.slice(4 * (y * canvas.width + x), 4 * (y * canvas.width + x) + 3).join());
}"""


def test_the_heat_map_answers_pointer_and_keys(visitor: Visitor) -> None:
    """Cells have the colour of their outcome, the pointer and the arrow keys say what it is, Enter opens the task."""
    page = visitor.open(
        f"heatmap.html#t={IDS[0]}&cell=16&tasks=id&rows=name", "document.getElementById('map').dataset.drawn"
    )
    assert page.evaluate("document.getElementById('map').dataset.drawn") == str(6 * 40)
    box = page.eval_on_selector("#canvas", "one => { const box = one.getBoundingClientRect(); return [box.x, box.y] }")
    words = {(0, 0, 0): "not asked", (0, 0, 1): "unscored", (1, 0, 0): "not solved", (1, 1, 0): "solved"}
    cells = [(row, column) for row in range(6) for column in (0, 7, 23)]
    points = [(270 + 16 * column + 8, 34 + 16 * row + 8) for row, column in cells]
    colours: dict[tuple[int, int, int], set[str]] = {}
    for (row, column), point, pixel in zip(cells, points, page.evaluate(PIXELS, points), strict=True):
        model = f"model {'abcdef'[row]}"
        place = next(n for n, one in enumerate(DATA.tables[0].rows) if one.model == model)
        tally = tallies_of(DATA, 0, place).get(f"Task/{column}", Tally(scored=0, passed=0))
        counts = (tally.scored, tally.passed, tally.faults)
        colours.setdefault(counts, set()).add(pixel)
        page.mouse.move(box[0] + point[0], box[1] + point[1])
        assert page.inner_text("#cell-text").startswith(f"{model} on Task/{column}: {words[counts]}")
    assert all(len(each) == 1 for each in colours.values())
    assert len({pixel for each in colours.values() for pixel in each}) == len(colours) >= 3
    page.focus("#map")
    for key in ("Home", "ArrowDown", "ArrowRight", "End", "ArrowLeft"):
        page.keyboard.press(key)
    assert "Task/38" in page.inner_text("#said")
    page.keyboard.press("Enter")
    visitor.wait("document.body.dataset.shown === 'Task/38'")


def test_the_text_of_a_cell_is_in_sight(visitor: Visitor) -> None:
    """However low the window is and wherever the map begins, what is said of a cell is inside the window."""
    page = visitor.open(f"heatmap.html#t={IDS[0]}", "document.getElementById('map').dataset.drawn")
    page.set_viewport_size({"width": 1280, "height": 230})
    page.focus("#map")
    page.keyboard.press("ArrowDown")
    page.evaluate("scrollTo(0, document.getElementById('map').getBoundingClientRect().bottom + scrollY - innerHeight)")
    page.keyboard.press("End")
    box = page.locator("#cell-text").bounding_box()
    inside = "(() => { const box = document.getElementById('cell-text').getBoundingClientRect();"
    inside += " return document.elementFromPoint(box.x + 5, box.y + 8).closest('#cell-text') !== null })()"
    assert 0 <= box["y"] < box["y"] + box["height"] <= 230
    assert page.evaluate(inside)
    page.set_viewport_size({"width": 1280, "height": 850})


def test_the_heat_map_has_a_table_beside_it(visitor: Visitor) -> None:
    """Who cannot see the map finds how many models solve each task."""
    page = visitor.open(f"heatmap.html#t={IDS[0]}&tasks=id", "document.getElementById('map').dataset.drawn")
    page.click("#numbers summary")
    page.wait_for_selector("#numbers tbody tr")
    cells = page.eval_on_selector_all(
        "#numbers tbody tr", "all => all.map(one => [...one.cells].map(c => c.textContent))"
    )
    rows = range(len(DATA.tables[0].rows))
    shares = [
        tally.share for row in rows if (tally := tallies_of(DATA, 0, row).get("Task/5")) and tally.share is not None
    ]
    assert len(cells) == 40
    assert cells[5][:3] == ["Task/5", f"{sum(shares):g}", str(len(shares))]


def test_a_model_has_its_page(visitor: Visitor) -> None:
    """Numbers, facts, breakdowns with intervals and every task stand on it, with ways to the other pages."""
    row = DATA.tables[0].rows[0]
    page = visitor.open(f"model.html#/{IDS[0]}/{row.entry[:16]}", "document.body.dataset.shown")
    text = page.inner_text("main")
    assert row.estimate
    assert f"{100 * row.estimate.value:.1f} %" in text
    assert "own: graded with benchwright" in text
    tallies = tallies_of(DATA, 0, 0)
    domain = [t for p, t in tallies.items() if int(p.partition("/")[2]) % 10 and t.scored]
    low, high = wilson(sum(t.passed for t in domain), len(domain))
    assert f"{100 * low:.1f}–{100 * high:.1f}" in text
    assert f"Solved ({sum(t.passed for t in tallies.values())})" in text
    page.wait_for_selector("#elsewhere a")  # the same model answered with several samples elsewhere
    page.click("text=Compare with")
    visitor.wait("document.body.dataset.compared === '0,1'")


def breakdown(page: Any, number: int) -> list[list[str]]:
    """Cells of a breakdown's lines on a model's page."""
    script = "table => [...table.tBodies[0].rows].map(row => [...row.cells].map(cell => cell.textContent))"
    return list(page.locator("table.groups").nth(number).evaluate(script))


def test_breakdowns_begin_with_the_weakest_group_and_sort(visitor: Visitor) -> None:
    """Groups of few tasks come last; a click on a head sorts by it; a repository's difficulties keep their order."""
    entry = DATA.tables[0].rows[0].entry[:16]
    page = visitor.open(f"model.html#/{IDS[0]}/{entry}", "document.body.dataset.shown")
    assert page.locator("h2", has_text="Scores by domain and library").count() == 1
    lines = breakdown(page, 0)
    assert {line[0] for line in lines} == {"Network", "Time", "System"}
    few = [line[3] == "few tasks" for line in lines]
    shares = [float(line[1].partition(".")[0]) for line in lines]
    assert few == [False, True, True]
    assert shares[few.index(True) :] == sorted(shares[few.index(True) :])
    page.click("table.groups >> nth=0 >> button:has-text('Domain')")
    assert [line[0] for line in breakdown(page, 0)] == ["Network", "System", "Time"]
    page.click("table.groups >> nth=0 >> button:has-text('Domain')")
    assert [line[0] for line in breakdown(page, 0)] == ["Time", "System", "Network"]
    assert "Sorted by Domain, descending." in page.inner_text("#said")
    visitor.open(f"model.html#/{IDS[2]}/{DATA.tables[2].rows[0].entry[:16]}", "document.body.dataset.shown")
    assert [line[0] for line in breakdown(page, 0)] == ["<15 min fix", "15 min - 1 hour", "1-4 hours", ">4 hours"]


def test_a_task_has_its_page(visitor: Visitor) -> None:
    """Prompts, who solves it, answers with verdicts and tests, the transcript; the next task is a click away."""
    page = visitor.open("task.html#/bigcodebench/Task/3", "document.body.dataset.shown")
    assert page.locator("h2").all_inner_texts()[:2] == ["Complete prompt", "Instruct prompt"]
    assert page.locator("pre").all_inner_texts()[:2] == ["def task_3():", "Write the function of task 3."]
    rows = range(len(DATA.tables[0].rows))
    solved = [row for row in rows if tallies_of(DATA, 0, row).get("Task/3", Tally(scored=0, passed=0)).passed]
    assert f"Solved by ({len(solved)})" in page.inner_text("main")
    page.click(".answer summary")
    page.wait_for_selector(".answer[open] pre")
    answer = page.inner_text(".answer[open]")
    assert "return 'Task/3'" in answer
    assert "1 of 2 tests passed" in answer
    assert page.get_attribute(".answer[open] a", "href") == "https://example.org/log"
    page.click("text=→")
    visitor.wait("document.body.dataset.shown === 'Task/4'")


@pytest.mark.parametrize("text", ["Task/9", "task/9", "9"])
def test_a_task_is_found_by_its_number(visitor: Visitor, text: str) -> None:
    """The id's last part is enough, and letters' case does not matter."""
    page = visitor.open("task.html#/bigcodebench/Task/3", "document.body.dataset.shown")
    page.fill("#task", text)
    page.keyboard.press("Enter")
    visitor.wait("document.body.dataset.shown === 'Task/9'")


def test_several_tasks_that_fit_are_listed(visitor: Visitor) -> None:
    """Part of an id finds all tasks that have it, each a click away; what nothing fits is said."""
    page = visitor.open("task.html#/bigcodebench/Task/3", "document.body.dataset.shown")
    page.fill("#task", "sk/3")
    page.keyboard.press("Enter")
    visitor.wait("document.querySelector('h1').textContent === 'Tasks'")
    assert page.locator(".ids a").all_inner_texts() == ["Task/3", *(f"Task/{n}" for n in range(30, 40))]
    assert "11 tasks of bigcodebench fit “sk/3”." in page.inner_text("#said")
    page.click(".ids a >> nth=0")  # the very task whose page was left
    visitor.wait("document.querySelector('h1').textContent === 'Task/3'")
    page.fill("#task", "nothing like it")
    page.keyboard.press("Enter")
    visitor.wait("document.querySelector('#content .problem')")


def test_several_samples_are_not_models(visitor: Visitor) -> None:
    """Where models answered several times, samples are counted, and how many models solve a task at least once."""
    page = visitor.open("task.html#/bigcodebench/Task/3", "document.body.dataset.shown")
    rows = [tallies_of(DATA, 1, row)["Task/3"] for row in range(3)]
    passed, samples = sum(one.passed for one in rows), sum(one.scored for one in rows)
    once = sum(one.passed > 0 for one in rows)
    assert f"Solved in {passed} of {samples} samples" in page.inner_text("main")
    assert f"at least once by {once} of 3 models" in page.inner_text("main")
    said = page.evaluate("[[[3, 1, 0]], [[1, 1, 0]], [[1, 1, 0], [1, 0, 0], [0, 0, 1]], [[0, 0, 1]]].map(BW.solvedBy)")
    assert said == [
        "Solved in 1 of 3 samples (33.3 %)",
        "1 of 1 model solves it (100.0 %)",
        "1 of 2 models solve it (50.0 %)",
        "No answer to it counts",
    ]


def test_addresses_that_name_nothing_say_so(visitor: Visitor) -> None:
    """A wrong link gives a sentence, not an empty page."""
    for address in (f"model.html#/{IDS[0]}/nobody", "model.html#/nothing/x", "task.html#/bigcodebench/Task/999"):
        page = visitor.open(address, "document.querySelector('[role=alert]')")
        assert "There is no such" in page.inner_text("[role=alert]") or "no task" in page.inner_text("[role=alert]")


def test_charts_are_drawn_in_the_theme_of_the_page(visitor: Visitor) -> None:
    """Every chart that has its numbers is a picture with a text and a table; changing the theme draws it anew."""
    page = visitor.open(f"charts.html#t={IDS[0]}", "document.body.dataset.drawn")
    drawn = page.eval_on_selector_all(".chart:not([hidden]) svg[role=img]", "all => all.map(one => one.ariaLabel)")
    assert [label.partition(":")[0] for label in drawn] == [
        "Ratings",
        "Score by release date",
        "Score by size",
        "Score by cost",
    ]
    page.evaluate("delete document.body.dataset.drawn")
    before = page.inner_html("#size .drawing")
    page.click("#theme")
    visitor.wait("document.body.dataset.drawn")
    assert page.inner_html("#size .drawing") != before
    page.click("#size summary")
    page.wait_for_selector("#size tbody tr")
    assert page.eval_on_selector_all("#size tbody tr", "all => all.length") == 5  # the size of one is not known
    page.click("#theme")


# Names in a chart, and how many of its points each lies over.
OVERLAPS = """kind => {
  const boxes = selector => [...document.querySelectorAll(`#${kind} .drawing ${selector}`)];
  const points = boxes('g.mark-symbol path[aria-label]').map(one => one.getBoundingClientRect());
  const names = boxes('g.mark-text text').filter(one => one.textContent.startsWith('model'));
  const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  return names.map(one => points.filter(point => meet(point, one.getBoundingClientRect())).length);
}"""


def test_no_name_in_a_chart_lies_over_a_point(visitor: Visitor) -> None:
    """As the browser lays texts out, names of the front are clear of all points, on a wide screen and on a phone."""
    page = visitor.open(f"charts.html#t={IDS[0]}", "document.body.dataset.drawn")
    for width in (1280, 375):
        page.set_viewport_size({"width": width, "height": 850})
        page.evaluate("delete document.body.dataset.drawn; document.dispatchEvent(new Event('themechange'))")
        visitor.wait("document.body.dataset.drawn")
        found = [page.evaluate(OVERLAPS, kind) for kind in ("date", "size", "cost")]
        assert all(found)  # each has a name
        assert {count for counts in found for count in counts} == {0}
    page.set_viewport_size({"width": 1280, "height": 850})


def test_the_theme_can_be_switched_and_is_kept(browser: Any, folder: Path) -> None:
    """The page starts in the system's theme; the reader's choice goes along to the other pages."""
    visitor = Visitor(browser, folder, color_scheme="dark")
    page = board(visitor)
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.click("#theme")
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert dark != light
    visitor.open("methods.html")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == light
    visitor.check()
    visitor.context.close()


# Ratio of the colours of every visible text and of what lies behind it, by WCAG 2.2's formula; texts on images and
# canvases have no ground that could be asked.
CONTRAST = """() => {
  const channel = (c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  const parse = (text) => (text.match(/[\\d.]+/g) || [0, 0, 0, 0]).map(Number);
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const ground = (one) => {
    for (; one; one = one.parentElement) {
      const colour = parse(getComputedStyle(one).backgroundColor);
      if (colour.length < 4 || colour[3] > 0) return colour;
    }
    return [255, 255, 255];
  };
  const low = [];
  const walker = document.createTreeWalker(document.querySelector('body'), NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const one = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || one.closest('script, noscript, option, .unseen, .skip')) continue;
    if (!one.checkVisibility()) continue;
    const style = getComputedStyle(one);
    const fore = light(parse(one.closest('svg') ? style.fill : style.color));
    const back = light(ground(one));
    const ratio = (Math.max(fore, back) + 0.05) / (Math.min(fore, back) + 0.05);
    if (ratio < 4.5) low.push(`${walker.currentNode.textContent.trim().slice(0, 30)} ${ratio.toFixed(2)}`);
  }
  return [...new Set(low)];
}"""


# Controls without a name, pictures without a text, several or no main headings.
NAMELESS = """() => {
  const label = (one) => one.labels && one.labels.length && one.labels[0].textContent.trim();
  const given = (one) => one.getAttribute('aria-label') || one.getAttribute('aria-labelledby') || one.alt;
  const name = (one) => given(one) || label(one) || one.textContent.trim();
  const used = 'button, select, input, a[href], img, [role=img], [tabindex="0"]:not(pre)';
  const found = [...document.querySelectorAll(used)]
    .filter((one) => one.checkVisibility() && !name(one)).map((one) => one.outerHTML.slice(0, 80));
  if (document.querySelectorAll('h1').length !== 1) found.push('not one h1');
  if (!document.documentElement.lang) found.push('no language');
  for (const one of document.querySelectorAll('th:not([scope])')) found.push('head without scope: ' + one.textContent);
  return found;
}"""


class Findings(NamedTuple):
    """What was found on all pages, by page; empty where all is well."""

    nameless: dict[str, list[str]]
    pale: dict[str, list[str]]
    """In light colours."""
    pale_in_dark: dict[str, list[str]]
    wide: dict[str, int]
    """On a phone."""


@pytest.fixture(scope="module")
def findings(browser: Any, folder: Path) -> Findings:
    """One visit to every page, with everything opened that can be: in light, in dark, on a phone."""
    visitor = Visitor(browser, folder, color_scheme="light")
    found = Findings({}, {}, {}, {})
    for name, (address, ready) in addresses(folder).items():
        page = visitor.open(address, ready)
        page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        found.nameless[name] = page.evaluate(NAMELESS)
        found.pale[name] = page.evaluate(CONTRAST)
        page.evaluate("delete document.body.dataset.drawn")
        page.emulate_media(color_scheme="dark")
        if name.startswith("charts"):
            visitor.wait("document.body.dataset.drawn")
        found.pale_in_dark[name] = page.evaluate(CONTRAST)
        page.set_viewport_size({"width": 375, "height": 740})
        found.wide[name] = max(375, page.evaluate("document.documentElement.scrollWidth"))
        page.set_viewport_size({"width": 1280, "height": 850})
        page.emulate_media(color_scheme="light")
    visitor.check()
    visitor.context.close()
    return found


def test_everything_that_can_be_used_has_a_name(findings: Findings) -> None:
    """A screen reader can say what each control and picture is; table heads say what they are heads of."""
    assert {name: found for name, found in findings.nameless.items() if found} == {}


@pytest.mark.parametrize("scheme", ["pale", "pale_in_dark"])
def test_every_text_has_enough_contrast(findings: Findings, scheme: str) -> None:
    """Each text reaches the ratio of 4.5 that WCAG asks for at level AA, in both themes."""
    assert {name: found for name, found in getattr(findings, scheme).items() if found} == {}


def test_no_page_is_wider_than_a_phone(findings: Findings) -> None:
    """At 375 pixels no page scrolls sideways, whatever is on it."""
    assert {name: width for name, width in findings.wide.items() if width > 375} == {}


# Words in heads of tables that stand on more than one line.
BROKEN = """() => [...document.querySelectorAll('thead th')].flatMap(head => {
  const walker = document.createTreeWalker(head, NodeFilter.SHOW_TEXT);
  const broken = [];
  while (walker.nextNode()) {
    for (const word of walker.currentNode.textContent.matchAll(/\\S+/g)) {
      const range = document.createRange();
      range.setStart(walker.currentNode, word.index);
      range.setEnd(walker.currentNode, word.index + word[0].length);
      if (new Set([...range.getClientRects()].map(one => one.top)).size > 1) broken.push(word[0]);
    }
  }
  return broken;
})"""


def test_a_phone_shows_the_columns_that_fit(browser: Any, folder: Path) -> None:
    """On a phone the leaderboard begins with rank, model and score, and nothing has to be scrolled sideways.

    Whatever columns are chosen, no word in their heads is broken.
    """
    visitor = Visitor(browser, folder, viewport={"width": 375, "height": 740})
    page = board(visitor)
    heads = page.eval_on_selector_all("#columns-head th", "found => found.map(one => one.dataset.column)")
    assert heads == ["rank", "model", "score"]
    assert page.evaluate(
        "document.querySelector('.scroll').scrollWidth <= document.querySelector('.scroll').clientWidth"
    )
    visitor.open(f"compare.html#t={IDS[2]}", "document.body.dataset.compared")
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    board(visitor, f"t={IDS[0]}&cols={','.join(KEYS)}")
    assert page.evaluate(BROKEN) == []
    visitor.open("methods.html")
    assert page.evaluate(BROKEN) == []
    visitor.check()
    visitor.context.close()


def test_the_keyboard_alone_is_enough(visitor: Visitor) -> None:
    """The first key jumps over the header, what has the focus shows it, and a head sorts on Enter without losing it."""
    page = board(visitor)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.closest('th')?.dataset.column") == "score":
            break
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    page.keyboard.press("Enter")
    assert outline == "solid"
    assert page.evaluate("document.activeElement.closest('th').ariaSort") == "descending"
    assert "Sorted by pass@1[calibrated], %" in page.inner_text("#said")


def test_without_scripts_the_numbers_are_there(browser: Any, folder: Path) -> None:
    """Who has no JavaScript reads the tables in short and sees the charts of the first one as pictures."""
    visitor = Visitor(browser, folder, java_script_enabled=False)
    page = visitor.open("index.html")
    assert page.locator("noscript tr").count() == 4 + sum(len(table.rows) for table in DATA.tables)
    visitor.open("charts.html")
    assert page.locator("#ratings img.only-light").evaluate("one => one.complete && one.naturalWidth > 100")
    visitor.context.close()


def test_the_first_view_is_small(folder: Path, visitor: Visitor) -> None:
    """What the leaderboard loads besides its data is far below the 500 kB that are allowed."""
    board(visitor)
    own = [url for url in visitor.requests if "/data/" not in url and url.startswith("file://")]
    size = sum(len(Path(url.removeprefix("file://").partition("#")[0]).read_bytes()) for url in own)
    assert not any("vega" in url for url in own)
    assert size < 120_000
    assert data_of(folder, "index")["title"] == "Our leaderboards"
