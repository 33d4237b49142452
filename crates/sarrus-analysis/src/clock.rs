//! Wall and processor time of a run.

use std::time::Instant;

/// Started when made.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    wall: Instant,
    cpu: Option<f64>,
}

impl Clock {
    /// Starts now.
    pub fn start() -> Clock {
        Clock { wall: Instant::now(), cpu: cpu_now() }
    }

    /// Wall time since the start \[s\].
    pub fn wall(&self) -> f64 {
        self.wall.elapsed().as_secs_f64()
    }

    /// Processor time of the whole process since the start \[s\]; none where the system does not tell.
    pub fn cpu(&self) -> Option<f64> {
        Some(cpu_now()? - self.cpu?)
    }
}

#[cfg(unix)]
fn cpu_now() -> Option<f64> {
    let t = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Some(t.tv_sec as f64 + 1e-9 * t.tv_nsec as f64)
}

#[cfg(not(unix))]
fn cpu_now() -> Option<f64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_takes_processor_time() {
        let clock = Clock::start();
        let mut x = 0_u64;
        while clock.wall() < 0.02 {
            x = std::hint::black_box(x.wrapping_mul(31).wrapping_add(1));
        }
        assert!(clock.wall() >= 0.02);
        if let Some(cpu) = clock.cpu() {
            assert!(cpu > 0.0);
        }
    }
}
