"""Which runs of programs are attempts to reach another machine.

A program that could reach one is told from one that would by what it is given: ``curl localhost:8000`` and
``pip install -e .`` would not.  That a text mentions an address is nothing; that a program is handed one is.
"""

import re
from collections.abc import Iterator, Sequence

from benchwright.judging.integrity_python import Call, Program
from benchwright.judging.integrity_runs import Run

_LOCAL = re.compile(r"(.*\.)?localhost|127\.[\d.]+|0\.0\.0\.0|\[?::1\]?|\[::\]", re.IGNORECASE)
_URL = re.compile(
    r"(?:https?|ftps?|sftp|ssh|git|git\+\w{1,20}|wss?)://(?:[^/@\s]*@)?(\[[^\]]{0,100}\]|[^/:?#\s'\"]*)", re.IGNORECASE
)
_HOST = re.compile(
    r"(?:[^/@\s]+@)?([\w-]+(?:\.[\w-]+)+|localhost|\[?::1\]?)(?::[\d$][^\s/?]*)?(?:[/?].*)?", re.IGNORECASE
)
_LONGEST_URL = 2_000  # characters that are looked at to find its host
_CLUSTER = re.compile(r"-[A-Za-z]+")
_REMOTE_PATH = re.compile(r"(?:[\w.-]+@)?([\w.-]{2,}):(?!//).*")  # of scp and of git
_SOCKET_FILE = re.compile(r"/dev/(?:tcp|udp)/([^/]+)/")
# Code hosts, package indexes, and places where the work may be found done.
_KNOWN_PLACES = re.compile(
    r"(^|[./@])(github\.com|githubusercontent\.com|gitlab\.com|bitbucket\.org|sourceforge\.net|codeberg\.org|"
    r"savannah\.gnu\.org|pypi\.org|pypi\.python\.org|pythonhosted\.org|anaconda\.(org|com)|npmjs\.(org|com)|"
    r"crates\.io|rubygems\.org|proxy\.golang\.org|debian\.org|ubuntu\.com|huggingface\.co|stackoverflow\.com|"
    r"readthedocs\.(io|org)|web\.archive\.org|swebench\.com)$",
    re.IGNORECASE,
)

# Each with the letters of its short options that take a value, so that one is not taken for a target.
_FETCHERS = {
    "curl": "XHdouAebcFTmwKEPUtx",
    "wget": "OoPUtTeiQ",
    **dict.fromkeys(("wget2", "aria2c", "axel", "http", "https", "lynx", "w3m", "links", "elinks", "xdg-open"), "o"),
}
_FETCHER_OPTIONS = frozenset(
    {"--request", "--header", "--data", "--data-raw", "--data-binary", "--data-urlencode", "--json", "--output",
     "--user", "--user-agent", "--referer", "--cookie", "--cookie-jar", "--form", "--upload-file", "--max-time",
     "--connect-timeout", "--write-out", "--retry", "--cacert", "--cert", "--key", "--unix-socket", "--resolve"}
)  # fmt: skip
_CONNECTORS = frozenset(
    {"ssh", "sftp", "telnet", "nc", "ncat", "netcat", "ftp", "lftp", "ping", "ping6", "traceroute", "tracepath", "mtr",
     "dig", "nslookup", "host", "whois", "ssh-keyscan"}
)  # fmt: skip
_COPIERS = frozenset({"scp", "rsync"})
_SOCAT = re.compile(r"(?:TCP[46]?|UDP[46]?|OPENSSL|SSL):([^:,]+)", re.IGNORECASE)

