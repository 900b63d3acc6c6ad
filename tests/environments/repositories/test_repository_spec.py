"""Repository specifications: the shipped ones hold SWE-bench's facts, and a user's file is read or refused clearly."""

import dataclasses
import gzip
import inspect
import json
import os
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchwright.core.digest import digest_of
from benchwright.core.errors import UsageError
from benchwright.environments.repositories import spec as specs

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "reference" / "repository-specs.md"

OWN = """
schema = 1
repo = "acme/rockets"
source = "us"

[defaults]
python = "3.11"
packages = [["pytest==8.3.2"]]
environ = { A = "1", B = "2" }
test = "pytest -rA"
runner = "pytest"

[[block]]
versions = ["1", "2"]

[[block]]
versions = ["2"]
python = "3"
environ = { B = "3" }
extend.packages = [["hypothesis"]]
extend.reinstall = ["*.pyx"]
"""


def own(text: str = OWN, version: str = "1") -> specs.RepositorySpec:
    """One version out of a file's text."""
    return next(one for one in specs.parse_specs(text, file="own.toml") if one.version == version)


def rows(name: str) -> list[dict[str, Any]]:
    """Rows of the real data; skips where it is absent."""
    folder = Path(os.environ.get("BENCHWRIGHT_TEST_DATA", ROOT.parent / "shared" / "data")) / "swebench"
    if not folder.is_dir():
        pytest.skip(f"the real data is not at {folder}; set BENCHWRIGHT_TEST_DATA")
    with gzip.open(folder / name, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


# The shipped ones.


def test_the_shipped_specifications_cover_the_official_tables() -> None:
    """As many versions of each of the twelve repositories as SWE-bench 2.1.0 lists."""
    assert Counter(repo for repo, _ in specs.load_specs()) == {
        "astropy/astropy": 16,
        "django/django": 18,
        "matplotlib/matplotlib": 17,
        "mwaskom/seaborn": 3,
        "pallets/flask": 4,
        "psf/requests": 27,
        "pydata/xarray": 7,
        "pylint-dev/pylint": 10,
        "pytest-dev/pytest": 16,
        "scikit-learn/scikit-learn": 5,
        "sphinx-doc/sphinx": 30,
        "sympy/sympy": 14,
    }


def test_every_pair_of_verified_has_a_specification() -> None:
    """The 500 rows name 80 pairs of repository and version, all of them shipped, mostly with Python 3.9."""
    all_rows = rows("verified_500_statements.jsonl.gz")
    pairs = {(row["repo"], row["version"]) for row in all_rows}
    pythons = Counter(specs.spec_for(row["repo"], row["version"]).python for row in all_rows)
    assert len(pairs) == 80
    assert pythons == {"3.9": 241, "3.6": 140, "3.11": 52, "3.8": 42, "3.10": 22, "3.5": 2, "3.7": 1}


def test_every_shipped_specification_is_complete() -> None:
    """Each has a source, deviations, a date, own modules, and installs the project with what its tests need."""
    for spec in specs.load_specs().values():
        assert spec.source.startswith("SWE-bench 2.1.0")
        assert spec.deviations and spec.project_modules and spec.packages_until
        assert spec.editable == ("-e " in spec.install)
        extra = re.search(r"-e (\S+)", spec.install)
        assert spec.requirement == (extra[1] if extra else ".")
        assert not (spec.requirement_files and spec.environment_files)


@pytest.mark.parametrize(
    ("repo", "version", "facts"),
    [
        (
            "django/django",
            "1.9",
            {"python": "3.5", "test": "./tests/runtests.py --verbosity 2", "locales": ("en_US.UTF-8",)},
        ),
        ("django/django", "5.0", {"python": "3.11", "environ": {"TZ": "Etc/UTC"}, "locales": ()}),
        (
            "sphinx-doc/sphinx",
            "7.2",
            {
                "runner": specs.Runner.TOX_PYTEST,
                "log_parser": "pytest-v2",
                "pre_install": ("sed -i 's/pytest/pytest -rA/' tox.ini",),
                "system_packages": ("graphviz",),
            },
        ),
        (
            "pylint-dev/pylint",
            "3.0",
            {"requirement_files": ("requirements_test.txt",), "packages": (("astroid==3.0.0a6", "setuptools"),)},
        ),
        (
            "sympy/sympy",
            "1.12",
            {"packages": (("mpmath", "flake8"), ("mpmath==1.3.0", "flake8-comprehensions")), "log_parser": "sympy"},
        ),
        ("pytest-dev/pytest", "7.2", {"project_modules": ("pytest", "_pytest", "py")}),
        ("psf/requests", "2.9", {"editable": False, "log_parser": "pytest-options"}),
    ],
)
def test_facts_of_some_versions(repo: str, version: str, facts: dict[str, Any]) -> None:
    """What the official tables say, version by version, where blocks overlap."""
    spec = specs.spec_for(repo, version)
    assert {name: getattr(spec, name) for name in facts} == facts


def test_setup_of_sphinx_4_1_and_4_2_is_edited_differently() -> None:
    """Twelve versions share six edits; two more depend on how setup.py spells the requirement."""
    steps = {version: specs.spec_for("sphinx-doc/sphinx", version).pre_install for version in ("3.5", "4.1", "4.2")}
    assert all(len(one) == 9 for one in steps.values())
    assert len({one[:7] for one in steps.values()}) == 1
    assert len({one[7:] for one in steps.values()}) == 3


def test_directives_of_real_rows_are_the_official_ones() -> None:
    """For 44 rows of django, sphinx, sympy, pytest, requests and flask, as swebench 2.1.0 computes them."""
    found = {}
    for row in rows("verified_mini_rows.jsonl.gz") + rows("working_instances.jsonl.gz"):
        spec = specs.spec_for(row["repo"], row["version"])
        found[row["instance_id"]] = list(specs.test_directives(spec, row["test_patch"]))
    assert found["django__django-12325"] == [
        "invalid_models_tests.test_models",
        "invalid_models_tests.test_relative_fields",
        "migrations.test_state",
    ]
    assert len(found) == 44
    assert digest_of(found) == "b600f57346972943068668274476d75f931170b7332a9066002656bd2067a5b5"


# Looking one up.


def test_an_unknown_version_is_answered_with_how_to_add_it() -> None:
    """The message has the versions that exist, in their order, and the page that describes the file."""
    with pytest.raises(UsageError, match=r"'9' of pallets/flask \(there are: 2\.0, 2\.1, 2\.2, 2\.3\); to add it"):
        specs.spec_for("pallets/flask", "9")


def test_an_unknown_repository_is_answered_with_near_misses() -> None:
    """A typing error is told the right name; something else altogether is not."""
    with pytest.raises(UsageError, match=r"did you mean pallets/flask\?"):
        specs.spec_for("palets/flask", "2.3")
    with pytest.raises(UsageError, match=r"version '1' of zzz/qqq; to add it"):
        specs.spec_for("zzz/qqq", "1")


def test_a_users_folder_adds_and_replaces(tmp_path: Path) -> None:
    """A new repository is there, one version of a shipped one is the user's, the others are as shipped."""
    (tmp_path / "rockets.toml").write_text(OWN, encoding="utf-8")
    flask = OWN.replace("acme/rockets", "pallets/flask").replace('["1", "2"]', '["2.3"]').replace('["2"]', '["9"]')
    (tmp_path / "flask.toml").write_text(flask, encoding="utf-8")
    assert specs.spec_for("acme/rockets", "2", specs.load_specs(tmp_path)).python == "3"
    assert specs.spec_for("pallets/flask", "2.3", specs.load_specs(tmp_path)).packages == (("pytest==8.3.2",),)
    assert specs.spec_for("pallets/flask", "9", specs.load_specs(tmp_path)).version == "9"
    assert specs.spec_for("pallets/flask", "2.2", specs.load_specs(tmp_path)) == specs.spec_for("pallets/flask", "2.2")
    assert len(specs.load_specs(tmp_path)) == len(specs.load_specs()) + 3


def test_two_files_of_the_user_must_not_specify_the_same(tmp_path: Path) -> None:
    """Which of them holds would depend on their names."""
    (tmp_path / "a.toml").write_text(OWN, encoding="utf-8")
    (tmp_path / "b.toml").write_text(OWN, encoding="utf-8")
    with pytest.raises(UsageError, match=r"a\.toml and .*b\.toml both specify version '1' of acme/rockets"):
        specs.load_specs(tmp_path)


def test_a_folder_that_is_not_there_and_a_file_that_is_no_text_are_refused(tmp_path: Path) -> None:
    """Neither is taken for an empty one."""
    with pytest.raises(UsageError, match="does not exist"):
        specs.load_specs(tmp_path / "nowhere")
    (tmp_path / "a.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match=r"a\.toml cannot be read"):
        specs.load_specs(tmp_path)


# Reading a file.


def test_later_blocks_override_merge_and_extend() -> None:
    """Texts and lists are replaced, tables merged, and extend adds to a default as well as to a given list."""
    first, second = own(), own(version="2")
    assert (first.python, second.python) == ("3.11", "3")
    assert second.environ == {"A": "1", "B": "3"}
    assert second.packages == (("pytest==8.3.2",), ("hypothesis",))
    assert second.reinstall == ("setup.py", "setup.cfg", "pyproject.toml", "*.pyx")
    assert first.reinstall == ("setup.py", "setup.cfg", "pyproject.toml")


def test_a_users_file_gets_nothing_of_the_shipped_defaults() -> None:
    """No date and no constraints of SWE-bench's in somebody's own repository."""
    spec = own()
    assert (spec.packages_until, spec.install, spec.editable, spec.deviations) == (None, "", False, ())
    assert spec.base_packages == ("pip", "setuptools", "wheel")
    assert (spec.log_parser, spec.directives) == ("pytest", specs.Directives.FILES)


@pytest.mark.parametrize(("runner", "parser"), [("tox-pytest", "pytest-v2"), ("django", "django"), ("sympy", "sympy")])
def test_the_runner_decides_the_log_parser_unless_it_is_given(runner: str, parser: str) -> None:
    """A user need not know our names of log parsers."""
    text = OWN.replace('runner = "pytest"', f'runner = "{runner}"')
    assert own(text).log_parser == parser
    assert own(text.replace("runner =", 'log_parser = "seaborn"\nrunner =')).log_parser == "seaborn"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("schema = 1", "schema = ", "own.toml is not valid TOML"),
        ("schema = 1", "schema = 2", "own.toml: schema must be 1, but is 2"),
        ('repo = "acme/rockets"', "", "own.toml: repo must be a text of one line, but is None"),
        ('repo = "acme/rockets"', 'repo = "rockets"', "repo must be of the form owner/name, but is 'rockets'"),
        ('source = "us"', "", "own.toml: source must be a text"),
        ('source = "us"', 'source = "us"\nversion = "1"', "at its top: there is no key 'version'"),
        ('python = "3.11"', "", "own.toml: version '1' has no python; give it in"),
        ('python = "3.11"', "python = 3.11", r"defaults: python must be a Python version such as \"3.9\""),
        ('python = "3.11"', 'python = "2.7"', "but is '2.7'"),
        (
            'runner = "pytest"',
            'runner = "nose"',
            "runner must be one of pytest, tox-pytest, django, sympy, but is 'nose'",
        ),
        (
            'runner = "pytest"',
            'runner = "pytest"\nlog_parser = "x"',
            "log_parser must be one of pytest, pytest-options",
        ),
        ('packages = [["pytest==8.3.2"]]', 'packages = ["pytest"]', "packages must be a list of groups"),
        ('packages = [["pytest==8.3.2"]]', "packages = [[1]]", "packages: group 1: entry 1 must be a text"),
        ('packages = [["pytest==8.3.2"]]', 'constraints = "a"', "constraints must be a list of texts, but is 'a'"),
        ('packages = [["pytest==8.3.2"]]', 'editable = "yes"', "editable must be true or false, but is 'yes'"),
        ('packages = [["pytest==8.3.2"]]', 'packages_until = "2024-08-15"', "must be a date without quotes"),
        ('packages = [["pytest==8.3.2"]]', "packages_until = 2024-08-15T00:00:00", "must be a date without quotes"),
        ('environ = { A = "1", B = "2" }', "environ = { A = 1 }", "environ.A must be a text of one line, but is 1"),
        ('environ = { A = "1", B = "2" }', 'environ = "A=1"', "environ must be a table, but is 'A=1'"),
        ('test = "pytest -rA"', 'test = "pytest -rA"\ntset = "x"', "there is no key 'tset'; did you mean test?"),
        ('versions = ["1", "2"]', "versions = []", "block 1: versions must name at least one version"),
        ('versions = ["1", "2"]', 'versions = "1"', "block 1: versions must be a list of texts, but is '1'"),
        ("extend.reinstall", "extend.test", "block 2: extend: there is no key 'test'"),
        ('python = "3"', 'pyhton = "3"', "block 2: there is no key 'pyhton'; did you mean python?"),
    ],
)
def test_what_is_wrong_in_a_file_is_said_with_file_and_key(old: str, new: str, message: str) -> None:
    """One plain sentence each: what was expected and what came."""
    assert old in OWN
    with pytest.raises(UsageError) as error:
        specs.parse_specs(OWN.replace(old, new, 1), file="own.toml")
    assert message.replace('\\"', '"') in str(error.value)
    assert str(error.value).startswith("own.toml")


