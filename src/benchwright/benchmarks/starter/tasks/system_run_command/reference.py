import subprocess
import time

TIMEOUT_SECONDS = 20
TIMEOUT_CODE = 124


def task_func(command: list, stdin_text: str = "") -> dict:
    """
    Run a program without a shell and report on it. The program gets stdin_text as its standard input. A
    program that takes longer than TIMEOUT_SECONDS is stopped and has the code TIMEOUT_CODE and no output.

    Parameters:
    - command (list): The program and its arguments, at least the program.
    - stdin_text (str): What the program can read. Default is "".

    Returns:
    - dict: "code" (the exit code), "lines" (the lines of the standard output without line ends), "errors" (the
      standard error as text with surrounding white space removed) and "seconds" (the time taken, a float).

    Raises:
    - ValueError: If the command is empty.
    - FileNotFoundError: If there is no such program.

    Requirements:
    - subprocess
    - time

    Example:
    >>> import sys
    >>> task_func([sys.executable, "-c", "print('a'); print('b')"])["lines"]
    ['a', 'b']
    """
    if not command:
        raise ValueError("the command is empty")
    start = time.monotonic()
    try:
        done = subprocess.run(
            command, input=stdin_text, capture_output=True, text=True, timeout=TIMEOUT_SECONDS
        )
        code, output, errors = done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired:
        code, output, errors = TIMEOUT_CODE, "", ""
    seconds = time.monotonic() - start
    return {"code": code, "lines": output.splitlines(), "errors": errors.strip(), "seconds": seconds}
