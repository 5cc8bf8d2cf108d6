"""What the tests stand on: clocks, peers, terminals, hostile text, records, services, commands."""
