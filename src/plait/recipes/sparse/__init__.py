"""Matrix-normal sparse learning (paper 002).

mlp, conv              networks and protocols with the paper's values; their small variants
protocol, methods      what a protocol says; posteriors and priors by name
training, measuring    one method trained, goes on where it was stopped; what is left of it, and what it costs
study, page, targets   all methods of several protocols; the paper's tables beside ours
blocks                 the convolutional networks
factors, frontier      natural gradients for factors against Adam; accuracy against sparsity
beyond                 both, and ties under ARD: what the paper leaves for later
"""
