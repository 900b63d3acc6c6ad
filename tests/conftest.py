"""What holds for all tests."""

import os
import signal

from hypothesis import HealthCheck, settings

# A shell that starts a command in the background has it ignore Ctrl-C, and every program it starts inherits that:
# tests that interrupt a program would then wait for good.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Tables are as wide as the terminal that tests happen to be started from.
os.environ.pop("COLUMNS", None)

# The same examples each time, and none is too slow for a busy machine; --hypothesis-profile default looks for new ones.
settings.register_profile(
    "steady", derandomize=True, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("steady")
