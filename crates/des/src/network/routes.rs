//! Where a customer goes next: tables of probabilities, and choices by the state.

use super::config::{Choice, Config, Policy};
use sojourn_dist::Stream;

/// The only (node, class) that somebody can go to, if there is only one.
pub type Way = Option<(usize, usize)>;

/// From one (node, class).
#[derive(Debug, Clone)]
enum Route {
    /// Never left, as checked.
    None,
    One(u32, u32),
    /// Running sums of the probabilities, and where they lead.
    Some(Vec<f64>, Vec<(u32, u32)>),
    Choice(Choice, usize),
}

impl Route {
    fn only(&self) -> Option<(u32, u32)> {
        match self {
            Route::One(node, class) => Some((*node, *class)),
            _ => None,
        }
    }
}

#[derive(Debug, Clone)]
pub struct Routes {
    classes: usize,
    /// The only way from a row, if there is only one: looked at first, because most rows are such.
    only: Vec<Option<(u32, u32)>>,
    rows: Vec<Route>,
    streams: Vec<Stream>,
}

impl Routes {
    pub fn new(config: &Config) -> Routes {
        let (nodes, classes) = (config.stations.len() + 1, config.classes.len());
        let mut rows = vec![Route::None; nodes * classes];
        for row in &config.routes {
            rows[row.node * classes + row.class] = match &row.choice {
                Some(choice) => Route::Choice(choice.clone(), 0),
                None => table(&row.to),
            };
        }
        let stream = |i: usize| {
            let node = config.stations.get(i / classes).map_or("", |s| &s.name);
            config.stream("route", node, &config.classes[i % classes].name)
        };
        let only = rows.iter().map(Route::only).collect();
        Routes { classes, only, rows, streams: (0..nodes * classes).map(stream).collect() }
    }

    /// The next (node, class) from `node` in `class`; `present` tells how many are at a station.
    #[inline(always)]
    pub fn next(&mut self, node: usize, class: usize, present: impl Fn(usize) -> u32) -> (usize, usize) {
        let row = node * self.classes + class;
        match self.only[row] {
            Some((to, class)) => (to as usize, class as usize),
            None => self.among(row, class, present),
        }
    }

    /// The only way from `node` in `class`, if there is only one.
    pub fn only(&self, node: usize, class: usize) -> Way {
        self.only[node * self.classes + class].map(|(node, class)| (node as usize, class as usize))
    }

    /// One of several.
    #[inline(never)]
    fn among(&mut self, row: usize, class: usize, present: impl Fn(usize) -> u32) -> (usize, usize) {
        match &mut self.rows[row] {
            Route::One(to, class) => (*to as usize, *class as usize),
            Route::Some(sums, to) => {
                let u = self.streams[row].uniform();
                let (to, class) = to[sums.iter().take_while(|sum| **sum <= u).count().min(to.len() - 1)];
                (to as usize, class as usize)
            }
            Route::Choice(choice, turn) => (chosen(choice, turn, &mut self.streams[row], present), class),
            Route::None => (self.rows.len() / self.classes - 1, class),
        }
    }
}

fn table(to: &[(usize, usize, f64)]) -> Route {
    let possible: Vec<_> = to.iter().filter(|t| t.2 > 0.0).collect();
    match possible.as_slice() {
        [] => Route::None,
        [(node, class, _)] => Route::One(*node as u32, *class as u32),
        many => {
            let mut sum = 0.0;
            let sums = many.iter().map(|t| {
                sum += t.2;
                sum
            });
            Route::Some(sums.collect(), many.iter().map(|t| (t.0 as u32, t.1 as u32)).collect())
        }
    }
}

fn chosen(choice: &Choice, turn: &mut usize, stream: &mut Stream, present: impl Fn(usize) -> u32) -> usize {
    let n = choice.to.len();
    match choice.policy {
        Policy::RoundRobin => {
            *turn = (*turn + 1) % n;
            choice.to[(*turn + n - 1) % n]
        }
        Policy::Random => choice.to[stream.below(n as u64) as usize],
        Policy::Jsq => shortest(&choice.to, stream, present),
        Policy::Power => {
            // The first d of a shuffle.
            let mut to = choice.to.clone();
            let d = choice.d.min(n);
            for i in 0..d {
                to.swap(i, i + stream.below((n - i) as u64) as usize);
            }
            shortest(&to[..d], stream, present)
        }
    }
}

/// The node with the fewest present, ties at random.
fn shortest(to: &[usize], stream: &mut Stream, present: impl Fn(usize) -> u32) -> usize {
    let fewest = to.iter().map(|k| present(*k)).min().unwrap_or(0);
    let ties = || to.iter().filter(|k| present(**k) == fewest);
    let count = ties().count() as u64;
    let pick = if count > 1 { stream.below(count) as usize } else { 0 };
    ties().nth(pick).copied().unwrap_or(to[0])
}
