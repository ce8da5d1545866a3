"""Noisy natural gradient (paper 004): what its uncertainty is worth where data are few, and its classifiers.

protocol, trials    what the studies of few labels say: a typed value; the random parts of a data set in each trial
methods, training   the methods by name; many trials of one as one program, and the moments of its functions
nuts_trials         the same by Markov chains; functions: one method, whichever
hmc, active         correlations with HMC, table 3; active learning, table 2: what `plait reproduce` runs
bands, page         the predictive bands of all methods on a line; the papers' numbers beside ours
parts, targets      parts of a study that are done once; the papers' numbers
classification      an MLP on MNIST, a conv net on CIFAR-10; vgg16, vgg: that of the code; by_epoch: one run
"""
