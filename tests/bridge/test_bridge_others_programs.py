"""Programs of other people's scaffolds are found where npm puts them, where the user says, or fetched as pinned."""

import base64
import dataclasses
import hashlib
import io
import os
import sys
import tarfile
from pathlib import Path

import pytest

from benchwright.bridge.scaffolds.mini_program import PINNED, mini_program
from benchwright.bridge.scaffolds.program_downloads import unpack
from benchwright.bridge.scaffolds.programs import ProgramSource, find_program, kept_in, program_source
from benchwright.core.errors import MachineError, UsageError
from benchwright.environments.interpreters import SearchPlaces

NATIVE = b"\x7fELF and what follows"
CODEX = program_source("codex")
CLAUDE = program_source("claude-code")


def native_package(folder: Path, source: ProgramSource, version: str) -> Path:
    """What npm installs of a program for this machine."""
    program = folder / source.entry
    program.parent.mkdir(parents=True)
    program.write_bytes(NATIVE)
    (folder / "package.json").write_text(f'{{"name": "{source.native}", "version": "{version}"}}')
    return folder


def global_install(modules: Path, source: ProgramSource, version: str) -> Path:
    """A global install of npm: the package with its launcher, and the native package within."""
    package = modules / source.package
    (package / "bin").mkdir(parents=True)
    (package / "bin" / "launcher.js").write_text("#!/usr/bin/env node\n")
    native_package(package / "node_modules" / source.native, source, version)
    return package


def npm(folder: Path, script: str) -> dict[str, str]:
    """Variables with a PATH on which npm is a script of ours."""
    folder.mkdir(exist_ok=True)
    program = folder / "npm"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return {"PATH": f"{folder}:/usr/bin:/bin"}


def script(path: Path, text: str) -> Path:
    """A program that is a script."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def archive(**files: bytes) -> bytes:
    """An npm archive; names are given with two underscores for a slash."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as members:
        for name, content in files.items():
            member = tarfile.TarInfo(name.replace("__", "/"))
            member.size, member.mode = len(content), 0o755
            members.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def integrity(data: bytes) -> str:
    """As in a lock file."""
    return "sha512-" + base64.b64encode(hashlib.sha512(data).digest()).decode()


@pytest.mark.parametrize("source", [CLAUDE, CODEX], ids=lambda source: source.name)
def test_what_npm_installed_is_found_through_its_launcher(tmp_path: Path, source: ProgramSource) -> None:
    """The link on `PATH` leads to a launcher, and from there to the native package, whose version counts."""
    package = global_install(tmp_path / "lib/node_modules", source, "9.8.7-linux-x64")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / source.command).symlink_to(package / "bin" / "launcher.js")
    (package / "bin" / "launcher.js").chmod(0o755)
    found = find_program(
        source, given=None, version=None, environ={"PATH": str(tmp_path / "bin")}, home=tmp_path / "home"
    )
    assert (found.folder, found.version, found.origin) == (
        (package / "node_modules" / source.native).resolve(),
        "9.8.7",
        "installed",
    )
    assert (found.folder / found.entry).read_bytes() == NATIVE


def test_what_npm_installed_is_found_without_a_command_on_the_path(tmp_path: Path) -> None:
    """``npm root -g`` says where it is."""
    global_install(tmp_path / "modules", CODEX, "9.8.7-linux-x64")
    environ = npm(tmp_path / "tools", f"echo {tmp_path}/modules")
    found = find_program(CODEX, given=None, version="9.8.7", environ=environ, home=tmp_path / "home")
    assert found.origin == "installed"
    assert found.path == CODEX.path


@pytest.mark.parametrize("given", ["", "lib/node_modules", "lib/node_modules/@openai/codex"])
def test_a_folder_that_the_user_names_is_searched(tmp_path: Path, given: str) -> None:
    """The prefix of an install, its folder of packages, or the package: each leads to the program."""
    package = global_install(tmp_path / "lib/node_modules", CODEX, "9.8.7-linux-x64")
    found = find_program(CODEX, given=tmp_path / given, version=None, environ={}, home=tmp_path / "home")
    assert (found.folder, found.origin) == (package / "node_modules" / CODEX.native, "given")


