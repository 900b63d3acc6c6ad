"""Replies that cost other tools right answers, or gave them wrong ones: cases 1 to 7 of the field report."""

import pytest
from extraction_programs import ENTRY, PLAIN, WRONG, code_of, refusal_of, results, run

from benchwright.answers.extraction import extract
from benchwright.core.answers import CodeAnswer
from benchwright.core.verdicts import Reason

SUMMARY = "```\n- takes `x`\n- adds one\n- O(1)\n```\n"
DEMO = "```python\nresult = task_func(1)\nassert result == 2\nprint(result)\n```\n"


@pytest.mark.parametrize("tag", ["py", "python", "Python3", ""])
@pytest.mark.parametrize(
    "after",
    [
        f"In short:\n\n{SUMMARY}",
        f"Try it:\n{DEMO}",
        f"Try it:\n{DEMO}which prints\n```\n2\n```\n{SUMMARY}",
        "```text\ntask_func adds one\n```\n",
        f"{DEMO}```bash\npython solution.py\n```\n",
    ],
)
def test_case_1_a_summary_or_demo_after_the_solution_is_not_the_answer(tag: str, after: str) -> None:
    """The block that defines the entry point is taken, whatever blocks come after it, and the rule is recorded."""
    answer = extract(f"Here you go.\n```{tag}\n{PLAIN}```\nIt adds one.\n\n{after}", entry_point=ENTRY)
    assert answer == CodeAnswer(code=PLAIN.strip(), strategy="fenced")


@pytest.mark.parametrize(
    "install",
    [
        "```bash\npip install numpy\n```\n",
        "```\npip install numpy\n```\n",
        "```sh\n$ conda install numpy\n```\n",
        "```python\n!pip install numpy\n```\n",
        "```python\n%pip install numpy\n```\n",
        "~~~shell\napt-get install python3-numpy\n~~~\n",
    ],
)
def test_case_2_an_install_line_is_not_the_answer(install: str) -> None:
    """A first block that installs something is passed over, with and without a language tag."""
    assert code_of(f"First install it:\n{install}Then:\n```python\n{PLAIN}```\n") == PLAIN.strip()


@pytest.mark.parametrize("between", ["", "\nThen the function:\n\n"])
@pytest.mark.parametrize("imports", ["import math", "from math import floor\nimport math", "import os, math"])
def test_case_2_an_imports_block_is_joined_with_the_function_that_needs_it(imports: str, between: str) -> None:
    """Imports in a block of their own come before the function of the next block, in order."""
    function = "def task_func(x):\n    return math.floor(x) + 1\n"
    answer = extract(f"```python\n{imports}\n```\n{between}```python\n{function}```\n", entry_point=ENTRY)
    assert isinstance(answer, CodeAnswer)
    assert answer.strategy == "joined"
    assert answer.code.index("math") < answer.code.index("def task_func")
    assert results(answer.code) == results(f"import math\n{function}")


def test_case_2_an_install_line_in_the_block_of_the_program_is_left_out() -> None:
    """Lines for a notebook or a shell within the program's own block do not make it unusable."""
    answer = extract(f"```python\n!pip install numpy\n%matplotlib inline\nimport os\n\n{PLAIN}```", entry_point=ENTRY)
    assert answer == CodeAnswer(
        code=f"import os\n\n{PLAIN}".strip(), strategy="fenced", notes=("lines that are no Python were left out: 2",)
    )


@pytest.mark.parametrize("closing", ["</think>", "</reasoning>", "[/THINK]", "<|end_of_thought|>", "◁/think▷"])
@pytest.mark.parametrize("answer", [PLAIN, f"```python\n{PLAIN}```\n", f"Here:\n\n{PLAIN}\nDone."])
@pytest.mark.parametrize(
    "draft",
    [
        f"First try.\n```python\n{WRONG}```\nNo, that is wrong.\n",
        f"First try.\n{WRONG}\n",
        f"It must split:\n```python\n{WRONG}text.split('CLOSING')\n```\nHm.\n",
        f"The `CLOSING` tag, or 'CLOSING'.\n```python\n{WRONG}```\n",
        f"A sample is\n```python\nSAMPLE = '''\nCLOSING\n'''\n{WRONG}```\nso.\n",
        f"Never closed:\n```python\n{WRONG}\n",
        f"Never closed:\n```\n{WRONG}\n",
    ],
)
def test_case_3_a_closing_tag_alone_ends_the_reasoning(closing: str, answer: str, draft: str) -> None:
    """Everything before the closing tag goes, even a draft that defines the entry point or quotes the tag."""
    reply = draft.replace("CLOSING", closing) + closing + "\n" + answer
    assert code_of(reply) == PLAIN.strip()