def test_a_file_without_blocks_is_refused() -> None:
    """It would specify nothing, silently."""
    with pytest.raises(UsageError, match=r"own\.toml: at least one \[\[block\]\]"):
        specs.parse_specs(OWN[: OWN.index("[[block]]")], file="own.toml")


@pytest.mark.parametrize(
    "change",
    [
        {"packages": (("pytest==8.3.3",),)},
        {"constraints": ("six<2",)},
        {"python": "3.12"},
        {"environ": {"A": "2"}},
        {"test": "pytest -rA -x"},
        {"version": "3"},
    ],
)
def test_the_digest_changes_with_what_is_built_or_run(change: dict[str, Any]) -> None:
    """Environments and results of different specifications never mix."""
    assert dataclasses.replace(own(), **change).digest != own().digest


def test_the_digest_does_not_change_with_words() -> None:
    """A better explanation rebuilds nothing."""
    assert dataclasses.replace(own(), source="them", deviations=("none",)).digest == own().digest


# Requirement files.


def reading(**keys: Any) -> specs.RepositorySpec:
    """A specification that reads files."""
    return dataclasses.replace(own(), **keys)


def test_included_requirement_files_come_first_and_the_checkout_is_left_out() -> None:
    """As for pylint and matplotlib: -r relative to the file, markers kept, comments and -e . gone."""
    files = {
        "requirements/dev/all.txt": "-r ../tests.txt\n# words\ntox>=3  # runs it\n-e .[testutils]\n\n.[test]\nsix\n",
        "requirements/tests.txt": '--prefer-binary\npytest~=7.1\nattrs; python_version < "3.9"\nsix\n-r min.txt\n',
        "requirements/min.txt": "astroid @ git+https://example.org/astroid@abc#egg\n",
    }
    spec = reading(requirement_files=("old.txt", "requirements/dev/all.txt"))
    assert specs.requirements_from(spec, files) == (
        "astroid @ git+https://example.org/astroid@abc#egg",
        "pytest~=7.1",
        'attrs; python_version < "3.9"',
        "six",
        "tox>=3",
    )


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "acme/rockets has none of a.txt, b.txt at the environment commit of version '1'"),
        ({"a.txt": "-r c.txt\n"}, "a.txt includes c.txt, which is not there"),
        ({"a.txt": "-r b.txt\n", "b.txt": "-r a.txt\n"}, "b.txt includes a.txt, which includes it in turn"),
        ({"a.txt": "-c limits.txt\n"}, "The line '-c limits.txt' of a.txt is no plain requirement"),
        ({"a.txt": "six==1 \\\n"}, "is no plain requirement"),
    ],
)
def test_a_requirement_file_that_cannot_be_followed_is_refused(files: dict[str, str], message: str) -> None:
    """Nothing that the repository asks for is dropped without a word."""
    with pytest.raises(UsageError) as error:
        specs.requirements_from(reading(requirement_files=("a.txt", "b.txt")), files)
    assert message in str(error.value)


