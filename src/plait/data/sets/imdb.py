"""IMDB film reviews; the last 5,000 of the training part are for validation."""

from plait.data.formats import imdb
from plait.data.sets.entry import Entry, Form, Remote

REMOTE = Remote(
    "https://storage.googleapis.com/tensorflow/tf-keras-datasets/imdb.npz",
    "sha256:69664113be75683a8fe16e3ed0ab59fda8886cb3cd7ada244f7d9544e4676b9f",
    17_464_789,
)

ENTRY = Entry(
    "imdb",
    "film reviews as word ids",
    "binary",
    sizes=(20_000, 5_000, 25_000),
    input_shape=(80,),
    forms=(
        Form(("imdb/imdb.npz",), imdb.read_tokens, imdb.TOKEN_KEYS),
        Form(("imdb.npz",), imdb.read_tokens, imdb.TOKEN_KEYS),
        Form(("imdb.npz",), imdb.read_keras, imdb.KERAS_KEYS, (REMOTE,)),
    ),
    class_names=("negative", "positive"),
    tokens=True,
)
