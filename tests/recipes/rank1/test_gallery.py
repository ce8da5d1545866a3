"""A row of pictures for each severity."""

from plait.data.corruption import COMMON
from plait.recipes.rank1 import gallery


def test_every_type_is_shown(monkeypatch):
    monkeypatch.setattr(gallery, "corrupt", lambda picture, *given, **more: picture)
    picture = gallery.gallery(gallery.Options("digits", severities=(1, 5)))
    assert len(picture.figure.axes) == 2 * len(COMMON)
    assert picture.figure.axes[0].get_xlabel() == "gaussian\nnoise"
