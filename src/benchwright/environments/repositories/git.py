"""Running git so that nothing of the caller's configuration, hooks or variables changes what it does.

Every command names its repository (``--git-dir``), for three reasons: git then does not search upwards and find
another one, does not refuse a repository that belongs to another user, and needs no configuration for that.
"""

import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

from benchwright.core.errors import MachineError
from benchwright.environments.commands import LAST_LINES, SPACE_MESSAGES, WORLD_READABLE_UMASK, no_space_left

FIXED_VARIABLES = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
"""No configuration but the repository's own, objects as they are stored, nothing written by questions."""

CONFIG = """\
[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = false
\tcheckStat = minimal
\ttrustctime = false
\tautocrlf = false
[gc]
\tauto = 0
[maintenance]
\tauto = false
"""
"""Configuration of a repository that benchwright makes.

Files count as unchanged by size and modification time alone, so that ``git status`` stays quick in a copy or
under an overlay, where inode numbers differ.  A history may lie in more than 50 packs, at which any commit would
otherwise start a repack of everything.
"""

BRANCH = "refs/heads/main"
"""The only branch of a repository that benchwright makes."""


class GitError(MachineError):
    """A git command failed; the message has its last lines.

    Raised by `git` alone.  Who asked git a question catches it; anybody else lets it pass as `MachineError`.
    """


def environment(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """The variables git runs with: this process's own without git's, then the fixed ones, then ``more``."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return {**own, **FIXED_VARIABLES, **(more or {})}


def git(
    git_dir: Path,
    *arguments: str | Path,
    what: str,
    stdin: str = "",
    environ: Mapping[str, str] | None = None,
) -> str:
    """Run one git command in the repository ``git_dir`` and return its standard output.

    Args:
        git_dir: The repository's folder (``.git``, or a bare repository).
        arguments: The command and its arguments; options of git itself first.
        what: The purpose, as an infinitive for messages.
        stdin: What it reads.
        environ: Variables on top of those of `environment`.

    Bytes that are not UTF-8 come as surrogate escapes.  Raises `GitError` when it fails, and `MachineError` when
    git does not start or says that the disk is full.
    """
    words = ["git", f"--git-dir={git_dir}", *(os.fspath(argument) for argument in arguments)]
    return run_git(words, what=what, stdin=stdin, environ=environment(environ))


def run_git(words: list[str], *, what: str, environ: Mapping[str, str], stdin: str = "") -> str:
    """Run a whole command line with exactly these variables; otherwise as `git`."""
    try:
        done = subprocess.run(
            words,
            env=dict(environ),
            input=stdin.encode(errors="surrogateescape"),
            capture_output=True,
            umask=WORLD_READABLE_UMASK,
            check=False,
        )
    except OSError as error:
        raise MachineError(f"Could not {what}: {words[0]} does not start ({error.strerror}).") from error
    output = done.stdout.decode(errors="surrogateescape")
    if done.returncode != 0:
        raise _failure(words, done.returncode, done.stderr.decode(errors="replace") or output, what)
    return output


def make_empty_repository(git_dir: Path, config: str = CONFIG) -> None:
    """Write the files of a repository without objects into a new folder.

    By hand, so that neither templates nor the defaults of the installed git decide what is in it.
    """
    for name in ("objects/info", "objects/pack", "refs/heads", "refs/tags"):
        (git_dir / name).mkdir(parents=True)
    (git_dir / "HEAD").write_text(f"ref: {BRANCH}\n", encoding="ascii")
    (git_dir / "config").write_text(config, encoding="ascii")


def without_secret(text: str) -> str:
    """The text without the user names and passwords of the addresses in it."""
    return re.sub(r"://[^/@\s]+@", "://", text)


def _failure(words: list[str], status: int, output: str, what: str) -> MachineError:
    if any(message in output for message in SPACE_MESSAGES):
        return MachineError(no_space_left(what))
    last = "\n".join(f"  {line}" for line in output.strip().splitlines()[-LAST_LINES:])
    message = f"Could not {what}: this command failed with status {status}:\n  {' '.join(words)}\n{last}"
    return GitError(without_secret(message))
