//! The page that shows a run: one text with everything in it, so that it opens anywhere.
//!
//! Names and descriptions come from scenes, which come from anybody. They enter the page in two places
//! only: the title, where what means something to HTML is escaped, and a JSON object inside a script
//! element that is never run, where no `<` is left. The page's own scripts read the object and set text,
//! never markup. A policy in the head lets the browser load nothing from anywhere.

use serde_json::Value;

/// What a page is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// A run that is over: the page has all there is to show and asks nobody.
    Report,
    /// A run under way: the page asks the server that it came from.
    Live,
}

impl Mode {
    /// The name that the page's scripts know.
    pub fn name(self) -> &'static str {
        match self {
            Self::Report => "report",
            Self::Live => "live",
        }
    }
}

/// What a page shows.
#[derive(Clone, Debug)]
pub struct PageData {
    /// What it is for.
    pub mode: Mode,
    /// The name of the run.
    pub name: String,
    /// What the scripts read as `barchan.config`; `mode` and `name` are added. See `page/main.js` for the
    /// keys.
    pub config: serde_json::Map<String, Value>,
    /// Frames for the player, in order of time.
    pub frames: Vec<PackedFrame>,
    /// What [`crate::wire::encode_looks`] gives for their bodies, packed as frames are; empty if all are spheres.
    pub looks: String,
}

/// A frame inside a page.
#[derive(Clone, Debug)]
pub struct PackedFrame {
    /// Steps done by then.
    pub step: u64,
    /// Simulated time.
    pub time: f64,
    /// What [`crate::wire::encode`] gives, deflated (zlib), in base 64.
    pub text: String,
}

const TEMPLATE: &str = include_str!("../page/index.html");
const STYLE: &str = include_str!("../page/style.css");

/// The page's scripts in the order in which they run.
const SCRIPTS: [&str; 18] = [
    include_str!("../page/vendor/three.min.js"),
    include_str!("../page/wire.js"),
    include_str!("../page/colours.js"),
    include_str!("../page/bodies.js"),
    include_str!("../page/coarse.js"),
    include_str!("../page/solids.js"),
    include_str!("../page/chains.js"),
    include_str!("../page/walls.js"),
    include_str!("../page/viewer.js"),
    include_str!("../page/keys.js"),
    include_str!("../page/legend.js"),
    include_str!("../page/controls.js"),
    include_str!("../page/scale.js"),
    include_str!("../page/plot.js"),
    include_str!("../page/plots.js"),
    include_str!("../page/player.js"),
    include_str!("../page/numbers.js"),
    include_str!("../page/main.js"),
];

/// Runs after the others on a live page.
const LIVE: &str = include_str!("../page/live.js");

/// The self-contained page.
pub fn html(data: &PageData) -> String {
    let scripts = SCRIPTS.into_iter().chain((data.mode == Mode::Live).then_some(LIVE));
    let mut page = String::with_capacity(1 << 20);
    // Every placeholder stands once in the template; what is put in is not looked through again.
    let mut rest = TEMPLATE;
    while let Some((before, after)) = rest.split_once("{{") {
        let (key, after) = after.split_once("}}").expect("the template's placeholders are closed");
        page.push_str(before);
        match key {
            "title" => page.push_str(&escape(&data.name)),
            "policy" => page.push_str(policy(data.mode)),
            "style" => page.push_str(STYLE),
            "config" => page.push_str(&config(data)),
            "frames" => {
                if !data.looks.is_empty() {
                    page.push_str("<script type=\"text/plain\" id=\"looks\">");
                    page.push_str(&data.looks);
                    page.push_str("</script>\n");
                }
                data.frames.iter().for_each(|frame| push_frame(frame, &mut page));
            }
            "scripts" => scripts.clone().for_each(|script| {
                page.push_str("<script>\n");
                page.push_str(script);
                page.push_str("</script>\n");
            }),
            other => unreachable!("the template has an unknown placeholder {other}"),
        }
        rest = after;
    }
    page.push_str(rest);
    page
}

/// What the browser may load: nothing that is not in the page, but for the live page's socket.
fn policy(mode: Mode) -> &'static str {
    match mode {
        Mode::Report => {
            "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; form-action 'none'"
        }
        Mode::Live => {
            "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; \
             connect-src 'self'; form-action 'none'"
        }
    }
}

fn config(data: &PageData) -> String {
    let mut config = data.config.clone();
    config.insert("mode".into(), data.mode.name().into());
    config.insert("name".into(), data.name.clone().into());
    // In JSON a `<` only stands in strings, where it may be written as its number. Without one nothing
    // can end the element.
    Value::Object(config).to_string().replace('<', "\\u003c")
}

fn push_frame(frame: &PackedFrame, page: &mut String) {
    use std::fmt::Write;
    let PackedFrame { step, time, text } = frame;
    let written = writeln!(
        page,
        "<script type=\"text/plain\" class=\"frame\" data-step=\"{step}\" data-time=\"{time:?}\">{text}</script>"
    );
    written.expect("a string takes everything");
}

/// Text as HTML.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const NASTY: &str = "</script><script>alert(1)</script><!--{{config}}\u{2028}\"'&";

    fn page(mode: Mode) -> String {
        let mut config = serde_json::Map::new();
        config.insert("description".into(), NASTY.into());
        let frames = vec![PackedFrame { step: 3, time: 0.5, text: "AAAA".into() }];
        html(&PageData { mode, name: NASTY.into(), config, frames, looks: "BBBB".into() })
    }

    /// What stands between two texts, first occurrence.
    fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
        text.split_once(from).unwrap().1.split_once(to).unwrap().0
    }

    #[test]
    fn what_scenes_say_stays_text() {
        let page = page(Mode::Report);
        assert!(!page.contains("alert(1)</script>"));
        assert!(page.contains("<title>&lt;/script&gt;"));
        let json = between(&page, "id=\"config\">", "</script>");
        let config: Value = serde_json::from_str(json).unwrap();
        assert_eq!((config["name"].as_str(), config["description"].as_str()), (Some(NASTY), Some(NASTY)));
        assert_eq!(config["mode"], "report");
    }

    #[test]
    fn the_template_is_filled_and_every_script_is_closed() {
        for mode in [Mode::Report, Mode::Live] {
            let page = page(mode);
            assert!(!between(&page, "<body", "id=\"config\"").contains("{{"));
            assert_eq!(page.matches("<script").count(), page.matches("</script>").count());
            assert_eq!(page.contains(LIVE), mode == Mode::Live);
            assert!(page.contains("id=\"looks\">BBBB<"));
            assert!(page.contains("data-step=\"3\" data-time=\"0.5\">AAAA<"));
        }
    }

    #[test]
    fn nothing_is_loaded_from_anywhere() {
        for own in SCRIPTS[1..].iter().chain([&TEMPLATE, &STYLE, &LIVE]) {
            assert!(!own.contains("http:") && !own.contains("https:"), "an address of the network");
            assert!(!own.contains("@import") && !own.contains("url(") && !own.contains(" src="));
        }
        let report = page(Mode::Report);
        assert!(!report.contains("connect-src") && report.contains("default-src 'none'"));
    }
}
