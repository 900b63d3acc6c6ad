"""The version of the evaluation of agents, and which results may be ranked together.

Everything that decides an agent's score besides the model has one version: tools, prompt, counting of tokens,
submission, grading.  A new version lists its changes, and for each whether scores stay comparable and whom it
concerns; ``docs/reference/evaluation-versions.md`` is the same list for people.

Comparability is per result, not per version.  A change that only concerns one provider leaves every other result as
it would come out today, so that only that provider's models need to run again.  Two results may stand side by side
when neither lacks a change that breaks comparability, that concerns it, and that the other one's version has.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchwright.core.agents import AgentLimits, NativeTools

PROVIDER, SCAFFOLD, TOOL = "provider", "scaffold", "tool"
"""Whom a change may concern: results of a provider, of a scaffold, or with a tool in a provider's own form."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationChange:
    """One change of the evaluation."""

    id: str
    """What results record that have it; never used again for another change."""
    text: str
    """One plain sentence: what is different."""
    comparable: bool
    """Whether scores from before stay comparable to those from after it."""
    concerns: tuple[str, ...] = ()
    """Whom it concerns, such as ``provider:google``; empty means every result.

    Of one kind any may fit, of different kinds all must: ``provider:google``, ``provider:grok`` and
    ``scaffold:loop`` together concern these two providers' models in that scaffold.
    """

    def __post_init__(self) -> None:
        for one in self.concerns:
            if one.partition(":")[0] not in (PROVIDER, SCAFFOLD, TOOL) or not one.partition(":")[2]:
                raise ValueError(f"expected {PROVIDER}:NAME, {SCAFFOLD}:NAME or {TOOL}:NAME, got {one!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationVersion:
    """One version of the evaluation."""

    version: str
    date: str
    """ISO 8601."""
    changes: tuple[EvaluationChange, ...] = ()
    """Since the version before."""


VERSIONS = (EvaluationVersion(version="1.0.0", date="2026-11-30"),)
"""All versions, the oldest first."""

EVALUATION_VERSION = VERSIONS[-1].version


def breaking_changes(a: str, b: str, versions: Sequence[EvaluationVersion] = VERSIONS) -> tuple[EvaluationChange, ...]:
    """The changes between two versions after which scores are not comparable to those from before, oldest first.

    Whom they concern is left aside; without any, all results of the two versions are comparable.  Raises
    ``ValueError`` for a version that is not in the list.
    """
    first, last = sorted((_place(a, versions), _place(b, versions)))
    return tuple(
        change for version in versions[first + 1 : last + 1] for change in version.changes if not change.comparable
    )


def fixes_for(
    provider: str, scaffold: str, tools: Collection[str], versions: Sequence[EvaluationVersion] = VERSIONS
) -> tuple[str, ...]:
    """Ids of all changes up to now that concern a result of this provider, scaffold and native tools."""
    changes = (change for version in versions for change in version.changes)
    return tuple(change.id for change in changes if _concerns(change, provider, scaffold, tools))


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """How a result came about, as far as that decides with which others it may be ranked."""

    version: str = EVALUATION_VERSION
    data_version: str = ""
    """Of the benchmark's data; empty where it is recorded elsewhere."""
    scaffold: str
    provider: str
    """Who served the model."""
    limits: AgentLimits
    """What a sample might use."""
    native_tools: NativeTools
    tools: tuple[str, ...] | None = None
    """Tools that were offered in the provider's own form, by its names; None when that is not recorded."""
    samples: int
    """For each problem."""
    include_ignored: bool = False
    """Whether new files that git ignores are part of a submission."""
    fixes: tuple[str, ...] = ()
    """As `fixes_for` gives them."""

    def to_plain(self) -> dict[str, Any]:
        """What a manifest holds as ``evaluation``."""
        return {
            "version": self.version,
            "data_version": self.data_version,
            "scaffold": self.scaffold,
            "provider": self.provider,
            "limits": self.limits.to_plain(),
            "native_tools": self.native_tools.value,
            "tools": None if self.tools is None else list(self.tools),
            "samples": self.samples,
            "include_ignored": self.include_ignored,
            "fixes": list(self.fixes),
        }

    @classmethod
    def from_plain(cls, data: Mapping[str, Any]) -> "Evaluation":
        """Rebuild from :meth:`to_plain` data; raises ``TypeError``, ``ValueError`` or `UsageError` on others."""
        values = dict(data)
        texts = [values.get(name, "") for name in ("data_version", "scaffold", "provider")]
        texts += [values.get("version"), *(values.get("tools") or ()), *values.get("fixes", ())]
        others = isinstance(values.get("samples", 1), int) and isinstance(values.get("include_ignored", False), bool)
        if not others or not all(isinstance(text, str) for text in texts):
            raise TypeError("a part of it is missing or of another kind")
        values["limits"] = AgentLimits(**values.get("limits", {}))
        values["native_tools"] = NativeTools(values.get("native_tools", ""))
        values["tools"] = None if values.get("tools") is None else tuple(values["tools"])
        values["fixes"] = tuple(values.get("fixes", ()))
        return cls(**values)


def incomparable(a: Evaluation, b: Evaluation, versions: Sequence[EvaluationVersion] = VERSIONS) -> tuple[str, ...]:
    """Why two results, called A and B, may not be ranked together, one plain clause each; empty when they may."""
    return tuple(_Pair(a=a, b=b, versions=versions).reasons())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pair:
    a: Evaluation
    b: Evaluation
    versions: Sequence[EvaluationVersion] = field(repr=False)

    def reasons(self) -> Iterator[str]:
        a, b = self.a, self.b
        yield from self._versions()
        if a.data_version != b.data_version:
            yield f"A is on version {a.data_version} of the data, B on {b.data_version}"
        if a.scaffold != b.scaffold:
            yield f"A is of scaffold {a.scaffold}, B of {b.scaffold}"
        budgets = "; ".join(_differing(a.limits.to_plain(), b.limits.to_plain()))
        if budgets:
            yield f"the budgets differ ({budgets})"
        # The same setting stands for whatever a provider has; another one makes no difference where it has nothing.
        if a.native_tools is not b.native_tools and (a.tools is None or a.tools != b.tools):
            yield f"native tools are {_native(a)} in A, {_native(b)} in B"
        if a.samples != b.samples:
            yield f"the samples for each problem are {a.samples} in A, {b.samples} in B"
        if a.include_ignored != b.include_ignored:
            yield "new files that git ignores are part of the submissions on one side only"

    def _versions(self) -> Iterator[str]:
        if self.a.version == self.b.version:
            return
        known = {version.version for version in self.versions}
        unknown = [(name, side) for name, side in self._sides() if side.version not in known]
        for name, side in unknown:
            newest = self.versions[-1].version
            yield f"{name} is of evaluation {side.version}, which is not known here (the newest is {newest})"
        if not unknown:
            for change in breaking_changes(self.a.version, self.b.version, self.versions):
                yield from self._lacking(change)

    def _lacking(self, change: EvaluationChange) -> Iterator[str]:
        for name, side in self._sides():
            had = {one.id for version in self._up_to(side) for one in version.changes} | set(side.fixes)
            if change.id not in had and _concerns(change, side.provider, side.scaffold, side.tools or ()):
                yield f"{name} is of evaluation {side.version}, without the change {change.id} ({change.text})"

    def _up_to(self, side: Evaluation) -> Sequence[EvaluationVersion]:
        return self.versions[: _place(side.version, self.versions) + 1]

    def _sides(self) -> tuple[tuple[str, Evaluation], ...]:
        return ("A", self.a), ("B", self.b)


def _place(version: str, versions: Sequence[EvaluationVersion]) -> int:
    return [known.version for known in versions].index(version)


def _concerns(change: EvaluationChange, provider: str, scaffold: str, tools: Collection[str]) -> bool:
    has = {PROVIDER: {provider}, SCAFFOLD: {scaffold}, TOOL: set(tools)}
    named: dict[str, set[str]] = {}
    for one in change.concerns:
        kind, _, name = one.partition(":")
        named.setdefault(kind, set()).add(name)
    return all(names & has[kind] for kind, names in named.items())


def _differing(a: Mapping[str, Any], b: Mapping[str, Any]) -> Iterator[str]:
    for name in a:
        if a[name] != b[name]:
            values = ["no limit" if value is None else f"{value:,}" for value in (a[name], b[name])]
            yield f"{name.replace('_', ' ')}: A {values[0]}, B {values[1]}"


def _native(side: Evaluation) -> str:
    return f"{side.native_tools.value} ({', '.join(side.tools)})" if side.tools else side.native_tools.value
