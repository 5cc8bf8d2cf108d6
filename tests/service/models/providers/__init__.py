"""Tests of runwatch.service.models.providers."""
