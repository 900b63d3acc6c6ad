"""A pretended client of a container engine: answers by its first words, and notes what it was asked."""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DOCKER_INFO: dict[str, Any] = {
    "ServerVersion": "24.0.7",
    "Architecture": "x86_64",
    "MemoryLimit": True,
    "PidsLimit": True,
    "DriverStatus": [["Backing Filesystem", "extfs"]],
}

_PROGRAM = """\
#!{python}
import json, sys
with open({log!r}, "a") as log:
    log.write(json.dumps(sys.argv[1:]) + "\\n")
given = " ".join(sys.argv[1:])
for start, status, output, errors in json.loads({answers!r}):
    if given.startswith(start):
        if start == "load":
            sys.stdin.buffer.read()
        sys.stdout.write(output)
        sys.stderr.write(errors)
        sys.exit(status)
sys.exit("unexpected: " + given)
"""


@dataclass(frozen=True)
class FakeClient:
    """The client's path, and what it was asked."""

    path: Path
    log: Path

    @property
    def asked(self) -> list[list[str]]:
        """The arguments of each call."""
        return [json.loads(line) for line in self.log.read_text().splitlines()]


def fake_client(
    folder: Path, answers: Mapping[str, tuple[int, str, str]] | Sequence[tuple[str, int, str, str]]
) -> FakeClient:
    """A client that answers calls that start with given words by status, output and errors."""
    rows = [(start, *answer) for start, answer in answers.items()] if isinstance(answers, Mapping) else list(answers)
    path, log = folder / "docker", folder / "asked"
    log.touch()
    path.write_text(_PROGRAM.format(python=sys.executable, log=str(log), answers=json.dumps(rows)))
    path.chmod(0o755)
    return FakeClient(path, log)


def info(**changes: Any) -> tuple[int, str, str]:
    """The answer of an engine that works, with changes."""
    return 0, json.dumps({**DOCKER_INFO, **changes}), ""
