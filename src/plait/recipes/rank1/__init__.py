"""The experiments of paper 003: rank-1 mixtures against what they are compared with, clean and corrupted (MATH 2)."""
