"""Periods, usage, check trends, compliance and usage of several profiles."""
