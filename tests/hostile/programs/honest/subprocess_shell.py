"""Runs a shell command and a program that ends with an error, by subprocess, os.system and os.popen.

expect: PASSED
limits: wall=20 cpu=20
"""

import os
import subprocess


def task_func(values):
    assert subprocess.run(["sh", "-c", "exit 3"]).returncode == 3
    assert os.system("true") == 0
    assert os.popen("echo done").read() == "done\n"
    return sum(value * value for value in values)
