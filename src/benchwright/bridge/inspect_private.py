"""What is needed of Inspect that it does not export; kept in one place, so that an update has one file to look at."""

from inspect_ai._util.error import PrerequisiteError
from inspect_ai.model import Model
from inspect_ai.model._model import AttemptTimeoutError

__all__ = ["AttemptTimeoutError", "PrerequisiteError", "log_base_url"]


def log_base_url(model: Model, url: str | None) -> None:
    """Have logs show another address than the one the model was opened with."""
    model._explicit_base_url = url
