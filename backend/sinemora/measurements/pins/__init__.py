"""Pins: ranges of a mesh's measurements that retention does not delete."""
