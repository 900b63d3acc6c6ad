"""What the engine needs to know of an environment in order to start guests in it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchwright.environments.environment import Environment
from benchwright.environments.spec import Tier

# One thread per numeric library in every job, as under the official harness, which sets OMP_NUM_THREADS; the others
# follow, or a job's threads would outnumber the cores it is scheduled on.
_LOCALE = {
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMEXPR_NUM_THREADS": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A Python environment as a place to execute in."""

    name: str
    digest: str
    python: Path
    readable: tuple[Path, ...]
    """Folders a job must be able to read: the environment, its interpreter, its data."""
    variables: Mapping[str, str]
    """Environment variables of every job; nothing is inherited from the host."""
    tiers: tuple[Tier, ...]
    """Lightest first; the last one has everything preloaded that any of them has."""
    unavailable_modules: frozenset[str] = frozenset()
    """Top-level modules that the benchmark's full environment has and this one lacks."""


def target_of(environment: Environment) -> Target:
    """An environment as the engine sees it."""
    return Target(
        name=environment.name,
        digest=environment.digest,
        python=environment.python,
        readable=environment.readable_paths,
        variables={
            "PATH": f"{environment.prefix}/bin:/usr/local/bin:/usr/bin:/bin",
            **_LOCALE,
            **environment.variables,
        },
        tiers=environment.tiers,
        unavailable_modules=frozenset(environment.unavailable_modules),
    )


def choose_tier(target: Target, modules: frozenset[str]) -> str:
    """The lightest tier that has preloaded every module of ``modules`` that any tier preloads.

    A module that no tier preloads is imported by the answer itself and does not matter here; nor does a wrong
    guess: every tier can import everything the environment has, only later.
    """
    preloadable = {name.partition(".")[0] for tier in target.tiers for name in tier.preload}
    wanted = modules & preloadable
    for tier in target.tiers:
        if wanted <= {name.partition(".")[0] for name in tier.preload}:
            return tier.name
    return target.tiers[-1].name
