"""Sandboxes in which layers are built: with uv, a cache of downloads and, while packages are fetched, the network.

Code of packages runs while they are installed, so it runs in a sandbox and never on this machine.  Nothing of a
candidate is ever there: what is built is the official state of a repository.
"""

import contextlib
import fcntl
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from benchwright.core.errors import MachineError
from benchwright.core.execution import MIB, ExitCause
from benchwright.environments import commands
from benchwright.environments.commands import LAST_LINES, SPACE_MESSAGES, no_space_left
from benchwright.environments.repositories.layers import LayerStore, own_root, remove_tree
from benchwright.environments.repositories.merging import merge, prune
from benchwright.sandboxes.base import Image, RunLimits, Sandbox, Workspace, WorkspaceLimits

LIMITS = WorkspaceLimits(memory_bytes=8 * 1024 * MIB, processes=2048, scratch_bytes=16 * 1024 * MIB)
"""Compiling scikit-learn or matplotlib takes up to 3 GiB."""

STEP_SECONDS = 3600.0
"""A step that takes longer is stuck; the longest, compiling scikit-learn on two processors, takes a quarter of it."""

BUILD_MESSAGES = ("Failed to build", "build backend returned an error", "Build failures usually indicate")
"""What uv says when the build of a source distribution fails."""

PATH = "/opt/env/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

BASE_ENVIRON: Mapping[str, str] = {
    "PATH": PATH,
    "HOME": "/root",
    "LANG": "C.UTF-8",
    "TZ": "Etc/UTC",
    "DEBIAN_FRONTEND": "noninteractive",
}

TOOLS = "/.benchwright/tools"
UV = f"{TOOLS}/uv"
CACHE = "var/cache/benchwright"
"""Where the cache lies inside; it is a layer itself, so that a build sees it and what it adds can be told apart."""

CERTIFICATE = f"{TOOLS}/certificates.pem"

NETWORK_VARIABLES = (
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy"),
    *("UV_DEFAULT_INDEX", "UV_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL", "UV_INSECURE_HOST"),
    *("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_TRUSTED_HOST"),
)
"""What of the caller's variables says how packages are reached."""

LEFT_BEHIND = (
    *(".benchwright", "dev", "proc", "sys", "run", "tmp", "root/.cache", "var/tmp", "var/log"),
    *("etc/hosts", "etc/hostname", "etc/resolv.conf", "var/lib/apt/lists", "var/cache"),
)
"""Paths that belong to no layer, whatever was written there."""


@dataclass(slots=True)
class Session:
    """One open workspace of a build, and afterwards what it wrote."""

    workspace: Workspace
    kept: Path
    """Holds what was written once the session has ended, ready for merging."""
    commands: list[str] = field(default_factory=list)
    """What was run in it, in order."""
    cpu_seconds: float = 0.0

    def run(
        self,
        script: str,
        *,
        what: str,
        cwd: str = "/",
        environ: Mapping[str, str] | None = None,
        limit: float = STEP_SECONDS,
    ) -> str:
        """Run a shell script (bash, ending at the first command that fails) and return all its output.

        Raises `MachineError` with the command and its last lines when it fails or takes too long.
        """
        self.commands.append(script)
        result = self.workspace.run(
            ["bash", "-eo", "pipefail", "-c", script],
            limits=RunLimits(wall_seconds=limit),
            environ=environ,
            cwd=cwd,
        )
        self.cpu_seconds += result.cpu_seconds
        output = result.output.decode(errors="replace")
        if result.exit_cause is not ExitCause.FINISHED:
            raise StepFailedError(script, output, result.exit_cause, result.exit_status, what)
        return output

    def put(self, path: str, text: str) -> None:
        """Write a text file."""
        self.workspace.put(path, text.encode())

    def get(self, path: str) -> str | None:
        """Read a text file, or None when there is none."""
        data = self.workspace.get(path)
        return None if data is None else data.decode(errors="replace")


class StepFailedError(MachineError):
    """A command of a build failed; the message has its last lines.  Ends the build of the one layer."""

    def __init__(self, script: str, output: str, cause: ExitCause, status: int | None, what: str) -> None:
        self.output = output
        self.is_build = any(message in output for message in BUILD_MESSAGES)
        """Whether a package could not be built, as opposed to found, chosen or downloaded."""
        if any(message in output for message in SPACE_MESSAGES):
            super().__init__(no_space_left(what))
            return
        last = "\n".join(f"  {line}" for line in output.strip().splitlines()[-LAST_LINES:])
        how = f"status {status}" if cause in (ExitCause.EXITED, ExitCause.SIGNAL) else cause.value
        super().__init__(f"Could not {what}: this command ended with {how}:\n  {script}\n{last}")


