import matplotlib.image
from matplotlib.figure import Figure

from plait.report import Picture, reliability_diagram


def test_svg_scales_and_takes_the_colours_of_the_page(curve):
    svg = Picture(reliability_diagram({"test": curve}), 'A "title"', "").svg()
    opening = svg[: svg.index(">")]
    assert opening.startswith("<svg")
    assert "viewBox" in opening
    assert " height=" not in opening
    assert 'aria-label="A &quot;title&quot;"' in opening
    assert "var(--ink)" in svg
    assert "#20242c" not in svg
    assert "<metadata>" not in svg


def test_the_same_picture_is_the_same_text(curve):
    def drawn():
        return Picture(reliability_diagram({"test": curve}), "t", "c").svg()

    assert drawn() == drawn()


def test_a_picture_is_saved_as_a_file(tmp_path):
    figure = Figure(figsize=(1, 1))
    Picture(figure, "t", "c").save(tmp_path / "picture.png")
    assert matplotlib.image.imread(tmp_path / "picture.png").shape[:2] == (160, 160)
