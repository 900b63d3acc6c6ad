"""Sets sys.excepthook and threading.excepthook to a clean exit and raises while it is loaded.

expect: FAILED exception | FAILED tests_not_run
"""

import os
import sys
import threading

sys.excepthook = threading.excepthook = lambda *arguments: os._exit(0)
sys.unraisablehook = lambda unraisable: os._exit(0)
raise RuntimeError("nobody will see this")
