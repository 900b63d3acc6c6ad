"""Signatures over a bundle's list, made and checked by the programs that people have: ssh-keygen and minisign.

The programs read the key themselves; it is neither read into this process, nor copied, nor printed.  Nobody is asked
for a passphrase: a protected key is used through its agent, by naming its public half.
"""

import contextlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchwright.core.errors import MachineError, UsageError
from benchwright.store.bundle import SIGNATURES
from benchwright.store.bundle_signatures import flaw_of_form, minisign_id

NAMESPACE = "benchwright"
"""What an SSH signature says that it is for, so that one made for another purpose does not pass."""

_SSH, _MINISIGN = SIGNATURES
_SECONDS = 60.0
"""A security key waits for a touch."""
_MINISIGN_MARK = b"untrusted comment:"
_SIGNERS_BYTES = 1 << 24
"""More than any list of allowed signers has."""
_KEY_TYPES = ("ssh-", "ecdsa-", "sk-ssh-", "sk-ecdsa-")
_FINGERPRINT = re.compile(r"(SHA256:[A-Za-z0-9+/=]{20,60})")
_PRINCIPAL = "signer"
_PUBLIC = ".pub"
"""What ssh-keygen appends to a key's name for its public half."""
_PACKAGES = {"ssh-keygen": "openssh-client", "minisign": "minisign"}


@dataclass(frozen=True, slots=True, kw_only=True)
class SignatureReport:
    """What a signature is worth."""

    kind: str
    """``ssh`` or ``minisign``."""
    key: str
    """Fingerprint (``SHA256:…``) or minisign's key id of who signed; empty when that cannot be told."""
    valid: bool | None
    """Whether the signature is that key's over these bytes; None where that takes the public key, which was not
    given."""
    signer: str
    """By which name the key was accepted; empty when it was checked against nobody."""
    problem: str
    """Why the signature does not hold; empty when it does, or cannot be told."""


def sign(data: bytes, key: Path) -> tuple[str, bytes]:
    """Sign bytes; returns the signature's name in a bundle, and the signature.

    Args:
        data: What is signed.
        key: An SSH private key, the public half of a key that an agent holds, or minisign's secret key.

    Raises `UsageError` when the key cannot be used without asking for a passphrase, or at all.
    """
    first = _start(key, len(_MINISIGN_MARK), f"The key {key}", "name a key file with --sign")
    if first == _MINISIGN_MARK:
        return _MINISIGN, _sign_minisign(data, key)
    done = _run(["ssh-keygen", "-Y", "sign", "-n", NAMESPACE, "-f", str(key)], data)
    if done.returncode or not done.stdout.startswith(b"-----BEGIN SSH SIGNATURE-----"):
        raise UsageError(_why_unsigned(key, _last_line(done)))
    return _SSH, done.stdout


def _why_unsigned(key: Path, said: str) -> str:
    if "passphrase" in said:
        return (
            f"The key {key} has a passphrase, which is not asked for; add it to ssh-agent (ssh-add) and give its "
            f"public half: --sign {key if key.suffix == _PUBLIC else f'{key}{_PUBLIC}'}."
        )
    if "agent" in said or "find" in said:
        return f"The private half of {key} is neither beside it nor in ssh-agent ({said}); add it with ssh-add."
    return f"ssh-keygen could not sign with {key} ({said}); give an SSH or minisign key with --sign."


def _sign_minisign(data: bytes, key: Path) -> bytes:
    with _file_of(data) as message:
        signature = message.with_suffix(".minisig")
        files = ["-s", str(key.resolve()), "-m", str(message), "-x", str(signature)]
        # Its own comments would hold the time and a file's name: the same bundle would be signed otherwise each time.
        comments = ["-t", "benchwright result bundle", "-c", "signature of a benchwright result bundle"]
        done = _run(["minisign", "-S", *files, *comments])
        if done.returncode or not signature.exists():
            raise UsageError(
                f"minisign could not sign with {key} ({_last_line(done)}); a key with a password cannot be used here, "
                f"for nobody is asked for it."
            )
        return signature.read_bytes()


def check(data: bytes, name: str, signature: bytes, signer: Path | None) -> SignatureReport:
    """Say what a signature over bytes is worth.

    Args:
        data: What was signed.
        name: The signature's name in the bundle.
        signature: Its bytes.
        signer: A public key (SSH or minisign), or a file of allowed signers as OpenSSH has it; None checks the
            signature against nobody.

    Raises `UsageError` when ``signer`` cannot be used, `MachineError` when the program to check with is not there.
    """
    what, advice = f"The signer's key {signer}", "give a public key or a file of allowed signers with --signer"
    known = None if signer is None else _start(signer, _SIGNERS_BYTES, what, advice)
    if why := flaw_of_form(name, signature):
        kind = "minisign" if name == _MINISIGN else "ssh"
        problem = f"the signature is not one over this bundle ({why})"
        return SignatureReport(kind=kind, key="", valid=False, signer="", problem=problem)
    with _file_of(signature) as file:
        if name == _MINISIGN:
            return _check_minisign(data, signature, file, signer, known)
        key = _fingerprint(data, file)
        if signer is None or known is None:
            return key
        if known.startswith(_MINISIGN_MARK):
            return _other(key, f"the bundle is signed by the SSH key {key.key}, not by minisign as {signer} is")
        return key if key.problem else _check_ssh(data, file, signer, known, key)


