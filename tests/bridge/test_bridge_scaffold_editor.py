"""Inspect's text editor as our tool, in a sandbox of ours: its form, its errors, and what an agent may break."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.model import ModelOutput
from sandboxing_pieces import Place, place
from scaffold_pieces import SUBMIT, Worked, bash, turn, work

from benchwright.bridge.scaffolds import editor_tool
from benchwright.bridge.scaffolds.base import ScaffoldSettings
from benchwright.bridge.scaffolds.loop import LOOP, LoopScaffold
from benchwright.core.attempts import Ending
from benchwright.core.errors import SandboxFault

pytestmark = pytest.mark.namespaces


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """The provider that needs no engine."""
    with place("namespace", tmp_path_factory.getbasetemp()) as found:
        yield found


def edit(command: str, path: str = "/testbed/a.py", **more: Any) -> tuple[str, dict[str, Any]]:
    """A call of the editor."""
    return "text_editor", {"command": command, "path": path, **more}


def loop(outputs: Any, known: Place, folder: Path, **options: Any) -> Worked:
    """The whole default scaffold."""
    return work(LOOP, outputs, folder, where=known.spec, **options)


def answers(worked: Worked) -> list[str]:
    """What the tools said, without what is left."""
    texts = [text.removeprefix("tool: ") for text in worked.texts if text.startswith("tool: ")]
    return [text.partition("Budget left:")[0].rstrip("\n") for text in texts]


def test_a_file_is_made_seen_and_changed(known: Place, tmp_path: Path) -> None:
    """Under the names and parameters of Anthropic's tool, together with the other tools."""
    calls = [
        edit("create", file_text="one\ntwo\n"),
        edit("insert", insert_line=1, insert_text="between"),
        edit("str_replace", old_str="two", new_str="three"),
        edit("str_replace", old_str="one\n"),
        edit("view", view_range=[1, 1]),
    ]
    patch = "*** Begin Patch\n*** Update File: a.py\n@@\n-three\n+four\n*** End Patch\n"
    outputs = [turn(*calls), turn(("apply_patch", {"patch": patch}), bash("cat a.py")), turn(SUBMIT)]
    worked = loop(outputs, known, tmp_path)
    assert worked.account.ending is Ending.SUBMITTED
    said = answers(worked)
    assert "created" in said[0]
    assert "between" in said[4]
    assert said[5:7] == ["Done:\nupdated a.py", "between\nfour"]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (edit("view", "/nope"), "does not exist"),
        (edit("str_replace", "/etc/passwd", old_str="nobody is here", new_str="x"), "did not appear"),
        (edit("undo_edit"), "undo_edit"),
        (edit("insert", "/etc/passwd", insert_line=1), "new_str"),
        (edit("view", "/etc/passwd", view_range=["a"]), "is not valid"),
    ],
)
def test_a_wrong_call_is_answered_with_an_error(known: Place, tmp_path: Path, call: Any, words: str) -> None:
    """The model is told, and goes on."""
    worked = loop([turn(call), turn(SUBMIT)], known, tmp_path)
    error = worked.sample.messages[2].error  # type: ignore[union-attr]
    assert error is not None
    assert words in error.message


def test_a_long_file_is_clipped(known: Place, tmp_path: Path) -> None:
    """Head and tail are shown, as for commands, and no control characters."""
    outputs = [turn(bash("seq 100000 > long; printf '\\033' >> long"), edit("view", "/testbed/long")), turn(SUBMIT)]
    worked = loop(outputs, known, tmp_path, settings=ScaffoldSettings(output_bytes=1000))
    shown = answers(worked)[1]
    assert "bytes left out" in shown
    assert len(shown) < 1100


def test_an_agent_that_removes_the_programs_is_told(known: Place, tmp_path: Path) -> None:
    """Its own doing is no fault of the sandbox: the sample ends as it would have, with the editor unusable."""
    outputs = [
        turn(bash("rm -rf /usr /var /bin 2>/dev/null; echo removed")),
        turn(edit("view", "/testbed"), bash("true"), ("apply_patch", {"patch": "*** Begin Patch\n*** End Patch\n"})),
        turn(SUBMIT),
    ]
    worked = loop(outputs, known, tmp_path)
    assert worked.account.ending is Ending.SUBMITTED
    assert worked.account.turns == 3


def test_a_sandbox_without_the_editors_needs_is_our_fault(known: Place, tmp_path: Path) -> None:
    """What fails before the agent has done anything is never told to the model."""

    def answer(*request: Any) -> ModelOutput:
        raise AssertionError("the model was asked")

    scaffold = LoopScaffold(name="loop", tools=LOOP.tools, folder="/nowhere")
    with pytest.raises(SandboxFault, match="text editor cannot be used"):
        work(scaffold, answer, tmp_path, where=known.spec)


def test_it_is_not_taken_for_the_providers_own() -> None:
    """Inspect would put Anthropic's tool in the place of one with just these parameters, whatever the settings say."""
    names = set(editor_tool.TextEditor(ScaffoldSettings()).tool().parameters.properties)
    assert names - {"command", "path", "file_text", "old_str", "new_str", "insert_line", "view_range"} == {
        "insert_text"
    }
