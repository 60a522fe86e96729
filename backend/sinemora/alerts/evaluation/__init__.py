"""The pure core of alerts: what one window of a mesh means under its rules. numpy only; time is an argument."""
