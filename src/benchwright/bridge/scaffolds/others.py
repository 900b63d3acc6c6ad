"""Claude Code, Codex and mini-swe-agent, driven through inspect_swe: the one file that knows it.

Their programs run in the sandbox, where they are mounted read-only, and ask Inspect's bridge there for the model.  They
keep their own tools and their own prompts; switched off is what would need a network, and what would ask again after an
error, because our side has done that already.
"""

import contextlib
import functools
import os
import shlex
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from inspect_ai.agent import Agent, AgentState, agent
from inspect_ai.model import Model, ModelName, get_model
from inspect_ai.util import sandbox

from benchwright.bridge.accounts import Account
from benchwright.bridge.scaffolds import limit_command
from benchwright.bridge.scaffolds.base import PROGRAM_ORIGIN, SHARED, ReadyScaffold, ScaffoldSettings
from benchwright.bridge.scaffolds.mini_program import NAME as MINI
from benchwright.bridge.scaffolds.mini_program import mini_program
from benchwright.bridge.scaffolds.programs import Program, find_program, program_source
from benchwright.bridge.scaffolds.watching import Watch, watch_calls
from benchwright.core.errors import SandboxFault, UsageError
from benchwright.environments.home import default_home

IDENTITY = "identity"
"""An option: the model that the program takes itself to be talking to.  Its prompts and tools depend on it; by default
it is the name of the model that answers."""
_PREPARE_SECONDS = 60
"""A program of 400 MB that is not in the page cache yet is read from the disk first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherScaffold:
    """A scaffold whose program somebody else makes; see `Scaffold`."""

    name: str
    command: str
    """The program's name on the `PATH`."""
    find: Callable[[ScaffoldSettings], Program]
    """Finds the program that the user names, or a version of it; see `find_program`."""
    make: Callable[[str, str | None], Agent]
    """Makes inspect_swe's agent; given the `PATH` that the program is to have, and the model it is to take itself to
    be talking to, if that is not the model's name."""
    libraries: tuple[str, ...] = ("inspect_swe", "openai")
    """What it needs on our side: inspect_swe, and what reads the requests of the program."""
    before: Callable[[Program], None] = lambda program: None
    """What is done once, before a run."""

    @property
    def tools(self) -> tuple[str, ...]:
        """None: such a program explains its own."""
        return ()

    def ready(self, model: Model, settings: ScaffoldSettings) -> ReadyScaffold:
        """Look for inspect_swe and the program; see `Scaffold.ready`.

        Raises `UsageError` as well for what `find_program` raises it for, and `MachineError` when the program cannot
        be fetched.  Without `ScaffoldSettings.fetch` a program that is not here is no error: nothing is mounted, and
        the fact `PROGRAM_ORIGIN` says what would be fetched.
        """
        strange = sorted(set(settings.options) - {IDENTITY})
        if strange:
            raise UsageError(f"The scaffold {self.name} has no option {strange[0]!r}; it knows {IDENTITY!r} only.")
        versions = _versions(self.name, self.libraries)
        program = self.find(settings)
        if settings.fetch:
            self.before(program)
        watch_calls(model)
        return ReadyScaffold(
            facts={
                "inspect_swe": versions["inspect_swe"],
                "program": f"{self.name} {program.version}".strip(),
                PROGRAM_ORIGIN: program.origin,
            },
            shared={f"{SHARED}/{self.name}": program.folder} if program.here else {},
            forms={},
            limit_command=True,
        )

    def agent(self, settings: ScaffoldSettings, account: Account) -> Agent:
        """An agent for one sample; see `Scaffold.agent`."""
        program = self.find(settings)

        @agent(name=self.name)
        def at_work() -> Agent:
            async def execute(state: AgentState) -> AgentState:
                await limit_command.prepare(account)
                path = await self._prepare(program, account)
                return await Watch(account).run(self.make(path, settings.options.get(IDENTITY)), state)

            return execute

        return at_work()

    async def _prepare(self, program: Program, account: Account) -> str:
        """Put the program and the command for limits on the sandbox's `PATH`; the program's own `PATH` comes back."""
        folder = f"{SHARED}/{self.name}"
        script = f"""
            case ":$PATH:" in *:/usr/local/bin:*) bin=/usr/local/bin;; *) bin="${{PATH%%:*}}";; esac
            mkdir -p "$bin" &&
            ln -sfn {shlex.quote(f"{folder}/{program.entry}")} "$bin/{self.command}" &&
            {limit_command.INSTALL} "$bin/{limit_command.TOKENS_LEFT}" &&
            "$bin/{self.command}" --version | head -n 1 && echo "$PATH"
        """
        done = await sandbox().exec(["sh", "-c", script], timeout=_PREPARE_SECONDS)
        words = done.stdout.splitlines()
        if not done.success or len(words) != 2:
            said = (done.stderr or done.stdout).strip()
            raise SandboxFault(f"{self.command} does not start in the sandbox: {said}")
        account.facts["program_says"] = words[0]
        return ":".join([*(f"{folder}/{place}" for place in program.path), words[1]])


