//! The two checksums of the format.

/// Of metadata: Bob Jenkins' lookup3 ("hashlittle") with the start value 0.
pub(crate) fn lookup3(bytes: &[u8]) -> u32 {
    let start = 0xdead_beef_u32.wrapping_add(bytes.len() as u32);
    let [mut a, mut b, mut c] = [start; 3];
    let word = |part: &[u8], k: usize| {
        let byte = |j: usize| part.get(4 * k + j).map_or(0, |byte| u32::from(*byte));
        byte(0) | byte(1) << 8 | byte(2) << 16 | byte(3) << 24
    };
    let mut rest = bytes;
    while rest.len() > 12 {
        a = a.wrapping_add(word(rest, 0));
        b = b.wrapping_add(word(rest, 1));
        c = c.wrapping_add(word(rest, 2));
        for (turn, [x, y, z]) in
            [4, 6, 8, 16, 19, 4].into_iter().zip([0, 1, 2, 0, 1, 2].map(|k| [k, (k + 1) % 3, (k + 2) % 3]))
        {
            let mut v = [a, b, c];
            // x −= z; x ^= z rotated; z += y, and round.
            v[x] = v[x].wrapping_sub(v[z]) ^ v[z].rotate_left(turn);
            v[z] = v[z].wrapping_add(v[y]);
            [a, b, c] = v;
        }
        rest = &rest[12..];
    }
    if rest.is_empty() {
        return c;
    }
    a = a.wrapping_add(word(rest, 0));
    b = b.wrapping_add(word(rest, 1));
    c = c.wrapping_add(word(rest, 2));
    let mut v = [a, b, c];
    for (turn, x, y) in [(14, 2, 1), (11, 0, 2), (25, 1, 0), (16, 2, 1), (4, 0, 2), (14, 1, 0), (24, 2, 1)] {
        v[x] = (v[x] ^ v[y]).wrapping_sub(v[y].rotate_left(turn));
    }
    v[2]
}

/// Of data: Fletcher's with 32 bits, over words of 16 bits, the high byte first.
pub(crate) fn fletcher32(bytes: &[u8]) -> u32 {
    let mut low = 0_u64;
    let mut high = 0_u64;
    for pair in bytes.chunks(2) {
        let word = u64::from(pair[0]) << 8 | pair.get(1).map_or(0, |byte| u64::from(*byte));
        low = (low + word) % 0xffff;
        high = (high + low) % 0xffff;
    }
    (high << 16 | low) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values that the authors of the algorithms publish.
    #[test]
    fn known_values() {
        assert_eq!(lookup3(b""), 0xdead_beef);
        assert_eq!(lookup3(b"Four score and seven years ago"), 0x1777_0551);
        assert_eq!(fletcher32(b"badcfe"), 0x5650_2d2a);
    }
}