def test_the_program_of_a_package_brings_the_whole_package(tmp_path: Path) -> None:
    """Its helpers lie beside it in the package."""
    package = native_package(tmp_path / "package", CODEX, "9.8.7-linux-x64")
    found = find_program(CODEX, given=package / CODEX.entry, version=None, environ={}, home=tmp_path / "home")
    assert (found.folder, found.entry, found.version) == (package, CODEX.entry, "9.8.7")


def test_a_lone_program_is_taken_as_it_is_and_has_no_version_when_it_tells_none(tmp_path: Path) -> None:
    """Other installers put the program into a folder of versions."""
    program = tmp_path / "versions" / "2.0"
    program.parent.mkdir()
    program.write_bytes(NATIVE)
    program.chmod(0o755)
    found = find_program(CLAUDE, given=program, version=None, environ={}, home=tmp_path / "home")
    assert (found.folder, found.entry, found.version) == (program.parent, "2.0", "")


@pytest.mark.parametrize("kind", ["missing", "script", "empty folder"])
def test_what_is_no_program_is_refused(tmp_path: Path, kind: str) -> None:
    """The message says what was expected."""
    given = tmp_path / "thing"
    if kind == "script":
        script(given, "#!/bin/sh\n")
    elif kind == "empty folder":
        given.mkdir()
    with pytest.raises(UsageError, match=r"give the program claude or the folder|No native program for Linux"):
        find_program(CLAUDE, given=given, version=None, environ={}, home=tmp_path / "home")


def test_another_version_than_the_one_asked_for_is_refused(tmp_path: Path) -> None:
    """A program that the user names has the version that the user names, or none is used."""
    package = native_package(tmp_path / "package", CLAUDE, "1.0.0")
    with pytest.raises(UsageError, match=r"has claude 1\.0\.0, but version 2\.0\.0 was asked for"):
        find_program(CLAUDE, given=package, version="2.0.0", environ={}, home=tmp_path / "home")


def test_a_version_that_is_neither_installed_nor_pinned_is_refused(tmp_path: Path) -> None:
    """The message names the pinned versions and the command that installs another."""
    environ = npm(tmp_path / "tools", "exit 1")
    with pytest.raises(UsageError, match=rf"pinned versions \({CODEX.pinned}\).*npm install -g @openai/codex@0\.1\.0"):
        find_program(CODEX, given=None, version="0.1.0", environ=environ, home=tmp_path / "home")


def fetching(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: bytes, expected: str) -> ProgramSource:
    """A source whose archive an npm of ours has; every call of it is counted."""
    (tmp_path / "archive").write_bytes(data)
    environ = npm(
        tmp_path / "tools",
        f'echo "$@" >> {tmp_path}/calls; [ "$1" = pack ] || exit 1; cp {tmp_path}/archive "$4/it.tgz"',
    )
    monkeypatch.setenv("PATH", environ["PATH"])
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    return dataclasses.replace(CLAUDE, pinned="5.0.0", integrity={"5.0.0": expected}, megabytes={"5.0.0": [20, 30]})


