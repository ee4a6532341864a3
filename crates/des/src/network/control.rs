//! Servers that come and go: schedules, breakdowns and repairs.

use super::config::Config;
use super::sources::VariateGenerator;
use sojourn_dist::Sampler;

/// What changes at a station, and when the same source changes something next.
#[derive(Debug, Clone, Copy)]
pub struct Change {
    pub station: usize,
    pub servers: Option<u32>,
    pub down: i32,
    pub next_s: Option<f64>,
}

#[derive(Debug, Clone)]
pub enum Control {
    Schedule {
        station: usize,
        steps: Vec<(f64, u32)>,
        period_s: Option<f64>,
        next: usize,
    },
    /// One server; `down` says what it is now, none at the start.
    Server {
        station: usize,
        up: Box<VariateGenerator>,
        repair: Box<VariateGenerator>,
        down: Option<bool>,
    },
}

impl Control {
    pub fn all(config: &Config) -> Vec<Control> {
        let mut controls = Vec::new();
        for (station, s) in config.stations.iter().enumerate() {
            if !s.schedule.is_empty() {
                let steps = s.schedule.clone();
                controls.push(Control::Schedule { station, steps, period_s: s.period_s, next: 0 });
            }
            let Some(breakdowns) = &s.breakdowns else { continue };
            for server in 0..s.servers {
                let source = |what, distribution| {
                    let stream = config.stream(what, &s.name, &server.to_string());
                    Box::new(VariateGenerator::new(Sampler::new(distribution), stream))
                };
                controls.push(Control::Server {
                    station,
                    up: source("up", &breakdowns.up),
                    repair: source("down", &breakdowns.down),
                    down: None,
                });
            }
        }
        controls
    }

    /// Its next change; the first call, at time 0, is the start.
    pub fn happen(&mut self, now_s: f64) -> Change {
        match self {
            Control::Schedule { station, steps, period_s, next } => {
                let (station, period_s) = (*station, *period_s);
                let at = |i: usize| match period_s {
                    Some(period_s) => Some((i / steps.len()) as f64 * period_s + steps[i % steps.len()].0),
                    None => steps.get(i).map(|s| s.0),
                };
                let mut servers = None;
                while at(*next).is_some_and(|t| t <= now_s) {
                    servers = Some(steps[*next % steps.len()].1);
                    *next += 1;
                }
                Change { station, servers, down: 0, next_s: at(*next) }
            }
            Control::Server { station, up, repair, down } => {
                let (change, length_s) = match down {
                    None => (0, up.draw()),
                    Some(false) => (1, repair.draw()),
                    Some(true) => (-1, up.draw()),
                };
                *down = Some(change == 1);
                Change { station: *station, servers: None, down: change, next_s: Some(now_s + length_s) }
            }
        }
    }
}
