"""What ``bw store import`` is told of results that others measured."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from benchwright.app.importing import Attempted, ImportOptions, Kind
from benchwright.core.runs import Score

_FILE = click.Path(path_type=Path)
_OPTIONS = (
    click.option(
        "--as",
        "kind",
        type=click.Choice([one.value for one in Kind]),
        default=None,
        help="Form of results that others measured; default: told by the content.",
    ),
    click.option("--benchmark", default=None, help="Benchmark that the results are of, where they do not say it."),
    click.option("--subset", default=None, help="Its subset, likewise."),
    click.option("--variant", default=None, help="Variant of the prompts, likewise."),
    click.option("--data-version", default=None, help="Version of its data, likewise; default: unstated."),
    click.option("--model", default=None, help="Whose results they are; of a source with many: only this one's."),
    click.option("--scaffold", default=None, help="What the model worked with, such as the name of an agent."),
    click.option(
        "--score",
        type=click.Choice([score.value for score in Score]),
        default=None,
        help="Which score verdicts on functions are, where neither they nor their file's name say it.",
    ),
    click.option("--scorer", default=None, help="Whose scores to take of an Inspect log that has several."),
    click.option(
        "--source-title", default=None, help="What readers are shown as the source; default: its file's name."
    ),
    click.option("--source-url", default=None, help="Where the source is published."),
    click.option("--dataset", type=_FILE, default=None, help="File of the benchmark's rows, or of ids alone."),
    click.option("--samples", type=_FILE, default=None, help="Answers that a file of official verdicts is about."),
    click.option(
        "--attempted",
        type=click.Choice([one.value for one in Attempted]),
        default=Attempted.ALL.value,
        show_default=True,
        help="What submissions that were apparently made for another split are taken to have tried.",
    ),
    click.option(
        "--ignore-unknown", is_flag=True, help="Leave out results for problems that the benchmark does not have."
    ),
    click.option("--dry-run", is_flag=True, help="Say what would be imported, and write nothing."),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Foreign:
    """What the user says of results that others measured."""

    kind: str | None
    options: ImportOptions
    dry_run: bool

    @property
    def named(self) -> bool:
        """Whether anything is said that makes no sense of an exported store."""
        return self.kind is not None or self.options != ImportOptions()


def foreign_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options above; the command gets them as one argument, ``foreign``."""

    @functools.wraps(function)
    def gathered(
        *args: Any,
        kind: str | None,
        dry_run: bool,
        data_version: str | None,
        score: str | None,
        source_title: str | None,
        source_url: str | None,
        attempted: str,
        **others: Any,
    ) -> Any:
        same = ("benchmark", "subset", "variant", "model", "scaffold", "scorer", "dataset", "samples", "ignore_unknown")
        options = ImportOptions(
            version=data_version,
            score=None if score is None else Score(score),
            source_title=source_title,
            source_url=source_url,
            attempted=Attempted(attempted),
            **{name: others.pop(name) for name in same},
        )
        return function(*args, foreign=Foreign(kind=kind, options=options, dry_run=dry_run), **others)

    decorated: Callable[..., Any] = gathered
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated
