"""Fixtures that several benchmarks' tests share."""

import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


class FakeHub:
    """Stands in for huggingface_hub: gives one file, or fails, and remembers what was asked."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.asked: dict[str, Any] = {}

    def download(self, repository: str, file: str, **options: Any) -> str:
        self.asked = {"repository": repository, "file": file, **options}
        if self.path is None:
            raise FileNotFoundError("no connection\nand a long explanation")
        return str(self.path)


@pytest.fixture
def fake_hub(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path | None], FakeHub]:
    """Puts a hub that gives this file, or has no connection, in the place of the real one."""

    def use(path: Path | None) -> FakeHub:
        hub = FakeHub(path)
        module = types.ModuleType("huggingface_hub")
        vars(module).update(hf_hub_download=hub.download)
        monkeypatch.setitem(sys.modules, "huggingface_hub", module)
        return hub

    return use
