"""Alert rules of meshes: create, change, export and import."""
