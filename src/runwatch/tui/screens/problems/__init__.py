"""Screens of problems, problem codes, requests and activity around a time."""
