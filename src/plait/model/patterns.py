"""Configuration by weight: one value for all, or an ordered mapping from path patterns or site kinds to values."""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, Generic, TypeVar

from plait.site import KINDS

T = TypeVar("T")


def matches(pattern: str, path: str, kind: str) -> bool:
    """Whether a pattern names a weight.

    A site kind names all weights of that kind. Any other pattern is a glob that must match a run of whole components
    of the path: "encoder", "layers.0", "*.weight" and "layers.*.bias" all do what they look like.
    """
    if pattern in KINDS:
        return pattern == kind
    return fnmatchcase(f".{path}.", f"*.{pattern}.*") or fnmatchcase(path, pattern)


class Choice(Generic[T]):
    """The value for each weight; patterns that match nothing are an error."""

    def __init__(self, option: str, value: Any, paths: Sequence[tuple[str, str]], fallback: T):
        is_mapping = isinstance(value, Mapping)
        self._rules: list[tuple[str, T]] = list(value.items()) if is_mapping else []
        self._fallback: Any = fallback if is_mapping else value
        self.is_one_for_all = not is_mapping
        for pattern, _ in self._rules:
            if not isinstance(pattern, str):
                raise TypeError(f"`{option}`: a pattern is a string, got {pattern!r}")
            if not any(matches(pattern, path, kind) for path, kind in paths):
                known = "\n  ".join(f"{path} ({kind})" for path, kind in paths)
                raise ValueError(
                    f"`{option}`: the pattern {pattern!r} matches no weight. Site kinds are {', '.join(KINDS)}; "
                    f"the weights are\n  {known}"
                )

    def rule(self, path: str, kind: str) -> int | None:
        """Which rule of a mapping names the weight: the first that matches."""
        return next((i for i, (pattern, _) in enumerate(self._rules) if matches(pattern, path, kind)), None)

    def of(self, path: str, kind: str) -> T:
        index = self.rule(path, kind)
        return self._fallback if index is None else self._rules[index][1]
