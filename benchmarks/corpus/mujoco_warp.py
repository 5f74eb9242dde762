"""Instances of MuJoCo Warp's kernels: its factories with the kinds of arguments that its own code gives them."""

from __future__ import annotations

from typing import Any

from support.making import Anything, Maker, filled

VALUES = {
    "block_dim": (64,),
    "block_size": (4,),
    "dofs_per_thread": (1, 4),
    "epa_iterations": (12,),
    "geomgeomid": (0,),
    "gjk_iterations": (12,),
    "ls_iterations": (50,),
    "max_condim": (1, 3, 6),
    "max_dof": (6,),
    "max_records": (0,),
    "nmaxdim": (1, 4),
    "ntiles": (7,),
    "nv": (6, 40),
    "nv_pad": (16,),
    "njmax": (64,),
    "tile_size": (16,),
    "warn_overflow": (0, 1),
}


def instances() -> None:
    """Makes them."""
    import mujoco
    import mujoco_warp
    from mujoco_warp import test_data
    from mujoco_warp._src import collision_primitive, io, types

    kinds = types.GeomType
    calls: dict[str, list[dict[str, Any]]] = {
        ":ccd_kernel_builder": [
            {
                "geomtype1": int(first),
                "geomtype2": int(second),
                "gjk_iterations": 12,
                "epa_iterations": 12,
                "use_multiccd": multiccd,
                "geomgeomid": 0,
                "block_dim": 64,
                "warn_overflow": 1,
            }
            for first, second in ((kinds.SPHERE, kinds.MESH), (kinds.BOX, kinds.MESH), (kinds.MESH, kinds.MESH))
            for multiccd in (False, True)
        ],
        ":ccd_hfield_kernel_builder": [
            {
                "geomtype1": int(kinds.HFIELD),
                "geomtype2": int(kind),
                "gjk_iterations": 12,
                "epa_iterations": 12,
                "geomgeomid": 0,
                "warn_overflow": 1,
            }
            for kind in (kinds.SPHERE, kinds.MESH)
        ],
        ":_primitive_narrowphase": [
            {
                "primitive_collisions_types": list(collision_primitive._PRIMITIVE_COLLISIONS),
                "primitive_collisions_func": list(collision_primitive._PRIMITIVE_COLLISIONS.values()),
            }
        ],
    }
    prm, range_ = [1.0] * 10, [0.5, 1.0]
    muscle = {"len_": 1.0, "vel": 0.1, "lengthrange": range_, "acc0": 1.0, "prm": prm}
    for name in ("gain", "gain_len_deriv", "gain_vel_deriv"):
        calls[f":_muscle_{name}"] = [muscle]
    for name in ("bias", "bias_len_deriv"):
        calls[f":_muscle_{name}"] = [{key: value for key, value in muscle.items() if key != "vel"}]
    calls[":_dcmotor_resistance"] = [{"act": prm, "worldid": 0, "actadr": 0, "dynprm": prm, "gainprm": prm}]
    calls[":reset_data_keyframe"] = [{"m": filled(types.Model), "d": Anything(), "key": 0}]
    rendering = filled(types.RenderContext)
    rendering.geom_ray_types = (int(kinds.PLANE), int(kinds.SPHERE), int(kinds.BOX), int(kinds.MESH))
    calls[":_build_megakernel"] = [{"m": filled(types.Model), "rc": rendering}]
    calls[":SupportTest.test_mat33_to_quat_polar"] = [
        {"self": Anything(), "axis": [0.0, 0.0, 1.0], "angle": 1.0, "stretch": [1.0, 1.0, 1.0]}
    ]
    calls[":SupportTest.test_contact_bodies_and_weights_flex_elem"] = [
        {"self": Anything(), "case": ("seg", [0.0] * 3, [0.0] * 3), "nworld": 1}
    ]
    # The tests of MuJoCo Warp make models first, on a GPU; what they launch on them needs none here.
    for module, names in (
        (mujoco_warp, "put_data make_data forward"),
        (mujoco, "MjModel mj_step mj_forward mj_name2id"),
        (test_data, "fixture"),
    ):
        for name in names.split():
            setattr(module, name, Anything())
    mujoco_warp.put_model = lambda *_, **__: Anything(nv=10, nv_pad=16)
    maker = Maker(VALUES, calls)
    maker.make(mujoco_warp.__path__[0])
    io.reset_data = Anything()  # which the function calls first
    maker.one(io.__name__, "reset_data_keyframe")
    maker.report()
