"""Tests of runwatch.service.models."""
