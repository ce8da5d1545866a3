"""The k-tied Normal (papers 000 and 001): four networks, each a module with its protocol, and the study of them.

mlp, lenet, lstm, resnet    the network's protocol with the papers' values, a small variant, the papers' numbers
protocol                    what a protocol says: a typed value
training, measuring         one posterior trained by a protocol, goes on where it was stopped; what is measured of it
study, page, experiment     all posteriors of a protocol; ours beside the papers' numbers; what `plait reproduce` runs
targets, selection          how the papers' numbers are kept; prior scale and learning rate by validation data
"""
