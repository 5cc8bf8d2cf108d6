"""The console app and what only it uses: navigation, launch, palette commands and profiles. Imported by cli alone."""
