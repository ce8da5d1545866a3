"""What is known of a set before a file of it is opened."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from plait.data.dataset import Task
from plait.data.parts import Parts, Reading


@dataclass(frozen=True)
class Remote:
    """A file at its public home."""

    url: str
    checksum: str
    """With its kind: `sha256:` or `md5:`."""
    size: int
    """Bytes."""


@dataclass(frozen=True)
class Form:
    """One way in which a set is stored: files below a data folder that must all be there, and their reader."""

    files: tuple[str, ...]
    read: Callable[[Sequence[Path], Reading], Parts]
    keys: tuple[str, ...] = ()
    """Arrays that an npz must have to be of this form."""
    remotes: tuple[Remote, ...] = ()
    """Where each of the files can be downloaded."""


@dataclass(frozen=True)
class Entry:
    """A set with a name."""

    name: str
    title: str
    task: Task
    sizes: tuple[int, int, int]
    """Examples for training, validation and test by default."""
    input_shape: tuple[int, ...]
    forms: tuple[Form, ...]
    """In the order in which they are looked for."""
    num_classes: int | None = None
    class_names: tuple[str, ...] = ()
    splits: int | None = 1
    """Fixed splits, or None where `split` seeds a shuffle."""
    pixel_levels: int | None = None
    """The largest value of a pixel, for images in bytes."""
    tokens: bool = False
    """Whether the inputs are sequences of word ids."""

    @property
    def download(self) -> Form | None:
        """The form that can be downloaded."""
        return next((form for form in self.forms if form.remotes), None)
