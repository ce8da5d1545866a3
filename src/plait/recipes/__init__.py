"""A user's day, from a name to a report: plain functions, for the command line and for scripts."""
