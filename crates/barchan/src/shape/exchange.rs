//! Shapes in messages between ranks: what bodies share is sent to a rank once.
//!
//! Corners and faces of polyhedra, triangles of meshes, and composites go by names, which are hashes of what they are.
//! The first time that a rank is sent a name, what it stands for follows; both sides remember, and after that the name
//! is all. Whoever has sent it, a rank has it in memory once, for all its bodies. Other shapes are as short as a name.
//!
//! What no body of the sender has any more is forgotten on both sides: the heads of messages say so. The sender looks
//! for it when it remembers twice as much for a rank as after the last look, so that about as much as is in use, or
//! [`FEW`] if that is more, may be kept for nobody.

use super::mesh::Triangles;
use super::pack::{self, ReadParts, ReadShapes, WriteParts, WriteShapes};
use super::polyhedron::Faceted;
use super::{Composite, Mesh, Polyhedron, Shape};
use crate::util::bulk::PackColumn;
use crate::util::pack::{Pack, Unpacker};
use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::sync::{Arc, Weak};
use xxhash_rust::xxh3::xxh3_128;

/// So much is remembered before anybody looks what is not needed any more.
const FEW: usize = 64;

/// What a shared thing is called: a hash of what it is.
type Name = [u64; 2];

fn name_of(bytes: &[u8]) -> Name {
    let hash = xxh3_128(bytes);
    [hash as u64, (hash >> 64) as u64]
}

/// Things by keys, without keeping them alive.
struct Known<K, T> {
    entries: HashMap<K, Weak<T>>,
    /// At how many of them those that are gone are taken out.
    limit: usize,
}

impl<K, T> Default for Known<K, T> {
    fn default() -> Self {
        Self { entries: HashMap::new(), limit: FEW }
    }
}

impl<K: Eq + Hash, T> Known<K, T> {
    fn get(&self, key: &K) -> Option<Arc<T>> {
        self.entries.get(key)?.upgrade()
    }

    /// How many pointers share what has this key.
    fn sharers(&self, key: &K) -> usize {
        self.entries.get(key).map_or(0, Weak::strong_count)
    }

    /// The thing that has this key already, or this one from now on.
    fn get_or_insert(&mut self, key: K, value: Arc<T>) -> Arc<T> {
        if let Some(known) = self.get(&key) {
            return known;
        }
        if self.entries.len() >= self.limit {
            self.entries.retain(|_, entry| entry.strong_count() > 0);
            self.limit = FEW.max(2 * self.entries.len());
        }
        self.entries.insert(key, Arc::downgrade(&value));
        value
    }
}

/// What goes by names, of one kind.
struct Named<T> {
    /// The names of what is here, by where it stands. Pointers that are kept do not let another stand there.
    names: HashMap<usize, (Weak<T>, Name)>,
    limit: usize,
    here: Known<Name, T>,
    /// What each rank was sent, and how much of it there may be before the next look.
    sent: HashMap<u32, (HashSet<Name>, usize)>,
    /// What each rank has sent.
    received: HashMap<u32, HashMap<Name, Arc<T>>>,
}

impl<T> Default for Named<T> {
    fn default() -> Self {
        Self {
            names: HashMap::new(),
            limit: FEW,
            here: Known::default(),
            sent: HashMap::new(),
            received: HashMap::new(),
        }
    }
}

impl<T> Named<T> {
    fn name(&self, value: &Arc<T>) -> Option<Name> {
        self.names.get(&(Arc::as_ptr(value) as usize)).map(|known| known.1)
    }

    /// Gives a thing its name, and returns the one that has it.
    fn learn(&mut self, value: Arc<T>, name: Name) -> Arc<T> {
        if self.names.len() >= self.limit {
            self.names.retain(|_, known| known.0.strong_count() > 0);
            self.limit = FEW.max(2 * self.names.len());
        }
        self.names.insert(Arc::as_ptr(&value) as usize, (Arc::downgrade(&value), name));
        self.here.get_or_insert(name, value)
    }

    /// Writes a name, and returns whether what it stands for has to follow.
    fn send(&mut self, name: Name, to: u32, out: &mut Vec<u8>) -> bool {
        let is_new = self.sent.entry(to).or_insert_with(|| (HashSet::new(), FEW)).0.insert(name);
        name.pack(out);
        is_new.pack(out);
        is_new
    }

    /// What a rank has sent by this name, now or before.
    fn receive(&mut self, name: Name, sent: Option<T>, of: u32) -> Option<Arc<T>> {
        let Some(sent) = sent else { return self.received.get(&of)?.get(&name).cloned() };
        // What is here already is as good.
        let value = match self.here.get(&name) {
            Some(known) => known,
            None => self.learn(Arc::new(sent), name),
        };
        self.received.entry(of).or_default().insert(name, value.clone());
        Some(value)
    }

