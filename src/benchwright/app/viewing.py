"""Look at transcripts: the use case behind ``bw view``."""

from pathlib import Path

from benchwright.bridge.viewing import serve
from benchwright.core.errors import UsageError


def logs_in(folder: Path) -> list[Path]:
    """Every log below a folder, sorted; raises `UsageError` when there is none."""
    logs = sorted(folder.rglob("*.eval"))
    if not logs:
        raise UsageError(f"There is no Inspect log (.eval) below {folder}; `bw run` writes them.")
    return logs


def view_logs(folder: Path, *, host: str, port: int) -> None:
    """Serve every log below a folder until interrupted."""
    serve(folder, host=host, port=port)
