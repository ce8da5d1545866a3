import csv
import shutil

import pytest

from plait.recipes.run_folder import RunFolder
from plait.recipes.running import load_model, train
from plait.recipes.spectrum_page import write_spectrum


def test_the_spectra_of_a_run_are_a_page_with_pictures(digits_run, tmp_path):
    folder = RunFolder.open(shutil.copytree(digits_run, tmp_path / "run"))
    found = write_spectrum(folder, load_model(folder))
    names = [path.name for path in found.files]
    assert names == ["spectrum.html", "spectrum.png", "standard_deviations.png", "spectrum.csv"]
    assert all(path.stat().st_size for path in found.files)
    assert found.files[0].read_text().count("<svg") == 2
    with found.files[-1].open() as file:
        shares = [float(row["explained_variance"]) for row in csv.DictReader(file) if row["of"] == "stds"]
    # Two weights, each of whose shares sum to one.
    assert sum(shares) == pytest.approx(2)


def test_a_plain_network_has_means_only(tiny, tmp_path):
    options = tiny(model={"posterior": "point"}, epochs=1, batch_size=512)
    run = train(options, tmp_path / "run", progress=False)
    found = write_spectrum(run.folder, run.fit.model)
    assert [path.name for path in found.files] == ["spectrum.html", "spectrum.png", "spectrum.csv"]
    assert all(weight.stds is None for weight in found.spectra.weights)
