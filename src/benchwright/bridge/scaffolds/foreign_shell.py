"""A shell's call in a sandbox that is not ours: its output goes to a file inside, of which little travels."""

from collections.abc import Mapping
from typing import NamedTuple

from inspect_ai.util import SandboxEnvironment

from benchwright.bridge.scaffolds.shell_state import ARGUMENTS

_GRACE_SECONDS = 30
"""For a sandbox to start and end what runs in it, before it counts as not answering."""

# In a process group of its own, which is ended as a whole; sleep must have slept, for programs may have been removed.
_SCRIPT = f"""
set -m
mkdir -p "${{BENCHWRIGHT_OUTPUT%/*}}"
bash -c '{ARGUMENTS[2]}' </dev/null >"$BENCHWRIGHT_OUTPUT" 2>&1 &
command=$!
{{
    sleep "$BENCHWRIGHT_SECONDS" && : >"$BENCHWRIGHT_OUTPUT.late" && kill -KILL -- "-$command"
}} </dev/null >/dev/null 2>&1 &
watch=$!
wait "$command"
status=$?
kill -KILL -- "-$watch"
total=$(wc -c <"$BENCHWRIGHT_OUTPUT")
if ((total > BENCHWRIGHT_MOST)); then
    head -c "$((BENCHWRIGHT_MOST / 2))" "$BENCHWRIGHT_OUTPUT" >"$BENCHWRIGHT_OUTPUT.short"
    tail -c "$((BENCHWRIGHT_MOST / 2))" "$BENCHWRIGHT_OUTPUT" >>"$BENCHWRIGHT_OUTPUT.short"
else
    cp "$BENCHWRIGHT_OUTPUT" "$BENCHWRIGHT_OUTPUT.short"
fi
if [[ -e $BENCHWRIGHT_OUTPUT.late ]]; then status=late; fi
rm -f "$BENCHWRIGHT_OUTPUT" "$BENCHWRIGHT_OUTPUT.late"
echo "ended $status $((total))"
"""


class Done(NamedTuple):
    """What a command did."""

    status: int | None
    """Exit status, minus the signal's number, or None for one that was ended for its time."""
    output: bytes
    """All of it, or at least so much from its start and its end as is shown."""
    total_bytes: int


async def run_foreign(
    environment: SandboxEnvironment, variables: Mapping[str, str], seconds: int, *, file: str, output_bytes: int
) -> Done:
    """Run a call of the shell.

    Args:
        environment: Where.
        variables: Those of the call.
        seconds: After how many it is ended, with all of its process group.
        file: Path in the sandbox for its output, of which another file's name is made as well.
        output_bytes: Of its output that are shown.
    """
    own = {
        "BENCHWRIGHT_OUTPUT": file,
        "BENCHWRIGHT_SECONDS": str(seconds),
        "BENCHWRIGHT_MOST": str(2 * output_bytes),
    }
    try:
        result = await environment.exec(
            ["bash", "-c", _SCRIPT],
            cwd="/",
            env={**variables, **own},
            timeout=seconds + _GRACE_SECONDS,
            timeout_retry=False,
        )
    except TimeoutError:
        return Done(None, b"", 0)
    words = result.stdout.rstrip("\n").rpartition("\n")[2].split(" ")
    if len(words) != 3 or words[0] != "ended":  # there is no bash any more, or no room for a file
        said = (result.stdout + result.stderr).encode("utf-8", "replace")
        return Done(result.returncode or 1, said, len(said))
    try:
        output = await environment.read_file(f"{file}.short", text=False)
    except OSError as error:
        output = f"[the output could not be read: {error}]\n".encode()
    return Done(None if words[1] == "late" else int(words[1]), output, max(int(words[2]), len(output)))
