"""Real git repositories of our own making, built as layers that both sandboxes open, and patches for them.

The environment is made of what runs these tests: the interpreter, its pytest, and the machine's git, bash and patch.
Nothing is downloaded.
"""

import contextlib
import dataclasses
import functools
import itertools
import os
import re
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from types import TracebackType

import little_sources
import sandbox_rootfs
from little_sources import Files, Sources

from benchwright.app.repositories.controls import run_controls
from benchwright.app.repositories.setups import setup_of
from benchwright.core.attempts import Attempt
from benchwright.core.digest import digest_of
from benchwright.core.execution import MIB
from benchwright.core.repositories import (
    WORK,
    RepositoryControls,
    RepositoryLimits,
    RepositoryProblem,
    RepositoryRecord,
    Rules,
)
from benchwright.core.runs import ResultRow
from benchwright.core.verdicts import Verdict
from benchwright.environments.repositories.checkout import check_out
from benchwright.environments.repositories.history import HistoryStore
from benchwright.environments.repositories.images import ImageLayer, build_image
from benchwright.environments.repositories.spec import RepositorySpec, parse_specs
from benchwright.execution.repositories import Place
from benchwright.grading.repositories import PreparedPatch, RepositoryPipeline, Setup, row_of
from benchwright.sandboxes.base import Image, Sandbox, Workspace, WorkspaceLimits
from benchwright.sandboxes.containers.engine import Engine
from benchwright.sandboxes.docker import DockerSandbox
from benchwright.sandboxes.users import user_mapping
from benchwright.store.records import RecordStore

PROGRAMS = (
    "bash", "git", "patch", "sed", "env", "date", "dirname", "basename", "readlink", "mktemp", "find", "xargs", "tee",
    "cut", "comm", "ps", "tar", "stat", "timeout", "ldd",
)  # fmt: skip
"""Beside those of `sandbox_rootfs`."""
DISTRIBUTIONS = ("pytest", "pluggy", "iniconfig", "packaging", "pygments")
ENVIRON = {
    "PATH": "/opt/env/bin:/usr/bin",
    "HOME": "/root",
    "LANG": "C.UTF-8",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PIP_NO_INDEX": "1",
}
LIMITS = RepositoryLimits(
    wall_seconds=60.0, memory_bytes=512 * MIB, processes=128, scratch_bytes=128 * MIB, output_bytes=4 * MIB
)
NOW = "1700000000 +0000"
_IDENTITY = {
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "C",
    "GIT_COMMITTER_EMAIL": "c@example.org",
    "GIT_AUTHOR_DATE": NOW,
    "GIT_COMMITTER_DATE": NOW,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
}
LINK = 0o120000
"""Mode of a file that is a symbolic link."""


@dataclass(frozen=True, kw_only=True)
class LittleRepository:
    """One repository with its history on this machine, and the row that asks for its fix."""

    sources: Sources
    path: Path
    base: str
    fixed: str
    """The merge that brought the fix in."""
    future: str
    spec: RepositorySpec
    problem: RepositoryProblem

    def patch(self, changes: Mapping[str, str | bytes | None], modes: Mapping[str, int] | None = None) -> str:
        """What git prints for changes to the base: new contents by path, None for a file that goes.

        Args:
            changes: Files that are as they were do not show up.
            modes: Mode by path where it is not the one at the base, or that of a plain file.
        """
        with tempfile.TemporaryDirectory() as folder:
            index = {"GIT_INDEX_FILE": str(Path(folder, "index"))}
            run_git(self.path, "read-tree", self.base, environ=index)
            for name, content in changes.items():
                if content is None:
                    run_git(self.path, "update-index", "--force-remove", name, environ=index)
                else:
                    blob = run_git(self.path, "hash-object", "-w", "--stdin", stdin=_bytes(content)).decode().strip()
                    mode = (modes or {}).get(name) or self._mode(name)
                    entry = f"{mode:o},{blob},{name}"
                    run_git(self.path, "update-index", "--add", "--cacheinfo", entry, environ=index)
            diff = run_git(self.path, "diff", "--cached", "--binary", "-M", self.base, environ=index)
        return diff.decode("utf-8", "surrogateescape")

    def fix(self, changes: Mapping[str, str | bytes | None] | None = None, **options: Mapping[str, int]) -> str:
        """The fix, and more."""
        return self.patch({**self.sources.fix, **(changes or {})}, **options)

    def wrong(self, changes: Mapping[str, str | bytes | None] | None = None, **options: Mapping[str, int]) -> str:
        """What fixes nothing, and more."""
        return self.patch({**self.sources.wrong, **(changes or {})}, **options)

    def _mode(self, name: str) -> int:
        return 0o100755 if name in self.sources.executable else 0o100644

    def text(self, name: str) -> str:
        """A file at the base."""
        content = self.sources.base[name]
        assert isinstance(content, str)
        return content


