"""What a user knows of models besides their results: read from a file, laid over what sources say.

The file is TOML (or JSON of the same shape), one table per model under the name that results have:

    [models."GPT-4o-2024-05-13"]
    released = 2024-05-13
    cutoff = "2023-10"            # a month stands for its last day
    open_weights = false
    parameters = 70               # billions
    active_parameters = 13
    open_data = "None"
    instruction_tuned = true
    link = "https://openai.com/index/hello-gpt-4o/"

What a table does not say stays as the source has it.
"""

import calendar
import dataclasses
import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from benchwright.benchmarks.documents import decoded, parse_document, unpacked
from benchwright.benchmarks.foreign import date_of, name_of, number_of, table_of, text_of, truth_of
from benchwright.benchmarks.repositories import named_few
from benchwright.core.addresses import is_web_address
from benchwright.core.errors import UnknownNameError, UsageError
from benchwright.core.results import ModelFacts, StoredRun

_MAX_BYTES = 16 * 1024 * 1024
_FIELDS = tuple(field.name for field in dataclasses.fields(ModelFacts))
_MONTH = re.compile(r"(\d{4})-(\d{2})")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class StatedFacts:
    """The content of a file of facts."""

    path: Path
    by_model: Mapping[str, Mapping[str, Any]]
    """Stated fields of `ModelFacts` by model."""

    def laid_over(self, run: StoredRun) -> StoredRun:
        """The run, with what the file states of its model in place of what its source says."""
        stated = self.by_model.get(run.model)
        return dataclasses.replace(run, facts=dataclasses.replace(run.facts, **stated)) if stated else run

    def unused(self, models: Iterable[str]) -> tuple[str, ...]:
        """Names in the file that none of the models has, sorted: a slip of spelling, perhaps."""
        return tuple(sorted(self.by_model.keys() - set(models)))

    def slips(self, models: Iterable[str]) -> tuple[str, ...]:
        """A note on names in the file that none of the models has; none where all of them are used.

        Args:
            models: Those of every run there is, of other benchmarks too: one file may serve several.
        """
        unused = self.unused(models)
        return (f"{self.path.name} states facts of models that have no result: {named_few(unused)}.",) if unused else ()


def read_model_facts(path: Path) -> StatedFacts:
    """Read a file of facts; raises `UsageError` naming model and field for anything that is none of `ModelFacts`."""
    document = table_of(_document(path), str(path), "the whole")
    strangers = sorted(document.keys() - {"models"})
    if strangers or "models" not in document:
        found = f"has {strangers[0]!r:.60}" if strangers else "has none"
        raise UsageError(f'{path} {found} at the top; expected tables [models."NAME"] and nothing else.')
    models = table_of(document["models"], str(path), "'models'")
    if not models:
        raise UsageError(f'{path} states nothing of any model; expected tables [models."NAME"].')
    return StatedFacts(
        path=path,
        by_model={
            name_of(name, str(path), "the name of a model"): _facts(facts, f"{path}, model {name!r:.80}")
            for name, facts in models.items()
        },
    )


def _document(path: Path) -> Any:
    data = unpacked(path, most=_MAX_BYTES)
    if path.name.removesuffix(".gz").endswith(".json"):
        return parse_document(data, path)
    try:
        return tomllib.loads(decoded(data, path))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"{path} is not TOML: {error}.") from error
    except ValueError as error:  # such as an integer beyond Python's conversion limit
        raise UsageError(f"{path} is not usable TOML: {error}.") from error


def _facts(value: Any, where: str) -> dict[str, Any]:
    facts = table_of(value, where, "what is stated")
    for field in facts:
        if field not in _FIELDS:
            near = str(UnknownNameError("field", field[:60], _FIELDS))
            raise UsageError(f"{where}: {near}")
    return {field: _value(field, said, where) for field, said in facts.items()}


def _value(field: str, value: Any, where: str) -> Any:
    match field:
        case "released":
            return date_of(value, where, field)
        case "cutoff":
            return _cutoff(value, where)
        case "parameters" | "active_parameters":
            return number_of(value, where, f"{field} (in billions)")
        case "open_weights" | "instruction_tuned":
            return truth_of(value, where, field)
        case "link":
            return _link(text_of(value, where, field), where)
        case _:
            return text_of(value, where, field, most=100)


def _cutoff(value: Any, where: str) -> str:
    """A day; a month stands for its last one, so that no problem of that month is taken for later than the data."""
    found = _MONTH.fullmatch(value) if isinstance(value, str) else None
    if found and 1 <= int(found[2]) <= 12 and int(found[1]) > 0:
        return f"{value}-{calendar.monthrange(int(found[1]), int(found[2]))[1]:02}"
    return date_of(value, where, "cutoff")


def _link(link: str, where: str) -> str:
    if link and not is_web_address(link):
        raise UsageError(f"{where}: the link is {link!r:.80}; expected a web address with https:// or http://.")
    return link
