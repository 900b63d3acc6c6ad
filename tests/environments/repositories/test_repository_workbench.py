"""Sessions in which layers are built: what is kept, what is shared, what a failure says."""

import os
from pathlib import Path

import pytest
from made_layers import ScriptedSandbox, ScriptedWorkspace, make_key, make_store, put_files

from benchwright.core.errors import MachineError
from benchwright.environments.repositories.layers import LayerKind, LayerStore
from benchwright.environments.repositories.workbench import CACHE, Session, StepFailedError, Workbench, uv_version


@pytest.fixture
def store(tmp_path: Path) -> LayerStore:
    """An empty store."""
    return make_store(tmp_path / "home")


@pytest.fixture
def uv(tmp_path: Path) -> Path:
    """Something that says that it is uv."""
    path = tmp_path / "bin" / "uv"
    path.parent.mkdir()
    path.write_text("#!/bin/sh\necho uv 9.8.7\n")
    path.chmod(0o755)
    return path


def scratch_in(store: LayerStore, name: str) -> Path:
    """A scratch folder on the store's file system."""
    path = store.root / "scratch" / name
    path.mkdir(parents=True)
    return path


def test_a_session_keeps_what_a_layer_shall_hold(store: LayerStore, uv: Path) -> None:
    """Temporary files, logs and places of this machine are dropped, and so are folders that say nothing new."""
    lower = put_files(store, make_key("root", kind=LayerKind.ROOTFS), {"usr/lib/x": "1", "opt/y": "1"})

    def answer(script: str, workspace: ScriptedWorkspace) -> tuple[int, str]:
        for name in ("opt/env/a", "tmp/b", "root/.cache/pip/c", "etc/hosts", "var/log/d", "run/e"):
            workspace.put(f"/{name}", b"1")
        assert workspace.keep is not None
        (workspace.keep / "usr/lib").mkdir(parents=True)
        return 0, "done\n"

    sandbox = ScriptedSandbox(answer)
    bench = Workbench(sandbox, store, environ={}, uv=uv)
    with bench.session([lower.path], scratch_in(store, "one"), network=False, environ={"A": "1"}) as session:
        assert session.run("work", what="work") == "done\n"
    kept = {str(path.relative_to(session.kept)) for path in session.kept.rglob("*") if path.is_file()}
    assert kept == {"opt/env/a"}
    assert not (session.kept / "usr").exists()
    assert session.commands == ["work"]
    assert session.cpu_seconds == 0.5
    image, shared, network = sandbox.opened[0]
    assert (image.layers, image.environ["A"], shared, network) == ((lower.path,), "1", {}, False)


def test_downloads_are_kept_apart_and_seen_by_the_next_session(store: LayerStore, uv: Path) -> None:
    """What is put into the cache is in no layer, but at its place in the next session with the network."""
    lower = put_files(store, make_key("root", kind=LayerKind.ROOTFS), {"x": "1"})
    seen = []

    def answer(script: str, workspace: ScriptedWorkspace) -> tuple[int, str]:
        seen.append(workspace.get(f"/{CACHE}/uv/wheel"))
        workspace.put(f"/{CACHE}/uv/wheel", b"downloaded")
        return 0, ""

    bench = Workbench(ScriptedSandbox(answer), store, environ={}, uv=uv)
    for number in range(2):
        with bench.session([lower.path], scratch_in(store, str(number)), network=True, environ={}) as session:
            session.run("fetch", what="fetch")
        assert list(session.kept.iterdir()) == []
    assert seen == [None, b"downloaded"]


def test_a_cache_in_use_is_not_changed(store: LayerStore, uv: Path) -> None:
    """While another session stands on the cache, downloads are thrown away."""
    lower = put_files(store, make_key("root", kind=LayerKind.ROOTFS), {"x": "1"})

    def answer(script: str, workspace: ScriptedWorkspace) -> tuple[int, str]:
        workspace.put(f"/{CACHE}/uv/{script}", b"1")
        return 0, ""

    bench = Workbench(ScriptedSandbox(answer), store, environ={}, uv=uv)
    with bench.session([lower.path], scratch_in(store, "outer"), network=True, environ={}) as outer:
        with bench.session([lower.path], scratch_in(store, "inner"), network=True, environ={}) as inner:
            inner.run("inner", what="fetch")
        outer.run("outer", what="fetch")
    cached = {path.name for path in (store.root / "cache" / "packages").rglob("*") if path.is_file()}
    assert cached == {"outer"}


