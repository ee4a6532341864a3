//! Customers, in slots that are used again.

/// One customer, from the beginning of a pass to its end; a closed one keeps its slot for ever. One line of the cache.
#[derive(Debug, Clone, Default)]
#[repr(align(64))]
pub struct Customer {
    pub class: u32,
    /// The class in which its pass began: the pass is counted there.
    pub origin: u32,
    /// When its pass began, s.
    pub entered_s: f64,
    /// When it came to the station, or began to wait for a limit, s.
    pub arrived_s: f64,
    /// When its service began first, s.
    pub started_s: f64,
    /// Service time drawn for this visit, s.
    pub work_s: f64,
    /// What is left of it when its service begins (again), s.
    pub left_s: f64,
    /// Its place in a line that is not first come first served: smallest first.
    pub rank: u128,
}

#[derive(Debug, Clone, Default)]
pub struct Customers {
    slots: Vec<Customer>,
    free: Vec<u32>,
}

impl Customers {
    /// One of a class; all else of it is what another was before.
    #[inline(always)]
    pub fn add(&mut self, class: u32) -> u32 {
        if let Some(id) = self.free.pop() {
            self.slots[id as usize].class = class;
            return id;
        }
        self.slots.push(Customer { class, ..Customer::default() });
        self.slots.len() as u32 - 1
    }

    /// One whose pass begins now.
    #[inline(always)]
    pub fn begin(&mut self, class: u32, now_s: f64) -> u32 {
        let Some(id) = self.free.pop() else { return self.begin_another(class, now_s) };
        let slot = &mut self.slots[id as usize];
        (slot.class, slot.origin, slot.entered_s) = (class, class, now_s);
        id
    }

    #[cold]
    #[inline(never)]
    fn begin_another(&mut self, class: u32, now_s: f64) -> u32 {
        self.slots.push(Customer { class, origin: class, entered_s: now_s, ..Customer::default() });
        self.slots.len() as u32 - 1
    }

    #[inline(always)]
    pub fn remove(&mut self, id: u32) {
        self.free.push(id);
    }

    pub fn count(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}

impl std::ops::Index<u32> for Customers {
    type Output = Customer;
    #[inline(always)]
    fn index(&self, id: u32) -> &Customer {
        &self.slots[id as usize]
    }
}

impl std::ops::IndexMut<u32> for Customers {
    #[inline(always)]
    fn index_mut(&mut self, id: u32) -> &mut Customer {
        &mut self.slots[id as usize]
    }
}
