"""The profiler: runs a benchmark under injected latency until its curve is known. A tool of the command line."""
