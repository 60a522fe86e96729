"""Alerts: rules over all paths, incidents with a suspect, silences, notifications."""