def test_the_pinned_version_is_fetched_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is kept below the home folder, readable and executable for whoever runs a sandbox."""
    data = archive(package__claude=NATIVE, package__docs__README=b"words")
    source = fetching(tmp_path, monkeypatch, data, integrity(data))
    for _ in range(2):
        found = find_program(source, given=None, version=None, environ=os.environ, home=tmp_path / "home")
    assert (found.folder, found.version, found.origin) == (
        kept_in(tmp_path / "home", "claude-code", "5.0.0"),
        "5.0.0",
        "pinned",
    )
    assert (found.folder / "claude").stat().st_mode & 0o777 == 0o755
    assert (found.folder / "docs" / "README").read_bytes() == b"words"
    packs = [line for line in (tmp_path / "calls").read_text().splitlines() if line.startswith("pack ")]
    assert len(packs) == 1
    assert "@anthropic-ai/claude-code-linux-x64@5.0.0" in packs[0]
    assert "--ignore-scripts" in packs[0]


def test_a_download_is_announced_before_it_begins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What, how large and where to, in a line; nothing is said of a program that is here."""
    data = archive(package__claude=NATIVE)
    source = fetching(tmp_path, monkeypatch, data, integrity(data))
    folder = kept_in(tmp_path / "home", "claude-code", "5.0.0")
    told: list[tuple[str, bool]] = []
    for _ in range(2):
        find_program(
            source,
            given=None,
            version=None,
            environ=os.environ,
            home=tmp_path / "home",
            say=lambda line: told.append((line, folder.exists())),
        )
    assert told == [(f"fetching claude-code 5.0.0 (20 MB, 30 MB on disk) into {folder}", False)]


def test_nothing_is_fetched_that_may_not_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is said what would be, nothing is written, and npm is only asked where its packages are, leaving no log."""
    data = archive(package__claude=NATIVE)
    source = fetching(tmp_path, monkeypatch, data, integrity(data))
    told: list[str] = []
    seen = find_program(
        source,
        given=None,
        version=None,
        environ=os.environ,
        home=tmp_path / "home",
        fetch=False,
        say=told.append,
    )
    assert (seen.here, seen.version, seen.origin) == (
        False,
        "5.0.0",
        "not here; would be fetched (20 MB, 30 MB on disk)",
    )
    assert told == [] and not (tmp_path / "home").exists()
    assert (tmp_path / "calls").read_text() == "root -g --logs-max=0 --no-update-notifier\n"
    fetched = find_program(source, given=None, version=None, environ=os.environ, home=tmp_path / "home")
    again = find_program(source, given=None, version=None, environ=os.environ, home=tmp_path / "home", fetch=False)
    assert again == fetched == dataclasses.replace(seen, here=True, origin="pinned")


@pytest.mark.parametrize("fetch", [True, False])
def test_without_npm_nothing_is_announced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fetch: bool) -> None:
    """A run would fail for it, so that a dry run does as well."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    told: list[str] = []
    with pytest.raises(MachineError, match="cannot be fetched without npm"):
        find_program(
            CLAUDE, given=None, version=None, environ=os.environ, home=tmp_path / "home", fetch=fetch, say=told.append
        )
    assert told == [] and not (tmp_path / "home").exists()


def test_an_archive_with_another_digest_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of it is left."""
    source = fetching(tmp_path, monkeypatch, archive(package__claude=NATIVE), integrity(b"another"))
    with pytest.raises(MachineError, match="is not what is expected"):
        find_program(source, given=None, version=None, environ=os.environ, home=tmp_path / "home")
    assert list((tmp_path / "home" / "programs").iterdir()) == []


def test_a_registry_that_says_no_is_quoted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """npm's own words are in the message."""
    environ = npm(tmp_path / "tools", "echo E404 not found >&2; exit 1")
    monkeypatch.setenv("PATH", environ["PATH"])
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    with pytest.raises(MachineError, match=r"npm pack .* failed: E404 not found"):
        find_program(CLAUDE, given=None, version=None, environ=os.environ, home=tmp_path / "home")


