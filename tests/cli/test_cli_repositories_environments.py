"""``bw env`` for benchmarks of repositories: planning, building, packing, going on, removing."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from little_home import BUILT, FUTURE, NO_PYTHON, REPO, SECOND, SOUND, UNSOUND, BuiltHome, write_predictions, write_rows
from running_bw import PROGRAM, Done, Run, start_bw

pytestmark = [pytest.mark.namespaces, pytest.mark.slow]

ABSENT = "0123456789" * 4
"""A commit that no repository has."""


@pytest.fixture(scope="session")
def bundle(built: BuiltHome, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built environments in one file."""
    folder = tmp_path_factory.mktemp("bundle")
    home = {"BENCHWRIGHT_HOME": str(built.home)}
    done = start_bw(folder, "env", "pack", "repositories", "little.bundle", *built.rows, "--json", **home)
    assert done.returncode == 0, done
    packed = json.loads(done.stdout)
    assert packed["instances"] == list(BUILT)
    assert packed["bytes"] == (folder / "little.bundle").stat().st_size
    again = start_bw(folder, "env", "pack", "repositories", "little.bundle", *built.rows, **home)
    assert refused(again) == "bw: little.bundle is there already; give another name, or remove it."
    return folder / "little.bundle"


@pytest.fixture
def own(bw: Run, bundle: Path, tmp_path: Path) -> Path:
    """The folder that commands run in; its home has a copy of the environments that a test may change."""
    assert bw("env", "unpack", bundle).returncode == 0
    return tmp_path


def refused(done: Done, code: int = 2) -> str:
    """The one sentence with which something was refused."""
    assert done.returncode == code, done
    (line,) = [line for line in done.stderr.strip().splitlines() if line.startswith("bw: ")]
    assert "Traceback" not in done.stderr
    return line


def outcomes(done: Done) -> dict[str, str]:
    """What a build printed: outcome by instance."""
    return {entry["problem_id"]: entry["outcome"] for entry in json.loads(done.stdout)["outcomes"]}


def messages(done: Done) -> dict[str, str]:
    """What a build printed: message by instance."""
    return {entry["problem_id"]: entry["message"] for entry in json.loads(done.stdout)["outcomes"]}


# Before building


def test_the_first_build_built_everything(built: BuiltHome) -> None:
    """What the session's home was built of: every instance, its own layer small beside what all share."""
    assert [entry["outcome"] for entry in built.build_output["outcomes"]] == ["built"] * len(BUILT)
    assert built.build_output["counts"] == {"built": len(BUILT)}
    assert all(0 < entry["bytes"] < 2**20 for entry in built.build_output["outcomes"])
    assert built.build_output["bytes"] > 50 * 2**20


def test_a_plan_of_what_is_not_built(bw: Run, built: BuiltHome, tmp_path: Path) -> None:
    """Environments by repository and version, what they take, and what cannot be had; nothing is made."""
    rows = write_rows(tmp_path / "all.jsonl", built.little.rows())
    done = bw("env", "plan", "repositories", "--dataset", rows, "--specs", built.specs, *built.building, "--json")
    assert done.returncode == 0, done
    plan = json.loads(done.stdout)
    assert [(one["version"], one["instances"], one["built"]) for one in plan["environments"]] == [
        ("1.0", 3, 0),
        ("2.0", 1, 0),
    ]
    here, future = plan["environments"]
    assert here["size_mib"] > 0
    assert here["interpreter"]
    assert here["problem"] == ""
    assert future["unavailable"] == [FUTURE]
    assert NO_PYTHON in future["problem"]
    assert (plan["instances"], plan["built"], plan["unavailable"]) == (4, 0, 1)
    assert plan["size_mib"] > 0
    assert not (tmp_path / "home").exists()


def test_a_plan_of_what_is_built(bw: Run, built: BuiltHome, tmp_path: Path) -> None:
    """Nothing is left to do."""
    built.private(tmp_path / "home")
    done = bw("env", "plan", "repositories", *built.rows)
    assert done.returncode == 0, done
    assert "1 environments, 3 instances: 3 built, 0 not to be had here" in done.stdout
    assert "3 of 3" in done.stdout


