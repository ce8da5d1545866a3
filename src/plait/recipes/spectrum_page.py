"""The spectra of a run's weights: a table in figures, as a page and as files beside it.

spectrum.html                       both pictures and the table
spectrum.png, spectrum.csv          explained variance by singular value
standard_deviations.png             as trained, and approximated by rank 1 and 2
"""

from dataclasses import dataclass
from pathlib import Path

from plait.analysis import Spectra, approximate_stds, spectra
from plait.model import BayesianModel
from plait.recipes.run_folder import RunFolder
from plait.report import Page, Picture, Section, spectra_plot, std_heat_maps

SHOWN = 6
"""Weights with heat maps, at most: of more, a page is too long to be read."""


@dataclass(frozen=True, eq=False)
class SpectrumPage:
    """What was found, and the files that were written."""

    spectra: Spectra
    files: tuple[Path, ...]


def write_spectrum(folder: RunFolder, bnn: BayesianModel) -> SpectrumPage:
    """Write the page and the files."""
    found = spectra(bnn)
    pictures = {
        "spectrum.png": Picture(
            spectra_plot(found),
            "Spectra",
            "Explained variance by singular value, of each weight as a matrix of fan-in by fan-out.",
        )
    }
    # A plain network has means only.
    if any(weight.stds is not None for weight in found.weights):
        approximations = approximate_stds(bnn)
        pictures["standard_deviations.png"] = Picture(
            std_heat_maps(sorted(approximations, key=lambda each: -each.std.size)[:SHOWN]),
            "Standard deviations",
            "Of the largest weights, as trained and approximated by rank 1 and 2; the error is relative, in the "
            "Frobenius norm.",
        )
    for name, picture in pictures.items():
        picture.save(folder.path / name)
    found.to_csv(folder.path / "spectrum.csv")
    lead = "Explained variance of component k: its squared singular value over the sum of all."
    page = Page(f"Spectra of {folder.facts.name}", lead, [Section("Weights", [*pictures.values(), found.table()])])
    page.write(folder.path / "spectrum.html")
    names = ("spectrum.html", *pictures, "spectrum.csv")
    return SpectrumPage(found, tuple(folder.path / name for name in names))
