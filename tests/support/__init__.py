"""Helpers of the tests: clocks, peers, terminals, hostile text, records, services, commands."""
