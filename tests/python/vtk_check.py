#!/usr/bin/env python3
"""Opens every frame of a run with VTK's own readers and checks what is in it.

    pip install pyvista
    python tests/python/vtk_check.py runs/settle --points 5000
    python tests/python/vtk_check.py runs/shared --points 5000 --ranks 3
    python tests/python/vtk_check.py runs/settle --vtkhdf settle.vtkhdf

Bodies, contacts and walls are read, and a picture of the last frame is drawn off screen, which must
not be empty. The writer is tested beside its code; this is the view from outside: would ParaView
read it? With --vtkhdf, every step of that file must be what the frame of the run is. Drawing needs
OpenGL without a screen (libegl1 on Debian).
Exits with 1 and says why if anything is wrong.
"""

import argparse
import ast
import os
import pathlib
import sys
import xml.etree.ElementTree as ElementTree

# There may be no screen: say so before VTK looks for one.
if not os.environ.get("DISPLAY"):
    os.environ.setdefault("VTK_DEFAULT_OPENGL_WINDOW", "vtkEGLRenderWindow")

import numpy as np
import pyvista
from vtkmodules.vtkCommonExecutionModel import vtkStreamingDemandDrivenPipeline
from vtkmodules.vtkIOHDF import vtkHDFReader
from vtkmodules.vtkIOXML import vtkXMLPPolyDataReader
from vtkmodules.vtkRenderingCore import vtkGlyph3DMapper

# Name, components, and type of every field that the bodies of a frame must carry.
FIELDS = {
    "radius": (1, np.float32),
    "diameter": (1, np.float32),
    "velocity": (3, np.float32),
    "angular_velocity": (3, np.float32),
    "orientation": (4, np.float32),
    "id": (1, np.int64),
    "material": (1, np.int32),
    "group": (1, np.int32),
    "motion": (1, np.int32),
    "speed": (1, np.float32),
    "rank": (1, np.int32),
}

# What frames with other shapes than spheres have beside them.
SHAPE_FIELDS = {
    "shape": (1, np.int64),
    "scale": (3, np.float32),
}

