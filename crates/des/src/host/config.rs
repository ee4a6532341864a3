//! What is simulated, and what is refused.

use std::fmt;

use serde::Deserialize;
use sojourn_dist::{Arrivals, DistError, Distribution};

/// More requests than this would not fit into memory as rows.
const MOST_REQUESTS: f64 = 2e7;

/// A virtual host and its load; times in s.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    pub cores: usize,
    /// NIC k interrupts core k: at most as many as cores.
    pub nics: usize,
    pub load: HostLoad,
    #[serde(default)]
    pub steering: Steering,
    /// Work of a request in soft interrupts.
    pub interrupt: Distribution,
    /// Work of its page.
    pub page: Distribution,
    #[serde(default)]
    pub placement: Placement,
    /// How many pages a core works at together; the others wait for a thread. 0: no limit.
    #[serde(default = "one")]
    pub threads_per_core: usize,
    /// How long a page runs before the next one has its turn; 0: all at once, each with an equal share.
    #[serde(default)]
    pub quantum_s: f64,
    /// Core time lost each time a core turns to another page; only with turns.
    #[serde(default)]
    pub switch_s: f64,
    /// Delay of a page that goes to another core; costs no core time.
    #[serde(default)]
    pub crossing_s: f64,
    /// Requests that a core with a NIC has room for, waiting and in service; those beyond are refused.
    #[serde(default)]
    pub capacity: Option<usize>,
    /// Until when requests arrive; those under way then are finished.
    pub duration_s: f64,
    /// How often the counters are read.
    pub sample_s: f64,
    pub seed: u64,
}

/// Who sends requests.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum HostLoad {
    /// Arrivals at all NICs together.
    Open { arrivals: Arrivals },
    /// Users who wait for the answer, then think; user u sends to NIC u mod m. One that was refused waits at
    /// least a millisecond.
    Closed { users: u32, think: Distribution },
}

/// Which NIC an arrival comes to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Steering {
    /// Each with the same probability, independently.
    #[default]
    Hash,
    /// One after the other.
    Even,
}

/// Which core makes the page.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(tag = "policy", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Placement {
    /// The core that was interrupted with probability `stay` (where not given: m/n), else one of the n - m cores
    /// without a NIC, each alike; with a NIC at every core it always stays.
    Pinned { stay: Option<f64> },
    /// One of all n cores, each alike.
    Uniform,
    /// The core with the fewest requests; of several, the interrupted one, else the next one after it.
    LeastLoaded,
}

impl Default for Placement {
    fn default() -> Placement {
        Placement::Pinned { stay: None }
    }
}

fn one() -> usize {
    1
}

/// A value out of range: where, what, and what to give.
#[derive(Debug, Clone, PartialEq)]
pub struct HostError {
    pub place: String,
    pub value: String,
    pub remedy: &'static str,
}

impl fmt::Display for HostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {}; {}", self.place, self.value, self.remedy)
    }
}

impl std::error::Error for HostError {}

impl Config {
    /// Refuses what cannot be simulated.
    pub fn validate(&self) -> Result<(), HostError> {
        let cores = self.cores as f64;
        check("cores", cores, (1..=1024).contains(&self.cores), "give 1 to 1024")?;
        let nics = (1..=self.cores).contains(&self.nics);
        check("nics", self.nics as f64, nics, "give 1 to the number of cores")?;
        for (place, value) in
            [("quantum_s", self.quantum_s), ("switch_s", self.switch_s), ("crossing_s", self.crossing_s)]
        {
            check(place, value, value >= 0.0 && value.is_finite(), "give seconds, 0 or more")?;
        }
        let turns = self.quantum_s > 0.0 || self.threads_per_core == 1;
        check("switch_s", self.switch_s, turns || self.switch_s == 0.0, "give it together with quantum_s")?;
        for (place, value) in [("duration_s", self.duration_s), ("sample_s", self.sample_s)] {
            check(place, value, value > 0.0 && value.is_finite(), "give seconds above 0")?;
        }
        check("capacity", 0.0, self.capacity != Some(0), "give 1 or more, or leave it out")?;
        if let Placement::Pinned { stay: Some(p) } = self.placement {
            check("stay", p, (0.0..=1.0).contains(&p), "give a probability")?;
        }
        named("interrupt", self.interrupt.validate())?;
        named("page", self.page.validate())?;
        self.validate_load()
    }

    fn validate_load(&self) -> Result<(), HostError> {
        let work_s = self.interrupt.mean() + self.page.mean();
        let requests = match &self.load {
            HostLoad::Open { arrivals } => {
                named("arrivals", arrivals.validate())?;
                arrivals.expected(self.duration_s)
            }
            HostLoad::Closed { users, think } => {
                named("think", think.validate())?;
                check("users", f64::from(*users), *users > 0, "give 1 or more")?;
                let cycle_s = work_s + think.mean();
                check(
                    "think",
                    cycle_s,
                    cycle_s > 0.0,
                    "give work or think time: users without either never end",
                )?;
                // no more than n cores do, and no more than the users ask for
                self.duration_s * (f64::from(*users) / cycle_s).min(self.cores as f64 / work_s)
            }
        };
        let few = requests <= MOST_REQUESTS;
        check("duration_s", self.duration_s, few, "give less time or load: at most 20 million requests")
    }
}

fn check(place: &str, value: f64, holds: bool, remedy: &'static str) -> Result<(), HostError> {
    if holds {
        return Ok(());
    }
    Err(HostError { place: place.to_string(), value: value.to_string(), remedy })
}

fn named(place: &str, result: Result<(), DistError>) -> Result<(), HostError> {
    result.map_err(|error| HostError {
        place: place.to_string(),
        value: error.to_string(),
        remedy: "mend it there",
    })
}
