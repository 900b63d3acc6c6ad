"""benchwright: build, run, grade and rank coding benchmarks decided by executing what a model wrote.

Importing this package has no effect: it reads no file, opens no socket and prints nothing.  The public
functions live in :mod:`benchwright.app`; the command line is :mod:`benchwright.cli`.
"""

__version__ = "0.1.0"

__all__ = ["__version__"]