def test_a_row_without_tests_can_be_built_for(bw: Run, built: BuiltHome, tmp_path: Path) -> None:
    """The issue and its commit are enough; grading is refused with the reason."""
    built.private(tmp_path / "home")
    row = built.little.row(test_patch=None, FAIL_TO_PASS=None, PASS_TO_PASS=None, patch=None)
    options = ("--dataset", write_rows(tmp_path / "issue.jsonl", [row]), "--specs", built.specs)
    assert outcomes(bw("env", "build", "repositories", *options, "--json")) == {SOUND: "kept"}
    write_predictions(tmp_path / "preds.jsonl", {SOUND: built.little.gold})
    line = refused(bw("grade", "repositories", "preds.jsonl", *options))
    assert f"1 of 1 rows have no tests, so nothing can be graded for them ({SOUND})" in line


# Builds that fail


def test_an_unknown_version_or_repository(bw: Run, built: BuiltHome, tmp_path: Path) -> None:
    """Building says how to add a specification and goes on with the others; so does grading."""
    built.private(tmp_path / "home")
    rows = [
        built.little.row(),
        built.little.row(instance_id="x-1", version="9"),
        built.little.row(instance_id="x-2", repo="no/such"),
    ]
    options = ("--dataset", write_rows(tmp_path / "rows.jsonl", rows), "--specs", built.specs)
    done = bw("env", "build", "repositories", *options, "--json")
    assert done.returncode == 3
    assert outcomes(done) == {SOUND: "kept", "x-1": "failed", "x-2": "failed"}
    said = messages(done)
    assert f"There is no environment specification for version '9' of {REPO} (there are: 1.0, 2.0)" in said["x-1"]
    assert "of no/such" in said["x-2"]
    plan = json.loads(bw("env", "plan", "repositories", *options, "--json").stdout)
    assert [one["problem"] for one in plan["environments"] if one["repo"] == "no/such"] == [
        "there is no specification for version '1.0' of no/such"
    ]
    write_predictions(tmp_path / "preds.jsonl", {"x-1": built.little.gold})
    line = refused(bw("grade", "repositories", "preds.jsonl", *options))
    assert "There is no environment specification for version '9'" in line
    assert "docs/reference/repository-specs.md" in line


def test_a_clone_that_lacks_the_base_commit(bw: Run, built: BuiltHome, own: Path) -> None:
    """The commit, the clone and what to do are named; the other instances are built."""
    assert bw("env", "remove", "repositories", *built.rows, "--ids", SOUND).returncode == 0
    rows = [built.little.row(instance_id="x-1", base_commit=ABSENT), built.little.row()]
    options = ("--dataset", write_rows(own / "rows.jsonl", rows), "--specs", built.specs, *built.building)
    done = bw("env", "build", "repositories", *options, "--json")
    assert done.returncode == 3
    assert outcomes(done) == {"x-1": "failed", SOUND: "built"}
    assert f"lacks the commit {ABSENT} of {REPO}; fetch it there" in messages(done)["x-1"]
    shown = bw("env", "build", "repositories", *options)
    assert shown.returncode == 3
    assert "1 failed, 1 kept" in shown.stdout.replace("1 kept, 1 failed", "1 failed, 1 kept")


@pytest.mark.parametrize("shape", ["nothing", "a file", "a folder"])
def test_a_place_that_is_no_repository(bw: Run, built: BuiltHome, tmp_path: Path, shape: str) -> None:
    """It is named."""
    built.private(tmp_path / "home")
    place = tmp_path / "place"
    if shape == "a file":
        place.write_text("")
    elif shape == "a folder":
        place.mkdir()
    options = ("--dataset", write_rows(tmp_path / "rows.jsonl", [built.little.row(instance_id="x-1")]))
    done = bw(
        "env", "build", "repositories", *options, "--specs", built.specs, "--repo-source", f"{REPO}={place}", "--json"
    )
    assert done.returncode == 3
    assert f"{place} is no git repository" in messages(done)["x-1"]


def test_an_installation_that_fails(bw: Run, built: BuiltHome, tmp_path: Path) -> None:
    """The command and its last lines are in the message; nothing of the instance stays."""
    built.private(tmp_path / "home")
    (tmp_path / "specs").mkdir()
    text = (built.specs / "little.toml").read_text()
    install = 'install = "python -c \'raise SystemExit(\\"no compiler\\")\'"'
    lines = [install if line.startswith("install =") else line for line in text.splitlines()]
    (tmp_path / "specs/little.toml").write_text("\n".join(lines))
    rows = write_rows(tmp_path / "rows.jsonl", [built.little.row(instance_id="x-1")])
    options = ("--dataset", rows, "--specs", "specs", *built.building)
    done = bw("env", "build", "repositories", *options, "--json")
    assert done.returncode == 3
    message = messages(done)["x-1"]
    for words in (f"Could not install {REPO}", "status 1", "raise SystemExit", "no compiler"):
        assert words in message
    layers = json.loads(bw("env", "list", "--json").stdout)["layers"]
    assert not [layer for layer in layers if "x-1" in layer["name"]]