@pytest.mark.parametrize(
    "opening",
    [
        *("<think>", "<thinking>", "<reasoning>", "[THINK]", "<|begin_of_thought|>", "◁think▷", "<scratchpad>"),
        *("<|channel|>analysis<|message|>", "Sure.\n<thought>", "analysisWe need this. "),
    ],
)
@pytest.mark.parametrize("cut", [True, False])
@pytest.mark.parametrize(
    "draft", [PLAIN, f"```python\n{PLAIN}```\nSo this is right. Let me check", f"```python\n{PLAIN}"]
)
def test_case_4_unclosed_reasoning_is_never_graded(opening: str, cut: bool, draft: str) -> None:
    """A section that is never closed means a truncated reply, whatever right draft is in it."""
    assert refusal_of(f"{opening}\nLet me think.\n{draft}", cut=cut).reason is Reason.TRUNCATED


def test_case_4_reasoning_may_be_opened_by_the_prefill() -> None:
    """A section that the prefill opens is treated like one that the model opened itself."""
    draft = f"so\n```python\n{WRONG}```\n"
    assert refusal_of(draft, prefill="<think>\n").reason is Reason.TRUNCATED
    assert code_of(f"{draft}</think>\n```python\n{PLAIN}```", prefill="<think>\n") == PLAIN.strip()


FIRST_TOKENS = [
    PLAIN,
    "import math\n\ndef task_func(x):\n    return math.floor(x) + 1\n",
    "from math import floor\n\ndef task_func(x):\n    return floor(x) + 1\n",
    "class Adder:\n    def add(self, x):\n        return x + 1\n\ndef task_func(x):\n    return Adder().add(x)\n",
    "@(lambda f: f)\ndef task_func(x):\n    return x + 1\n",
    "async def later(x):\n    return x\n\ndef task_func(x):\n    later(x).close()\n    return x + 1\n",
    "# Adds one.\ndef task_func(x):\n    return x + 1\n",
    "ONE = 1\n\ndef task_func(x):\n    return x + ONE\n",
]


@pytest.mark.parametrize("program", FIRST_TOKENS)
@pytest.mark.parametrize(
    ("prefill", "opening"),
    [
        ("Here is the code:\n```python\n", ""),
        ("```python\n", ""),
        ("", ""),
        ("Here is the code:\n```python\n", "```python\n"),
        ("Here is the code:\n```python\n", "```\n"),
        ("```python\n", "Sure:\n```python\n"),
        ("Here is the code:\n", "```python\n"),
    ],
)
@pytest.mark.parametrize(
    "after", ["```\nThe function returns `x` plus one, that's all.\n", "```", "\n```\n\n- short\n"]
)
def test_case_5_a_prefilled_fence_costs_no_first_word(program: str, prefill: str, opening: str, after: str) -> None:
    """A continuation of a prefilled fence keeps its first word and loses its prose, re-opened or not."""
    assert code_of(opening + program + after, prefill=prefill) == program.strip()


JUNK = """\
import os
from functools import wraps

FACTOR = 3


def traced(f):
    @wraps(f)
    def inner(*a):
        return f(*a)
    return inner


def default():
    return FACTOR


@traced
def task_func(x, y=default()):
    def nested(z):
        return z * y
    return nested(x)
"""


@pytest.mark.parametrize(
    "demo",
    [
        "\nresult = task_func(4)\nprint(result)\nname = input('Name? ')\nprint(name)\n",
        "\n# Example usage\nif __name__ == '__main__':\n    print(task_func(int(input())))\n",
        (
            "\nimport unittest\n\nclass TestCases(unittest.TestCase):\n    def test_1(self):\n"
            "        self.assertEqual(task_func(1), 3)\n\nunittest.main()\n"
        ),
        "\nassert task_func(1) == 3\nfor n in range(3):\n    print(n, task_func(n))\n",
        "\ndef main():\n    print(task_func(2))\n\nmain()\n",
        "\nwhile True:\n    line = input()\n    if not line:\n        break\n",
    ],
)
def test_case_6_what_the_function_needs_is_kept_and_the_demo_is_not(demo: str) -> None:
    """Constants, helpers behind decorators and default arguments stay; demos are not executed."""
    assert code_of(f"```python\n{JUNK}{demo}```\n").rstrip() == JUNK.rstrip()


def test_case_6_a_function_with_a_nested_helper_does_not_become_empty() -> None:
    """The entry point is kept whole, however its helpers are nested and indented."""
    program = (
        "def task_func(x):\n    def outer(y):\n        def inner(z):\n            return z + 1\n\n"
        "        return inner(y)\n\n    return outer(x)\n"
    )
    assert code_of(program + "\n\ntask_func(2)\n") == program.strip()


def test_case_7_the_prompts_imports_and_signature_are_not_put_back() -> None:
    """What the answer leaves out stays out, and its own signature stays as it is: calibration is not ours."""
    program = "def task_func(values, size=7):\n    return math.floor(size)\n"
    code = code_of(f"```python\n{program}```")
    assert code == program.strip()
    with pytest.raises(NameError):
        run(code)["task_func"]([1])
    stub = "import math\ndef task_func(values, size=3):\n    pass\n"
    assert run(stub + code)["task_func"]([1]) == 7
