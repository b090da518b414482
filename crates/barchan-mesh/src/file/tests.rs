use glam::DVec3;

use super::*;
use crate::random::Random;

const STL: &str = "solid a tetrahedron
facet normal 0 0 -1
  outer loop
    vertex 0 0 0
    vertex 0 1 0
    vertex 1 0 0
  endloop
endfacet
facet normal 0 -1 0
  outer loop
    vertex 0 0 0
    vertex 1 0 0
    vertex 0 0 1
  endloop
endfacet
endsolid
SOLID the rest
  FACET NORMAL nan nan nan
  OUTER LOOP
    VERTEX 0 0 0
    VERTEX 0 0 1
    VERTEX 0 1 0
  ENDLOOP
  ENDFACET
facet normal 1 1 1
  outer loop
    vertex 1.0E0 0 0
    vertex 0 1e+0 0
    vertex 0 0 1.
  endloop
endfacet
endsolid the rest
";

const OBJ: &str = "# a tetrahedron
mtllib none.mtl
o one
v 0 0 0 1.0
v 1 0 0 0.5 0.5 0.5
v 0 1 0
v 0 0 1
vt 0.5
vn 0 0 -1
usemtl steel
f 1//1 3//1 2//1
g two
s off
f 1/7 2/8 4/9
f -4 -1 -2
f 2 3 4
l 1 2
";

const PLY: &str = "ply
format ascii 1.0
comment a tetrahedron
element vertex 4
property float x
property double y
property float z
property uchar red
element face 4
property list uchar int vertex_indices
element edge 1
property int vertex1
end_header
0 0 0 7
1 0 0 7
0 1 0 7
0 0 1 7
3 0 2 1
3 0 1 3
3 0 3 2
3 1 2 3
5
";

/// The header of `PLY` and its numbers in binary.
fn ply_binary(big: bool) -> Vec<u8> {
    let order = if big { "binary_big_endian" } else { "binary_little_endian" };
    let mut bytes = PLY[..PLY.find("0 0 0 7").unwrap()].replace("ascii", order).into_bytes();
    let ordered = |mut b: Vec<u8>| {
        if big {
            b.reverse();
        }
        b
    };
    for p in [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z] {
        bytes.extend(ordered((p.x as f32).to_le_bytes().to_vec()));
        bytes.extend(ordered(p.y.to_le_bytes().to_vec()));
        bytes.extend(ordered((p.z as f32).to_le_bytes().to_vec()));
        bytes.push(7);
    }
    for face in [[0i32, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]] {
        bytes.push(3);
        face.iter().for_each(|k| bytes.extend(ordered(k.to_le_bytes().to_vec())));
    }
    bytes.extend(ordered(5i32.to_le_bytes().to_vec()));
    bytes
}

/// Four corners and four triangles, without faults, of the volume 1/6.
fn is_tetrahedron(surface: &Surface) {
    assert_eq!((surface.vertices.len(), surface.triangles.len()), (4, 4));
    assert_eq!(surface.faults(), []);
    assert!((crate::Moments::of_surface(surface).volume - 1.0 / 6.0).abs() < 1e-15);
}

fn refusal(bytes: impl AsRef<[u8]>, format: Format) -> String {
    parse(bytes.as_ref(), format).expect_err("such a file is refused").to_string()
}

#[test]
fn the_same_body_is_read_from_every_format() {
    is_tetrahedron(&parse(STL.as_bytes(), Format::Stl).unwrap());
    is_tetrahedron(&parse(OBJ.as_bytes(), Format::Obj).unwrap());
    is_tetrahedron(&parse(PLY.as_bytes(), Format::Ply).unwrap());
    is_tetrahedron(&parse(PLY.replace('\n', "\r\n").as_bytes(), Format::Ply).unwrap());
    is_tetrahedron(&parse(STL.replace('\n', "\r\n").as_bytes(), Format::Stl).unwrap());
    is_tetrahedron(&parse(OBJ.replace('\n', "\r\n").as_bytes(), Format::Obj).unwrap());
    for big in [false, true] {
        is_tetrahedron(&parse(&ply_binary(big), Format::Ply).unwrap());
    }
    let binary = write_stl_binary(&parse(OBJ.as_bytes(), Format::Obj).unwrap());
    is_tetrahedron(&parse(&binary, Format::Stl).unwrap());
    // Many programs begin binary files as texts do.
    let mut solid = binary;
    solid[..22].copy_from_slice(b"solid made by somebody");
    is_tetrahedron(&parse(&solid, Format::Stl).unwrap());
    solid[..80].fill(b' ');
    is_tetrahedron(&parse(&solid, Format::Stl).unwrap());
}

