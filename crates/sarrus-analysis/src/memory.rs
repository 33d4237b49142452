//! Describes how much memory there is.

/// Marks where it cannot be determined [bytes].
const ASSUMED: f64 = 16.0 * (1_u64 << 30) as f64;

/// Memory that can be had without driving others out [bytes].
pub(crate) fn available() -> f64 {
    std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| parse(&text)).unwrap_or(ASSUMED)
}

/// `MemAvailable` of Linux.
fn parse(text: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(1024.0 * kib)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_linux_is_read() {
        let text = "MemTotal:  24000000 kB\nMemFree: 1 kB\nMemAvailable:   20480 kB\n";
        assert_eq!(parse(text), Some(20480.0 * 1024.0));
        assert_eq!(parse("MemTotal: 1 kB"), None);
        assert!(available() > 1e6);
    }
}
