"""``bw bench check`` and ``bw bench derive`` on a repository of our own."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from little_home import (
    BUILT,
    COINS,
    F2P,
    NO_PYTHON,
    P2P,
    REPO,
    SECOND,
    SOUND,
    UNSOUND,
    BuiltHome,
    write_predictions,
    write_rows,
)
from little_repositories import run_git
from running_bw import Done, Run

from benchwright.benchmarks.swebench.exclusions import read_list
from benchwright.core.errors import SandboxFault

pytestmark = [pytest.mark.namespaces, pytest.mark.slow]


@pytest.fixture
def folder(built: BuiltHome, tmp_path: Path) -> Path:
    """The folder that commands run in; its home has the built environments and nothing else."""
    built.private(tmp_path / "home")
    return tmp_path


def refused(done: Done, code: int = 2) -> str:
    """The one sentence with which something was refused."""
    assert done.returncode == code, done
    (line,) = [line for line in done.stderr.strip().splitlines() if line.startswith("bw: ")]
    assert "Traceback" not in done.stderr
    return line


# Control runs


def test_control_runs_find_what_does_not_run_reliably(bw: Run, built: BuiltHome, folder: Path) -> None:
    """The reference must resolve, no patch must not; the others go to the user's own list, with the evidence."""
    check = ("bench", "check", "repositories", *built.rows)
    done = bw(*check, "--json")
    assert done.returncode == 0, done
    report = json.loads(done.stdout)
    assert report["sound"] == [SOUND, SECOND]
    (unsound,) = report["unsound"]
    assert unsound["problem_id"] == UNSOUND
    assert unsound["why"].startswith("the reference does not resolve it: ")
    assert (report["problems"], report["executed"], report["lost"], report["unavailable"]) == (3, 3, [], [])
    controls = {control["problem_id"]: control for control in report["controls"]}
    assert (controls[SOUND]["reference"], controls[SOUND]["empty"]) == ([True], [False])
    assert controls[SOUND]["wall_seconds"] > 0
    own = read_list(Path(report["exclusions"]))
    assert [(entry.id, entry.reason) for entry in own.entries] == [(UNSOUND, unsound["why"])]
    assert controls[UNSOUND]["digest"][:16] in own.entries[0].evidence[0]

    shown = bw(*check).stdout
    assert "2 of 3 instances run reliably in namespace" in shown
    assert "0 were run now" in shown, "control runs are stored"
    assert f"{UNSOUND}: the reference does not resolve it" in shown
    assert f"your exclusion list: {report['exclusions']}" in shown


def test_the_own_list_counts_until_the_instance_is_sound(bw: Run, built: BuiltHome, folder: Path) -> None:
    """Gradings report the score without what is on it; once the reference resolves here, it comes off again."""
    rows = write_rows(
        folder / "rows.jsonl", [built.little.row(), built.little.row(instance_id=UNSOUND, patch=built.little.wrong)]
    )
    options = ("repositories", "--dataset", rows, "--specs", built.specs)
    listed = json.loads(bw("bench", "check", *options[:1], *options[1:], "--json").stdout)["exclusions"]
    write_predictions(folder / "preds.jsonl", {SOUND: built.little.gold})
    grade = ("grade", "repositories", "preds.jsonl", *options[1:], "--json")
    report = json.loads(bw(*grade, "--out", "a").stdout)
    assert list(report["excluded"]) == [UNSOUND]
    assert report["excluded"][UNSOUND][0].startswith("repositories-here: the reference does not resolve it")
    assert report["kept_minus_all"] == 0.5

    write_rows(rows, [built.little.row(), built.little.row(instance_id=UNSOUND)])
    checked = json.loads(bw("bench", "check", *options, "--json").stdout)
    assert checked["sound"] == [SOUND, UNSOUND]
    assert checked["exclusions"] is None
    assert checked["executed"] == 1, "only the changed row is controlled again"
    assert read_list(Path(listed)).entries == ()
    assert json.loads(bw(*grade, "--out", "b").stdout)["excluded"] == {}


def test_more_repeats_run_again(bw: Run, built: BuiltHome, folder: Path) -> None:
    """Stored controls of fewer repeats do not count; nor do any with `--again`."""
    check = ("bench", "check", "repositories", *built.rows, "--ids", SOUND, "--json")
    executed = []
    for options in ((), ("--repeats", 2), ("--repeats", 2), ("--again",)):
        report = json.loads(bw(*check, *options).stdout)
        executed.append((report["executed"], report["controls"][0]["reference"]))
    assert executed == [(1, [True]), (1, [True, True]), (0, [True, True]), (1, [True])]
    assert "--repeats must be at least 1, not 0" in refused(bw(*check, "--repeats", 0))


