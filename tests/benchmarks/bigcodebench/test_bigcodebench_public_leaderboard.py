"""The public leaderboards: every score as the source states it, and nothing else."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.benchmarks.bigcodebench.public_leaderboard import (
    PublicLeaderboard,
    looks_like_leaderboard,
    read_leaderboard,
    subset_in_name,
    weights_are_public,
)
from benchwright.core.errors import UsageError
from benchwright.core.results import ModelFacts


def entry(complete: Any = 61.1, instruct: Any = 51.1, **others: Any) -> dict[str, Any]:
    """A model of the leaderboard."""
    return {"pass@1": {"complete": complete, "instruct": instruct}, **others}


def read(tmp_path: Path, content: Any) -> PublicLeaderboard:
    """The leaderboard of a file with this content."""
    path = tmp_path / "leaderboard-full.json"
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return read_leaderboard(path)


def test_scores_are_shares_of_what_the_source_has_in_percent(tmp_path: Path) -> None:
    """61.1 is 0.611 and not a neighbour of it; null is no score, and which are null is told."""
    found = read(tmp_path, {"m": entry(), "base": entry(instruct=None)})
    assert found.models[0].scores == {"complete": 0.611, "instruct": 0.511}
    assert found.models[1].scores == {"complete": 0.611}
    assert found.without_score == ("base (instruct)",)


def test_facts_are_those_of_the_source(tmp_path: Path) -> None:
    """Size and active parameters in billions, date, openness of the data, prompted."""
    facts = {"link": "https://huggingface.co/o/m", "date": "2024-05-13", "size": 176, "act_param": 44}
    found = read(tmp_path, {"m": entry(**facts, **{"open-data": "Partial", "prompted": True, "moe": True})})
    assert found.models[0].facts == ModelFacts(
        link="https://huggingface.co/o/m",
        released="2024-05-13",
        parameters=176.0,
        active_parameters=44.0,
        open_weights=True,
        open_data="Partial",
        instruction_tuned=True,
    )


@pytest.mark.parametrize(
    ("link", "public"),
    [
        ("https://huggingface.co/bigcode/starcoder2-3b", True),
        ("https://hf.co/o/m/tree/main", True),
        ("https://huggingface.co/spaces/o/m", None),
        ("https://huggingface.co/bigcode", None),
        ("https://huggingface.co.example.org/o/m", None),
        ("https://openai.com/index/hello-gpt-4o/", None),
        ("", None),
    ],
)
def test_weights_are_public_where_the_link_is_a_model_on_the_hub(link: str, public: bool | None) -> None:
    """Nothing is concluded from other links: neither open nor closed."""
    assert weights_are_public(link) is public


@pytest.mark.parametrize("link", ["javascript:alert(1)", "o/m", "http://[x", "data:text/html,x", "//host/x"])
def test_links_that_are_no_web_addresses_are_left_out_and_told(tmp_path: Path, link: str) -> None:
    """A page must not offer them to click on."""
    found = read(tmp_path, {"m": entry(link=link)})
    assert found.models[0].facts.link == ""
    assert found.odd_links == ("m",)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"m": entry(0.611, 0.511)}, "these look like shares"),
        ({"m": entry(101)}, "expected a percentage up to 100"),
        ({"m": entry(-1)}, "expected a number from 0"),
        (b'{"m": {"pass@1": {"complete": NaN}}}', "expected a number from 0"),
        (b'{"m": {"pass@1": {"complete": 1e999}}}', "expected a number from 0"),
        ({"m": entry("61.1")}, "is a string"),
        ({"m": entry(None, None)}, "holds no score"),
        ({"m": {"pass@1": {"full": 3}}}, "has 'full'; expected complete and instruct"),
        ({"m": {"pass@1": 61.1}}, "pass@1 is a number"),
        ({"m": 61.1}, "pass@1 is a number"),
        ([entry()], "is a list; expected an object"),
        ({}, "names no model"),
        ({"a\0": entry()}, "no control characters"),
        ({"x" * 10_000: entry()}, "10,000 characters"),
        (b'{"m": {"pass@1": {"complete": 1}}, "m": {}}', "stands twice"),
        ({"m": entry(date="May 2024")}, "expected a day"),
        ({"m": entry(size="7B")}, "the size is a string"),
        ({"m": entry(prompted="yes")}, "prompted is a string"),
        ({"m": entry(link={"a": 1})}, "the link is an object"),
        (b"[" * 100_000, "not usable JSON"),
    ],
)
def test_other_content_is_refused_in_one_sentence(tmp_path: Path, content: Any, message: str) -> None:
    """Shares for percentages, impossible numbers, other shapes: the user reads which and where."""
    with pytest.raises(UsageError) as caught:
        read(tmp_path, content)
    assert message in str(caught.value)
    assert len(str(caught.value)) < 600


@given(st.floats(1.01, 100))
def test_a_share_is_the_percentage_over_100(tmp_path_factory: pytest.TempPathFactory, percent: float) -> None:
    """To eight digits, for any score."""
    path = tmp_path_factory.getbasetemp() / "one.json"
    path.write_text(json.dumps({"m": entry(percent)}), encoding="utf-8")
    share = read_leaderboard(path).models[0].scores["complete"]
    assert share == pytest.approx(percent / 100, abs=1e-8)
    assert 0 <= share <= 1


def test_the_form_is_known_by_its_first_model() -> None:
    """Other result files are not taken for leaderboards."""
    assert looks_like_leaderboard({"m": entry()})
    assert not any(map(looks_like_leaderboard, ({}, [], {"i": ["x"]}, {"eval": {"t": []}}, {"m": 1}, None)))


def test_the_subset_is_in_the_file_s_name() -> None:
    """Full or hard as a word of its own."""
    names = ("leaderboard-hard.json", "results.hard.json", "full_x.json", "hardly.json", "results.json")
    assert [subset_in_name(Path(name)) for name in names] == ["hard", "hard", "full", None, None]


def test_the_real_leaderboards(real_data: Path) -> None:
    """202 models each; GPT-4o of May 2024 has 61.1 on Complete and 51.1 on Instruct, as the site shows."""
    full, hard = (read_leaderboard(real_data / f"leaderboard-{subset}.json") for subset in ("full", "hard"))
    assert len(full.models) == len(hard.models) == 202
    assert [sum(len(model.scores) for model in board.models) for board in (full, hard)] == [279, 372]
    gpt = next(model for model in full.models if model.name == "GPT-4o-2024-05-13")
    assert gpt.scores == {"complete": 0.611, "instruct": 0.511}
    assert gpt.facts.released == "2024-05-13"
    assert gpt.facts.open_weights is None
    assert sum(model.facts.open_weights is True for model in full.models) == 144
