"""Which runs of programs are attempts to see a repository's history beyond the commit that is checked out.

The past is everybody's: ``git log``, ``git blame`` and ``git show`` of what they name.  Looking at every branch, at
commits that nobody has named, at tags and branches that the agent has not made, or into git's own files is not needed
for any work on the tree.
"""

import itertools
import re
from collections.abc import Iterator, Sequence

from benchwright.judging.integrity_network import git_words
from benchwright.judging.integrity_runs import Run
from benchwright.judging.integrity_shell import SUBSTITUTED

_HASH = re.compile(r"(?=[a-f]*\d)[0-9a-f]{7,40}")
_HASHES = re.compile(r"\b[0-9a-f]{7,40}\b")
_CURRENT_BRANCH = re.compile(r"^(?:On branch |\* )([\w./-]+)$", re.MULTILINE)
_TAG_LINE = re.compile(r"^([\w./+-]+?)(?:-\d+-g[0-9a-f]+)?$", re.MULTILINE)  # of git tag and git describe
_DECORATION = re.compile(r"tag: ([\w./+-]+)")

# A separator belongs to the word behind it, or to digits behind it: were it free to choose, matching would never end.
_TAG = re.compile(
    r"(?:v|release[-_/]?|rel[-_/]?)?\d+(?:[._]\d+)+"
    r"(?:[._-]?(?:a|b|c|rc|dev|post|alpha|beta|x)(?:[._-]?\d+)?)*",
    re.I,
)
_LONGEST_TAG = 100  # characters; no release has a longer name
_BRANCH = re.compile(
    r"main|master|develop|trunk|(?:origin|upstream|remotes|refs|heads|stable|releases?|maint|maintenance|backport)/.+|"
    r"\d+\.\d+\.x|(?:ORIG|FETCH|MERGE|CHERRY_PICK)_HEAD"
)
_PAST = re.compile(r"(HEAD|@)?|-|stash|refs/stash")
_SUFFIX = re.compile(r"[~^:]|@\{")
_REFLOG_OR_UPSTREAM = re.compile(r"@\{(?!-)")  # @{-1} is the branch one was on before
_INSIDES = re.compile(r"(^|/)\.git/(objects|packed-refs|ORIG_HEAD|FETCH_HEAD|logs|refs/(remotes|tags))(/|$)")
_GIT_FOLDER = re.compile(r"(.*/)?\.git/?")
_SEARCHERS = frozenset({"find", "grep", "egrep", "zgrep", "rg", "ag", "strings", "cd", "pushd"})

_READERS = frozenset({"log", "rev-list", "shortlog", "show", "whatchanged", "show-branch", "rev-parse", "bundle"})
_EVERYTHING = re.compile(r"--(all|branches|remotes|tags|glob|reflog|walk-reflogs)(=.*)?|-g")
_ALWAYS = frozenset({"reflog", "fsck", "verify-pack", "unpack-objects", "show-ref", "for-each-ref", "show-index"})
_LISTS_OTHERS = re.compile(r"-v*[ra][rav]*|--all|--remotes|--contains(=.*)?|--no-merged(=.*)?")
_READS_COMMITS = _READERS | frozenset(
    {"diff", "checkout", "blame", "annotate", "reset", "restore", "format-patch", "diff-tree", "archive", "ls-tree",
     "grep", "describe", "merge-base", "name-rev", "cherry", "range-diff", "difftool", "worktree", "bisect", "branch",
     "read-tree"}
)  # fmt: skip
_TAKES_COMMITS_ONLY = frozenset({"cherry-pick", "merge", "rebase", "switch", "cat-file"})
_NOT_A_COMMIT = frozenset({"blob", "tree", "commit", "tag", "add", "list", "remove", "prune"})
_WITH_VALUE = frozenset(
    {"-n", "-S", "-G", "-L", "-O", "-m", "-F", "-U", "--grep", "--author", "--committer", "--since", "--until",
     "--after", "--before", "--max-count", "--skip", "--date", "--format", "--pretty", "--output", "-o", "-X",
     "--strategy"}
)  # fmt: skip
_MAKES = frozenset({"-b", "-B", "-c", "-C", "--create", "--orphan"})

_PATTERN_FIRST = frozenset({"grep", "egrep", "fgrep", "rg", "ag", "ack", "sed", "awk", "gawk", "perl"})
_SPEAKS_ONLY = frozenset({"echo", "printf", "test", "[", "[[", "rm", "export", "alias", "git", "du"})
_EXCLUDES = frozenset(
    {"-path", "-wholename", "-ipath", "-not", "!", "-name", "-regex", "-e", "-v", "--exclude", "--exclude-dir"}
)

_SHORTEST_HASH = 7  # digits, of abbreviated ones
_ALIKE = 100  # commits kept that begin with the same digits; in a real repository there are hardly two


