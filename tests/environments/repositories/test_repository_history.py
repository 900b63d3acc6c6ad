"""Histories hold a base commit's past and nothing else, and instances share them."""

import contextlib
import os
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made_histories import Rich, make_history, make_rich, reach, read_objects, run_git

from benchwright.core.errors import MachineError, UsageError
from benchwright.environments.repositories import history as history_module
from benchwright.environments.repositories.checkout import check_out
from benchwright.environments.repositories.history import HistoryStore
from benchwright.environments.repositories.proof import prove

REPO = "owner/name"
CHAIN = [[], [0], [1], [2], [3]]


@pytest.fixture(scope="module")
def rich(tmp_path_factory: pytest.TempPathFactory) -> Rich:
    """One source for the tests that do not change it."""
    return make_rich(tmp_path_factory.mktemp("rich") / "source")


@pytest.fixture
def store(tmp_path: Path) -> HistoryStore:
    """An empty store."""
    return HistoryStore(folder=tmp_path / "store")


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[list[int]], dict[int, bool], list[int]]:
    """Parents of each of some 15 commits, tags (annotated or not), and the bases in the order of asking."""
    count = draw(st.integers(2, 15))
    graph: list[list[int]] = [[]]
    for number in range(1, count):
        graph.append(draw(st.lists(st.integers(0, number - 1), max_size=3, unique=True)))
    numbers = st.integers(0, count - 1)
    tags = draw(st.dictionaries(numbers, st.booleans(), max_size=5))
    return graph, tags, draw(st.lists(numbers, min_size=1, max_size=5, unique=True))


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(graphs(), st.booleans())
def test_an_instance_has_exactly_its_past(
    tmp_path_factory: pytest.TempPathFactory, case: tuple[list[list[int]], dict[int, bool], list[int]], at_once: bool
) -> None:
    """For any history, any bases in any order: its objects are those that base and merged tags reach."""
    graph, tags, asked = case
    folder = tmp_path_factory.mktemp("case")
    source = folder / "source"
    commits = make_history(source, graph, tags)
    objects = read_objects(source)
    tag_objects = {tag: run_git(source, "rev-parse", f"refs/tags/v{tag}") for tag in tags}
    store = HistoryStore(folder=folder / "store")
    bases = [commits[number] for number in asked]
    if at_once:
        store.add(REPO, source, bases)
    for number, base in zip(asked, bases, strict=True):
        past = reach(objects, [base])
        merged = [tag_objects[tag] for tag in tags if commits[tag] in past]
        instance = folder / f"instance-{number}"
        check_out(store.add(REPO, source, [base])[base], instance)
        assert read_objects(instance).keys() == past.union(merged)
        refs = run_git(instance, "for-each-ref", "--format=%(objectname)").split()
        assert sorted(refs) == sorted([base, *merged])
    shutil.rmtree(folder)


def test_one_of_everything_in_the_source(rich: Rich, store: HistoryStore, tmp_path: Path) -> None:
    """Merged tags come along; later ones, other branches, stash, notes, replacements and loose objects do not."""
    check_out(store.add(REPO, rich.path, [rich.base])[rich.base], tmp_path / "instance")
    objects = read_objects(tmp_path / "instance").keys()
    assert objects == reach(read_objects(rich.path), [rich.base, *rich.merged_tags.values()])
    assert objects.isdisjoint([rich.fix, rich.loose, rich.stashed])
    refs = run_git(tmp_path / "instance", "show-ref").splitlines()
    tags = [f"{object_id} refs/tags/{name}" for name, object_id in rich.merged_tags.items()]
    assert sorted(refs) == sorted([f"{rich.base} refs/heads/main", *tags])
    assert run_git(tmp_path / "instance", "fsck", "--strict", "--full") == ""
    proof = prove(tmp_path / "instance", rich.base, absent=[rich.fix])
    assert proof.objects == len(objects)
    assert proof.commits == 4


