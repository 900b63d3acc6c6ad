"""Signatures over a bundle's list, by the programs that people have; skipped where those are not installed."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchwright.core.errors import MachineError, UsageError
from benchwright.store import bundle_signing
from benchwright.store.bundle_signing import check, sign

DATA = b'{"schema": 1}\n'


def needs(program: str) -> None:
    """Skip where a program is not there."""
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")


def ssh_key(path: Path, passphrase: str = "") -> Path:
    """A new SSH key."""
    needs("ssh-keygen")
    command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", passphrase, "-C", "somebody", "-f", str(path)]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    return path


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the keys ``own`` and ``other``."""
    folder = tmp_path_factory.mktemp("keys")
    for name in ("own", "other"):
        ssh_key(folder / name)
    return folder


@pytest.fixture(scope="module")
def minisign_keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with minisign keys ``own`` and ``other`` without a password."""
    needs("minisign")
    folder = tmp_path_factory.mktemp("minisign")
    for name in ("own", "other"):
        command = ["minisign", "-G", "-W", "-p", str(folder / f"{name}.pub"), "-s", str(folder / name)]
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL, capture_output=True)
    return folder


def test_an_ssh_signature_names_its_key_and_nobody(keys: Path) -> None:
    """Without a signer the signature is said to be some key's; the same bytes are signed the same way."""
    name, signature = sign(DATA, keys / "own")
    assert sign(DATA, keys / "own") == (name, signature)
    report = check(DATA, name, signature, None)
    assert (name, report.kind, report.valid, report.signer, report.problem) == ("bundle.json.sig", "ssh", True, "", "")
    assert report.key.startswith("SHA256:")


def test_other_bytes_are_not_signed(keys: Path) -> None:
    """A signature does not hold over anything else, nor does what is no signature."""
    name, signature = sign(DATA, keys / "own")
    for data, text in ((DATA + b" ", signature), (DATA, b"nonsense"), (DATA, b"")):
        report = check(data, name, text, None)
        assert report.valid is False
        assert "not one over this bundle" in report.problem


@pytest.mark.parametrize("form", ["public key", "allowed signers"])
def test_a_signature_is_checked_against_a_key(keys: Path, tmp_path: Path, form: str) -> None:
    """The key's owner is named; another key is a problem that names both."""

    def known(name: str) -> Path:
        path = keys / f"{name}.pub"
        if form == "public key":
            return path
        allowed = tmp_path / f"allowed-{name}"
        allowed.write_text(f"# our people\nme@example.org,we@example.org {path.read_text()}")
        return allowed

    name, signature = sign(DATA, keys / "own")
    report = check(DATA, name, signature, known("own"))
    assert (report.valid, report.problem) == (True, "")
    assert report.signer == ("own.pub" if form == "public key" else "me@example.org")
    report = check(DATA, name, signature, known("other"))
    assert report.signer == ""
    assert report.key in report.problem
    assert "which is not in" in report.problem


