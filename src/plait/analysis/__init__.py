"""What trained posteriors look like, and how much smaller they can be: spectra, truncation, compression, gradients."""

from plait.analysis.compression import Compression as Compression
from plait.analysis.compression import TiedWeight as TiedWeight
from plait.analysis.compression import compress as compress
from plait.analysis.gradient_noise import GradientNoise as GradientNoise
from plait.analysis.gradient_noise import gradient_noise as gradient_noise
from plait.analysis.gradient_signal import Moments as Moments
from plait.analysis.gradient_signal import signal_to_noise as signal_to_noise
from plait.analysis.low_rank import StdApproximations as StdApproximations
from plait.analysis.low_rank import approximate_stds as approximate_stds
from plait.analysis.mixture_kl import mixture_kl as mixture_kl
from plait.analysis.rank_choice import choose_ranks as choose_ranks
from plait.analysis.rank_choice import tied_families as tied_families
from plait.analysis.signal_table import Signal as Signal
from plait.analysis.signal_table import SignalRow as SignalRow
from plait.analysis.signal_table import read_signal as read_signal
from plait.analysis.spectrum import Spectra as Spectra
from plait.analysis.spectrum import Spectrum as Spectrum
from plait.analysis.spectrum import WeightSpectra as WeightSpectra
from plait.analysis.spectrum import spectra as spectra
from plait.analysis.truncation import truncate as truncate
