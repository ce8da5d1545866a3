"""Statically binarised MNIST, with a validation part of its own."""

from plait.data.formats import binarized_mnist
from plait.data.sets.entry import Entry, Form, Remote

HOME = "https://raw.githubusercontent.com/mingzhang-yin/ARM-gradient/9b5f74da4e4009c5556e8d7a87c88c8e291c253d"
FILES = (
    (2_852_060, "79a0312c7389d855cfc97e3812de3998417c5829d8a51543b56a90a91252ae7e"),
    (571_883, "7436afc856959075c7787025bb8a4ba2b520b9230ee39667c66aa7dd2819dd68"),
    (490_132, "5bc30222e1e7896cbccd1e1db6b28540cc1230f4d2d5473841a5f6cc54be8d38"),
)

ENTRY = Entry(
    "binarized_mnist",
    "fixed black-and-white draws of MNIST, without labels",
    "density",
    sizes=(50_000, 10_000, 10_000),
    input_shape=(28, 28),
    forms=(
        Form(("mnist/binarized_mnist.npz",), binarized_mnist.read_packed, binarized_mnist.KEYS),
        Form(("binarized_mnist.npz",), binarized_mnist.read_packed, binarized_mnist.KEYS),
        Form(
            tuple(f"binarized_mnist/{file}" for file in binarized_mnist.FILES),
            binarized_mnist.read_amat,
            remotes=tuple(
                Remote(f"{HOME}/{file}", f"sha256:{digest}", size)
                for file, (size, digest) in zip(binarized_mnist.FILES, FILES, strict=True)
            ),
        ),
    ),
)
