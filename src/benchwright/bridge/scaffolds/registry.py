"""Scaffolds by name; other packages add theirs with the entry-point group ``benchwright.scaffolds``."""

from benchwright.bridge.scaffolds.base import Scaffold
from benchwright.core.registry import Registry

SCAFFOLDS: Registry[Scaffold] = Registry(
    "scaffold",
    {
        "loop": "benchwright.bridge.scaffolds.loop:LOOP",
        "bash-only": "benchwright.bridge.scaffolds.loop:BASH_ONLY",
        "claude-code": "benchwright.bridge.scaffolds.others:CLAUDE_CODE",
        "codex": "benchwright.bridge.scaffolds.others:CODEX",
        "mini-swe-agent": "benchwright.bridge.scaffolds.others:MINI_SWE_AGENT",
    },
    group="benchwright.scaffolds",
)
