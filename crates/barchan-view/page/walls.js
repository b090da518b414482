"use strict";
// Walls: faint faces that never hide what is inside, and edges.
{
    const { BackSide, BoxGeometry, BufferGeometry, DoubleSide, EdgesGeometry, Float32BufferAttribute, Group } = THREE;

    // The unit box without the faces that are missing, seen from inside only: what stands between the eye and
    // the bodies is not drawn.
    function container({ half_extents: [x, y, z], open = [] }, colours) {
        const group = new Group();
        const box = new BoxGeometry(2 * x, 2 * y, 2 * z);
        const order = ["+x", "-x", "+y", "-y", "+z", "-z"];
        const kept = box.groups.filter((_, k) => !open.includes(order[k]));
        const index = kept.flatMap((face) => [...box.index.array.slice(face.start, face.start + face.count)]);
        box.clearGroups();
        box.setIndex(index);
        const faces = new THREE.MeshBasicMaterial({
            color: colours.wall, transparent: true, opacity: 0.13, side: BackSide, depthWrite: false,
        });
        group.add(new THREE.Mesh(box, faces));
        const edges = new THREE.LineBasicMaterial({ color: colours.edge, transparent: true, opacity: 0.55 });
        group.add(new THREE.LineSegments(new EdgesGeometry(box), edges));
        return group;
    }

    // A part of the plane that the scene stands on, with lines a round distance apart; from below, only the lines.
    function halfSpace(reach, colours) {
        const group = new Group();
        const step = 10 ** Math.floor(Math.log10(reach / 3));
        const count = Math.ceil(reach / step), size = count * step, points = [];
        for (let k = -count; k <= count; k++) {
            points.push(k * step, -size, 0, k * step, size, 0, -size, k * step, 0, size, k * step, 0);
        }
        const lines = new BufferGeometry();
        lines.setAttribute("position", new Float32BufferAttribute(points, 3));
        const grid = new THREE.LineBasicMaterial({ color: colours.edge, transparent: true, opacity: 0.16, depthWrite: false });
        group.add(new THREE.LineSegments(lines, grid));
        const plane = new THREE.PlaneGeometry(2 * size, 2 * size);
        const face = new THREE.MeshBasicMaterial({ color: colours.wall, transparent: true, opacity: 0.10, depthWrite: false });
        group.add(new THREE.Mesh(plane, face));
        return group;
    }

    // A shape that this page does not know yet: a cross at its place.
    function unknown(reach, colours) {
        const s = reach / 10, lines = new BufferGeometry();
        lines.setAttribute("position", new Float32BufferAttribute([-s, 0, 0, s, 0, 0, 0, -s, 0, 0, s, 0, 0, 0, -s, 0, 0, s], 3));
        return new THREE.LineSegments(lines, new THREE.LineBasicMaterial({ color: colours.edge, side: DoubleSide }));
    }

    class Walls {
        constructor() {
            this.group = new Group();
            this.made = "";
        }

        // Forms are made anew only if they have changed; where they stand is set for every frame.
        show(walls, centre, reach, colours) {
            const wanted = JSON.stringify([walls.map((wall) => wall.shape), reach, colours]);
            if (wanted !== this.made) {
                this.dispose();
                this.made = wanted;
                for (const { shape } of walls) {
                    const kind = Object.keys(shape)[0];
                    if (kind === "container") this.group.add(container(shape.container, colours));
                    else if (kind === "half-space") this.group.add(halfSpace(reach, colours));
                    else this.group.add(unknown(reach, colours));
                }
            }
            walls.forEach((wall, k) => {
                const form = this.group.children[k];
                form.quaternion.fromArray(wall.orientation);
                form.position.fromArray(wall.position);
                if ("half-space" in wall.shape) {
                    // The part of the plane below the middle of the scene.
                    const normal = new THREE.Vector3(0, 0, 1).applyQuaternion(form.quaternion);
                    const above = centre.clone().sub(form.position).dot(normal);
                    form.position.copy(centre).addScaledVector(normal, -above);
                }
            });
        }

        dispose() {
            this.group.traverse((part) => {
                part.geometry?.dispose();
                part.material?.dispose();
            });
            this.group.clear();
        }
    }

    barchan.Walls = Walls;
}
