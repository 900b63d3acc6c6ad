"""The documentation speaks of commands, options, files and values that exist, and of all of them."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from benchwright.cli.main import cli
from benchwright.core.verdicts import Outcome, Reason
from benchwright.grading.limits import FLOOR_SECONDS

ROOT = Path(__file__).parent.parent
PAGES = sorted(
    [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")] + [*ROOT.glob("docs/**/*.md")]
)
COMMANDS = ROOT / "docs" / "reference" / "commands.md"
HELP = {"-h", "--help"}

_FENCED = re.compile(r"^```[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`([^`\n]+)`")
_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+\s+(.*)$", re.MULTILINE)
_OPTION = re.compile(r"(?<![\w-])--?[A-Za-z][a-z-]*")


def leaves(group: click.Group = cli, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command that does something, with the words that call it."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from leaves(command, (*words, name))
        else:
            yield (*words, name), command


def options_of(command: click.Command) -> set[str]:
    """The options of a command, all spellings, also those that switch something off."""
    options = [parameter for parameter in command.params if isinstance(parameter, click.Option)]
    return {text for option in options for text in (*option.opts, *option.secondary_opts)}


def calls(text: str) -> Iterator[str]:
    """Calls of bw in a page: lines of code blocks and code in sentences, continued lines joined."""
    for block in _FENCED.findall(text):
        for line in block.replace("\\\n", " ").splitlines():
            if line.strip().startswith(("bw ", ".venv/bin/bw ")):
                yield line.partition("#")[0].strip().removeprefix(".venv/bin/")
    for code in _INLINE.findall(_FENCED.sub("", text)):
        if code.startswith("bw "):
            yield code


def problem_with(call: str) -> str | None:
    """What is wrong with a call, or None: an unknown command, or an option that it does not have."""
    words = call.split()[1:]
    command: click.Command = cli
    while isinstance(command, click.Group):
        if not words or words[0].startswith("-"):
            break
        found = command.get_command(click.Context(command), words[0])
        if found is None:
            # `bw COMMAND --help` stands for any command
            return None if words[0].isupper() else f"{call}: there is no command {words[0]}"
        command, words = found, words[1:]
    known = options_of(command) | HELP | ({"--version"} if command is cli else set())
    unknown = [word for word in words if word.startswith("-") and word.partition("=")[0] not in known]
    return f"{call}: there is no option {', '.join(unknown)}" if unknown else None


def anchors(page: Path) -> set[str]:
    """Anchors of a page's headings, as GitHub makes them."""
    return {
        re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
        for heading in _HEADING.findall(_FENCED.sub("", page.read_text(encoding="utf-8")))
    }


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_calls_in_a_page_exist(page: Path) -> None:
    """Every call of bw names a command that exists, with options that it has."""
    problems = [problem for call in calls(page.read_text(encoding="utf-8")) if (problem := problem_with(call))]
    assert problems == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_in_a_page_resolve(page: Path) -> None:
    """Every link within the repository leads to a file and, if it names one, to a heading in it."""
    broken = []
    for link in _LINK.findall(_FENCED.sub("", page.read_text(encoding="utf-8"))):
        if link.startswith(("https://", "http://", "mailto:")):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_files_named_in_a_page_exist(page: Path) -> None:
    """Files of the repository that a page names are there."""
    named = re.findall(
        r"\b((?:src|tests|benchmarks|docs|requirements)/[\w./-]+\.(?:py|toml|md|lock))\b", page.read_text("utf-8")
    )
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_every_page_is_in_the_index() -> None:
    """The index links to every page of the documentation."""
    index = ROOT / "docs" / "README.md"
    linked = {(index.parent / link).resolve() for link in _LINK.findall(index.read_text(encoding="utf-8"))}
    assert {page for page in PAGES if page.is_relative_to(ROOT / "docs")} - linked == {index}


@pytest.mark.parametrize(
    ("words", "command"), list(leaves()), ids=lambda value: " ".join(value) if isinstance(value, tuple) else ""
)
def test_every_option_is_in_the_reference(words: tuple[str, ...], command: click.Command) -> None:
    """The reference has a section for each command, with exactly the options it has."""
    text = COMMANDS.read_text(encoding="utf-8")
    sections = re.split(r"^## ", text, flags=re.MULTILINE)
    own = [section for section in sections if re.match(rf"bw {' '.join(words)}(?: [A-Z\[]|\n)", section)]
    assert len(own) == 1, f"expected one section for bw {' '.join(words)}"
    documented = {option for code in _INLINE.findall(own[0]) for option in _OPTION.findall(code)}
    # --env and --ids are accepted by `bw bench show` and mean nothing there.
    assert documented == options_of(command) - HELP


def test_every_outcome_and_reason_is_in_the_reference() -> None:
    """The page of outcomes has every outcome and every reason, and no others."""
    text = (ROOT / "docs" / "reference" / "outcomes-and-reasons.md").read_text(encoding="utf-8")
    first_table = text.partition("## ")[0]
    rows = [
        [cell.strip(" `") for cell in line.split("|")[1:3]]
        for line in first_table.splitlines()
        if line.startswith("| ")
    ]
    outcomes = {row[0] for row in rows[1:] if row[0].strip("-")}
    reasons = {row[1] for row in rows[1:] if row[1].strip("-")}
    assert outcomes == {outcome.value for outcome in Outcome}
    assert reasons == {reason.value for reason in Reason}


def test_every_deviation_is_in_the_reference() -> None:
    """What the environments' specifications name as deviations stands on the page of environments."""
    text = (ROOT / "docs" / "reference" / "environments.md").read_text(encoding="utf-8").replace("`", "")
    specs = (ROOT / "src" / "benchwright" / "environments" / "specs").glob("*.toml")
    deviations = [one for spec in specs for one in tomllib.loads(spec.read_text("utf-8")).get("deviations", [])]
    assert deviations
    absent = [
        one["package"]
        for one in deviations
        if one["package"].replace("nltk data: ", "nltk data ") not in text and one["package"] != "the largest libraries"
    ]
    assert absent == []


def test_lock_has_every_package_asked_for() -> None:
    """Each package that pyproject.toml or requirements/build.in asks for is pinned in the lock."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    asked = [*project["project"]["dependencies"], *project["build-system"]["requires"]]
    asked += [text for group in project["dependency-groups"].values() for text in group]
    asked += [
        line
        for line in (ROOT / "requirements" / "build.in").read_text("utf-8").splitlines()
        if line[:1] not in ("#", "")
    ]
    locked = {line.partition("==")[0] for line in (ROOT / "requirements" / "host.lock").read_text("utf-8").splitlines()}
    names = {re.split(r"[<>=!;\[ ]", text)[0].lower().replace("_", "-") for text in asked}
    assert names - locked == set()


def test_floor_of_limits_is_as_documented() -> None:
    """Where the documentation names the default of --floor-seconds, it is the real one."""
    pages = {page.name: page.read_text("utf-8") for page in PAGES}
    assert f"smallest CPU limit of a problem; default {FLOOR_SECONDS:g};" in pages["commands.md"]
    assert f"at least `--floor-seconds` ({FLOOR_SECONDS:g} s)" in pages["scheduling-and-limits.md"]
    assert f"control, at least {FLOOR_SECONDS:g} s" in pages["json.md"]
