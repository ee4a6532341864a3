//! What was answered: counts and times for each interaction.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use sojourn_record::clock::s;
use sojourn_serving::TraceCounts;

use crate::interaction::INTERACTIONS;

/// Of one worker, or of all.
#[derive(Debug, Clone)]
pub(crate) struct AnswerCounts {
    /// For each interaction, and last for requests that are none.
    pub completions: [u64; INTERACTIONS.len() + 1],
    pub statuses: BTreeMap<u16, u64>,
    /// With the database; a failed one too.
    pub transactions: u64,
    /// Waiting for a worker, and with one, in all, ns.
    pub waited_ns: u64,
    pub served_ns: u64,
    /// CPU time of workers, ns.
    pub cpu_ns: u64,
}

impl Default for AnswerCounts {
    fn default() -> Self {
        let completions = [0; INTERACTIONS.len() + 1];
        Self {
            completions,
            statuses: BTreeMap::new(),
            transactions: 0,
            waited_ns: 0,
            served_ns: 0,
            cpu_ns: 0,
        }
    }
}

impl AnswerCounts {
    pub fn add(&mut self, other: &Self) {
        self.completions.iter_mut().zip(other.completions).for_each(|(sum, more)| *sum += more);
        for (status, count) in &other.statuses {
            *self.statuses.entry(*status).or_default() += count;
        }
        self.transactions += other.transactions;
        self.waited_ns += other.waited_ns;
        self.served_ns += other.served_ns;
        self.cpu_ns += other.cpu_ns;
    }

    pub fn by_interaction(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        INTERACTIONS.into_iter().chain(["other"]).zip(self.completions)
    }
}

/// Of the whole service; each worker writes its own, so that none waits for another.
#[derive(Debug)]
pub(crate) struct Stats {
    workers: Vec<Mutex<AnswerCounts>>,
    pub clients: AtomicUsize,
    pub accepted: AtomicU64,
    pub turned_away: AtomicU64,
    /// Requests that found the queue full.
    pub refused: AtomicU64,
}

impl Stats {
    pub fn new(workers: usize) -> Self {
        let workers = (0..workers).map(|_| Mutex::default()).collect();
        let (accepted, turned_away, refused) = Default::default();
        Self { workers, clients: AtomicUsize::new(0), accepted, turned_away, refused }
    }

    pub fn of_worker(&self, worker: usize) -> MutexGuard<'_, AnswerCounts> {
        self.workers[worker].lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn total(&self) -> AnswerCounts {
        let mut total = AnswerCounts::default();
        (0..self.workers.len()).for_each(|worker| total.add(&self.of_worker(worker)));
        total
    }

    pub fn summary(&self, seconds: f64, cpu_s: f64, traces: TraceCounts) -> Summary {
        let total = self.total();
        let completions: u64 = total.completions.iter().sum();
        let by_kind = total.by_interaction().map(|(name, count)| (name.into(), count)).collect();
        let mean = |ns: u64| if completions > 0 { s(ns) / completions as f64 } else { 0.0 };
        Summary {
            seconds,
            completions,
            throughput: completions as f64 / seconds.max(1e-9),
            by_kind,
            wait_s: mean(total.waited_ns),
            service_s: mean(total.served_ns),
            statuses: total.statuses,
            transactions: total.transactions,
            refused: self.refused.load(Ordering::Relaxed),
            clients_accepted: self.accepted.load(Ordering::Relaxed),
            clients_refused: self.turned_away.load(Ordering::Relaxed),
            cpu_s,
            traces,
        }
    }
}

/// What the service did, told at its end.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    pub seconds: f64,
    pub completions: u64,
    /// 1/s, over all of `seconds`.
    pub throughput: f64,
    /// Completions of each interaction; `other` for requests that are none.
    pub by_kind: BTreeMap<String, u64>,
    pub statuses: BTreeMap<u16, u64>,
    /// With the database, those that failed too.
    pub transactions: u64,
    /// Requests that found the queue full, not among the completions.
    pub refused: u64,
    pub clients_accepted: u64,
    pub clients_refused: u64,
    /// Mean time in the queue, and with a worker.
    pub wait_s: f64,
    pub service_s: f64,
    /// Of all threads.
    pub cpu_s: f64,
    /// What was written of traces; 0 where none were asked for.
    pub traces: TraceCounts,
}
