"""Detection: evaluate the stored windows of meshes and store the incidents found."""
