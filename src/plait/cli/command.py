"""What every command is: a dataclass whose fields are its options, documented, and a method that does the work."""

from abc import ABC, abstractmethod


class Command(ABC):
    """A command; the first line of its docstring is its help."""

    @abstractmethod
    def run(self) -> int:
        """Do it; the result is the exit code."""
