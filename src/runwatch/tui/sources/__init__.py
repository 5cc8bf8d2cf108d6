"""Where rows, events and single records come from. No widget is created here."""
