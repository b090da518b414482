//! Charts of steps as SVG: what both plots of a comparison are made of.
//!
//! A curve holds a value until the next point changes it. Its colour comes from a palette that
//! colour-blind people can tell apart (Okabe and Ito 2008), and its dashes tell it apart in print.
//!
//! The crate plotters draws. It knows whole pixels only, so it gets a canvas that is [`FINE`] times
//! as large as the picture shall be, and the root element of the file shrinks it.

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::drawing::DrawingAreaErrorKind;
use plotters::element::{DashedPathElement, DottedPathElement};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::io;
use std::ops::Range;

const COLOURS: [RGBColor; 7] = [
    RGBColor(0x00, 0x72, 0xB2),
    RGBColor(0xD5, 0x5E, 0x00),
    RGBColor(0x00, 0x9E, 0x73),
    RGBColor(0xCC, 0x79, 0xA7),
    RGBColor(0x00, 0x00, 0x00),
    RGBColor(0xE6, 0x9F, 0x00),
    RGBColor(0x56, 0xB4, 0xE9),
];
/// One fewer than colours: the two agree again only after all pairs were used.
const DASHES: [Dashes; 6] = [
    Dashes { dash: 0.0, gap: 0.0, dots: &[] },
    Dashes { dash: 9.0, gap: 3.0, dots: &[] },
    Dashes { dash: 2.5, gap: 2.5, dots: &[] },
    Dashes { dash: 9.0, gap: 8.5, dots: &[4.25] },
    Dashes { dash: 5.0, gap: 3.0, dots: &[] },
    Dashes { dash: 14.0, gap: 14.0, dots: &[4.25, 9.75] },
];

const WIDTH: u32 = 880;
const HEIGHT: u32 = 480;
/// Pixels of the canvas in one of the picture. All other lengths here are of the picture.
const FINE: u32 = 4;
/// The frame of the curves. Legends stand on its right.
const LEFT: f64 = 80.0;
const RIGHT: f64 = 680.0;
const TOP: f64 = 58.0;
const BOTTOM: f64 = 416.0;
/// Room for the numbers and the label of the upright axis.
const BESIDE: f64 = 68.0;
/// ... and of the other.
const BELOW: f64 = 47.0;
const FONT: FontFamily = FontFamily::Name("Helvetica, Arial, sans-serif");
/// Text of this size is common.
const COMMON: f64 = 13.0;
/// The size of text that plotters writes is its own divided by this.
const OF_FONT: f64 = 1.24;
/// A grey that can be read.
const INK: RGBColor = RGBColor(0x44, 0x44, 0x44);
/// A grey for lines behind everything.
const FAINT: RGBColor = RGBColor(0xE4, 0xE4, 0xE4);

/// What plotters draws on.
type Canvas<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;
/// What plotters answers.
type Drawn = Result<(), DrawingAreaErrorKind<io::Error>>;

/// How a line is broken: dashes, and dots in the gaps between them. No gap is a solid line.
#[derive(Debug, PartialEq)]
struct Dashes {
    dash: f64,
    gap: f64,
    /// Where dots lie in a gap.
    dots: &'static [f64],
}

/// How numbers lie along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scale {
    Linear,
    Log,
}

/// An axis: its label, range and scale, and how the numbers at its ticks are written.
#[derive(Clone, Copy)]
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
        let first = from.log10().floor() as i32;
        let last = to.log10().ceil() as i32;
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

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (from, to): (i32, i32)) -> i32 {
        from + (self.place(*value) * f64::from(to - from)).round() as i32
    }

    /// Plotters asks for those with a number and for those with a line only, one after the other.
    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        let (numbers, between) = self.ticks();
        if hint.weight().allow_light_points() { between } else { numbers }
    }

    fn range(&self) -> Range<f64> {
        self.range[0]..self.range[1]
    }
}

impl ValueFormatter<f64> for Axis {
    fn format_ext(&self, value: &f64) -> String {
        (self.number)(*value)
    }
}

impl Chart {
    /// The whole file.
    pub(super) fn svg(&self) -> io::Result<String> {
        let mut svg = String::new();
        self.draw(&mut svg).map_err(io::Error::other)?;
        // The root element has the size of the canvas. With that of the picture and the same view box
        // everything is shown smaller.
        let size = |fine: u32| format!("<svg width=\"{}\" height=\"{}\"", fine * WIDTH, fine * HEIGHT);
        Ok(svg.replacen(&size(FINE), &size(1), 1))
    }

