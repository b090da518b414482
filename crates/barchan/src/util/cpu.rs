//! What a thread has computed, whatever else ran beside it.

/// Seconds of processor time of this thread. Where the system does not tell, wall-clock seconds.
#[cfg(unix)]
pub fn thread_seconds() -> f64 {
    use nix::time::{ClockId, clock_gettime};
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(0.0, |t| t.tv_sec() as f64 + 1e-9 * t.tv_nsec() as f64)
}

/// Seconds of processor time of this thread. Where the system does not tell, wall-clock seconds.
#[cfg(not(unix))]
pub fn thread_seconds() -> f64 {
    use std::sync::OnceLock;
    use std::time::Instant;
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn sleep_is_no_work() {
        let start = thread_seconds();
        std::thread::sleep(Duration::from_millis(200));
        assert!(cfg!(not(unix)) || thread_seconds() - start < 0.1);
        let start = thread_seconds();
        let mut x = 1.0f64;
        while thread_seconds() - start < 0.01 {
            x = (x + 1.0).sqrt();
        }
        assert!(x > 1.0);
    }
}
