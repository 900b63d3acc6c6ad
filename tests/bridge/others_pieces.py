"""A little program in the place of Claude Code, for the sandboxes of tests: it asks the bridge as that does."""

import dataclasses
from pathlib import Path

from benchwright.bridge.scaffolds.others import CLAUDE_CODE, OtherScaffold
from benchwright.bridge.scaffolds.programs import Program

TOOLS = ("Bash", "apply_patch", "bash")
"""What the program offers, under names that we have tools of too."""

_PROGRAM = '''\
#!/opt/python/bin/python3
"""Calls the model until it calls no tool.  "aside" makes a call beside the conversation, "crash" ends the program."""
import json, os, subprocess, sys, threading, time, urllib.error, urllib.request

if sys.argv[1:] == ["--version"]:
    sys.exit(print("7.7.7 (Little Code)"))

TOOLS = [
    {"name": name, "description": "as its maker says", "input_schema": {"type": "object", "properties": {
        "command": {"type": "string"}}}}
    for name in %r
]


def ask(messages):
    body = {"model": os.environ["ANTHROPIC_MODEL"], "max_tokens": 1000, "messages": messages, "tools": TOOLS}
    request = urllib.request.Request(
        os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", json.dumps(body).encode(),
        {"Content-Type": "application/json", "x-api-key": "none", "anthropic-version": "2023-06-01"},
    )
    end, refusals = time.monotonic() + 60, 0
    while time.monotonic() < end:
        try:
            with urllib.request.urlopen(request, timeout=300) as reply:
                return json.load(reply)
        except urllib.error.HTTPError as error:
            with open("/testbed/errors", "a") as file:
                file.write("error\\\\n")
            refusals += 1
            if refusals == 2:  # such programs ask again after an error
                sys.exit(f"the provider said {error.code}")
        except OSError:  # the bridge is being started
            time.sleep(0.2)
    sys.exit("nobody answers")


def run(command):
    if command == "crash":
        print("I cannot go on", file=sys.stderr)
        sys.exit(3)
    if command.startswith("aside"):
        threading.Thread(target=ask, args=([{"role": "user", "content": "a title, please"}],), daemon=True).start()
        command = command.removeprefix("aside")
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    return done.stdout + done.stderr


messages = [{"role": "user", "content": sys.argv[-1]}]
while True:
    reply = ask(messages)
    messages.append({"role": "assistant", "content": reply["content"]})
    calls = [part for part in reply["content"] if part["type"] == "tool_use"]
    if not calls:
        break
    messages.append({"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": call["id"], "content": run(call["input"]["command"])} for call in calls
    ]})
'''


def little_code(folder: Path) -> OtherScaffold:
    """Claude Code with the little program, which is written into a folder."""
    folder.mkdir()
    program = folder / "claude"
    program.write_text(_PROGRAM % (TOOLS,))
    program.chmod(0o755)
    found = Program(folder=folder, entry="claude", path=("helpers",), version="7.7.7", origin="given")
    return dataclasses.replace(CLAUDE_CODE, find=lambda settings: found)
