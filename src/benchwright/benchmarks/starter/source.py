"""Reads the built-in starter tasks as rows in the BigCodeBench schema.

Each folder below ``tasks/`` holds one task: ``reference.py`` (imports, constants and one documented function
``task_func``) and ``tests.py`` (a unittest suite that runs in the same module, after the answer).
``tasks/manifest.json`` lists the folders in the order of their numbers; a new task goes to its end, so that
the ids of the others never change. The rest of a row follows from these files by the rules in this module:

- ``complete_prompt`` is the reference up to the end of the docstring, ``canonical_solution`` the rest of it;
- ``code_prompt`` is the reference up to the line of the function, without blank lines and docstring;
- ``doc_struct`` is the docstring by sections, and ``instruct_prompt`` is made of its description, exceptions
  and result, followed by ``code_prompt`` as the code to start with.
"""

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import NamedTuple

ENTRY_POINT = "task_func"
MANIFEST_VERSION = 1
TASKS_FOLDER = Path(__file__).parent / "tasks"

# Headings that may stand in a docstring, and the field of DocStruct which their lines go to.
SECTION_FIELDS = {
    "Notes:": "notes",
    "Parameters:": "params",
    "Returns:": "returns",
    "Requirements:": "reqs",
    "Raises:": "raises",
    "Example:": "examples",
}


class StarterSourceError(ValueError):
    """The files of the starter benchmark contradict each other; whoever edited them last has to mend them."""


@dataclass(frozen=True, kw_only=True)
class ManifestEntry:
    """One task as the manifest lists it."""

    slug: str
    """The folder of the task below ``tasks/``."""
    domains: tuple[str, ...]
    """The subjects of the task, the main one first."""


class ReferenceParts(NamedTuple):
    """A reference file, taken apart."""

    complete_prompt: str
    """The source up to the end of the docstring."""
    canonical_solution: str
    """What follows the docstring, so that both together are the file."""
    code_prompt: str
    """Imports, constants and the line of the function, ending in a line feed."""
    docstring: str
    """The text of the docstring without its indentation."""
    libraries: list[str]
    """The top-level modules imported ahead of the function, in order of appearance."""


@dataclass(frozen=True, kw_only=True)
class DocStruct:
    """A docstring by sections; the fields have the names of the benchmark schema."""

    description: list[str] = field(default_factory=list)
    """The sentences ahead of the first heading."""
    notes: list[str] = field(default_factory=list)
    """The items of the notes."""
    params: list[str] = field(default_factory=list)
    """One item per parameter."""
    returns: list[str] = field(default_factory=list)
    """One item per returned value."""
    reqs: list[str] = field(default_factory=list)
    """The required libraries."""
    raises: list[str] = field(default_factory=list)
    """One item per exception."""
    examples: list[str] = field(default_factory=list)
    """The lines of the interactive examples."""


def read_rows() -> list[dict[str, object]]:
    """Return all tasks in the order of the manifest, numbered from "Starter/0" on.

    Raises StarterSourceError if the folders are not those of the manifest, or if a file breaks the rules.
    """
    entries = read_manifest()
    check_folders(entries)
    return [build_row(number, entry) for number, entry in enumerate(entries)]


def read_manifest() -> list[ManifestEntry]:
    """Return the entries of the manifest in their order."""
    manifest = json.loads((TASKS_FOLDER / "manifest.json").read_text(encoding="utf-8"))
    version = manifest["schema_version"]
    if version != MANIFEST_VERSION:
        raise StarterSourceError(f"tasks/manifest.json has schema {version}, expected {MANIFEST_VERSION}")
    return [ManifestEntry(slug=task["slug"], domains=tuple(task["domains"])) for task in manifest["tasks"]]


def check_folders(entries: list[ManifestEntry]) -> None:
    """Raise StarterSourceError unless every folder is listed exactly once and every listed folder exists."""
    listed = [entry.slug for entry in entries]
    present = {path.name for path in TASKS_FOLDER.iterdir() if (path / "reference.py").is_file()}
    repeated = sorted({slug for slug in listed if listed.count(slug) > 1})
    problems = {
        "listed but absent": sorted(set(listed) - present),
        "present but not listed": sorted(present - set(listed)),
        "listed more than once": repeated,
    }
    found = [f"{problem}: {', '.join(slugs)}" for problem, slugs in problems.items() if slugs]
    if found:
        raise StarterSourceError("tasks/manifest.json does not fit the task folders; " + "; ".join(found))


