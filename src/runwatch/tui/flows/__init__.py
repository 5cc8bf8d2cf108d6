"""Dialogs and menus that any screen starts, and the writes behind them. No screen class is imported here."""
