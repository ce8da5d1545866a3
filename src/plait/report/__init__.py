"""Pictures of a training run and of predictions, and a page that holds them."""

from plait._table import Table as Table
from plait.report.comparison import comparison as comparison
from plait.report.curve_grid import curve_grid as curve_grid
from plait.report.epoch_curves import epoch_curves as epoch_curves
from plait.report.images import image_grid as image_grid
from plait.report.latent_map import latent_map as latent_map
from plait.report.learning_curves import learning_curves as learning_curves
from plait.report.method_bands import method_bands as method_bands
from plait.report.page import Page as Page
from plait.report.page import Section as Section
from plait.report.picture import Picture as Picture
from plait.report.regression import bands as bands
from plait.report.regression import predicted_and_true as predicted_and_true
from plait.report.reliability import reliability_diagram as reliability_diagram
from plait.report.severity_boxes import severity_boxes as severity_boxes
from plait.report.site_table import site_table as site_table
from plait.report.spectra import spectra_plot as spectra_plot
from plait.report.std_heat_maps import std_heat_maps as std_heat_maps
from plait.report.training_lines import training_lines as training_lines
from plait.report.uncertainty import uncertainty_histograms as uncertainty_histograms
