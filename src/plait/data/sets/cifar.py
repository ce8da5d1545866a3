"""CIFAR-10 (no validation part by default) and CIFAR-100 (the last 10,000 training images)."""

from plait.data.formats import arrays, cifar
from plait.data.sets.entry import Entry, Form, Remote

HOME = "https://www.cs.toronto.edu/~kriz"
CLASSES_10 = "airplane automobile bird cat deer dog frog horse ship truck"
CLASSES_100 = """
apple aquarium_fish baby bear beaver bed bee beetle bicycle bottle bowl boy bridge bus butterfly camel can castle
caterpillar cattle chair chimpanzee clock cloud cockroach couch crab crocodile cup dinosaur dolphin elephant
flatfish forest fox girl hamster house kangaroo keyboard lamp lawn_mower leopard lion lizard lobster man maple_tree
motorcycle mountain mouse mushroom oak_tree orange orchid otter palm_tree pear pickup_truck pine_tree plain plate
poppy porcupine possum rabbit raccoon ray road rocket rose sea seal shark shrew skunk skyscraper snail snake spider
squirrel streetcar sunflower sweet_pepper table tank telephone television tiger tractor train trout tulip turtle
wardrobe whale willow_tree wolf woman worm
"""


def _entry(name: str, layout: cifar.Layout, names: str, validation: int, size: int, md5: str) -> Entry:
    classes = tuple(names.split())
    archive = name.replace("cifar", "cifar-")
    binary, python = cifar.binary_reader(layout), cifar.python_reader(layout)
    # The binary version is downloaded, not the python one: it is no pickle.
    remote = Remote(f"{HOME}/{archive}-binary.tar.gz", f"md5:{md5}", size)
    return Entry(
        name,
        f"colour pictures of {len(classes)} kinds",
        "classification",
        sizes=(50_000 - validation, validation, 10_000),
        input_shape=(32, 32, 3),
        forms=(
            Form((f"{name}.npz",), arrays.read, arrays.KEYS),
            Form((f"cifar/{name}.npz",), arrays.read, arrays.KEYS),
            Form(layout.binary_files, binary),
            Form(layout.python_files, python),
            Form((f"{archive}-binary.tar.gz",), binary, remotes=(remote,)),
            Form((f"{archive}-python.tar.gz",), python),
        ),
        num_classes=len(classes),
        class_names=classes,
        pixel_levels=255,
    )


ENTRIES = (
    _entry("cifar10", cifar.CIFAR10, CLASSES_10, 0, 170_052_171, "c32a1d4ab5d03f1284b67883e8d87530"),
    _entry("cifar100", cifar.CIFAR100, CLASSES_100, 10_000, 168_513_733, "03b5dce01913d631647c71ecec9e9cb8"),
)
