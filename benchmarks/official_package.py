"""The official package ``bigcodebench==0.2.5``, run locally in the same environment as ours, as one command.

Installed beside the environment, never into it: ``uv pip install --target`` puts the package and the light
libraries it needs (appdirs, tempdir, wget) into a folder of their own below the benchwright home; numpy,
tqdm, termcolor and matplotlib are the environment's.  That folder is on ``sys.path`` only while
``evaluate`` is imported, so that samples see the environment alone.

``bigcodebench.evaluate`` imports more than local execution uses.  These stand-ins take the place of what it
never calls with ``execution="local"`` and given samples; they exist in ``sys.modules`` during that import
only:

    gradio_client             Client, handle_file    remote execution at Hugging Face
    e2b                       Sandbox                remote execution at e2b
    httpx                     ReadTimeout            an exception that only the gradio branch catches
    datasets                  load_dataset           fetching the data; a local file is read instead
    bigcodebench.generate     run_codegen            asking models; pulls in vllm, transformers, openai …

Nothing of the package's own grading is replaced, patched or configured away.  What is done around it:

* a network namespace of its own with loopback up (so neither side has a network), a pid namespace (the
  package runs code as the user who starts it, and ``pkill python`` in an answer would end this machine's
  other work) and a mount namespace in which / is read-only and /tmp is a private folder, as in the
  container its authors advise;
* the environment's variables (``NLTK_DATA``, a *copy* of the warm font cache, …) and a private empty HOME; of
  the thread counts only ``OMP_NUM_THREADS=1``, which the package sets as well;
* ``no_gt=True``: no control runs; ours are stored beforehand, so neither side's count.

**This runs answers of a model without a real sandbox.**  Only for samples you would run in a container as
well.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import measuring

from benchwright.environments.environment import Environment

PACKAGE = "bigcodebench==0.2.5"
_LIGHT_REQUIREMENTS = ("appdirs==1.4.4", "tempdir==0.7.1", "wget==3.2")
_SAMPLES, _DATA = "samples.jsonl", "data.jsonl.gz"
_RESULTS, _STATE = "samples_eval_results.json", "state.json"

_ROOM = """
set -e
mount --make-rprivate /
mount --bind "$1" /tmp
mount -o remount,bind,ro / || echo "benchmark: / stays writable for the official package" >&2
shift
exec "$@"
"""
"""Run by ``unshare``: the private /tmp and the read-only rest, then the command."""

_DRIVER = '''
"""Loopback up, stand-ins in, evaluate imported, stand-ins out, evaluate run.  Written by
official_package.py."""
import fcntl, json, os, socket, struct, sys, types

overlay, arguments, state = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3]


def loopback_up():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as ends:
        request = struct.pack("16sh14x", b"lo", 0)
        (flags,) = struct.unpack_from("h", fcntl.ioctl(ends, 0x8913, request), 16)  # SIOCGIFFLAGS
        fcntl.ioctl(ends, 0x8914, struct.pack("16sh14x", b"lo", flags | 1))  # SIOCSIFFLAGS, IFF_UP


def network_is_off():
    try:
        socket.create_connection(("1.1.1.1", 53), timeout=2).close()
    except OSError:
        return True
    return False


def unused(*_, **__):
    raise RuntimeError("a stand-in of the benchmark was called: this is not local execution")


loopback_up()
assert network_is_off(), "the network is reachable"
stand_ins = {
    "gradio_client": {"Client": unused, "handle_file": unused},
    "e2b": {"Sandbox": unused},
    "httpx": {"ReadTimeout": type("ReadTimeout", (Exception,), {})},
    "datasets": {"load_dataset": unused},
    "bigcodebench.generate": {"run_codegen": unused},
}
sys.path.append(overlay)
for name, members in stand_ins.items():
    module = types.ModuleType(name)
    vars(module).update(members)
    sys.modules[name] = module
from bigcodebench.evaluate import evaluate

for name in stand_ins:
    del sys.modules[name]
sys.path.remove(overlay)

evaluate(**arguments)
alive = [entry for entry in os.listdir("/proc") if entry.isdigit() and int(entry) != os.getpid()]
running = 0
for entry in alive:
    try:
        with open("/proc/" + entry + "/stat") as file:
            running += file.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        pass
with open(state, "w") as file:
    json.dump({"left_running": running}, file)
'''


@dataclass(frozen=True, slots=True, kw_only=True)
class OfficialRun:
    """One run of the official package."""

    measured: measuring.Measured
    results: dict[str, list[dict[str, Any]]]
    """``eval`` of its result file: per task, in sample order, ``status`` and ``details``."""
    left_running: int
    """Processes of samples still alive when it had finished; they ended with its pid namespace."""


def overlay(home: Path, environment: Environment) -> Path:
    """The folder with the package, installed on first use; raises `SystemExit` when that fails."""
    folder = home / "benchmark-overlays" / PACKAGE.replace("==", "-")
    if (folder / "bigcodebench").is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    partial = folder.with_name(f".{folder.name}-{os.getpid()}")
    command = [_uv(), "pip", "install", "--quiet", "--no-deps", "--compile-bytecode"]
    command += ["--python", str(environment.python), "--target", str(partial), PACKAGE, *_LIGHT_REQUIREMENTS]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{PACKAGE} could not be installed:\n{done.stderr[-2000:]}")
    partial.rename(folder)
    return folder


def _uv() -> str:
    beside = Path(sys.executable).with_name("uv")
    found = str(beside) if beside.exists() else shutil.which("uv")
    if found is None:
        raise SystemExit("uv is not there; install benchwright with its dependencies.")
    return found


def run(
    *,
    environment: Environment,
    package: Path,
    data: Path,
    samples: Iterable[Mapping[str, Any]],
    task_ids: Iterable[str] | None,
    subset: str,
    variant: str,
    workers: int,
    folder: Path,
) -> OfficialRun:
    """Grade samples with the official package and measure it.

    Args:
        environment: Where the samples run.
        package: What `overlay` returned.
        data: The data file, read by the package itself.
        samples: Rows with ``task_id`` and ``solution`` or ``completion``.
        task_ids: Given as ``selective_evaluate`` when not every task of the data has a sample.
        subset: ``full`` or ``hard``; only a word in its output, for the data file is given.
        variant: ``complete`` or ``instruct``; likewise.
        workers: Its ``parallel``.
        folder: An empty folder: its /tmp while it runs, its log afterwards.
    """
    folder.mkdir(parents=True)
    home = folder / "home"
    home.mkdir()
    log = folder.with_name(folder.name + ".log")
    # Written anew for each run: no result file of an earlier one is ever there to be read back.
    with (folder / _SAMPLES).open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in samples)
    plain = data.suffix != ".gz"
    shutil.copy(data, folder / (_DATA.removesuffix(".gz") if plain else _DATA))
    shutil.copytree(environment.matplotlib_cache, folder / "matplotlib", dirs_exist_ok=True)
    shutil.copytree(package, folder / "overlay")
    (folder / "driver.py").write_text(_DRIVER)
    arguments = {
        "split": variant,
        "subset": subset,
        "samples": f"/tmp/{_SAMPLES}",
        "execution": "local",
        "selective_evaluate": ",".join(task_ids) if task_ids is not None else "",
        "pass_k": "1",
        "calibrated": True,
        "parallel": workers,
        "no_gt": True,
    }
    variables = {
        "PATH": f"{environment.prefix}/bin:/usr/local/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        **environment.variables,
        "MPLCONFIGDIR": "/tmp/matplotlib",
        "HOME": "/tmp/home",
        "PYTHONDONTWRITEBYTECODE": "1",
        "BIGCODEBENCH_OVERRIDE_PATH": f"/tmp/{_DATA.removesuffix('.gz') if plain else _DATA}",
    }
    command = ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
    command += [] if os.getuid() == 0 else ["--map-root-user"]
    command += ["sh", "-c", _ROOM, "sh", str(folder)]
    command += [str(environment.python), "/tmp/driver.py", "/tmp/overlay", json.dumps(arguments), f"/tmp/{_STATE}"]
    measured = measuring.measure(command, variables=variables, folder=folder, log=log)
    if measured.exit_status or not (folder / _RESULTS).exists():
        raise SystemExit(
            f"The official package ended with {measured.exit_status}; the end of {log}:\n{measuring.tail(log)}"
        )
    results: dict[str, list[dict[str, Any]]] = json.loads((folder / _RESULTS).read_text())["eval"]
    left: int = json.loads((folder / _STATE).read_text())["left_running"]
    shutil.rmtree(folder, ignore_errors=True)
    return OfficialRun(measured=measured, results=results, left_running=left)