_PIP = re.compile(r"pip[\d.]*")
_PIP_VERBS = frozenset({"install", "download", "wheel", "search", "index"})
_PIP_OPTIONS = frozenset(
    {"-c", "-i", "-f", "-t", "-b", "-C", "-d", "-w", "--constraint", "--index-url", "--extra-index-url", "--find-links",
     "--target", "--prefix", "--root", "--python", "--log", "--platform", "--python-version", "--implementation",
     "--abi", "--config-settings", "--upgrade-strategy", "--progress-bar", "--timeout", "--retries", "--cache-dir",
     "--trusted-host", "--global-option", "--no-binary", "--only-binary", "--src", "--dest", "--wheel-dir", "--report"}
)  # fmt: skip
_PIP_LISTS = frozenset({"-r", "--requirement"})  # files that name packages
_PIP_LOOKS_UP = frozenset({"-o", "--outdated", "-u", "--uptodate"})
_OFFLINE = frozenset({"--no-index", "--offline", "--no-download", "--help", "-h", "--version"})
# Programs that fetch packages, with those of their verbs that ask a server.
_FETCHES = frozenset({"install", "add", "update", "upgrade", "download", "search", "fetch"})
_PACKAGERS = (
    ({"apt", "apt-get", "aptitude"}, _FETCHES | {"dist-upgrade", "full-upgrade", "source", "build-dep", "changelog"}),
    ({"conda", "mamba", "micromamba"}, _FETCHES | {"create"}),
    ({"npm", "yarn", "pnpm"}, _FETCHES | {"i", "ci", "view", "info", "outdated", "audit", "dlx", "up", "pack"}),
    ({"yum", "dnf", "apk", "brew", "gem", "cargo", "poetry", "pdm", "pipenv", "flit"}, _FETCHES),
    ({"pipx"}, _FETCHES | {"run", "inject"}),
    ({"uv"}, {"add", "sync", "lock", "tool", "python"}),
    ({"go"}, {"get"}),
    ({"docker", "podman"}, {"pull", "push", "login", "search"}),
    ({"svn", "hg", "bzr"}, {"checkout", "co", "clone", "pull", "push", "update", "incoming"}),
    ({"huggingface-cli", "hf", "kaggle", "aws", "gsutil"}, {"download", "upload", "s3", "cp"}),
    ({"gh", "hub", "glab"}, {"api", "pr", "issue", "repo", "search", "browse", "release", "clone"}),
)
_TWO_VERBS = frozenset(
    {("conda", "env", "create"), ("conda", "env", "update"), ("mamba", "env", "create"), ("mamba", "env", "update"),
     ("go", "mod", "download"), ("go", "mod", "tidy")}
)  # fmt: skip
_GIT_VALUES = frozenset({"-C", "-c", "--git-dir", "--work-tree", "--namespace"})
_GIT_OPTIONS = frozenset({"-b", "--branch", "--depth", "-o", "--origin", "-j", "--jobs", "--filter", "--reference"})
_GIT_REMOTE = frozenset({"clone", "fetch", "pull", "push", "ls-remote"})

# Programs for which an address is text like any other.
_HANDLES_TEXT = frozenset(
    {"", "grep", "egrep", "fgrep", "rg", "ag", "ack", "sed", "awk", "gawk", "perl", "echo", "printf", "cat", "tee",
     "test", "[", "[[", "export", "local", "declare", "readonly", "read", "alias", "set", "return", "true", ":",
     "cd", "ls", "find", "head", "tail", "less", "more", "diff", "patch", "sort", "uniq", "tr", "cut", "wc", "jq",
     "touch", "mkdir", "rm", "cp", "mv", "ln", "pytest", "man", "which", "type", "apply_patch", "applypatch",
     "basename", "dirname", "expr", "submit"}
)  # fmt: skip

_CLIENTS = frozenset({"requests", "httpx", "urllib3", "aiohttp"})
_CLIENT_VERBS = frozenset({"get", "post", "put", "patch", "delete", "head", "options", "request", "stream", "send"})
_CONNECTING = frozenset(
    {"urlopen", "urlretrieve", "create_connection", "open_connection", "gethostbyname", "getaddrinfo",
     "HTTPConnection", "HTTPSConnection", "ServerProxy", "SMTP", "SMTP_SSL", "FTP", "FTP_TLS"}
)  # fmt: skip
_REPLACED = frozenset({"responses", "requests_mock", "httpretty", "mock", "unittest", "respx", "vcr", "pytest_httpx"})


def network_attempt(run: Run) -> str:
    """What of a run would reach for another machine, fit for a table; empty when nothing would."""
    if run.code is not None and (said := _of_program(run.code)):
        return said
    return run.text if _reaches_out(run) else ""


def is_elsewhere(url: str) -> bool:
    """Whether a URL names another machine."""
    found = _URL.match(url[:_LONGEST_URL].strip())
    return found is not None and found[1] != "" and not _is_local(found[1])


def _is_local(host: str) -> bool:
    return _LOCAL.fullmatch(host) is not None


def _reaches_out(run: Run) -> bool:
    program, words = run.program, run.arguments
    sockets = [found[1] for word in (*run.files, *words) if (found := _SOCKET_FILE.match(word))]
    if any(not _is_local(host) for host in sockets):
        return True
    if program in _FETCHERS:
        return any(map(_is_target_elsewhere, _operands(words, _FETCHER_OPTIONS, _FETCHERS[program])))
    if program in _CONNECTORS:
        return not _listens(words) and any(map(_is_other_host, _operands(words)))
    if program in _COPIERS:
        return any(map(_is_remote_path, words))
    if program == "socat":
        return any(not _is_local(found[1]) for word in words if (found := _SOCAT.match(word)))
    if program == "openssl":
        return words[:1] == ("s_client",)
    if program == "git":
        return _git_reaches_out(words)
    if _PIP.fullmatch(program) or program in ("easy_install", "uvx"):
        return _pip_reaches_out(words if _PIP.fullmatch(program) else ("install", *words))
    if program == "uv" and words[:1] == ("pip",):
        return _pip_reaches_out(words[1:])
    if _packager_reaches_out(program, words):
        return True
    return program not in _HANDLES_TEXT and any(map(_is_known_place, words))