    /// Finds what a rank need not remember any more.
    fn find_unused(&mut self, to: u32) -> Vec<Name> {
        let Some((sent, limit)) = self.sent.get_mut(&to) else { return Vec::new() };
        if sent.len() < *limit {
            return Vec::new();
        }
        // Beyond those who remember it because they were sent it, somebody has to have it.
        let keepers = |name: &Name| self.received.values().filter(|known| known.contains_key(name)).count();
        let mut unused: Vec<Name> =
            sent.iter().filter(|name| self.here.sharers(name) <= keepers(name)).copied().collect();
        unused.sort_unstable();
        sent.retain(|name| unused.binary_search(name).is_err());
        *limit = FEW.max(2 * sent.len());
        unused
    }

    /// Forgets what a rank has sent.
    fn forget(&mut self, names: &[Name], of: u32) {
        if let Some(received) = self.received.get_mut(&of) {
            received.retain(|name, _| !names.contains(name));
        }
    }
}

/// What this rank has told others of shapes, and they have told it.
#[derive(Default)]
pub(crate) struct ShapeExchange {
    facets: Named<Faceted>,
    triangles: Named<Triangles>,
    composites: Named<Composite>,
    /// Polyhedra by their facets and the bits of their scale.
    polyhedra: Known<(Name, u64), Polyhedron>,
    /// Meshes, likewise.
    meshes: Known<(Name, u64), Mesh>,
    /// Whether it knows the shapes of the bodies that this rank began with.
    has_begun: bool,
}

impl ShapeExchange {
    /// Learns what the bodies that this rank begins with share, so that it is not made once more when others send it.
    /// Later calls do nothing.
    pub(crate) fn begin(&mut self, shapes: &[Shape]) {
        if !self.has_begun {
            self.has_begun = true;
            shapes.iter().for_each(|shape| self.learn(shape));
        }
    }

    fn learn(&mut self, shape: &Shape) {
        match shape {
            Shape::Polyhedron(p) => {
                let name = self.name_facets(p.faceted());
                self.polyhedra.get_or_insert((name, p.scale().to_bits()), p.clone());
            }
            Shape::Mesh(m) => {
                let name = self.name_triangles(m.triangles());
                self.meshes.get_or_insert((name, m.scale().to_bits()), m.clone());
            }
            Shape::Composite(c) => {
                self.name_composite(c);
            }
            _ => {}
        }
    }

    /// Writes what a rank may forget: the head of a message with shapes.
    pub(crate) fn write_head(&mut self, to: u32, out: &mut Vec<u8>) {
        let unused = [self.facets.find_unused(to), self.triangles.find_unused(to), self.composites.find_unused(to)];
        let is_any = unused.iter().any(|names| !names.is_empty());
        is_any.pack(out);
        if is_any {
            unused.iter().for_each(|names| names.pack_column(out));
        }
    }

    /// Takes back what [`Self::write_head`] wrote on another rank, and does as it says.
    pub(crate) fn read_head(&mut self, of: u32, from: &mut Unpacker<'_>) -> Option<()> {
        if from.take()? {
            self.facets.forget(&Vec::unpack_column(from)?, of);
            self.triangles.forget(&Vec::unpack_column(from)?, of);
            self.composites.forget(&Vec::unpack_column(from)?, of);
        }
        Some(())
    }

    /// Writes a shape for a rank.
    pub(crate) fn write(&mut self, shape: &Shape, to: u32, out: &mut Vec<u8>) {
        pack::pack_shape(shape, &mut Sender { exchange: self, to }, out);
    }

    /// Takes back what [`Self::write`] wrote on another rank.
    pub(crate) fn read(&mut self, of: u32, from: &mut Unpacker<'_>) -> Option<Shape> {
        pack::unpack_shape(from, &mut Receiver { exchange: self, of })
    }

    fn name_facets(&mut self, facets: &Arc<Faceted>) -> Name {
        self.facets.name(facets).unwrap_or_else(|| {
            let mut bytes = Vec::new();
            pack::pack_faceted(facets, &mut bytes);
            let name = name_of(&bytes);
            self.facets.learn(facets.clone(), name);
            name
        })
    }

    fn name_triangles(&mut self, triangles: &Arc<Triangles>) -> Name {
        self.triangles.name(triangles).unwrap_or_else(|| {
            let mut bytes = Vec::new();
            pack::pack_triangles(triangles, &mut Namer(self), &mut bytes);
            let name = name_of(&bytes);
            self.triangles.learn(triangles.clone(), name);
            name
        })
    }

    fn name_composite(&mut self, composite: &Arc<Composite>) -> Name {
        self.composites.name(composite).unwrap_or_else(|| {
            let mut bytes = Vec::new();
            pack::pack_composite(composite, &mut Namer(self), &mut bytes);
            let name = name_of(&bytes);
            self.composites.learn(composite.clone(), name);
            name
        })
    }
}

