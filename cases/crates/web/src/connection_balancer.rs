//! Which thread gets a connection: a deterministic weighted round robin.
//!
//! With n serving cores of which m are leading (take a NIC's interrupts), a NIC's connections stay on its
//! own core if m = n. Otherwise a fraction m/n stays and the rest goes evenly to the n - m others, so that
//! with equally busy NICs every core gets equally many. A NIC whose core does not serve deals to all.

/// Deals connections to threads, NIC by NIC.
#[derive(Clone, Debug)]
pub struct ConnectionBalancer {
    nics: Vec<Vec<WeightedRoundRobin>>,
    threads_per_core: usize,
    turns: Vec<usize>,
}

/// Smooth weighted round robin: every core earns its weight, the richest pays the sum.
#[derive(Clone, Debug)]
struct WeightedRoundRobin {
    core: usize,
    weight: i64,
    credit: i64,
}

impl ConnectionBalancer {
    /// `leading[k]` is the core of NIC k. Thread numbers are `core index * threads_per_core + i`.
    pub fn new(cores: &[usize], leading: &[usize], threads_per_core: usize) -> ConnectionBalancer {
        let index = |core: &usize| cores.iter().position(|c| c == core);
        let others: Vec<usize> = (0..cores.len()).filter(|&i| !leading.contains(&cores[i])).collect();
        let leaders = cores.len() - others.len();
        let shares = |(nic, core): (usize, &usize)| match index(core) {
            Some(own) => shares(own, leaders, &others, nic),
            None => (0..cores.len()).map(|core| WeightedRoundRobin { core, weight: 1, credit: 0 }).collect(),
        };
        let nics = leading.iter().enumerate().map(shares).collect();
        ConnectionBalancer { nics, threads_per_core: threads_per_core.max(1), turns: vec![0; cores.len()] }
    }

    /// The thread for the next connection of `nic`; 0 for a NIC that is not there.
    pub fn thread(&mut self, nic: usize) -> usize {
        let Some(shares) = self.nics.get_mut(nic) else { return 0 };
        let core = richest(shares);
        let turn = self.turns[core];
        self.turns[core] = (turn + 1) % self.threads_per_core;
        core * self.threads_per_core + turn
    }
}

fn shares(own: usize, leaders: usize, others: &[usize], nic: usize) -> Vec<WeightedRoundRobin> {
    let share = |core, weight| WeightedRoundRobin { core, weight: weight as i64, credit: 0 };
    let mut shares = vec![share(own, leaders)];
    // Each NIC begins its round at another core, so that few connections are spread too.
    let start = if others.is_empty() { 0 } else { nic % others.len() };
    shares.extend(others[start..].iter().chain(&others[..start]).map(|&core| share(core, 1)));
    shares
}

fn richest(shares: &mut [WeightedRoundRobin]) -> usize {
    let sum: i64 = shares.iter().map(|share| share.weight).sum();
    let mut best = 0;
    for i in 0..shares.len() {
        shares[i].credit += shares[i].weight;
        if shares[i].credit > shares[best].credit {
            best = i;
        }
    }
    shares[best].credit -= sum;
    shares[best].core
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Connections by NIC and thread after `each` of every NIC in turn.
    fn dealt(balancer: &mut ConnectionBalancer, nics: usize, threads: usize, each: usize) -> Vec<Vec<usize>> {
        let mut counts = vec![vec![0; threads]; nics];
        for _ in 0..each {
            for (nic, row) in counts.iter_mut().enumerate() {
                row[balancer.thread(nic)] += 1;
            }
        }
        counts
    }

    #[test]
    fn one_nic_two_cores_is_half_and_half() {
        assert_eq!(dealt(&mut ConnectionBalancer::new(&[0, 1], &[0], 1), 1, 2, 10), [[5, 5]]);
    }

    #[test]
    fn all_cores_leading_keeps_connections_at_home() {
        assert_eq!(dealt(&mut ConnectionBalancer::new(&[4, 6], &[6, 4], 1), 2, 2, 7), [[0, 7], [7, 0]]);
    }

    #[test]
    fn two_of_four_leading_keep_half_and_every_core_gets_equally_many() {
        let counts = dealt(&mut ConnectionBalancer::new(&[0, 1, 2, 3], &[0, 1], 1), 2, 4, 8);
        assert_eq!(counts, [[4, 0, 2, 2], [0, 4, 2, 2]]);
    }

    #[test]
    fn two_nics_on_one_core_share_it() {
        let counts = dealt(&mut ConnectionBalancer::new(&[0, 1, 2, 3], &[0, 0], 1), 2, 4, 8);
        assert_eq!(counts, [[2, 2, 2, 2], [2, 2, 2, 2]]);
    }

    #[test]
    fn interrupts_on_a_core_that_does_not_serve() {
        assert_eq!(dealt(&mut ConnectionBalancer::new(&[1, 2], &[0], 1), 1, 2, 6), [[3, 3]]);
    }

    #[test]
    fn threads_of_a_core_take_turns() {
        assert_eq!(dealt(&mut ConnectionBalancer::new(&[0, 1], &[0], 2), 1, 4, 8), [[2, 2, 2, 2]]);
    }

    #[test]
    fn at_any_time_the_spread_is_even_to_one_connection() {
        let mut balancer = ConnectionBalancer::new(&[0, 1, 2, 3, 4], &[0], 1);
        let mut counts = [0i32; 5];
        for _ in 0..57 {
            counts[balancer.thread(0)] += 1;
            assert!(counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 1, "{counts:?}");
        }
        assert_eq!(balancer.thread(9), 0);
    }
}
