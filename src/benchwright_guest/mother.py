"""The mother: imports an environment's heavy libraries once and forks slots on request.

Started by the host as ``python -I <this package>/__main__.py DESCRIPTOR``; the descriptor is a sequenced-packet
socket.  First message in: the configuration.  First message out: ``ready`` or ``failed``.  Then each message in
is a request for a slot with one descriptor, the slot's own socket.
"""

import gc
import importlib
import json
import os
import socket
import sys
import time
import warnings

from . import child, driver, frames, guard, kernel, machinery, rootfs, seccomp, slot


def main(descriptor):
    """Serve the host until it hangs up."""
    control = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET, fileno=descriptor)
    config = json.loads(control.recv(1 << 20).decode())
    os.environ.clear()
    os.environ.update(config["variables"])
    os.environ["HOME"] = rootfs.HOME
    time.tzset()
    started = time.monotonic()
    problems = _preload(config["preload"])
    prepared = _prepare(config)
    control.send(
        json.dumps(
            {
                "event": "ready",
                "python": "%d.%d.%d" % sys.version_info[:3],
                "seconds": round(time.monotonic() - started, 3),
                "resident": prepared["resident"],
                "problems": problems,
            }
        ).encode()
    )
    gc.collect()
    gc.disable()
    gc.freeze()
    _serve(control, config, prepared)


def _preload(names):
    problems = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in names:
            try:
                importlib.import_module(name)
            except Exception as error:
                problems.append("%s: %s: %s" % (name, type(error).__name__, error))
    return problems


def _prepare(config):
    for module in (driver, machinery):
        vars(module).setdefault("__warningregistry__", {})  # a warning would add it later, as a name of the answer's
    modules = [sys.modules[__name__], child, driver, frames, guard, kernel, machinery, rootfs, seccomp, slot]
    prefixes = {os.path.realpath(path) + "/" for path in config["readable"]} | {sys.prefix + "/", sys.base_prefix + "/"}
    prepared = {
        "isolation": config["isolation"],
        "variables": config["variables"],
        "seccomp": seccomp.program(kernel.MACHINE),
        "memory_by_cgroup": config["memory_by_cgroup"],
        "process_base": config["process_base"],
        "codes": guard.guest_code(modules) + _entry_code(),
        "methods": machinery.private_methods(),
        "trusted": tuple(sorted(prefixes)),
        "folders": guard.library_folders(sorted(prefixes)),
        "sizes": guard.sizes((driver, machinery)),
        "covered": rootfs.covered(config["readable"]),
        "witness": guard.load_library(config["witness"]),
    }
    # The loop that runs tests, and the private assertions, belong to the machinery as well.
    prepared["fingerprint"] = guard.fingerprint() + guard.module_rows((driver, machinery))
    prepared["known"], prepared["known_classes"] = guard.known_types()
    prepared["resident"], prepared["data_base"] = _own_memory()
    return prepared


def _entry_code():
    """Code of the frames this process began with, which are at the bottom of every child's stack."""
    found = []
    frame = sys._getframe()
    while frame is not None:
        found.append(frame.f_code)
        frame = frame.f_back
    return found


def _own_memory():
    page = os.sysconf("SC_PAGE_SIZE")
    with open("/proc/self/statm") as file:
        fields = file.read().split()
    return int(fields[1]) * page, int(fields[5]) * page


def _serve(control, config, prepared):
    while True:
        data, descriptors, _, _ = slot._recv_fds(control)
        if not data:
            return
        request = json.loads(data.decode())
        pid = os.fork()
        if pid == 0:
            control.close()
            for path in request.get("cgroups", ()):
                with open(path, "w") as file:
                    file.write("0")
            own = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET, fileno=descriptors[0])
            slot.start(own, dict(config, uid=request["uid"]), prepared)
        os.close(descriptors[0])
        _reap()


def _reap():
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass
