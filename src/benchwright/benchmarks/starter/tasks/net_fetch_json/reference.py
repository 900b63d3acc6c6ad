import json
import urllib.error
import urllib.request

USER_AGENT = "starter-client/1.0"
TIMEOUT_SECONDS = 5
RETRY_CODES = {429, 503}
MAX_ATTEMPTS = 3


def task_func(url: str) -> dict:
    """
    Fetch a JSON object over HTTP with urllib.request.urlopen. The call gets a Request with the headers
    User-Agent (USER_AGENT) and Accept ("application/json"), and TIMEOUT_SECONDS as its timeout. After an HTTP
    error whose code is in RETRY_CODES the request is made again at once, up to MAX_ATTEMPTS requests in total.
    The response is closed.

    Parameters:
    - url (str): The address.

    Returns:
    - dict: "attempts" (the number of requests made), "status" (the HTTP status) and "data" (the object, or None
      if the last answer was an HTTP error).

    Raises:
    - ConnectionError: If the server cannot be reached (urllib.error.URLError that is not an HTTP error).
    - ValueError: If the answer is not a JSON object.

    Requirements:
    - json
    - urllib

    Example:
    >>> import io
    >>> from unittest import mock
    >>> answer = io.BytesIO(b'{"ok": true}')
    >>> answer.status = 200
    >>> with mock.patch("urllib.request.urlopen", return_value=answer):
    ...     task_func("http://service.example/state")
    {'attempts': 1, 'status': 200, 'data': {'ok': True}}
    """
    request = urllib.request.Request(url, headers={"User-Agent": USER_AGENT, "Accept": "application/json"})
    attempts = 0
    while True:
        attempts += 1
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as response:
                status = response.status
                body = response.read()
            break
        except urllib.error.HTTPError as error:
            if error.code not in RETRY_CODES or attempts >= MAX_ATTEMPTS:
                return {"attempts": attempts, "status": error.code, "data": None}
        except urllib.error.URLError as error:
            raise ConnectionError(f"cannot reach {url}: {error.reason}") from error
    data = json.loads(body.decode("utf-8"))
    if not isinstance(data, dict):
        raise ValueError("the answer is not a JSON object")
    return {"attempts": attempts, "status": status, "data": data}
