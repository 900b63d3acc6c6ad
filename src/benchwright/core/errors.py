"""The exceptions of benchwright.

    BenchwrightError                 root; never raised itself
    ├── UsageError                   the user's input or call is wrong; exit code 2, one plain sentence
    │   └── UnknownNameError         a name that nothing is registered under; names near misses
    ├── StoppedError                 a run was ended before its end, by its own rules; exit code 4
    ├── MachineError                 this machine cannot do it now (disk full, no interpreter); exit code 3
    │   └── IsolationRefusedError    the kernel refuses the isolation level that was asked for
    └── SandboxFault                 one job's sandbox broke; caught by the scheduler alone, then retried

A wrong answer is never an exception: what the code under test does is a value (`ExecutionRecord`).
"""

import difflib
from collections.abc import Iterable


class BenchwrightError(Exception):
    """Root of the tree, so that callers can catch everything benchwright raises on purpose."""


class UsageError(BenchwrightError):
    """What the user gave cannot be used.

    The message is one plain sentence: what was expected, what came, what to do.  The command line prints it
    and exits with 2.
    """


class UnknownNameError(UsageError):
    """A name was looked up that nothing answers to; the message lists near misses or all known names.

    Where thousands are known, ``hint`` says in their place what to do.
    """

    def __init__(self, kind: str, name: str, known: Iterable[str], *, hint: str | None = None) -> None:
        self.kind = kind
        self.name = name
        self.known = tuple(sorted(known))
        if hint is None:
            near = difflib.get_close_matches(name, self.known, n=3)
            hint = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(self.known) or 'none'}."
        super().__init__(f"There is no {kind} named {name!r}; {hint}")


class StoppedError(BenchwrightError):
    """A run ended before its end by its own rules: a preflight that objects, a budget that let nothing be asked.

    What was done so far is kept.  Exit code 4.
    """


class MachineError(BenchwrightError):
    """The machine, not the input, stands in the way (disk full, missing interpreter); exit code 3."""


class IsolationRefusedError(MachineError):
    """The kernel refuses the isolation level that was asked for; weaker levels need an explicit choice."""


class SandboxFault(BenchwrightError):
    """The sandbox of one job broke for a reason that is ours.

    Handled by the scheduler's worker only: the job is retried, then recorded with exit cause ``lost``.
    """
