"""SQL of measurements: frames, newest windows, spikes, clock corrections, partitions and retention."""
