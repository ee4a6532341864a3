//! A state: numbers of fixed place (jobs by phase, stuck jobs, phases of sources, tokens held) and lines (who waits, in
//! order). As a key: the numbers, then each line as runs.

use super::network_spec::NetworkSpec;

const END: u16 = u16::MAX;

/// A customer on its way; `limit` is the first limit that it has not passed yet.
#[derive(Clone, Copy, Debug)]
pub struct CustomerMove {
    pub from: usize,
    pub to: usize,
    pub class: usize,
    pub limit: usize,
}

#[derive(Clone, Debug, Default)]
pub struct NetworkState {
    pub fixed: Vec<u16>,
    pub lines: Vec<Vec<u16>>,
    /// Empty except while a transition is worked out.
    pub moving: Vec<CustomerMove>,
    /// What happened in the transition, by `StateLayout` numbers; filled only when somebody counts.
    pub marks: Vec<u32>,
}

/// Where what is, in states and in marks.
#[derive(Clone, Debug)]
pub struct StateLayout {
    pub slots: Vec<usize>,
    pub stuck: usize,
    pub sources: usize,
    pub held: usize,
    pub open: usize,
    pub size: usize,
    pub blocked: usize,
    pub queues: usize,
    pub lines: usize,
    nodes: usize,
    classes: usize,
    limits: usize,
}

impl StateLayout {
    pub fn new(spec: &NetworkSpec) -> Self {
        let nodes = spec.stations.len();
        let mut slots = vec![0];
        for station in &spec.stations {
            slots.push(slots[slots.len() - 1] + station.slots());
        }
        let stuck = slots[nodes];
        let sources = stuck + nodes;
        let held = sources + spec.sources.len();
        let open = held + spec.limits.len();
        let blocking = spec.stations.iter().any(|s| s.block);
        let (blocked, queues) = (nodes, if blocking { 2 * nodes } else { nodes });
        let (classes, limits) = (spec.classes, spec.limits.len());
        let lines = queues + limits;
        Self {
            slots,
            stuck,
            sources,
            held,
            open,
            size: open + 1,
            blocked,
            queues,
            lines,
            nodes,
            classes,
            limits,
        }
    }

    /// Mark: service of `class` ended at `node`.
    pub fn done(&self, node: usize, class: usize) -> usize {
        node * self.classes + class
    }

    /// Mark: `class` was lost at `node`.
    pub fn lost(&self, node: usize, class: usize) -> usize {
        self.done(self.nodes + node, class)
    }

    /// Mark: a pass ended as `class`.
    pub fn exit(&self, class: usize) -> usize {
        self.done(2 * self.nodes, class)
    }

    /// Mark: an arrival of `class` was cut off by `most_open`.
    pub fn cut(&self, class: usize) -> usize {
        self.done(2 * self.nodes + 1, class)
    }

    /// Mark: `class` came to `limit`; `what` is 0 for each, 1 where it had to wait, 2 where it was lost.
    pub fn limit(&self, what: usize, limit: usize, class: usize) -> usize {
        self.done(2 * self.nodes + 2 + what * self.limits + limit, class)
    }

    /// How many marks there are.
    pub fn marks(&self) -> usize {
        self.done(2 * self.nodes + 2 + 3 * self.limits, 0)
    }

    /// A customer of a line as one number: from node, to node or class before, class.
    pub fn code(&self, from: usize, between: usize, class: usize) -> u16 {
        let width = self.nodes.max(self.classes);
        ((from * width + between) * self.classes + class) as u16
    }

    /// The inverse of `code`.
    pub fn uncode(&self, code: u16) -> (usize, usize, usize) {
        let (width, code) = (self.nodes.max(self.classes), usize::from(code));
        (code / self.classes / width, code / self.classes % width, code % self.classes)
    }

    /// Whether every code fits into 16 bits.
    pub fn fits(&self) -> bool {
        self.nodes * self.nodes.max(self.classes) * self.classes < usize::from(END)
    }

    pub fn empty(&self) -> NetworkState {
        let (fixed, lines) = (vec![0; self.size], vec![Vec::new(); self.lines]);
        NetworkState { fixed, lines, moving: Vec::new(), marks: Vec::new() }
    }

    /// The state as a key, into `key`.
    pub fn encode(&self, state: &NetworkState, key: &mut Vec<u16>) {
        key.clear();
        key.extend_from_slice(&state.fixed);
        for line in &state.lines {
            for run in line.chunk_by(|a, b| a == b) {
                key.extend([run[0], run.len() as u16]);
            }
            key.push(END);
        }
    }

    /// The state of a key, into `state`.
    pub fn decode(&self, key: &[u16], state: &mut NetworkState) {
        state.fixed.copy_from_slice(&key[..self.size]);
        let mut rest = &key[self.size..];
        for line in &mut state.lines {
            line.clear();
            while rest[0] != END {
                line.resize(line.len() + usize::from(rest[1]), rest[0]);
                rest = &rest[2..];
            }
            rest = &rest[1..];
        }
    }
}
