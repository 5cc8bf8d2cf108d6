"""Eligibility, catalog consistency, decisions, applications and next actions of templates."""
