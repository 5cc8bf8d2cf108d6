"""Dialogs and menus started from any screen, and the writes behind them. Imports no screen class."""
