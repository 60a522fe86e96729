"""Pure core of shaping: the detector, the forecast, the retransmission tail, the checks of the source."""
