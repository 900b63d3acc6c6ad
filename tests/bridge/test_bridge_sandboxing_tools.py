"""Real runs of Inspect with a scripted model in our sandboxes: its injected tools, its model proxy, many at once."""

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import inspect_streams  # noqa: F401 - imported for what it does
import pytest
from inspect_ai import Task
from inspect_ai import eval as run_tasks
from inspect_ai.agent import Agent, AgentState, agent, sandbox_agent_bridge
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog
from inspect_ai.model import ChatMessage, ChatMessageTool, GenerateConfig, ModelOutput, ModelUsage, get_model
from inspect_ai.solver import Solver, generate, use_tools
from inspect_ai.tool import ToolChoice, ToolInfo, bash, bash_session, text_editor
from inspect_ai.util import sandbox
from sandboxing_pieces import Place, place

from benchwright.bridge.sandboxing import opened

pytestmark = pytest.mark.namespaces


ASK = """
import json, socket, time, urllib.request
for _ in range(600):
    try:
        socket.create_connection(("127.0.0.1", 13131)).close()
        break
    except OSError:
        time.sleep(0.05)
body = {"model": "inspect", "messages": [{"role": "user", "content": "hello"}]}
request = urllib.request.Request(
    "http://127.0.0.1:13131/v1/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
)
print(json.load(urllib.request.urlopen(request, timeout=120))["choices"][0]["message"]["content"])
"""
Call = tuple[str, dict[str, Any]]


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """The provider that needs no engine."""
    with place("namespace", tmp_path_factory.getbasetemp()) as found:
        yield found


def said(output: ModelOutput) -> ModelOutput:
    """With a usage: Inspect would fetch a tokenizer to count."""
    output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return output


def calls(*script: Call) -> Callable[..., ModelOutput]:
    """A model that makes these calls one after the other, in every conversation, and then ends it."""

    def answer(
        messages: list[ChatMessage], tools: list[ToolInfo], choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        done = sum(isinstance(message, ChatMessageTool) for message in messages)
        if done < len(script):
            name, arguments = script[done]
            return said(ModelOutput.for_tool_call("mockllm", name, arguments))
        return said(ModelOutput.from_content("mockllm", "done"))

    return answer


def run(
    where: Place,
    folder: Path,
    solver: Solver | Agent | list[Solver],
    outputs: Callable[..., ModelOutput] | Sequence[ModelOutput],
    samples: int = 1,
) -> EvalLog:
    """Run a task whose samples have a sandbox each."""
    dataset = [Sample(input="work", sandbox=where.spec) for _ in range(samples)]
    model = get_model("mockllm/model", custom_outputs=outputs, memoize=False)
    (log,) = run_tasks(
        Task(dataset=dataset, solver=solver),
        model=model,
        display="none",
        log_dir=str(folder),
        max_samples=samples,
        max_sandboxes=samples,
    )
    return log


def answers(log: EvalLog) -> list[str]:
    """What the tools answered in the only sample."""
    assert log.status == "success", log.error
    (sample,) = log.samples or []
    assert sample.error is None, sample.error
    for message in sample.messages:
        assert not isinstance(message, ChatMessageTool) or message.error is None, message
    return [message.text for message in sample.messages if isinstance(message, ChatMessageTool)]


def shell(command: str) -> Call:
    """A call of the shell."""
    return "bash", {"command": command}


def edit(command: str, **options: Any) -> Call:
    """A call of the text editor."""
    return "text_editor", {"command": command, "path": "/testbed/file.txt", **options}


def test_the_text_editor(known: Place, tmp_path: Path) -> None:
    """Inspect's program for it is put in and runs without a network: a file is made, changed and shown."""
    script = calls(
        edit("create", file_text="one\ntwo\n"),
        edit("str_replace", old_str="two", new_str="three"),
        edit("view"),
    )
    *_, shown = answers(run(known, tmp_path, [use_tools(text_editor()), generate()], script))
    lines = re.findall(r"^ *\d+\t(.+)$", shown, re.MULTILINE)
    assert lines == ["one", "three"]


def test_a_session_of_the_shell(known: Place, tmp_path: Path) -> None:
    """The session keeps its folder, a command in it reads what is typed, and what it leaves running goes on."""

    def type_in(text: str) -> Call:
        return "bash_session", {"action": "type_submit", "input": text}

    script = calls(
        type_in("mkdir -p /tmp/here && cd /tmp/here && (sleep 987 &) && echo ready"),
        type_in("echo asked; read word; echo got:$word"),
        type_in("typed"),
        type_in("count=$(ps -eo args | grep -c '[s]leep 987'); echo $PWD; echo $count"),
        type_in("true"),  # a session shows what came so far once nothing has come for half a second
        type_in("true"),
    )
    found = "".join(answers(run(known, tmp_path, [use_tools(bash_session()), generate()], script))).replace("\r", "")
    assert re.search(r"ready\n.*asked\n.*got:typed\n.*/tmp/here\n1\n", found, re.DOTALL), found


def test_a_request_to_the_model_from_inside(known: Place, tmp_path: Path) -> None:
    """A program inside asks the model through Inspect's proxy, with no network but the sandbox's own."""
    heard: list[Any] = []

    @agent(name="asking")
    def asking() -> Agent:
        async def execute(state: AgentState) -> AgentState:
            async with sandbox_agent_bridge(state) as bridge:
                heard.append(await sandbox().exec(["python3", "-c", ASK], timeout=300))
                command = ["sh", "-c", "echo out; echo err >&2; pwd; exit 3"]
                heard.append(await sandbox().exec_remote(command, stream=False))
            return bridge.state

        return execute

    log = run(known, tmp_path, asking(), [said(ModelOutput.from_content("mockllm", "from the model"))])
    assert log.status == "success", log.error
    asked, remote = heard
    assert (asked.stdout, asked.returncode) == ("from the model\n", 0), asked.stderr
    assert (remote.returncode, remote.stdout.split()[0], remote.stderr) == (3, "out", "err\n")


@pytest.mark.slow
def test_twenty_samples_at_once(known: Place, tmp_path: Path) -> None:
    """Each with its own files, an Inspect tool in each; nothing is open afterwards."""
    script = calls(shell("echo mine >> file"), shell("cat file"))
    log = run(known, tmp_path, [use_tools(bash()), generate()], script, samples=20)
    assert log.status == "success", log.error
    samples = log.samples or []
    assert [sample.error for sample in samples] == [None] * 20
    assert [sample.messages[-2].text.strip() for sample in samples] == ["mine"] * 20
    assert not opened._open
