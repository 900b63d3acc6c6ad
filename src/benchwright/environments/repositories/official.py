"""The official harness's evaluation script for an instance, for ``--rules official``.

What it does and in which order is a fact of swebench 4.1.0 (``make_eval_script_list_py``).  The lines that activate
conda are left out, because the environment's programs are first in ``PATH`` here; everything else is there, the
log's markers included.
"""

import shlex
from collections.abc import Sequence

from benchwright.core.repositories import END_OF_TESTS, START_OF_TESTS, WORK


def official_script(
    *,
    base_commit: str,
    test_patch: str,
    reset: Sequence[str],
    install: str,
    tests: str,
    setup: Sequence[str] = (),
) -> str:
    """The script as bash reads it.

    Args:
        base_commit: What the test files are reset to.
        test_patch: Put on top of them by ``git apply``.
        reset: Files that exist at the base commit and that the test patch changes.
        install: Command that installs the repository again.
        tests: Test command with its directives.
        setup: Commands of the specification that come first, such as Django's locale.
    """
    restore = f"git checkout {base_commit} {shlex.join(reset)}"
    delimiter = _delimiter(test_patch)
    lines = [
        "set -uxo pipefail",
        f"cd {WORK}",
        *setup,
        f"git config --global --add safe.directory {WORK}",
        f"cd {WORK}",
        "git status",
        "git show",
        f"git -c core.fileMode=false diff {base_commit}",
        install,
        restore,
        f"git apply -v - <<'{delimiter}'\n{test_patch}\n{delimiter}",
        f": '{START_OF_TESTS}'",
        tests,
        f": '{END_OF_TESTS}'",
        restore,
    ]
    return "\n".join(line for line in lines if line) + "\n"


def _delimiter(text: str) -> str:
    """A line that ends the here-document and is none of its lines."""
    delimiter = "END_OF_TEST_PATCH"
    lines = set(text.splitlines())
    while delimiter in lines:
        delimiter += "_"
    return delimiter
