"""The scenes whose launches are recorded, by group; a group is recorded in a process of its own.

A scene with a count is a whole run: its list of launches is that many steps' when it is repeated. Steps come in pairs,
since two states change places after each. Contacts are made once, before: what a solver does with them is in its step.
"""

from __future__ import annotations

import importlib
import itertools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import warp as wp
from recorder import Recorder

STEPS = 100
MECHANISM = Path(__file__).with_name("mechanism.xml")


def newton_model(*, joints: bool, particles: bool) -> Any:
    """A cloth, a block of soft matter, a rope of springs, rigid bodies of four shapes, and chains of every joint."""
    import newton

    builder = newton.ModelBuilder()
    builder.default_shape_cfg.ke, builder.default_shape_cfg.kd, builder.default_shape_cfg.kf = 1.0e4, 1.0e2, 1.0e2
    builder.add_ground_plane()
    if particles:
        _add_particles(builder)
    _add_bodies(builder)
    if joints:
        _add_joints(builder)
    builder.color()
    model = builder.finalize()
    model.particle_grid, model.particle_max_radius = None, 0.0  # hash grids are another subject
    model.soft_contact_ke, model.soft_contact_kd = 1.0e3, 1.0e1
    return model


def _add_particles(builder: Any) -> None:
    common = {"rot": wp.quat_identity(), "vel": wp.vec3(0.2, 0.1, -0.5)}
    builder.add_cloth_grid(
        pos=wp.vec3(-1.0, 0.0, 0.11),
        dim_x=8,
        dim_y=7,
        cell_x=0.1,
        cell_y=0.1,
        mass=0.1,
        fix_left=True,
        add_springs=True,
        tri_ke=1.0e3,
        tri_ka=1.0e3,
        tri_kd=1.0e1,
        tri_drag=0.5,
        tri_lift=0.5,
        edge_ke=10.0,
        edge_kd=0.1,
        particle_radius=0.1,
        **common,
    )
    builder.add_soft_grid(
        pos=wp.vec3(1.0, 1.0, 0.09),
        dim_x=3,
        dim_y=2,
        dim_z=2,
        cell_x=0.1,
        cell_y=0.1,
        cell_z=0.1,
        density=100.0,
        k_mu=1.0e3,
        k_lambda=2.0e3,
        k_damp=1.0,
        particle_radius=0.1,
        **common,
    )
    rope = [
        builder.add_particle(wp.vec3(2.0 + 0.1 * i, -1.0, 1.0), wp.vec3(0.0), 0.0 if i == 0 else 0.1) for i in range(12)
    ]
    for one, other in itertools.pairwise(rope):
        builder.add_spring(one, other, 500.0, 1.0, 0.0)


def _add_bodies(builder: Any) -> None:
    turn = wp.quat_from_axis_angle(wp.normalize(wp.vec3(1.0, 2.0, 3.0)), 0.4)
    shapes: list[Callable[[int], Any]] = [
        lambda body: builder.add_shape_box(body, hx=0.2, hy=0.15, hz=0.1),
        lambda body: builder.add_shape_sphere(body, radius=0.15),
        lambda body: builder.add_shape_capsule(body, radius=0.1, half_height=0.15),
        lambda body: builder.add_shape_box(body, hx=0.1, hy=0.1, hz=0.1),
    ]
    for i, add in enumerate(shapes):
        body = builder.add_body(xform=wp.transform(wp.vec3(0.8 * i, 3.0, 0.14), turn))
        add(body)


def _add_joints(builder: Any) -> None:
    axes = (wp.vec3(1.0, 0.0, 0.0), wp.vec3(0.0, 1.0, 0.0), wp.vec3(0.0, 0.0, 1.0))
    for chain in range(3):
        links, joints = [], []
        for i in range(4):
            place = wp.vec3(-2.0 + 1.5 * chain, -3.0 + 0.5 * i, 2.0)
            link = builder.add_link(xform=wp.transform(place, wp.quat_identity()))
            builder.add_shape_box(link, hx=0.05, hy=0.2, hz=0.05)
            links.append(link)
        for i, link in enumerate(links):
            parent = links[i - 1] if i else -1
            at = wp.vec3(0.0, 0.25, 0.0) if i else wp.vec3(-2.0 + 1.5 * chain, -3.25, 2.0)
            frames = {
                "parent_xform": wp.transform(at, wp.quat_identity()),
                "child_xform": wp.transform(wp.vec3(0.0, -0.25, 0.0), wp.quat_identity()),
            }
            joints.append(_joint(builder, (chain + i) % 5, parent, link, axes[(chain + i) % 3], frames))
        builder.add_articulation(joints)


def _joint(builder: Any, kind: int, parent: int, link: int, axis: Any, frames: dict[str, Any]) -> int:
    import newton

    if kind == 0:
        made = builder.add_joint_revolute(parent, link, axis=axis, target_ke=50.0, target_kd=1.0, **frames)
    elif kind == 1:
        made = builder.add_joint_ball(parent, link, **frames)
    elif kind == 2:
        made = builder.add_joint_prismatic(
            parent, link, axis=axis, limit_lower=-0.05, limit_upper=0.05, target_ke=100.0, target_kd=5.0, **frames
        )
    elif kind == 3:
        config = newton.ModelBuilder.JointDofConfig
        linear = [config(axis=axis, limit_lower=-0.1, limit_upper=0.1)]
        angular = [config(axis=(1.0, 0.0, 0.0)), config(axis=(0.0, 0.0, 1.0), target_ke=20.0)]
        made = builder.add_joint_d6(parent, link, linear_axes=linear, angular_axes=angular, **frames)
    else:
        made = builder.add_joint_fixed(parent, link, **frames)
    return int(made)


