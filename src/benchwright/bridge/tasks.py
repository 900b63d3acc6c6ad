"""A benchmark as an Inspect task: prompts in, verdicts out."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from inspect_ai import Task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageUser, GenerateConfig
from inspect_ai.scorer import Scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver

from benchwright.benchmarks.base import Benchmark, ProblemSet
from benchwright.bridge.scoring import LEAD, PROBLEM
from benchwright.core.prompts import Mode, Prompt


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
        stop = [*settings.pop("stop_seqs", ()), *self.prompt(self.problems.problems[0].id).stop]
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


@solver(name="ask")
def ask() -> Solver:
    """Send the prompt, take the answer."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        return await generate(state)

    return solve