/// Points that no face uses were lost, and files without faces refused.
#[test]
fn points_are_read_without_faces() {
    let read = |text: &str, format| super::points(text.as_bytes(), format);
    let loose = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv 0 -0 0\n";
    assert_eq!(read(loose, Format::Obj).unwrap(), [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z]);
    // Those of faces are first, in the order of a surface.
    let some = format!("{loose}f 3 2 1\n");
    assert_eq!(read(&some, Format::Obj).unwrap(), [DVec3::Y, DVec3::X, DVec3::ZERO, DVec3::Z]);
    assert!(read(&format!("{loose}f 3 2 9\n"), Format::Obj).unwrap_err().to_string().contains("refers to vertex 9"));
    assert!(read("v 0 0\n", Format::Obj).unwrap_err().to_string().contains("line 1: found \"v 0 0\""));
    assert!(read("# nothing\n", Format::Obj).unwrap_err().to_string().contains("no vertices"));
    let ply = "ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\nproperty float y\nproperty float z\n\
               end_header\n0 0 0\n0 0 1\n";
    assert_eq!(read(ply, Format::Ply).unwrap(), [DVec3::ZERO, DVec3::Z]);
    assert!(parse(ply.as_bytes(), Format::Ply).is_err());
}

#[test]
fn polygons_become_fans() {
    let quads = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0.5 2 0\nf 1 2 3 4\nf 4 3 5\n";
    assert_eq!(parse(quads.as_bytes(), Format::Obj).unwrap().triangles.len(), 3);
    let five = "v 0 0 0\nv 1 0 0\nv 2 1 0\nv 1 2 0\nv 0 1 0\nf 1 2 3 4 5\n";
    assert_eq!(parse(five.as_bytes(), Format::Obj).unwrap().triangles, [[0, 1, 2], [0, 2, 3], [0, 3, 4]]);
}

#[test]
fn stl_is_refused_with_a_place() {
    let says = |text: &str, expected: &[&str]| {
        let error = refusal(text, Format::Stl);
        expected.iter().for_each(|part| assert!(error.contains(part), "{error}"));
    };
    says("", &["0 bytes", "solid"]);
    says("solid nothing\nendsolid\n", &["no triangles"]);
    says(&STL.replace("vertex 1 0 0", "vertex 1 0"), &["line 6"]);
    says(&STL.replace("vertex 1 0 0", "vertex 1 0 0x"), &["line 6", "invalid float"]);
    says(&STL.replace("vertex 1.0E0 0 0", "vertex inf 0 0"), &["line 27", "finite"]);
    says(&STL[..STL.find("1.\n").unwrap()], &["line 29"]);
    says(&STL[..STL.find("endsolid\n").unwrap()], &["endsolid"]);
    let binary = write_stl_binary(&Surface::sphere(1.0, 1));
    for length in [0, 50, 83, 84, 1000, binary.len() - 1] {
        let error = refusal(&binary[..length], Format::Stl);
        assert!(error.contains("bytes"), "{error}");
    }
    let mut infinite = binary.clone();
    infinite[84 + 50 * 3 + 12..][..4].copy_from_slice(&f32::INFINITY.to_le_bytes());
    assert!(refusal(&infinite, Format::Stl).contains("triangle 3"));
    let mut many = binary;
    many[80..84].fill(0xff);
    assert!(refusal(&many, Format::Stl).contains("4294967295"));
}

#[test]
fn obj_is_refused_with_a_place() {
    let says = |text: &str, expected: &[&str]| {
        let error = refusal(text, Format::Obj);
        expected.iter().for_each(|part| assert!(error.contains(part), "{error}"));
    };
    says("", &["no triangles"]);
    says("v 0 0 0\nv 1 0 0\nv 0 1 0\n", &["no triangles"]);
    says(&OBJ.replace("v 0 1 0", "v 0 one 0"), &["line 6", "\"v 0 one 0\""]);
    says(&OBJ.replace("v 0 1 0", "v 0 1"), &["line 6"]);
    says(&OBJ.replace("v 0 1 0", "v 0 1e999 0"), &["line 6", "finite"]);
    says(&OBJ.replace("f 2 3 4", "f 2 3 5"), &["line 16", "vertex 5", "there are 4"]);
    says(&OBJ.replace("f 2 3 4", "f 0 3 4"), &["line 16", "vertex 0"]);
    says(&OBJ.replace("f -4 -1 -2", "f -5 -1 -2"), &["line 15", "vertex -5"]);
    says(&OBJ.replace("f 2 3 4", "f 2 3 x"), &["line 16", "\"f 2 3 x\""]);
    says(&OBJ.replace("f 2 3 4", "f 2 3 9223372036854775807"), &["line 16"]);
    says(&OBJ.replace("f 2 3 4", "f 2 3 -9223372036854775808"), &["line 16"]);
}