/// Writes parts by their names alone, for the name of the whole.
struct Namer<'a>(&'a mut ShapeExchange);

impl WriteParts for Namer<'_> {
    fn polyhedron(&mut self, polyhedron: &Polyhedron, out: &mut Vec<u8>) {
        polyhedron.scale().pack(out);
        self.0.name_facets(polyhedron.faceted()).pack(out);
    }
}

/// Writes shapes for a rank.
struct Sender<'a> {
    exchange: &'a mut ShapeExchange,
    to: u32,
}

impl WriteParts for Sender<'_> {
    fn polyhedron(&mut self, polyhedron: &Polyhedron, out: &mut Vec<u8>) {
        polyhedron.scale().pack(out);
        let name = self.exchange.name_facets(polyhedron.faceted());
        if self.exchange.facets.send(name, self.to, out) {
            pack::pack_faceted(polyhedron.faceted(), out);
        }
    }
}

impl WriteShapes for Sender<'_> {
    fn mesh(&mut self, mesh: &Mesh, out: &mut Vec<u8>) {
        mesh.scale().pack(out);
        let name = self.exchange.name_triangles(mesh.triangles());
        if self.exchange.triangles.send(name, self.to, out) {
            pack::pack_triangles(mesh.triangles(), self, out);
        }
    }

    fn composite(&mut self, composite: &Arc<Composite>, out: &mut Vec<u8>) {
        let name = self.exchange.name_composite(composite);
        if self.exchange.composites.send(name, self.to, out) {
            pack::pack_composite(composite, self, out);
        }
    }
}

/// Reads shapes of a rank.
struct Receiver<'a> {
    exchange: &'a mut ShapeExchange,
    of: u32,
}

impl ReadParts for Receiver<'_> {
    fn polyhedron(&mut self, from: &mut Unpacker<'_>) -> Option<Arc<Polyhedron>> {
        let (scale, name) = (from.take::<f64>()?, from.take()?);
        let sent = if from.take()? { Some(pack::unpack_faceted(from)?) } else { None };
        let facets = self.exchange.facets.receive(name, sent, self.of)?;
        let polyhedra = &mut self.exchange.polyhedra;
        let key = (name, scale.to_bits());
        polyhedra.get(&key).or_else(|| Some(polyhedra.get_or_insert(key, Arc::new(Polyhedron::of(facets, scale)))))
    }
}

