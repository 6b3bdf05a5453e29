"""Invoices as text."""
