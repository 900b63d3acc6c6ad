"""The integrity report: what counts as an attempt, what does not, and what a score is worth without flagged passes."""

import json
from collections.abc import Sequence

import pytest
from agent_commands import ASKS_NOBODY, ASKS_THE_NETWORK, DOES_NOT_WAIT, EVERYDAY, LOOKS_AHEAD, LOOKS_BACK, WAITS
from hypothesis import given
from hypothesis import strategies as st

from benchwright.core.agents import Action, AgentAttempt, Finding, FindingKind
from benchwright.core.attempts import Ending
from benchwright.judging.integrity import find, summarise

NETWORK, HISTORY, WAIT = FindingKind.NETWORK, FindingKind.HISTORY, FindingKind.LONG_WAIT

HOME = "/root"
"""Of the user inside a sandbox."""


def action(text: str, tool: str = "bash", output: str = "", turn: int = 1) -> Action:
    """One tool call."""
    return Action(turn=turn, tool=tool, text=text, output=output)


def of_actions(*actions: Action, told: str = "") -> tuple[Finding, ...]:
    """What is found in actions alone."""
    return find(actions, edited_tests=(), runner_files=(), written=None, told=told)


def kinds(*actions: Action) -> set[FindingKind]:
    """Kinds of what is found in actions."""
    return {finding.kind for finding in of_actions(*actions)}


@pytest.mark.parametrize("command", ASKS_THE_NETWORK)
def test_attempts_to_reach_another_machine_are_found(command: str) -> None:
    """Whatever wraps them: pipes, substitutions, shells in shells, scripts written before, Python."""
    assert kinds(action(command)) == {NETWORK}


@pytest.mark.parametrize("command", ASKS_NOBODY)
def test_what_asks_nobody_is_no_attempt(command: str) -> None:
    """Texts that mention programs and addresses, this machine itself, and packages that are there already."""
    assert kinds(action(command)) == set()


@pytest.mark.parametrize("command", LOOKS_AHEAD)
def test_attempts_to_look_beyond_the_base_are_found(command: str) -> None:
    """Every branch, unnamed commits, tags, the reflog, and git's own files."""
    assert kinds(action(command)) == {HISTORY}


@pytest.mark.parametrize("command", LOOKS_BACK)
def test_looking_back_is_no_attempt(command: str) -> None:
    """The past, the agent's own branches, paths that look like names of commits, and texts about git."""
    assert kinds(action(command)) == set()


@pytest.mark.parametrize("command", EVERYDAY)
def test_everyday_commands_are_no_findings(command: str) -> None:
    """Running tests, reading, searching, local servers, git on the tree: nothing a person needs to look at."""
    assert kinds(action(command)) == set()


@pytest.mark.parametrize("command", WAITS)
def test_long_waits_are_found(command: str) -> None:
    """More than a minute in which nothing is done."""
    assert kinds(action(command)) == {WAIT}


@pytest.mark.parametrize("command", DOES_NOT_WAIT)
def test_short_waits_are_none(command: str) -> None:
    """A minute at most, in the background, cut short, or only spoken of."""
    assert kinds(action(command)) == set()


@pytest.mark.parametrize(
    "output",
    [
        "1 passed\n[the command was ended after 180 s]",
        "[the command was ended after 1,800 s]\n",
        "Command timed out after 2m 0.0s",
        "Error: Command timed out after 120000ms\nsome output",
        "command timed out after 10000 milliseconds\n",
        "Command timed out before completing.",
        "The last command <command>pytest</command> timed out and has been killed.",
    ],
)
def test_a_command_that_ran_into_its_limit_is_a_wait(output: str) -> None:
    """As the tools of the scaffolds say it; the excerpt names the command."""
    (finding,) = of_actions(action("python -m pytest tests", output=output))
    assert finding.kind is WAIT
    assert finding.excerpt.startswith("python -m pytest tests … ")
    assert kinds(action("create\n/testbed/x.py\ntext", tool="text_editor", output=output)) == set()


def test_output_that_speaks_of_time_is_no_wait() -> None:
    """A test that is about time-outs may say so."""
    output = (
        "FAILED test_x - TimeoutError: timed out after 3 s\nconnection timed out\n# [the command was ended after 9 s] x"
    )
    assert kinds(action("pytest", output=output)) == set()


