"""Entry point; see :mod:`benchwright_guest.workspace`."""

import os
import sys

sys.path.append(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
from benchwright_guest.workspace import launch

sys.path.pop()
launch.main(int(sys.argv[1]))
