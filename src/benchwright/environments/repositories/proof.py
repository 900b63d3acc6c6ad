"""Proving that a repository holds a base commit's past and nothing else.

Facts and judgement are apart: one shell script (`FACTS`) states what is in the repository, on this machine or in a
container alike, and `judge` decides on its output alone.  The script lists every object the repository can read, packed
or loose, and compares it with what the base commit and the tags merged into it reach.  Of the repository's own
files only known ones are accepted, so that whatever else could hold or name later commits (reflogs, stashes,
alternates, other worktrees, FETCH_HEAD, hooks, notes, grafts, commit graphs) is found without being listed here.
"""

import dataclasses
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchwright.core.errors import MachineError, UsageError
from benchwright.environments.repositories.git import BRANCH, CONFIG, environment
from benchwright.environments.repositories.sources import COMMIT_ID

SETUP_EMAIL = "setup@swebench.config"
"""Committer of the one commit that SWE-bench's images may have on top of the base: what their set-up changed
(swebench 4.1.0, harness/test_spec/python.py)."""

OWN_VARIABLES = """\
unset GIT_COMMON_DIR GIT_NAMESPACE GIT_INDEX_FILE GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES
export LC_ALL=C GIT_DIR="$PWD/.git" GIT_WORK_TREE="$PWD"
export GIT_NO_REPLACE_OBJECTS=1 GIT_NO_LAZY_FETCH=1 GIT_OPTIONAL_LOCKS=0
export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null GIT_TERMINAL_PROMPT=0
"""
"""Start of each script that runs git in a repository of unknown state: only that repository decides."""

FACTS = f"""\
set -eu
cd "$1"
base=$2
shift 2
{OWN_VARIABLES}
if [ ! -d .git ] || [ -L .git ]; then echo "fault no .git folder"; echo "end"; exit 0; fi
lists=$(mktemp -d)
trap 'rm -rf "$lists"' EXIT
git -c core.commitGraph=false for-each-ref --merged="$base" --format='%(objectname) %(refname)' refs/tags \\
    > "$lists/tags"
{{ echo "$base"; echo HEAD; cut -d ' ' -f 1 "$lists/tags"; }} > "$lists/roots"
git -c core.commitGraph=false rev-list --objects --no-object-names --missing=print --stdin < "$lists/roots" \\
    > "$lists/reached"
git cat-file --batch-all-objects --batch-check='%(objectname)' --unordered > "$lists/stored"
sed '/^?/d' "$lists/reached" | sort -u > "$lists/past"
sort -u "$lists/stored" > "$lists/present"

head=$(git rev-list --parents -n 1 HEAD)
committer=$(git log -1 --format=%ce HEAD)
commits=$(git -c core.commitGraph=false rev-list --count HEAD)

echo "branch $(git symbolic-ref HEAD || true)"
echo "head $head"
echo "committer $committer"
echo "commits $commits"
git for-each-ref --format='ref %(objectname) %(refname)'
sed 's/^/merged /' "$lists/tags"
find .git ! -type d | sed 's/^/file /'
find .git ! -type d ! -type f | sed 's/^/special /'
find .git -name '*
*' | sed 's/^/special /'
find . -path ./.git -prune -o -name .git -print | sed 's/^/nested /'
sed 's/^/config /' .git/config
echo "objects $(wc -l < "$lists/present")"
comm -13 "$lists/past" "$lists/present" | sed 's/^/unreached /' | head -n 5
sed -n 's/^?/missing /p' "$lists/reached" | head -n 5
git count-objects -v | sed 's/^/store /'
for object; do
    if git cat-file -e "$object" 2> /dev/null; then echo "readable $object"; fi
done
echo "end"
"""
"""POSIX shell; arguments: the working tree, the base commit, then commits that must not be readable."""

KNOWN_FILE = re.compile(r"\.git/(HEAD|config|index|packed-refs|objects/pack/pack-[0-9a-f]{40}\.(pack|idx|rev))")
"""Refs are packed, so that nothing can lie beside them."""

ALWAYS_TOLD = frozenset(["branch", "head", "committer", "config", "commits", "objects", "store", "end"])

