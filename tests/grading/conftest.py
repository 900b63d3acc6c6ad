"""Makes the helpers of tests/execution importable here."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "execution"))
