"""An organization's money, decisions, reports and webhooks."""
