"""Noisy natural gradient where data are few (paper 004, sections 5.2 and 5.4): what the methods' uncertainty is worth.

protocol, trials    what the studies say: a typed value; the random parts of a data set that a trial works on
methods, training   the methods by name; many trials of one method trained as one program, and its functions' moments
nuts_trials         the same by Markov chains
hmc, active         correlations with HMC, table 3; active learning, table 2: what `plait reproduce` runs
bands, page         the predictive bands of all methods on a line; the papers' numbers beside ours
parts, targets      parts of a study that are done once; the papers' numbers
"""