def build_row(number: int, entry: ManifestEntry) -> dict[str, object]:
    """Return the row of one task, read from its folder."""
    folder = TASKS_FOLDER / entry.slug
    parts = split_reference((folder / "reference.py").read_text(encoding="utf-8"))
    doc = parse_docstring(parts.docstring)
    return {
        "task_id": f"Starter/{number}",
        "complete_prompt": parts.complete_prompt,
        "instruct_prompt": write_instruct_prompt(doc, parts.code_prompt),
        "canonical_solution": parts.canonical_solution,
        "code_prompt": parts.code_prompt,
        "test": (folder / "tests.py").read_text(encoding="utf-8"),
        "entry_point": ENTRY_POINT,
        "doc_struct": json.dumps(asdict(doc), ensure_ascii=False),
        # A string that holds a Python list, because the published data has it that way.
        "libs": repr(parts.libraries),
        "domains": list(entry.domains),
    }


def split_reference(source: str) -> ReferenceParts:
    """Take a reference file apart.

    Raises StarterSourceError unless it ends with its one function, ``task_func``, with docstring and body.
    """
    tree = ast.parse(source)
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    if [function.name for function in functions] != [ENTRY_POINT] or tree.body[-1] is not functions[0]:
        raise StarterSourceError(f"a reference must end with {ENTRY_POINT} and define no other function")
    function = functions[0]
    docstring = ast.get_docstring(function)
    if docstring is None or len(function.body) < 2:
        raise StarterSourceError(f"{ENTRY_POINT} needs a docstring and a body")
    start, end = function.body[0].lineno, function.body[0].end_lineno
    lines = source.splitlines(keepends=True)
    return ReferenceParts(
        complete_prompt="".join(lines[:end]),
        canonical_solution="".join(lines[end:]),
        code_prompt="".join(line for line in lines[: start - 1] if line.strip()),
        docstring=docstring,
        libraries=list(dict.fromkeys(imported_modules(tree))),
    )


def imported_modules(tree: ast.Module) -> Iterator[str]:
    """Yield the top-level name of each module that is imported ahead of the function."""
    for node in tree.body:
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module.partition(".")[0]


def parse_docstring(docstring: str) -> DocStruct:
    """Sort a docstring into its sections.

    Raises StarterSourceError if a line looks like a heading but is not one of SECTION_FIELDS.
    """
    sections: dict[str, list[str]] = {"description": []}
    current = sections["description"]
    for line in docstring.splitlines():
        if line in SECTION_FIELDS:
            current = sections.setdefault(SECTION_FIELDS[line], [])
        elif re.fullmatch(r"[A-Z]\w+:", line):
            raise StarterSourceError(f"unknown heading {line!r}; known are {', '.join(SECTION_FIELDS)}")
        else:
            current.append(line)
    description = split_sentences(" ".join(" ".join(sections.pop("description")).split()))
    examples = [line for line in sections.pop("examples", []) if line.strip()]
    items = {name: join_items(lines) for name, lines in sections.items()}
    return DocStruct(description=description, examples=examples, **items)


def split_sentences(text: str) -> list[str]:
    """Split a paragraph at the ends of sentences; joining the result with spaces gives the text again."""
    return re.split(r'(?<=[.!?]) (?=[A-Z"])', text)


def join_items(lines: list[str]) -> list[str]:
    """Return the items of a section, each without its dash and with its continuation lines joined."""
    items: list[str] = []
    for line in lines:
        if line.startswith("- "):
            items.append(line[2:].strip())
        elif line.strip():
            if not items:
                raise StarterSourceError(f"expected an item that starts with a dash, found {line!r}")
            items[-1] += " " + line.strip()
    return items


def write_instruct_prompt(doc: DocStruct, code_prompt: str) -> str:
    """Return the prompt in prose: description, notes, exceptions, result and the code to start with."""
    paragraphs = [" ".join(doc.description)]
    if doc.notes:
        paragraphs.append("Note that: " + " ".join(doc.notes))
    if doc.raises:
        paragraphs.append("The function should raise the exception for: " + " ".join(doc.raises))
    paragraphs.append("The function should output with:\n    " + "\n    ".join(doc.returns))
    paragraphs.append(f"You should write self-contained code starting with:\n```\n{code_prompt}```")
    return "\n".join(paragraphs) + "\n"
