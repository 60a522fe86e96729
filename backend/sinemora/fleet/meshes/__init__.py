"""Meshes (VMs that probe one another), their probing plans, and enrolment tokens."""
