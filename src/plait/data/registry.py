"""All sets with a name."""

from plait.data.sets import binarized_mnist, cifar, embedded, imdb, mnist, uci
from plait.data.sets.entry import Entry
from plait.data.suggest import suggestion

ENTRIES: dict[str, Entry] = {
    entry.name: entry
    for entry in (
        *embedded.ENTRIES,
        *mnist.ENTRIES,
        binarized_mnist.ENTRY,
        *cifar.ENTRIES,
        imdb.ENTRY,
        *uci.ENTRIES,
    )
}


def names() -> tuple[str, ...]:
    """The names that `load` knows."""
    return tuple(ENTRIES)


def find_entry(name: str) -> Entry:
    """The entry of a name, or an error that lists the names and suggests one."""
    wanted = name.lower().replace("-", "_")
    if wanted in ENTRIES:
        return ENTRIES[wanted]
    raise ValueError(
        f"unknown data set {name!r}{suggestion(wanted, ENTRIES)}: known are {', '.join(ENTRIES)}; a file of your own "
        "is given by its path, which ends in .npz or .csv"
    )
