"""A container engine as its command line client shows it: Docker, or Podman, which takes the same words.

Only the client is used, no library and no socket, so that whatever a user has set up for it (contexts,
``DOCKER_HOST``, rootless engines) holds here too.
"""

import contextlib
import functools
import json
import re
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from benchwright.core.errors import IsolationRefusedError, SandboxFault

OLDEST = {"docker": (20, 10), "podman": (4, 0)}
"""The first versions with what is used here: ``--pull never``, tar streams in and out of containers."""

CALL_SECONDS = 300.0
"""No call but pulling and loading takes more than a second on a quiet machine."""

_NO_ANSWER = ("cannot connect", "is the docker daemon running", "connection refused", "unable to connect to podman")


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineFacts:
    """What an engine says about itself."""

    kind: str
    """``docker`` or ``podman``, whatever the client is called."""
    version: str
    architecture: str
    """As the kernel names it, such as ``x86_64`` or ``aarch64``."""
    backing: str
    """File system below the storage driver, such as ``extfs`` or ``xfs``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What one call of the client came to."""

    status: int
    output: bytes
    errors: str
    """Standard error, stripped."""

    @property
    def text(self) -> str:
        """Standard output, stripped."""
        return self.output.decode(errors="replace").strip()

    @property
    def complaint(self) -> str:
        """The last line of what was said about a failure."""
        return ([*self.errors.splitlines(), *self.text.splitlines()[-1:]] or [f"status {self.status}"])[-1].strip()


class Engine:
    """One engine, spoken to by one client; may be shared by threads."""

    def __init__(self, client: str = "docker") -> None:
        """Args: ``client`` is a command on ``PATH`` or a path: ``docker``, ``podman``."""
        self.client = client

    @functools.cached_property
    def facts(self) -> EngineFacts:
        """What kind of engine answers.

        Raises `IsolationRefusedError` when there is no client, no engine answers, it is too old, or it cannot limit
        memory and processes.
        """
        answer = self.call("info", "--format", "{{json .}}")
        try:
            info = json.loads(answer.output or b"null")
        except ValueError:
            info = None
        if answer.status != 0 or not isinstance(info, dict) or info.get("ServerErrors"):
            said = "; ".join((info or {}).get("ServerErrors") or ()) if isinstance(info, dict) else ""
            raise IsolationRefusedError(no_engine(self.client, said or answer.complaint))
        facts = _podman_facts(info) if "host" in info else _docker_facts(info)
        _check_version(facts)
        lacking = [what for what in ("MemoryLimit", "PidsLimit") if info.get(what) is False]
        if lacking:
            raise IsolationRefusedError(
                f"The {facts.kind} engine cannot limit {' and '.join(_LIMITS[what] for what in lacking)}; run it as "
                "root or with cgroup version 2, or choose the namespace sandbox."
            )
        return facts

    def call(
        self, *arguments: str, stdin: bytes | IO[bytes] | None = None, seconds: float | None = CALL_SECONDS
    ) -> Answer:
        """Run the client to its end.

        Args:
            arguments: What follows the client's name.
            stdin: What it may read, as bytes or as an open file.
            seconds: When to give up; None for never.

        Raises `IsolationRefusedError` when the client is not there and `SandboxFault` when it takes too long.
        """
        try:
            done = subprocess.run(
                [self.client, *arguments],
                stdin=subprocess.DEVNULL if stdin is None else stdin if not isinstance(stdin, bytes) else None,
                input=stdin if isinstance(stdin, bytes) else None,
                capture_output=True,
                timeout=seconds,
                check=False,
            )
        except OSError as error:
            raise self.no_client(error) from error
        except subprocess.TimeoutExpired as error:
            raise SandboxFault(f"the container engine did not answer within {seconds:.0f} s: {arguments[0]}") from error
        return Answer(status=done.returncode, output=done.stdout, errors=done.stderr.decode(errors="replace").strip())

    def start(self, arguments: Sequence[str], *, stdin: bytes = b"") -> subprocess.Popen[bytes]:
        """Start the client with pipes for its two outputs; raises as `call` does."""
        with tempfile.TemporaryFile() as file:
            file.write(stdin)
            file.seek(0)
            try:
                return subprocess.Popen(
                    [self.client, *arguments],
                    stdin=file if stdin else subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    start_new_session=True,
                )
            except OSError as error:
                raise self.no_client(error) from error

    def feed(self, *arguments: str, write: Callable[[IO[bytes]], None]) -> Answer:
        """Run the client to its end, with its standard input written by a function; raises as `call` does.

        What ``write`` raises is passed on, after the client was ended.
        """
        with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
            try:
                client = subprocess.Popen(
                    [self.client, *arguments], stdin=subprocess.PIPE, stdout=output, stderr=errors
                )
            except OSError as error:
                raise self.no_client(error) from error
            assert client.stdin is not None
            try:
                with client.stdin as stream, contextlib.suppress(BrokenPipeError):  # then the client says why
                    write(stream)
            except BaseException:
                client.kill()
                raise
            finally:
                client.wait()
            output.seek(0)
            errors.seek(0)
            said = errors.read().decode(errors="replace").strip()
            return Answer(status=client.returncode, output=output.read(), errors=said)

    def no_client(self, error: OSError) -> IsolationRefusedError:
        """The error for a client that does not start."""
        return IsolationRefusedError(
            f"The docker sandbox needs the command {Path(self.client).name!r}, which does not start "
            f"({error.strerror}); install Docker Engine 20.10 or newer, or choose the namespace sandbox."
        )


_LIMITS = {"MemoryLimit": "memory", "PidsLimit": "the number of processes"}


def no_engine(client: str, said: str) -> str:
    """The sentence for a client that gets no answer; ``said`` is what it complained about."""
    lower = said.lower()
    name = Path(client).name
    if "permission denied" in lower:
        advice = "this user may not speak to it: join the group `docker`, or run as root"
    elif any(words in lower for words in _NO_ANSWER):
        advice = "start it (`systemctl start docker`, or `dockerd` by hand), or choose the namespace sandbox"
    else:
        advice = f"see `{name} info`, or choose the namespace sandbox"
    return f"No container engine answers the command {name!r} ({said.rstrip('.')}); {advice}."


def _docker_facts(info: dict[str, Any]) -> EngineFacts:
    driver = {str(row[0]): str(row[1]) for row in info.get("DriverStatus") or () if len(row) == 2}
    return EngineFacts(
        kind="docker",
        version=str(info.get("ServerVersion", "")),
        architecture=str(info.get("Architecture", "")),
        backing=driver.get("Backing Filesystem", ""),
    )


def _podman_facts(info: dict[str, Any]) -> EngineFacts:
    store = info.get("store") or {}
    architecture = str(info["host"].get("arch", ""))
    return EngineFacts(
        kind="podman",
        version=str((info.get("version") or {}).get("Version", "")),
        architecture={"amd64": "x86_64", "arm64": "aarch64"}.get(architecture, architecture),
        backing=str((store.get("graphStatus") or {}).get("Backing Filesystem", "")),
    )


def _check_version(facts: EngineFacts) -> None:
    found = re.match(r"(\d+)\.(\d+)", facts.version)  # an engine built from source may have any name as its version
    oldest = OLDEST[facts.kind]
    if found and tuple(int(part) for part in found.groups()) < oldest:
        raise IsolationRefusedError(
            f"The {facts.kind} engine has version {facts.version}; {oldest[0]}.{oldest[1]} or newer is needed. Update "
            "it, or choose the namespace sandbox."
        )
