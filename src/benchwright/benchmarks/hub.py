"""Published data files, fetched from the Hugging Face hub at a pinned revision."""

from dataclasses import dataclass
from pathlib import Path

from benchwright.core.errors import MachineError, UsageError

_INSTEAD = "give a local copy of the data file instead (--dataset FILE)"


@dataclass(frozen=True, slots=True, kw_only=True)
class HubFile:
    """One file of a data set on the hub."""

    repository: str
    """Name of the data set."""
    revision: str
    """Commit that is fetched."""
    path: str
    """Path in the data set's repository."""

    @property
    def source(self) -> str:
        """Data set, revision and file, as it is recorded with results."""
        return f"hf://datasets/{self.repository}@{self.revision}/{self.path}"

    def fetch(self) -> Path:
        """The local copy, downloaded if the hub's cache does not hold it yet.

        Raises `UsageError` when the client is not installed and `MachineError` when the file cannot be had.
        """
        try:
            from huggingface_hub import hf_hub_download
        except ImportError as error:
            raise UsageError(
                "Loading the published data needs huggingface_hub; install it with: "
                f"pip install 'huggingface_hub>=0.24' 'pyarrow>=14', or {_INSTEAD}."
            ) from error
        try:
            return Path(hf_hub_download(self.repository, self.path, repo_type="dataset", revision=self.revision))
        # The client's own errors (HfHubHTTPError; LocalEntryNotFoundError when offline with an empty cache) derive
        # from OSError: directly in version 2.4, through requests before 1.0.
        except OSError as error:
            first_line = (str(error).splitlines() or [type(error).__name__])[0]
            raise MachineError(f"{self.source} cannot be fetched ({first_line}); {_INSTEAD}.") from error
