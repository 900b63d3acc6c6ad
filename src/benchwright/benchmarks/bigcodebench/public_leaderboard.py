"""The public leaderboards of BigCodeBench, as its site publishes them: one object per model, with two scores.

The form is that of https://bigcode-bench.github.io (``results.json`` and ``results-hard.json``): by model ``pass@1``
with ``complete`` and ``instruct`` in percent, ``link``, ``date``, ``size`` and ``act_param`` in billions,
``open-data``, ``prompted``.  A score of null says that the model was not evaluated so.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from benchwright.benchmarks.documents import read_document
from benchwright.benchmarks.foreign import date_of, name_of, number_of, table_of, text_of, truth_of
from benchwright.benchmarks.jsonl import type_name
from benchwright.core.addresses import is_web_address
from benchwright.core.errors import UsageError
from benchwright.core.results import ModelFacts

METRIC = "pass@1"
VARIANTS = ("complete", "instruct")
_FORM = "an object of models with 'pass@1': {'complete': …, 'instruct': …}"
_MAX_BYTES = 32 * 1024 * 1024
_MAX_MODELS = 20_000
_SUBSET_IN_NAME = re.compile(r"(?:^|[-_.])(full|hard)(?=[-_.]|$)")
# Pages of the hub that are no models.
_NOT_MODELS = frozenset({"spaces", "datasets", "papers", "blog", "docs", "collections", "posts"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedModel:
    """One model of the leaderboard."""

    name: str
    scores: Mapping[str, float]
    """Share, between 0 and 1, by variant; variants without a score are not in it."""
    facts: ModelFacts


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicLeaderboard:
    """A leaderboard as it was read."""

    models: tuple[ListedModel, ...]
    """In the file's order."""
    sha256: str
    without_score: tuple[str, ...]
    """``model (variant)`` for every score that is null."""
    odd_links: tuple[str, ...]
    """Models whose link is no web address; it is left out."""


def looks_like_leaderboard(document: Any) -> bool:
    """Whether a JSON value has this form, judged by its first model."""
    first = next(iter(document.values()), None) if isinstance(document, dict) else None
    return isinstance(first, dict) and isinstance(first.get(METRIC), dict)


def subset_in_name(path: Path) -> str | None:
    """``full`` or ``hard`` where the file's name says so, as in ``leaderboard-hard.json``."""
    found = _SUBSET_IN_NAME.search(path.name)
    return found[1] if found else None


def read_leaderboard(path: Path) -> PublicLeaderboard:
    """Read a leaderboard; raises `UsageError` naming the model for anything that cannot be what it seems.

    Scores are percentages; a file in which none is above 1 holds shares, or is no such file, and is refused.
    """
    document = read_document(path, most=_MAX_BYTES)
    models = table_of(document.value, str(path), "the whole")
    if not models:
        raise UsageError(f"{path} names no model; expected {_FORM}.")
    if len(models) > _MAX_MODELS:
        raise UsageError(f"{path} names {len(models):,} models; at most {_MAX_MODELS:,} are read.")
    read = tuple(_model(name, value, path) for name, value in models.items())
    scores = [score for model in read for score in model.scores.values()]
    if not scores:
        raise UsageError(f"{path} holds no score: every {METRIC} is null.")
    if 0 < max(scores) <= 0.01:
        raise UsageError(
            f"{path}: the highest {METRIC} is {100 * max(scores):g}; expected percentages such as 61.1, these look "
            "like shares: multiply them by 100."
        )
    return PublicLeaderboard(
        models=read,
        sha256=document.sha256,
        without_score=tuple(
            f"{model.name} ({variant})" for model in read for variant in VARIANTS if variant not in model.scores
        ),
        odd_links=tuple(
            model.name
            for model, value in zip(read, models.values(), strict=True)
            if value.get("link") and not model.facts.link
        ),
    )


def weights_are_public(link: str) -> bool | None:
    """True for the page of a model on huggingface.co, where its weights are; None, not known, for other links."""
    address = urlsplit(link)
    parts = [part for part in address.path.split("/") if part]
    on_hub = address.hostname in {"huggingface.co", "www.huggingface.co", "hf.co"}
    return True if on_hub and len(parts) >= 2 and parts[0] not in _NOT_MODELS else None


def _model(name: str, value: Any, path: Path) -> ListedModel:
    name = name_of(name, str(path), "the name of a model")
    where = f"{path}, model {name!r:.80}"
    if not isinstance(value, dict) or not isinstance(value.get(METRIC), dict):
        found = value.get(METRIC) if isinstance(value, dict) else value
        raise UsageError(f"{where}: {METRIC} is {type_name(found)}; expected {_FORM}.")
    odd = sorted(value[METRIC].keys() - set(VARIANTS))
    if odd:
        raise UsageError(f"{where}: {METRIC} has {odd[0]!r:.40}; expected {' and '.join(VARIANTS)}.")
    scores = {variant: _share(value[METRIC].get(variant), where, variant) for variant in VARIANTS}
    return ListedModel(
        name=name,
        scores={variant: score for variant, score in scores.items() if score is not None},
        facts=_facts(value, where),
    )


def _share(value: Any, where: str, variant: str) -> float | None:
    percent = number_of(value, where, f"the {METRIC} of {variant}")
    if percent is not None and percent > 100:
        raise UsageError(f"{where}: the {METRIC} of {variant} is {percent:g}; expected a percentage up to 100.")
    # Rounded, for 61.1 / 100 is not the number that 0.611 is.
    return None if percent is None else round(percent / 100, 8)


def _facts(value: Mapping[str, Any], where: str) -> ModelFacts:
    said = text_of(value.get("link"), where, "the link")
    link = said if is_web_address(said) else ""
    return ModelFacts(
        link=link,
        released=date_of(value.get("date"), where, "the date"),
        parameters=number_of(value.get("size"), where, "the size"),
        active_parameters=number_of(value.get("act_param"), where, "act_param"),
        open_weights=weights_are_public(link),
        open_data=text_of(value.get("open-data"), where, "open-data", most=100),
        instruction_tuned=truth_of(value.get("prompted"), where, "prompted"),
    )
