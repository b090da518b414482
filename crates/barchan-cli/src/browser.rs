//! Opens a page in the user's browser, if there is one. That it cannot be opened is never an error: the
//! address is printed as well.

use std::env;
use std::process::{Command, Stdio};

/// Whether a program was started that will open the page.
pub(crate) fn open(url: &str) -> bool {
    openers().iter().any(|words| start(words, url))
}

/// Programs that open a page, with their arguments.
fn openers() -> &'static [&'static [&'static str]] {
    if cfg!(target_os = "macos") {
        return &[&["open"]];
    }
    if cfg!(windows) {
        return &[&["explorer.exe"]];
    }
    // Without a display there is nothing to see; what is then found is a browser for text.
    let has_display =
        ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| env::var_os(name).is_some_and(|v| !v.is_empty()));
    if has_display { &[&["xdg-open"], &["gio", "open"], &["sensible-browser"]] } else { &[] }
}

fn start(words: &[&str], url: &str) -> bool {
    let Some((program, arguments)) = words.split_first() else { return false };
    let mut command = Command::new(program);
    command.args(arguments).arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // Ctrl-C is for this program, not for the browser.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let Ok(mut child) = command.spawn() else { return false };
    // Somebody has to hear of its end.
    let _ = std::thread::Builder::new().name("browser".into()).spawn(move || child.wait());
    true
}