def test_an_interpreter_that_cannot_be_had(bw: Run, built: BuiltHome, tmp_path: Path) -> None:
    """The instance is unavailable, which is no failure of the build."""
    if shutil.which("micromamba"):
        pytest.skip("micromamba would be asked for it")
    built.private(tmp_path / "home")
    rows = write_rows(tmp_path / "all.jsonl", built.little.rows())
    done = bw("env", "build", "repositories", "--dataset", rows, "--specs", built.specs, "--json")
    assert done.returncode == 0, done
    assert outcomes(done) == {**dict.fromkeys(BUILT, "kept"), FUTURE: "unavailable"}
    assert f"No Python {NO_PYTHON}" in messages(done)[FUTURE]


def test_a_size_cap(bw: Run, built: BuiltHome, tmp_path: Path) -> None:
    """What is there stays; what would come after the cap is left out, and said."""
    built.private(tmp_path / "home")
    rows = [built.little.row(), built.little.row(instance_id="x-1")]
    options = ("--dataset", write_rows(tmp_path / "rows.jsonl", rows), "--specs", built.specs, *built.building)
    done = bw("env", "build", "repositories", *options, "--size-cap", "0.001", "--json")
    assert outcomes(done) == {SOUND: "kept", "x-1": "left out"}
    assert "raise the size cap" in messages(done)["x-1"]


@contextlib.contextmanager
def small_disk(place: Path, mebibytes: int) -> Iterator[None]:
    """A file system of its own, as only root can make one."""
    place.mkdir()
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small disk")
    mount = ["mount", "-t", "tmpfs", "-o", f"size={mebibytes}m", "tmpfs", str(place)]
    done = subprocess.run(mount, capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"a small disk cannot be mounted: {done.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", str(place)], check=True)


def test_a_full_disk(bw: Run, built: BuiltHome, tmp_path: Path) -> None:
    """One sentence, and nothing half-built is taken for built."""
    with small_disk(tmp_path / "home", 20):
        line = refused(bw("env", "build", "repositories", *built.rows, *built.building), code=3)
        assert "no space left on the disk; free some, or set BENCHWRIGHT_HOME to a larger one" in line
        assert json.loads(bw("env", "list", "--json").stdout)["layers"] == []


def test_a_full_disk_while_unpacking(bw: Run, bundle: Path, tmp_path: Path) -> None:
    """It is known before anything is written."""
    with small_disk(tmp_path / "home", 20):
        line = refused(bw("env", "unpack", bundle), code=3)
        assert "free some space, or set BENCHWRIGHT_HOME to a larger disk" in line
        assert json.loads(bw("env", "list", "--json").stdout)["layers"] == []


# Going on


