"""Variational autoencoders whose encoder gives structured covariances (paper 002, section 5.4, algorithm 3, table 3).

latent        an encoder's numbers as a posterior over latents
network       encoder and decoder
bound         the ELBO of images, and their log-likelihood by importance sampling
training      gradients on the bound, as an optimizer of `plait.fit`; early stopping
protocol      what a study says: a typed value; the data
study, page   all latents of a protocol; table 3 with ours beside, and pictures
"""
