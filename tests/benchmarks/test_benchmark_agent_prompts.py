"""The prompt of agents, word for word."""

from dataclasses import replace

import pytest

from benchwright.benchmarks.agent_prompts import LOOP_TOOLS, agent_prompt
from benchwright.core.agents import AgentLimits
from benchwright.core.errors import UsageError
from benchwright.core.prompts import Mode
from benchwright.core.repositories import RepositoryProblem

PROBLEM = RepositoryProblem(
    benchmark="swebench-verified",
    id="o__r-1",
    repo="o/r",
    version="1.0",
    base_commit="a" * 40,
    environment_commit="b" * 40,
    issue="Crash on {braces} and %s\n\n    indented\n",
    hints="a hint",
    created_at="2020-01-01",
    reference_patch="the reference",
    test_patch="the tests",
    fail_to_pass=("t1",),
    pass_to_pass=("t2",),
    digest="c" * 64,
)

WHOLE = """\
The git repository in /testbed has an issue. Change the repository's files so that the issue is resolved.

<issue>
Crash on {braces} and %s

    indented
</issue>

You have these tools:
- `bash` runs commands. Working folder, variables and functions carry over from call to call; background processes go \
on; of long output the middle is left out; a command that takes too long is ended.
- `text_editor` views, creates and edits files.
- `apply_patch` changes several files at once, by a patch in the V4A format.
- `submit` hands in.

Your work is graded by running the repository's own reference tests on it, which you do not see. Do not change \
existing tests. Keep the public names, signatures and returned structures that tests may rely on, unless the issue \
asks for something else.

There is no network, and nobody answers questions. What the repository needs to run is installed.

Your budget is 2,000,000 uncached tokens (input outside the cache, cache writes, and output with reasoning) and \
20,000,000 tokens read from the cache. You are told after every turn what is left. When it is exceeded, the repository \
is handed in as it is then.

When you are done, call `submit`. The repository is then handed in as it is, whether committed or not.
"""


def text(**options: object) -> str:
    """A prompt's text."""
    given = {"tools": LOOP_TOOLS, "limits": AgentLimits(), **options}
    return agent_prompt(PROBLEM, **given).text  # type: ignore[arg-type]


def test_the_whole_prompt() -> None:
    """As it is sent; a change of it is a change of the evaluation, and needs a new version."""
    prompt = agent_prompt(PROBLEM, tools=LOOP_TOOLS, limits=AgentLimits())
    assert prompt.text == WHOLE
    assert (prompt.mode, prompt.prefill, prompt.lead, prompt.stop) == (Mode.CHAT, "", "", ())
    assert prompt.template_digest == "7ed154d94fe6e0827cc2abea7d7c028b558360180d3f90bb3a1346388d4e83ff"


def test_a_prompt_without_a_list_of_tools() -> None:
    """A scaffold that explains its own tools is told the rest, and the command that says what is left."""
    lines = text(tools=(), limits=AgentLimits(cached_reads=None), limit_command="tokens-left").splitlines()
    assert "You have these tools:" not in lines
    assert lines[-3].startswith("Your budget is 2,000,000 uncached tokens (")
    assert ". `tokens-left` says what is left. When it is exceeded" in lines[-3]
    assert lines[-1].startswith("When you are done, end your work with a short summary.")


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        (AgentLimits(turns=3, cost=1.5, wall_seconds=60), ", 3 turns (responses with all their tool calls), 1.5 US"),
        (AgentLimits(turns=3, cost=1.5, wall_seconds=60), "dollars and 60 seconds. You are told"),
        (AgentLimits(uncached_tokens=None, cached_reads=None), "\n\nThere is no budget on this task.\n\n"),
        (AgentLimits(uncached_tokens=None, cached_reads=None, turns=7), "Your budget is 7 turns (responses"),
    ],
)
def test_every_limit_is_told(limits: AgentLimits, words: str) -> None:
    """And only those there are."""
    assert words in text(limits=limits)


def test_the_problem_gives_its_issue_alone() -> None:
    """Neither hints nor tests nor the reference, whatever they hold."""
    other = replace(PROBLEM, hints="x", reference_patch="y", test_patch="z", fail_to_pass=("w",), id="v")
    assert agent_prompt(other, tools=LOOP_TOOLS, limits=AgentLimits()).text == WHOLE


def test_the_digest_is_the_templates() -> None:
    """The same for all problems of a run; another one for other words around them."""

    def digest(problem: RepositoryProblem = PROBLEM, **options: object) -> str:
        given = {"tools": LOOP_TOOLS, "limits": AgentLimits(), **options}
        return agent_prompt(problem, **given).template_digest  # type: ignore[arg-type]

    assert digest(replace(PROBLEM, issue="another")) == digest()
    others = {digest(tools=("bash", "submit")), digest(limits=AgentLimits(turns=1)), digest(limit_command="left")}
    assert len({digest(), *others}) == 4


def test_an_unknown_tool_is_refused() -> None:
    """A scaffold must not offer what the prompt is silent about."""
    with pytest.raises(UsageError, match="no line for the tool 'browser'"):
        text(tools=("bash", "browser"))
