"""Images made from layers, with and without an engine, and images that others have made."""

import hashlib
import io
import json
import os
import stat
import subprocess
import sys
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from made_histories import Rich, make_rich, run_git

from benchwright.core.errors import IsolationRefusedError, MachineError, UsageError
from benchwright.core.execution import ExitCause
from benchwright.core.repositories import WORK, RepositoryProblem
from benchwright.environments.repositories.image_archives import (
    LAYERS_LABEL,
    Blob,
    image_config,
    write_image,
    write_layer,
)
from benchwright.environments.repositories.images import (
    CONDA_ENVIRONMENT,
    IMAGE_LABEL,
    ImageLayer,
    build_image,
    image_name,
    list_images,
    prepare_pulled,
    pull_image,
    remove_image,
)
from benchwright.environments.repositories.sealing import make_opaque
from benchwright.sandboxes.base import Image, RunLimits, RunResult, Workspace, WorkspaceLimits
from benchwright.sandboxes.containers.engine import Answer, Engine
from benchwright.sandboxes.docker import DockerSandbox
from benchwright.sandboxes.users import UserMapping, user_mapping

sys.path.append(str(Path(__file__).parents[2] / "sandboxes"))
import sandbox_rootfs
from fake_engines import fake_client, info

SELF = UserMapping(uid=os.geteuid(), gid=os.getegid(), count=1)
PROBLEM = RepositoryProblem(
    benchmark="swebench-verified", id="sphinx-doc__sphinx-8265", repo="sphinx-doc/sphinx", version="3.3",
    base_commit="", environment_commit="", issue="", hints="", created_at="", reference_patch="", test_patch="",
    fail_to_pass=(), pass_to_pass=(), digest="",
)  # fmt: skip


def make_layer(folder: Path) -> None:
    """One of everything that a layer may hold, in an order that differs from that of names."""
    (folder / "z").mkdir(parents=True)
    (folder / "z" / "file").write_bytes(b"content\n")
    (folder / "z" / "file").chmod(0o750)
    os.link(folder / "z" / "file", folder / "a-link")
    (folder / "symbolic").symlink_to("./z//file")
    (folder / "naïve – ファイル").write_text("x")
    (folder / os.fsdecode(b"not-\xff-text")).write_text("y")
    (folder / ("long" * 40)).mkdir()
    (folder / ("long" * 40) / ("name" * 40)).write_text("z")
    for path in folder.rglob("*"):
        os.utime(path, (1_600_000_000, 1_600_000_000), follow_symlinks=False)


def written(folder: Path, owner: UserMapping = SELF) -> tuple[str, bytes]:
    """A layer's archive and what it is said to be."""
    stream = io.BytesIO()
    return write_layer(folder, stream, owner=owner), stream.getvalue()


def members(data: bytes) -> dict[str, tarfile.TarInfo]:
    """An archive's members by name."""
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        return {member.name: member for member in archive.getmembers()}


def test_a_layer_as_an_archive(tmp_path: Path) -> None:
    """Contents, links, modes and times are kept; owners are those inside; the digest is that of the bytes."""
    layer = tmp_path / "layer"
    make_layer(layer)
    diff_id, data = written(layer)
    assert diff_id == f"sha256:{hashlib.sha256(data).hexdigest()}"
    found = members(data)
    assert found["a-link"].isreg() and found["z/file"].islnk() and found["z/file"].linkname == "a-link"
    assert found["a-link"].mode == 0o750 and found["a-link"].mtime == 1_600_000_000
    assert found["symbolic"].issym() and found["symbolic"].linkname == "./z//file"
    assert {(member.uid, member.gid, member.uname) for member in found.values()} == {(0, 0, "")}
    names = [os.fsencode(name) for name in found]
    assert b"not-\xff-text" in names and "naïve – ファイル".encode() in names
    assert f"{'long' * 40}/{'name' * 40}" in found
    order = [name for name in found if name != "."]
    assert order.index("z") < order.index("z/file") and next(iter(found)) == "."