    fn draw(&self, svg: &mut String) -> Drawn {
        let canvas = SVGBackend::with_string(svg, (FINE * WIDTH, FINE * HEIGHT)).into_drawing_area();
        canvas.fill(&WHITE)?;
        let heading = font(17.0, FontStyle::Bold).color(&BLACK);
        text(&canvas, [LEFT, 23.0], heading, &self.title)?;
        text(&canvas, [LEFT, 43.0], font(COMMON, FontStyle::Normal), &self.subtitle)?;
        let mut frame = ChartBuilder::on(&canvas)
            .margin_top(fine(TOP))
            .margin_right(fine(f64::from(WIDTH) - RIGHT))
            .margin_bottom(fine(f64::from(HEIGHT) - BOTTOM - BELOW))
            .margin_left(fine(LEFT - BESIDE))
            .x_label_area_size(fine(BELOW))
            .y_label_area_size(fine(BESIDE))
            .build_cartesian_2d(self.x, self.y)?;
        frame
            .configure_mesh()
            .light_line_style(FAINT.stroke_width(FINE / 2))
            .bold_line_style(FAINT.stroke_width(FINE))
            .axis_style(INK.stroke_width(FINE))
            .label_style(font(COMMON, FontStyle::Normal))
            .set_all_tick_mark_size(fine(4.0))
            .x_desc(self.x.label)
            .y_desc(self.y.label)
            .draw()?;
        let at = |&(x, y): &(f64, f64)| frame.plotting_area().map_coordinate(&(x, y));
        if let Some((level, what)) = &self.level {
            let ends = self.x.range.map(|x| at(&(x, *level)));
            canvas.draw(&PathElement::new(ends, INK.stroke_width(FINE)))?;
            let y = f64::from(ends[0].1) / f64::from(FINE);
            text(&canvas, [LEFT + 6.0, y - 9.0], font(12.0, FontStyle::Normal), what)?;
        }
        // Solid ones first: what lies on them shows through its dashes.
        for solid in [true, false] {
            for curve in self.curves.iter().filter(|curve| (dashes(curve.style).gap == 0.0) == solid) {
                let points: Vec<_> = curve.points.iter().map(at).collect();
                draw_line(&canvas, curve.style, steps(&points))?;
                draw_end(&canvas, curve, points.last())?;
            }
        }
        self.draw_legend(&canvas)?;
        canvas.present()
    }

    fn draw_legend(&self, canvas: &Canvas) -> Drawn {
        let left = RIGHT + 22.0;
        let mut y = TOP + 8.0;
        for curve in &self.curves {
            draw_line(canvas, curve.style, [left, left + 36.0].map(|x| (fine(x), fine(y))).into())?;
            text(canvas, [left + 44.0, y], font(COMMON, FontStyle::Normal).color(&BLACK), &curve.label)?;
            text(canvas, [left + 44.0, y + 15.0], font(11.0, FontStyle::Normal), &curve.detail)?;
            y += 42.0;
        }
        Ok(())
    }
}

/// The corners of the steps through points of the canvas. Of points above each other the last counts.
fn steps(points: &[(i32, i32)]) -> Vec<(i32, i32)> {
    let mut corners: Vec<(i32, i32)> = Vec::new();
    for (k, &(x, y)) in points.iter().enumerate() {
        if points.get(k + 1).is_some_and(|next| next.0 <= x) {
            continue;
        }
        match corners.last() {
            Some(last) if last.1 == y && k + 1 < points.len() => continue,
            Some(last) if last.1 != y => corners.extend([(x, last.1), (x, y)]),
            _ => corners.push((x, y)),
        }
    }
    corners
}

/// A line through points of the canvas.
fn draw_line(canvas: &Canvas, style: usize, points: Vec<(i32, i32)>) -> Drawn {
    let Dashes { dash, gap, dots } = dashes(style);
    let stroke = stroke(style);
    if *gap == 0.0 {
        return canvas.draw(&PathElement::new(points, stroke));
    }
    for dot in *dots {
        let radius = stroke.stroke_width / 2 + 1;
        let drawn = move |at| Circle::new(at, radius, stroke.filled());
        let first = fine(dash + dot);
        let period = fine(dash + gap);
        canvas.draw(&DottedPathElement::new(points.iter().copied(), first, period, drawn))?;
    }
    canvas.draw(&DashedPathElement::new(points.iter().copied(), fine(*dash), fine(*gap), stroke))
}

/// The mark at the end of a curve.
fn draw_end(canvas: &Canvas, curve: &Curve, last: Option<&(i32, i32)>) -> Drawn {
    let Some(&at) = last else { return Ok(()) };
    let colour = colour(curve.style);
    let size = fine(4.5);
    match curve.end {
        End::Open => Ok(()),
        End::Reached => canvas.draw(&Circle::new(at, size, colour.filled())),
        End::GivenUp => canvas.draw(&Cross::new(at, size, colour.stroke_width(2 * FINE))),
    }
}

/// A length of the picture in pixels of the canvas.
fn fine(length: f64) -> i32 {
    (length * f64::from(FINE)).round() as i32
}