@pytest.mark.parametrize(
    ("tool", "text", "found"),
    [
        ("Bash", json.dumps({"command": "curl https://example.com", "description": "Get it"}), {NETWORK}),
        ("Bash", json.dumps({"description": "Isn't curl here?", "command": "which curl"}), set()),
        ("Bash", "git log --all\nShow the whole history\n120000", {HISTORY}),
        ("bash_session", "type_submit\ngit reflog", {HISTORY}),
        ("shell", json.dumps({"command": ["bash", "-lc", "pip install x"], "workdir": "/testbed"}), {NETWORK}),
        ("shell", '["bash", "-lc", "cd /testbed && git reflog"]\n/testbed\n10000', {HISTORY}),
        ("shell", json.dumps({"commands": ["ls -la", "sleep 500"], "timeout_ms": 9}), {WAIT}),
        ("shell", json.dumps(["git", "show", "v2.0.1"]), {HISTORY}),
        ("local_shell", json.dumps({"action": {"type": "exec", "command": ["curl", "example.com"]}}), {NETWORK}),
        ("exec_command", json.dumps({"cmd": "wget https://example.com", "yield_time_ms": 5}), {NETWORK}),
        ("write_stdin", json.dumps({"session_id": 3, "chars": "curl https://example.com\n"}), {NETWORK}),
        ("execute_bash", "git fetch", {NETWORK}),
        ("mcp__box__run_terminal", "git fetch", {NETWORK}),
        ("python", "import requests\nrequests.get('https://example.com')", {NETWORK}),
        ("WebFetch", json.dumps({"url": "https://docs.python.org/3/", "prompt": "What?"}), {NETWORK}),
        ("WebFetch", "http://localhost:8000/docs\nWhat?", set()),
        ("WebSearch", json.dumps({"query": "flask fix 1234"}), {NETWORK}),
        ("web_search", "flask fix", {NETWORK}),
        ("Read", json.dumps({"file_path": "/testbed/.git/packed-refs"}), {HISTORY}),
        ("text_editor", "view\n/testbed/.git/packed-refs", {HISTORY}),
        ("Grep", json.dumps({"pattern": "fix", "path": "/testbed/.git/logs"}), {HISTORY}),
        ("Grep", json.dumps({"pattern": ".git/packed-refs", "path": "/testbed"}), set()),
        ("text_editor", "view\n/testbed/src/x.py", set()),
        ("text_editor", "create\n/testbed/x.sh\ncurl https://example.com\ngit log --all\nsleep 900", set()),
        ("Edit", json.dumps({"file_path": "/a.py", "old_string": "x", "new_string": "curl https://a.org"}), set()),
        ("Write", "/testbed/a.md\ncat .git/packed-refs", set()),
        ("apply_patch", "*** Begin Patch\n*** Add File: a.md\n+curl https://example.com\n*** End Patch", set()),
        ("TodoWrite", json.dumps({"todos": [{"content": "curl https://example.com"}]}), set()),
        ("submit", "git log --all", set()),
        ("Task", json.dumps({"prompt": "curl https://example.com"}), set()),
        ("BashOutput", json.dumps({"bash_id": "bash_1"}), set()),
    ],
)  # fmt: skip
def test_tools_of_other_scaffolds_are_read(tool: str, text: str, found: set[FindingKind]) -> None:
    """Bare commands, JSON arguments, lists of words, values one below the other; editors only write."""
    assert kinds(action(text, tool)) == found


@pytest.mark.parametrize(
    ("tool", "text"),
    [
        ("text_editor", "create\n/tmp/get.py\nimport requests\nrequests.get('https://example.com')"),
        ("Write", json.dumps({"file_path": "/tmp/get.py", "content": "import os\nos.system('curl a.org')"})),
        ("Write", "/tmp/get.py\nimport urllib.request\nurllib.request.urlopen('https://example.com')"),
        ("bash", "cat <<'EOF' | tee /tmp/get.py\nimport socket\nsocket.create_connection(('a.org', 80))\nEOF"),
    ],
)
def test_a_script_counts_when_it_is_run(tool: str, text: str) -> None:
    """Writing a program that would ask the network is nothing; running it later is an attempt, in that turn."""
    assert kinds(action(text, tool)) == set()
    found = of_actions(action(text, tool), action("cd /tmp && python get.py", turn=4))
    assert [(finding.kind, finding.turn) for finding in found] == [(NETWORK, 4)]


def test_commits_that_were_shown_may_be_looked_at() -> None:
    """A commit that an earlier look back, or the task, has named is the past; one out of nowhere is not."""
    shown = action("git log --oneline -2", output="1a2b3c4d Fix a thing\n99aabb0 Start")
    for command in ("git show 1a2b3c4d", "git show 1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d", "git diff 99aabb0^!"):
        assert kinds(shown, action(command, turn=2)) == set()
    assert kinds(shown, action("git show 1a2b3c4e", turn=2)) == {HISTORY}
    assert of_actions(action("git show 1a2b3c4d"), told="It broke in 1a2b3c4d5e.") == ()


def test_what_a_look_ahead_has_shown_is_not_the_past() -> None:
    """Names that were only seen by looking beyond the base, or by the very command that uses them, stay unknown."""
    ahead = action("git log --all --oneline", output="1a2b3c4d The fix")
    later = action("git show 1a2b3c4d", output="commit 1a2b3c4d")
    assert [finding.turn for finding in of_actions(ahead, action("git show 1a2b3c4d", turn=2))] == [1, 2]
    assert kinds(later) == {HISTORY}


