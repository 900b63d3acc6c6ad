"""Stored documents of earlier versions, brought up to date when they are read.

Every kind of document has a schema number of its own, which stands in the document as ``schema``.  A change of a
kind appends one numbered upgrade here, and a file written by the version before goes to ``tests/store/data``.
"""

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from benchwright.core.errors import UsageError

Document = dict[str, Any]


class Kind(enum.StrEnum):
    """The documents that carry a schema number of their own."""

    MANIFEST = "manifest"
    """``manifest.json`` of a results folder."""
    RUN = "run"
    """``run.json`` of the folder of a run."""
    STORE = "store"
    """``store.json`` of a store of results."""
    ENTRY = "entry"
    """``entry.json`` of one run in a store of results."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Upgrade:
    """One step from a schema to the next."""

    to: int
    """The number that the document has afterwards."""
    what: str
    """One plain sentence: what is different."""
    apply: Callable[[Document], Document]


def _name_the_kind(document: Document) -> Document:
    return {"kind": "functions", **document}


UPGRADES: Mapping[Kind, tuple[Upgrade, ...]] = {
    Kind.MANIFEST: (
        Upgrade(
            to=2,
            what="Gradings of functions say so in `kind`, as those of repositories do; problems.jsonl and "
            "samples.jsonl stand beside the manifest.",
            apply=_name_the_kind,
        ),
    ),
    Kind.RUN: (),
    Kind.STORE: (),
    Kind.ENTRY: (),
}


class UnknownSchemaError(UsageError):
    """A document has a schema that this version does not know; most likely a newer version wrote it."""


def schema_of(kind: Kind) -> int:
    """The schema that this version writes."""
    return 1 + len(UPGRADES[kind])


def upgraded(kind: Kind, document: object, where: object) -> Document:
    """A document in this version's schema, whichever known version wrote it; the file itself is left as it is.

    Args:
        kind: What it is.
        document: As it was read.
        where: Its path, for the message.

    Raises:
        UnknownSchemaError: It has no schema number, or one that this version does not know.
    """
    schema = document.get("schema") if isinstance(document, dict) else None
    newest = schema_of(kind)
    if not isinstance(document, dict) or type(schema) is not int or not 1 <= schema <= newest:
        known = "1" if newest == 1 else f"1 to {newest}"
        raise UnknownSchemaError(
            f"{where} has schema {schema!r}, this version of benchwright reads {known}; read it with the version that "
            f"wrote it, or move it away."
        )
    for upgrade in UPGRADES[kind][schema - 1 :]:
        document = {**upgrade.apply(document), "schema": upgrade.to}
    return document
