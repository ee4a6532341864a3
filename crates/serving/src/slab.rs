//! Connections by number.

/// A number is used again when its connection has ended; its generation tells whether the same one is meant.
#[derive(Debug)]
pub struct Slab<T> {
    /// The generation is odd while the number is in use.
    places: Vec<(u32, Option<Box<T>>)>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self { places: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slab<T> {
    /// A number that nobody has: to be followed by `put`, or by `remove` where nothing came of it.
    pub fn reserve(&mut self) -> u32 {
        let index = self.free.pop().unwrap_or_else(|| {
            self.places.push((0, None));
            self.places.len() as u32 - 1
        });
        self.next_generation(index);
        index
    }

    fn next_generation(&mut self, index: u32) {
        let generation = &mut self.places[index as usize].0;
        *generation = generation.wrapping_add(1);
    }

    /// Fills a place that was reserved.
    pub fn put(&mut self, index: u32, value: T) {
        self.places[index as usize].1 = Some(Box::new(value));
    }

    /// Whoever has the number leaves; it is free again, and stays so when this is done twice.
    pub fn remove(&mut self, index: u32) -> Option<Box<T>> {
        if self.places[index as usize].0 % 2 == 1 {
            self.next_generation(index);
            self.free.push(index);
        }
        self.places[index as usize].1.take()
    }

    /// Whoever has the number now, for as long as it is not given back.
    pub fn take(&mut self, index: u32) -> Option<Box<T>> {
        self.places.get_mut(index as usize)?.1.take()
    }

    /// Gives back what was taken.
    pub fn give(&mut self, index: u32, value: Box<T>) {
        self.places[index as usize].1 = Some(value);
    }

    /// Whoever has the number now.
    #[inline]
    pub fn get(&mut self, index: u32) -> Option<&mut T> {
        self.places.get_mut(index as usize)?.1.as_deref_mut()
    }

    /// Whoever had the number when its generation was this, if still there.
    #[inline]
    pub fn same(&mut self, index: u32, generation: u32) -> Option<&mut T> {
        let place = self.places.get_mut(index as usize)?;
        if place.0 == generation {
            place.1.as_deref_mut()
        } else {
            None
        }
    }

    /// The generation of a number that is in use.
    #[must_use]
    pub fn generation(&self, index: u32) -> u32 {
        self.places[index as usize].0
    }

    /// All numbers are below.
    #[must_use]
    pub fn end(&self) -> u32 {
        self.places.len() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_is_used_again_is_of_another_generation() {
        let mut slab = Slab::default();
        let first = slab.reserve();
        slab.put(first, 'a');
        let before = slab.generation(first);
        assert_eq!((slab.remove(first).as_deref(), slab.remove(first)), (Some(&'a'), None));
        let again = slab.reserve();
        slab.put(again, 'b');
        assert_eq!((again, slab.end()), (first, 1));
        assert_eq!(slab.same(first, before), None);
        assert_eq!(slab.get(first).copied(), Some('b'));
        assert_eq!(slab.same(again, slab.generation(again)).copied(), Some('b'));
        assert_eq!(slab.reserve(), 1, "what was removed twice is free once");
    }
}
