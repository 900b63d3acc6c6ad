"""``bw store export``, ``bw verify``, ``bw store import``, ``bw regrade``, ``bw grade`` and ``bw diff`` of a bundle."""

import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from app_pieces import ScriptedFactory, private_home, references, write_samples
from bundle_forging import forged
from running_bw import Run

from benchwright.testing import lost_record

sys.path.append(str(Path(__file__).parents[1] / "store"))

from entry_pieces import reported

from benchwright.store.results import ResultStore


@pytest.fixture
def exported(bw: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The bundle of a grading in which everything passed."""
    monkeypatch.setattr("benchwright.app.grading.LocalScheduler", ScriptedFactory())
    private_home(tmp_path / "home")
    samples = write_samples(tmp_path / "samples.jsonl", references(2), model="m")
    ids = ",".join(problem for problem, _ in references(2))
    assert bw("grade", "starter", samples, "--ids", ids, "--out", "graded").returncode == 0
    done = bw("store", "export", "a.bw.zip", "graded", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["records"] == 4
    return tmp_path / "a.bw.zip"


def test_a_sound_bundle_ends_with_0(bw: Run, exported: Path) -> None:
    """What was checked is said, for people and as JSON."""
    done = bw("verify", exported)
    assert done.returncode == 0
    assert "4 rows: 4 judged again, 4 of 4 records traced to the answers" in done.stdout
    assert done.stdout.endswith("All is well.\n")
    document = json.loads(bw("verify", exported, "--json").stdout)
    assert (document["sound"], document["findings"], document["signed"]) == (True, [], "not signed")


def test_a_forged_bundle_ends_with_1(bw: Run, exported: Path) -> None:
    """Every finding is a line; nothing else is printed than that."""
    path = forged(exported, "rows.jsonl", lambda rows: [{**row, "outcome": "failed"} for row in rows])
    done = bw("verify", path)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.count("verdicts: Starter/") == 4
    assert "does not follow from its evidence" in done.stdout
    document = json.loads(bw("verify", path, "--json").stdout)
    assert not document["sound"]
    assert {finding["check"] for finding in document["findings"]} == {"verdicts", "summary"}


def test_an_archive_that_is_not_as_listed_ends_with_1(bw: Run, exported: Path, tmp_path: Path) -> None:
    """A changed list and a file of another size are said in the first place, and nothing is said of what is in it."""
    changes = (
        ("bundle.json", lambda text: text.replace(b'"digest": "', b'"digest": "0'), "The digest in bundle.json is not"),
        ("rows.jsonl", lambda text: text + b" ", "rows.jsonl has "),
    )
    for name, change, words in changes:
        with zipfile.ZipFile(exported) as archive, zipfile.ZipFile(tmp_path / "b.bw.zip", "w") as other:
            for info in archive.infolist():
                text = archive.read(info)
                other.writestr(info, change(text) if info.filename == name else text)
        done = bw("verify", "b.bw.zip")
        assert (done.returncode, done.stderr, f"archive: {words}" in done.stdout) == (1, "", True), done
        assert "judged again" not in done.stdout
        assert "One thing is wrong with this bundle.\nIts rows and records were not looked at.\n" in done.stdout


def test_what_is_open_ends_with_1(bw: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Faults that nothing shows: it is said, --allow-open takes it, and a run that is imported is flagged."""
    monkeypatch.setattr("benchwright.app.grading.LocalScheduler", ScriptedFactory(lost_record))
    private_home(tmp_path / "home")
    write_samples(tmp_path / "samples.jsonl", references(1), model="m")
    assert bw("grade", "starter", "samples.jsonl", "--ids", references(1)[0][0], "--out", "lost").returncode == 0
    assert bw("store", "export", "lost.bw.zip", "lost").returncode == 0
    done = bw("verify", "lost.bw.zip")
    assert (done.returncode, done.stderr) == (1, "")
    assert "not shown: that 2 rows are faults and not failures: pass@1[calibrated] has no value, 0.0 %" in done.stdout
    assert done.stdout.endswith("Nothing contradicts it, but not everything that could change the score is shown.\n")
    assert bw("verify", "lost.bw.zip", "--allow-open").returncode == 0
    document = json.loads(bw("verify", "lost.bw.zip", "--json").stdout)
    assert (document["sound"], document["shown"], len(document["open"])) == (True, False, 1)
    assert document["bounds"] == {
        "value": None,
        "worst": 0.0,
        "best": 1.0,
        "faults": 1,
        "touched": 1,
        "lost": 1,
        "n": 1,
    }
    away = {"BENCHWRIGHT_HOME": str(tmp_path / "away")}
    done = bw("store", "import", "lost.bw.zip", **away)
    assert done.returncode == 0, done.stderr
    (run,) = json.loads(bw("results", "list", "--json", **away).stdout)["runs"]
    assert run["flags"] == ["bundle", "bundle_open"]


def test_no_name_steers_the_terminal(bw: Run, exported: Path) -> None:
    """Control characters and characters that turn the line around are spelled out, in findings as in names."""
    name = "\x1b]0;x\x07\u202em\ud800"

    def renamed(manifest: dict[str, Any]) -> None:
        manifest.update(model=name, variant=name)

    path = forged(exported, "manifest.json", renamed, relist=True)
    for arguments in (("verify", path), ("verify", forged(path, "manifest.json", lambda m: {**m, "model": "n"}))):
        done = bw(*arguments)
        assert "\\x1b]0;x\\x07\\u202em\\ud800" in done.stdout
        assert not {"\x1b", "\x07", "\u202e", "\ud800"} & set(done.stdout + done.stderr)
    done = bw("diff", path, exported)
    assert done.returncode == 0, done.stderr
    assert not {"\x1b", "\x07", "\u202e", "\ud800"} & set(done.stdout + done.stderr)
    assert json.loads(bw("verify", path, "--json").stdout)["run"]["model"]


def test_what_is_no_bundle_ends_with_2(bw: Run, exported: Path, tmp_path: Path) -> None:
    """Something else, and a schema version that is not known."""
    (tmp_path / "b.bw.zip").write_text("hello")
    done = bw("verify", tmp_path / "b.bw.zip")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("bw: ")
    assert done.stderr.count("\n") == 1
    with zipfile.ZipFile(exported) as archive, zipfile.ZipFile(tmp_path / "c.bw.zip", "w") as other:
        other.writestr("bundle.json", archive.read("bundle.json").replace(b'"schema": 1', b'"schema": 7'))
    done = bw("verify", tmp_path / "c.bw.zip")
    assert done.returncode == 2
    assert "It has schema 7, this version of benchwright reads 1" in done.stderr


def test_a_bundle_is_not_replaced_by_another(bw: Run, exported: Path) -> None:
    """The same again is said to be there; another result, or what is no bundle, stays until --force is given."""
    before = exported.read_bytes()
    assert json.loads(bw("store", "export", exported, "graded", "--json").stdout)["written"] is False
    assert "(it was there already)" in bw("store", "export", exported, "graded").stdout
    assert exported.read_bytes() == before
    for content in (b"a letter", before[:-30]):
        exported.write_bytes(content)
        done = bw("store", "export", exported, "graded")
        assert (done.returncode, exported.read_bytes()) == (2, content)
        assert "is there already, with something that is no whole bundle" in done.stderr
    assert bw("store", "export", exported, "graded", "--force").returncode == 0
    assert exported.read_bytes() == before
    done = bw("store", "export", "x.zip", "graded")
    assert (done.returncode, "give x.bw.zip for one" in done.stderr) == (2, True)
    assert "are for bundles" in bw("store", "export", "place", "--force").stderr


def test_a_signed_bundle(bw: Run, exported: Path, tmp_path: Path) -> None:
    """Signing, checking against the key and against another."""
    if shutil.which("ssh-keygen") is None:
        pytest.skip("ssh-keygen is not installed")
    for name in ("own", "other"):
        command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / name)]
        subprocess.run(command, check=True)
    unsigned = exported.read_bytes()
    done = bw("store", "export", exported, "graded", "--sign", "own")
    assert (done.returncode, exported.read_bytes()) == (2, unsigned)
    assert "is there already, with the same result without this signature" in done.stderr
    assert (
        "signed by the ssh key SHA256:" in bw("store", "export", exported, "graded", "--sign", "own", "--force").stdout
    )
    signed = exported.read_bytes()
    for options, code in (((), 0), (("--sign", "own"), 0), (("--sign", "other"), 2)):
        assert bw("store", "export", exported, "graded", *options).returncode == code
        assert exported.read_bytes() == signed
    assert "not checked against anybody" in bw("verify", exported).stdout
    assert "signed by own.pub" in bw("verify", exported, "--signer", "own.pub").stdout
    done = bw("verify", exported, "--signer", "other.pub")
    assert done.returncode == 1
    assert "which is not in other.pub" in done.stdout


