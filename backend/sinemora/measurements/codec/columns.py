"""Columns and directions of frames, in the order in which arrays hold them."""

COUNT, SENT, LOST, MIN, MEAN, MAX, CLOCK_ERROR, M2 = range(8)
OUTBOUND, INBOUND, ROUND_TRIP = range(3)
