"""What is wrong with a kernel on a GPU, found while building: analyses of the typed IR and of finished cubins."""