def test_an_environment_file_gives_its_dependencies_under_their_names_on_pypi() -> None:
    """Conda's spellings of versions, channels and names, with the pip list among them; Python itself is left out."""
    text = """# words
---
name: tests
channels:
  - conda-forge
dependencies:
  # the interpreter
  - python>=3.8
  - hdf5
  - Iris    # renamed
  - conda-forge::numpy =1.19
  - "scipy=1.5.2=py39_0"
  - pandas !=0.25.0, <2
  - nbconvert[execute]!=6.0.0
  - six 1.16.0
  - pip:
      - numbagg
      - flox>=0.5
  - zarr
variables:
  - not this
"""
    spec = reading(environment_files=("environment.yml",), conda_names={"hdf5": "", "iris": "scitools-iris"})
    assert specs.requirements_from(spec, {"environment.yml": text}) == (
        "scitools-iris",
        "numpy==1.19.*",
        "scipy==1.5.2.*",
        "pandas!=0.25.0,<2",
        "nbconvert[execute]!=6.0.0",
        "six==1.16.0",
        "numbagg",
        "flox>=0.5",
        "zarr",
    )


@pytest.mark.parametrize("line", ["  numpy: 1", "  - {numpy: 1}"])
def test_an_environment_file_of_another_form_is_refused(line: str) -> None:
    """The reader knows lists of texts and nothing else of YAML."""
    with pytest.raises(UsageError, match=r"numpy: 1.* of e\.yml"):
        specs.requirements_from(reading(environment_files=("e.yml",)), {"e.yml": f"dependencies:\n{line}\n"})