class Workbench:
    """Opens sessions over layers of one store."""

    def __init__(self, sandbox: Sandbox, store: LayerStore, *, environ: Mapping[str, str], uv: Path) -> None:
        """Args: ``environ`` has the caller's variables for the network; ``uv`` is a uv command, not a wrapper."""
        self._sandbox = sandbox
        self._store = store
        self._environ = environ
        self._uv = uv

    @contextlib.contextmanager
    def session(
        self,
        layers: Sequence[Path],
        scratch: Path,
        *,
        network: bool,
        environ: Mapping[str, str],
    ) -> Iterator[Session]:
        """A workspace over layers, the lowest first; what it writes is in ``kept`` after the end.

        Args:
            layers: Folders.
            scratch: Folder that is removed by the caller; each session needs its own.
            network: Whether packages can be fetched; then the cache is there too.
            environ: Variables of every command.
        """
        kept = scratch / "kept"
        with self._open_cache(network) as cache:
            stack = (*([cache.folder] if cache else []), *layers)
            image = Image(digest="", layers=stack, environ={**environ, **self._network(network)}, workdir="/")
            shared = {TOOLS: self._tools()} if network else {}
            with self._sandbox.open(image, LIMITS, shared=shared, network=network, keep=kept) as workspace:
                session = Session(workspace=workspace, kept=kept)
                yield session
            if cache:
                cache.take(kept / CACHE)
        for name in LEFT_BEHIND:
            remove_tree(kept / name)
        prune(kept, below=stack)

    def _cache_root(self) -> Path:
        return self._store.root / "cache" / "packages"

    @contextlib.contextmanager
    def _open_cache(self, wanted: bool) -> Iterator["_Cache | None"]:
        """The cache's layer, which nobody changes while a session stands on it."""
        if not wanted:
            yield None
            return
        root = self._cache_root()
        for folder in (root, *(root / parent for parent in reversed(Path(CACHE).parents[:-1])), root / CACHE):
            if not folder.is_dir():
                folder.mkdir(parents=True, mode=0o755)
                own_root(folder, self._store.owner)
        with root.with_suffix(".lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH)
            yield _Cache(folder=root, lock=lock)

    def _tools(self) -> Path:
        folder = self._store.root / "cache" / f"uv-{uv_version(self._uv)}"
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o755)
        if not (folder / "uv").exists():
            _copy_at_once(self._uv, folder / "uv", 0o755)
        if self._environ.get("SSL_CERT_FILE"):
            _copy_at_once(Path(self._environ["SSL_CERT_FILE"]), folder / Path(CERTIFICATE).name, 0o644)
        return folder

    def _network(self, network: bool) -> dict[str, str]:
        if not network:
            return {}
        passed = {name: self._environ[name] for name in NETWORK_VARIABLES if name in self._environ}
        if self._environ.get("SSL_CERT_FILE"):
            names = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "PIP_CERT", "CURL_CA_BUNDLE")
            passed.update(dict.fromkeys(names, CERTIFICATE))
        return {
            **passed,
            "UV_CACHE_DIR": f"/{CACHE}/uv",
            "UV_LINK_MODE": "copy",
            "UV_NO_CONFIG": "1",
            "UV_NO_PROGRESS": "1",
            "UV_PYTHON_DOWNLOADS": "never",
            "PIP_CACHE_DIR": f"/{CACHE}/pip",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cache:
    """The layer of downloads, held for reading."""

    folder: Path
    lock: IO[str]

    def take(self, fresh: Path) -> None:
        """Add what a session has fetched, unless another one stands on the cache: then it will be fetched again."""
        if not fresh.is_dir():
            return
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            merge(fresh, self.folder / CACHE, below=[])


def _copy_at_once(source: Path, target: Path, mode: int) -> None:
    partial = target.with_name(f".{target.name}.{os.getpid()}")
    shutil.copyfile(source, partial)
    partial.chmod(mode)
    partial.replace(target)


def uv_version(uv: Path) -> str:
    """Such as ``0.5.1``; raises `MachineError` when it does not start."""
    words = commands.run([uv, "--version"], what="ask uv for its version").split()
    return words[1] if len(words) > 1 else "unknown"
