"""The apply_patch tool: OpenAI's V4A patches on the files of a sandbox, all of a patch or nothing."""

import posixpath
from collections.abc import Sequence
from dataclasses import dataclass

from inspect_ai.tool import ToolDef, ToolError
from inspect_ai.util import OutputLimitExceededError, SandboxEnvironment, SandboxUnavailableError

from benchwright.answers.v4a import FileChange, V4AError, V4APatch, apply_v4a, parse_v4a
from benchwright.core.repositories import WORK

NAME = "apply_patch"
_SECONDS = 60
"""For a program that removes files or looks at their modes."""
_FAILURES = (OSError, ToolError, SandboxUnavailableError)
"""What a change of a file may raise; the last also where the patch has taken the shell away."""

_DESCRIPTION = """\
Change files with a patch in OpenAI's V4A format. Either all of it is applied or nothing. Paths are relative to {root}.

*** Begin Patch
*** Update File: path/of/a/file.py
*** Move to: new/path/of/the/file.py
@@ class Name
@@     def method(self):
 up to three lines before the change, as they are in the file
-a line that is removed
+a line that is added
 up to three lines after the change
*** Add File: path/of/a/new/file.py
+every line of it
*** Delete File: path/of/another/file.py
*** End Patch

`*** Move to:` and the lines with `@@`, which say where to look in the file, may be left out. Use no line numbers.\
"""


def patch_tool(environment: SandboxEnvironment, *, root: str = WORK) -> ToolDef:
    """The tool for one sample, for files below a folder of its sandbox."""

    async def apply_patch(patch: str) -> str:
        try:
            wanted = parse_v4a(patch, root=root)
            files = _Files(environment, root)
            changes = await files.changes_of(wanted)
        except V4AError as error:
            raise ToolError(str(error)) from error
        await files.carry_out(changes)
        moved = {change.moved_from for change in changes}
        return "Done:\n" + "\n".join(_said(change, files) for change in changes if change.path not in moved)

    return ToolDef(
        apply_patch,
        name=NAME,
        description=_DESCRIPTION.format(root=root),
        parameters={"patch": "The whole patch, from `*** Begin Patch` to `*** End Patch`."},
        max_output=0,
    )


def _said(change: FileChange, files: "_Files") -> str:
    if change.content is None:
        return f"deleted {change.path}"
    if change.moved_from is not None:
        return f"moved {change.moved_from} to {change.path}"
    return f"{'updated' if files.known.get(change.path) is not None else 'added'} {change.path}"


class _Unread(Exception):
    """Of a file that has to be read before the patch can be worked out."""

    def __init__(self, path: str) -> None:
        self.path = path


@dataclass(frozen=True, slots=True)
class _Old:
    """A file that goes away, so that it can be put back."""

    content: bytes
    mode: str
    """In octal digits."""


class _Files:
    """Files below a folder of a sandbox, by relative path."""

    def __init__(self, environment: SandboxEnvironment, root: str) -> None:
        self._environment = environment
        self._root = root
        self.known: dict[str, bytes | None] = {}
        """What was read, before anything was changed; None where no regular file is."""
        self._folders: set[str] = set()

    async def changes_of(self, patch: V4APatch) -> tuple[FileChange, ...]:
        """What the patch makes of the files; raises `V4AError`, and `ToolError` for a file that cannot be read."""
        while True:
            try:
                return apply_v4a(patch, self._read_already)
            except _Unread as missing:
                self.known[missing.path] = await self._read(missing.path)

    async def carry_out(self, changes: Sequence[FileChange]) -> None:
        """Change the files; raises `ToolError` when that fails, and then they are as they were."""
        for change in changes:
            if change.path in self._folders:
                raise ToolError(f"{change.path} is a folder. No file was changed.")
        going = [change.path for change in changes if change.content is None]
        old = {path: _Old(self.known[path] or b"", await self._mode(path)) for path in going}
        written: list[str] = []
        try:
            await self._remove(going)
            for change in changes:
                if change.content is not None:
                    written.append(change.path)
                    await self._environment.write_file(self._absolute(change.path), change.content)
                    if change.moved_from in old:
                        await self._set_mode(change.path, old[change.moved_from].mode)
        except _FAILURES as error:
            unrestored = await self._restore(written, old)
            at = f"{written[-1]} could not be written" if written else f"{', '.join(going)} could not be removed"
            after = f"These could not be put back: {', '.join(unrestored)}." if unrestored else "No file was changed."
            raise ToolError(f"{at} ({error}). {after}") from error

    async def _restore(self, written: Sequence[str], old: dict[str, _Old]) -> list[str]:
        """Undo what was done; gives the paths for which that did not work."""
        failed = []
        for path in reversed(written):
            content = self.known.get(path)
            try:
                if content is None:
                    await self._remove([path])
                elif path not in old:
                    await self._environment.write_file(self._absolute(path), content)
            except _FAILURES:
                failed.append(path)
        for path, file in old.items():
            try:
                await self._environment.write_file(self._absolute(path), file.content)
                await self._set_mode(path, file.mode)
            except _FAILURES:
                failed.append(path)
        return failed

    def _read_already(self, path: str) -> bytes | None:
        if path not in self.known:
            raise _Unread(path)
        return self.known[path]

    async def _read(self, path: str) -> bytes | None:
        try:
            return await self._environment.read_file(self._absolute(path), text=False)
        except (PermissionError, OutputLimitExceededError) as error:
            raise ToolError(f"{path} cannot be read ({error}). No file was changed.") from error
        except TimeoutError:
            raise
        except IsADirectoryError:
            self._folders.add(path)
            return None
        except OSError:
            return None  # none is there, or no regular file

    async def _mode(self, path: str) -> str:
        return (await self._run("stat", "-L", "-c", "%a", "--", self._absolute(path))).strip()

    async def _set_mode(self, path: str, mode: str) -> None:
        await self._run("chmod", mode, "--", self._absolute(path))

    async def _remove(self, paths: Sequence[str]) -> None:
        if paths:
            await self._run("rm", "-f", "--", *map(self._absolute, paths))

    async def _run(self, *command: str) -> str:
        result = await self._environment.exec(list(command), cwd="/", timeout=_SECONDS, timeout_retry=False)
        if not result.success:
            raise ToolError((result.stderr or result.stdout).strip())
        return result.stdout

    def _absolute(self, path: str) -> str:
        return posixpath.join(self._root, path)
