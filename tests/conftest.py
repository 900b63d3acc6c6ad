"""What holds for all tests."""

import os
import signal

# A shell that starts a command in the background has it ignore Ctrl-C, and every program it starts inherits that:
# tests that interrupt a program would then wait for good.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Tables are as wide as the terminal that tests happen to be started from.
os.environ.pop("COLUMNS", None)
