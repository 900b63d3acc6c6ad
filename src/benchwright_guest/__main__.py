"""Entry point of the guest; see :mod:`benchwright_guest.mother`."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from benchwright_guest import mother

sys.path.pop(0)
mother.main(int(sys.argv[1]))
