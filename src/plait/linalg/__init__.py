"""Numerics that know no network: covariance factors, stable functions, structured sums."""
