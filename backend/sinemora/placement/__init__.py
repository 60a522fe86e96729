"""Placement: which task runs on which machine, chosen by named policies over one problem value, with proof."""
