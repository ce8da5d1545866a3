"""`plait` on the command line.

Exit codes: 0 done, 1 training failed or a bug (with its traceback), 2 something is wrong with what was asked for,
130 stopped by Ctrl-C.
"""

import os
import sys
from collections.abc import Sequence
from typing import Annotated, Any, Union

from plait.cli.command import Command
from plait.cli.compress import Compress
from plait.cli.datasets import Datasets
from plait.cli.evaluate import Evaluate
from plait.cli.inspect import Inspect
from plait.cli.message import is_message, worded
from plait.cli.predict import Predict
from plait.cli.reproduce import Reproduce
from plait.cli.shrink import Shrink
from plait.cli.train import Train
from plait.fit import NonFiniteLoss

COMMANDS: dict[str, type[Command]] = {
    "train": Train,
    "evaluate": Evaluate,
    "predict": Predict,
    "inspect": Inspect,
    "compress": Compress,
    "shrink": Shrink,
    "datasets": Datasets,
    "reproduce": Reproduce,
}
"""All commands, in the order of the help."""

FAILED, WRONG, STOPPED = 1, 2, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; the result is the exit code."""
    try:
        code = _run(_parse(sys.argv[1:] if argv is None else argv))
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # Whoever read the output has seen enough (`| head`); there is nowhere to write what is left.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED


def _run(command: Command) -> int:
    name = next(name for name, kind in COMMANDS.items() if isinstance(command, kind))
    try:
        return command.run()
    except KeyboardInterrupt:
        print(f"plait {name}: stopped by Ctrl-C", file=sys.stderr)
        return STOPPED
    except BrokenPipeError:
        raise
    except NonFiniteLoss as error:
        print(f"plait {name}: {error}", file=sys.stderr)
        return FAILED
    except Exception as error:
        if not is_message(error):
            raise
        print(f"plait {name}: {worded(error, command)}", file=sys.stderr)
        return WRONG


def _parse(argv: Sequence[str]) -> Command:
    import tyro

    kinds = tuple(
        Annotated[kind, tyro.conf.subcommand(name, description=kind.__doc__)] for name, kind in COMMANDS.items()
    )
    anyone: Any = Union[kinds]  # noqa: UP007
    return tyro.cli(
        anyone,
        prog="plait",
        description="Train networks that know what they do not know. `plait train` alone trains one on handwritten "
        "digits; `plait COMMAND --help` explains the options of a command.",
        args=list(argv),
        config=(tyro.conf.OmitArgPrefixes, tyro.conf.FlagCreatePairsOff, tyro.conf.DisallowNone),
    )
