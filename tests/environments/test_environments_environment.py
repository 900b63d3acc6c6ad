"""Opening, listing and removing what was built."""

import dataclasses
import json
from pathlib import Path

import pytest
from made_environments import MakeSpec, manifest_of, put_environment

from benchwright.core.errors import MachineError, UnknownNameError, UsageError
from benchwright.environments import (
    Manifest,
    State,
    list_environments,
    load_spec,
    open_built,
    open_environment,
    remove_environment,
)
from benchwright.environments.environment import MANIFEST_NAME, BuiltData, exclusive, prefix_for

WORDS = BuiltData(name="words", path="corpora/words", present=True, origin="x 1", digest="d", note="")


def test_an_open_environment_knows_its_places(make_spec: MakeSpec, tmp_path: Path) -> None:
    """Interpreter, readable folders and variables are ready to be used by a sandbox."""
    spec = make_spec()
    prefix = put_environment(spec, tmp_path)
    environment = open_built(spec, tmp_path)
    assert environment.python == prefix / "bin" / "python"
    assert environment.readable_paths == (prefix, environment.base_prefix)
    assert environment.variables["NLTK_DATA"] == f"{prefix}/share/nltk_data"
    assert environment.tiers[0].name == "light"


def test_the_digest_tells_environments_with_other_data_or_python_apart(make_spec: MakeSpec, tmp_path: Path) -> None:
    """A missing data file or another patch release may change verdicts, so results must not be shared."""
    spec = make_spec()
    variants: list[dict[str, object]] = [
        {},
        {"python_version": "3.11.99"},
        {"data": (WORDS,)},
        {"data": (dataclasses.replace(WORDS, digest="e"),)},
    ]
    digests = set()
    for number, changes in enumerate(variants):
        put_environment(spec, tmp_path / str(number), **changes)
        digests.add(open_built(spec, tmp_path / str(number)).digest)
    assert len(digests) == len(variants)


def test_the_digest_ignores_where_and_when_it_was_built(make_spec: MakeSpec, tmp_path: Path) -> None:
    """The same environment on another machine has the same digest; a missing item counts for nothing."""
    spec = make_spec()
    put_environment(spec, tmp_path / "a")
    put_environment(spec, tmp_path / "b", built="2027-01-01T00:00:00+00:00", seconds=9.0, size_bytes=7)
    missing = dataclasses.replace(WORDS, present=False, digest="", origin="")
    put_environment(spec, tmp_path / "c", data=(missing,))
    assert len({open_built(spec, tmp_path / one).digest for one in "abc"}) == 1


def test_never_built_says_how_to_build(tmp_path: Path) -> None:
    """The message holds the command."""
    with pytest.raises(UsageError, match="starter is not built; build it with `bw env build starter`"):
        open_environment("starter", tmp_path)


def test_an_unknown_name_is_not_a_missing_build(tmp_path: Path) -> None:
    """A name without specification is told the near misses."""
    with pytest.raises(UnknownNameError, match="did you mean starter"):
        open_environment("startr", tmp_path)


def test_built_from_another_lock_has_its_own_sentence(make_spec: MakeSpec, tmp_path: Path) -> None:
    """An environment of another version of the lock is neither used nor called missing."""
    put_environment(make_spec(lock="six==1.16.0 --hash=sha256:11\n"), tmp_path)
    with pytest.raises(UsageError, match=r"built from another lock .*`bw env build tiny`"):
        open_built(make_spec(), tmp_path)


def test_a_moved_folder_does_not_pass_for_the_right_lock(make_spec: MakeSpec, tmp_path: Path) -> None:
    """The digest in the manifest counts, not the folder's name."""
    spec = make_spec()
    put_environment(spec, tmp_path, spec_digest="0" * 64)
    with pytest.raises(UsageError, match="another lock"):
        open_built(spec, tmp_path)


def test_an_unfinished_build_is_named(make_spec: MakeSpec, tmp_path: Path) -> None:
    """A folder without manifest never counts as built."""
    spec = make_spec()
    (put_environment(spec, tmp_path) / MANIFEST_NAME).unlink()
    with pytest.raises(UsageError, match="was not finished"):
        open_built(spec, tmp_path)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", "{}", '{"schema": 99}', '{"schema": 1, "name": "tiny"}', "\udcff"]
)
def test_a_corrupt_manifest_is_a_plain_usage_error(make_spec: MakeSpec, tmp_path: Path, text: str) -> None:
    """Whatever the manifest has become, the answer is a sentence with the command, not a traceback."""
    spec = make_spec()
    prefix = put_environment(spec, tmp_path)
    (prefix / MANIFEST_NAME).write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(UsageError, match=r"cannot be read .*`bw env build tiny --force`"):
        open_built(spec, tmp_path)


def test_a_lost_python_is_named(make_spec: MakeSpec, tmp_path: Path) -> None:
    """When the installation was deleted, the message says so."""
    spec = make_spec()
    prefix = put_environment(spec, tmp_path)
    (prefix / "bin" / "python").unlink()
    with pytest.raises(UsageError, match=r"its Python .* is gone"):
        open_built(spec, tmp_path)


def test_a_manifest_survives_being_written_and_read(make_spec: MakeSpec) -> None:
    """Reading what was written gives an equal value."""
    manifest = manifest_of(make_spec(), data=(WORDS,))
    assert Manifest.from_json(manifest.to_json()) == manifest
    assert json.loads(manifest.to_json())["schema"] == 1


def test_the_list_names_every_state(make_spec: MakeSpec, tmp_path: Path) -> None:
    """Ready, of another lock, incomplete and corrupt folders are all listed, other folders are not."""
    ready = put_environment(load_spec("starter"), tmp_path)
    other = put_environment(make_spec(), tmp_path)
    incomplete = put_environment(make_spec(lock="a==1\n"), tmp_path)
    (incomplete / MANIFEST_NAME).unlink()
    corrupt = put_environment(make_spec(lock="b==1\n"), tmp_path)
    (corrupt / MANIFEST_NAME).write_text("{")
    (tmp_path / "environments" / "something-else").mkdir()

    states = {one.prefix: one.state for one in list_environments(tmp_path)}

    assert states == {
        ready: State.READY,
        other: State.OTHER_LOCK,
        incomplete: State.INCOMPLETE,
        corrupt: State.CORRUPT,
    }


def test_nothing_built_is_an_empty_list(tmp_path: Path) -> None:
    """A home folder that does not exist holds no environments."""
    assert list_environments(tmp_path / "nowhere") == ()


def test_remove_deletes_every_folder_of_the_name(make_spec: MakeSpec, tmp_path: Path) -> None:
    """Also those of older locks and unfinished ones; others stay."""
    mine = {put_environment(make_spec(lock=lock), tmp_path) for lock in ("a==1\n", "b==1\n")}
    kept = put_environment(load_spec("starter"), tmp_path)
    assert set(remove_environment("tiny", tmp_path)) == mine
    assert [one.prefix for one in list_environments(tmp_path)] == [kept]


def test_remove_of_what_is_not_there_names_what_is(tmp_path: Path) -> None:
    """The message lists what could be removed."""
    put_environment(load_spec("starter"), tmp_path)
    with pytest.raises(UnknownNameError, match="starter"):
        remove_environment("tiny", tmp_path)


def test_what_is_being_built_is_not_removed(make_spec: MakeSpec, tmp_path: Path) -> None:
    """While another process holds the lock, removing is refused."""
    spec = make_spec()
    put_environment(spec, tmp_path)
    with exclusive(prefix_for(spec, tmp_path), wait=True), pytest.raises(MachineError, match="is building"):
        remove_environment("tiny", tmp_path)