def test_the_same_layer_gives_the_same_archive(tmp_path: Path) -> None:
    """Copies made in another order have the same digest; another byte, mode or time has another one."""
    first, second = tmp_path / "first", tmp_path / "second"
    make_layer(first)
    (second / ("long" * 40)).mkdir(parents=True)
    make_layer(tmp_path / "other")
    for path in sorted((tmp_path / "other").iterdir(), reverse=True):
        if path.name != "long" * 40:
            path.rename(second / path.name)
    (second / ("long" * 40) / ("name" * 40)).write_text("z")
    for folder in (first, second):
        for path in (folder, *folder.rglob("*")):
            os.utime(path, (1_600_000_000, 1_600_000_000), follow_symlinks=False)
    digests = {written(first)[0], written(second)[0]}
    assert len(digests) == 1
    (second / "z" / "file").chmod(0o755)
    digests.add(written(second)[0])
    (first / "z" / "file").write_bytes(b"Content\n")
    digests.add(written(first)[0])
    assert len(digests) == 3


def test_what_hides_lower_layers(tmp_path: Path) -> None:
    """Overlayfs's white-outs and opaque folders become those of images."""
    (tmp_path / "layer" / "folder").mkdir(parents=True)
    try:
        os.mknod(tmp_path / "layer" / "folder" / "gone", stat.S_IFCHR, 0)
        make_opaque(tmp_path / "layer" / "folder")
    except OSError as error:
        pytest.skip(f"no white-outs can be made here: {error}")
    found = members(written(tmp_path / "layer")[1])
    assert list(found) == [".", "folder", "folder/.wh..wh..opq", "folder/.wh.gone"]
    assert all(found[name].isreg() and found[name].size == 0 for name in list(found)[2:])


def test_owners_are_those_inside(tmp_path: Path) -> None:
    """With a range of ids, a file's owner is how far it is into the range."""
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    owner = UserMapping(uid=1_000_000, gid=2_000_000, count=65_536)
    layer = tmp_path / "layer"
    layer.mkdir()
    (layer / "file").write_text("")
    os.chown(layer, 1_000_000, 2_000_000)
    os.chown(layer / "file", 1_000_033, 2_000_007)
    found = members(written(layer, owner)[1])
    assert (found["."].uid, found["."].gid) == (0, 0)
    assert (found["file"].uid, found["file"].gid) == (33, 7)
    os.chown(layer / "file", 0, 0)
    with pytest.raises(UsageError, match="nobody inside"):
        written(layer, owner)


@pytest.mark.parametrize("name", [".wh.file", ".wh..wh..opq"])
def test_names_that_would_hide(tmp_path: Path, name: str) -> None:
    """A file that is called like a white-out cannot be in an image."""
    (tmp_path / name).write_text("")
    with pytest.raises(UsageError, match="white-out"):
        written(tmp_path)