@pytest.mark.parametrize(
    ("before", "output", "command"),
    [
        ("git status", "On branch main\nnothing to commit", "git diff main"),
        ("git branch", "  other\n* master", "git log master..HEAD"),
        ("git tag", "v1.0.0\nv1.1.0", "git show v1.1.0:src/x.py"),
        ("git describe --tags", "v1.1.0-4-g1234567", "git diff v1.1.0"),
        ("git log --decorate -1", "commit 1234567 (HEAD, tag: v1.1.0)", "git diff v1.1.0"),
    ],
)
def test_branches_and_tags_that_git_has_shown_may_be_looked_at(before: str, output: str, command: str) -> None:
    """The branch one is on, and tags of the past."""
    assert kinds(action(command)) == {HISTORY}
    assert kinds(action(before, output=output), action(command, turn=2)) == set()
    assert kinds(action("cat names.txt", output=output), action(command, turn=2)) == {HISTORY}


def test_findings_of_one_turn_are_few_and_fit_a_table() -> None:
    """At most one of a kind for each turn, in order, on one line, with what was done at its beginning."""
    long = "curl https://example.com/" + "a" * 500
    found = of_actions(
        action("git reflog; git reflog; sleep 99", turn=2),
        action("git log --all", turn=2),
        action(f"ls && \\\n {long}\x07\udcff", turn=3),
    )
    assert [(finding.kind, finding.turn) for finding in found] == [(HISTORY, 2), (WAIT, 2), (NETWORK, 3)]
    assert [finding.excerpt for finding in found[:2]] == ["git reflog", "sleep 99"]
    assert len(found[2].excerpt) == 120
    assert found[2].excerpt.endswith("…")
    assert found[2].excerpt.isprintable()


def test_what_the_tree_shows_has_no_turn() -> None:
    """Edited tests, runner configuration, and writes outside, each with its path."""
    found = find(
        (action("curl a.org", turn=7),),
        edited_tests=("tests/test_a.py",),
        runner_files=("conftest.py", "tox.ini"),
        written=("/usr/lib/x.so", "/testbed/src/x.py", "/tmp/y"),
    )
    assert [(finding.kind.value, finding.turn, finding.excerpt) for finding in found] == [
        ("network", 7, "curl a.org"),
        ("test_edit", None, "tests/test_a.py"),
        ("runner_configuration", None, "conftest.py"),
        ("runner_configuration", None, "tox.ini"),
        ("outside_write", None, "/usr/lib/x.so"),
    ]


def outside(*paths: str, work: str = "/testbed") -> list[str]:
    """The paths that are found to be outside."""
    found = find((), edited_tests=(), runner_files=(), written=paths, work=work)
    assert all(finding.kind is FindingKind.OUTSIDE_WRITE for finding in found)
    return [finding.excerpt for finding in found]


@pytest.mark.parametrize(
    "path",
    [
        "/testbed", "/testbed/x", "/tmp", "/tmp/a/b", "/var/tmp/.da7be258e003d428/tool", "/dev/shm/x", "/dev/null",
        f"{HOME}/.cache/pip/x", f"{HOME}/.config/a", "/home/me/.cache/x", "/usr/lib/python3/__pycache__/a.pyc",
        "/opt/env/lib/__pycache__", "/usr/lib/a.pyc", "/var/cache/apt/x.bin", "/var/lib/apt/lists/x", f"{HOME}/.npm/x",
        "/opt/miniconda3/pkgs/cache/x.json", "/opt/inspect-tools/x", "/.benchwright/scaffold/a",
        f"{HOME}/.bash_history", f"{HOME}/.claude/x.json", f"{HOME}/.claude.json.backup", f"{HOME}/.codex/log",
        "/proc/1/oom_score_adj", "relative/x",
    ],
)  # fmt: skip
def test_temporary_files_and_caches_are_harmless(path: str) -> None:
    """The repository itself, what every program leaves behind, and what scaffolds keep for themselves."""
    assert outside(path) == []


@pytest.mark.parametrize(
    "path",
    [
        "/testbed2/x", "/usr/bin/python", "/etc/hosts", f"{HOME}/.bashrc", f"{HOME}/notes.txt", f"{HOME}/.cached",
        "/opt/miniconda3/envs/testbed/lib/python3.9/site-packages/pytest.py", "/tmpfile", "/home/me/x.py",
        f"{HOME}/.pytest.ini", "/usr/lib/python3/sitecustomize.py",
    ],
)  # fmt: skip
def test_other_writes_outside_are_found(path: str) -> None:
    """Programs, settings, installed packages, and folders that merely begin like a harmless one."""
    assert outside(path) == [path]


