"""Kept ranges: a stretch of a mesh's measurements that retention leaves, with the reason why."""
