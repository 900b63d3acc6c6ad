"""Cutting the future out of a repository that lies in a container already (official images, Epoch AI's).

Such a repository may carry later tags, branches, reflogs and unreachable objects.  Instead of deleting what is known to
be harmful, a new ``.git`` is built beside the old one from the objects that HEAD and the merged tags reach, and takes
its place; the files of the working tree are left as they are.
"""

from collections.abc import Iterable

from benchwright.core.repositories import WORK
from benchwright.environments.repositories.git import BRANCH, CONFIG
from benchwright.environments.repositories.proof import (
    OWN_VARIABLES,
    HistoryProof,
    checked_ids,
    facts_command,
    judge,
)

CUT = f"""\
set -eu
cd "$1"
base=$2
config=$3
{OWN_VARIABLES}
old=$GIT_DIR
if [ ! -d .git ] || [ -L .git ]; then echo "there is no .git folder in $PWD" >&2; exit 3; fi
head=$(git rev-parse --verify 'HEAD^{{commit}}')
parents=$(git rev-list --parents -n 1 HEAD)
if [ "$head" != "$base" ] && [ "$parents" != "$head $base" ]; then
    echo "HEAD is $head, which is neither $base nor one commit on top of it" >&2
    exit 3
fi
new=$(mktemp -d "$PWD/.git-cut-XXXXXX")
trap 'rm -rf "$new"' EXIT
chmod 755 "$new"
mkdir -p "$new/objects/info" "$new/objects/pack" "$new/refs/heads" "$new/refs/tags"
echo "ref: {BRANCH}" > "$new/HEAD"
modes=$(git config --type=bool core.fileMode || echo true)
printf '%s' "$config" | sed "s/filemode = true/filemode = $modes/" > "$new/config"
git -c core.commitGraph=false for-each-ref --merged="$base" --format='%(objectname) %(refname)' refs/tags \\
    > "$new/tags"

export GIT_DIR="$new"
{{ echo "$head"; cut -d ' ' -f 1 "$new/tags"; }} > "$new/roots"
GIT_ALTERNATE_OBJECT_DIRECTORIES="$old/objects" git -c core.commitGraph=false pack-objects --revs --quiet \\
    --delta-base-offset "$new/objects/pack/pack" < "$new/roots" > /dev/null
{{ echo "create {BRANCH} $head"; sed 's/^\\([0-9a-f]*\\) \\(.*\\)$/create \\2 \\1/' "$new/tags"; }} \\
    | git -c core.logAllRefUpdates=false update-ref --stdin
git pack-refs --all
rm "$new/tags" "$new/roots"
git read-tree HEAD
git update-index -q --refresh > /dev/null || true  # says 1 when files differ from the commit, which they may

find . -path ./.git -prune -o -path "./${{new##*/}}" -prune -o -name .git -prune -exec rm -rf {{}} +
mv "$old" "$new-old"
mv "$new" "$old"
rm -rf "$new-old"
"""
"""POSIX shell; arguments: the working tree, the base commit, the text of the new configuration.

Links to the repositories of submodules lose their meaning with the old ``.git``, and other repositories have futures of
their own, so every other ``.git`` below the tree goes too.
"""


def cut_command(base: str, *, work: str = WORK) -> tuple[str, ...]:
    """The command that cuts a repository in place; status 3 and a sentence when HEAD is not at the base.

    It needs ``sh`` and git 2.23 or newer in the container, and room for one more pack.
    """
    return ("sh", "-c", CUT, "history-cut", work, *checked_ids(base, ()), CONFIG)


def cut_commands(base: str, *, absent: Iterable[str] = (), work: str = WORK) -> tuple[tuple[str, ...], ...]:
    """The commands to run in a container at its start: the cut, then the facts, whose output is for `check_cut`."""
    return (cut_command(base, work=work), facts_command(base, absent, work=work))


def check_cut(output: bytes, base: str, *, absent: Iterable[str] = (), name: str) -> HistoryProof:
    """Decide on the output of the last of `cut_commands`, as `judge` does, with SWE-bench's set-up commit allowed."""
    return judge(output, base, absent=absent, name=name, setup_commit=True)