#[test]
fn ply_is_refused_with_a_place() {
    let says = |text: &str, expected: &[&str]| {
        let error = refusal(text, Format::Ply);
        expected.iter().for_each(|part| assert!(error.contains(part), "{error}"));
    };
    says("", &["line 1", "ply"]);
    says("ply\nformat ascii 1.0\nend_header\n", &["property x"]);
    says(&PLY.replace("property double y\n", ""), &["property y"]);
    says(&PLY.replace("vertex_indices", "corners"), &["vertex_indices"]);
    says(&PLY.replace("property int vertex1\n", ""), &["edge", "without properties"]);
    says(&PLY.replace("element face 4", "element face 4000000000"), &["truncated", "4000000000 of face"]);
    says(&PLY.replace("element edge 1", "element edge 18446744073709551615"), &["truncated"]);
    says(&PLY.replace("3 1 2 3", "3 1 2 4"), &["face 3", "vertex 4", "there are 4"]);
    says(&PLY.replace("3 1 2 3", "3 1 2 -1"), &["face 3", "vertex -1"]);
    says(&PLY.replace("3 1 2 3", "200 1 2 3"), &["line 21"]);
    says(&PLY.replace("0 1 0 7", "0 1e999 0 7"), &["vertex 2", "finite"]);
    says(&PLY.replace("0 1 0 7", "0 one 0 7"), &["line 16"]);
    for big in [false, true] {
        let bytes = ply_binary(big);
        for length in (0..bytes.len()).step_by(3) {
            refusal(&bytes[..length], Format::Ply);
        }
    }
}

#[test]
fn files_are_named() {
    let error = read(Path::new("no/such/funnel.stl")).unwrap_err().to_string();
    assert!(error.starts_with("no/such/funnel.stl: cannot be read"), "{error}");
    let error = read(Path::new("funnel.step")).unwrap_err().to_string();
    assert!(error.contains("unknown format") && error.contains(".ply"), "{error}");
    assert_eq!(Format::of(Path::new("a.b/Funnel.STL")), Some(Format::Stl));
}

#[test]
fn damaged_files_do_no_harm() {
    let seeds = [
        (STL.as_bytes().to_vec(), Format::Stl),
        (write_stl_binary(&Surface::sphere(1.0, 1)), Format::Stl),
        (OBJ.as_bytes().to_vec(), Format::Obj),
        (PLY.as_bytes().to_vec(), Format::Ply),
        (ply_binary(false), Format::Ply),
        (ply_binary(true), Format::Ply),
    ];
    let words: [&[u8]; 12] = [
        b"-1",
        b"4294967296",
        b"1e308",
        b"nan",
        b"\n",
        b" ",
        b"list uint uint",
        b"f ",
        b"endsolid",
        b"element",
        b"\xff\xff\xff\xff",
        b"\0",
    ];
    let mut random = Random::new(11);
    let mut accepted = 0;
    let rounds = 4000;
    for _ in 0..rounds {
        for (seed, format) in &seeds {
            let mut bytes = seed.clone();
            for _ in 0..1 + random.bits() % 3 {
                let at = random.bits() as usize % bytes.len();
                match random.bits() % 5 {
                    0 => bytes[at] = random.bits() as u8,
                    1 => bytes[at] ^= 1 << (random.bits() % 8),
                    2 => bytes.truncate(at.max(1)),
                    3 => {
                        let end = bytes.len().min(at + random.bits() as usize % 20);
                        bytes.drain(at..end.max(at + 1).min(bytes.len() - 1).max(at));
                    }
                    _ => {
                        let word = words[random.bits() as usize % words.len()];
                        bytes.splice(at..at, word.iter().copied());
                    }
                }
            }
            if let Ok(surface) = parse(&bytes, *format) {
                accepted += 1;
                // What is accepted can be looked at in every way.
                assert!(surface.vertices.iter().all(|p| p.is_finite()));
                assert!(surface.triangles.iter().flatten().all(|&k| (k as usize) < surface.vertices.len()));
                assert!(surface.triangles.len() <= bytes.len() && surface.vertices.len() <= bytes.len());
                surface.faults();
            }
        }
    }
    assert!(accepted > rounds / 2 && accepted < 6 * rounds, "{accepted}");
}
