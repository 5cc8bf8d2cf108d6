"""Tests of runwatch.service.http."""
