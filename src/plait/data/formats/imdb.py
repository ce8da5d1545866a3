"""IMDB reviews as rows of token ids, cut and padded in front ('pre', as Keras's `pad_sequences` does by default).

Ids: 0 padding, 1 start, 2 out of vocabulary, r + 3 the r-th commonest word. The last `maxlen` ids of a review are kept.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from plait.data.dataset import Pair
from plait.data.parts import Parts, Reading
from plait.data.unpickle import object_array

START, OUT_OF_VOCABULARY, FIRST_WORD = 1, 2, 3
KERAS_SHUFFLE_SEED = 113
TOKEN_KEYS = ("train_tokens", "train_offsets", "y_train", "test_tokens", "test_offsets", "y_test")
KERAS_KEYS = ("x_train", "y_train", "x_test", "y_test")


def pad_reviews(tokens: np.ndarray, offsets: np.ndarray, reading: Reading) -> np.ndarray:
    """Reviews tokens[offsets[i] : offsets[i + 1]] as int32 [N, maxlen]."""
    if reading.maxlen < 1 or reading.num_words <= FIRST_WORD:
        raise ValueError(
            f"`maxlen` must be at least 1 and `num_words` above {FIRST_WORD}, "
            f"got maxlen={reading.maxlen} and num_words={reading.num_words}"
        )
    position = offsets[1:, None].astype(np.int64) - reading.maxlen + np.arange(reading.maxlen)
    inside = position >= offsets[:-1, None]
    ids = tokens[np.where(inside, position, 0)].astype(np.int32)
    return np.where(inside, np.where(ids < reading.num_words, ids, OUT_OF_VOCABULARY), 0).astype(np.int32)


def read_tokens(paths: Sequence[Path], reading: Reading) -> Parts:
    """Ids of all reviews end to end, with offsets."""
    with np.load(paths[0]) as file:
        arrays = [file[key] for key in TOKEN_KEYS]
    train, test = (Pair(pad_reviews(tokens, offsets, reading), y) for tokens, offsets, y in (arrays[:3], arrays[3:]))
    return Parts(train, test)


def read_keras(paths: Sequence[Path], reading: Reading) -> Parts:
    """Keras's file: a list of word ranks for each review. Shuffled and numbered as `keras.datasets.imdb.load_data`."""
    with np.load(paths[0]) as file:
        labels = {part: file[f"y_{part}"] for part in ("train", "test")}
    shuffle = np.random.RandomState(KERAS_SHUFFLE_SEED)
    pairs = []
    for part in ("train", "test"):
        reviews = object_array(paths[0], f"x_{part}")
        order = np.arange(len(reviews))
        shuffle.shuffle(order)
        ids = [np.r_[START, np.asarray(reviews[i], np.int64) + FIRST_WORD] for i in order]
        offsets = np.r_[0, np.cumsum([len(review) for review in ids])]
        pairs.append(Pair(pad_reviews(np.concatenate(ids), offsets, reading), labels[part][order]))
    return Parts(*pairs)
