"""Tests of runwatch.service.organization."""
