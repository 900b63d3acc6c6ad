"""The command line: ``benchwright``, short ``bw``.  Commands are imported when they are called, not before."""

import errno
import importlib
import io
import json
import os
import sys
from typing import Any

import click

from benchwright import __version__
from benchwright.core.errors import BenchwrightError, MachineError, StoppedError, UsageError

EXIT_USAGE = 2
EXIT_MACHINE = 3
EXIT_STOPPED = 4
EXIT_INTERRUPTED = 130

_OF_THE_USER = (errno.EACCES, errno.EPERM, errno.ENAMETOOLONG, errno.ELOOP, errno.ENOTDIR, errno.EISDIR)
"""What the system says of a path that was badly chosen."""
_OF_THE_PROGRAM = (errno.ENOENT, errno.EEXIST, errno.ENOTEMPTY)
"""What it says of a path that the program should have looked at first: a mistake of ours, shown with its trace."""

_COMMANDS = {
    "demo": ("demo", "Grade three recorded systems on the built-in starter benchmark."),
    "run": ("run", "Ask a model, grade its answers, report."),
    "view": ("view", "Look at the transcripts of runs in Inspect's viewer."),
    "grade": ("grade", "Grade a file of samples."),
    "regrade": ("regrade", "Judge a grading again from stored records; nothing is executed."),
    "report": ("report", "Everything a set of runs says: estimates, repeats, breakdowns, costs."),
    "compare": ("compare", "Say whether one graded model is better than another."),
    "rank": ("rank", "Rate and rank all models of a benchmark."),
    "diff": ("diff", "Explain every verdict that differs between two gradings."),
    "results": ("results", "List, show and query the runs in the store."),
    "store": ("store", "Export, import, verify and clean the store of results."),
    "verify": ("verify", "Check a result bundle."),
    "site": ("site", "Build or serve the leaderboard's pages."),
    "bench": ("bench", "List, show and check benchmarks."),
    "env": ("env", "Plan, build, check, list and remove environments."),
    "doctor": ("doctor", "Say what this machine can isolate and run."),
}


class LazyGroup(click.Group):
    """A group whose commands live in modules of their own, imported on use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All command names, in the order of the table."""
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, or None."""
        if cmd_name not in _COMMANDS:
            return None
        module = importlib.import_module(f"benchwright.cli.{_COMMANDS[cmd_name][0]}")
        command = module.command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table without importing any command."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in _COMMANDS.items()])


@click.command(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="benchwright")
def cli() -> None:
    """Build, run, grade and rank coding benchmarks decided by executing what a model wrote.

    Start with `bw demo`.  Every command takes --json for one JSON object on standard output.
    """


def main() -> None:
    """Entry point of the console script; turns exceptions into exit codes and one sentence."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Answers may hold lone surrogates, which no encoding carries; inside JSON the escape stays valid.
            stream.reconfigure(errors="backslashreplace")
    try:
        code = cli.main(standalone_mode=False)
        sys.exit(code if isinstance(code, int) else 0)
    except click.exceptions.Abort:
        _fail("Interrupted; give the same command again to go on.", EXIT_INTERRUPTED)
    except KeyboardInterrupt:
        _fail("Interrupted; finished work is kept, give the same command again to go on.", EXIT_INTERRUPTED)
    except click.ClickException as error:
        error.show()
        sys.exit(EXIT_USAGE)
    except UsageError as error:
        _fail(str(error), EXIT_USAGE)
    except MachineError as error:
        _fail(str(error), EXIT_MACHINE)
    except StoppedError as error:
        _fail(str(error), EXIT_STOPPED)
    except BenchwrightError as error:
        _fail(str(error), 1)
    except BrokenPipeError:
        sys.stderr.close()  # the reader of a pipe has gone; nothing to tell it
        sys.exit(0)
    except OSError as error:
        translated = of_a_path(error)
        if translated is None:
            raise
        _fail(str(translated), EXIT_USAGE if isinstance(translated, UsageError) else EXIT_MACHINE)


def of_a_path(error: OSError) -> UsageError | MachineError | None:
    """What an error of the system means for the user, where it is about a path; None where the program is to blame.

    Every look at a path may raise one, even whether there is something; here they come together that nobody has
    translated who knew what the path is for.
    """
    if not isinstance(error.filename, str | bytes | os.PathLike) or error.errno in _OF_THE_PROGRAM:
        return None
    path, words = os.fsdecode(error.filename), error.strerror or "no reason is given"
    if error.errno in _OF_THE_USER:
        return UsageError(f"{path} cannot be used ({words}); give another path, or put that right first.")
    return MachineError(f"{path} cannot be used now ({words}); give the same command again once that is mended.")


def _fail(message: str, code: int) -> None:
    click.echo(f"bw: {visible(message)}", err=True)
    sys.exit(code)


def visible(text: str) -> str:
    """A text that names, paths and other people's words are part of, with nothing in it that steers a terminal."""
    return "".join(one if one.isprintable() or one == "\n" else one.encode("unicode_escape").decode() for one in text)


def print_json(document: dict[str, Any]) -> None:
    """One JSON object on standard output."""
    click.echo(json.dumps(document, ensure_ascii=False))
