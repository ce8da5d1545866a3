"""The UCI regressions of paper 004: nine sets, their fixed splits, one and two hidden layers, every method.

protocol, targets    what is trained and how, as a value; the paper's numbers, and the ceiling of the log-likelihood
splits               a set with its splits side by side
methods              what the methods are called, and how each is trained: by `plait.fit`, or by itself (`pbp`)
dropout, pbp         baselines: MC dropout as a posterior, probabilistic backpropagation
training             one method on one set, in a folder
study, page          all of them, and what `plait reproduce nng-uci` runs; ours beside the paper's numbers
"""
