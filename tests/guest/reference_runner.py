"""Runs test sources with unittest itself, in a plain process: ``[[answer, tests], ...]`` in, events per test out."""

import json
import sys
import types
import unittest


class Collector(unittest.TestResult):
    """Keeps what happened, by test name; what concerns a whole class or module under its fixture's name."""

    def __init__(self) -> None:
        """Start empty."""
        super().__init__()
        self.events: dict[str, list[str]] = {}

    def _add(self, test: unittest.TestCase, event: str) -> None:
        name = getattr(test, "_testMethodName", None) or test.id().partition(" ")[0]
        self.events.setdefault(name, []).append(event)

    def addSuccess(self, test: unittest.TestCase) -> None:
        """Note a success."""
        self._add(test, "passed")

    def addFailure(self, test: unittest.TestCase, err: object) -> None:
        """Note a failed assertion."""
        self._add(test, "failed")

    def addError(self, test: unittest.TestCase, err: object) -> None:
        """Note an error."""
        self._add(test, "error")

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        """Note a skip."""
        self._add(test, "skipped")

    def addExpectedFailure(self, test: unittest.TestCase, err: object) -> None:
        """Note a failure that was expected."""
        self._add(test, "expected_failure")

    def addUnexpectedSuccess(self, test: unittest.TestCase) -> None:
        """Note a success that was not."""
        self._add(test, "unexpected_success")

    def addSubTest(self, test: unittest.TestCase, subtest: unittest.TestCase, err: tuple | None) -> None:
        """Note what a sub-test did."""
        if err is not None:
            self._add(test, "failed" if issubclass(err[0], test.failureException) else "error")


def main() -> None:
    """Run everything and print one list."""
    everything = []
    for answer, tests in json.load(sys.stdin):
        module = types.ModuleType("__test__")
        sys.modules["__test__"] = module
        exec(answer, module.__dict__)
        exec(tests, module.__dict__)
        collector = Collector()
        unittest.TestLoader().loadTestsFromTestCase(module.TestCases).run(collector)
        everything.append(collector.events)
    print(json.dumps(everything))


if __name__ == "__main__":
    main()
