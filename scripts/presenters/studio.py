"""The studio: lamps, cameras and how Cycles draws."""

from collections.abc import Sequence
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix, Vector

from .base import F64
from .camera import Camera
from .looks import LightLook
from .nodes import to_blender
from .person import Landmarks

SENSOR_MM = 36.0
MOST_INDIRECT = 1.5
"""What a single sample of indirect light counts at most: rare bright paths through hair are specks."""
WARM, COOL, CLEAR = (1.0, 0.93, 0.85), (0.84, 0.92, 1.0), (1.0, 0.97, 0.93)


def add_light(marks: Landmarks, look: LightLook, hair: Sequence[Any]) -> None:
    """A soft warm key from the viewer's upper left, a weak cool fill, two rims, a top lamp, a weak glow; and
    from the upper right and from the front what the `hair` alone is lit by."""
    face = marks.between + np.array([0, -0.15, 0])
    crown = face + np.array([0, 0.2, -0.6])
    _lamp(face + np.array([-3.8, 4.4, 5.7]), face, 3.6, look.key, WARM)
    _lamp(face + np.array([5.0, 0.3, 5.5]), face + np.array([0, -1, 0]), 5.0, look.fill, COOL, shiny=False)
    _lamp(face + np.array([3.6, 3.2, -4.6]), crown, 2.4, look.rim_right, WARM)
    _lamp(face + np.array([-3.8, 2.0, -4.8]), crown, 2.4, look.rim_left, COOL)
    _lamp(face + np.array([0, 6.5, 0.2]), face, 2.8, look.top, CLEAR)
    _lamp(face + np.array([0, -4.0, 5.0]), face, 4.5, look.under, CLEAR, shiny=False)
    lit = bpy.data.collections.new("lit hair")
    for thing in hair:
        lit.objects.link(thing)
    locks = face + np.array([0, -0.3, -0.3])
    for at, target, size, watts in (
        (face + np.array([3.4, 5.2, 4.2]), crown, 4.0, look.hair),
        (face + np.array([-2.6, 0.5, 6.5]), locks, 2.2, look.locks),
    ):
        if watts:
            _lamp(at, target, size, watts, CLEAR).light_linking.receiver_collection = lit
    world = bpy.data.worlds.new("around")
    bpy.context.scene.world = world
    world.use_nodes = True
    sky = world.node_tree.nodes["Background"]
    sky.inputs[0].default_value = (0.30, 0.33, 0.38, 1)
    sky.inputs[1].default_value = look.around


def _lamp(
    at: F64, target: F64, size: float, watts: float, color: tuple[float, float, float], *, shiny: bool = True
) -> Any:
    light = bpy.data.lights.new("lamp", "AREA")
    light.shape, light.size, light.energy, light.color = "DISK", size, watts, color
    lamp = bpy.data.objects.new("lamp", light)
    bpy.context.scene.collection.objects.link(lamp)
    lamp.visible_glossy = shiny
    place, aim = to_blender(at), to_blender(target)
    lamp.location = place.tolist()
    lamp.rotation_euler = Vector((aim - place).tolist()).to_track_quat("-Z", "Y").to_euler()
    return lamp


def set_camera(camera: Camera, scale: float, window: tuple[int, int, int, int] | None) -> None:
    """Looks through `camera` at `scale`; only `window` (left, top, right, bottom; its pixels) is drawn."""
    scene = bpy.context.scene
    if scene.camera is None:
        scene.camera = bpy.data.objects.new("camera", bpy.data.cameras.new("camera"))
        scene.collection.objects.link(scene.camera)
    width, height = camera.size
    lens: Any = scene.camera.data
    lens.sensor_fit, lens.sensor_width = "HORIZONTAL", SENSOR_MM
    lens.lens = camera.focal * SENSOR_MM / width
    lens.shift_x = (width / 2 - camera.center[0]) / width
    lens.shift_y = (camera.center[1] - height / 2) / width
    axes = to_blender(np.stack([camera.right, camera.up, -camera.forward]))
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = axes.T, to_blender(camera.position)
    scene.camera.matrix_world = Matrix(pose.tolist())
    render = scene.render
    render.resolution_x, render.resolution_y = round(width * scale), round(height * scale)
    render.resolution_percentage = 100
    render.use_border = window is not None
    render.use_crop_to_border = False
    if window is not None:
        left, top, right, bottom = window
        render.border_min_x, render.border_max_x = left / width, right / width
        render.border_min_y, render.border_max_y = 1 - bottom / height, 1 - top / height


def use_device(kind: str) -> None:
    """Lets Cycles draw on `kind`: CPU, CUDA or OPTIX. Raises SystemExit when there is no such device."""
    if kind == "CPU":
        return
    settings: Any = bpy.context.preferences.addons["cycles"].preferences
    settings.compute_device_type = kind
    settings.get_devices_for_type(kind)
    for device in settings.devices:
        device.use = device.type == kind
    if not any(device.use for device in settings.devices):
        raise SystemExit(f"Cycles finds no {kind} device here; use --device CPU")
    bpy.context.scene.cycles.device = "GPU"


def set_quality(samples: int, exposure: float) -> None:
    """Cycles with its denoiser, a fixed seed and the display transform that all layers share."""
    scene = bpy.context.scene
    scene.render.engine = "CYCLES"
    cycles: Any = scene.cycles
    cycles.seed, cycles.samples = 0, samples
    cycles.use_adaptive_sampling, cycles.adaptive_threshold = True, 0.03
    cycles.use_denoising, cycles.denoiser = True, "OPENIMAGEDENOISE"
    cycles.max_bounces, cycles.diffuse_bounces, cycles.glossy_bounces = 6, 2, 2
    cycles.transmission_bounces, cycles.transparent_max_bounces = 4, 24
    cycles.sample_clamp_indirect = MOST_INDIRECT
    cycles.caustics_reflective = cycles.caustics_refractive = False
    scene.cycles_curves.shape, scene.cycles_curves.subdivisions = "RIBBONS", 2
    scene.render.film_transparent = True
    scene.render.use_persistent_data = True
    scene.view_settings.view_transform = "AgX"
    scene.view_settings.look = "AgX - Medium High Contrast"
    scene.view_settings.exposure = exposure
