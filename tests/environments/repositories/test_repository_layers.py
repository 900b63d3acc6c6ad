"""The store of layers: identities, interruptions, several processes, collection."""

import fcntl
import json
import multiprocessing
import os
from pathlib import Path

import pytest
from made_layers import make_key, make_store, put_files

from benchwright.core.errors import MachineError, UsageError
from benchwright.environments.repositories.layers import Draft, LayerKind, LayerStore, Made, Manifest, remove_tree


def names(store: LayerStore) -> set[str]:
    """What lies in the folder of layers."""
    return {path.name for path in (store.root / "layers").iterdir()}


def test_a_layer_is_made_once(tmp_path: Path) -> None:
    """The second call finds what the first made, and another store on the folder does too."""
    store = make_store(tmp_path)
    layer = put_files(store, make_key(), {"a": "1"}, made=Made(versions=(("six", "1.17.0"),), facts={"x": [1]}))

    def never(draft: Draft) -> Made:
        raise AssertionError("made twice")

    assert store.put(make_key(), never) == layer
    found = make_store(tmp_path).find(make_key())
    assert found == layer
    assert found is not None
    assert (found.path / "a").read_text() == "1"
    assert found.manifest.made.versions == (("six", "1.17.0"),)


def test_the_digest_decides(tmp_path: Path) -> None:
    """A layer of the same name made from other inputs is another layer."""
    store = make_store(tmp_path)
    put_files(store, make_key(digest="a"), {"a": "1"})
    assert store.find(make_key(digest="b")) is None
    put_files(store, make_key(digest="b"), {"a": "2"})
    assert len(store.layers()) == 2


def test_a_manifest_survives_its_file(tmp_path: Path) -> None:
    """What is read back equals what was written."""
    store = make_store(tmp_path)
    lower = put_files(store, make_key("low", kind=LayerKind.ROOTFS), {"l": "1"})
    made = Made(commands=("one", "two"), versions=(("a", "1"),), deviations=("ü",), facts={"deep": {"x": None}})
    manifest = put_files(store, make_key(), {"a": "1"}, lower=[lower], made=made).manifest
    assert Manifest.from_json(manifest.to_json()) == manifest
    assert manifest.lower == (lower.key.digest,)


@pytest.mark.parametrize(
    "damage",
    [
        {"schema": 99},
        {"key": {"kind": "instance", "name": "one", "digest": "../../../../etc/x"}},
        {"key": {"kind": "no kind", "name": "one", "digest": "a" * 64}},
        {"content": {}},
    ],
    ids=["version", "path", "kind", "content"],
)
def test_a_manifest_of_another_form_is_none(damage: dict[str, object], tmp_path: Path) -> None:
    """A layer whose manifest this program does not understand counts as not built."""
    store = make_store(tmp_path)
    layer = put_files(store, make_key(), {"a": "1"})
    path = layer.path.with_name(f"{layer.path.name}.json")
    path.write_text(json.dumps({**json.loads(path.read_text()), **damage}))
    assert store.find(make_key()) is None
    assert store.layers() == ()


def test_what_fails_leaves_nothing(tmp_path: Path) -> None:
    """An error of the maker is passed on, and the next build succeeds."""
    store = make_store(tmp_path)

    def fail(draft: Draft) -> Made:
        (draft.folder / "half").write_text("x")
        raise MachineError("no more")

    with pytest.raises(MachineError, match="no more"):
        store.put(make_key(), fail)
    assert names(store) == set()
    assert put_files(store, make_key(), {"a": "1"}).path.is_dir()


def test_an_interrupted_build_is_cleaned_up_by_the_next(tmp_path: Path) -> None:
    """A temporary folder, and a layer without manifest, are what a killed process can leave."""
    store = make_store(tmp_path)
    key = make_key()
    for left in (f".building-{key.folder_name}", f".removing-{key.folder_name}", key.folder_name):
        (store.root / "layers" / left).mkdir(parents=True)
        (store.root / "layers" / left / "half").write_text("x")
    assert store.find(key) is None
    layer = put_files(store, key, {"a": "1"})
    assert {path.name for path in layer.path.iterdir()} == {"a"}
    assert names(store) == {layer.path.name, f"{layer.path.name}.json"}


def test_a_full_disk_is_named(tmp_path: Path) -> None:
    """An error of the system becomes a sentence that says what to do."""
    store = make_store(tmp_path)

    def fill_up(draft: Draft) -> Made:
        raise OSError(28, "No space left on device")

    with pytest.raises(MachineError, match="no space left"):
        store.put(make_key(), fill_up)


def test_damage_is_found(tmp_path: Path) -> None:
    """Verifying reads every file."""
    store = make_store(tmp_path)
    layer = put_files(store, make_key(), {"a": "1"})
    assert store.verify(layer)
    (layer.path / "a").write_text("2")
    assert not store.verify(layer)


def _build_and_tell(folder: str, entered: "multiprocessing.queues.Queue[int]") -> None:
    def make(draft: Draft) -> Made:
        entered.put(os.getpid())
        (draft.folder / "by").write_text(str(os.getpid()))
        return Made()

    make_store(Path(folder)).put(make_key(), make)


def test_two_processes_make_a_layer_once(tmp_path: Path) -> None:
    """The second waits for the first and takes its layer."""
    context = multiprocessing.get_context("spawn")
    entered = context.Queue()
    processes = [context.Process(target=_build_and_tell, args=(str(tmp_path), entered)) for _ in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0, 0]
    first = entered.get(timeout=10)
    assert entered.empty()
    found = make_store(tmp_path).find(make_key())
    assert found is not None
    assert (found.path / "by").read_text() == str(first)


