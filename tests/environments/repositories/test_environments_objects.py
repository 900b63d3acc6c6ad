"""Git objects that are written by hand."""

import hashlib
from pathlib import Path

from made_histories import run_git

from benchwright.environments.repositories.base_tree import PROGRAM, blob_id
from benchwright.environments.repositories.objects import ObjectFolder


def test_objects_are_as_git_writes_them(tmp_path: Path) -> None:
    """Git finds no fault with them, and lists what was put there, in its own order of folders and files."""
    objects = ObjectFolder.make(tmp_path / "git")
    paths = ["a.b", "a/b", "a0", "d/e/f/g", "d-e", "ü", "\udcff/x"]
    blob = objects.add_blob(b"content")
    assert blob == blob_id(b"content") == hashlib.sha1(b"blob 7\0content", usedforsecurity=False).hexdigest()
    top = objects.add_tree(dict.fromkeys(paths, (PROGRAM, blob)))
    git = ["--git-dir", str(tmp_path / "git")]
    assert "error" not in run_git(tmp_path, *git, "fsck", "--strict", "--no-dangling", top)
    listed = run_git(tmp_path, *git, "ls-tree", "-r", "-z", top).split("\0")[:-1]
    assert {line.partition("\t")[2] for line in listed} == set(paths)
    assert {line.partition("\t")[0] for line in listed} == {f"100755 blob {blob}"}
    assert objects.add_tree({}) == "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
