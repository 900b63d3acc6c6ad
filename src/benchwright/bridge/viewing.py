"""Inspect's viewer on a folder of logs."""

from pathlib import Path

from inspect_ai import view


def serve(folder: Path, *, host: str, port: int) -> None:
    """Serve the logs below a folder until interrupted."""
    view(log_dir=str(folder), host=host, port=port)
