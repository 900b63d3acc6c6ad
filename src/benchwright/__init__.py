"""benchwright: build, run, grade and rank coding benchmarks decided by executing what a model wrote.

Importing this package has no effect: it reads no file, opens no socket and prints nothing.  The public
functions live in :mod:`benchwright.app`; the command line is :mod:`benchwright.cli`.  One of them can be had from here
as well, and is loaded when it is asked for: ``benchwright.load_results()``, the recorded results as a data frame.
"""

TYPE_CHECKING = False  # type checkers take it for true; importing typing for it would open files
if TYPE_CHECKING:
    from benchwright.app.data_frames import load_results

__version__ = "0.1.0"

__all__ = ["__version__", "load_results"]


def __getattr__(name: str) -> object:
    if name == "load_results":
        from benchwright.app.data_frames import load_results

        return load_results
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