def test_removing_frees_what_nobody_else_has(tmp_path: Path) -> None:
    """A shared file stays with the other layer; with the last layer it goes, from the pool too."""
    store = make_store(tmp_path)
    one = put_files(store, make_key("one"), {"shared": "s" * 50_000, "own": "o" * 50_000})
    two = put_files(store, make_key("two"), {"shared": "s" * 50_000})
    before = store.measure()
    freed = store.remove(one)
    assert freed == before - store.measure()
    assert 50_000 < freed < 100_000
    assert (two.path / "shared").read_text() == "s" * 50_000
    assert store.remove(two) > 50_000
    assert [path for path in (store.root / "pool").rglob("*") if path.is_file()] == []


def test_collection_takes_the_layers_used_longest_ago(tmp_path: Path) -> None:
    """Until the cap is met: oldest first, never what another layer stands on, nor what is to be kept."""
    store = make_store(tmp_path)
    base = put_files(store, make_key("base", kind=LayerKind.ROOTFS, digest="0"), {"b": "b" * 50_000})
    layers = {
        name: put_files(store, make_key(name, digest=digit), {name: name * 50_000}, lower=[base])
        for name, digit in zip("xyzw", "1234", strict=True)
    }
    for age, name in enumerate("xyzw"):
        manifest = layers[name].path.with_name(f"{layers[name].path.name}.json")
        os.utime(manifest, (1000 + age, 1000 + age))
    store.touch(layers["x"])
    collected = store.collect(store.measure() - 100_000, keep=[layers["y"].key])
    assert [key.name for key in collected.removed] == ["z", "w"]
    assert collected.bytes == store.measure()
    assert store.collect(0, keep=[layers["y"].key]).removed == (layers["x"].key,)
    assert {layer.key.name for layer in store.layers()} == {"base", "y"}
    assert [key.name for key in store.collect(0).removed] == ["y", "base"]


def test_collection_removes_leftovers_first(tmp_path: Path) -> None:
    """What interrupted builds left is no layer, and goes whatever the cap."""
    store = make_store(tmp_path)
    put_files(store, make_key(), {"a": "1"})
    (store.root / "layers" / ".building-instance-x-1").mkdir()
    (store.root / "layers" / "instance-y-2").mkdir()
    assert store.collect(10**12).removed == ()
    assert len(names(store)) == 2


def test_nothing_is_removed_under_a_user(tmp_path: Path) -> None:
    """While workspaces stand on layers, removing and collecting are refused."""
    store = make_store(tmp_path)
    layer = put_files(store, make_key(), {"a": "1"})
    with store.in_use():
        for attempt in (lambda: store.remove(layer), lambda: store.collect(0)):
            with pytest.raises(MachineError, match="just now"):
                attempt()
    assert store.find(make_key()) is not None
    assert store.remove(layer) > 0


def test_adopting_takes_only_what_the_manifest_says(tmp_path: Path) -> None:
    """A copied layer is taken with its manifest; a changed one is refused, and one that is there stays."""
    origin, store = make_store(tmp_path / "origin"), make_store(tmp_path / "store")
    manifest = put_files(origin, make_key(), {"a": "1"}).manifest
    with store.workspace("test") as folder:
        for name, text in (("changed", "2"), ("whole", "1"), ("again", "1")):
            (folder / name).mkdir(mode=0o755)
            (folder / name / "a").write_text(text)
            for path in (folder / name, folder / name / "a"):
                os.chown(path, store.owner.uid, store.owner.gid)
        with pytest.raises(UsageError, match="not those"):
            store.adopt(folder / "changed", manifest)
        layer = store.adopt(folder / "whole", manifest)
        assert store.adopt(folder / "again", manifest) == layer
    assert store.find(make_key()) == layer
    assert names(store) == {layer.path.name, f"{layer.path.name}.json"}


def test_adopting_refuses_another_build_of_a_layer(tmp_path: Path) -> None:
    """What stands on the layer that is there would stand on something else."""
    origin, store = make_store(tmp_path / "origin"), make_store(tmp_path / "store")
    manifest = put_files(origin, make_key(), {"a": "1"}).manifest
    put_files(store, make_key(), {"a": "2"})
    with store.workspace("test") as folder, pytest.raises(UsageError, match="another build"):
        store.adopt(folder, manifest)


def test_trees_without_permissions_are_removed(tmp_path: Path) -> None:
    """A folder that its owner may neither read nor write goes as well; a link's target does not."""
    folder = tmp_path / "tree"
    (folder / "closed" / "deep").mkdir(parents=True)
    (folder / "closed" / "deep" / "x").write_text("1")
    (folder / "closed").chmod(0o000)
    (tmp_path / "outside").write_text("1")
    (folder / "link").symlink_to(tmp_path / "outside")
    remove_tree(folder)
    assert not folder.exists()
    assert (tmp_path / "outside").exists()
    remove_tree(folder)


def test_a_lock_of_another_process_does_not_stop_finding(tmp_path: Path) -> None:
    """Finished layers are read without waiting for anybody."""
    store = make_store(tmp_path)
    put_files(store, make_key(), {"a": "1"})
    with (store.root / "locks" / make_key().folder_name).open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert store.put(make_key(), lambda draft: Made()) == store.find(make_key())
