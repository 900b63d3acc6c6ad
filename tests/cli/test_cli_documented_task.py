"""What the documentation shows of other people's tasks, scaffolds and scripts is run as it stands on its pages."""

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from little_home import FUTURE, SOUND, BuiltHome, write_rows
from running_bw import Done, Run

sys.path.append(str(Path(__file__).parents[1] / "bridge"))

import inspect_streams  # noqa: F401 - imported for what it does
from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.model import ChatMessageTool, ChatMessageUser

from benchwright.app.agents.sandboxes import sandbox_for
from benchwright.app.workspace import Workspace
from benchwright.bridge.sandboxing.config import WorkspaceConfig
from benchwright.core.errors import UsageError
from benchwright.testing.agents import SUBMIT, Turn, by_bash, by_editor, call

pytestmark = [pytest.mark.namespaces, pytest.mark.slow]

DOCS = Path(__file__).parents[2] / "docs"
TASK_PAGE = DOCS / "how-to" / "use-benchwrights-sandboxes-in-inspect.md"
SCAFFOLD_PAGE = DOCS / "reference" / "scaffolds.md"
SCRIPT_PAGE = DOCS / "how-to" / "run-an-agent.md"
PLAIN_TASK = """
from inspect_ai import Task, task
from inspect_ai.dataset import Sample

@task
def plain():
    return Task(dataset=[Sample(input="Mend it.")], sandbox="benchwright/namespace")
"""


def block(page: Path, language: str) -> str:
    """The one block of code of a language on a page."""
    (code,) = re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return str(code)


@pytest.fixture
def folder(built: BuiltHome, tmp_path: Path) -> Path:
    """The folder that commands run in; its home has the built environments and nothing else."""
    built.private(tmp_path / "home")
    return tmp_path


def write_script(folder: Path, turns: dict[str, list[Turn]]) -> Path:
    """A script for the model."""
    path = folder / "turns.json"
    path.write_text(json.dumps(turns), encoding="utf-8")
    return path


