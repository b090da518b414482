//! Charts of steps as SVG: what both plots of a comparison are made of.
//!
//! A curve holds a value until the next point changes it. Its colour comes from a palette that
//! colour-blind people can tell apart (Okabe and Ito 2008), and its dashes tell it apart in print.
//!
//! Written out here rather than by a plotting crate: those at hand round points to whole pixels,
//! which shows in an SVG, and break dashed curves into hundreds of pieces.

use std::fmt::{Display, Write as _};

const COLOURS: [&str; 7] = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9"];
/// One fewer than colours: the two agree again only after all pairs were used.
const DASHES: [&str; 6] = ["none", "9 3", "2.5 2.5", "9 3 2.5 3", "5 3", "14 3 2.5 3 2.5 3"];

const WIDTH: f64 = 880.0;
const HEIGHT: f64 = 480.0;
/// The frame of the curves. Legends stand on its right.
const LEFT: f64 = 80.0;
const RIGHT: f64 = 680.0;
const TOP: f64 = 58.0;
const BOTTOM: f64 = 416.0;
/// Points that are nearer than this are one.
const FINE: f64 = 0.25;
/// A grey that can be read.
const INK: &str = "#444444";
/// A grey for lines behind everything.
const FAINT: &str = "#e4e4e4";

/// How numbers lie along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scale {
    Linear,
    Log,
}

/// An axis: its label, range and scale, and how the numbers at its ticks are written.
pub(super) struct Axis {
    pub(super) label: &'static str,
    pub(super) range: [f64; 2],
    pub(super) scale: Scale,
    pub(super) number: fn(f64) -> String,
}

/// How the end of a curve is marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// Not at all.
    Open,
    /// With a disc.
    Reached,
    /// With a cross.
    GivenUp,
}

/// A curve and its entry in the legend.
pub(super) struct Curve {
    pub(super) label: String,
    /// A second line of the legend.
    pub(super) detail: String,
    /// Colour and dashes; curves of the same number look the same.
    pub(super) style: usize,
    /// Ascending; each value holds from its point to the next.
    pub(super) points: Vec<(f64, f64)>,
    pub(super) end: End,
}

/// A chart.
pub(super) struct Chart {
    pub(super) title: String,
    pub(super) subtitle: String,
    pub(super) x: Axis,
    pub(super) y: Axis,
    /// A height to mark, and what it is.
    pub(super) level: Option<(f64, String)>,
    pub(super) curves: Vec<Curve>,
}

impl Axis {
    /// Where a value lies, from 0 to 1; what is out of range lies at an end.
    fn place(&self, value: f64) -> f64 {
        let along = |x: f64| if self.scale == Scale::Log { x.log10() } else { x };
        let [from, to] = self.range.map(along);
        ((along(value) - from) / (to - from)).clamp(0.0, 1.0)
    }

    /// Values with a number, and values with a line only.
    fn ticks(&self) -> (Vec<f64>, Vec<f64>) {
        let [from, to] = self.range;
        let inside = |x: &f64| (from * (1.0 - 1e-9)..=to * (1.0 + 1e-9)).contains(x);
        if self.scale == Scale::Linear {
            return ((0..=5).map(|k| 0.2 * f64::from(k)).filter(inside).collect(), Vec::new());
        }
        let (first, last) = (from.log10().floor() as i32, to.log10().ceil() as i32);
        let every = |factors: &[f64], stride: i32| {
            let decades = (first..=last).filter(|k| k.rem_euclid(stride) == 0);
            let all = decades.flat_map(|k| factors.iter().map(move |f| f * 10f64.powi(k)));
            all.filter(inside).collect::<Vec<_>>()
        };
        match to.log10() - from.log10() {
            span if span < 2.2 => (every(&[1.0, 2.0, 5.0], 1), every(&[3.0, 4.0, 6.0, 7.0, 8.0, 9.0], 1)),
            span if span < 8.5 => (every(&[1.0], 1), every(&[2.0, 5.0], 1)),
            span => (every(&[1.0], (span / 8.0).ceil() as i32), every(&[1.0], 1)),
        }
    }
}

