"use strict";
// Reads a frame as src/wire writes it: a head of text, then columns that are looked at in place.
const barchan = {};
window.barchan = barchan;
{
    const VERSION = 2, FRAME = 0x4d524642, LOOKS = 0x534b4c42;
    const TYPES = {
        u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, i16: Int16Array, f16: Uint16Array, f32: Float32Array,
        f64: Float64Array,
    };

    // Numbers of 16 bits are read by a table.
    let halves = null;
    function halfTable() {
        if (halves) return halves;
        halves = new Float32Array(65536);
        for (let bits = 0; bits < 65536; bits++) {
            const exponent = (bits >> 10) & 31, mantissa = bits & 1023, sign = bits & 0x8000 ? -1 : 1;
            halves[bits] = sign * (exponent ? (1 + mantissa / 1024) * 2 ** (exponent - 15) : mantissa * 2 ** -24);
        }
        return halves;
    }

    // A column as something with at(i), and its array where there is one.
    function column(spec, count, buffer, start) {
        if (spec.constant !== undefined) return { at: () => spec.constant, constant: spec.constant };
        if (spec.first !== undefined) return { at: (i) => spec.first + i };
        const array = new TYPES[spec.type](buffer, start + spec.at, spec.width * count);
        const read = { array, width: spec.width, low: spec.low, span: spec.span, type: spec.type };
        if (spec.type === "f16") {
            const table = halfTable();
            read.at = (i) => table[array[i]];
        } else if (spec.low) {
            const scale = spec.type === "u16" ? 1 / 65535 : 1, axes = spec.low.length;
            read.at = (i, k) => spec.low[k % axes] + spec.span[k % axes] * array[i * spec.width + k] * scale;
        } else {
            read.at = (i) => array[i];
        }
        return read;
    }

    // The head of a message, and where its columns start.
    function open(buffer, magic, what) {
        const view = new DataView(buffer);
        const word = (at) => view.getUint32(at, true);
        if (buffer.byteLength < 16 || word(0) !== magic) throw new Error(`this is not a ${what}`);
        if (word(4) !== VERSION) throw new Error(`a ${what} of version ${word(4)}; this page reads ${VERSION}`);
        const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 16, word(8))));
        return { head, start: 16 + word(8) };
    }

    // Whether these bytes tell what bodies look like, rather than a frame.
    barchan.areLooks = (buffer) => buffer.byteLength >= 16 && new DataView(buffer).getUint32(0, true) === LOOKS;

    barchan.decodeLooks = (buffer) => {
        const { head, start } = open(buffer, LOOKS, "list of looks");
        return head.looks.map(({ id, name, vertices, triangles, position, normal, index }) => ({
            id,
            name,
            positions: column(position, vertices, buffer, start).array,
            normals: column(normal, vertices, buffer, start).array,
            indices: column(index, triangles, buffer, start).array,
        }));
    };

    barchan.decode = (buffer) => {
        const { head, start } = open(buffer, FRAME, "frame");
        for (const kind of head.kinds) {
            for (const name in kind.columns) {
                kind.columns[name] = column(kind.columns[name], kind.count, buffer, start);
            }
        }
        head.chains.ends = column(head.chains.ends, head.chains.count, buffer, start);
        head.chains.force = column(head.chains.force, head.chains.count, buffer, start);
        return head;
    };
}