fn colour(style: usize) -> RGBColor {
    COLOURS[style % COLOURS.len()]
}

fn dashes(style: usize) -> &'static Dashes {
    &DASHES[style % DASHES.len()]
}

fn stroke(style: usize) -> ShapeStyle {
    colour(style).stroke_width(fine(2.2) as u32)
}

/// Text that begins at its place, the middle of its height.
fn font(size: f64, style: FontStyle) -> TextStyle<'static> {
    let font = FontDesc::new(FONT, f64::from(FINE) * OF_FONT * size, style);
    TextStyle::from(font).color(&INK).pos(Pos::new(HPos::Left, VPos::Center))
}

fn text(canvas: &Canvas, at: [f64; 2], style: TextStyle, words: &str) -> Drawn {
    let [x, y] = at.map(fine);
    canvas.draw_text(words, &style, (x, y))
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

    /// A chart with curves of these styles, whose ends are reached and given up in turn.
    fn chart(title: &str, styles: &[usize]) -> Chart {
        let curve = |(k, &style): (usize, &usize)| Curve {
            label: format!("curve {k}"),
            detail: "a < b".into(),
            style,
            points: vec![(1.0, 1.0), (2.0, 0.5), (2.0, 0.4), (3.0, 0.4), (10.0, 0.1)],
            end: if k % 2 == 0 { End::Reached } else { End::GivenUp },
        };
        Chart {
            title: title.into(),
            subtitle: String::new(),
            x: axis([1.0, 10.0], Scale::Log),
            y: axis([0.0, 1.0], Scale::Linear),
            level: Some((0.3, "level".into())),
            curves: styles.iter().enumerate().map(curve).collect(),
        }
    }

    /// Lines of the file that are elements of this name, broad as a curve or not.
    fn elements<'a>(svg: &'a str, name: &str, broad: bool) -> Vec<&'a str> {
        let width = format!("stroke-width=\"{}\"", stroke(0).stroke_width);
        let all = svg.lines().filter(|line| line.starts_with(&format!("<{name} ")));
        all.filter(|line| line.contains(&width) == broad).collect()
    }

    #[test]
    fn words_of_users_cannot_break_the_file() {
        let svg = chart("a<b> & \"c\"", &[0]).svg().unwrap();
        assert!(svg.contains("a&lt;b&gt; &amp; &quot;c&quot;") && !svg.contains("<b>"), "{svg}");
        assert!(svg.contains("a &lt; b"), "{svg}");
    }

    #[test]
    fn the_picture_is_smaller_than_its_canvas() {
        let svg = chart("", &[]).svg().unwrap();
        assert!(svg.starts_with("<svg width=\"880\" height=\"480\" viewBox=\"0 0 3520 1920\""), "{svg}");
    }

    #[test]
    fn curves_are_steps() {
        assert_eq!(steps(&[(0, 9), (4, 5), (4, 3), (6, 3), (8, 1)]), [(0, 9), (4, 9), (4, 3), (8, 3), (8, 1)]);
        assert_eq!(steps(&[(0, 9), (4, 9), (8, 9)]), [(0, 9), (8, 9)]);
        assert_eq!(steps(&[(4, 9), (4, 5)]), [(4, 5)]);
        assert_eq!(steps(&[]), []);
    }

    #[test]
    fn solid_curves_are_one_line_and_others_are_broken() {
        let solid = chart("", &[0]).svg().unwrap();
        let broken = chart("", &[1]).svg().unwrap();
        // Another is that of the legend.
        assert_eq!(elements(&solid, "polyline", true).len(), 2);
        assert!(elements(&broken, "polyline", true).len() > 50);
    }

    #[test]
    fn ends_are_discs_and_crosses() {
        let svg = chart("", &[0, 6]).svg().unwrap();
        assert_eq!(elements(&svg, "circle", false).len(), 1);
        assert_eq!(elements(&svg, "line", false).iter().filter(|line| line.contains("#56B4E9")).count(), 2);
    }

    #[test]
    fn numbers_stand_at_the_ticks() {
        let svg = chart("", &[]).svg().unwrap();
        let lines: Vec<_> = svg.lines().collect();
        for number in ["1", "2", "5", "10", "0.2", "0.8"] {
            assert_eq!(
                lines.iter().filter(|&&line| line == number).count(),
                if number == "1" { 2 } else { 1 },
                "{svg}"
            );
        }
    }

    #[test]
    fn every_style_differs() {
        let styles: Vec<_> = (0..42).map(|style| (colour(style), dashes(style))).collect();
        for (k, style) in styles.iter().enumerate() {
            assert!(!styles[..k].contains(style), "{style:?}");
        }
        let drawn: Vec<_> = (0..42).map(|style| chart("", &[style]).svg().unwrap()).collect();
        assert!((1..42).all(|k| !drawn[..k].contains(&drawn[k])));
    }
}
