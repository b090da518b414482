"""Makes the HDF5 files that tests of the Rust code read, with the library that everybody else uses.

    python3 -m venv env && env/bin/pip install h5py numpy
    env/bin/python tests/python/hdf5_fixtures.py

The files are committed: run this only to change them. The bytes depend on the version of the library.
"""

import ctypes
from pathlib import Path

import h5py
import numpy as np

ROOT = Path(__file__).resolve().parents[2]
ARRAYS = ROOT / "crates/barchan-hdf5/tests/data"
PROBLEMS = ROOT / "crates/barchan-cone/tests/data"


def create(path, libver, small_nodes=False):
    """A new file. Small nodes make deep trees of a few names or chunks."""
    fapl = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    version = {"earliest": h5py.h5f.LIBVER_EARLIEST, "v110": h5py.h5f.LIBVER_V110, "latest": h5py.h5f.LIBVER_LATEST}[libver]
    fapl.set_libver_bounds(version, h5py.h5f.LIBVER_LATEST)
    fcpl = h5py.h5p.create(h5py.h5p.FILE_CREATE)
    if small_nodes:
        # h5py has no word for this. Its wheel has the library beside it.
        libraries = Path(h5py.__file__).parents[1] / "h5py.libs"
        library = ctypes.CDLL(next(str(path) for path in libraries.glob("libhdf5-*.so*")))
        assert library.H5Pset_sym_k(ctypes.c_int64(fcpl.id), ctypes.c_uint(1), ctypes.c_uint(1)) >= 0
        assert library.H5Pset_istore_k(ctypes.c_int64(fcpl.id), ctypes.c_uint(2)) >= 0
    return h5py.File(h5py.h5f.create(str(path).encode(), h5py.h5f.ACC_TRUNC, fcpl=fcpl, fapl=fapl))


def compact(group, name, data):
    """Data within the header of their dataset."""
    data = np.asarray(data)
    dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    dcpl.set_layout(h5py.h5d.COMPACT)
    space = h5py.h5s.create_simple(data.shape)
    dataset = h5py.h5d.create(group.id, name.encode(), h5py.h5t.py_create(data.dtype), space, dcpl=dcpl)
    dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, data)


def implicit(group, name, data, chunks):
    """Chunks one behind the other: without filters, and with their place taken at once."""
    dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    dcpl.set_chunk(chunks)
    dcpl.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    space = h5py.h5s.create_simple(data.shape)
    dataset = h5py.h5d.create(group.id, name.encode(), h5py.h5t.py_create(data.dtype), space, dcpl=dcpl)
    dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, data)


