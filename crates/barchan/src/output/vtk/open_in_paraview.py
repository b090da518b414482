"""Opens this run in ParaView: spheres of their true size, walls, and force chains.

    paraview --script=open_in_paraview.py          to look at it
    pvbatch open_in_paraview.py picture.png        to draw the last frame

It lies beside the frames that it opens and goes where they go. Contacts are hidden, for they lie within
the spheres: click the eye beside them.
"""

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

# Spheres of their true size, drawn by the graphics card: millions of them turn smoothly.
spheres = Show(bodies, view)
spheres.SetRepresentationType("Point Gaussian")
spheres.ShaderPreset = "Sphere"
spheres.GaussianRadius = 1.0
spheres.ScaleByArray = 1
spheres.SetScaleArray = ["POINTS", "radius"]
spheres.UseScaleFunction = 0
ColorBy(spheres, ("POINTS", "speed"))
spheres.RescaleTransferFunctionToDataRange(True)
spheres.SetScalarBarVisibility(view, True)
bar = GetScalarBar(GetColorTransferFunction("speed"), view)
bar.Title, bar.ComponentTitle = "speed, m/s", ""
bar.TitleColor = bar.LabelColor = [0.0, 0.0, 0.0]

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
