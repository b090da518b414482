#!/usr/bin/env python3
"""Opens every frame of a run with VTK's own readers and checks what is in it.

    pip install pyvista
    python tests/python/vtk_check.py runs/settle --points 5000

The writer is tested beside its code; this is the view from outside: would ParaView read it?
Exits with 1 and says why if anything is wrong.
"""

import argparse
import pathlib
import sys

import numpy as np
import pyvista

# Name, components, and type of every field that a frame must carry.
FIELDS = {
    "radius": (1, np.float32),
    "diameter": (1, np.float32),
    "velocity": (3, np.float32),
    "angular_velocity": (3, np.float32),
    "id": (1, np.int64),
    "material": (1, np.int32),
    "speed": (1, np.float32),
}

passed = 0
failures = []


def check(holds, message):
    """Counts a check and remembers the message of one that fails."""
    global passed
    if holds:
        passed += 1
    else:
        failures.append(message)


def span(values):
    return f"{values.min():.4g} to {values.max():.4g}" if values.size else "none"


def check_frame(frame, name, time, points):
    """Checks one frame as a table of points with their fields."""
    n = frame.n_points
    if points is not None:
        check(n == points, f"{name}: {n} points instead of {points}")
    check(frame.n_cells == n and frame.n_verts == n, f"{name}: {frame.n_verts} vertices for {n} points")
    check(np.isfinite(frame.points).all(), f"{name}: a position is not finite")
    check(frame.points.dtype == np.float64, f"{name}: positions are {frame.points.dtype}, not float64")
    check(set(frame.point_data.keys()) == set(FIELDS), f"{name}: fields {sorted(frame.point_data.keys())}")
    stored = frame.field_data.get("TimeValue", [np.nan])[0]
    check(stored == time, f"{name}: time {stored} in the frame, {time} in the index")
    for field, (components, kind) in FIELDS.items():
        if field not in frame.point_data:
            continue
        values = np.asarray(frame.point_data[field])
        shape = (n,) if components == 1 else (n, components)
        check(values.shape == shape, f"{name}: {field} has shape {values.shape}, not {shape}")
        check(values.dtype == kind, f"{name}: {field} is {values.dtype}, not {np.dtype(kind)}")
        check(np.isfinite(values).all(), f"{name}: a value of {field} is not finite")
    if failures:
        return
    radius, velocity, ids = (np.asarray(frame.point_data[f]) for f in ("radius", "velocity", "id"))
    check((radius > 0).all(), f"{name}: a radius is not positive")
    check(np.allclose(frame.point_data["diameter"], 2 * radius), f"{name}: diameter is not twice the radius")
    check(np.unique(ids).size == n, f"{name}: ids are not unique")
    speed = np.linalg.norm(velocity.astype(float), axis=1)
    check(np.allclose(frame.point_data["speed"], speed, rtol=1e-5), f"{name}: speed is not the length of velocity")
    print(f"{name}: t = {time:.6g}, {n} points")
    for axis, label in enumerate("xyz"):
        print(f"    {label:<10} {span(frame.points[:, axis])}")
    for field in ("radius", "speed", "id"):
        print(f"    {field:<10} {span(np.asarray(frame.point_data[field]))}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=pathlib.Path, help="directory of a run")
    parser.add_argument("--points", type=int, help="number of bodies that every frame must show")
    arguments = parser.parse_args()

    index = arguments.run / "frames.pvd"
    if not index.is_file():
        sys.exit(f"{index} is not there")
    reader = pyvista.PVDReader(str(index))
    times = list(reader.time_values)
    check(len(times) > 0, f"{index}: no frames")
    check(all(a < b for a, b in zip(times, times[1:])), f"{index}: times do not increase: {times}")
    for k, time in enumerate(times):
        reader.set_active_time_point(k)
        listed = reader.active_datasets[0].path
        path = arguments.run / listed
        check(path.is_file(), f"{index}: {listed} is not there")
        if path.is_file():
            check_frame(pyvista.read(str(path)), path.name, time, arguments.points)
            through_index = reader.read()[0]
            check(through_index.n_points == pyvista.read(str(path)).n_points, f"{path.name}: differs through the index")
    on_disk = {p.name for p in (arguments.run / "frames").iterdir()}
    check(len(on_disk) == len(times), f"{len(on_disk)} files in frames/, {len(times)} in the index")

    for message in failures:
        print(f"FAILED {message}", file=sys.stderr)
    print(f"{passed} passed, {len(failures)} failed")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
