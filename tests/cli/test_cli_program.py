"""The program as a whole: help, exit codes, and what goes to which stream."""

import json
import shlex
import subprocess
from pathlib import Path

import click
import pytest
from app_pieces import first_ids, private_home, references, write_samples
from running_bw import PROGRAM, Run, start_bw

from benchwright.cli.main import cli
from benchwright.cli.tables import console, simple_table
from benchwright.core.verdicts import Outcome, Reason


def all_commands() -> list[tuple[str, ...]]:
    """Every command, with the groups it is in."""
    found: list[tuple[str, ...]] = []

    def walk(command: click.Command, path: tuple[str, ...]) -> None:
        found.append(path)
        if isinstance(command, click.Group):
            context = click.Context(command)
            for name in command.list_commands(context):
                child = command.get_command(context, name)
                assert child is not None
                walk(child, (*path, name))

    walk(cli, ())
    return found


def test_all_commands_are_found() -> None:
    """The list the next tests go through has what the design promises."""
    names = {" ".join(path) for path in all_commands()}
    assert {"demo", "grade", "regrade", "diff", "doctor", "bench list", "bench show", "bench check"} <= names
    assert {"env plan", "env build", "env check", "env list", "env remove"} <= names


@pytest.mark.parametrize("path", all_commands(), ids=lambda path: " ".join(path) or "bw")
def test_every_command_has_help(path: tuple[str, ...]) -> None:
    """Help says what the command does and names every option."""
    from click.testing import CliRunner

    done = CliRunner().invoke(cli, [*path, "--help"])
    assert done.exit_code == 0, done.output
    assert done.output.startswith("Usage: ")
    assert len(done.output.splitlines()) > 4
    command: click.Command = cli
    for name in path:
        assert isinstance(command, click.Group)
        found = command.get_command(click.Context(command), name)
        assert found is not None
        command = found
    if not isinstance(command, click.Group):
        assert "--json" in done.output
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                assert parameter.help, f"{path}: {parameter.name} has no help"


def test_version(bw: Run) -> None:
    """The version is printed on request."""
    done = bw("--version")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("benchwright, version ")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["grad"], "No such command 'grad'"),
        (["grade"], "Missing argument 'BENCHMARK'"),
        (["grade", "starter", "x.jsonl", "--workers", "0"], "--workers"),
        (["grade", "starter", "x.jsonl", "--isolation", "none"], "--isolation"),
        (["grade", "startr", "x.jsonl"], "did you mean starter"),
        (["bench", "show", "nothing"], "no benchmark named 'nothing'"),
        (["bench", "show", "starter", "Starter/1000"], "no starter problem named"),
        (["bench", "show", "bigcodebench", "--data-version", "v9"], "no version of bigcodebench named 'v9'"),
        (["env", "check", "starter"], "bw env build starter"),
        (["env", "plan", "starte"], "did you mean starter"),
        (["env", "remove", "starter"], "no built environment"),
        (["regrade", "nowhere"], "There is no folder nowhere"),
        (["diff", "nowhere", "there"], "no run in the store named 'nowhere'; there is no run at all in"),
    ],
)
def test_misuse_ends_with_2_and_one_sentence(bw: Run, arguments: list[str], words: str) -> None:
    """Misuse is said in one plain sentence on standard error, without a traceback, and nothing on standard output."""
    done = bw(*arguments)
    assert done.returncode == 2, done
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    if done.stderr.startswith("bw: "):
        assert len(done.stderr.strip().splitlines()) == 1


def test_nothing_in_a_message_steers_the_terminal(bw: Run) -> None:
    """A name that is told back is spelled out where it holds control characters."""
    done = bw("regrade", "a\x1b]0;title\x07b")
    assert done.returncode == 2
    assert "\x1b" not in done.stderr
    assert r"a\x1b]0;title\x07b" in done.stderr


def test_nothing_in_a_table_steers_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """Cells and lines of tables are spelled out likewise, and keep their own colours."""
    console().print(simple_table("[bold]t[/bold]", ("c",), [("a\x1b[2Jb",)]))
    console().print("[bold]x\x1b[2Jy[/bold]")
    printed = capsys.readouterr().out
    assert "\x1b[2J" not in printed
    assert printed.count(r"\x1b[2J") == 2


def test_a_relative_home_is_misuse(bw: Run) -> None:
    """The variable and its value are named."""
    done = bw("env", "list", BENCHWRIGHT_HOME="relative")
    assert done.returncode == 2
    assert "BENCHWRIGHT_HOME" in done.stderr