def test_what_no_layer_holds(tmp_path: Path) -> None:
    """A pipe is refused by name."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match="pipe, which no layer may hold"):
        written(tmp_path)


def test_an_image_archive(tmp_path: Path) -> None:
    """The manifest names all layers; only those that the engine lacks are in the archive, each once."""
    (tmp_path / "layer.tar").write_bytes(b"layer")
    blobs = [Blob(diff_id="sha256:aa", path=None), *[Blob(diff_id="sha256:bb", path=tmp_path / "layer.tar")] * 2]

    def config(machine: str) -> bytes:
        return image_config(
            [blob.diff_id for blob in blobs], ["1", "2", "2"], environ={"B": "2", "A": "1"}, workdir="/w",
            labels={"k": "v"}, machine=machine,
        )  # fmt: skip

    stream = io.BytesIO()
    write_image(stream, config("x86_64"), blobs, tag="a/b:c")
    with tarfile.open(fileobj=io.BytesIO(stream.getvalue())) as archive:
        files = {member.name: archive.extractfile(member) for member in archive.getmembers()}
        contents = {name: file.read() for name, file in files.items() if file is not None}
    assert sorted(contents) == sorted(
        [f"{hashlib.sha256(config('x86_64')).hexdigest()}.json", "bb/layer.tar", "manifest.json"]
    )
    (manifest,) = json.loads(contents["manifest.json"])
    assert manifest["Layers"] == ["aa/layer.tar", "bb/layer.tar", "bb/layer.tar"]
    assert manifest["RepoTags"] == ["a/b:c"]
    described = json.loads(contents[manifest["Config"]])
    assert described["architecture"] == "amd64" and described["config"]["Env"] == ["A=1", "B=2"]
    assert described["rootfs"]["diff_ids"] == ["sha256:aa", "sha256:bb", "sha256:bb"]
    assert json.loads(config("aarch64"))["architecture"] == "arm64"


@pytest.mark.parametrize("tag", ["Upper/case", "", "a b", "-x", "x:"])
def test_names_no_image_can_have(tmp_path: Path, tag: str) -> None:
    """They are refused before the engine is asked."""
    with pytest.raises(UsageError, match="lower case"):
        build_image(
            Engine(str(tmp_path / "none")), [ImageLayer(path=tmp_path, digest="1")], tag=tag, environ={}, owner=SELF
        )


def test_an_engine_that_wants_every_layer(tmp_path: Path) -> None:
    """When it does not take an image without the layers it has, they are sent."""
    layer = tmp_path / "layer"
    make_layer(layer)
    diff_id = written(layer)[0]
    row = {
        "Id": "sha256:id", "RepoTags": ["x"], "RootFS": {"Layers": [diff_id]}, "Size": 5,
        "Config": {"Labels": {IMAGE_LABEL: "other", LAYERS_LABEL: "one"}},
    }  # fmt: skip
    client = fake_client(
        tmp_path,
        {"image ls": (0, "sha256:id\n", ""), "image inspect": (0, json.dumps([row]), ""), "load": (1, "", "no blob")},
    )
    layers = [ImageLayer(path=layer, digest="one"), ImageLayer(path=layer, digest="two")]
    with pytest.raises(MachineError, match="could not load the image a/b:c: no blob"):
        build_image(Engine(str(client.path)), layers, tag="a/b:c", environ={}, owner=SELF)
    assert [words[0] for words in client.asked].count("load") == 2


@pytest.fixture(scope="module")
def engine() -> Engine:
    """An engine; skips where none answers."""
    engine = Engine()
    try:
        engine.facts  # noqa: B018
    except IsolationRefusedError as error:
        pytest.skip(str(error))
    return engine


@pytest.fixture
def built(engine: Engine) -> Iterator[list[str]]:
    """Tags of images to remove after the test."""
    tags: list[str] = []
    yield tags
    for tag in reversed(tags):
        remove_image(engine, tag)


def layer_over(tmp_path: Path, name: str, files: Mapping[str, str]) -> Path:
    """A layer with some files."""
    folder = tmp_path / name
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


def give(folder: Path) -> None:
    """Make everything root's inside."""
    for path in (folder, *folder.rglob("*")):
        os.chown(path, user_mapping().uid, user_mapping().gid, follow_symlinks=False)


