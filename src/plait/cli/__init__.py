"""The command `plait`. Each command is a file; `main` lists them."""