impl Chart {
    /// The whole file.
    pub(super) fn svg(&self) -> String {
        let mut svg = String::new();
        let title = escaped(&self.title);
        let _ = writeln!(
            svg,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" \
             height=\"{HEIGHT}\" role=\"img\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"13\" \
             fill=\"{INK}\">\n<title>{title}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>"
        );
        text(&mut svg, [LEFT, 28.0], "font-size=\"17\" font-weight=\"bold\" fill=\"black\"", &self.title);
        text(&mut svg, [LEFT, 47.0], "", &self.subtitle);
        self.draw_axes(&mut svg);
        self.draw_level(&mut svg);
        // Solid ones first: what lies on them shows through its dashes.
        for solid in [true, false] {
            let drawn = self.curves.iter().filter(|curve| (dashes(curve.style) == "none") == solid);
            drawn.for_each(|curve| self.draw_curve(&mut svg, curve));
        }
        self.draw_legend(&mut svg);
        svg + "</svg>\n"
    }

    fn at(&self, (x, y): (f64, f64)) -> [f64; 2] {
        [LEFT + self.x.place(x) * (RIGHT - LEFT), BOTTOM - self.y.place(y) * (BOTTOM - TOP)]
    }

    fn draw_axes(&self, svg: &mut String) {
        let _ = writeln!(svg, "<g stroke=\"{FAINT}\" fill=\"none\">");
        let ([xs, between_x], [ys, between_y]) = (<[_; 2]>::from(self.x.ticks()), <[_; 2]>::from(self.y.ticks()));
        for (values, width) in [(&between_x, 0.5), (&xs, 1.0)] {
            for &x in values {
                let x = self.at((x, self.y.range[0]))[0];
                let _ = writeln!(svg, "<path stroke-width=\"{width}\" d=\"M{x:.1} {TOP}V{BOTTOM}\"/>");
            }
        }
        for (values, width) in [(&between_y, 0.5), (&ys, 1.0)] {
            for &y in values {
                let y = self.at((self.x.range[0], y))[1];
                let _ = writeln!(svg, "<path stroke-width=\"{width}\" d=\"M{LEFT} {y:.1}H{RIGHT}\"/>");
            }
        }
        let _ = writeln!(svg, "<path stroke=\"{INK}\" d=\"M{LEFT} {TOP}V{BOTTOM}H{RIGHT}\"/>\n</g>");
        for x in xs {
            let at = [self.at((x, self.y.range[0]))[0], BOTTOM + 18.0];
            text(svg, at, "text-anchor=\"middle\"", &(self.x.number)(x));
        }
        for y in ys {
            let at = [LEFT - 8.0, self.at((self.x.range[0], y))[1] + 4.5];
            text(svg, at, "text-anchor=\"end\"", &(self.y.number)(y));
        }
        text(svg, [0.5 * (LEFT + RIGHT), BOTTOM + 44.0], "text-anchor=\"middle\"", self.x.label);
        let middle = 0.5 * (TOP + BOTTOM);
        let turned = format!("text-anchor=\"middle\" transform=\"rotate(-90 22 {middle})\"");
        text(svg, [22.0, middle], &turned, self.y.label);
    }

    fn draw_level(&self, svg: &mut String) {
        let Some((level, what)) = &self.level else { return };
        let y = self.at((self.x.range[0], *level))[1];
        let _ = writeln!(svg, "<path fill=\"none\" stroke=\"{INK}\" stroke-width=\"1\" d=\"M{LEFT} {y:.1}H{RIGHT}\"/>");
        text(svg, [LEFT + 6.0, y - 5.0], "font-size=\"12\"", what);
    }

