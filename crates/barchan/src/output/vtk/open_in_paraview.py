"""Opens this run in ParaView: bodies as they are, walls, and force chains.

    paraview --script=open_in_paraview.py          to look at it
    pvbatch open_in_paraview.py picture.png        to draw the last frame

It lies beside the frames that it opens and goes where they go. Contacts are hidden, for they lie within
the spheres: click the eye beside them.
"""

import glob
import os
import sys

from paraview.simple import *

# Not every ParaView tells a script where it lies (5.11 does not): start those in the directory of the run.
folder = os.path.dirname(os.path.abspath(__file__)) if "__file__" in globals() else os.getcwd()
view = GetActiveViewOrCreate("RenderView")
view.UseColorPaletteForBackground = 0
view.Background = [1.0, 1.0, 1.0]
view.OrientationAxesLabelColor = [0.0, 0.0, 0.0]


def opened(name):
    """A source with the index of this name; `None` where the run has not written it."""
    path = os.path.join(folder, name + ".pvd")
    return PVDReader(registrationName=name, FileName=path) if os.path.exists(path) else None


bodies, walls, contacts = opened("frames"), opened("walls"), opened("contacts")
if bodies is None:
    raise RuntimeError(f"{folder} has no frames.pvd: is it the directory of a run?")
scene = GetAnimationScene()
scene.UpdateAnimationUsingDataTimeSteps()
scene.GoToLast()

# The surfaces of what is not a sphere: shapes/shape-NUMBER-NAME.vtp, where the array "shape" has the number.
surfaces = sorted(glob.glob(os.path.join(folder, "shapes", "shape-*.vtp")))
numbers = [int(os.path.basename(path).split("-")[1]) for path in surfaces]

# What glyphs ask for: the place of the surface in the list, and the turn in ParaView's order, w first. Spheres, which
# have no surface, are drawn as points, and what has one is a point of no size.
GLYPHS = """
import numpy as np
body = inputs[0].PointData
numbers = np.array(NUMBERS)
shape = np.asarray(body["shape"])
place = np.clip(np.searchsorted(numbers, shape), 0, len(numbers) - 1)
has_surface = numbers[place] == shape
turn = np.asarray(body["orientation"])
output.PointData.append(place.astype(np.int32), "glyph")
output.PointData.append(np.ascontiguousarray(turn[:, [3, 0, 1, 2]]), "glyph_turn")
output.PointData.append(np.where(has_surface[:, None], np.asarray(body["scale"]), 0.0), "glyph_scale")
output.PointData.append(np.where(has_surface, 0.0, np.asarray(body["radius"])), "ball")
"""
if surfaces:
    bodies = ProgrammableFilter(registrationName="bodies", Input=bodies)
    bodies.CopyArrays = 1
    bodies.Script = GLYPHS.replace("NUMBERS", repr(numbers))

# Spheres of their true size, drawn by the graphics card: millions of them turn smoothly.
spheres = Show(bodies, view)
spheres.SetRepresentationType("Point Gaussian")
spheres.ShaderPreset = "Sphere"
spheres.GaussianRadius = 1.0
spheres.ScaleByArray = 1
spheres.SetScaleArray = ["POINTS", "ball" if surfaces else "radius"]
spheres.UseScaleFunction = 0
ColorBy(spheres, ("POINTS", "speed"))
spheres.RescaleTransferFunctionToDataRange(True)
spheres.SetScalarBarVisibility(view, True)
bar = GetScalarBar(GetColorTransferFunction("speed"), view)
bar.Title, bar.ComponentTitle = "speed, m/s", ""
bar.TitleColor = bar.LabelColor = [0.0, 0.0, 0.0]

# Everything else as glyphs: a surface each, which the graphics card stretches, turns and places.
if surfaces:
    readers = [XMLPolyDataReader(registrationName=os.path.basename(path)[:-4], FileName=[path]) for path in surfaces]
    solid = ProgrammableFilter(registrationName="solids", Input=bodies)
    solid.CopyArrays = 1
    solid.Script = "pass"
    solids = Show(solid, view)
    solids.SetRepresentationType("3D Glyphs")
    solids.GlyphType = GroupDatasets(registrationName="shapes", Input=readers)
    solids.UseGlyphTable = solids.UseCompositeGlyphTable = 1
    solids.GlyphTableIndexArray = "glyph"
    solids.Orient, solids.OrientationMode = 1, "Quaternion"
    solids.SelectOrientationVectors = "glyph_turn"
    solids.Scaling, solids.ScaleMode, solids.ScaleFactor = 1, "Vector Components", 1.0
    solids.SelectScaleArray = "glyph_scale"
    ColorBy(solids, ("POINTS", "speed"))
    solids.RescaleTransferFunctionToDataRange(True)

if walls is not None:
    faces = Show(walls, view)
    faces.Representation = "Surface With Edges"
    faces.Opacity = 0.15
    faces.ColorArrayName = ["POINTS", ""]
    faces.AmbientColor = faces.DiffuseColor = [0.5, 0.55, 0.6]

if contacts is not None:
    lines = Show(contacts, view)
    ColorBy(lines, ("CELLS", "normal_impulse"))
    lines.LineWidth = 3.0
    lines.RenderLinesAsTubes = 1
    Hide(contacts, view)

# A view from the side and a little from above, as the pictures of the run have it.
SetActiveSource(bodies)
view.CameraViewUp = [0.0, 0.0, 1.0]
view.CameraPosition, view.CameraFocalPoint = [0.6, -1.0, 0.4], [0.0, 0.0, 0.0]
view.ResetCamera()
Render(view)
if len(sys.argv) > 1 and sys.argv[-1].endswith(".png"):
    SaveScreenshot(sys.argv[-1], view, ImageResolution=[1200, 900])