def test_the_source_is_left_as_it_was(rich: Rich, store: HistoryStore) -> None:
    """Not a file of it is written, added or removed."""

    def state() -> dict[str, tuple[int, int]]:
        files = (path for path in rich.path.rglob("*"))
        return {str(path): (path.lstat().st_mtime_ns, path.lstat().st_size) for path in files}

    before = state()
    store.add(REPO, rich.path, [rich.base, rich.before])
    assert state() == before


def test_instances_share_the_packs_of_their_common_past(store: HistoryStore, tmp_path: Path) -> None:
    """A later base adds a small pack; the earlier one's is the same file in store and both instances."""
    commits = make_history(tmp_path / "source", CHAIN, {})
    histories = store.add(REPO, tmp_path / "source", [commits[4], commits[2]])
    early, late = histories[commits[2]], histories[commits[4]]
    assert set(early.packs) < set(late.packs)
    for name, history in (("early", early), ("late", late)):
        check_out(history, tmp_path / name)
    pack = early.packs[0]
    inodes = {(tmp_path / name / ".git/objects/pack" / pack.name).stat().st_ino for name in ("early", "late")}
    assert inodes == {pack.stat().st_ino}
    assert late.size_bytes > early.size_bytes


def test_without_hard_links_packs_are_copied(
    store: HistoryStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another file system, or one that refuses links, costs space and nothing else."""

    def refuse(*_: object, **__: object) -> None:
        raise OSError(18, "Invalid cross-device link")

    commits = make_history(tmp_path / "source", CHAIN, {})
    history = store.add(REPO, tmp_path / "source", [commits[4]])[commits[4]]
    monkeypatch.setattr(os, "link", refuse)
    check_out(history, tmp_path / "instance")
    assert history.packs[0].stat().st_nlink == 1
    prove(tmp_path / "instance", commits[4])


def test_a_second_asking_packs_nothing(store: HistoryStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is stored is found again."""
    commits = make_history(tmp_path / "source", CHAIN, {1: True})
    first = store.add(REPO, tmp_path / "source", commits)
    monkeypatch.setattr(history_module, "_pack", None)
    assert store.add(REPO, tmp_path / "source", commits) == first
    assert store.add(REPO, tmp_path / "source", []) == {}


def test_moved_tags_make_another_history(store: HistoryStore, tmp_path: Path) -> None:
    """Tags are the source's as it is now; a stored ancestor with other tags lends nothing."""
    source = tmp_path / "source"
    commits = make_history(source, CHAIN, {0: True, 1: False})
    store.add(REPO, source, [commits[3]])
    run_git(source, "tag", "--force", "--annotate", "v0", "--message=moved", commits[2])
    run_git(source, "tag", "--annotate", "added", "--message=new", commits[0])
    moved = run_git(source, "rev-parse", "v0")
    for base in (commits[3], commits[4]):
        check_out(store.add(REPO, source, [base])[base], tmp_path / base)
        assert run_git(tmp_path / base, "rev-parse", "refs/tags/v0") == moved
        prove(tmp_path / base, base)


def test_a_tag_that_was_lacking_is_added(store: HistoryStore, tmp_path: Path) -> None:
    """A base that was stored before its tags were fetched gets them in a pack of their own, or without any."""
    source = tmp_path / "source"
    commits = make_history(source, CHAIN, {})
    first = store.add(REPO, source, [commits[3]])[commits[3]]
    run_git(source, "tag", "light", commits[1])
    light = store.add(REPO, source, [commits[3]])[commits[3]]
    assert light.packs == first.packs
    run_git(source, "tag", "--annotate", "heavy", "--message=x", commits[1])
    heavy = store.add(REPO, source, [commits[3]])[commits[3]]
    assert set(heavy.packs) > set(first.packs)
    check_out(heavy, tmp_path / "instance")
    assert prove(tmp_path / "instance", commits[3]).tags == 2


@pytest.mark.parametrize("place", ["write_at_once", "git"])
def test_an_interrupted_build_leaves_no_damage(
    store: HistoryStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """Whatever a killed build left is removed by the next one, which succeeds."""
    commits = make_history(tmp_path / "source", CHAIN, {})
    store.add(REPO, tmp_path / "source", [commits[1]])
    with _dying(monkeypatch, place), pytest.raises(KeyboardInterrupt):
        store.add(REPO, tmp_path / "source", [commits[4]])
    shelf = store.folder / "owner__name"
    (shelf / "building-killed/objects").mkdir(parents=True)
    history = store.add(REPO, tmp_path / "source", [commits[4]])[commits[4]]
    check_out(history, tmp_path / "instance")
    prove(tmp_path / "instance", commits[4])
    assert {path.with_suffix(".pack") for path in (shelf / "packs").iterdir()} == set(history.packs)
    assert not list(shelf.glob("building-*"))


@contextlib.contextmanager
def _dying(monkeypatch: pytest.MonkeyPatch, place: str) -> Iterator[None]:
    """Interrupt the store where it writes a manifest, or where it has packed."""
    original = getattr(history_module, place)

    def die(*arguments: object, **options: object) -> object:
        if place == "git" and "pack-objects" not in arguments:
            return original(*arguments, **options)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(history_module, place, die)
        yield


@pytest.mark.parametrize("damage", ["truncated pack", "lost pack", "lost index", "broken manifest"])
def test_a_damaged_store_is_mended(store: HistoryStore, tmp_path: Path, damage: str) -> None:
    """A pack or manifest that is not whole is made anew."""
    commits = make_history(tmp_path / "source", CHAIN, {})
    pack = store.add(REPO, tmp_path / "source", [commits[3]])[commits[3]].packs[0]
    if damage == "truncated pack":
        pack.chmod(0o644)
        pack.write_bytes(pack.read_bytes()[:-10])
    elif damage == "lost pack":
        pack.unlink()
    elif damage == "lost index":
        pack.with_suffix(".idx").unlink()
    else:
        next((store.folder / "owner__name/bases").iterdir()).write_text('{"schema": 1, "packs": [')
    check_out(store.add(REPO, tmp_path / "source", [commits[3]])[commits[3]], tmp_path / "instance")
    prove(tmp_path / "instance", commits[3])


def test_builds_at_the_same_time(store: HistoryStore, tmp_path: Path) -> None:
    """Several builders of one repository wait for each other, and all get what they asked for."""
    graph = [[], *([number] for number in range(7))]
    commits = make_history(tmp_path / "source", graph, {2: True})

    def build(base: str) -> Path:
        check_out(store.add(REPO, tmp_path / "source", [base])[base], tmp_path / base)
        return tmp_path / base

    with ThreadPoolExecutor(4) as pool:
        instances = list(pool.map(build, commits))
    for base, instance in zip(commits, instances, strict=True):
        prove(instance, base)


def test_a_clone_with_gaps_is_refused(store: HistoryStore, tmp_path: Path) -> None:
    """A clone made with --filter lacks objects; the message says which and what to do."""
    rich = make_rich(tmp_path / "source")
    run_git(rich.path, "config", "uploadpack.allowFilter", "true")
    options = ("--quiet", "--bare", "--filter=blob:none", "--no-local")
    run_git(tmp_path, "clone", *options, rich.path.as_uri(), "partial")
    with pytest.raises(UsageError, match=r"lacks the object [0-9a-f]{40} of the past of .* made without --filter"):
        store.add(REPO, tmp_path / "partial", [rich.base])


def test_a_full_disk_is_told(store: HistoryStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not as a traceback of the operating system's error."""

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    commits = make_history(tmp_path / "source", CHAIN, {})
    monkeypatch.setattr(history_module, "write_at_once", full)
    with pytest.raises(MachineError, match="store the history of owner/name: no space left on the disk"):
        store.add(REPO, tmp_path / "source", [commits[0]])
