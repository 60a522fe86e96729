"""The profiler: runs a benchmark under injected latency until its curve is known well enough. A command line tool."""
