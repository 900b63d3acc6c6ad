"""Small repositories with real histories, and an independent way to tell what a commit reaches."""

import os
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

IDENTITY = {
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "C",
    "GIT_COMMITTER_EMAIL": "c@example.org",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
}


def run_git(repository: Path, *arguments: str, stdin: bytes = b"", environ: Mapping[str, str] | None = None) -> str:
    """Run git in a repository as a user would; raises when it fails."""
    variables = {**os.environ, **IDENTITY, **(environ or {})}
    done = subprocess.run(["git", *arguments], cwd=repository, input=stdin, capture_output=True, env=variables)
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    return done.stdout.decode(errors="surrogateescape").strip()


def read_objects(repository: Path) -> dict[str, set[str]]:
    """For every stored object the ids that it names: parents, trees, blobs, tagged objects."""
    command = ["git", "cat-file", "--batch", "--batch-all-objects"]
    environ = {**os.environ, "GIT_NO_REPLACE_OBJECTS": "1"}
    data = subprocess.run(command, cwd=repository, capture_output=True, env=environ, check=True).stdout
    named, start = {}, 0
    while start < len(data):
        end = data.index(b"\n", start)
        object_id, kind, size = data[start:end].decode().split(" ")
        start = end + 1 + int(size) + 1
        named[object_id] = _named_in(kind, data[end + 1 : start - 1])
    return named


def reach(objects: Mapping[str, set[str]], roots: Iterable[str]) -> set[str]:
    """Everything that these objects reach, told from the objects' own contents, not by asking git for it."""
    seen: set[str] = set()
    waiting = set(roots)
    while waiting:
        seen |= waiting
        waiting = {named for one in waiting for named in objects[one]} - seen
    return seen


def _named_in(kind: str, body: bytes) -> set[str]:
    if kind == "tree":
        return _named_in_tree(body)
    if kind in ("commit", "tag"):
        head = body.split(b"\n\n")[0].decode(errors="replace").splitlines()
        words = [line.split(" ") for line in head]
        return {word[1] for word in words if word[0] in ("tree", "parent", "object")}
    return set()


def _named_in_tree(body: bytes) -> set[str]:
    named = set()
    while body:
        entry, _, body = body.partition(b"\0")
        if not entry.startswith(b"160000 "):  # a submodule's commit lies elsewhere
            named.add(body[:20].hex())
        body = body[20:]
    return named


def make_history(repository: Path, graph: Sequence[Sequence[int]], tags: Mapping[int, bool]) -> list[str]:
    """A bare repository with one commit per entry of the graph, which lists the numbers of its parents.

    Commit number n writes ``n`` into the file ``n % 4`` and into ``deep/n % 3``, so that later commits repeat blobs and
    trees of earlier ones.  ``tags`` says which commits have a tag, and whether it is an annotated one.  All commits
    have the same date.
    """
    repository.mkdir(parents=True)
    run_git(repository, "init", "--quiet", "--bare")
    stream = []
    for number, parents in enumerate(graph):
        stream.append(f"commit refs/heads/commit-{number}\nmark :{number + 1}\ncommitter C <c@x> 1600000000 +0000\n")
        stream.append(f"data <<END\ncommit {number}\nEND\n")
        words = ["from", *["merge"] * len(parents)]
        stream.extend(f"{word} :{parent + 1}\n" for word, parent in zip(words, parents, strict=False))
        stream.append(f"M 644 inline file-{number % 4}\ndata <<END\n{number % 5}\nEND\n")
        stream.append(f"M 644 inline deep/file-{number % 3}\ndata <<END\n{number}\nEND\n")
    for number, annotated in tags.items():
        if annotated:
            stream.append(f"tag v{number}\nfrom :{number + 1}\ntagger C <c@x> 1600000000 +0000\ndata 2\nhi\n")
        else:
            stream.append(f"reset refs/tags/v{number}\nfrom :{number + 1}\n\n")
    run_git(repository, "fast-import", "--quiet", "--force", stdin="".join(stream).encode())
    return [run_git(repository, "rev-parse", f"refs/heads/commit-{number}") for number in range(len(graph))]


@dataclass(frozen=True)
class Rich:
    """A repository with one of everything."""

    path: Path
    base: str
    """A merge commit on the branch ``main``."""
    before: str
    """A commit before the base."""
    merged_tags: Mapping[str, str]
    """Object id by name."""
    fix: str
    """The commit after the base, which nobody may see."""
    loose: str
    """An object that nothing reaches."""
    stashed: str


AWKWARD_NAME = "naïve – ファイル.txt"


def make_rich(path: Path) -> Rich:
    """Merges, tags in past and future, a stash, notes, an unreachable object, links, modes, line ends."""
    path.mkdir(parents=True)
    run_git(path, "init", "--quiet", "--initial-branch=main")
    first = _commit_files(path)
    run_git(path, "tag", "--annotate", "v1", "--message=one")
    run_git(path, "tag", "--annotate", "v1-signed-off", "v1", "--message=a tag of a tag")
    run_git(path, "tag", "file-tag", f"{first}:a.txt")
    run_git(path, "checkout", "--quiet", "-b", "side")
    _commit(path, "side.txt", "side\n")
    run_git(path, "tag", "v1.1")
    run_git(path, "checkout", "--quiet", "main")
    before = _commit(path, "a.txt", "second\n")
    run_git(path, "merge", "--quiet", "--no-ff", "--message=merge", "side")
    base = run_git(path, "rev-parse", "HEAD")
    names = ("v1", "v1-signed-off", "v1.1")
    merged = {name: run_git(path, "rev-parse", f"refs/tags/{name}") for name in names}

    fix = _commit(path, "a.txt", "fixed\n")
    run_git(path, "tag", "--annotate", "v2", "--message=two")
    _commit(path, "a.txt", "first\n")  # the blob of the past again
    run_git(path, "branch", "later")
    run_git(path, "checkout", "--quiet", "-b", "other-future", before)
    _commit(path, "other.txt", "other\n")
    run_git(path, "tag", "v1.5-unmerged")
    run_git(path, "checkout", "--quiet", "main")
    run_git(path, "notes", "add", "--message=note", base)
    run_git(path, "replace", base, before)
    (path / "a.txt").write_text("work in progress\n")
    run_git(path, "stash")
    stashed = run_git(path, "rev-parse", "refs/stash")
    loose = run_git(path, "hash-object", "-w", "--stdin", stdin=b"nobody names me\n")
    run_git(path, "remote", "add", "origin", "https://example.org/o/r")
    return Rich(path=path, base=base, before=before, merged_tags=merged, fix=fix, loose=loose, stashed=stashed)


def _commit_files(path: Path) -> str:
    (path / "a.txt").write_text("first\n")
    (path / "dos.txt").write_bytes(b"one\r\ntwo\r\n")
    (path / AWKWARD_NAME).write_text("text\n")
    (path / "folder").mkdir()
    (path / "folder/run.sh").write_text("#!/bin/sh\n")
    (path / "folder/run.sh").chmod(0o755)
    (path / "link").symlink_to("folder/run.sh")
    run_git(path, "add", ".")
    run_git(path, "update-index", "--add", "--cacheinfo", f"160000,{'12' * 20},vendored")
    run_git(path, "commit", "--quiet", "--message=first")
    return run_git(path, "rev-parse", "HEAD")


def _commit(path: Path, name: str, text: str) -> str:
    (path / name).write_text(text)
    run_git(path, "add", name)
    run_git(path, "commit", "--quiet", "--message", f"write {name}")
    return run_git(path, "rev-parse", "HEAD")