def run_git(repository: Path, *arguments: str, stdin: bytes = b"", environ: Mapping[str, str] | None = None) -> bytes:
    """Run git in a repository as a user would; raises when it fails."""
    variables = {**os.environ, **_IDENTITY, **(environ or {})}
    done = subprocess.run(["git", *arguments], cwd=repository, input=stdin, capture_output=True, env=variables)
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    return done.stdout


def make_repository(sources: Sources, path: Path) -> LittleRepository:
    """Commit a project's past, its base, the fix by a merge, and a future; two tags, one of them of the future."""
    path.mkdir(parents=True)
    run_git(path, "init", "--quiet", "--initial-branch=main")
    first = next(iter(sources.base))
    _commit(path, {first: sources.base[first]}, sources, "begin")
    run_git(path, "checkout", "--quiet", "-b", "feature")
    _commit(path, sources.base, sources, "write the rest")
    run_git(path, "checkout", "--quiet", "main")
    _commit(path, {"HISTORY.txt": "begun\n"}, sources, "write down what happens")
    run_git(path, "merge", "--quiet", "--no-ff", "--message=merge feature", "feature")
    run_git(path, "tag", "v1.0")
    base = _head(path)
    run_git(path, "checkout", "--quiet", "-b", "fix")
    _commit(path, sources.fix, sources, "fix")
    reference = run_git(path, "diff", "--binary", base, "HEAD").decode()
    _commit(path, sources.tests, sources, "test the fix")
    tests = run_git(path, "diff", "--binary", "HEAD~1", "HEAD").decode()
    run_git(path, "checkout", "--quiet", "main")
    run_git(path, "merge", "--quiet", "--no-ff", "--message=merge fix", "fix")
    fixed = _head(path)
    _commit(path, {"HISTORY.txt": "begun\nfixed\n"}, sources, "go on")
    run_git(path, "tag", "v2.0")
    (spec,) = parse_specs(sources.spec, file=f"{sources.name}.toml")
    return LittleRepository(
        sources=sources,
        path=path,
        base=base,
        fixed=fixed,
        future=_head(path),
        spec=spec,
        problem=_problem(sources, base, reference, tests),
    )


def _problem(sources: Sources, base: str, reference: str, tests: str) -> RepositoryProblem:
    return RepositoryProblem(
        benchmark="little",
        id=f"acme__{sources.name}-1",
        repo=f"acme/{sources.name}",
        version="1.0",
        base_commit=base,
        environment_commit=base,
        issue="It does not do what it should.",
        hints="",
        created_at="2023-11-14T22:13:20Z",
        reference_patch=reference,
        test_patch=tests,
        fail_to_pass=sources.fail_to_pass,
        pass_to_pass=sources.pass_to_pass,
        digest=digest_of([base, reference, tests]),
    )


def _commit(path: Path, files: Files, sources: Sources, message: str) -> None:
    for name, content in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(_bytes(content))
        (path / name).chmod(0o755 if name in sources.executable else 0o644)
    run_git(path, "add", "--all")
    run_git(path, "commit", "--quiet", f"--message={message}")


def _head(path: Path) -> str:
    return run_git(path, "rev-parse", "HEAD").decode().strip()


def _bytes(content: str | bytes) -> bytes:
    return content if isinstance(content, bytes) else content.encode("utf-8", "surrogateescape")