def _versions(name: str, libraries: Iterable[str]) -> dict[str, str]:
    """The versions of what a scaffold needs on our side; raises `UsageError` when something is not installed."""
    try:
        return {library: metadata.version(library) for library in libraries}
    except metadata.PackageNotFoundError as error:
        raise UsageError(
            f"The scaffold {name} needs {error.name}, which is not installed; install benchwright with its extra "
            "'scaffolds' (in a checkout: python -m pip install -e '.[scaffolds]')."
        ) from error


_found: dict[tuple[str, Path | None, str | None], Program] = {}
"""What `ready` has found, for the agents: by scaffold, and the program and the version that were asked for."""


def _once(name: str, settings: ScaffoldSettings, search: Callable[[], Program]) -> Program:
    """What was found before, else what a search finds; a program that is not here is searched for again."""
    key = (name, settings.program, settings.version)
    if key in _found:
        return _found[key]
    program = search()
    if program.here:
        _found[key] = program
    return program


def _of_npm(name: str, settings: ScaffoldSettings) -> Program:
    search = functools.partial(
        find_program,
        program_source(name),
        given=settings.program,
        version=settings.version,
        environ=os.environ,
        home=default_home(os.environ),
        fetch=settings.fetch,
        say=settings.say,
    )
    return _once(name, settings, search)


def _mini(settings: ScaffoldSettings) -> Program:
    search = functools.partial(
        mini_program,
        settings.program,
        settings.version,
        os.environ,
        default_home(os.environ),
        fetch=settings.fetch,
        say=settings.say,
    )
    return _once(MINI, settings, search)


def _claude_code(path: str, identity: str | None) -> Agent:
    from inspect_swe import claude_code

    return claude_code(
        version="sandbox",
        model_config=identity,
        disallowed_tools=["WebSearch", "WebFetch"],
        retry_refusals=None,
        retry_uncaught_errors=None,
        env={"PATH": path, **_CLAUDE_CODE_ENVIRON},
    )


_HOURS = str(24 * 3600 * 1000)
"""Milliseconds: longer than any reply takes, for a program whose model our side waits for."""

_CLAUDE_CODE_ENVIRON: Mapping[str, str] = {
    "CLAUDE_CODE_MAX_RETRIES": "0",
    "CLAUDE_CODE_DISABLE_REFUSAL_RETRY": "1",
    "CLAUDE_CODE_DISABLE_REFUSAL_FALLBACK": "1",
    "API_TIMEOUT_MS": _HOURS,
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_ERROR_REPORTING": "1",
}


def _codex(path: str, identity: str | None) -> Agent:
    from inspect_swe import codex_cli

    return codex_cli(
        version="sandbox",
        model_config=identity,
        web_search="disabled",
        home_dir="$HOME/.codex",  # else it is in the repository
        retry_refusals=None,
        env={"PATH": path},
        config_overrides={
            "model_providers.openai-proxy.request_max_retries": "0",
            "model_providers.openai-proxy.stream_max_retries": "0",
            "check_for_update_on_startup": "false",
            "allow_login_shell": "false",  # a login shell would replace the image's PATH by the distribution's
            "features.plugins": "false",  # they are looked for with git and over the network
            "features.apps": "false",
        },
    )


def _keep_catalog(program: Program) -> None:
    """Give inspect_swe the list of models that Codex brings; it would look for it on the network in every sample.

    Without the list it takes one of its own, after some seconds, so that nothing here has to succeed.
    """
    try:
        from inspect_swe._codex_cli.agentbinary import _cached_catalog_path
    except ImportError:
        return  # another version, which keeps it elsewhere
    place = _cached_catalog_path(program.version)
    if not program.version or place.exists():
        return
    with tempfile.TemporaryDirectory() as folder, contextlib.suppress(OSError, subprocess.TimeoutExpired):
        done = subprocess.run(
            [program.folder / program.entry, "debug", "models", "--bundled"],
            env={"HOME": folder, "CODEX_HOME": folder},
            capture_output=True,
            text=True,
            check=False,
            timeout=_PREPARE_SECONDS,
        )
        if done.returncode == 0:
            place.write_text(done.stdout, "utf-8")


def _mini_swe_agent(path: str, identity: str | None) -> Agent:
    from inspect_swe import mini_swe_agent

    model = get_model()
    dialect = "anthropic" if ModelName(model).api == "anthropic" else "openai"
    return mini_swe_agent(
        version="sandbox",
        # The model itself: for OpenAI's it would open another, past our meter.
        model_aliases={"inspect": model},
        retry_refusals=None,
        env={
            "PATH": path,
            "MSWEA_MODEL_NAME": f"{dialect}/{identity or 'inspect'}",
            "MSWEA_MODEL_RETRY_STOP_AFTER_ATTEMPT": "1",
            "MSWEA_COST_TRACKING": "ignore_errors",  # it does not know what the model costs; our side does
            "MSWEA_SILENT_STARTUP": "1",
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        },
    )


CLAUDE_CODE = OtherScaffold(
    name="claude-code",
    command="claude",
    find=functools.partial(_of_npm, "claude-code"),
    make=_claude_code,
    libraries=("inspect_swe", "anthropic"),
)
CODEX = OtherScaffold(
    name="codex", command="codex", find=functools.partial(_of_npm, "codex"), make=_codex, before=_keep_catalog
)
MINI_SWE_AGENT = OtherScaffold(name=MINI, command="mini", find=_mini, make=_mini_swe_agent)
