"""The path of a report: received, validated, admitted, committed in groups."""