def test_a_bundle_goes_round(bw: Run, exported: Path, tmp_path: Path) -> None:
    """Elsewhere it is taken into a store, judged again, executed again, and compared."""
    private_home(tmp_path / "away")
    away = {"BENCHWRIGHT_HOME": str(tmp_path / "away")}
    done = bw("store", "import", exported, "--json", **away)
    assert done.returncode == 0, done.stderr
    (run,) = json.loads(bw("results", "list", "--json", **away).stdout)["runs"]
    assert (run["model"], run["flags"]) == ("m", ["bundle"])
    assert bw("regrade", exported, **away).returncode == 2
    done = bw("regrade", exported, "--out", "judged", "--json", **away)
    assert (json.loads(done.stdout)["judged"], json.loads(done.stdout)["stored"]) == (4, None)
    assert bw("regrade", exported, "--out", "more", "--store", "s", **away).returncode == 2
    done = bw("grade", "starter", exported, "--out", "again", "--json", **away)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert (document["executed"], document["model"], document["stored"]) == (4, "m", None)
    done = bw("diff", exported, "again", **away)
    assert "4 rows compared, 0 verdicts differ." in done.stdout
    assert "samples_digest" not in done.stdout


def test_a_bundle_that_is_graded_again_is_no_second_run(bw: Run, exported: Path, tmp_path: Path) -> None:
    """The model stays one run in the store, and that is said; a store that is named gets the result."""
    assert bw("store", "import", "graded").returncode == 0
    done = bw("grade", "starter", exported, "--out", "again")
    assert "not recorded in the store, where it would stand as a second run" in done.stdout
    assert len(json.loads(bw("results", "list", "--json").stdout)["runs"]) == 1
    done = bw("grade", "starter", exported, "--out", "again", "--store", "checks")
    assert "recorded in the store: bw results show" in done.stdout
    (again,) = json.loads(bw("results", "list", "--json", "--store", "checks").stdout)["runs"]
    assert bw("store", "import", "graded", "--store", "checks").returncode == 0
    both = [one["entry"] for one in json.loads(bw("results", "list", "--json", "--store", "checks").stdout)["runs"]]
    for pair in (("graded", "again"), ("graded", again["entry"]), both):
        found = json.loads(bw("compare", *pair, "--json", "--store", "checks").stdout)
        assert found["settings"] == []


def test_runs_in_the_store_are_compared_too(bw: Run, exported: Path, tmp_path: Path) -> None:
    """`bw diff` takes ids and models as well as folders and bundles; an import without evidence is refused."""
    (entry,) = (one["entry"] for one in json.loads(bw("results", "list", "--json").stdout)["runs"])
    for other in (entry[:8], "m"):
        done = bw("diff", other, exported)
        assert (done.returncode, "4 rows compared, 0 verdicts differ." in done.stdout) == (0, True), done
    assert "did you mean m" in bw("diff", "M", exported).stderr
    with ResultStore(tmp_path / "home/results") as store:
        store.add(reported("stated"), [], {})
    done = bw("diff", "stated", exported)
    assert (done.returncode, "is an import without evidence" in done.stderr) == (2, True), done