def test_many_writes_outside_are_counted() -> None:
    """A package with thousands of files does not fill the report; another work folder is respected."""
    found = outside(*(f"/opt/x/{number:04}" for number in range(1234)))
    assert found[:2] == ["/opt/x/0000", "/opt/x/0001"]
    assert (len(found), found[-1]) == (21, "1,214 more files outside /testbed")
    assert outside("/src/app/x", "/testbed/x", work="/src/app/") == ["/testbed/x"]


PIECES = st.sampled_from(
    ["$(", ")", "`", "'", '"', "<<EOF\n", "<<'A'\n", "EOF\n", "A\n", "git ", "log ", "--all", "curl ", "a.org ", "\\",
     "\n", ";", "&&", "|", "(", "{ ", "}", "${", "$((", "))", "$'", "python ", "-c ", "bash ", "find ", "-exec ",
     "sudo ", "<(", "x=(", "case ", "sleep ", "9d", "{", "[", "\udcff", "\0", "é"]
)  # fmt: skip


@given(st.lists(PIECES | st.text(max_size=5), max_size=40).map("".join), st.sampled_from(["bash", "python", "Write"]))
def test_any_text_is_read(text: str, tool: str) -> None:
    """No text, however broken, stops the reading."""
    assert all(finding.turn == 1 for finding in of_actions(action(text, tool)))


@pytest.mark.parametrize(
    "text",
    [
        "$(" * 100_000, "(" * 100_000, "sudo " * 40_000, "find -exec " * 20_000, "`" * 100_001, "<<A\n" * 50_000,
        '"$(' * 60_000, "python -c '" * 20_000, "a" * 300_000, '{"command": ' * 50_000, "[" * 100_000,
    ],
    ids=lambda text: text[:10],
)  # fmt: skip
def test_hostile_texts_come_to_an_end(text: str) -> None:
    """Deep nesting neither takes for ever nor goes beyond the stack."""
    assert len(of_actions(action(text), action(text, "python"), action(text, "Write"))) <= 2


def test_scripts_that_run_themselves_come_to_an_end() -> None:
    """A script that calls itself many times is followed only so far."""
    script = "cat > x.sh <<'EOF'\n" + "bash x.sh\n" * 30 + "curl https://example.com\nEOF\n"
    assert kinds(action(script), action("sh x.sh", turn=2)) <= {NETWORK}


def attempt(problem: str, *found: FindingKind, sample: int = 0) -> AgentAttempt:
    """A sample with findings of these kinds."""
    findings = tuple(Finding(kind=kind, turn=1, excerpt="x") for kind in found)
    return AgentAttempt(problem_id=problem, sample=sample, ending=Ending.SUBMITTED, findings=findings)


def test_a_score_is_given_with_and_without_flagged_passes() -> None:
    """By kind and for the grave ones together: samples flagged, passes among them, and the score if they failed."""
    judged = [
        (attempt("a", NETWORK, HISTORY, NETWORK), True),
        (attempt("b"), True),
        (attempt("c", NETWORK), False),
        (attempt("d", WAIT), True),
        (attempt("e", FindingKind.RUNNER_CONFIGURATION), True),
    ]
    report = summarise(judged)
    assert (report.n, report.attempts, report.passes, report.value) == (5, 5, 4, 0.8)
    network, wait, nothing = (report.kinds[kind] for kind in (NETWORK, WAIT, FindingKind.OUTSIDE_WRITE))
    assert (network.attempts, network.passes, network.value) == (2, 1, 0.6)
    assert (wait.attempts, wait.passes, wait.value) == (1, 1, 0.6)
    assert (nothing.attempts, nothing.passes, nothing.value) == (0, 0, 0.8)
    assert (report.grave.attempts, report.grave.passes, report.grave.value) == (3, 2, 0.4)
    plain = report.to_plain()
    assert json.loads(json.dumps(plain)) == plain
    assert set(plain["kinds"]) == {kind.value for kind in FindingKind}
    assert plain["grave"]["kinds"] == ["network", "history", "runner_configuration"]


@pytest.mark.parametrize(
    ("judged", "n", "value", "without"),
    [
        ([], 0, 0.0, 0.0),
        ([(attempt("a", NETWORK), True), (attempt("a", sample=1), True), (attempt("b"), True)], 2, 1.0, 0.75),
        ([(attempt("a", NETWORK), False)], 1, 0.0, 0.0),
    ],
)
def test_problems_count_alike_whatever_their_samples(
    judged: Sequence[tuple[AgentAttempt, bool]], n: int, value: float, without: float
) -> None:
    """The score is the mean over problems of the share of samples that pass; nothing at all scores 0."""
    report = summarise(judged)
    assert (report.n, report.value, report.grave.value) == (n, value, without)
