"""Which errors are messages to the user, and how they are worded on the command line.

The library raises a ValueError or TypeError on purpose to say what was expected, what came and what to do; the system
raises an OSError where a file cannot be had. Those are messages. Whatever else ends a command - and any ValueError that
some line of code merely ran into - is a bug, and its traceback is wanted.
"""

import dataclasses
import dis
import re
from typing import Any

DELIBERATE = dis.opmap["RAISE_VARARGS"]


def is_message(error: BaseException) -> bool:
    """Whether an error is one that Plait raised on purpose, or the system's about a file."""
    if isinstance(error, OSError):
        return True
    if not isinstance(error, (ValueError, TypeError)) or error.__traceback__ is None:
        return False
    innermost = error.__traceback__
    while innermost.tb_next is not None:
        innermost = innermost.tb_next
    owner = innermost.tb_frame.f_globals.get("__name__", "")
    raised = innermost.tb_frame.f_code.co_code[innermost.tb_lasti] == DELIBERATE
    return raised and owner.split(".")[0] == "plait"


def worded(error: BaseException, command: Any) -> str:
    """The message, with options as they are typed: `batch_size` becomes --batch-size."""
    options = set(_names(command))

    def typed(match: re.Match[str]) -> str:
        # `num_samples` is called --samples here.
        name = match[1].removeprefix("num_")
        return "--" + name.replace("_", "-") if name in options else match[0]

    return re.sub(r"`(\w+)`", typed, str(error))


def _names(options: Any) -> list[str]:
    names = []
    for field in dataclasses.fields(options):
        value = getattr(options, field.name)
        names += _names(value) if dataclasses.is_dataclass(value) else [field.name]
    return names
