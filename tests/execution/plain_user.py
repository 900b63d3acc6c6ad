"""A program that gives up root and runs jobs as nobody in particular; prints one JSON object.

Standard library and benchwright only, so that any interpreter will do: ``python plain_user.py SOURCES UID``.
"""

import json
import os
import sys

sys.path[:0] = sys.argv[1].split(":")
uid = int(sys.argv[2])
os.setgroups([])
os.setresgid(uid, uid, uid)
os.setresuid(uid, uid, uid)

from interpreter_runs import execute, make_job, observed  # noqa: E402

ANSWERS = {
    "right": "def task_func():\n    return True\n",
    "wrong": "def task_func():\n    return False\n",
    "spins": "def task_func():\n    while True: pass\n",
    "eats": "def task_func():\n    return bool([bytearray(1 << 20) for _ in range(4000)])\n",
    "identity": observed("import os\nseen = [os.getuid(), os.listdir('/home'), os.path.exists('/root')]"),
}


def main() -> None:
    """Run all answers and print what came of them."""
    from benchwright.core.execution import MIB, Limits

    limits = Limits(wall_seconds=10.0, cpu_seconds=1.0, memory_bytes=300 * MIB)
    records = execute({name: make_job(code, limits=limits) for name, code in ANSWERS.items()})
    print(
        json.dumps(
            {
                name: {
                    "cause": record.exit_cause.value,
                    "tests": [test.outcome.value for test in record.tests],
                    "output": record.output,
                    "memory": dict(record.facts).get("memory"),
                    "isolation": record.isolation.value,
                    "lost": record.lost_reason,
                }
                for name, record in records.items()
            }
        )
    )


if __name__ == "__main__":
    main()