    fn draw_curve(&self, svg: &mut String, curve: &Curve) {
        let mut corners: Vec<[f64; 2]> = Vec::new();
        for &point in &curve.points {
            let at = self.at(point);
            match corners.last_mut() {
                Some(last) if at[0] - last[0] < FINE => last[1] = at[1],
                _ => corners.push(at),
            }
        }
        let (Some(first), Some(&[x, y])) = (corners.first(), corners.last()) else { return };
        let mut line = format!("M{:.1} {:.1}", first[0], first[1]);
        for pair in corners.windows(2) {
            let _ = write!(line, "H{:.1}", pair[1][0]);
            if pair[0][1] != pair[1][1] {
                let _ = write!(line, "V{:.1}", pair[1][1]);
            }
        }
        let (colour, label) = (colour(curve.style), escaped(&curve.label));
        let _ = writeln!(
            svg,
            "<path class=\"curve\" {} stroke-linejoin=\"round\" d=\"{line}\"><title>{label}</title></path>",
            stroke(curve.style)
        );
        let _ = match curve.end {
            End::Open => Ok(()),
            End::Reached => writeln!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4.5\" fill=\"{colour}\"/>"),
            End::GivenUp => writeln!(
                svg,
                "<path stroke=\"{colour}\" stroke-width=\"2\" d=\"M{:.1} {:.1}l9 9m0 -9l-9 9\"/>",
                x - 4.5,
                y - 4.5
            ),
        };
    }

    fn draw_legend(&self, svg: &mut String) {
        let (left, mut y) = (RIGHT + 22.0, TOP + 12.0);
        for curve in &self.curves {
            let _ = writeln!(svg, "<path {} d=\"M{left} {:.1}h36\"/>", stroke(curve.style), y - 4.0);
            text(svg, [left + 44.0, y], "fill=\"black\"", &curve.label);
            text(svg, [left + 44.0, y + 15.0], "font-size=\"11\"", &curve.detail);
            y += 42.0;
        }
    }
}

fn colour(style: usize) -> &'static str {
    COLOURS[style % COLOURS.len()]
}

fn dashes(style: usize) -> &'static str {
    DASHES[style % DASHES.len()]
}

fn stroke(style: usize) -> String {
    let (colour, dashes) = (colour(style), dashes(style));
    format!("fill=\"none\" stroke=\"{colour}\" stroke-width=\"2.2\" stroke-dasharray=\"{dashes}\"")
}

fn text(svg: &mut String, [x, y]: [f64; 2], attributes: &str, words: &str) {
    let _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" {attributes}>{}</text>", escaped(words));
}

fn escaped(text: impl Display) -> String {
    text.to_string().replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(range: [f64; 2], scale: Scale) -> Axis {
        Axis { label: "x", range, scale, number: |x| format!("{x}") }
    }

    fn close(found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len(), "{found:?} {expected:?}");
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9 * b.abs()), "{found:?} {expected:?}");
    }

    #[test]
    fn ticks_are_neither_few_nor_many() {
        close(&axis([1.0, 30.0], Scale::Log).ticks().0, &[1.0, 2.0, 5.0, 10.0, 20.0]);
        close(&axis([5e-4, 2.0], Scale::Log).ticks().0, &[1e-3, 1e-2, 1e-1, 1.0]);
        assert!((4..=9).contains(&axis([1e-17, 1.0], Scale::Log).ticks().0.len()));
        assert_eq!(axis([0.0, 1.05], Scale::Linear).ticks().0.len(), 6);
    }

    #[test]
    fn what_is_out_of_range_lies_at_an_end() {
        let axis = axis([1e-4, 1.0], Scale::Log);
        assert_eq!([axis.place(0.0), axis.place(1e-9), axis.place(5.0)], [0.0, 0.0, 1.0]);
        assert!((axis.place(1e-2) - 0.5).abs() < 1e-12);
    }

    #[test]
    fn words_of_users_cannot_break_the_file() {
        let (x, y) = (axis([1.0, 10.0], Scale::Log), axis([0.0, 1.0], Scale::Linear));
        let title = "a<b> & \"c\"".to_owned();
        let svg = Chart { title, subtitle: String::new(), x, y, level: None, curves: Vec::new() }.svg();
        assert!(svg.contains("a&lt;b&gt; &amp; &quot;c&quot;") && !svg.contains("<b>"), "{svg}");
    }

    #[test]
    fn every_style_differs() {
        let mut styles: Vec<_> = (0..42).map(stroke).collect();
        styles.sort();
        styles.dedup();
        assert_eq!(styles.len(), 42);
    }
}
