"""The public names of Warp that kbuild does not have, by what they belong to.

Names of the kernel language are told by their beginnings (`tile_load`, `mesh_query_point`).
"""

from __future__ import annotations

_FAMILIES = {
    "graphs in files": "capture_load capture_load_from_bytes capture_save",
    "memory pools and allocators": """
        Allocator CudaManagedAllocator ScopedAllocator ScopedMemoryTracker get_device_allocator set_cuda_allocator
        set_device_allocator
    """,
    "other frameworks": """
        JaxCallableGraphMode JaxModulePreloadMode clear_jax_callable_graph_cache device_from_paddle device_to_paddle
        dtype_from_paddle dtype_to_paddle from_ipc_handle from_paddle jax_callable jax_kernel stream_from_paddle
        to_paddle
    """,
    "graphics": "GLTextureResource RegisteredGLBuffer",
    "gradients": "grad",
    "other kinds of arrays": """
        FabricArray IndexedFabricArray fabricarray fabricarrayarray fixedarray indexedfabricarray
        indexedfabricarrayarray
    """,
    "compiling while the program runs": """
        ModuleBuildOptions build_experimental compile_aot_module get_cpu_kernel_cache_key get_cuda_max_cluster_dim
        load_aot_module map
    """,
    "profiling": """
        ScopedCudaProfiler TimingResult cuda_profiler_start cuda_profiler_stop timing_begin timing_end timing_print
    """,
    "logging": "Logger ScopedLogger get_logger set_logger",
    "pointers": "address_of handle",
    "small floating-point numbers": "bfloat16",
    "approximate division": "div_approx inverse_approx",
    "bit casts": "cast",
    "multibody helpers": "spatial_jacobian spatial_mass",
    "marching cubes": "MarchingCubes",
    "debugging": "breakpoint",
    "tiles": "tile untile Tile TileStack",
    "changing a part of a value": "transform_expand",
    "meshes": "Mesh MeshQuery MeshQueryAABB MeshQueryAABBTiled MeshQueryPoint MeshQueryRay intersect_tri_tri",
    "bounding volume hierarchies": "Bvh BvhQuery BvhQueryTiled",
    "hash grids": "HashGrid HashGridQuery",
    "volumes": "Volume",
    "textures": "Texture Texture1D Texture2D Texture3D TextureAddressMode TextureFilterMode TextureResourceFlags",
    "determinism": "DeterministicMode",
    "kinds of memory": "MemoryKind",
}
_BEGINNINGS = {
    "tile_": "tiles",
    "mesh_": "meshes",
    "bvh_": "bounding volume hierarchies",
    "hash_grid_": "hash grids",
    "volume_": "volumes",
    "texture_": "textures",
}

# Functions of the kernel language that Warp does not have; a kernel of Warp's dialect may call them by `kb.`.
_BEYOND = """
    all any assume ballot block_max block_min block_scan_exclusive block_scan_inclusive block_sum cluster_array
    cluster_dim cluster_rank cluster_sync grid_range load_readonly load_streaming match_any shfl shfl_down shfl_up
    shfl_xor store_streaming warp_id warp_max warp_min warp_scan_exclusive warp_scan_inclusive warp_sum
"""
BEYOND = frozenset(_BEYOND.split())

FAMILY_OF = {name: family for family, names in _FAMILIES.items() for name in names.split()}

# Modules of Warp that are there and refuse.
MODULES = {
    "autograd": "gradients",
    "build_experimental": "compiling while the program runs",
    "examples": "Warp's examples",
    "fem": "finite elements",
    "geometry": "geometry on the GPU",
    "jax_experimental": "other frameworks",
    "optim": "optimizers",
    "render": "rendering",
    "sparse": "sparse matrices",
    "tests": "Warp's tests",
    "torch": "other frameworks",
}


def family_of(name: str) -> str | None:
    """To what a name of Warp's that kbuild lacks belongs; None for one that Warp has not either."""
    found = FAMILY_OF.get(name)
    if found is None:
        found = next((family for head, family in _BEGINNINGS.items() if name.startswith(head)), None)
    return found