def test_an_instance_that_is_resolved_without_a_patch(bw: Run, built: BuiltHome, folder: Path) -> None:
    """Its tests pass before the change: it decides nothing."""
    rows = write_rows(folder / "rows.jsonl", [built.little.row(FAIL_TO_PASS=list(P2P), PASS_TO_PASS=[])])
    report = json.loads(
        bw("bench", "check", "repositories", "--dataset", rows, "--specs", built.specs, "--json").stdout
    )
    assert report["unsound"] == [{"problem_id": SOUND, "why": "it is resolved without a patch"}]


def test_a_sandbox_that_keeps_breaking_is_named(
    bw: Run, built: BuiltHome, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing was learnt of the instance, and no run shrinks silently."""
    monkeypatch.setattr("benchwright.grading.repositories.run_procedure", _broken)
    check = ("bench", "check", "repositories", *built.rows, "--ids", SOUND)
    report = json.loads(bw(*check, "--json").stdout)
    assert (report["lost"], report["controls"], report["exclusions"]) == ([SOUND], [], None)
    assert f"nothing was learnt of {SOUND}" in bw(*check).stdout


def _broken(*arguments: object, **options: object) -> Any:
    raise SandboxFault("it broke")


# Instances out of changes


Derive = Callable[..., Done]


@pytest.fixture
def derive(bw: Run, built: BuiltHome, folder: Path) -> Derive:
    """Derives from a commit of the repository."""

    def run(commit: str, *options: object, version: str = "1.0", out: str = "rows.jsonl") -> Done:
        place = ("--repo", built.little.path, "--name", REPO, "--specs", built.specs)
        return bw("bench", "derive", *place, "--version", version, "--merge", commit, "--out", out, *options)

    return run


def test_a_merge_becomes_an_instance(derive: Derive, bw: Run, built: BuiltHome, folder: Path) -> None:
    """Base, patches and lists are those of the merged side; the row can be checked and graded like any other."""
    done = derive(built.little.merge, "--repeats", 2, "--json")
    assert done.returncode == 0, done
    told = json.loads(done.stdout)
    assert told["instance_id"] == SOUND
    assert told["base_commit"] == built.little.base
    assert (told["fail_to_pass"], told["pass_to_pass"]) == (list(F2P), list(P2P))
    assert (told["unstable"], told["broken"], told["runs"]) == ([], [], 4)
    (row,) = map(json.loads, (folder / "rows.jsonl").read_text().splitlines())
    made = built.little.row()
    assert {name: row[name] for name in ("repo", "version", "base_commit")} == {
        name: made[name] for name in ("repo", "version", "base_commit")
    }
    assert row["problem_statement"] == "Merge pull request #12 from own/fix\n\nDouble is one too large"
    assert json.loads(row["FAIL_TO_PASS"]) == list(F2P)
    assert "little/counting.py" in row["patch"]
    assert "tests/" not in row["patch"]
    assert "little/counting.py" not in row["test_patch"]
    options = ("--dataset", "rows.jsonl", "--specs", built.specs, "--json")
    assert json.loads(bw("bench", "check", "repositories", *options).stdout)["sound"] == [SOUND]


def test_a_squashed_change_and_tests_that_chance_decides(derive: Derive, folder: Path, built: BuiltHome) -> None:
    """A test whose runs of the same code differ is in neither list."""
    done = derive(built.little.squashed[:12], "--repeats", 2, "--json")
    assert done.returncode == 0, done
    told = json.loads(done.stdout)
    assert told["instance_id"] == SECOND
    coins = {f"tests/test_halves.py::test_coin[{number}]" for number in range(COINS)}
    unstable = set(told["unstable"])
    assert unstable, "sixteen coins that fall alike in both runs of either side have never been seen"
    assert unstable <= coins
    assert not unstable & {*told["fail_to_pass"], *told["pass_to_pass"]}
    assert "tests/test_halves.py::test_half" in told["fail_to_pass"]
    assert P2P[0] not in told["pass_to_pass"], "only the files of the test patch are run"


def test_an_own_id_and_issue(derive: Derive, built: BuiltHome, folder: Path) -> None:
    """What people see comes from a file; rows are added, also after a line without an end."""
    (folder / "issue.md").write_text("Zwei mal vier ist neun – falsch.\n", encoding="utf-8")
    (folder / "rows.jsonl").write_text(json.dumps(built.little.row()))
    options = ("--id", "own-1", "--issue", "issue.md", "--repeats", 1)
    done = derive(built.little.merge, *options)
    assert done.returncode == 0, done
    assert "own-1: 2 tests turn green, 1 stay green in 2 runs; added to rows.jsonl" in done.stdout
    first, second = map(json.loads, (folder / "rows.jsonl").read_text().splitlines())
    assert (first["instance_id"], second["instance_id"]) == (SOUND, "own-1")
    assert second["problem_statement"] == "Zwei mal vier ist neun – falsch.\n"
    line = refused(derive(built.little.merge, *options))
    assert line == "bw: rows.jsonl has own-1 already; remove that line or give another --id or --out."


@pytest.mark.parametrize(
    ("commit", "options", "words"),
    [
        ("source_only", (), "changes no test"),
        ("tests_only", (), "changes no source file"),
        ("nonsense", (), "has no commit nonsense"),
        ("", (), "has no commit"),
        ("--all", (), "has no commit --all"),
        ("merge", ("--repeats", 0), "--repeats must be at least 1, not 0"),
        ("merge", ("--issue", "no-file"), "The issue no-file cannot be read"),
        ("merge", ("--id", "a/b"), "'instance_id' is 'a/b'"),
        ("merge", ("--out", "no/such/rows.jsonl"), "There is no folder"),
        ("merge", ("--out", "broken.jsonl"), "broken.jsonl is no file of rows"),
        ("merge", ("--out", "home"), "home is no file of rows"),
        ("merge", ("--name", "little"), "expected owner/name"),
        ("merge", ("--repo", "nowhere"), "nowhere is no git repository"),
        ("merge", ("--version", "9"), "There is no environment specification for version '9'"),
    ],
)
def test_a_change_that_makes_no_instance(
    derive: Derive, built: BuiltHome, folder: Path, commit: str, options: tuple[object, ...], words: str
) -> None:
    """It is said why, before anything is built or run."""
    (folder / "broken.jsonl").write_text('{"instance_id": "a"}\n[1]\n')
    done = derive(getattr(built.little, commit, commit), *options)
    assert words in refused(done)
    assert not (folder / "rows.jsonl").exists()


def test_the_first_commit_makes_no_instance(derive: Derive, built: BuiltHome) -> None:
    """There is nothing before it."""
    line = refused(derive(f"{built.little.base}^"))
    assert "is the first commit of" in line


def test_nothing_turns_green(derive: Derive, built: BuiltHome, folder: Path) -> None:
    """A change after which no test passes that failed before is refused with the counts."""
    place = folder / "other"
    run_git(folder, "clone", "--quiet", str(built.little.path), str(place))
    run_git(place, "checkout", "--quiet", built.little.base)
    (place / "little/counting.py").write_text((place / "little/counting.py").read_text() + "\n\nNINE = 9\n")
    (place / "tests/test_counting.py").write_text(
        (place / "tests/test_counting.py").read_text() + "\n\ndef test_no():\n    pass\n"
    )
    run_git(place, "commit", "--quiet", "--all", "--message=Nine")
    done = derive("HEAD", "--repo", place, "--repeats", 1, "--id", SOUND)
    line = refused(done)
    assert f"No test of {SOUND} fails before the change and passes after it (2 pass after, 2 before, " in line
    assert not (folder / "rows.jsonl").exists()


def test_an_interpreter_that_cannot_be_had(derive: Derive, built: BuiltHome) -> None:
    """The machine stands in the way, and not the change."""
    line = refused(derive(built.little.merge, version="2.0"), code=3)
    assert f"{SOUND} needs Python {NO_PYTHON}, which was not found on this machine" in line


# What is in the data


def test_listing_and_showing(bw: Run, built: BuiltHome, folder: Path) -> None:
    """Benchmarks of repositories are listed with the others; their rows can be looked at."""
    entries = {entry["name"]: entry for entry in json.loads(bw("bench", "list", "--json").stdout)["benchmarks"]}
    assert entries["swebench-verified"]["variants"] == ["patch"]
    assert "repositories" in entries
    assert "SWE-bench Verified" in bw("bench", "list").stdout
    shown = json.loads(bw("bench", "show", "repositories", "--dataset", built.dataset, "--json").stdout)
    assert (shown["problems"], shown["environments"], shown["without_tests"]) == (len(BUILT), 1, 0)
    assert shown["repositories"] == {REPO: len(BUILT)}
    assert not shown["pinned"]
    assert f"repositories: {REPO} 3" in bw("bench", "show", "repositories", "--dataset", built.dataset).stdout
    one = json.loads(bw("bench", "show", "repositories", SOUND, "--dataset", built.dataset, "--json").stdout)
    assert one["fail_to_pass"] == list(F2P)
    text = bw("bench", "show", "repositories", SOUND, "--dataset", built.dataset).stdout
    for words in (f"id: {SOUND}", "pass_to_pass: 1 tests", "--- reference_patch", "Twice four is nine."):
        assert words in text
    line = refused(bw("bench", "show", "repositories", "own__little-21", "--dataset", built.dataset))
    assert "did you mean" in line


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("grade", "repositories", "p.jsonl", "--variant", "patch"), "--variant means nothing for repositories"),
        (("grade", "repositories", "p.jsonl", "--isolation", "process"), "--isolation means nothing"),
        (("grade", "repositories", "p.jsonl", "--env", "starter"), "--env means nothing for repositories"),
        (("grade", "starter", "p.jsonl", "--rules", "official"), "--rules means nothing for starter"),
        (("grade", "starter", "p.jsonl", "--repo-source", "a/b=c"), "--repo-source means nothing for starter"),
        (("bench", "check", "starter", "--timeout", "5"), "--timeout means nothing for starter"),
        (("bench", "check", "repositories", "--env", "starter"), "--env means nothing for repositories"),
        (("bench", "show", "repositories", "--prompt", "patch"), "there is one prompt, agent"),
        (("env", "build", "repositories", "--force"), "--force means nothing for repositories"),
        (("env", "build", "starter", "--ids", "a"), "--ids means nothing for starter"),
        (("env", "build", "starter", "--size-cap", "1"), "--size-cap means nothing for starter"),
        (("env", "pack", "starter", "x"), "Only environments of repositories can be packed"),
        (("env", "plan", "repositories", "--repo-source", "little=x"), "--repo-source takes owner/name=place"),
        (("env", "plan", "repositories", "--repo-source", "own/little"), "--repo-source takes owner/name=place"),
        (("env", "plan", "repositories"), "repositories has no published data; give a file of rows"),
        (("env", "plan", "repositories", "--dataset", "no.jsonl"), "no.jsonl"),
        (("env", "plan", "repositories", "--dataset", "p.jsonl"), "p.jsonl"),
        (("grade", "repositories", "p.jsonl", "--images", "official"), "give --sandbox docker with it"),
    ],
)
def test_options_that_mean_nothing_are_refused(
    bw: Run, built: BuiltHome, folder: Path, arguments: tuple[str, ...], words: str
) -> None:
    """Nothing that was asked for is ignored."""
    write_predictions(folder / "p.jsonl", {SOUND: "x"})
    data = () if "--dataset" in arguments or arguments[1] == "plan" or "starter" in arguments else built.rows[:2]
    assert words in refused(bw(*arguments, *data))


def test_another_version_of_the_specifications_folder(bw: Run, built: BuiltHome, folder: Path) -> None:
    """A folder that is none, and a file that is no specification, are named."""
    command = ("env", "plan", "repositories", "--dataset", built.dataset, "--specs")
    assert "nowhere" in refused(bw(*command, "nowhere"))
    (folder / "bad").mkdir()
    (folder / "bad/x.toml").write_text("schema = 1\nrepo = 5\n")
    assert "x.toml" in refused(bw(*command, "bad"))


def test_all_clones_in_one_folder(bw: Run, built: BuiltHome, folder: Path) -> None:
    """`*=PLACE` stands for every repository, with owner and name filled in."""
    place = folder / "clones/own+little"
    place.parent.mkdir()
    place.symlink_to(built.little.path)
    rows = write_rows(folder / "rows.jsonl", [built.little.row(instance_id="x-1", base_commit="ab" * 20)])
    options = ("--dataset", rows, "--specs", built.specs, "--repo-source", f"*={folder}/clones/{{owner}}+{{name}}")
    done = bw("env", "build", "repositories", *options, "--json")
    (outcome,) = json.loads(done.stdout)["outcomes"]
    assert outcome["message"].startswith(f"{place} lacks the commit")
