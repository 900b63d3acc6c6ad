"""How long extraction takes, at its worst too, and does what it finds pass as often as what the official tool finds?

Three parts, of which the first needs nothing from outside:

* texts made to be hard, two million characters each: CPU seconds of extraction, family by family;
* with ``--folder`` (``MODEL/SUBSET-VARIANT.samples.jsonl.gz`` with ``solution`` and ``raw_solution``): CPU seconds
  per 1,140 answers on one core, and how many answers differ from the official ``solution`` in their syntax tree;
* with ``--grade`` too: both gradings by ``bw grade``, and every task that passes in one of them only.  Where the
  trees are equal the official words are graded for both, so that one execution serves.

    python benchmarks/extraction.py --folder SAMPLES --dataset DATA.jsonl.gz --grade --out extraction-gradings
"""

# needs: nothing (this line puts it into `make bench`)

import argparse
import ast
import collections
import gzip
import json
import random
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import measuring

from benchwright.answers.extraction import as_written, extract
from benchwright.core.answers import CodeAnswer

ANSWERS = 1140
"""Tasks of the full benchmark: what one model's replies come to."""
ANSWERS_GOAL_SECONDS = 3.0
WORST_GOAL_SECONDS = 1.0
ENTRY_POINT = "task_func"
_SAMPLES = ".samples.jsonl.gz"

REPEATED = {
    "fence lines": "```\n",
    "opening fences": "```python\n",
    "tildes": "~~~\n",
    "backticks": "`",
    "pairs of backticks": "`` ",
    "fences within lines": "a```b```c ",
    "fences behind lines": "x```\n",
    "right blocks": "```python\ndef task_func(x):\n    return x\n```\n",
    "alternatives": "Alternatively:\n```python\ndef task_func(): return 1\n```\n",
    "blocks with unfinished strings": "```python\n'''\n```\n",
    "functions with unfinished strings": "```\ndef task_func(): '''\n```\n",
    "fences in longer fences": "````\n```\n",
    "indented fences": "    ```\n",
    "list items": "- ```python\n",
    "list marks": "- ",
    "quote marks": "> ",
    "opening tags": "<think>",
    "opening tags on lines": "<think>\n",
    "closing tags on lines": "</think>\n",
    "closing tags in fences": "```\n</think>\n",
    "quoted closing tags": "'</think>' ",
    "sections": "<think>a</think>",
    "sections in sections": "<think>\n<reasoning>\n",
    "bracketed tags": "[THINK]\n",
    "channels": "<|channel|>analysis<|message|>a<|end|>",
    "bare channels": "analysisWe are assistantfinal",
    "wrappers": "<answer>task_func=",
    "wrapped fences": "<solution>\n```\n",
    "end marks": "<|im_end|>",
    "less-than signs": "<",
    "functions": "def task_func(x):\n    return x\n",
    "unfinished functions": "def task_func(",
    "assignments": "task_func = 1\n",
    "mentions": "task_func ",
    "comparisons": "task_func==",
    "names": "x\n",
    "constants": "x=1\n",
    "calls": "f(a)\n",
    "statements on one line": "x;",
    "imports": "import os\n",
    "classes": "class A(B):\n x = 1\n",
    "decorators": "@d\ndef f(): pass\n",
    "globals": "def f():\n global a\n a=1\nf()\n",
    "branches": "if x:\n  y=1\n",
    "lambdas": "lambda:",
    "sums": "a+",
    "negations": "not ",
    "attributes": "a.",
    "tuples": "a,",
    "line feeds": "\n",
    "carriage returns": "\r",
    "blanks": " ",
    "blank lines": " \n",
    "form feeds": "\f\n",
    "opening brackets": "(",
    "opening brackets on lines": "{\n",
    "closing brackets": ")\n",
    "quotes": '"',
    "apostrophes": "'",
    "triple quotes": '"""\n',
    "strings": "'''a\n'''\n",
    "backslashes": "\\",
    "continued lines": "\\\n",
    "comments": "# a\n",
    "at signs": "@",
    "prompts": ">>> def task_func(): pass\n",
    "prose": "This is (some prose, with it's words).\n",
    "prose above code": "So:\n    x = 1\n",
    "code within prose": "`task_func = 1` ",
    "code behind colons": "a: def b ",
    "else lines": "else:\n",
    "NUL bytes": "\0",
    "lone surrogates": "\ud800",
    "byte order marks": "\ufeff",
    "emoji": "😀\n",
}
"""Pathological texts that repeat one piece."""


def _nested(size: int) -> str:
    return "".join(" " * depth + "if x:\n" for depth in range(int((2 * size) ** 0.5)))