def test_only_what_reaches_packages_is_passed_in(store: LayerStore, uv: Path, tmp_path: Path) -> None:
    """Proxies, registries and certificates come along, nothing else of the caller's; offline nothing at all."""
    lower = put_files(store, make_key("root", kind=LayerKind.ROOTFS), {"x": "1"})
    (tmp_path / "ca.pem").write_text("certificate")
    environ = {
        "HTTPS_PROXY": "http://proxy.example.org",
        "UV_DEFAULT_INDEX": "https://mirror.example.org/simple",
        "SSL_CERT_FILE": str(tmp_path / "ca.pem"),
        "SECRET": "s",
        "PIP_FIND_LINKS": "/somewhere",
    }
    sandbox = ScriptedSandbox(lambda script, workspace: (0, ""))
    bench = Workbench(sandbox, store, environ=environ, uv=uv)
    for network in (True, False):
        with bench.session([lower.path], scratch_in(store, str(network)), network=network, environ={}):
            pass
    (online, shared, _), (offline, _, _) = sandbox.opened
    assert online.environ["HTTPS_PROXY"] == "http://proxy.example.org"
    assert online.environ["UV_DEFAULT_INDEX"] == "https://mirror.example.org/simple"
    assert not {"SECRET", "PIP_FIND_LINKS"} & set(online.environ)
    assert offline.environ == {}
    (folder,) = shared.values()
    assert (folder / Path(online.environ["SSL_CERT_FILE"]).name).read_text() == "certificate"
    assert (folder / "uv").stat().st_mode & 0o005 == 0o005


def test_a_failing_step_says_what_ran_and_its_last_lines(store: LayerStore, uv: Path) -> None:
    """The command, the status and the end of the output; the whole output stays at hand."""
    lower = put_files(store, make_key("root", kind=LayerKind.ROOTFS), {"x": "1"})
    output = "".join(f"line {number}\n" for number in range(100))
    bench = Workbench(ScriptedSandbox(lambda script, workspace: (3, output)), store, environ={}, uv=uv)
    with (
        pytest.raises(StepFailedError) as caught,
        bench.session([lower.path], scratch_in(store, "one"), network=False, environ={}) as session,
    ):
        session.run("pip install six", what="install six")
    message = str(caught.value)
    assert message.startswith("Could not install six: this command ended with status 3:\n  pip install six\n")
    assert "line 99" in message
    assert "line 80\n" not in message
    assert caught.value.output == output
    assert not caught.value.is_build
    assert isinstance(caught.value, MachineError)


@pytest.mark.parametrize(
    ("output", "is_build", "says"),
    [
        ("  × Failed to build `MarkupSafe==1.0`\n", True, "MarkupSafe"),
        ("error: No space left on device (os error 28)\n", False, "no space left on the disk"),
    ],
)
def test_failures_are_told_apart(output: str, is_build: bool, says: str, store: LayerStore, uv: Path) -> None:
    """A package that does not build is one thing, a full disk another."""
    lower = put_files(store, make_key("root", kind=LayerKind.ROOTFS), {"x": "1"})
    bench = Workbench(ScriptedSandbox(lambda script, workspace: (1, output)), store, environ={}, uv=uv)
    with (
        pytest.raises(StepFailedError, match=says) as caught,
        bench.session([lower.path], scratch_in(store, "one"), network=False, environ={}) as session,
    ):
        session.run("x", what="install")
    assert caught.value.is_build is is_build


def test_texts_go_in_and_out(store: LayerStore, uv: Path) -> None:
    """What is put can be read, and what is not there is None."""
    lower = put_files(store, make_key("root", kind=LayerKind.ROOTFS), {"etc/x": "ü"})
    bench = Workbench(ScriptedSandbox(lambda script, workspace: (0, "")), store, environ={}, uv=uv)
    with bench.session([lower.path], scratch_in(store, "one"), network=False, environ={}) as session:
        assert isinstance(session, Session)
        session.put("/opt/y", "text")
        assert (session.get("/opt/y"), session.get("/etc/x"), session.get("/none")) == ("text", "ü", None)


def test_the_version_of_uv_is_asked_for(uv: Path) -> None:
    """It is the second word of what uv says."""
    assert uv_version(uv) == "9.8.7"
    uv.write_text("#!/bin/sh\nexit 1\n")
    with pytest.raises(MachineError):
        uv_version(uv)
    assert os.access(uv, os.X_OK)
