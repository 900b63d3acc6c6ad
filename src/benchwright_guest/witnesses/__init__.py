"""Witnesses: code that sits in a repository's own Python and says what each of its tests did.

A line in the environment's ``site-packages`` runs :mod:`start` at each start of Python, wherever the test command
starts one.  It watches the imports and, when a test runner's modules arrive, loads the witness of that runner
(:mod:`for_pytest`, :mod:`for_unittest`, :mod:`for_sympy`), which reports over a socket the host listens on
(:mod:`channel`): what has been said cannot be taken back.

Line forms, one JSON object each, in this order on every connection::

    {"session": {"runner": "pytest", "version": "7.4.4", "root": "/testbed"}}
    {"test": id, "names": [id, ...], "outcome": "passed", "detail": ""}
    {"interference": "what was changed in the runner"}
    {"closed": {"tests": 1, "status": 0}}

The outcomes are ``passed``, ``failed``, ``error``, ``skipped``, ``expected_failure`` and ``unexpected_success``.

A witness shares its process with the code under test, so it can be silenced, and lines can be forged by whoever finds
the socket.  The host counts silence as no evidence, lets a failing report beat a passing one, and repeats a run that
seems right with failing statements in the tests.

These files run on Python 3.5 and newer with the standard library alone.  They are executed from where they lie, not
imported: nothing of them is to be found in ``sys.modules`` or ``sys.path``, which test suites look at.
"""
