"""Readers of the sets' public file formats: paths and choices in, arrays out. One file for each."""
