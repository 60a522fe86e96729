"""Pure core of alerts: evaluate one window of a mesh under its rules. numpy only; time is an argument."""
