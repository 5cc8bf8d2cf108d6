"""Tests of runwatch.view.receipts."""