def newton_steps(recorder: Recorder, name: str, make: Callable[[Any], Any], dt: float, **kinds: bool) -> None:
    """A solver of Newton's: contacts (single launches), then the run."""
    import newton

    model = newton_model(**kinds)
    pipeline = newton.CollisionPipeline(model)
    solver = make(model)
    states = [model.state(), model.state()]
    control, contacts = model.control(), pipeline.contacts()
    if model.joint_count:
        newton.eval_fk(model, model.joint_q, model.joint_qd, states[0])
    with recorder.recording(f"{name}-contacts"):
        pipeline.collide(states[0], contacts)

    def step() -> None:
        states[0].clear_forces()
        solver.step(states[0], states[1], control, contacts, dt)
        states.reverse()

    step()
    step()
    with recorder.recording(name, repeat=STEPS // 2):
        step()
        step()
    for _ in range(20):
        step()
    with recorder.recording(f"{name}-later"):
        step()
        if model.joint_count:
            newton.eval_ik(model, states[0], states[0].joint_q, states[0].joint_qd)
            newton.eval_fk(model, states[0].joint_q, states[0].joint_qd, states[1])


def semi_implicit(recorder: Recorder) -> None:
    """Newton's SolverSemiImplicit."""
    import newton

    newton_steps(
        recorder,
        "semi_implicit",
        lambda model: newton.solvers.SolverSemiImplicit(model),
        5e-4,
        joints=True,
        particles=True,
    )


def xpbd(recorder: Recorder) -> None:
    """Newton's SolverXPBD, with restitution."""
    import newton

    newton_steps(
        recorder,
        "xpbd",
        lambda model: newton.solvers.SolverXPBD(model, iterations=3, enable_restitution=True),
        2e-3,
        joints=True,
        particles=True,
    )


def featherstone(recorder: Recorder) -> None:
    """Newton's SolverFeatherstone."""
    import newton

    newton_steps(
        recorder,
        "featherstone",
        lambda model: newton.solvers.SolverFeatherstone(model),
        5e-4,
        joints=True,
        particles=True,
    )


def vbd(recorder: Recorder) -> None:
    """Newton's SolverVBD."""
    import newton

    def make(model: Any) -> Any:
        return newton.solvers.SolverVBD(
            model, iterations=4, particle_enable_self_contact=False, particle_enable_tile_solve=False
        )

    newton_steps(recorder, "vbd", make, 2e-3, joints=True, particles=True)


def mujoco(recorder: Recorder) -> None:
    """MuJoCo Warp: a mechanism of ours, and Newton's ant."""
    import mujoco
    import mujoco_warp
    import newton.examples

    for name in ("mechanism", "ant"):
        model = mujoco.MjModel.from_xml_path(
            str(MECHANISM) if name == "mechanism" else str(newton.examples.get_asset(f"nv_{name}.xml"))
        )
        for cone in ("elliptic", "pyramidal"):
            model.opt.cone = {"elliptic": mujoco.mjtCone.mjCONE_ELLIPTIC, "pyramidal": mujoco.mjtCone.mjCONE_PYRAMIDAL}[
                cone
            ]
            data = mujoco.MjData(model)
            data.qvel[:] = np.linspace(-0.5, 0.5, model.nv)
            data.ctrl[:] = 0.3
            for _ in range(3):
                mujoco.mj_step(model, data)
            device_model = mujoco_warp.put_model(model)
            device_data = mujoco_warp.put_data(model, data, nworld=2)
            mujoco_warp.step(device_model, device_data)
            with recorder.recording(f"{name}-{cone}"):
                mujoco_warp.step(device_model, device_data)
                mujoco_warp.inverse(device_model, device_data)


def newton_mujoco(recorder: Recorder) -> None:
    """Newton's SolverMuJoCo: conversions between the two."""
    import newton

    def make(model: Any) -> Any:
        return newton.solvers.SolverMuJoCo(model, njmax=200, nconmax=100)

    newton_steps(recorder, "newton_mujoco", make, 2e-3, joints=True, particles=False)


EXAMPLES = (
    "core.example_fluid",
    "core.example_wave",
    "core.example_graph_capture",
)


def examples(recorder: Recorder) -> None:
    """Warp's own examples."""
    sys.path.insert(0, str(Path(wp.__file__).parent / "examples"))
    for name in EXAMPLES:
        try:
            module = importlib.import_module(name)
            made = (
                module.Example() if "stage_path" not in _parameters(module.Example) else module.Example(stage_path=None)
            )
        except Exception as error:
            print(f"  {name}: {type(error).__name__}: {error}")
            continue
        for count in range(2):
            with recorder.recording(f"{name.rpartition('example_')[2]}-{count}"):
                try:
                    made.step()
                    if hasattr(made, "render"):
                        made.render()
                except Exception as error:
                    print(f"  {name}: {type(error).__name__}: {error}")


def _parameters(function: Any) -> Any:
    import inspect

    return inspect.signature(function).parameters


GROUPS: dict[str, Callable[[Recorder], None]] = {
    "semi_implicit": semi_implicit,
    "xpbd": xpbd,
    "featherstone": featherstone,
    "vbd": vbd,
    "mujoco": mujoco,
    "newton_mujoco": newton_mujoco,
    "examples": examples,
}
