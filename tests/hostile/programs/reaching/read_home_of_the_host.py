"""Reads keys, tokens and histories of the host's users, and .hostile_secret if a test put it there.

expect: PASSED
"""

import os
import pwd

HOMES = {"/root"} | {entry.pw_dir for entry in pwd.getpwall() if entry.pw_dir.startswith(("/home", "/root", "/Users"))}
for top in ("/home", "/Users", "/var/home"):
    if os.path.isdir(top):
        HOMES.update(os.path.join(top, name) for name in os.listdir(top))
SECRETS = (
    ".hostile_secret", ".ssh", ".aws/credentials", ".netrc", ".git-credentials", ".bash_history", ".python_history", ".pypirc",
    ".npmrc", ".docker/config.json", ".kube/config", ".gnupg", ".config/gh/hosts.yml", ".cache/huggingface/token", ".gitconfig",
)
REACHED = False
for home in HOMES | {os.path.expanduser("~")}:
    for secret in SECRETS:
        path = os.path.join(home, secret)
        try:
            REACHED = REACHED or bool(os.listdir(path) if os.path.isdir(path) else open(path, "rb").read(1))
        except OSError:
            pass


def task_func(values):
    if REACHED:
        return -1
    return sum(value * value for value in values)
