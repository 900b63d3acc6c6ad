from string import Template

DEFAULT_FIELDS = {"greeting": "Hello", "closing": "Kind regards"}


def task_func(template: str, fields: dict) -> str:
    """
    Fill a letter template that marks its fields as $name or ${name}. A field is taken from fields; when it is
    not there, or its value is None, the value in DEFAULT_FIELDS is used. A doubled dollar sign stands for
    one dollar sign. Values that are not strings are inserted as str() shows them.

    Parameters:
    - template (str): The text with marked fields.
    - fields (dict): Values by field name. It may hold names which the template does not use.

    Returns:
    - str: The text with every field filled in.

    Raises:
    - KeyError: If the template uses a field without a value.
    - ValueError: If a dollar sign in the template does not mark a field.

    Requirements:
    - string.Template

    Example:
    >>> task_func("$greeting, $name!", {"name": "Ada"})
    'Hello, Ada!'
    >>> task_func("${closing}: $$5", {"closing": None})
    'Kind regards: $5'
    """
    values = dict(DEFAULT_FIELDS)
    values.update({name: value for name, value in fields.items() if value is not None})
    return Template(template).substitute(values)
