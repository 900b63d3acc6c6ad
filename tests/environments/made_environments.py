"""A made-up specification and environments laid out by hand."""

import sys
from collections.abc import Callable
from pathlib import Path

from benchwright.environments import EnvSpec, Manifest
from benchwright.environments.environment import MANIFEST_NAME, prefix_for

HOST_MINOR = f"{sys.version_info.major}.{sys.version_info.minor}"

TINY = f"""
schema = 1
name = "tiny"
title = "One small wheel"
python = "{HOST_MINOR}"
lock = "tiny.lock"
download_mib = 1
size_mib = 1
smoke = ["six"]
[variables]
MPLBACKEND = "Agg"
NLTK_DATA = "{{prefix}}/share/nltk_data"
[[tiers]]
name = "light"
preload = ["json", "six"]
"""

MakeSpec = Callable[..., EnvSpec]


def manifest_of(spec: EnvSpec, **changes: object) -> Manifest:
    """A manifest as a build of that specification would write it."""
    fields: dict[str, object] = {
        "name": spec.name,
        "spec_digest": spec.digest,
        "python_version": f"{HOST_MINOR}.0",
        "executable": Path(sys.executable),
        "base_prefix": Path(sys.base_prefix),
        "readable_paths": (Path(sys.base_prefix),),
        "packages": ("six==1.17.0",),
        "data": (),
        "built": "2026-01-01T00:00:00+00:00",
        "seconds": 1.0,
        "size_bytes": 1,
    }
    return Manifest(**{**fields, **changes})  # type: ignore[arg-type]


def put_environment(spec: EnvSpec, home: Path, **changes: object) -> Path:
    """Lay out a complete environment by hand; its Python is the one running the tests."""
    prefix = prefix_for(spec, home)
    (prefix / "bin").mkdir(parents=True)
    (prefix / "bin" / "python").symlink_to(sys.executable)
    (prefix / MANIFEST_NAME).write_text(manifest_of(spec, **changes).to_json())
    return prefix


def script(path: Path, body: str) -> Path:
    """An executable shell script."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path