def evaluate(folder: Path, file: str, turns: list[Turn], *options: object) -> tuple[Done, Path]:
    """Call Inspect's command on a file of tasks with scripted turns; gives what it printed, and the log."""
    script = write_script(folder, {"*": turns})
    command = [sys.executable, "-m", "inspect_ai", "eval", file, "--model", "benchwright/scripted", "-M"]
    done = subprocess.run(
        [*command, f"script={script}", "--display", "plain", "--log-dir", "logs", *map(str, options)],
        cwd=folder,
        env=os.environ | {"BENCHWRIGHT_HOME": str(folder / "home"), "NO_COLOR": "1", "COLUMNS": "1000"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    (log,) = (folder / "logs").glob("*.eval")
    return Done(returncode=done.returncode, stdout=done.stdout, stderr=done.stderr), log


def answers(log: EvalLog) -> list[ChatMessageTool]:
    """What the tools said in the log's only sample."""
    (sample,) = log.samples or ()
    return [message for message in sample.messages if isinstance(message, ChatMessageTool)]


def test_the_documented_task_works_in_a_built_instance(bw: Run, built: BuiltHome, folder: Path) -> None:
    """Inspect's agent finds the repository and its environment by Inspect's own tools, and its patch is resolved."""
    (folder / "fixing.py").write_text(block(TASK_PAGE, "python"), encoding="utf-8")
    looking = "git status --short && pwd && type python"
    testing = "python -m pytest -q tests > /tmp/out 2>&1; cat /tmp/out"  # in one piece: a session shows parts
    turns = [
        call("bash_session", action="type_submit", input=f"({looking}) > /tmp/seen 2>&1; cat /tmp/seen"),
        *by_editor(built.little.gold)[:-1],
        call("bash_session", action="type_submit", input=testing),
        call("submit", answer="Done."),
    ]
    place = {"problem": SOUND, "benchmark": "repositories", "data": built.dataset, "specs": built.specs}
    options = [word for name, value in place.items() for word in ("-T", f"{name}={value}")]
    done, path = evaluate(folder, "fixing.py", turns, *options)
    log = read_eval_log(str(path))
    assert (done.returncode, log.status) == (0, "success"), done
    said = answers(log)
    assert "/testbed\npython is /" in said[0].text
    assert "1 passed" in said[-1].text
    (sample,) = log.samples or ()
    assert sample.scores is not None and sample.scores["changed"].value == 1
    graded = bw("grade", "repositories", path, *built.rows, "--ids", SOUND, "--json")
    assert graded.returncode == 0, graded
    assert json.loads(graded.stdout)["solved"] == 1


def test_a_sandbox_without_its_image_says_what_to_write(folder: Path) -> None:
    """The provider's bare name ends the task with a sentence that names the helper and its page."""
    (folder / "plain.py").write_text(PLAIN_TASK, encoding="utf-8")
    done, path = evaluate(folder, "plain.py", [])
    error = read_eval_log(str(path)).error
    words = done.stdout + done.stderr + (error.message if error else "")
    assert "sandbox_for(BENCHMARK, ID) of benchwright.app.agents.sandboxes" in words
    assert f"docs/how-to/{TASK_PAGE.name}" in words


def test_sandboxes_of_instances(built: BuiltHome, tmp_path: Path) -> None:
    """A built instance has its layers and a grading's limits; what cannot be opened is refused with what to do."""
    where: dict[str, Any] = {"data": built.dataset, "specs": built.specs, "workspace": Workspace(home=built.home)}
    spec = sandbox_for("repositories", SOUND, **where)
    assert spec.type == "benchwright/namespace" and isinstance(spec.config, WorkspaceConfig)
    assert all(layer.is_dir() for layer in spec.config.image.layers) and spec.config.workdir == "/testbed"
    assert spec.config.memory_bytes > 0
    with pytest.raises(UsageError, match="namespace or docker, and k8s was given"):
        sandbox_for("repositories", SOUND, sandbox="k8s", **where)
    with pytest.raises(UsageError, match=rf"not built \({SOUND}\); give `bw env build repositories --dataset"):
        sandbox_for("repositories", SOUND, **where | {"workspace": Workspace(home=tmp_path)})
    rows = write_rows(tmp_path / "rows.jsonl", built.little.rows())
    with pytest.raises(UsageError, match=f"environment of {FUTURE} cannot be had on this machine: "):
        sandbox_for("repositories", FUTURE, **where | {"data": rows})


@pytest.fixture
def scaffold(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Installs the documented scaffold as the documented entry point has it, or as another one has it."""

    def install(target: str | None = None) -> None:
        ((name, own),) = tomllib.loads(block(SCAFFOLD_PAGE, "toml"))["project"]["entry-points"][
            "benchwright.scaffolds"
        ].items()
        module = own.partition(":")[0]
        site = folder / "site"
        metadata = site / f"{module}-1.0.dist-info"
        metadata.mkdir(parents=True)
        (site / f"{module}.py").write_text(block(SCAFFOLD_PAGE, "python"), encoding="utf-8")
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
        (metadata / "entry_points.txt").write_text(f"[benchwright.scaffolds]\n{name} = {target or own}\n")
        monkeypatch.syspath_prepend(site)
        monkeypatch.delitem(sys.modules, module, raising=False)

    return install


@pytest.fixture
def run(bw: Run, built: BuiltHome, folder: Path) -> Callable[..., Done]:
    """Starts a run of scripted turns."""

    def start(turns: dict[str, list[Turn]], *options: object) -> Done:
        return bw(
            "run", "repositories", *built.rows, "--ids", SOUND, "--model", "benchwright/scripted", "-M",
            f"script={write_script(folder, turns)}", "--no-preflight", "--out", "out", "--json", *options,
        )  # fmt: skip

    return start


def attempt_of(folder: Path) -> dict[str, Any]:
    """What is recorded of the only sample."""
    (line,) = (folder / "out" / "attempts.jsonl").read_text(encoding="utf-8").splitlines()
    return dict(json.loads(line))


def log_of(folder: Path) -> EvalLog:
    """The only log."""
    (path,) = (folder / "out" / "logs").glob("*/*.eval")
    return read_eval_log(str(path))


def test_the_documented_scaffold_resolves_and_tells_the_budget(
    run: Callable[..., Done], built: BuiltHome, folder: Path, scaffold: Callable[..., None]
) -> None:
    """It works until the model has nothing more to do; the prompt names its tool, and each answer what is left."""
    scaffold()
    fix = by_bash(built.little.gold)[0]
    done = run({"*": [call("bash", command="cd little; N=7"), call("bash", command="pwd; echo N=$N"), fix]},
               "--scaffold", "one-shell")  # fmt: skip
    assert done.returncode == 0, done
    report = json.loads(done.stdout)
    assert report["solved"] == 1
    attempt = attempt_of(folder)
    assert (attempt["ending"], attempt["turns"], attempt["facts"]["one-shell"]) == ("submitted", 4, "1.0")
    log = log_of(folder)
    (sample,) = log.samples or ()
    prompt = sample.messages[0]
    assert isinstance(prompt, ChatMessageUser)
    assert "- `bash` runs commands." in prompt.text and "`submit`" not in prompt.text
    said = [answer.text for answer in answers(log)]
    assert "/testbed/little\nN=7" in said[1]
    assert len(said) == 3 and all("Budget left: " in words for words in said)


@pytest.mark.parametrize(
    ("last", "ending"),
    [
        ({**call("bash", command="echo 1 >> notes.txt"), "usage": {"input_tokens": 500}}, "out_of_budget"),
        ({"text": "No.", "stop": "content_filter"}, "refused"),
        ({"text": "", "stop": "model_length"}, "overflowed"),
    ],
)
def test_how_the_documented_scaffold_ends(
    run: Callable[..., Done],
    folder: Path,
    scaffold: Callable[..., None],
    last: Turn,
    ending: str,
) -> None:
    """Budget, refusal and a full context end it, with what it has done until then."""
    scaffold()
    done = run({"*": [call("bash", command="ls"), last, SUBMIT]}, "--scaffold", "one-shell", "--sample-tokens", "400")
    assert done.returncode == 0, done
    assert (attempt_of(folder)["ending"], attempt_of(folder)["turns"]) == (ending, 2)
    assert ("notes.txt" in (folder / "out" / "predictions.jsonl").read_text()) == (ending == "out_of_budget")


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("one_shell:OneShell", "names the class OneShell; it has to name an instance of it."),
        ("one_shell:STOPS", "names an object of type dict, which has no name; docs/reference/scaffolds.md says"),
    ],
)
def test_an_entry_point_that_names_no_scaffold_is_refused(
    run: Callable[..., Done], folder: Path, scaffold: Callable[..., None], target: str, words: str
) -> None:
    """In one sentence, before anything is written."""
    scaffold(target)
    done = run({"*": []}, "--scaffold", "one-shell")
    assert done.returncode == 2
    assert done.stderr.startswith("bw: The entry point of the scaffold 'one-shell' ") and words in done.stderr
    assert not (folder / "out").exists()


def test_the_documented_script_is_played(run: Callable[..., Done], folder: Path) -> None:
    """Each turn as the page says: text, a call that could not be read, a response that was cut off, defaults."""
    (turns,) = json.loads(block(SCRIPT_PAGE, "json")).values()
    done = run({SOUND: turns})
    assert done.returncode == 0, done
    attempt = attempt_of(folder)
    assert (attempt["ending"], attempt["turns"]) == ("submitted", 4)
    assert attempt["usage"]["input_tokens"] == 900 + 3 * 100
    assert attempt["usage"]["output_tokens"] == 20 + 3 * 10
    unread = answers(log_of(folder))[1]
    assert unread.error is not None and "This was no JSON." in unread.error.message


def test_a_script_that_is_over_says_so_until_the_scaffold_ends(run: Callable[..., Done], folder: Path) -> None:
    """After its last turn the model is done, as often as it is asked."""
    done = run({SOUND: [call("bash", command="ls")]})
    assert done.returncode == 0, done
    assert (attempt_of(folder)["ending"], attempt_of(folder)["turns"]) == ("gave_up", 4)
    (sample,) = log_of(folder).samples or ()
    assert [message.text for message in sample.messages if message.role == "assistant"][1:] == ["I am done."] * 3