def arrays(path, libver):
    """Every type, layout and filter that can be read, and some that cannot."""
    with create(path, libver, small_nodes=True) as file:
        types = file.create_group("types")
        for code in ["i1", "u1", "<i2", ">u2", "<i4", ">i4", "<u8", ">i8"]:
            first = 7 if "u" in code else -7
            types[code] = np.array([first, 0, 100], dtype=code)
        # Groups of more than eight names are kept otherwise in newer files.
        floats = file.create_group("floats")
        for code in ["<f4", ">f4", "<f8", ">f8"]:
            floats[code] = np.array([-1.5, 0.0, 2.0**20], dtype=code)
        refused = file.create_group("refused")
        refused["f2"] = np.array([1.0], dtype="<f2")
        refused["text"] = np.bytes_("some text")
        refused["bool"] = np.array([True, False])
        refused["soft"] = h5py.SoftLink("/types/i1")
        refused["external"] = h5py.ExternalLink("other.h5", "/a")
        refused.create_dataset("unwritten", shape=(4,), dtype="<f8")
        refused.create_dataset("scaled", data=np.arange(8), chunks=(4,), scaleoffset=0)
        refused.create_dataset("unwritten-chunk", shape=(8,), chunks=(4,), dtype="<f8")[0] = 1.0

        layouts = file.create_group("layouts")
        layouts["scalar"] = np.float64(2.5)
        layouts["empty"] = np.zeros(0)
        layouts["null"] = h5py.Empty("f8")
        compact(layouts, "compact", np.arange(5, dtype="<f8") / 2)
        # Numbers 0, 1, 2, ... in each.
        chunked = file.create_group("chunked")
        grid = np.arange(7 * 10, dtype="<i4").reshape(7, 10)
        chunked.create_dataset("plain", data=grid, chunks=(3, 4))
        chunked.create_dataset("filtered", data=grid, chunks=(3, 4), compression="gzip", shuffle=True, fletcher32=True)
        chunked.create_dataset("one", data=grid, chunks=(7, 10))
        chunked.create_dataset("one-filtered", data=grid, chunks=(7, 10), compression="gzip")
        implicit(chunked, "implicit", grid, (4, 4))
        chunked.create_dataset("may-grow", data=grid, maxshape=(9, 30), chunks=(3, 4), shuffle=True)
        cube = np.arange(3 * 4 * 5, dtype=">f8").reshape(3, 4, 5)
        chunked.create_dataset("cube", data=cube, chunks=(2, 3, 2), fletcher32=True)
        endless = file.create_group("endless")
        endless.create_dataset("one-way", data=grid, chunks=(3, 4), maxshape=(None, 10))
        endless.create_dataset("all-ways", data=grid, chunks=(3, 4), maxshape=(None, None))
        # Attributes make headers continue elsewhere.
        layouts["compact"].attrs["comment"] = "a" * 300
        many = file.create_group("many")
        for k in range(12):
            many[f"n{k}"] = np.int32(k)


def write_matrix(group, dense, kind):
    """As FCLIB does: nz is -1 for compressed columns, -2 for compressed rows, and a count for triplets."""
    m, n = dense.shape
    transposed = dense.T if kind == "csc" else dense
    outer, inner = np.nonzero(transposed)
    x = transposed[outer, inner]
    if kind == "triplets":
        # In no order, and one entry in two parts, which are to be added.
        order = np.random.default_rng(1).permutation(len(x))
        rows, columns, x = outer[order], inner[order], x[order]
        rows, columns = np.append(rows, rows[0]), np.append(columns, columns[0])
        x = np.append(x, x[0] / 2)
        x[0] /= 2
        nz, p, i = len(x), rows, columns
    else:
        nz = {"csc": -1, "csr": -2}[kind]
        p = np.append(0, np.cumsum(np.bincount(outer, minlength=transposed.shape[0])))
        i = inner
    for name, value in [("nzmax", len(x)), ("m", m), ("n", n), ("nz", nz)]:
        group[name] = np.array([value], dtype="<i4")
    group["p"], group["i"] = p.astype("<i4"), i.astype("<i4")
    group["x"] = x


def write_local(file, W, q, mu, kind, dimension=3):
    local = file.create_group("fclib_local")
    local["spacedim"] = np.array([dimension], dtype="<i4")
    write_matrix(local.create_group("W"), W, kind)
    vectors = local.create_group("vectors")
    vectors["q"], vectors["mu"] = q, mu
    return local


def write_global(file, M, H, f, w, mu, kind, G=None):
    problem = file.create_group("fclib_global")
    problem["spacedim"] = np.array([3], dtype="<i4")
    write_matrix(problem.create_group("M"), M, kind)
    write_matrix(problem.create_group("H"), H, kind)
    vectors = problem.create_group("vectors")
    vectors["f"], vectors["w"], vectors["mu"] = f, w, mu
    if G is not None:
        write_matrix(problem.create_group("G"), G, kind)
        vectors["b"] = np.zeros(G.shape[1])


def write_text(path, W, q, mu):
    """The text format, its matrix dense."""
    n = len(q)
    numbers = [3, len(mu), 0, n, n, n, n, *W.T.ravel(), *q, *mu]
    path.write_text("\n".join(repr(x.item() if hasattr(x, "item") else x) for x in numbers) + "\n")


