//! What comes out of a simulated host.

/// One entry a request, in order of arrival; times in s.
#[derive(Debug, Clone, Default)]
pub struct RequestRecords {
    /// It arrived at its NIC.
    pub intended_s: Vec<f64>,
    /// Its interrupt was over.
    pub ready_s: Vec<f64>,
    /// A thread took its page up.
    pub start_s: Vec<f64>,
    /// Its answer left; for a refused one, when it came.
    pub done_s: Vec<f64>,
    /// Work drawn for it.
    pub interrupt_s: Vec<f64>,
    pub page_s: Vec<f64>,
    pub nic: Vec<u16>,
    /// The core that made the page.
    pub core: Vec<u16>,
    /// Which user sent it; `u32::MAX` in an open loop.
    pub user: Vec<u32>,
    /// 1 if there was no room for it.
    pub refused: Vec<u8>,
}

impl RequestRecords {
    pub fn len(&self) -> usize {
        self.intended_s.len()
    }

    pub fn is_empty(&self) -> bool {
        self.intended_s.is_empty()
    }

    /// A request that has just come; its number.
    pub(super) fn begin(&mut self, now_s: f64, nic: usize, user: u32, interrupt_s: f64, page_s: f64) -> u32 {
        let number = self.len() as u32;
        self.intended_s.push(now_s);
        self.interrupt_s.push(interrupt_s);
        self.page_s.push(page_s);
        self.nic.push(nic as u16);
        self.user.push(user);
        for column in [&mut self.ready_s, &mut self.start_s, &mut self.done_s] {
            column.push(now_s);
        }
        self.core.push(nic as u16);
        self.refused.push(0);
        number
    }
}

/// Time of each core in each state since the start, s, when it was read: a row of cores for each of `t_s`.
#[derive(Debug, Clone, Default)]
pub struct CoreSamples {
    pub t_s: Vec<f64>,
    pub user_s: Vec<f64>,
    pub system_s: Vec<f64>,
    pub softirq_s: Vec<f64>,
}

/// A simulated run: requests and samples. The last sample is at `end_s`, when the last request was done: its rows are the exact totals.
#[derive(Debug, Clone, Default)]
pub struct SimulatedRun {
    pub cores: usize,
    pub end_s: f64,
    pub records: RequestRecords,
    pub samples: CoreSamples,
    /// Events that were handled.
    pub events: u64,
}