def test_an_interrupted_build_goes_on(built: BuiltHome, own: Path, bw: Run) -> None:
    """After `kill -9` in the middle of an instance, the next build makes what is missing and keeps the rest."""
    ids = ("--ids", f"{SOUND},{SECOND}")
    assert bw("env", "remove", "repositories", *built.rows, *ids).returncode == 0
    command = ("env", "build", "repositories", *built.rows, *built.building)
    environment = {**os.environ, "BENCHWRIGHT_HOME": str(own / "home")}
    process = subprocess.Popen(
        [*PROGRAM, *map(str, command)], cwd=own, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    layers = own / "home/repositories/layers"
    with process:
        while not list(layers.glob(".building-instance-*/scratch/*")):
            assert process.poll() is None, process.communicate()
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    done = bw(*command, "--json")
    assert done.returncode == 0, done
    assert outcomes(done) == {SOUND: "built", SECOND: "built", UNSOUND: "kept"}
    assert not list(layers.glob(".*")), "what the killed build left is gone"
    write_predictions(own / "preds.jsonl", {SOUND: built.little.gold})
    report = json.loads(bw("grade", "repositories", "preds.jsonl", *built.rows, "--json").stdout)
    assert report["solved"] == 1


# Elsewhere


def test_environments_travel_in_a_file(bw: Run, built: BuiltHome, bundle: Path, own: Path) -> None:
    """What was unpacked is the same by content: it grades, and its executions are the same jobs."""
    listed = json.loads(bw("env", "list", "--json").stdout)["layers"]
    assert sorted(layer["kind"] for layer in listed) == ["environment", *["instance"] * 3, "python", "rootfs"]
    assert f"instance-{SOUND}-" in bw("env", "list").stdout
    write_predictions(own / "preds.jsonl", {SOUND: built.little.gold})
    command = ("grade", "repositories", "preds.jsonl", *built.rows, "--ids", SOUND, "--json")
    here = json.loads(bw(*command, "--out", "a").stdout)
    built.private(own / "first-home")
    first = json.loads(bw(*command, "--out", "b", BENCHWRIGHT_HOME=str(own / "first-home")).stdout)
    assert here["solved"] == first["solved"] == 1
    assert here["run_id"] == first["run_id"]
    again = bw("env", "unpack", bundle, "--json")
    assert json.loads(again.stdout)["instances"] == list(BUILT), "unpacking once more changes nothing"


@pytest.mark.parametrize("damage", ["cut", "flipped", "other", "missing"])
def test_a_file_that_is_no_bundle(bw: Run, bundle: Path, tmp_path: Path, damage: str) -> None:
    """It is refused, and nothing of it stays."""
    data = bundle.read_bytes()
    place = tmp_path / "damaged.bundle"
    match damage:
        case "cut":
            place.write_bytes(data[: len(data) // 2])
        case "flipped":
            middle = len(data) // 2
            place.write_bytes(data[:middle] + bytes([data[middle] ^ 0xFF]) + data[middle + 1 :])
        case "other":
            place.write_bytes(b"not a bundle")
    line = refused(bw("env", "unpack", "damaged.bundle"))
    assert "damaged.bundle" in line
    assert json.loads(bw("env", "list", "--json").stdout)["layers"] == []


def test_checking_what_is_built(bw: Run, built: BuiltHome, own: Path) -> None:
    """Every file is compared with what was built; a layer in which one differs is named."""
    command = ("env", "check", "repositories", *built.rows)
    done = bw(*command, "--json")
    assert (done.returncode, json.loads(done.stdout)["broken"]) == (0, [])
    (layer,) = (own / "home/repositories/layers").glob("environment-*/")
    (place,) = layer.glob("opt/env/lib/python*/site-packages/pluggy/__init__.py")
    text = place.read_text()
    place.unlink()
    place.write_text(text + "# changed\n")
    done = bw(*command, "--json")
    assert (done.returncode, json.loads(done.stdout)["broken"]) == (3, [layer.name])
    assert f"{layer.name} is not what was built" in bw(*command).stdout


def test_checking_what_is_not_built(bw: Run, built: BuiltHome) -> None:
    """There is nothing to compare."""
    assert "None of these instances is built" in refused(bw("env", "check", "repositories", *built.rows))


def test_removing_and_collecting(bw: Run, built: BuiltHome, own: Path) -> None:
    """`remove` takes instances away and leaves what they share; `gc` takes what was used longest ago."""
    done = bw("env", "remove", "repositories", *built.rows, "--ids", UNSOUND, "--json")
    assert json.loads(done.stdout)["freed_bytes"] > 0
    kinds = [layer["kind"] for layer in json.loads(bw("env", "list", "--json").stdout)["layers"]]
    assert kinds.count("instance") == 2
    assert {"environment", "python", "rootfs"} <= set(kinds)
    write_predictions(own / "preds.jsonl", {UNSOUND: built.little.gold})
    assert UNSOUND in refused(bw("grade", "repositories", "preds.jsonl", *built.rows))
    nothing = json.loads(bw("env", "gc", "--size-cap", "10", "--json").stdout)
    assert nothing["freed_bytes"] < 2**20
    assert len(json.loads(bw("env", "list", "--json").stdout)["layers"]) == 5
    everything = json.loads(bw("env", "gc", "--size-cap", "0", "--json").stdout)
    assert everything["freed_bytes"] > 2**20
    assert json.loads(bw("env", "list", "--json").stdout)["layers"] == []


def test_packing_what_is_not_built(bw: Run, built: BuiltHome, tmp_path: Path) -> None:
    """The instances are named, and no file is made."""
    line = refused(bw("env", "pack", "repositories", "x.bundle", *built.rows))
    assert f"The environments of 3 of 3 instances are not built ({SOUND}" in line
    assert not (tmp_path / "x.bundle").exists()


def test_a_root_file_system_that_is_none(bw: Run, built: BuiltHome, tmp_path: Path) -> None:
    """Neither a missing file nor another one is taken."""
    (tmp_path / "root.tar").write_text("no archive")
    options: tuple[Any, ...] = ("env", "build", "repositories", *built.rows)
    assert "root.tar is no tar archive" in refused(bw(*options, "--rootfs", "root.tar"))
    assert "no-file.tar cannot be read" in refused(bw(*options, "--rootfs", "no-file.tar"))