def test_a_signature_for_another_purpose_does_not_count(keys: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody's signature over a mail or a commit cannot be put under a bundle."""
    monkeypatch.setattr(bundle_signing, "NAMESPACE", "git")
    name, signature = sign(DATA, keys / "own")
    monkeypatch.undo()
    assert check(DATA, name, signature, None).valid is False


def test_a_key_with_a_passphrase_is_refused_at_once(tmp_path: Path) -> None:
    """Nobody is asked for anything; the message says how to use the key, and does not hold any of it."""
    for name in ("locked", "id.work"):
        key = ssh_key(tmp_path / name, "a long passphrase")
        for named in (key, tmp_path / f"{name}.pub"):
            with pytest.raises(UsageError, match=rf"has a passphrase.*--sign \S+/{name}\.pub\.$") as caught:
                sign(DATA, named)
            assert key.read_text().splitlines()[1][:20] not in str(caught.value)


@pytest.fixture
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An ssh-agent of the test's own."""
    for program in ("ssh-agent", "ssh-add"):
        needs(program)
    place = tmp_path / "agent"
    process = subprocess.Popen(
        ["ssh-agent", "-D", "-a", str(place)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
    )
    assert process.stdout is not None
    process.stdout.readline()  # said once it listens
    monkeypatch.setenv("SSH_AUTH_SOCK", str(place))
    yield
    process.terminate()
    process.stdout.close()
    process.wait()


@pytest.mark.usefixtures("agent")
def test_a_key_is_used_through_its_agent(tmp_path: Path) -> None:
    """With the public half and an agent that holds the key, its file is not needed."""
    key = ssh_key(tmp_path / "key")
    subprocess.run(["ssh-add", "-q", str(key)], check=True, stdin=subprocess.DEVNULL, env=dict(os.environ))
    key.unlink()
    name, signature = sign(DATA, tmp_path / "key.pub")
    assert check(DATA, name, signature, tmp_path / "key.pub").signer == "key.pub"


def test_what_is_no_key_is_refused(keys: Path, tmp_path: Path) -> None:
    """A file that is not there, and one that is something else, to sign with and to check against."""
    (tmp_path / "text").write_text("hello\n")
    name, signature = sign(DATA, keys / "own")
    for path in (tmp_path / "nothing", tmp_path / "text"):
        with pytest.raises(UsageError, match="--sign"):
            sign(DATA, path)
    with pytest.raises(UsageError, match=r"cannot be read.*--signer"):
        check(DATA, name, signature, tmp_path / "nothing")
    with pytest.raises(UsageError, match="is a private key; give the public one"):
        check(DATA, name, signature, keys / "own")
    assert "which is not in" in check(DATA, name, signature, tmp_path / "text").problem
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match=r"named pipe.*--sign\."):
        sign(DATA, tmp_path / "pipe")
    with pytest.raises(UsageError, match=r"named pipe.*--signer"):
        check(DATA, name, signature, tmp_path / "pipe")


def test_a_signer_may_come_out_of_a_pipe_of_the_shell(keys: Path) -> None:
    """As in ``--signer <(curl …)``."""
    name, signature = sign(DATA, keys / "own")
    reading, writing = os.pipe()
    os.write(writing, (keys / "own.pub").read_bytes())
    os.close(writing)
    try:
        assert check(DATA, name, signature, Path(f"/dev/fd/{reading}")).valid
    finally:
        os.close(reading)


def test_a_minisign_signature(minisign_keys: Path) -> None:
    """It is told whose it is; the public key alone says whether it holds."""
    name, signature = sign(DATA, minisign_keys / "own")
    assert sign(DATA, minisign_keys / "own") == (name, signature)
    report = check(DATA, name, signature, None)
    assert (name, report.kind, report.valid, report.problem) == ("bundle.json.minisig", "minisign", None, "")
    assert report.key.lstrip("0") in (minisign_keys / "own.pub").read_text()  # which minisign writes without zeros
    report = check(DATA, name, signature, minisign_keys / "own.pub")
    assert (report.valid, report.signer, report.problem) == (True, "own.pub", "")
    for data, signer in ((DATA + b" ", "own"), (DATA, "other")):
        report = check(data, name, signature, minisign_keys / f"{signer}.pub")
        assert (report.valid, report.signer) == (False, "")
        assert "is not the one of" in report.problem


@pytest.mark.parametrize("key", [b"", b"AAAA"])
def test_what_is_no_minisign_signature_is_nobodys(key: bytes) -> None:
    """It is not said to be signed by anybody, with or without a key to check it with."""
    text = b"untrusted comment: x\n" + key + b"\ntrusted comment: y\nAAAA\n"
    report = check(DATA, "bundle.json.minisig", text, None)
    assert (report.valid, report.key) == (False, "")
    assert "it has not the form of a minisign signature" in report.problem


def test_nothing_follows_a_signature(keys: Path, minisign_keys: Path) -> None:
    """What comes after it is signed by nobody."""
    for name, signature in (sign(DATA, keys / "own"), sign(DATA, minisign_keys / "own")):
        for more in (b"x\n", signature):
            assert check(DATA, name, signature + more, None).valid is False


def test_kinds_of_keys_are_not_mixed_up(keys: Path, minisign_keys: Path) -> None:
    """An SSH signature is not minisign's, nor the other way round."""
    assert "not by minisign" in check(DATA, *sign(DATA, keys / "own"), minisign_keys / "own.pub").problem
    assert "no minisign public key" in check(DATA, *sign(DATA, minisign_keys / "own"), keys / "own.pub").problem


def test_a_program_that_is_not_there_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What to install is said."""
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "key").write_text("some key")
    with pytest.raises(MachineError, match=r"ssh-keygen is not on this machine; install it \(package openssh-client\)"):
        sign(DATA, tmp_path / "key")
