"""Whatever JSON a file holds, an import makes runs of it or says in a sentence why not."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchwright.app.importing import ImportOptions, Kind, import_results
from benchwright.core.errors import UsageError
from benchwright.core.runs import Score

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.just("pass")
IDS = st.sampled_from(["BigCodeBench/13", "BigCodeBench/0", "o__r-1", "o__r-2", "x\0", "<b>", ""])
FIELDS = st.sampled_from(["eval", "pass@1", "complete", "status", "details", "link", "date", "size", "task", "samples"])
IN_REPORTS = st.sampled_from(
    ["resolved_ids", "error_ids", "incomplete_ids", "schema_version", "resolved", "tests_status"]
)
DOCUMENTS = st.recursive(
    SCALARS,
    lambda inside: (
        st.lists(inside, max_size=3)
        | st.dictionaries(IDS | FIELDS | IN_REPORTS | st.text(max_size=3), inside, max_size=4)
    ),
    max_leaves=12,
)
SAMPLES = st.fixed_dictionaries(
    {"status": SCALARS | st.sampled_from(["pass", "fail", "timeout"]), "details": DOCUMENTS}
)
NEARLY_RIGHT = st.one_of(
    st.fixed_dictionaries({"eval": st.dictionaries(IDS, st.lists(SAMPLES, max_size=2), max_size=3), "date": SCALARS}),
    st.dictionaries(
        st.text(max_size=4),
        st.fixed_dictionaries({"pass@1": st.dictionaries(st.sampled_from(["complete", "instruct"]), SCALARS)}),
        max_size=3,
    ),
    st.dictionaries(IDS, st.lists(st.sampled_from(["a", "b", "a"]) | SCALARS, max_size=4), max_size=4),
    st.dictionaries(
        st.sampled_from(["resolved_ids", "unresolved_ids", "error_ids", "incomplete_ids", "resolved_instances"]),
        st.lists(IDS, max_size=3) | SCALARS,
    ),
)


@pytest.mark.parametrize("kind", [kind for kind in Kind if kind is not Kind.INSPECT_LOG])
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(document=DOCUMENTS | NEARLY_RIGHT, told=st.booleans(), named=st.booleans())
def test_any_json_makes_runs_or_one_sentence(
    tmp_path_factory: pytest.TempPathFactory, kind: Kind, document: Any, told: bool, named: bool
) -> None:
    """Nothing but `UsageError` comes out, whether or not the user says what the source does not."""
    folder = tmp_path_factory.getbasetemp() / f"submission-{kind.value}"
    path = folder / "results" / "results.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document), encoding="utf-8")
    options = ImportOptions()
    if told:
        functions = kind.startswith("bigcodebench")
        benchmark = "bigcodebench" if functions else "swebench-verified"
        score = Score.CALIBRATED if functions else None
        options = ImportOptions(
            benchmark=benchmark, subset="hard", variant="complete", score=score, ignore_unknown=True
        )
    place = folder if kind is Kind.SWEBENCH_SUBMISSION else path
    try:
        report = import_results(place, None, options, kind=kind if named else None, dry_run=True)
    except UsageError as error:
        assert 0 < len(str(error)) < 1500
        assert "\n" not in str(error)
    else:
        assert report.runs
        json.dumps(report.to_plain(), allow_nan=False)
        for run in report.runs:
            assert all(0 <= one.value <= 1 for one in run.reported)
            assert run.solved <= run.problems