class Workshop(contextlib.AbstractContextManager["Workshop"]):
    """Makes repositories and layers below a folder, each once; takes the container images it made away at its end."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._repositories: dict[str, LittleRepository] = {}
        self._session = secrets.token_hex(8)
        self._images: list[tuple[Engine, str]] = []
        self._numbers = itertools.count()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for engine, tag in self._images:
            engine.call("rmi", "--force", tag)

    @functools.cached_property
    def common(self) -> tuple[Path, ...]:
        """The root file system and the environment."""
        root = sandbox_rootfs.built_once(self.folder)
        environment = self.folder / "environment"
        _copy_programs(environment)
        _make_environment(environment)
        _hand_over(environment)
        return root, environment

    def repository(self, name: str) -> LittleRepository:
        """A repository by the name of its project."""
        if name not in self._repositories:
            sources = getattr(little_sources, name.upper())
            self._repositories[name] = make_repository(sources, self.folder / name)
        return self._repositories[name]

    def layers(self, name: str) -> tuple[Path, ...]:
        """The layers of a repository's base, in an environment in which it is installed."""
        layer = self.folder / f"{name}-instance"
        if not layer.exists():
            self._make_instance(self.repository(name), layer)
        return (*self.common, layer)

    def _make_instance(self, repository: LittleRepository, layer: Path) -> None:
        store = HistoryStore(folder=self.folder / "histories")
        history = store.add(repository.problem.repo, repository.path, [repository.base])[repository.base]
        check_out(history, layer / WORK.lstrip("/"))
        _write(layer / WORK.lstrip("/"), repository.sources.built)
        _write(layer / _site_packages(), _installed(repository.sources))
        _hand_over(layer)

    def with_files(self, layers: tuple[Path, ...], files: Files) -> tuple[Path, ...]:
        """Layers with one more on top, which holds files by their path from the root."""
        layer = self.folder / f"layer-{next(self._numbers)}"
        _write(layer, files)
        _hand_over(layer)
        return (*layers, layer)

    def image(self, layers: tuple[Path, ...], engine: Engine) -> Image:
        """A container image of layers, as those of real instances are made."""
        tag = f"benchwright-tests/{layers[-1].name}:{self._session}"
        self._images.append((engine, tag))
        return build_image(
            engine,
            [ImageLayer(path=layer, digest=digest_of([str(layer), self._session])) for layer in layers],
            tag=tag,
            environ=ENVIRON,
            owner=user_mapping(),
            scratch=self.folder,
        )


def _write(folder: Path, files: Files) -> None:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(_bytes(content))


def _hand_over(layer: Path) -> None:
    """Make a layer belong to who is root inside."""
    mapping = user_mapping()
    for path in (layer, *layer.rglob("*")):
        os.chown(path, mapping.uid, mapping.gid, follow_symlinks=False)


def _site_packages() -> str:
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    return f"opt/env/lib/python{version}/site-packages"


def _installed(sources: Sources) -> Files:
    """What the project's setup.py writes."""
    folder = f"{sources.name}-1.0.dist-info"
    return {
        f"{sources.name}.pth": f"{WORK}\n",
        f"{folder}/METADATA": f"Metadata-Version: 2.1\nName: {sources.name}\nVersion: 1.0\n",
        f"{folder}/entry_points.txt": "",
    }


def _copy_programs(layer: Path) -> None:
    found = [shutil.which(name, path="/usr/bin:/bin") for name in PROGRAMS]
    programs = [Path(path) for path in found if path is not None]
    (layer / "usr/bin").mkdir(parents=True)
    for program in programs:
        shutil.copy2(program, layer / "usr/bin" / program.name)
    listing = subprocess.run(["ldd", *programs], capture_output=True, text=True).stdout
    for library in set(re.findall(r"(/\S+) \(0x", listing)):
        # The root file system has links from /lib and /lib64 to below /usr.
        target = layer / (library if library.startswith("/usr/") else f"/usr{library}").lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(library, target)


def _make_environment(layer: Path) -> None:
    environment = layer / "opt/env"
    (environment / "bin").mkdir(parents=True)
    (environment / "bin/python").symlink_to("/opt/python/bin/python3")
    (environment / "pyvenv.cfg").write_text("home = /opt/python/bin\ninclude-system-site-packages = false\n")
    (script,) = metadata.entry_points(group="console_scripts", name="pytest")
    start = f"import sys\n\nfrom {script.module} import {script.attr}\n\nsys.exit({script.attr}())\n"
    for name, text in {"pytest": f"#!/opt/env/bin/python\n{start}", "tox": little_sources.TOX}.items():
        (environment / "bin" / name).write_text(text)
        (environment / "bin" / name).chmod(0o755)
    packages = layer / _site_packages()
    packages.mkdir(parents=True)
    for name in DISTRIBUTIONS:
        _copy_distribution(name, packages)


def _copy_distribution(name: str, packages: Path) -> None:
    found = metadata.distribution(name)
    for file in found.files or ():
        source = Path(str(found.locate_file(file)))
        if ".." not in file.parts and source.is_file():
            (packages / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, packages / file)


