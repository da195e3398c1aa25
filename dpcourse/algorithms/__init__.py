"""Whole algorithms built from mechanisms: clustering, ranking, releases for many queries."""
