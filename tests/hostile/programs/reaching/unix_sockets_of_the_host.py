"""Connects to the sockets of Docker, D-Bus, systemd and everything else found; right values only if none answers.

expect: PASSED
"""

import os
import socket
import stat

PATHS = {
    "/var/run/docker.sock", "/run/docker.sock", "/run/containerd/containerd.sock", "/run/podman/podman.sock",
    "/run/dbus/system_bus_socket", "/var/run/dbus/system_bus_socket", "/run/systemd/private", "/run/systemd/journal/socket",
    "/run/snapd.socket", "/tmp/.X11-unix/X0", "/run/nscd/socket", "/dev/log",
}
for top in ("/run", "/var/run", "/tmp", "/dev", "/var/lib"):
    for folder, folders, files in os.walk(top):
        for name in files:
            path = os.path.join(folder, name)
            try:
                if stat.S_ISSOCK(os.stat(path).st_mode):
                    PATHS.add(path)
            except OSError:
                pass
REACHED = False
for path in PATHS:
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
        try:
            with socket.socket(socket.AF_UNIX, kind) as connection:
                connection.settimeout(0.2)
                connection.connect(path)
                REACHED = True
        except OSError:
            pass


def task_func(values):
    if REACHED:
        return -1
    return sum(value * value for value in values)