# The same for contacts and walls, which have them on their cells.
CONTACT_FIELDS = {
    "force": (3, np.float32),
    "normal_impulse": (1, np.float32),
    "normal": (3, np.float32),
    "id_a": (1, np.int64),
    "id_b": (1, np.int64),
    "rank": (1, np.int32),
}
WALL_FIELDS = {
    "id": (1, np.int64),
    "material": (1, np.int32),
    "face": (1, np.int32),
    "wall_position": (3, np.float64),
    "wall_orientation": (4, np.float64),
    "half_extents": (3, np.float64),
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


def check_fields(data, expected, n, name):
    """Checks names, shapes, types and values of arrays with `n` rows."""
    check(set(data.keys()) == set(expected), f"{name}: fields {sorted(data.keys())}")
    for field, (components, kind) in expected.items():
        if field not in data:
            continue
        values = np.asarray(data[field])
        shape = (n,) if components == 1 else (n, components)
        check(values.shape == shape, f"{name}: {field} has shape {values.shape}, not {shape}")
        check(values.dtype == kind, f"{name}: {field} is {values.dtype}, not {np.dtype(kind)}")
        check(np.isfinite(values).all(), f"{name}: a value of {field} is not finite")


def fields_of(frame):
    """The fields of a frame: those with shapes have more."""
    return FIELDS | SHAPE_FIELDS if "shape" in frame.point_data else FIELDS


def check_shapes(frame, run, name):
    """Draws every body that is not a sphere as a glyph, as the script for ParaView does, and checks where it is."""
    if "shape" not in frame.point_data:
        return
    files = sorted((run / "shapes").glob("shape-*.vtp"))
    numbers = [int(file.name.split("-")[1]) for file in files]
    data = {field: np.asarray(frame.point_data[field]) for field in ("shape", "scale", "radius", "orientation")}
    solid = data["shape"] != 0
    check(set(data["shape"][solid].tolist()) <= set(numbers), f"{name}: a shape without a file")
    check(np.allclose(data["scale"][~solid], data["radius"][~solid, None]), f"{name}: the scale of a sphere")
    surfaces = [pyvista.read(str(file)) for file in files]
    for k, surface in enumerate(surfaces):
        check(surface.n_cells > 0 and surface.n_points == 3 * surface.n_cells, f"{files[k].name}: no triangles")
    for i in np.flatnonzero(solid)[:200]:
        one = pyvista.PolyData(frame.points[i : i + 1].copy())
        place = numbers.index(data["shape"][i])
        x, y, z, w = data["orientation"][i].astype(float)
        one["glyph"] = np.array([place], dtype=np.int32)
        one["turn"], one["scale"] = np.array([[w, x, y, z]]), data["scale"][i : i + 1].astype(float)
        mapper = vtkGlyph3DMapper()
        mapper.SetInputData(one)
        mapper.SetSourceData(surfaces[place])
        mapper.SetOrientationArray("turn")
        mapper.SetOrientationModeToQuaternion()
        mapper.SetScaleArray("scale")
        mapper.SetScaleModeToScaleByVectorComponents()
        mapper.SetScaleFactor(1.0)
        # The same by hand.
        turn = np.array([
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ])
        corners = (surfaces[place].points * data["scale"][i]) @ turn.T + frame.points[i]
        bounds = np.array(mapper.GetBounds()).reshape(3, 2)
        low, high, radius = corners.min(axis=0), corners.max(axis=0), data["radius"][i]
        # VTK takes the box about a source, and turns that.
        within = (bounds[:, 0] <= low + 1e-5 * radius).all() and (bounds[:, 1] >= high - 1e-5 * radius).all()
        check(within, f"{name}: the glyph of body {i} is elsewhere: {bounds.tolist()}, {low}, {high}")
        far = np.linalg.norm(corners - frame.points[i], axis=1).max()
        check(0.8 * radius < far < 1.0001 * radius, f"{name}: body {i} reaches {far}, not {radius}")
    print(f"{name}: {int(solid.sum())} bodies with {len(files)} surfaces")


def check_moment(frame, name, time):
    """Checks the field data."""
    stored = frame.field_data.get("TimeValue", [np.nan])[0]
    check(stored == time, f"{name}: time {stored} in the frame, {time} in the index")
    check(frame.field_data.get("step", [-1])[0] >= 0, f"{name}: no step")


def check_pieces(path, whole, ranks):
    """Checks that the pieces of a parallel frame are there, each with what belongs to its rank."""
    index = path.read_text()
    pieces = [path.parent / rest.split('"')[0] for rest in index.split('Source="')[1:]]
    check(len(pieces) == ranks, f"{path.name}: {len(pieces)} pieces instead of {ranks}")
    points = 0
    for rank, piece in enumerate(pieces):
        part = pyvista.read(str(piece))
        points += part.n_points
        data = part.point_data if "rank" in part.point_data else part.cell_data
        check((np.asarray(data["rank"]) == rank).all(), f"{piece.name}: something of another rank")
    check(points == whole.n_points, f"{path.name}: {whole.n_points} points, {points} in the pieces")


def check_frame(frame, name, time, points, ranks):
    """Checks one frame as a table of points with their fields."""
    n = frame.n_points
    if points is not None:
        check(n == points, f"{name}: {n} points instead of {points}")
    check(frame.n_cells == n and frame.n_verts == n, f"{name}: {frame.n_verts} vertices for {n} points")
    check(np.isfinite(frame.points).all(), f"{name}: a position is not finite")
    check(frame.points.dtype == np.float64, f"{name}: positions are {frame.points.dtype}, not float64")
    check_moment(frame, name, time)
    check_fields(frame.point_data, fields_of(frame), n, name)
    if failures:
        return
    radius, velocity, ids = (np.asarray(frame.point_data[f]) for f in ("radius", "velocity", "id"))
    check((radius > 0).all(), f"{name}: a radius is not positive")
    check(np.allclose(frame.point_data["diameter"], 2 * radius), f"{name}: diameter is not twice the radius")
    check(np.unique(ids).size == n, f"{name}: ids are not unique")
    length = np.linalg.norm(np.asarray(frame.point_data["orientation"], dtype=float), axis=1)
    check(np.allclose(length, 1, atol=1e-6), f"{name}: an orientation is not of unit length")
    rank = np.asarray(frame.point_data["rank"])
    check(((0 <= rank) & (rank < ranks)).all(), f"{name}: a rank out of range: {span(rank)}")
    speed = np.linalg.norm(velocity.astype(float), axis=1)
    check(np.allclose(frame.point_data["speed"], speed, rtol=1e-5), f"{name}: speed is not the length of velocity")
    print(f"{name}: t = {time:.6g}, {n} points")
    for axis, label in enumerate("xyz"):
        print(f"    {label:<10} {span(frame.points[:, axis])}")
    for field in ("radius", "speed", "id", "rank"):
        print(f"    {field:<10} {span(np.asarray(frame.point_data[field]))}")


def check_contacts(contacts, bodies, walls, name, time, radius):
    """Checks contacts as lines that begin at a body and end at another, or at a wall."""
    n = contacts.n_cells
    check(contacts.n_lines == n and contacts.n_points == 2 * n, f"{name}: {contacts.n_points} points for {n} lines")
    check_moment(contacts, name, time)
    check_fields(contacts.cell_data, CONTACT_FIELDS, n, name)
    if failures or n == 0:
        return
    lines = contacts.lines.reshape(n, 3)
    check((lines[:, 0] == 2).all(), f"{name}: a line that has not two ends")
    place = dict(zip(np.asarray(bodies.point_data["id"]).tolist(), bodies.points))
    known = set(place) | set(np.asarray(walls.cell_data["id"]).tolist() if walls else [])
    id_a, id_b = (np.asarray(contacts.cell_data[field]).tolist() for field in ("id_a", "id_b"))
    check(set(id_a) | set(id_b) <= known, f"{name}: contacts of bodies that are not there")
    # Lines begin at body A, as well as the digits go.
    far = [k for k in range(n) if np.linalg.norm(contacts.points[lines[k, 1]] - place[id_a[k]]) > 1e-4 * radius]
    check(not far, f"{name}: {len(far)} lines do not begin at their bodies")
    force, normal = (np.asarray(contacts.cell_data[field], dtype=float) for field in ("force", "normal"))
    check(np.allclose(np.linalg.norm(normal, axis=1), 1, atol=1e-5), f"{name}: a normal is not of unit length")
    # From B towards A, and so against the line.
    along = contacts.points[lines[:, 1]].astype(float) - contacts.points[lines[:, 2]]
    check(((along * normal).sum(axis=1) > 0).all(), f"{name}: a normal against its line")
    impulse = np.asarray(contacts.cell_data["normal_impulse"], dtype=float)
    push = (force * normal).sum(axis=1)
    # What is too small for single precision is zero there.
    carried = push > 0
    ratio = np.median(impulse[carried] / push[carried])
    same = np.allclose(impulse, ratio * push, rtol=1e-3, atol=1e-5 * impulse.max())
    check(same, f"{name}: force is not the impulse over the step")
    print(f"{name}: {n} lines, normal impulse {span(impulse)}")


def check_walls(walls, name):
    """Checks walls as quads."""
    n = walls.n_cells
    check(n > 0 and walls.n_points == 4 * n, f"{name}: {walls.n_points} points for {n} quads")
    check(np.isfinite(walls.points).all(), f"{name}: a corner is not finite")
    check_fields(walls.cell_data, WALL_FIELDS, n, name)
    check((walls.compute_cell_sizes()["Area"] > 0).all(), f"{name}: a wall without area")


def check_vtkhdf(path, run, frames):
    """Checks that a VTKHDF file has all frames as they are in the files of the run."""
    check(vtkHDFReader().CanReadFile(str(path)), f"{path.name}: not a file that VTK reads")
    reader = vtkHDFReader()
    reader.SetFileName(str(path))
    reader.UpdateInformation()
    times = reader.GetOutputInformation(0).Get(vtkStreamingDemandDrivenPipeline.TIME_STEPS()) or ()
    check(list(times) == [time for time, _ in frames], f"{path.name}: times {times}")
    # Backwards as well: nothing may depend on the step before.
    order = list(range(len(frames)))
    for k in order + order[::-1]:
        time, listed = frames[k]
        name = f"{path.name} at {time:.6g}"
        reader.UpdateTimeStep(time)
        check(reader.GetErrorCode() == 0, f"{name}: VTK gives error {reader.GetErrorCode()}")
        step, frame = pyvista.wrap(reader.GetOutput()), read(run / listed)
        check(step.n_points == frame.n_points, f"{name}: {step.n_points} points, {frame.n_points} in {listed}")
        check(step.n_cells == step.n_verts == frame.n_verts, f"{name}: {step.n_verts} vertices")
        check(np.array_equal(step.verts, frame.verts), f"{name}: other vertices than {listed}")
        check(step.points.dtype == np.float64, f"{name}: positions are {step.points.dtype}, not float64")
        check(np.array_equal(step.points, frame.points), f"{name}: other positions than {listed}")
        check_fields(step.point_data, fields_of(frame), frame.n_points, name)
        for field in set(fields_of(frame)) & set(step.point_data.keys()):
            ours, theirs = (np.asarray(data.point_data[field]) for data in (step, frame))
            # These two are computed once more, from numbers of seven digits.
            # Radii of rounded shapes come from their surfaces.
            rounded = {field: (5e-3, 0) for field in ("radius", "diameter", "scale") if "shape" in frame.point_data}
            slack = (rounded | {"orientation": (0, 2e-7), "speed": (2e-7, 0)}).get(field, (0, 0))
            same = ours.shape == theirs.shape and np.allclose(ours, theirs, *slack)
            check(same, f"{name}: another {field} than {listed}")
        stored = [np.asarray(data.field_data.get("step", [-1])).tolist() for data in (step, frame)]
        check(stored[0] == stored[1], f"{name}: step {stored[0]}, {stored[1]} in {listed}")
    print(f"{path.name}: {len(times)} steps, the last with {reader.GetOutput().GetNumberOfPoints()} points")


def draw(bodies, contacts, walls, directory):
    """Draws a frame off screen and checks that everything can be seen. Pictures are kept if asked for."""
    seen = {}
    for what in ("bodies", "contacts", "walls"):
        plotter = pyvista.Plotter(off_screen=True, window_size=(320, 240))
        plotter.set_background("white")
        if what == "bodies" and bodies.n_points:
            ball = pyvista.Sphere(theta_resolution=8, phi_resolution=8)
            glyphs = bodies.glyph(scale="diameter", orient=False, geom=ball)
            plotter.add_mesh(glyphs, scalars="speed", show_scalar_bar=False)
        elif what == "contacts" and contacts and contacts.n_cells:
            plotter.add_mesh(contacts, scalars="normal_impulse", line_width=2, show_scalar_bar=False)
        elif what == "walls" and walls:
            plotter.add_mesh(walls, color="grey", show_edges=True)
        else:
            continue
        file = directory and str(directory / f"{what}.png")
        image = np.asarray(plotter.screenshot(file, return_img=True))
        plotter.close()
        seen[what] = int((image.reshape(-1, image.shape[-1])[:, :3] != 255).any(axis=1).sum())
        check(seen[what] > 300, f"only {seen[what]} pixels of {what} in the picture")
    print(f"pixels that are not background: {seen}")


def entries(index):
    """Times and files of an index; none if it is not there."""
    if not index.is_file():
        return []
    found = ElementTree.parse(index).getroot().iter("DataSet")
    return [(float(entry.get("timestep")), entry.get("file")) for entry in found]


def check_script(path):
    """Checks that the script for ParaView is Python, and names arrays that there are."""
    names = {node.value for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant)}
    check({"radius", "speed"} <= names & FIELDS.keys(), f"{path.name}: bodies are not drawn by what they have")
    check({"glyph", "glyph_turn", "glyph_scale"} <= names, f"{path.name}: shapes are not drawn")
    check("normal_impulse" in names & CONTACT_FIELDS.keys(), f"{path.name}: contacts are not coloured")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=pathlib.Path, help="directory of a run")
    parser.add_argument("--points", type=int, help="number of bodies that every frame must show")
    parser.add_argument("--ranks", type=int, default=1, help="number of ranks that wrote the frames")
    parser.add_argument("--wall-files", type=int, default=1, help="number of files that walls must take")
    parser.add_argument("--pictures", type=pathlib.Path, help="directory for the pictures, if they are to be kept")
    parser.add_argument("--surfaces", type=int, default=0, help="number of surfaces that bodies must have at least")
    parser.add_argument("--vtkhdf", type=pathlib.Path, help="file that must have the same frames")
    arguments = parser.parse_args()

    index = arguments.run / "frames.pvd"
    if not index.is_file():
        sys.exit(f"{index} is not there")
    frames, contacts, walls = (entries(arguments.run / f"{name}.pvd") for name in ("frames", "contacts", "walls"))
    times = [time for time, _ in frames]
    check(len(times) > 0, f"{index}: no frames")
    check(all(a < b for a, b in zip(times, times[1:])), f"{index}: times do not increase: {times}")
    check([time for time, _ in contacts] == times, "contacts.pvd has other times than frames.pvd")
    check([time for time, _ in walls] in (times, []), "walls.pvd has other times than frames.pvd")
    bodies = lines = quads = None
    for k, (time, listed) in enumerate(frames):
        path = arguments.run / listed
        check(path.is_file(), f"{index}: {listed} is not there")
        if not path.is_file():
            continue
        bodies = read(path)
        check_frame(bodies, path.name, time, arguments.points, arguments.ranks)
        check_shapes(bodies, arguments.run, path.name)
        if walls:
            quads = read(arguments.run / walls[k][1])
            check_walls(quads, walls[k][1])
        line_path = arguments.run / contacts[k][1]
        lines = read(line_path)
        radius = float(np.asarray(bodies.point_data["radius"]).max(initial=0))
        check_contacts(lines, bodies, quads, line_path.name, time, radius)
        if arguments.ranks > 1:
            check(path.suffix == ".pvtp", f"{index}: {listed} is no parallel frame")
            check_pieces(path, bodies, arguments.ranks)
            check_pieces(line_path, lines, arguments.ranks)
        else:
            for name, whole in (("frames", bodies), ("contacts", lines)):
                reader = pyvista.PVDReader(str(arguments.run / f"{name}.pvd"))
                reader.set_active_time_point(k)
                check(reader.read()[0].n_points == whole.n_points, f"{name}.pvd: frame {k} differs through the index")
    if arguments.vtkhdf:
        check_vtkhdf(arguments.vtkhdf, arguments.run, frames)
    surfaces = len(list((arguments.run / "shapes").glob("shape-*.vtp")))
    check(surfaces >= arguments.surfaces, f"{surfaces} surfaces of shapes instead of {arguments.surfaces}")
    check_script(arguments.run / "open_in_paraview.py")
    if bodies is not None:
        draw(bodies, lines, quads, arguments.pictures)
    wall_files = len({file for _, file in walls})
    check(wall_files == arguments.wall_files, f"walls take {wall_files} files instead of {arguments.wall_files}")
    on_disk = {p.name for p in (arguments.run / "frames").iterdir()}
    files = wall_files + 2 * len(times) * (1 if arguments.ranks == 1 else 1 + arguments.ranks)
    check(len(on_disk) == files, f"{len(on_disk)} files in frames/ instead of {files}")

    for message in failures:
        print(f"FAILED {message}", file=sys.stderr)
    print(f"{passed} passed, {len(failures)} failed")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