@dataclass(frozen=True, kw_only=True)
class Graded:
    """What became of a patch."""

    prepared: PreparedPatch
    record: RepositoryRecord | None
    verdict: Verdict
    alone: Verdict
    """The verdict where no control runs are known."""
    row: ResultRow

    @property
    def log(self) -> str:
        """What the test command wrote."""
        step = self.record.step("tests") if self.record else None
        return step.output if step else ""

    @property
    def dropped(self) -> dict[str, str]:
        """Why, by the path of the edit."""
        return {edit.path: edit.why for edit in (self.record.dropped if self.record else ())}


@dataclass(kw_only=True)
class Bench:
    """One repository in one sandbox."""

    workshop: Workshop
    repository: LittleRepository
    place: Place
    limits: RepositoryLimits = LIMITS
    problem: RepositoryProblem
    _known: list[RepositoryControls] = field(default_factory=list)

    @property
    def setup(self) -> Setup:
        """How its patches are run."""
        return setup_of(self.problem, self.repository.spec, self.place)

    def pipeline(self, rules: Rules = Rules.BENCHWRIGHT, limits: RepositoryLimits | None = None) -> RepositoryPipeline:
        """A pipeline that knows this repository alone."""
        return RepositoryPipeline({self.problem.id: self.setup}, rules=rules, limits=limits or self.limits)

    def controls(self, repeats: int = 1) -> RepositoryControls:
        """The control runs, made when they are asked for, and again for more repeats than there are."""
        if not self._known or len(self._known[0].reference) < repeats:
            self._known[:] = self._run_controls(repeats)
        return self._known[0]

    def _run_controls(self, repeats: int) -> Iterator[RepositoryControls]:
        with tempfile.TemporaryDirectory() as folder, RecordStore(Path(folder, "records.sqlite")) as store:
            yield from run_controls(
                [self.problem], self.pipeline(), store, workers=2, repeats=repeats, report=lambda done, total: None
            )

    def grade(
        self,
        patch: str,
        *,
        rules: Rules = Rules.BENCHWRIGHT,
        limits: RepositoryLimits | None = None,
        controls: RepositoryControls | None = None,
    ) -> Graded:
        """Grade one patch as ``bw grade`` does, with the control runs given or made."""
        pipeline = self.pipeline(rules, limits)
        attempt = Attempt(problem_id=self.problem.id, sample=0, solution=None, raw_text=patch)
        prepared = pipeline.prepare(self.problem, attempt)
        if prepared.job is None:
            assert prepared.verdict is not None
            verdict = alone = prepared.verdict
            record = None
        else:
            record = pipeline.run(prepared.job)
            known = None if rules is Rules.OFFICIAL else controls or self.controls()
            verdict = pipeline.judge(self.problem, record, known)
            alone = pipeline.judge(self.problem, record, None)
        row = row_of(prepared, verdict, record)
        return Graded(prepared=prepared, record=record, verdict=verdict, alone=alone, row=row)

    def open(self) -> Workspace:
        """A workspace of its own."""
        limits = WorkspaceLimits(
            memory_bytes=self.limits.memory_bytes,
            processes=self.limits.processes,
            scratch_bytes=self.limits.scratch_bytes,
        )
        return self.place.sandbox.open(self.place.image, limits)

    def varied(self, **changes: object) -> "Bench":
        """The same with another row."""
        problem = dataclasses.replace(self.problem, **changes)  # type: ignore[arg-type]
        problem = dataclasses.replace(problem, digest=digest_of([self.problem.digest, repr(changes)]))
        return dataclasses.replace(self, problem=problem, _known=[])

    def with_files(self, files: Files) -> "Bench":
        """The same in an environment with other files, by their path from the root; for the namespace sandbox."""
        layers = self.workshop.with_files(self.place.image.layers, files)
        place = dataclasses.replace(self.place, image=_image(layers))
        return dataclasses.replace(self, place=place, _known=[])


def bench_in(workshop: Workshop, name: str, sandbox: Sandbox) -> Bench:
    """A repository, by the name of its project, in a sandbox."""
    layers = workshop.layers(name)
    image = workshop.image(layers, sandbox.engine) if isinstance(sandbox, DockerSandbox) else _image(layers)
    repository = workshop.repository(name)
    place = Place(sandbox=sandbox, image=image)
    return Bench(workshop=workshop, repository=repository, place=place, problem=repository.problem)


def _image(layers: tuple[Path, ...]) -> Image:
    return Image(digest=digest_of([str(layer) for layer in layers]), layers=layers, environ=ENVIRON, workdir=WORK)
