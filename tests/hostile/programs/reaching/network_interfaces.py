"""Lists the network interfaces; right values only if loopback is the only one that can carry anything.

expect: PASSED
"""

import socket

REACHED = False
for index, name in socket.if_nameindex():
    try:
        with open("/proc/net/route") as file:
            REACHED = REACHED or any(line.split()[0] == name != "lo" for line in file.readlines()[1:])
    except OSError:
        pass
    # Tunnels that the kernel makes in every new network namespace are down and harmless.
    if name != "lo" and not name.startswith(("tunl", "sit", "gre", "erspan", "ip_vti", "ip6", "dummy")):
        REACHED = True


def task_func(values):
    if REACHED:
        return -1
    return sum(value * value for value in values)
