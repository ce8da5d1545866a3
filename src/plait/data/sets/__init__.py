"""The sets that have a name: what each is, in which forms its files come, where its public home is."""