def test_another_kind_of_machine_is_told_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs are pinned for one kind of machine only."""
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    environ = npm(tmp_path / "tools", "exit 1")
    with pytest.raises(UsageError, match="this machine is riscv64; install @anthropic-ai/claude-code with npm"):
        find_program(CLAUDE, given=None, version=None, environ=environ, home=tmp_path / "home")


@pytest.mark.parametrize("name", ["package/../../out", "package"])
def test_an_archive_cannot_write_elsewhere(tmp_path: Path, name: str) -> None:
    """Names that lead out of the folder, or to the folder itself, are refused."""
    (tmp_path / "it.tgz").write_bytes(archive(**{name: b"x"}))
    with pytest.raises(MachineError, match="no place in a package"):
        unpack(tmp_path / "it.tgz", tmp_path / "unpacked")


@pytest.mark.parametrize("source", [CLAUDE, CODEX], ids=lambda source: source.name)
def test_the_table_pins_what_it_fetches(source: ProgramSource) -> None:
    """Every pinned version has a digest in the form of lock files, and sizes: unpacked it is larger."""
    assert source.pinned in source.integrity
    assert source.megabytes.keys() == source.integrity.keys()
    assert all(0 < packed < unpacked for packed, unpacked in source.megabytes.values())
    for digest in source.integrity.values():
        assert len(base64.b64decode(digest.removeprefix("sha512-"), validate=True)) == 64


def test_a_folder_that_is_no_mini_swe_agent_is_refused(tmp_path: Path) -> None:
    """The message says what such a folder is."""
    with pytest.raises(UsageError, match=rf"holds no bin/mini; expected a folder such as .*mini-swe-agent-{PINNED}"):
        mini_program(tmp_path, None, {}, tmp_path / "home")


def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, uv: Path | None) -> None:
    """Let mini-swe-agent be built with this Python, and a uv of ours."""
    own = Path(getattr(sys, "_base_executable", sys.executable))
    places = SearchPlaces(environ={"PATH": str(tmp_path)}, uv=uv, own=own)
    monkeypatch.setattr("benchwright.bridge.scaffolds.mini_program.search_places", lambda environ: places)
    monkeypatch.setattr("benchwright.bridge.scaffolds.mini_program._PYTHONS", f"3.{sys.version_info.minor}")


def test_a_mini_swe_agent_is_not_built_when_it_may_not_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is said what would be, and nothing is written; uv is not called."""
    machine(tmp_path, monkeypatch, script(tmp_path / "uv", f"#!/bin/sh\necho called >> {tmp_path}/calls; exit 1\n"))
    told: list[str] = []
    seen = mini_program(None, None, {}, tmp_path / "home", fetch=False, say=told.append)
    assert (seen.here, seen.version) == (False, PINNED)
    assert seen.origin == "not here; would be built (about 115 MB fetched, 616 MB on disk)"
    assert told == [] and not (tmp_path / "home").exists() and not (tmp_path / "calls").exists()


def test_a_build_of_mini_swe_agent_is_announced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before it begins; without uv it does not."""
    told: list[str] = []
    machine(tmp_path, monkeypatch, None)
    with pytest.raises(MachineError, match="install uv"):
        mini_program(None, None, {}, tmp_path / "home", say=told.append)
    assert told == []

    def begin(folder: Path, *arguments: object) -> None:
        assert len(told) == 1
        script(folder / "bin" / "mini", f'sys.exit(print("mini-swe-agent {PINNED}"))\n')

    machine(tmp_path, monkeypatch, tmp_path / "uv")
    monkeypatch.setattr("benchwright.bridge.scaffolds.mini_program._build", begin)
    for _ in range(2):
        mini_program(None, None, {}, tmp_path / "home", say=told.append)
    folder = kept_in(tmp_path / "home", "mini-swe-agent", PINNED)
    assert told == [f"building mini-swe-agent {PINNED} (about 115 MB fetched, 616 MB on disk) in {folder}"]


def test_a_mini_swe_agent_that_was_built_is_used_again(tmp_path: Path) -> None:
    """Nothing is built a second time; the launcher says the version."""
    launcher = kept_in(tmp_path, "mini-swe-agent", "2.2.3") / "bin" / "mini"
    script(launcher, 'sys.exit(print("mini-swe-agent 2.2.3"))\n')
    found = mini_program(None, "2.2.3", {}, tmp_path)
    assert (found.folder, found.entry, found.version) == (launcher.parent.parent, "bin/mini", "2.2.3")
    assert mini_program(launcher.parent.parent, None, {}, tmp_path / "none").origin == "given"