impl ReadShapes for Receiver<'_> {
    fn mesh(&mut self, from: &mut Unpacker<'_>) -> Option<Arc<Mesh>> {
        let (scale, name) = (from.take::<f64>()?, from.take()?);
        let sent = if from.take()? { Some(pack::unpack_triangles(from, self)?) } else { None };
        let triangles = self.exchange.triangles.receive(name, sent, self.of)?;
        let meshes = &mut self.exchange.meshes;
        let key = (name, scale.to_bits());
        meshes.get(&key).or_else(|| Some(meshes.get_or_insert(key, Arc::new(Mesh::of(triangles, scale)))))
    }

    fn composite(&mut self, from: &mut Unpacker<'_>) -> Option<Arc<Composite>> {
        let name = from.take()?;
        let sent = if from.take()? { Some(pack::unpack_composite(from, self)?) } else { None };
        self.exchange.composites.receive(name, sent, self.of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::{Part, Surface};
    use glam::{DQuat, DVec3};

    /// Ranks by their numbers, and messages between them.
    #[derive(Default)]
    struct Ranks([ShapeExchange; 3]);

    impl Ranks {
        /// One message with shapes; returns its length and what has come.
        fn tell(&mut self, from: usize, to: usize, shapes: &[Shape]) -> (usize, Vec<Shape>) {
            let mut bytes = Vec::new();
            self.0[from].write_head(to as u32, &mut bytes);
            shapes.iter().for_each(|shape| self.0[from].write(shape, to as u32, &mut bytes));
            let mut message = Unpacker::new(&bytes);
            self.0[to].read_head(from as u32, &mut message).expect("a head");
            let back: Vec<Shape> =
                shapes.iter().map(|_| self.0[to].read(from as u32, &mut message).expect("a shape")).collect();
            assert!(message.is_empty());
            assert_eq!(back, shapes);
            (bytes.len(), back)
        }
    }

    fn pebble() -> Shape {
        let corner =
            |k: u32| DVec3::new((0.7 * f64::from(k)).sin(), (1.1 * f64::from(k)).cos(), (1.7 * f64::from(k)).sin());
        Shape::polyhedron((0..60).map(corner).collect())
    }

    fn clump() -> Shape {
        Shape::composite([-1.5, 1.5].map(|x| Part::new(pebble()).at(x * DVec3::X, DQuat::IDENTITY)).to_vec())
    }

    fn is_one(a: &Shape, b: &Shape) -> bool {
        match (a, b) {
            (Shape::Polyhedron(a), Shape::Polyhedron(b)) => Arc::ptr_eq(a, b),
            (Shape::Mesh(a), Shape::Mesh(b)) => Arc::ptr_eq(a, b),
            (Shape::Composite(a), Shape::Composite(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }

    #[test]
    fn what_bodies_share_is_sent_once_and_is_there_once() {
        let mut ranks = Ranks::default();
        for shape in [Shape::mesh(Surface::sphere(1.0, 2)), pebble(), clump()] {
            let (first, came) = ranks.tell(0, 1, &vec![shape.clone(); 50]);
            assert!(came.iter().all(|other| is_one(other, &came[0])));
            // It goes by its name from then on, in later messages too; to another rank it is sent once more.
            let (later, again) = ranks.tell(0, 1, &vec![shape.clone(); 50]);
            assert!(first > later && later < 50 * 40, "{} bytes, then {later}", first);
            assert!(again.iter().all(|other| is_one(other, &came[0])));
            assert_eq!(ranks.tell(0, 2, &vec![shape.clone(); 50]).0, first);
            // What comes back, or comes from elsewhere, is what is here.
            let far = [ranks.tell(1, 2, &came[..1]).1, ranks.tell(0, 2, &came[..1]).1].concat();
            assert!(is_one(&far[0], &far[1]));
            ranks.0[0].learn(&shape);
            assert!(is_one(&ranks.tell(1, 0, &came[..1]).1[0], &shape));
        }
    }

    #[test]
    fn sizes_of_a_shape_have_their_corners_in_common() {
        let mut ranks = Ranks::default();
        let sizes: Vec<Shape> = (1..50).map(|k| pebble().scaled(f64::from(k).recip())).collect();
        let (first, came) = ranks.tell(0, 1, &[pebble(), pebble()]);
        let (later, scaled) = ranks.tell(0, 1, &sizes);
        assert!(later < 49 * 40 && first > later, "{first} and {later}");
        let facets = |shape: &Shape| match shape {
            Shape::Polyhedron(p) => p.faceted().clone(),
            _ => panic!("a polyhedron"),
        };
        assert!(scaled.iter().chain(&came).all(|shape| Arc::ptr_eq(&facets(shape), &facets(&came[0]))));
        // Those of a composite are known by then.
        assert!(ranks.tell(0, 1, &[clump()]).0 < first / 2);
    }

    #[test]
    fn what_nobody_has_is_forgotten_on_both_sides() {
        let mut ranks = Ranks::default();
        let kept = [pebble(), clump()];
        assert!(kept[1].has_mass() && kept[1].moments().is_some());
        ranks.0[0].begin(&kept);
        let home = ranks.tell(0, 1, &kept).1;
        for k in 0..1000 {
            let shape = kept[1].scaled(2.0 + f64::from(k));
            let came = ranks.tell(0, 1, &[shape]).1;
            // Two ranks that remember it for each other do not keep it.
            let back = ranks.tell(1, 0, &came).1;
            let far = ranks.tell(0, 2, &back).1;
            ranks.tell(2, 1, &far);
        }
        for exchange in &ranks.0 {
            let composites = &exchange.composites;
            let received: usize = composites.received.values().map(HashMap::len).sum();
            let sent: usize = composites.sent.values().map(|known| known.0.len()).sum();
            assert!(received <= 4 * FEW && sent <= 4 * FEW, "{received} and {sent}");
            assert!(composites.names.len() <= 10 * FEW && composites.here.entries.len() <= 10 * FEW);
        }
        // What somebody has is not sent again, and what was forgotten is.
        let (bytes, again) = ranks.tell(0, 1, &kept);
        assert!(bytes < 100 && is_one(&again[0], &home[0]) && is_one(&again[1], &home[1]), "{bytes} bytes");
        ranks.tell(0, 1, &[kept[1].scaled(2.0)]);
    }

    #[test]
    fn a_damaged_message_is_refused() {
        for shape in [Shape::mesh(Surface::cuboid(DVec3::ONE)), pebble(), clump()] {
            let (mut bytes, mut name) = (Vec::new(), Vec::new());
            let mut sender = ShapeExchange::default();
            sender.write(&shape, 1, &mut bytes);
            sender.write(&shape, 1, &mut name);
            let read = |bytes: &[u8]| ShapeExchange::default().read(0, &mut Unpacker::new(bytes));
            assert_eq!(read(&bytes), Some(shape));
            assert!((0..bytes.len()).all(|length| read(&bytes[..length]).is_none()));
            assert_eq!(read(&name), None, "a name that was never told");
        }
    }
}