def test_machine_trouble_ends_with_3(bw: Run, tmp_path: Path) -> None:
    """What the machine cannot do has an exit code of its own."""
    home = private_home(tmp_path / "home")
    (home / "records.sqlite").mkdir()
    done = bw("grade", "starter", write_samples(tmp_path / "s.jsonl", references(1)), "--ids", "Starter/0")
    assert done.returncode == 3
    assert "cannot be opened" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["bench", "list"],
        ["bench", "show", "starter"],
        ["bench", "show", "starter", "--stats"],
        ["bench", "show", "starter", "Starter/3"],
        ["env", "list"],
        ["env", "plan", "starter"],
        ["doctor"],
    ],
    ids=" ".join,
)
def test_json_is_one_object_on_standard_output(bw: Run, arguments: list[str]) -> None:
    """With --json standard output is exactly one JSON object; without, it is text."""
    done = bw(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    assert isinstance(json.loads(done.stdout), dict)
    assert len(done.stdout.splitlines()) == 1
    text = bw(*arguments)
    assert text.returncode == 0
    assert text.stdout.strip()
    assert "Traceback" not in text.stderr


def test_a_prompt_is_printed_as_it_is(bw: Run) -> None:
    """`--prompt` gives the text a model is sent and nothing else: the data's own for a base model, more for a chat."""
    task = json.loads(bw("bench", "show", "starter", "Starter/0", "--json").stdout)["prompts"]["complete"]
    base = bw("bench", "show", "starter", "Starter/0", "--prompt", "complete", "--mode", "base")
    assert base.stdout == task + "\n"
    chat = bw("bench", "show", "starter", "Starter/0", "--prompt", "complete", "--prefill")
    assert f"```\n{task.strip()}\n```\n" in chat.stdout
    assert chat.stdout.rstrip().endswith("```python")
    both = json.loads(bw("bench", "show", "starter", "Starter/0", "--prompt", "complete", "--json").stdout)
    assert (both["mode"], both["prefill"]) == ("chat", "")


@pytest.mark.namespaces
def test_grade_regrade_diff_and_check(bw: Run, tmp_path: Path) -> None:
    """The whole path from the command line: JSON keys of the design, rows, and silence on standard error."""
    private_home(tmp_path / "home")
    samples = write_samples(tmp_path / "samples.jsonl", references(2), model="someone")
    ids = ",".join(first_ids(3))
    checked = bw("bench", "check", "starter", "--ids", ids, "--json")
    assert (checked.returncode, checked.stderr) == (0, "")
    assert json.loads(checked.stdout)["reference_passes"] == 3

    graded = bw("grade", "starter", samples, "--ids", ids, "--out", "out", "--json")
    assert (graded.returncode, graded.stderr) == (0, "")
    document = json.loads(graded.stdout)
    promised = {
        "benchmark", "version", "variant", "subset", "model", "run_id", "problems", "attempts", "solved", "faults",
        "estimates", "wall_seconds", "cpu_seconds", "results",
    }  # fmt: skip
    assert promised <= set(document)
    assert (document["model"], document["problems"], document["attempts"], document["solved"]) == ("someone", 3, 2, 2)
    assert set(document["estimates"]) == {"pass@1", "pass@1[calibrated]", "pass@1[extracted]"}
    for estimate in document["estimates"].values():
        assert {"value", "low", "high", "method", "n"} <= set(estimate)
    rows = [json.loads(line) for line in (tmp_path / document["results"]).read_text().splitlines()]
    assert len(rows) == 6
    for row in rows:
        assert {"problem_id", "sample", "outcome", "reason", "tests"} <= set(row)
        assert row["outcome"] in set(Outcome) and row["reason"] in set(Reason)

    text = bw("grade", "starter", samples, "--ids", ids, "--out", "out")
    assert text.returncode == 0
    for words in ("calibrated", "extracted (uncalibrated)", "Missing samples", first_ids(3)[2], "0 executed"):
        assert words in text.stdout, text.stdout
    assert "\x1b" not in text.stdout

    again = bw("regrade", "out", "--json")
    assert (again.returncode, json.loads(again.stdout)["changed"]) == (0, [])
    assert "0 verdicts changed" in bw("regrade", "out").stdout
    same = bw("diff", "out", "out", "--json")
    assert (same.returncode, json.loads(same.stdout)["compared"]) == (0, 6)
    assert "0 verdicts differ" in bw("diff", "out", "out").stdout


def test_without_out_the_folder_is_named_after_the_file(bw: Run, tmp_path: Path) -> None:
    """The default folder is below the current one, carries the file's name, and is printed."""
    private_home(tmp_path / "home")
    samples = write_samples(tmp_path / "my-model.jsonl", [("Starter/0", "")])
    done = bw("grade", "starter", samples, "--ids", "Starter/0", "--json")
    assert done.returncode == 0, done.stderr
    folder = Path(json.loads(done.stdout)["results"]).parent
    assert folder.parent == Path("benchwright-results")
    assert folder.name.startswith("my-model-")
    assert (tmp_path / folder / "rows.jsonl").exists()


@pytest.mark.parametrize("ids", ["", " , "])
def test_an_empty_list_of_ids_does_not_mean_all(bw: Run, tmp_path: Path, ids: str) -> None:
    """An option that was meant to choose and names nothing is misuse."""
    private_home(tmp_path / "home")
    done = bw("grade", "starter", write_samples(tmp_path / "s.jsonl", references(1)), "--ids", ids)
    assert done.returncode == 2
    assert "--ids names no problem" in done.stderr


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    """`bw bench show … | head -1` prints no traceback."""
    command = shlex.join([*PROGRAM, "bench", "show", "starter", "Starter/0"])
    done = subprocess.run(["bash", "-c", f"{command} | head -1"], capture_output=True, text=True)
    assert done.returncode == 0
    assert "Traceback" not in done.stderr


def test_text_that_no_encoding_carries_is_printed(tmp_path: Path) -> None:
    """A lone surrogate in a model's name neither ends the program nor spoils the JSON."""
    private_home(tmp_path / "home")
    samples = write_samples(tmp_path / "s.jsonl", [("Starter/0", "")], model="m\ud800ä")
    arguments = ("grade", "starter", samples, "--ids", "Starter/0", "--out", "out")
    done = start_bw(tmp_path, *arguments, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["model"] == "m\ud800ä"
    text = start_bw(tmp_path, *arguments)
    assert (text.returncode, "m\\ud800ä" in text.stdout) == (0, True)