def _start(path: Path, count: int, what: str, advice: str) -> bytes:
    """The first bytes of a file, or of a pipe that the shell has opened already (it is at no path).

    A named pipe that nobody writes to would be waited for without end.
    """
    try:
        if path.is_fifo() and path.resolve().exists():
            raise UsageError(f"{what} cannot be read (it is a named pipe); {advice}.")
        with path.open("rb") as file:
            return file.read(count)
    except OSError as error:
        raise UsageError(f"{what} cannot be read ({error.strerror}); {advice}.") from error


def _fingerprint(data: bytes, signature: Path) -> SignatureReport:
    """Whether it is any key's signature over these bytes, and whose."""
    done = _run(["ssh-keygen", "-Y", "check-novalidate", "-n", NAMESPACE, "-s", str(signature)], data)
    found = _FINGERPRINT.search(done.stdout.decode(errors="replace"))
    good = done.returncode == 0 and found is not None
    return SignatureReport(
        kind="ssh",
        key=found[1] if found else "",
        valid=good,
        signer="",
        problem="" if good else f"the signature is not one over this bundle ({_last_line(done)})",
    )


def _check_ssh(data: bytes, signature: Path, signer: Path, known: bytes, key: SignatureReport) -> SignatureReport:
    with contextlib.ExitStack() as stack:
        text = known.decode(errors="replace")
        lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
        if lines and all(line.startswith(_KEY_TYPES) for line in lines):
            allowed = "".join(f'{_PRINCIPAL} namespaces="{NAMESPACE}" {line}\n' for line in lines)
            signer_file = stack.enter_context(_file_of(allowed.encode()))
            names = [_PRINCIPAL]
        elif "PRIVATE KEY" in text:
            raise UsageError(f"{signer} is a private key; give the public one with --signer.")
        else:
            signer_file = signer.resolve()
            done = _run(["ssh-keygen", "-Y", "find-principals", "-s", str(signature), "-f", str(signer_file)])
            names = done.stdout.decode(errors="replace").split("\n")
        for name in filter(None, names):
            arguments = ["-f", str(signer_file), "-I", name, "-n", NAMESPACE, "-s", str(signature)]
            if _run(["ssh-keygen", "-Y", "verify", *arguments], data).returncode == 0:
                accepted = signer.name if name == _PRINCIPAL else name
                return SignatureReport(kind="ssh", key=key.key, valid=True, signer=accepted, problem="")
    return _other(key, f"the bundle is signed by the key {key.key}, which is not in {signer}")


def _other(key: SignatureReport, problem: str) -> SignatureReport:
    return SignatureReport(kind=key.kind, key=key.key, valid=key.valid, signer="", problem=problem)


def _check_minisign(
    data: bytes, signature: bytes, file: Path, signer: Path | None, known: bytes | None
) -> SignatureReport:
    key = minisign_id(signature)
    if signer is None or known is None:
        return SignatureReport(kind="minisign", key=key, valid=None, signer="", problem="")
    if not known.startswith(_MINISIGN_MARK):
        problem = f"the bundle is signed by the minisign key {key}; {signer} is no minisign public key"
        return SignatureReport(kind="minisign", key=key, valid=None, signer="", problem=problem)
    with _file_of(data) as message:
        done = _run(["minisign", "-V", "-p", str(signer.resolve()), "-m", str(message), "-x", str(file)])
    good = done.returncode == 0
    problem = "" if good else f"the signature is not the one of {signer} over this bundle ({_last_line(done)})"
    return SignatureReport(kind="minisign", key=key, valid=good, signer=signer.name if good else "", problem=problem)


def _run(arguments: list[str], data: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    """Run a program that may not ask anybody anything: no terminal, no window."""
    program = shutil.which(arguments[0])
    if program is None:
        package = _PACKAGES[arguments[0]]
        raise MachineError(f"{arguments[0]} is not on this machine; install it (package {package}).")
    environ = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "SSH_ASKPASS")}
    try:
        return subprocess.run(
            [program, *arguments[1:]],
            input=b"" if data is None else data,
            capture_output=True,
            check=False,
            start_new_session=True,  # without a terminal there is nobody to ask
            env={**environ, "SSH_ASKPASS_REQUIRE": "never", "LC_ALL": "C"},
            timeout=_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise MachineError(
            f"{arguments[0]} gave no answer for {_SECONDS:.0f} s; does the key wait for a touch?"
        ) from None
    except OSError as error:
        raise MachineError(f"{arguments[0]} cannot be started ({error.strerror}).") from error


def _last_line(done: subprocess.CompletedProcess[bytes]) -> str:
    lines = [line.strip() for line in done.stderr.decode(errors="replace").splitlines() if line.strip()]
    text = lines[-1] if lines else f"status {done.returncode}"
    return "".join(character if character.isprintable() else " " for character in text)[:160].rstrip(".")


@contextlib.contextmanager
def _file_of(data: bytes) -> Iterator[Path]:
    """Bytes as a file in a private folder."""
    with tempfile.TemporaryDirectory(prefix="benchwright-signature-") as folder:
        path = Path(folder) / "content"
        path.write_bytes(data)
        yield path