def _chain(size: int) -> str:
    return "def task_func(): return f0()\n" + "".join(f"def f{n}(): return f{n + 1}()\n" for n in range(size // 30))


def _callers(size: int) -> str:
    functions = "".join(f"def f{n}(): f{n + 1}()\n" for n in range(size // 40))
    return functions + "".join(f"f{n}()\n" for n in range(size // 40)) + "def task_func(): return f1()\n"


def _defined_twice(size: int) -> str:
    return "".join(f"x{n} = 1\n" for n in range(size // 20)) * 2 + "def task_func(): return x1\n"


def _lenders(size: int) -> str:
    needed = "+".join(f"a{n}" for n in range(1000))
    blocks = "".join(f"```python\na{n} = a{n + 1000}\n```\n" for n in range(size // 40))
    return f"```python\ndef task_func(): return {needed}\n```\n{blocks}"


def _fences_in_a_docstring(size: int) -> str:
    return 'def task_func():\n    """\n' + "    ```\n" * (size // 8) + '    """\n    return 1\n'


def _docstrings(size: int) -> str:
    return 'def task_func():\n    """\n    ```\n    """\n' * (size // 48)


def _noise(size: int) -> str:
    return "".join(random.Random(1).choices("`~<>/think[]()'\"\n #=:def \\x", k=size))


def _pieces(size: int) -> str:
    pieces = ["```", "```python\n", "\n", "def task_func():\n", "    return 1\n", "</think>", "<think>", "'''", '"""']
    pieces += ["(", ")", "x = 1\n", "# a\n", "import os\n", "prose words ", "<answer>", "`", "'", "\\", " "]
    return "".join(random.Random(2).choices(pieces, k=size // 5))


FAMILIES: Mapping[str, Callable[[int], str]] = {
    **{
        name: lambda size, piece=piece: (piece * (size // len(piece) + 1))[:size]  # type: ignore[misc]
        for name, piece in REPEATED.items()
    },
    "deep indentation": _nested,
    "functions in a chain": _chain,
    "functions called one by one": _callers,
    "names defined twice": _defined_twice,
    "blocks that lend names": _lenders,
    "fences in a docstring": _fences_in_a_docstring,
    "docstrings with a fence": _docstrings,
    "random characters": _noise,
    "random pieces": _pieces,
}
"""Makers of pathological texts of about a given size."""

LEADS = (
    "",
    "def task_func(x):\n    return x\n\n",
    "```python\n",
    "Here:\n",
    "<think>\n",
    "def task_func(x):\n    '''\n",
)
"""What stands before them: each leads extraction another way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """One sample file, read."""

    file: str
    answers: int
    seconds: float
    """CPU seconds on one core."""
    strategies: Mapping[str, int]
    """Answers by strategy, or by the reason why there is none."""
    differing: int
    """Answers whose code has another syntax tree than the official solution."""


def worst(size: int, leads: Sequence[str] = LEADS) -> list[tuple[float, str, str]]:
    """CPU seconds of the slower of both readings for each family and lead, the longest first."""
    found = []
    for name, make in FAMILIES.items():
        body = make(size)
        for lead in leads:
            text = lead + body
            begin = time.process_time()
            extract(text, entry_point=ENTRY_POINT)
            middle = time.process_time()
            as_written(text)
            found.append((max(middle - begin, time.process_time() - middle), name, lead))
    return sorted(found, reverse=True)


def read(file: Path, folder: Path) -> tuple[Read, list[dict[str, Any]]]:
    """Extract every answer of a file; also its rows, with our code under ``code``."""
    with gzip.open(file, "rt") as lines:
        rows = [json.loads(line) for line in lines]
    begin = time.process_time()
    answers = [extract(row["raw_solution"], entry_point=ENTRY_POINT) for row in rows]
    seconds = time.process_time() - begin
    for row, answer in zip(rows, answers, strict=True):
        row["code"] = answer.code if isinstance(answer, CodeAnswer) else ""
        row["same"] = tree(row["code"]) == tree(row["solution"])
    kinds = (answer.strategy if isinstance(answer, CodeAnswer) else answer.reason.value for answer in answers)
    return Read(
        file=str(file.relative_to(folder)).removesuffix(_SAMPLES),
        answers=len(rows),
        seconds=seconds,
        strategies=dict(collections.Counter(kinds)),
        differing=sum(not row["same"] for row in rows),
    ), rows


def tree(code: str) -> str:
    """The code's syntax tree as text, or the code itself when it has none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.dump(ast.parse(code))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return code


def graded(rows: Sequence[Mapping[str, str]], name: str, out: Path, dataset: Path) -> dict[tuple[str, str], str]:
    """Verdicts by task and score of ``bw grade``, each as ``outcome, reason, detail``."""
    subset, _, variant = name.rpartition("/")[2].partition("-")
    samples = out.with_suffix(".jsonl")
    samples.parent.mkdir(parents=True, exist_ok=True)
    samples.write_text("".join(json.dumps(row) + "\n" for row in rows))
    command = [str(Path(sys.executable).with_name("bw")), "grade", "bigcodebench", str(samples), "--json"]
    command += ["--dataset", str(dataset), "--subset", subset, "--variant", variant, "--out", str(out)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise SystemExit(f"bw grade ended with {ended.returncode}: {ended.stderr[-2000:]}")
    verdicts = [json.loads(line) for line in (out / "rows.jsonl").read_text().splitlines()]
    return {
        (row["problem_id"], row["score"]): f"{row['outcome']}, {row['reason']}, {row['detail']}" for row in verdicts
    }


def compared(rows: Sequence[Mapping[str, Any]], name: str, out: Path, dataset: Path) -> dict[str, Any]:
    """Both gradings of one file: how many pass, and the tasks that pass in one of them only."""
    base = out / name.replace("/", "-")
    official_rows = [{"task_id": row["task_id"], "solution": row["solution"]} for row in rows]
    # The same tree has the same meaning; in the same words it is the same job, executed once.
    our_rows = [
        {"task_id": row["task_id"], "solution": row["solution"] if row["same"] else row["code"]} for row in rows
    ]
    official = graded(official_rows, name, base.with_name(f"{base.name}.official"), dataset)
    ours = graded(our_rows, name, base.with_name(f"{base.name}.ours"), dataset)
    passes = {key: (verdict.startswith("passed"), ours[key].startswith("passed")) for key, verdict in official.items()}
    return {
        "passed": {
            score: [sum(pair[side] for key, pair in passes.items() if key[1] == score) for side in (0, 1)]
            for score in sorted({key[1] for key in passes})
        },
        "differing": [
            {"task": task, "score": score, "official": official[task, score], "ours": ours[task, score]}
            for (task, score), pair in sorted(passes.items())
            if pair[0] != pair[1]
        ],
    }


def show(document: Mapping[str, Any]) -> None:
    """Print what was measured."""
    print(f"{document['size']:,} characters made to be hard, CPU seconds of the slowest families")
    for seconds, family, lead in document["worst"][:10]:
        print(f"{seconds:>8.2f}  {family}{f' after {lead!r}' if lead else ''}")
    met = "met" if document["worst"][0][0] <= WORST_GOAL_SECONDS else "NOT met"
    print(f"goal {WORST_GOAL_SECONDS:g} s: {met}")
    for entry in document["files"]:
        print(f"\n{entry['file']}: {entry['answers']} answers, {entry['seconds']:.2f} CPU seconds")
        print(f"  {entry['per_1140']:.2f} s per {ANSWERS:,} answers (goal {ANSWERS_GOAL_SECONDS:g} s)")
        print(f"  {', '.join(f'{count} {kind}' for kind, count in sorted(entry['strategies'].items()))}")
        print(f"  {entry['differing']} differ from the official solution in their syntax tree")
        for score, (official, ours) in entry.get("passed", {}).items():
            print(f"  {score}: official {official} passed, ours {ours}")
        for row in entry.get("differing_verdicts", []):
            print(f"  {row['task']} {row['score']}\n    official: {row['official']}\n    ours: {row['ours']}")


def _files(folder: Path) -> Iterator[Path]:
    yield from sorted(folder.glob(f"*/*{_SAMPLES}"))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark."""
    options = _parser().parse_args(arguments)
    if options.grade and not (options.folder and options.dataset):
        raise SystemExit("--grade needs the sample files and the tasks: --folder SAMPLES --dataset DATA.jsonl.gz")
    extract("warm", entry_point=ENTRY_POINT)
    document: dict[str, Any] = {
        "machine": measuring.machine_facts(),
        "size": options.size,
        "worst": worst(options.size),
        "files": [],
    }
    for file in _files(options.folder) if options.folder else ():
        report, rows = read(file, options.folder)
        entry = {**asdict(report), "per_1140": report.seconds / report.answers * ANSWERS}
        if options.grade:
            found = compared(rows, report.file, options.out, options.dataset)
            entry |= {"passed": found["passed"], "differing_verdicts": found["differing"]}
        document["files"].append(entry)
    show(document)
    if options.json:
        options.json.write_text(json.dumps(document, indent=2) + "\n")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--size", type=int, default=2_000_000, help="characters of the texts made to be hard")
    parser.add_argument("--folder", type=Path, help="sample files with raw_solution, MODEL/SUBSET-VARIANT")
    parser.add_argument("--dataset", type=Path, help="the benchmark's rows, for --grade")
    parser.add_argument("--grade", action="store_true", help="grade both and list the tasks that differ")
    parser.add_argument("--out", type=Path, default=Path("extraction-gradings"), help="folder for the gradings")
    parser.add_argument("--json", type=Path, help="write everything measured here")
    return parser


if __name__ == "__main__":
    sys.exit(main())