def problems():
    rng = np.random.default_rng(7)
    quarters = lambda *shape: rng.integers(-8, 9, shape) / 4

    # Three contacts in a row: the first and the last are not coupled.
    J = quarters(9, 15)
    J[0:3, 10:], J[6:, :5] = 0, 0
    J[3:6, 5:10] = 0
    J[0:3, 5:10], J[6:, 5:10] = quarters(3, 5), 0
    W = J @ J.T + np.eye(9) / 8
    q = np.array([-1.0, 0.25, 0.0, -2.0, 1.0, -0.5, 0.125, 0.0, -1.0])
    mu = np.array([0.5, 0.0, 0.75])
    assert np.array_equal(W, W.T) and not W[0:3, 6:].any() and W[0:3, 3:6].any()
    write_text(PROBLEMS / "local.dat", W, q, mu)
    with create(PROBLEMS / "local-csc.hdf5", "earliest") as file:
        local = write_local(file, W, q, mu, "csc")
        # What FCLIB may write besides.
        local["W"]["comment"] = np.bytes_("made up")
        local["W"]["conditioning"], local["W"]["determinant"] = np.array([1.0]), np.array([1.0])
        local["W"]["rank"] = np.array([9], dtype="<i4")
        info = local.create_group("info")
        info["title"], info["description"] = np.bytes_("three contacts"), np.bytes_("a test")
        info.attrs["numberOfInvolvedDS"] = np.array([2], dtype="<i4")
        solution = file.create_group("solution")
        solution["u"], solution["r"] = np.zeros(9), np.zeros(9)
        guesses = file.create_group("guesses")
        guesses["number_of_guesses"] = np.array([1], dtype="<i4")
        guess = guesses.create_group("1")
        guess["u"], guess["r"] = np.ones(9), np.ones(9)
    with create(PROBLEMS / "local-csr.hdf5", "latest") as file:
        write_local(file, W, q, mu, "csr")
    with create(PROBLEMS / "local-triplets.hdf5", "earliest", small_nodes=True) as file:
        write_local(file, W, q, mu, "triplets")

    # Two bodies of six degrees of freedom, the second with its spins first.
    M = np.zeros((12, 12))
    inertia = np.array([[2.0, 0.5, 0.0], [0.5, 3.0, -0.25], [0.0, -0.25, 1.5]])
    M[0:3, 0:3], M[3:6, 3:6] = 4 * np.eye(3), inertia
    M[6:9, 6:9], M[9:12, 9:12] = 2 * inertia, 8 * np.eye(3)
    H = np.zeros((12, 9))
    H[0:6, 0:3], H[:, 3:6], H[6:12, 6:9] = quarters(6, 3), quarters(12, 3), quarters(6, 3)
    f, w = quarters(12), quarters(9)
    w[0::3] -= 6
    W = H.T @ np.linalg.inv(M) @ H
    write_text(PROBLEMS / "global.dat", (W + W.T) / 2, H.T @ np.linalg.inv(M) @ f + w, mu)
    with create(PROBLEMS / "global.hdf5", "earliest", small_nodes=True) as file:
        write_global(file, M, H, f, w, mu, "csc")
    with create(PROBLEMS / "global-equalities.hdf5", "earliest", small_nodes=True) as file:
        write_global(file, M, H, f, w, mu, "triplets", G=quarters(12, 2))

    # Two contacts in the plane, normal and tangent each.
    W = np.array([[2.0, 0.25, 0.5, 0.0], [0.25, 1.0, 0.0, 0.125], [0.5, 0.0, 1.0, 0.0], [0.0, 0.125, 0.0, 3.0]])
    with create(PROBLEMS / "planar.hdf5", "earliest", small_nodes=True) as file:
        write_local(file, W, np.array([-1.0, 0.5, -0.25, -2.0]), np.array([0.3, 0.6]), "csr", dimension=2)


if __name__ == "__main__":
    ARRAYS.mkdir(parents=True, exist_ok=True)
    PROBLEMS.mkdir(parents=True, exist_ok=True)
    arrays(ARRAYS / "old.h5", "earliest")
    arrays(ARRAYS / "new.h5", "v110")
    arrays(ARRAYS / "latest.h5", "latest")
    problems()
