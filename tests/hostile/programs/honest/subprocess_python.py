"""Has another Python compute, through its input and output.

expect: PASSED
limits: wall=20 cpu=20
"""

import json
import subprocess
import sys


def task_func(values):
    if values is None:
        raise TypeError("values")
    program = "import json, sys; print(json.dumps(sum(value * value for value in json.load(sys.stdin))))"
    answer = subprocess.run([sys.executable, "-c", program], input=json.dumps(values), capture_output=True, text=True, check=True)
    return json.loads(answer.stdout)
