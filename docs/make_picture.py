"""Make docs/images/demo.svg: runs `bw demo` and draws what it printed.

    .venv/bin/python docs/make_picture.py

Takes as long as `bw demo` does; records that are there already are used again.
"""

import os
import re
import subprocess
import sysconfig
import tempfile
from io import StringIO
from pathlib import Path

from rich.console import Console
from rich.text import Text

COLUMNS = 110
PICTURE = Path(__file__).parent / "images" / "demo.svg"
# The font would be fetched from a foreign server by everyone who looks at the picture; viewers have one of their own.
FONT_FACES = re.compile(r"\s*@font-face \{.*?\}", re.DOTALL)


def demo_output() -> str:
    """Standard output of `bw demo`, with colours, as a terminal of COLUMNS columns gets it."""
    program = Path(sysconfig.get_path("scripts")) / "bw"
    variables = {**os.environ, "FORCE_COLOR": "1", "COLUMNS": str(COLUMNS), "TERM": "xterm-256color"}
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [program, "demo"], cwd=folder, env=variables, stdout=subprocess.PIPE, text=True, check=True
        )
    return done.stdout


def main() -> None:
    """Run, draw, write."""
    console = Console(record=True, width=COLUMNS, file=StringIO(), force_terminal=True)
    for line in demo_output().strip("\n").splitlines():
        console.print(Text.from_ansi(line.rstrip()))  # longer lines would be cut off at the edge
    svg = console.export_svg(title="bw demo", unique_id="demo")
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(FONT_FACES.sub("", svg), encoding="utf-8")


if __name__ == "__main__":
    main()
