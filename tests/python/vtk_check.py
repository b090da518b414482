#!/usr/bin/env python3
"""Opens every frame of a run with VTK's own readers and checks what is in it.

    pip install pyvista
    python tests/python/vtk_check.py runs/settle --points 5000
    python tests/python/vtk_check.py runs/shared --points 5000 --ranks 3

The writer is tested beside its code; this is the view from outside: would ParaView read it?
Exits with 1 and says why if anything is wrong.
"""

import argparse
import pathlib
import sys
import xml.etree.ElementTree as ElementTree

import numpy as np
import pyvista
from vtkmodules.vtkIOXML import vtkXMLPPolyDataReader

# Name, components, and type of every field that a frame must carry.
FIELDS = {
    "radius": (1, np.float32),
    "diameter": (1, np.float32),
    "velocity": (3, np.float32),
    "angular_velocity": (3, np.float32),
    "id": (1, np.int64),
    "material": (1, np.int32),
    "speed": (1, np.float32),
    "rank": (1, np.int32),
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


def read(path):
    """Reads a frame. Those in pieces pyvista leaves to VTK."""
    if path.suffix != ".pvtp":
        return pyvista.read(str(path))
    reader = vtkXMLPPolyDataReader()
    reader.SetFileName(str(path))
    reader.Update()
    check(reader.GetErrorCode() == 0, f"{path.name}: VTK gives error {reader.GetErrorCode()}")
    return pyvista.wrap(reader.GetOutput())


def check_pieces(path, whole, ranks):
    """Checks that the pieces of a parallel frame are there, each with the bodies of its rank."""
    index = path.read_text()
    pieces = [path.parent / rest.split('"')[0] for rest in index.split('Source="')[1:]]
    check(len(pieces) == ranks, f"{path.name}: {len(pieces)} pieces instead of {ranks}")
    points = 0
    for rank, piece in enumerate(pieces):
        part = pyvista.read(str(piece))
        points += part.n_points
        check((np.asarray(part.point_data["rank"]) == rank).all(), f"{piece.name}: a body of another rank")
    check(points == whole.n_points, f"{path.name}: {whole.n_points} points, {points} in the pieces")


def check_frame(frame, name, time, points, ranks):
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
    rank = np.asarray(frame.point_data["rank"])
    check(((0 <= rank) & (rank < ranks)).all(), f"{name}: a rank out of range: {span(rank)}")
    speed = np.linalg.norm(velocity.astype(float), axis=1)
    check(np.allclose(frame.point_data["speed"], speed, rtol=1e-5), f"{name}: speed is not the length of velocity")
    print(f"{name}: t = {time:.6g}, {n} points")
    for axis, label in enumerate("xyz"):
        print(f"    {label:<10} {span(frame.points[:, axis])}")
    for field in ("radius", "speed", "id", "rank"):
        print(f"    {field:<10} {span(np.asarray(frame.point_data[field]))}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=pathlib.Path, help="directory of a run")
    parser.add_argument("--points", type=int, help="number of bodies that every frame must show")
    parser.add_argument("--ranks", type=int, default=1, help="number of ranks that wrote the frames")
    arguments = parser.parse_args()

    index = arguments.run / "frames.pvd"
    if not index.is_file():
        sys.exit(f"{index} is not there")
    entries = ElementTree.parse(index).getroot().iter("DataSet")
    entries = [(float(entry.get("timestep")), entry.get("file")) for entry in entries]
    times = [time for time, _ in entries]
    check(len(times) > 0, f"{index}: no frames")
    check(all(a < b for a, b in zip(times, times[1:])), f"{index}: times do not increase: {times}")
    for k, (time, listed) in enumerate(entries):
        path = arguments.run / listed
        check(path.is_file(), f"{index}: {listed} is not there")
        if not path.is_file():
            continue
        frame = read(path)
        check_frame(frame, path.name, time, arguments.points, arguments.ranks)
        if arguments.ranks > 1:
            check(path.suffix == ".pvtp", f"{index}: {listed} is no parallel frame")
            check_pieces(path, frame, arguments.ranks)
        else:
            reader = pyvista.PVDReader(str(index))
            reader.set_active_time_point(k)
            check(reader.read()[0].n_points == frame.n_points, f"{path.name}: differs through the index")
    on_disk = {p.name for p in (arguments.run / "frames").iterdir()}
    files = len(times) * (1 if arguments.ranks == 1 else 1 + arguments.ranks)
    check(len(on_disk) == files, f"{len(on_disk)} files in frames/ instead of {files}")

    for message in failures:
        print(f"FAILED {message}", file=sys.stderr)
    print(f"{passed} passed, {len(failures)} failed")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
