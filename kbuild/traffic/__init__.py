"""What memory instructions cost the memory system: addresses of lanes in; wavefronts, conflicts and sectors out."""
