"""Stores, layers and stacks laid out by hand, and a sandbox whose commands are functions of the test."""

import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from benchwright.core.execution import ExitCause
from benchwright.core.repositories import RepositoryProblem
from benchwright.environments.repositories.layers import Draft, Layer, LayerKey, LayerKind, LayerStore, Made
from benchwright.environments.repositories.sealing import shift_owners
from benchwright.sandboxes.base import Image, RunLimits, RunResult, WorkspaceLimits
from benchwright.sandboxes.users import user_mapping


def make_store(folder: Path) -> LayerStore:
    """A store whose layers belong to whoever is root inside."""
    return LayerStore(folder, owner=user_mapping())


def make_key(name: str = "one", *, kind: LayerKind = LayerKind.INSTANCE, digest: str = "a") -> LayerKey:
    """A key; ``digest`` is repeated to a whole one."""
    return LayerKey(kind=kind, name=name, digest=(digest * 64)[:64])


def put_files(
    store: LayerStore,
    key: LayerKey,
    files: Mapping[str, str],
    *,
    lower: Sequence[Layer] = (),
    made: Made | None = None,
) -> Layer:
    """A finished layer with these texts by path."""

    def make(draft: Draft) -> Made:
        for name, text in files.items():
            path = draft.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        shift_owners(draft.folder, store.owner)
        return made or Made()

    return store.put(key, make, lower=lower)


def make_problem(**changes: object) -> RepositoryProblem:
    """A problem of a made-up repository."""
    fields: dict[str, object] = {
        "benchmark": "made-up",
        "id": "acme__rockets-1",
        "repo": "acme/rockets",
        "version": "1",
        "base_commit": "b" * 40,
        "environment_commit": "b" * 40,
        "issue": "",
        "hints": "",
        "created_at": "",
        "reference_patch": "",
        "test_patch": "",
        "fail_to_pass": (),
        "pass_to_pass": (),
        "digest": "d",
    }
    return RepositoryProblem(**{**fields, **changes})  # type: ignore[arg-type]


Answer = Callable[[str, "ScriptedWorkspace"], tuple[int, str]]
"""Takes the script and the workspace it runs in; gives the exit status and the output."""


class ScriptedSandbox:
    """A sandbox in which a test's function answers for every command; what is put in is in the kept folder."""

    name = "scripted"

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self.opened: list[tuple[Image, dict[str, Path], bool]] = []
        self.scripts: list[str] = []

    def open(
        self,
        image: Image,
        limits: WorkspaceLimits,
        *,
        shared: Mapping[str, Path] | None = None,
        network: bool = False,
        keep: Path | None = None,
    ) -> "ScriptedWorkspace":
        """A workspace that writes into ``keep``."""
        self.opened.append((image, dict(shared or {}), network))
        if keep is not None:
            keep.mkdir(parents=True)
            if user_mapping().ranged:
                os.chown(keep, user_mapping().uid, user_mapping().gid)
        return ScriptedWorkspace(self, self._answer, image, keep)


class ScriptedWorkspace:
    """A workspace of a `ScriptedSandbox`."""

    def __init__(self, sandbox: ScriptedSandbox, answer: Answer, image: Image, keep: Path | None) -> None:
        self._sandbox = sandbox
        self._answer = answer
        self.image = image
        self.keep = keep
        self.environ: dict[str, str] = {}
        self.cwd = ""

    def __enter__(self) -> "ScriptedWorkspace":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def run(
        self,
        command: Sequence[str],
        *,
        limits: RunLimits,
        environ: Mapping[str, str] | None = None,
        cwd: str | None = None,
        stdin: bytes = b"",
    ) -> RunResult:
        """Let the test's function answer."""
        script = command[-1] if command[:1] == ["bash"] else shlex.join(command)
        self._sandbox.scripts.append(script)
        self.environ, self.cwd = {**self.image.environ, **(environ or {})}, cwd or ""
        status, output = self._answer(script, self)
        return RunResult(
            exit_cause=ExitCause.FINISHED if status == 0 else ExitCause.EXITED,
            exit_status=status,
            output=output.encode(),
            output_total_bytes=len(output.encode()),
            wall_seconds=0.0,
            cpu_seconds=0.5,
            memory_peak_bytes=0,
        )

    def put(self, path: str, data: bytes, *, mode: int = 0o644) -> None:
        """Write into the kept folder."""
        assert self.keep is not None
        place = self.keep / path.strip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
        place.chmod(mode)

    def remove(self, path: str) -> None:
        """Remove from the kept folder."""
        assert self.keep is not None
        (self.keep / path.strip("/")).unlink(missing_ok=True)

    def get(self, path: str, *, max_bytes: int = 64 * 1024**2) -> bytes | None:
        """Read from the kept folder, then from the layers."""
        folders = [self.keep] if self.keep is not None else []
        for folder in (*folders, *reversed(self.image.layers)):
            place = folder / path.strip("/")
            if place.is_file():
                return place.read_bytes()
        return None

    def stamp(self, path: str) -> str | None:
        """It cannot tell."""
        return None

    def close(self) -> None:
        """Give what was written to root inside, as a real sandbox would have."""
        if self.keep is not None:
            shift_owners(self.keep, user_mapping())
