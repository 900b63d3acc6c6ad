"""``bw view``."""

import contextlib
import sys
from pathlib import Path

import click

from benchwright.cli.main import print_json
from benchwright.cli.options import inspect_needed, json_option
from benchwright.core.errors import UsageError


@click.command("view")
@click.argument("run", type=click.Path(path_type=Path), default=Path("benchwright-results"))
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(1, 65535), default=7575, show_default=True, help="Port to listen on.")
@json_option
def command(run: Path, host: str, port: int, as_json: bool) -> None:
    """Serve the transcripts of a RUN's folder, or of all runs below a folder, in Inspect's viewer.

    Ends with Ctrl-C.
    """
    with inspect_needed():
        from benchwright.app.viewing import logs_in, view_logs
    if not run.exists():
        raise UsageError(f"There is no folder {run}; give the folder of a run (`bw run` prints it).")
    logs = logs_in(run)
    if as_json:
        print_json({"url": f"http://{host}:{port}", "logs": [str(log) for log in logs]})
    with contextlib.redirect_stdout(sys.stderr):  # where Inspect says that it listens
        view_logs(run, host=host, port=port)
