"""MNIST and Fashion-MNIST in the idx format; the last 10,000 training images are the validation part."""

from plait.data.formats import arrays, idx
from plait.data.sets.entry import Entry, Form, Remote

MNIST_HOME = "https://storage.googleapis.com/cvdf-datasets/mnist"
MNIST_FILES = (
    (9_912_422, "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609"),
    (28_881, "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c"),
    (1_648_877, "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6"),
    (4_542, "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6"),
)
FASHION_HOME = (
    "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/b2617bb6d3ffa2e429640350f613e3291e10b141"
    "/data/fashion"
)
FASHION_FILES = (
    (26_421_880, "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84"),
    (29_515, "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845"),
    (4_422_102, "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073"),
    (5_148, "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5"),
)
CLOTHES = (
    *("T-shirt/top", "trouser", "pullover", "dress", "coat"),
    *("sandal", "shirt", "sneaker", "bag", "ankle boot"),
)


def _entry(
    name: str, title: str, folder: str, home: str, files: tuple[tuple[int, str], ...], classes: tuple[str, ...]
) -> Entry:
    remotes = tuple(
        Remote(f"{home}/{file}.gz", f"sha256:{digest}", size)
        for file, (size, digest) in zip(idx.FILES, files, strict=True)
    )
    return Entry(
        name,
        title,
        "classification",
        sizes=(50_000, 10_000, 10_000),
        input_shape=(28, 28),
        forms=(
            Form(tuple(f"{name}/{file}.gz" for file in idx.FILES), idx.read, remotes=remotes),
            Form(tuple(f"{name}/{file}" for file in idx.FILES), idx.read),
            # Where torchvision unpacks them.
            Form(tuple(f"{folder}/raw/{file}" for file in idx.FILES), idx.read),
            Form((f"{name}.npz",), arrays.read, arrays.KEYS),
        ),
        num_classes=10,
        class_names=classes,
        pixel_levels=255,
    )


ENTRIES = (
    _entry("mnist", "handwritten digits", "MNIST", MNIST_HOME, MNIST_FILES, tuple("0123456789")),
    _entry("fashion_mnist", "pictures of clothes", "FashionMNIST", FASHION_HOME, FASHION_FILES, CLOTHES),
)