def _operands(words: Sequence[str], with_value: frozenset[str] = frozenset(), letters: str = "") -> Iterator[str]:
    """Words that are neither options nor values of options; ``letters`` are those of short options with a value."""
    place = 0
    while place < len(words):
        word = words[place]
        if not word.startswith("-"):
            yield word
        place += 2 if word in with_value or (_CLUSTER.fullmatch(word) and word[-1] in letters) else 1


def _is_target_elsewhere(word: str) -> bool:
    if "://" in word:
        return is_elsewhere(word)
    found = _HOST.fullmatch(word)
    return word.startswith("$") or (found is not None and not _is_local(found[1]))


def _listens(words: Sequence[str]) -> bool:
    return any(re.fullmatch(r"-[a-km-z]*l[a-z]*|--listen", word) for word in words)


def _is_other_host(word: str) -> bool:
    host = word.rpartition("@")[2]
    return re.search(r"[A-Za-z]|\d\.\d", host) is not None and not _is_local(host)


def _is_remote_path(word: str) -> bool:
    if "://" in word:
        return is_elsewhere(word)
    found = _REMOTE_PATH.fullmatch(word)
    return found is not None and not _is_local(found[1]) and not word.startswith((".", "/", "-"))


def _is_known_place(word: str) -> bool:
    hosts = [*_URL.findall(word), *(found[1] for found in [_REMOTE_PATH.fullmatch(word)] if found)]
    return any(_KNOWN_PLACES.search(host) for host in hosts)


def git_words(words: Sequence[str]) -> tuple[str, ...]:
    """The words of git behind its own options: the verb and what follows it."""
    place = 0
    while place < len(words) and words[place].startswith("-"):
        place += 2 if words[place] in _GIT_VALUES else 1
    return tuple(words[place:])


def _git_reaches_out(words: Sequence[str]) -> bool:
    verb, *rest = git_words(words) or ("",)
    operands = list(_operands(rest, _GIT_OPTIONS))
    if verb in _GIT_REMOTE:
        place = operands[0] if operands else ""
        if verb == "clone":
            return _is_remote_path(place)
        return not place.startswith((".", "/", "~", "file:"))
    if verb == "remote":
        return _remote_reaches_out(operands, rest)
    if verb == "submodule":
        return operands[:1] in (["update"], ["add"])
    if verb == "lfs":
        return operands[:1] in (["fetch"], ["pull"], ["clone"])
    return verb == "archive" and any(word.startswith("--remote") for word in rest)


def _remote_reaches_out(operands: Sequence[str], words: Sequence[str]) -> bool:
    """Whether ``git remote`` asks one, or names one for later."""
    if operands[:1] == ["update"]:
        return True
    asks = operands[:1] in (["show"], ["prune"]) and len(operands) > 1 and "-n" not in words
    return asks or any(map(_is_remote_path, operands))


def _pip_reaches_out(words: Sequence[str]) -> bool:
    if _OFFLINE.intersection(words):
        return False
    verb, *operands = [*_operands(words, _PIP_OPTIONS), ""]
    if verb == "list":
        return not _PIP_LOOKS_UP.isdisjoint(words)
    named = not _PIP_LISTS.isdisjoint(words) or any(word and not _is_local_package(word) for word in operands)
    return verb in _PIP_VERBS and named


def _is_local_package(word: str) -> bool:
    if "://" in word:
        return word.startswith("file:")
    return word.startswith((".", "/", "~")) or "/" in word or word.endswith((".whl", ".tar.gz", ".zip"))


def _packager_reaches_out(program: str, words: Sequence[str]) -> bool:
    if _OFFLINE.intersection(words):
        return False
    verbs = (*_operands(words), "", "")[:2]
    if (program, *verbs) in _TWO_VERBS:
        return True
    return any(program in programs and verbs[0] in asking for programs, asking in _PACKAGERS)


def _of_program(program: Program) -> str:
    """The first call of a Python program that would reach another machine."""
    if program.imports & _REPLACED:
        return ""
    for call in program.calls:
        host = _asked_host(call, program.imports)
        if host and not _is_local(host):
            return f"{call.name}: {host}"
    return ""


def _asked_host(call: Call, imports: frozenset[str]) -> str:
    """The machine that a call would speak to, as far as the program's text says; empty when it would to none."""
    first = call.texts[0] if call.texts else ""
    module, _, name = call.name.rpartition(".")
    if name in _CONNECTING:
        return _first_host(call.texts) or first
    if name in _CLIENT_VERBS and (module in _CLIENTS or imports & _CLIENTS):
        return _first_host(call.texts)
    if name in ("connect", "connect_ex") and "socket" in imports:
        return first
    return ""


def _first_host(texts: Sequence[str]) -> str:
    """The machine that the first URL among texts names; empty without any."""
    return next((found[1] for text in texts if (found := _URL.match(text[:_LONGEST_URL]))), "")