def test_images_share_layers_and_hide_what_is_gone(
    engine: Engine, built: list[str], tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """What an image shows is what overlayfs would; the second one sends only what the engine does not have."""
    rootfs = sandbox_rootfs.built_once(tmp_path_factory.getbasetemp())
    lower = layer_over(tmp_path, "lower", {"opt/both/gone": "1", "opt/both/stays": "2", "opt/opaque/old": "3"})
    upper = layer_over(tmp_path, "upper", {"opt/both/new": "4", "opt/opaque/new": "5"})
    try:
        os.mknod(upper / "opt/both/gone", stat.S_IFCHR, 0)
        make_opaque(upper / "opt/opaque")
    except OSError as error:
        pytest.skip(f"no white-outs can be made here: {error}")
    give(lower)
    give(upper)
    mark = f"{os.getpid()}-{tmp_path.name}"
    layers = [ImageLayer(path=path, digest=f"{mark}-{path.name}") for path in (rootfs, lower, upper)]
    environ = {**sandbox_rootfs.image().environ, "SOME": "value"}
    sent: list[int] = []
    counting = _CountingEngine(sent)

    def build(layers: Sequence[ImageLayer], name: str) -> Image:
        built.append(f"benchwright-test/{name}-{os.getpid()}:latest")
        return build_image(counting, layers, tag=built[-1], environ=environ, owner=user_mapping())

    build(layers[:2], "two")
    image = build(layers, "three")
    assert sent[0] > 5_000_000 > 200_000 > sent[1], f"not shared: {sent}"
    again = build(layers, "again")
    assert len(sent) == 2 and again.digest == image.digest
    ours = {tag: found for found in list_images(engine) for tag in found.tags}
    two, three = ours[built[0]], ours[built[1]]
    assert three.diff_ids[:2] == two.diff_ids and three.digest == image.digest and three.bytes > 5_000_000
    assert built[2] in three.tags

    limits = WorkspaceLimits(memory_bytes=1 << 28, processes=64, scratch_bytes=1 << 26)
    with DockerSandbox().open(image, limits) as workspace:
        shown = workspace.run(
            ["sh", "-c", "cd /opt; ls both opaque; ls -ln both; env"], limits=RunLimits(wall_seconds=60)
        ).output.decode()
    assert shown.startswith("both:\nnew\nstays\n\nopaque:\nnew\n")
    assert "SOME=value" in shown and " 0 0 " in shown


def test_an_image_that_is_removed_while_images_are_listed(tmp_path: Path) -> None:
    """They are listed again; another complaint is told at once."""

    class Removing(Engine):
        def call(self, *arguments: str, **options: Any) -> Answer:
            answer = super().call(*arguments, **options)
            if arguments[1] == "inspect":
                fake_client(tmp_path, {"image ls": (0, "", "")})
            return answer

    gone = {"image ls": (0, "sha256:1\n", ""), "image inspect": (1, "[]", "Error: No such image: sha256:1")}
    client = fake_client(tmp_path, gone)
    assert list_images(Removing(str(client.path))) == ()
    assert [words[1] for words in client.asked] == ["ls", "inspect", "ls"]
    for complaint, most in (("No such image: sha256:1", 10), ("cannot connect", 2)):
        fake_client(tmp_path, {**gone, "image inspect": (1, "[]", complaint)})
        client.log.write_text("")
        with pytest.raises(MachineError, match=complaint):
            list_images(Engine(str(client.path)))
        assert len(client.asked) == most


class _CountingEngine(Engine):
    """Counts the bytes that are fed to it."""

    def __init__(self, sent: list[int]) -> None:
        super().__init__()
        self._sent = sent

    def feed(self, *arguments: str, write: object) -> object:  # type: ignore[override]
        measured = io.BytesIO()
        write(measured)  # type: ignore[operator]
        self._sent.append(len(measured.getvalue()))
        return self.call(*arguments, stdin=measured.getvalue())


def test_an_image_made_anew_is_the_same(engine: Engine, built: list[str], tmp_path: Path) -> None:
    """After removal, the same layers give the image the same id."""
    layer = layer_over(tmp_path, "layer", {"file": "x"})
    give(layer)
    tag = f"benchwright-test/anew-{os.getpid()}:latest"
    ids = []
    for _ in range(2):
        build_image(
            engine, [ImageLayer(path=layer, digest=f"anew-{os.getpid()}")], tag=tag, environ={}, owner=user_mapping()
        )
        ids += [found.id for found in list_images(engine) if tag in found.tags]
        assert remove_image(engine, tag)
    assert len(ids) == 2 and len(set(ids)) == 1
    assert not remove_image(engine, tag)


@pytest.mark.parametrize(
    ("template", "name"),
    [
        ("official", "swebench/sweb.eval.x86_64.sphinx-doc_1776_sphinx-8265:latest"),
        ("epoch", "ghcr.io/epoch-research/swe-bench.eval.x86_64.sphinx-doc__sphinx-8265:latest"),
        ("registry.local:5000/{id}", "registry.local:5000/sphinx-doc__sphinx-8265"),
    ],
)
def test_names_in_registries(template: str, name: str) -> None:
    """By the names of the two public registries, or by a template of one's own."""
    assert image_name(template, PROBLEM.id, "x86_64") == name
    assert "{" not in image_name(template, "Upper__Case-1", "arm64").lower()


@pytest.mark.parametrize("template", ["offical", "x/{name}", "x/{id", "x/{}", "x/{arch}"])
def test_templates_that_name_no_problem(template: str) -> None:
    """They are refused with what there is."""
    with pytest.raises(UsageError, match="official, epoch"):
        image_name(template, PROBLEM.id, "x86_64")


EPOCH_NAME = "ghcr.io/epoch-research/swe-bench.eval.x86_64.sphinx-doc__sphinx-8265"


def test_a_pulled_image(tmp_path: Path) -> None:
    """It is known by the registry's digest, and commands get what activating its environment would set."""
    rows = [{"Id": "sha256:1234", "RepoDigests": ["other@sha256:77", f"{EPOCH_NAME}@sha256:abcd"]}]
    client = fake_client(tmp_path, {"info": info(), "image inspect": (0, json.dumps(rows), "")})
    image = pull_image(Engine(str(client.path)), "epoch", PROBLEM)
    assert (image.reference, image.digest) == (f"{EPOCH_NAME}@sha256:abcd", "abcd")
    assert image.environ["PATH"].startswith(f"{CONDA_ENVIRONMENT}/bin:") and image.workdir == WORK
    assert not any(words[0] == "pull" for words in client.asked)
    rows[0]["RepoDigests"] = []
    client = fake_client(tmp_path, {"info": info(), "image inspect": (0, json.dumps(rows), "")})
    assert pull_image(Engine(str(client.path)), "epoch", PROBLEM).reference == "sha256:1234"


@pytest.mark.parametrize(
    ("errors", "kind", "said"),
    [
        ("Error response from daemon: manifest unknown", UsageError, "has no image"),
        ("denied: requested access to the resource is denied\npull access denied for x", UsageError, "has no image"),
        ("dial tcp: lookup ghcr.io on 127.0.0.1:53: no such host", MachineError, "check the network"),
        ("lookup ghcr.io: not found", MachineError, "check the network"),
        ("failed to register layer: no space left on device", MachineError, "the disk"),
    ],
)
def test_an_image_that_cannot_be_pulled(tmp_path: Path, errors: str, kind: type[Exception], said: str) -> None:
    """A wrong name is the user's matter, an unreachable registry the machine's."""
    answers = {"info": info(), "image inspect": (1, "", "No such image"), "pull": (1, "", errors)}
    with pytest.raises(kind, match=said):
        pull_image(Engine(str(fake_client(tmp_path, answers).path)), "epoch", PROBLEM)


class _HostWorkspace:
    """Runs commands on this machine, with the repository where it is."""

    def __init__(self, repository: Path) -> None:
        self._repository = repository

    def run(
        self,
        command: Sequence[str],
        *,
        limits: RunLimits,
        environ: Mapping[str, str] | None = None,
        cwd: str | None = None,
        stdin: bytes = b"",
    ) -> RunResult:
        words = [str(self._repository) if word == WORK else word for word in command]
        variables = {"PATH": os.environ["PATH"]}
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=cwd, env=variables)
        return RunResult(
            exit_cause=ExitCause.EXITED, exit_status=done.returncode, output=done.stdout,
            output_total_bytes=len(done.stdout), wall_seconds=0.0, cpu_seconds=0.0, memory_peak_bytes=0,
        )  # fmt: skip