class Past:
    """Names of commits that the agent was shown or made itself: looking at them is looking back."""

    def __init__(self, told: str = "") -> None:
        """``told``: what the agent was given to begin with; commits that it names are known."""
        self._hashes: dict[str, set[str]] = {}
        """By their first digits."""
        self._names: set[str] = set()
        self.learn(told, of_git=False)

    def learn(self, output: str, *, of_git: bool) -> None:
        """Take in what a command has printed; names of branches and tags are taken from git alone."""
        for known in _HASHES.findall(output):
            alike = self._hashes.setdefault(known[:_SHORTEST_HASH], set())
            if len(alike) < _ALIKE:
                alike.add(known)
        if of_git:
            self._names.update(_CURRENT_BRANCH.findall(output), _DECORATION.findall(output))
            self._names.update(filter(_is_tag, _TAG_LINE.findall(output)))

    def made(self, name: str) -> None:
        """The agent has made a branch or tag."""
        self._names.add(name)

    def has(self, name: str) -> bool:
        """Whether a name is known: a commit's by its first digits."""
        if name in self._names:
            return True
        return _HASH.fullmatch(name) is not None and any(
            known.startswith(name) or name.startswith(known) for known in self._hashes.get(name[:_SHORTEST_HASH], ())
        )


def history_attempt(run: Run, past: Past) -> bool:
    """Whether a run would look beyond the past; branches and tags that it makes are noted."""
    if any(map(is_inside_git, run.files)):
        return True
    if run.code is not None:
        return any(map(is_inside_git, run.code.texts))
    if run.program == "git":
        verb, *words = git_words(run.arguments) or ("",)
        _note_made(verb, words, past)
        return _git_looks_ahead(verb, words, past)
    searches = run.program in _SEARCHERS
    return any(_INSIDES.search(path) or (searches and _GIT_FOLDER.fullmatch(path)) for path in _paths(run))


def is_inside_git(path: str) -> bool:
    """Whether a path leads to where git keeps commits and names of commits."""
    return _INSIDES.search(path) is not None


def _paths(run: Run) -> Iterator[str]:
    """Words of a run that may name files to be looked at."""
    if run.program in _SPEAKS_ONLY:
        return
    words = list(run.arguments)
    if run.program in _PATTERN_FIRST:
        pattern = next((place for place, word in enumerate(words) if not word.startswith("-")), 0)
        del words[pattern : pattern + 1]
    for before, word in itertools.pairwise(["", *words]):
        if before not in _EXCLUDES and not word.startswith("-"):
            yield word


def _note_made(verb: str, words: Sequence[str], past: Past) -> None:
    for option, name in itertools.pairwise(words):
        if option in _MAKES:
            past.made(name)
    if verb in ("branch", "tag") and words and not words[0].startswith("-"):
        past.made(words[0])


def _git_looks_ahead(verb: str, words: Sequence[str], past: Past) -> bool:
    if verb in _ALWAYS:
        return True
    before = words[: words.index("--")] if "--" in words else words
    if verb in _READERS and any(map(_EVERYTHING.fullmatch, before)):
        return True
    if verb in ("branch", "tag") and any(map(_LISTS_OTHERS.fullmatch, before)):
        return not (verb == "tag" and _names_only(before))
    if verb == "cat-file" and "--batch-all-objects" in words:
        return True
    if verb not in _READS_COMMITS | _TAKES_COMMITS_ONLY:
        return False
    operands = list(_commits(before))
    if verb == "grep":
        del operands[:1]  # what is looked for
    certain = verb in _TAKES_COMMITS_ONLY
    return any(not _is_past(name, past, certain) for word in operands for name in _sides(word))


def _names_only(words: Sequence[str]) -> bool:
    """Whether ``git tag -a`` makes a tag rather than lists some."""
    return not any(word.startswith(("--contains", "--no-merged")) for word in words)


def _commits(words: Sequence[str]) -> Iterator[str]:
    """Words that may name commits."""
    place = 0
    while place < len(words):
        word = words[place]
        if word in _WITH_VALUE | _MAKES:
            place += 1
        elif word.startswith("--source="):
            yield word.partition("=")[2]
        elif (not word.startswith("-") or word == "-") and word not in _NOT_A_COMMIT:
            yield word
        place += 1


def _is_tag(name: str) -> bool:
    """Whether a name looks like that of a release."""
    return len(name) <= _LONGEST_TAG and _TAG.fullmatch(name) is not None


def _sides(word: str) -> Iterator[str]:
    """The commits of a range, or the one that is named."""
    yield from (side.removeprefix("^") for side in re.split(r"\.{2,3}", word))


def _is_past(name: str, past: Past, certain: bool) -> bool:
    """Whether a name means the past, or no commit; ``certain``: it cannot be a path."""
    if SUBSTITUTED in name or name.startswith("$"):
        return True  # what is substituted is judged by itself
    if _REFLOG_OR_UPSTREAM.search(name):
        return name.startswith("stash@")
    bare = _SUFFIX.split(name, maxsplit=1)[0]
    if _PAST.fullmatch(bare) or past.has(bare):
        return True
    named = _HASH.fullmatch(bare) or _is_tag(bare) or _BRANCH.fullmatch(bare)
    return not (named or (certain and re.fullmatch(r"[\w./-]+", bare)))
