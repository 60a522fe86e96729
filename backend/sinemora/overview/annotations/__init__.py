"""Annotations: deploys, maintenance and notes of people and pipelines, shown on time axes and on the heatmap."""
