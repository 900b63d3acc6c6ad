"""Makes ``corpus`` importable and keeps pytest out of the programs."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
collect_ignore = ["programs"]
