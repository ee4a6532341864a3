//! What a load in sessions counts: the run between ramp-up and ramp-down.

use std::collections::BTreeMap;

use serde::Serialize;

use super::matrix_of;
use crate::class_statistics::{ClassStatistics, ClassSummary};
use crate::config::Config;
use crate::request_outcome::{Failure, RequestOutcome};

/// The part of a summary that says what users in sessions met, of requests that ended between ramp-up and ramp-down.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SessionsSummary {
    pub users: u64,
    /// The mean of the think time's distribution.
    pub think_s: f64,
    /// CLOCK_MONOTONIC; the run is between them.
    pub run_start_s: f64,
    pub run_end_s: f64,
    pub ok: u64,
    pub failed: u64,
    /// Successes per second.
    pub throughput_per_s: f64,
    /// From when a request was due to the end of its answer, mean of the successes.
    pub response_s: f64,
    /// X (R + Z) / N: 1 by the interactive response time law.
    pub interactive_law: f64,
    /// By page; times from sent to done.
    pub classes: BTreeMap<String, ClassSummary>,
    /// Of each matrix, in the order of the configuration.
    pub users_by_kind: Vec<u64>,
    /// What users drew behind the pages of the run: matrix, row, column and how often; only what was drawn.
    pub steps: Vec<[u64; 4]>,
}

/// Adds up outcomes by page.
pub struct SessionsTally {
    pages: Vec<String>,
    classes: Vec<ClassStatistics>,
    users: u64,
    think_s: f64,
    run_start_s: f64,
    run_end_s: f64,
    response_s: f64,
    users_by_kind: Vec<u64>,
    steps: BTreeMap<[u16; 3], u64>,
}

impl SessionsTally {
    /// Of a run that starts at `start_s`; `None` where there are no sessions.
    pub fn new(config: &Config, start_s: f64) -> Option<SessionsTally> {
        let sessions = config.sessions.as_ref()?;
        let closed = || config.lanes.iter().filter_map(|lane| lane.closed.as_ref());
        let mut users_by_kind = vec![0; sessions.mixes.len()];
        closed()
            .flat_map(|lane| 0..lane.users)
            .for_each(|user| users_by_kind[matrix_of(sessions, user)] += 1);
        Some(SessionsTally {
            pages: sessions.pages.clone(),
            classes: sessions.pages.iter().map(|_| ClassStatistics::new()).collect(),
            users: config.users(),
            think_s: closed().next().map_or(0.0, |lane| lane.think.mean()),
            run_start_s: start_s + sessions.ramp_up_s,
            run_end_s: start_s + config.duration_s - sessions.ramp_down_s,
            response_s: 0.0,
            users_by_kind,
            steps: BTreeMap::new(),
        })
    }

    pub fn add(&mut self, outcome: &RequestOutcome) {
        if !(self.run_start_s..self.run_end_s).contains(&outcome.done_s) {
            return;
        }
        if let Some(class) = self.classes.get_mut(usize::from(outcome.class)) {
            class.add(outcome);
        }
        if let Some(step) = outcome.step {
            *self.steps.entry([step.kind, outcome.class, step.column]).or_default() += 1;
        }
        if outcome.failure == Failure::Ok {
            self.response_s += outcome.done_s - outcome.request.intended_s;
        }
    }

    pub fn summary(&self) -> SessionsSummary {
        let sum = |of: fn(&ClassStatistics) -> u64| self.classes.iter().map(of).sum::<u64>();
        let (ok, failed) = (sum(|class| class.ok), sum(|class| class.failed));
        let throughput_per_s = ok as f64 / (self.run_end_s - self.run_start_s);
        let response_s = self.response_s / ok.max(1) as f64;
        let seen = self.pages.iter().zip(&self.classes).filter(|(_, class)| class.ok + class.failed > 0);
        SessionsSummary {
            users: self.users,
            think_s: self.think_s,
            run_start_s: self.run_start_s,
            run_end_s: self.run_end_s,
            ok,
            failed,
            throughput_per_s,
            response_s,
            interactive_law: throughput_per_s * (response_s + self.think_s) / self.users.max(1) as f64,
            users_by_kind: self.users_by_kind.clone(),
            steps: self
                .steps
                .iter()
                .map(|(key, count)| {
                    let [kind, page, column] = key.map(u64::from);
                    [kind, page, column, *count]
                })
                .collect(),
            classes: seen.map(|(name, class)| (name.clone(), class.summary())).collect(),
        }
    }
}
