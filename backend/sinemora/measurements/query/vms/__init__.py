"""Queries of one VM: its paths, its clock errors, its traffic."""