@pytest.fixture
def rich(tmp_path: Path) -> Rich:
    """A repository with a future."""
    return make_rich(tmp_path / "source")


def problem_at(base: str) -> RepositoryProblem:
    """A problem whose base is a commit."""
    values = {name: getattr(PROBLEM, name) for name in PROBLEM.__slots__}
    return RepositoryProblem(**{**values, "base_commit": base})


def test_the_history_of_a_pulled_image_is_cut(rich: Rich, tmp_path: Path) -> None:
    """After preparing a workspace nothing later than the base can be read, and what was counted comes back."""
    run_git(rich.path, "replace", "--delete", rich.base)
    work = tmp_path / "work"
    run_git(tmp_path, "clone", "--quiet", rich.path.as_uri(), "work")
    run_git(work, "reset", "--quiet", "--hard", rich.base)
    workspace: Workspace = _HostWorkspace(work)  # type: ignore[assignment]
    proof = prepare_pulled(workspace, problem_at(rich.base), absent=[rich.fix])
    assert (proof.base, proof.head, proof.absent) == (rich.base, rich.base, (rich.fix,))
    gone = subprocess.run(["git", "cat-file", "-e", rich.fix], cwd=work, capture_output=True)
    assert gone.returncode != 0


def test_an_image_of_another_commit_is_refused(rich: Rich, tmp_path: Path) -> None:
    """When HEAD is not at the base, the sentence says where it is."""
    run_git(tmp_path, "clone", "--quiet", rich.path.as_uri(), "work")
    workspace: Workspace = _HostWorkspace(tmp_path / "work")  # type: ignore[assignment]
    with pytest.raises(MachineError, match=f"in the image of {PROBLEM.id}: .*HEAD is"):
        prepare_pulled(workspace, problem_at(rich.before))
