"""What pages read: scripts that stay data, codes in few bits, outcomes without loss."""

import base64
import json
import re

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from leaderboard_pieces import scored
from site_pieces import HOSTILE, greedy, plain, table

from benchwright.core.results import Tally
from benchwright.core.runs import Score
from benchwright.leaderboard.site.boards import address_of, table_id
from benchwright.leaderboard.site.outcomes import Runs
from benchwright.leaderboard.site.payload import packed, script

ANYTHING = st.text(st.characters(), max_size=30)


def read(content: bytes) -> object:
    """The data in a script, as a browser would have it."""
    found = re.fullmatch(
        r"\(window\.BW_DATA=window\.BW_DATA\|\|\{\}\)\[(\"[^\"]*\")\]=(.*);\n", content.decode(), re.DOTALL
    )
    assert found is not None
    return json.loads(found.group(2))


@given(
    st.dictionaries(
        ANYTHING, st.one_of(ANYTHING, st.integers(), st.none(), st.floats(allow_nan=False, allow_infinity=False))
    )
)
def test_a_script_holds_its_data_and_nothing_else(value: dict[str, object]) -> None:
    """Whatever the texts are, the script is valid UTF-8, has no tag, comment or line end of JavaScript in them."""
    content = script("some-name", value)
    assert read(content) == json.loads(json.dumps(value))
    assert not any(one in content.decode() for one in "<>&\u2028\u2029")


def test_a_lone_surrogate_stays_what_it_is() -> None:
    """Half a character, which answers may hold, is an escape in the script and the same half in the browser."""
    assert read(script("x", ["a\ud800b"])) == ["a\ud800b"]


def test_hostile_text_ends_no_script() -> None:
    """A text with the end of a script element is inside the script's string."""
    assert b"</script" not in script("x", HOSTILE).lower()


@given(
    st.integers(1, 70_000).flatmap(
        lambda kinds: st.tuples(
            st.just(min(kinds, 65_536)), st.lists(st.integers(0, min(kinds, 65_536) - 1), max_size=40)
        )
    )
)
def test_packed_codes_are_found_again(case: tuple[int, list[int]]) -> None:
    """Codes of 1, 2, 4, 8 or 16 bits, lowest bits first."""
    kinds, codes = case
    plain_codes = packed(np.array(codes, dtype=np.uint16), kinds)
    bits, data = plain_codes["bits"], base64.b64decode(plain_codes["data"])
    assert kinds <= 1 << bits
    assert bits == 1 or kinds > 1 << (bits // 2)
    number = int.from_bytes(data, "little")
    assert [(number >> (bits * place)) & ((1 << bits) - 1) for place in range(len(codes))] == codes


def test_outcomes_are_the_tallies() -> None:
    """Every cell's counts are those of the run; a problem that was not asked has no counts."""
    runs = [scored(f"m{n}", tallies) for n, tallies in enumerate(greedy(5, 4, 30))]
    board = table("t", runs, text=plain, metric="pass@1[calibrated]")
    found = Runs(runs).outcomes(board)
    assert found is not None
    tallies = {run.run.entry: run.tallies for run in runs}
    for line, place in enumerate(found.rows):
        for column, problem in enumerate(found.problems):
            tally = tallies[board.rows[place].entry].get(problem, Tally(scored=0, passed=0))
            assert found.palette[found.codes[line, column]] == (tally.scored, tally.passed, tally.faults)


def test_pooled_runs_are_added_up() -> None:
    """A row of two runs has the samples of both."""
    import dataclasses

    runs = [
        scored("m", {"p": Tally(scored=1, passed=1)}),
        scored("m", {"p": Tally(scored=1, passed=0)}, finished="2026"),
    ]
    board = table("t", runs[:1], text=plain, metric="x")
    row = dataclasses.replace(board.rows[0], entries=tuple(run.run.entry for run in runs))
    found = Runs(runs).outcomes(dataclasses.replace(board, rows=(row,)))
    assert found is not None
    assert found.palette[found.codes[0, 0]] == (2, 1, 0)


def test_a_table_without_verdicts_has_no_outcomes() -> None:
    """Rows whose runs are not there make no matrix."""
    runs = [scored("m", [1, 0])]
    board = table("t", runs, text=plain, metric="x")
    assert Runs([]).outcomes(board) is None
    other = [scored("m", [1, 0], Score.EXTRACTED)]
    assert Runs(other).outcomes(board) is None


def test_problems_differ_where_some_do_better() -> None:
    """Equal outcomes, and a problem that counts for one row alone, show no difference."""
    runs = [scored("a", [1, 1, None, 0]), scored("b", [1, 0, 1, 0])]
    found = Runs(runs).outcomes(table("t", runs, text=plain, metric="x"))
    assert found is not None
    assert found.differing().tolist() == [False, True, False, False]


def test_a_table_keeps_its_address_while_its_rows_change() -> None:
    """A permalink outlives new results of the same kind."""
    runs = [scored("a", [1, 0]), scored("b", [1, 1])]
    one, two = (table("t", part, text=plain, metric="x") for part in (runs[:1], runs))
    assert table_id(one) == table_id(two) != table_id(table("other", runs, text=plain, metric="x"))


def test_only_addresses_of_the_web_are_addresses() -> None:
    """Papers on arXiv are found by their number; other sources are no links."""
    assert address_of("arXiv:2406.15877") == "https://arxiv.org/abs/2406.15877"
    assert address_of("https://example.org/x") == "https://example.org/x"
    assert [address_of(text) for text in ("javascript:alert(1)", "arXiv:<b>", "the paper", "")] == ["", "", "", ""]
