"""A benchmark as an Inspect task: prompts in, verdicts out."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from inspect_ai import Task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageUser, GenerateConfig
from inspect_ai.scorer import Scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver

from benchwright.benchmarks.base import Benchmark, ProblemSet
from benchwright.bridge.models import refuse_chat_endpoint, without_secrets
from benchwright.bridge.scoring import LEAD, PROBLEM
from benchwright.core.errors import UnknownNameError, UsageError
from benchwright.core.prompts import Mode, Prompt

# Settings of Inspect's that a run sees to itself, and what to use instead.
_OWN = {
    "temperature": "use --temperature",
    "max_tokens": "use --reply-tokens",
    "num_choices": "use --samples",
    "max_connections": "use --max-connections",
    "max_retries": "use --max-retries",
    "timeout": "use --timeout",
    "attempt_timeout": "use --timeout",
    "fallback_models": "another model's answers are another run",
    "batch": "a batch answers after hours, and a run waits for each call",
    "best_of": "use --samples",
    "cache": "a run keeps its replies itself",
    "extra_headers": "it would be written into the log; use --model-arg default_headers={...}, which is not",
}


def check_generation(settings: Mapping[str, Any]) -> None:
    """Raise `UsageError` for a setting of generation that Inspect does not have, or that a run sees to itself."""
    for name, value in settings.items():
        if name in _OWN:
            raise UsageError(f"The setting {name} cannot be given by --generate; {_OWN[name]}.")
        if name not in GenerateConfig.model_fields:
            raise UnknownNameError("setting of generation", name, GenerateConfig.model_fields)
        if isinstance(value, float) and not math.isfinite(value):
            raise UsageError(f"The setting {name} cannot be {value}.")
        if without_secrets({name: value}) != {name: value}:
            raise UsageError(f"The setting {name} holds a secret, which would be written into the log; leave it out.")
        try:
            GenerateConfig(**{name: value})
        except ValueError as error:
            raise UsageError(
                f"The setting {name} cannot be {value!r}; see GenerateConfig in Inspect's documentation."
            ) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a task asks: which problems, in which words, with which settings of generation."""

    benchmark: Benchmark
    problems: ProblemSet
    variant: str
    mode: Mode
    prefill: bool = False
    samples: int = 1
    """How often every problem is asked."""
    generation: Mapping[str, Any] = field(default_factory=dict)
    """Settings in the names of Inspect's ``GenerateConfig``, such as temperature and max_tokens."""

    def prompt(self, problem_id: str) -> Prompt:
        """The prompt of one of the problems."""
        problem = self.problems.problem(problem_id)
        return self.benchmark.prompt(problem, self.variant, mode=self.mode, prefill=self.prefill)

    @property
    def config(self) -> GenerateConfig:
        """Settings of generation together with the prompts' stop texts."""
        settings = dict(self.generation)
        stop = [*(settings.pop("stop_seqs", None) or ()), *self.prompt(self.problems.problems[0].id).stop]
        return GenerateConfig(**settings, stop_seqs=stop or None)


def messages_of(prompt: Prompt) -> list[ChatMessage]:
    """A prompt as the messages that are sent."""
    messages: list[ChatMessage] = [ChatMessageUser(content=prompt.text)]
    if prompt.prefill:
        messages.append(ChatMessageAssistant(content=prompt.prefill))
    return messages


def build_task(question: Question, *, solve: Solver, score: Scorer, name: str | None = None) -> Task:
    """The task of a question; one sample per problem, repeated as epochs."""
    problems = question.problems
    samples = []
    for problem in problems.problems:
        prompt = question.prompt(problem.id)
        metadata = {PROBLEM: problem.id, LEAD: prompt.lead, "tags": list(problem.tags)}
        samples.append(Sample(id=problem.id, input=messages_of(prompt), metadata=metadata))
    return Task(
        name=name or f"{problems.benchmark}_{question.variant}",
        dataset=MemoryDataset(samples, name=f"{problems.benchmark} {problems.version} ({problems.subset})"),
        solver=solve,
        scorer=score,
        epochs=question.samples,
        config=question.config,
        fail_on_error=False,
        metadata={
            "benchmark": problems.benchmark,
            "version": problems.version,
            "subset": problems.subset,
            "data_digest": problems.digest,
            "variant": question.variant,
            "mode": question.mode.value,
            "prefill": question.prefill,
            "template_digest": question.prompt(problems.problems[0].id).template_digest,
        },
    )


BASE_REPLY_TOKENS = 1280
"""Limit of a base model's reply, which has no end of its own: the default of bigcodebench 0.2.5."""


@solver(name="ask")
def ask(mode: str = Mode.CHAT.value) -> Solver:
    """Send the prompt, take the answer; in base mode only to a model that continues a raw text."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        if mode == Mode.BASE.value:
            refuse_chat_endpoint(str(state.model))
        return await generate(state)

    return solve
