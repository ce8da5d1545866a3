"""Measurements of cost, each a command: `python -m plait.bench.<name>`."""