FACT_NAMES = ALWAYS_TOLD.union(
    ["fault", "ref", "merged", "file", "special", "nested", "unreached", "missing", "readable"]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryProof:
    """What was counted in a repository that was found to hold a base commit's past and nothing else."""

    base: str
    head: str
    """The base itself, or the set-up commit that the image's maker put on it."""
    commits: int
    """Ancestors of HEAD and HEAD."""
    objects: int
    tags: int
    packs: int
    pack_bytes: int
    """Size of all packs, in whole KiB as git counts them."""
    absent: tuple[str, ...]
    """Commits that were asked for and could not be read."""

    def to_plain(self) -> dict[str, Any]:
        """The proof as plain data."""
        return {**dataclasses.asdict(self), "absent": list(self.absent)}


def prove(repository: Path, base: str, *, absent: Iterable[str] = ()) -> HistoryProof:
    """Check a repository that benchwright made and return what was counted.

    Args:
        repository: The working tree, with its ``.git`` folder.
        base: The commit HEAD must be at.
        absent: Commits that must not be readable, such as the reference's merge commit.

    Nothing is written into the repository.  Raises `MachineError` that lists everything that is wrong, and
    `UsageError` when an id is not 40 hexadecimal digits.
    """
    command = facts_command(base, absent, work=str(repository))
    done = subprocess.run(command, env=environment(), stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if done.returncode != 0:
        raise MachineError(
            f"Could not look into the repository {repository}: {done.stderr.decode(errors='replace').strip()}"
        )
    return judge(done.stdout, base, absent=absent, name=str(repository))


def facts_command(base: str, absent: Iterable[str], *, work: str) -> tuple[str, ...]:
    """The command whose output `judge` reads; it needs ``sh``, git 2.23 or newer, and the usual small tools."""
    return ("sh", "-c", FACTS, "history-facts", work, *checked_ids(base, absent))


def checked_ids(base: str, absent: Iterable[str]) -> tuple[str, ...]:
    """The ids in one row; raises `UsageError` when one is not 40 hexadecimal digits."""
    ids = (base, *absent)
    for object_id in ids:
        if not COMMIT_ID.fullmatch(object_id):
            raise UsageError(f"A commit must be given by its 40 hexadecimal digits, not as {object_id!r}.")
    return ids


def judge(
    output: bytes, base: str, *, absent: Iterable[str] = (), name: str, setup_commit: bool = False
) -> HistoryProof:
    """Decide on the output of `facts_command`.

    Args:
        output: Its standard output.
        base: As in the command.
        absent: As in the command.
        name: What the repository is called in messages.
        setup_commit: Whether HEAD may also be one commit on top of the base, made by SWE-bench's set-up.

    Raises `MachineError` that lists everything that is wrong.
    """
    facts = _parse(output, name)
    faults = [*_faults(facts, base, setup_commit=setup_commit)]
    if faults:
        raise MachineError(f"The repository {name} holds more or less than the past of {base}: {'; '.join(faults)}.")
    store = dict(line.split(": ") for line in facts["store"])
    return HistoryProof(
        base=base,
        head=facts["head"][0].split(" ")[0],
        commits=int(facts["commits"][0]),
        objects=int(facts["objects"][0]),
        tags=len(facts["merged"]),
        packs=int(store["packs"]),
        pack_bytes=int(store["size-pack"]) * 1024,
        absent=tuple(absent),
    )


def _parse(output: bytes, name: str) -> Mapping[str, Sequence[str]]:
    facts: defaultdict[str, list[str]] = defaultdict(list)
    for line in output.decode(errors="backslashreplace").split("\n")[:-1]:
        word, _, rest = line.partition(" ")
        if word not in FACT_NAMES:
            raise MachineError(f"The facts about the repository {name} have a line that cannot be read: {line!r}.")
        facts[word].append(rest)
    if not facts["fault"] and not facts.keys() >= ALWAYS_TOLD:
        raise MachineError(f"The facts about the repository {name} are not complete.")
    return facts


def _faults(facts: Mapping[str, Sequence[str]], base: str, *, setup_commit: bool) -> Iterable[str]:
    """Everything that is wrong, as parts of a sentence."""
    if facts["fault"]:
        yield from facts["fault"]
        return
    yield from _head_faults(facts, base, setup_commit=setup_commit)
    merged = set(facts["merged"])
    for ref in facts["ref"]:
        if ref not in merged and not ref.endswith(f" {BRANCH}"):
            yield f"a ref outside of the past: {ref}"
    yield from (f"an unexpected file: {path}" for path in facts["file"] if not KNOWN_FILE.fullmatch(path))
    yield from (f"not a plain file: {path}" for path in facts["special"])
    yield from (f"another repository inside: {path}" for path in facts["nested"])
    yield from (f"an unexpected setting: {line.strip()}" for line in facts["config"] if line not in SETTINGS)
    yield from (f"an object outside of the past: {object_id}" for object_id in facts["unreached"])
    yield from (f"an object of the past is lacking: {object_id}" for object_id in facts["missing"])
    yield from (f"a commit that must be absent can be read: {object_id}" for object_id in facts["readable"])


SETTINGS = frozenset([*CONFIG.splitlines(), "\tfilemode = false"])
"""Lines a configuration may have: ours, and an image may say that its file system loses modes."""


def _head_faults(facts: Mapping[str, Sequence[str]], base: str, *, setup_commit: bool) -> Iterable[str]:
    head, *parents = facts["head"][0].split(" ")
    if facts["branch"] != [BRANCH]:
        yield f"HEAD is on {facts['branch'][0] or 'no branch'} instead of {BRANCH}"
    if head == base:
        return
    if not setup_commit:
        yield f"HEAD is {head}"
    elif parents != [base] or facts["committer"] != [SETUP_EMAIL]:
        yield f"HEAD is {head}, which is neither the base nor one commit of SWE-bench's set-up on top of it"