def test_without_named_files_there_are_no_requirements() -> None:
    """The repository's files are then not looked at."""
    assert specs.requirements_from(own(), {"requirements.txt": "six"}) == ()


# Tests to run.

PATCH = """diff --git a/tests/a/test_one.py b/tests/a/test_one.py
--- a/tests/a/test_one.py
+++ b/tests/a/test_one.py
@@ -1 +1,2 @@
 x = 1
+text = '''
+diff --git a/tests/inner.py b/tests/inner.py
diff --git a/tests/a/data.json b/tests/a/data.json
diff --git a/tests/old.py b/lib/new_test.py
similarity index 100%
"""


def test_directives_are_the_test_files_of_the_patch() -> None:
    """Data files are none, a renamed file counts under its new name, and contents are not taken for headers."""
    assert specs.test_directives(own(), PATCH) == ("tests/a/test_one.py", "lib/new_test.py")


def test_labels_are_dotted_modules_below_their_root() -> None:
    """Django's runner wants a.test_one for tests/a/test_one.py; files elsewhere keep their whole path."""
    spec = reading(directives=specs.Directives.LABELS, label_root="tests")
    assert specs.test_directives(spec, PATCH) == ("a.test_one", "lib.new_test")


def test_a_directive_that_the_shell_would_read_otherwise_is_quoted() -> None:
    """Ordinary names are appended as they are."""
    command = specs.test_command(own(), ["tests/test_a.py", "tests/it's; rm.py"])
    assert command == """pytest -rA tests/test_a.py 'tests/it'"'"'s; rm.py'"""


