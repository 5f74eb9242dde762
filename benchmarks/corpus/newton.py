"""Instances of Newton's kernels: its factories with the kinds of arguments that its own code gives them."""

from __future__ import annotations

from typing import Any

from support.making import Anything, Maker

import kbuild.warp as wp
from kbuild.loader import generic


@wp.func
def _body_rises(q: wp.transform, qd: wp.spatial_vectorf) -> bool:
    return wp.spatial_top(qd)[2] > 0.0


@wp.func
def _particle_rises(q: wp.vec3, qd: wp.vec3) -> bool:
    return qd[2] > 0.0


VALUES: dict[str, Any] = {
    "TILE_SIZE": (32,),
    "TILE_SIZE_CTS": (16,),
    "TILE_SIZE_VRS": (16,),
    "alpha": (0.5,),
    "block_dim": (64,),
    "block_size": (16,),
    "body_capacity": (16,),
    "convex_support_acceleration": (False, True),
    "dtype": (wp.float32,),
    "external_aabb": (False, True),
    "has_joint_mask": (False, True),
    "index_dtype": (wp.int32,),
    "integer_center": (False, True),
    "lanes": (4, 32),
    "level_capacity": (16,),
    "mantissa_bits": (48,),
    "margin_contact_area": (0.01,),
    "max_blocks": (16,),
    "max_cols": (32,),
    "max_dim": (6,),
    "max_n_tiles": (8,),
    "max_rows": (32,),
    "maxdim": (64,),
    "mc_edge_clamp_min": (0.02,),
    "mode": ("id", "public"),
    "n_compl_max": (32,),
    "n_cts_max": (64,),
    "paired_samples": (False, True),
    "post_process_contact": (None,),
    "reduction_size": (64,),
    "sign_mode": (0, 1, 2),
    "source_kind": (0, 1, 2),
    "space_dim": (0, 1),
    "support_func": (None,),
    "tile": (16,),
    "tile_size": (64,),
    "width": (6,),
}


def instances() -> None:
    """Makes them."""
    import newton
    from newton._src.actuators import effort_mode_implicit
    from newton._src.actuators.drives import drive_pd
    from newton._src.geometry import narrow_phase, sdf_hydroelastic
    from newton._src.sensors.sensor_camera_render import render_context as camera
    from newton._src.sensors.warp_raytrace import render_context as raytrace
    from newton._src.sim import collide
    from newton._src.solvers.kamino._src.linalg.sparse_matrix import BlockDType

    implicit = {
        "evaluate_force": drive_pd._pd_evaluate_force,
        "clamp_chain": effort_mode_implicit._identity_clamp_chain,
        "cache_key": (),
    }
    VALUES["writer_func"] = (collide.write_contact, narrow_phase.write_contact_simple)
    VALUES["block_type"] = (BlockDType(wp.float32, (6,)), BlockDType(wp.float32, (1, 6)), BlockDType(wp.float32))
    VALUES["pressure_func"] = (sdf_hydroelastic.linear_pressure,)
    calls: dict[str, list[dict[str, Any]]] = {
        "newton.examples:test_body_state": [
            {"model": Anything(), "state": Anything(), "test_name": "name", "test_fn": _body_rises, "indices": [0]}
        ],
        "newton.examples:test_particle_state": [
            {"state": Anything(), "test_name": "name", "test_fn": _particle_rises, "indices": [0]}
        ],
        ":_build_coupled_solve_kernel": [implicit],
        ":_build_block_solve_kernel": [{**implicit, "tile": 16}],
        "sensor_camera_render.render:create_kernel": [
            {"config": camera.RenderConfig(**config), "state": state, "clear_data": camera.ClearData()}
            for config, state in _camera(camera.RenderContext.RenderState)
        ],
        "warp_raytrace.render:create_kernel": [
            {
                "config": raytrace.RenderContext.Config(**config),
                "state": state,
                "clear_data": raytrace.RenderContext.ClearData(),
            }
            for config, state in _camera(raytrace.RenderContext.State)
        ],
    }
    maker = Maker(VALUES, calls, _open_types)
    maker.make(newton.__path__[0])
    maker.overloads(newton.__path__[0], _OVERLOADS)
    maker.report()


def _camera(state: Any) -> list[tuple[dict[str, bool], Any]]:
    """A plain image, and everything at once."""
    everything = state(render_color=True, render_depth=True, render_normal=True, render_shape_index=True)
    return [({}, state(render_color=True)), ({"enable_shadows": True}, everything)]


def _open_types(kernel: Any) -> dict[str, Any]:
    """Types of the open parameters of a factory's kernel, by what it has captured."""
    cells = zip(kernel.function.__code__.co_freevars, kernel.function.__closure__ or (), strict=True)
    found: dict[str, Any] = {"nzb_start": wp.array(dtype=wp.int32), "max_nzb": wp.array(dtype=wp.int32)}
    for name, cell in cells:
        value = cell.cell_contents
        if name == "block_type":
            found["nzb_values"] = wp.array(dtype=value.warp_type)
        elif getattr(value, "__name__", "").startswith("write_contact"):
            writer = value.function
            found["writer_data"] = generic.annotation_of(writer, generic.parameter_names(writer)[1])
    if "writer_data" not in found:
        found["writer_data"] = narrow_phase_writer()
    return found


def narrow_phase_writer() -> Any:
    """The record that the simplest writer of contacts fills."""
    from newton._src.geometry import narrow_phase

    writer = narrow_phase.write_contact_simple.function
    return generic.annotation_of(writer, generic.parameter_names(writer)[1])


def _arrays(kernel: str, source: str, src: int, dst: int) -> tuple[str, dict[str, Any]]:
    return kernel, {source: wp.array(dtype=wp.float32, ndim=src), "dst": wp.array(dtype=wp.float32, ndim=dst)}


_TWISTS = ("force_previous", "force_raw", "residual_previous")
_OVERLOADS = {
    "_accumulate_aitken_stats_kernel": {name: wp.array(dtype=wp.spatial_vector) for name in _TWISTS},
    "compute_nodal_diagonalization": {"values": wp.array(dtype=wp.mat44)},
    "_sum_first_component": {"values": wp.array2d(dtype=wp.vec3)},
    **dict(
        [
            _arrays("_gather_1d_kernel", "src", 1, 1),
            _arrays("_scatter_masked_2d_kernel", "values", 2, 1),
            _arrays("_gather_explicit_2d_kernel", "src", 1, 2),
            _arrays("_gather_explicit_3d_kernel", "src", 1, 3),
            _arrays("_gather_explicit_3d_trailing_kernel", "src", 2, 3),
            _arrays("_gather_explicit_4d_kernel", "src", 2, 4),
            _arrays("_scatter_explicit_2d_world_kernel", "values", 2, 1),
            _arrays("_scatter_explicit_2d_articulation_kernel", "values", 2, 1),
            _arrays("_scatter_explicit_3d_world_kernel", "values", 3, 1),
            _arrays("_scatter_explicit_3d_articulation_kernel", "values", 3, 1),
            _arrays("_scatter_explicit_3d_trailing_world_kernel", "values", 3, 2),
            _arrays("_scatter_explicit_3d_trailing_articulation_kernel", "values", 3, 2),
            _arrays("_scatter_explicit_4d_world_kernel", "values", 4, 2),
            _arrays("_scatter_explicit_4d_articulation_kernel", "values", 4, 2),
        ]
    ),
}