@pytest.mark.parametrize(
    ("keys", "changed", "expected"),
    [
        ({"install": "pip install -e .", "editable": True}, ["src/a.py"], False),
        ({"install": "pip install -e .", "editable": True}, ["src/a.py", "sub/setup.py"], True),
        ({"install": "pip install -e .", "editable": True, "reinstall": ("a/*.c",)}, ["b/a/x.c"], False),
        ({"install": "pip install -e .", "editable": True, "reinstall": ("a/*.c",)}, ["a/b/x.c"], True),
        ({"install": "pip install .", "editable": False}, ["src/a.py"], True),
        ({"install": "", "editable": False}, ["setup.py"], False),
    ],
)
def test_another_installation_is_needed_when_the_tests_would_not_see_the_change(
    keys: dict[str, Any], changed: list[str], expected: bool
) -> None:
    """Copies always, editable installations for what installing reads, never where nothing is installed."""
    assert specs.needs_reinstall(reading(**keys), changed) is expected


# What is written about it.


def example_of_the_page() -> str:
    """The TOML block of the reference page."""
    return PAGE.read_text(encoding="utf-8").split("```toml\n")[1].split("```")[0]


def example_of_the_module() -> str:
    """The TOML block of the module's docstring."""
    block = (specs.__doc__ or "").split(".. code-block:: toml\n")[1].split("\nEvery key")[0]
    return inspect.cleandoc(block)


@pytest.mark.parametrize("example", [example_of_the_page, example_of_the_module])
def test_examples_in_the_documentation_are_valid(example: Callable[[], str]) -> None:
    """Both give two versions."""
    assert [one.version for one in specs.parse_specs(example(), file="example.toml")] == ["1", "2"]


def test_the_page_explains_every_key_and_no_other() -> None:
    """The table's first column is the list of keys."""
    fields = {field.name for field in dataclasses.fields(specs.RepositorySpec)} - {"repo", "version", "source"}
    table = PAGE.read_text(encoding="utf-8").split("## Keys")[1].split("\n## ")[0]
    assert sorted(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == sorted(fields)
