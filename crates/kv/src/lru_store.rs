//! The values, in the order of their use: when memory is full, the one that was not used for longest goes.

use std::collections::HashMap;
use std::rc::Rc;

/// Beside key and value, bytes an item.
const ITEM_BYTES: usize = 64;
/// No item.
const NONE: usize = usize::MAX;
/// Expiry times above this are seconds since 1970 (memcached's rule: 30 days).
pub const RELATIVE_MAX_S: i64 = 30 * 24 * 3600;

#[derive(Debug)]
pub struct StoredItem {
    key: Rc<[u8]>,
    pub value: Vec<u8>,
    pub flags: u32,
    /// Changes with each store.
    pub unique: u64,
    /// Unix time in s from which on it is gone.
    expires_s: Option<i64>,
    newer: usize,
    older: usize,
}

/// A hash map, a list through its items, and a limit. Times are Unix times in s.
#[derive(Debug)]
pub struct LruStore {
    places: HashMap<Rc<[u8]>, usize>,
    items: Vec<Option<StoredItem>>,
    free: Vec<usize>,
    newest: usize,
    oldest: usize,
    pub bytes: usize,
    pub memory_bytes: usize,
    pub evictions: u64,
    unique: u64,
    flush_s: Option<i64>,
}

impl LruStore {
    pub fn new(memory_bytes: usize) -> LruStore {
        LruStore {
            places: HashMap::new(),
            items: Vec::new(),
            free: Vec::new(),
            newest: NONE,
            oldest: NONE,
            bytes: 0,
            memory_bytes,
            evictions: 0,
            unique: 0,
            flush_s: None,
        }
    }

    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// The item, which becomes the one used last.
    pub fn get(&mut self, key: &[u8], now_s: i64) -> Option<&mut StoredItem> {
        self.flush_if_due(now_s);
        let place = *self.places.get(key)?;
        if self.items[place].as_ref()?.expires_s.is_some_and(|expires_s| expires_s <= now_s) {
            self.remove_at(place);
            return None;
        }
        self.unlink(place);
        self.link(place);
        self.items[place].as_mut()
    }

    /// Stores under a new unique number; false if it is larger than all memory.
    pub fn put(&mut self, key: &[u8], value: Vec<u8>, flags: u32, expires_s: Option<i64>) -> bool {
        self.remove(key);
        let size = key.len() + value.len() + ITEM_BYTES;
        if size > self.memory_bytes {
            return false;
        }
        while self.bytes + size > self.memory_bytes {
            self.remove_at(self.oldest);
            self.evictions += 1;
        }
        let key: Rc<[u8]> = key.into();
        let unique = self.next_unique();
        let item =
            StoredItem { key: Rc::clone(&key), value, flags, unique, expires_s, newer: NONE, older: NONE };
        let place = self.free.pop().unwrap_or_else(|| {
            self.items.push(None);
            self.items.len() - 1
        });
        self.items[place] = Some(item);
        self.places.insert(key, place);
        self.bytes += size;
        self.link(place);
        true
    }

    /// Was it there?
    pub fn remove(&mut self, key: &[u8]) -> bool {
        let place = self.places.get(key).copied();
        place.map(|place| self.remove_at(place)).is_some()
    }

    pub fn set_expiry(&mut self, key: &[u8], expires_s: Option<i64>, now_s: i64) -> bool {
        self.get(key, now_s).map(|item| item.expires_s = expires_s).is_some()
    }

    /// The expiry of an item that is there.
    pub fn expiry(&mut self, key: &[u8], now_s: i64) -> Option<i64> {
        self.get(key, now_s).and_then(|item| item.expires_s)
    }

    /// Everything stored until then goes at `at_s`.
    pub fn flush(&mut self, at_s: i64, now_s: i64) {
        self.flush_s = Some(at_s);
        if at_s <= now_s {
            self.next_unique();
        }
        self.flush_if_due(now_s);
    }

    /// Nothing is due to go. As memcached does, this and a flush that is due take a unique number.
    pub fn unflush(&mut self) {
        self.flush_s = None;
        self.next_unique();
    }

    fn flush_if_due(&mut self, now_s: i64) {
        if self.flush_s.is_some_and(|at_s| at_s <= now_s) {
            self.places.clear();
            self.items.clear();
            self.free.clear();
            (self.newest, self.oldest, self.bytes, self.flush_s) = (NONE, NONE, 0, None);
        }
    }

    fn next_unique(&mut self) -> u64 {
        self.unique += 1;
        self.unique
    }

    fn remove_at(&mut self, place: usize) {
        self.unlink(place);
        if let Some(item) = self.items.get_mut(place).and_then(Option::take) {
            self.bytes -= item.key.len() + item.value.len() + ITEM_BYTES;
            self.places.remove(&item.key);
            self.free.push(place);
        }
    }

    fn link(&mut self, place: usize) {
        let older = std::mem::replace(&mut self.newest, place);
        if let Some(item) = &mut self.items[place] {
            (item.newer, item.older) = (NONE, older);
        }
        match self.items.get_mut(older) {
            Some(Some(item)) => item.newer = place,
            _ => self.oldest = place,
        }
    }

    fn unlink(&mut self, place: usize) {
        let Some(Some(item)) = self.items.get(place) else {
            return;
        };
        let (newer, older) = (item.newer, item.older);
        match self.items.get_mut(newer) {
            Some(Some(item)) => item.older = older,
            _ => self.newest = older,
        }
        match self.items.get_mut(older) {
            Some(Some(item)) => item.newer = newer,
            _ => self.oldest = newer,
        }
    }
}

/// When something stored now with this expiry time goes; `None`: never.
pub fn expires_s(exptime_s: i64, now_s: i64) -> Option<i64> {
    match exptime_s {
        0 => None,
        ..0 => Some(now_s),
        1..=RELATIVE_MAX_S => Some(now_s + exptime_s),
        _ => Some(exptime_s),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_one_not_used_for_longest_goes() {
        let mut store = LruStore::new(3 * (1 + 10 + ITEM_BYTES));
        for key in [b"a", b"b", b"c"] {
            assert!(store.put(key, vec![0; 10], 0, None));
        }
        assert!(store.get(b"a", 0).is_some());
        assert!(store.put(b"d", vec![0; 10], 0, None));
        let there: Vec<bool> = [b"a", b"b", b"c", b"d"].iter().map(|k| store.get(*k, 0).is_some()).collect();
        assert_eq!((there, store.evictions, store.len()), (vec![true, false, true, true], 1, 3));
        assert!(!store.put(b"e", vec![0; 1000], 0, None), "larger than all memory");
        assert!(store.put(b"f", vec![0; 150], 0, None));
        assert_eq!((store.len(), store.bytes), (1, 1 + 150 + ITEM_BYTES));
        assert!(store.remove(b"f") && !store.remove(b"f") && store.bytes == 0);
        assert!(store.put(b"g", vec![], 0, None) && store.get(b"g", 0).is_some());
    }

    #[test]
    fn expiry_and_flush() {
        let mut store = LruStore::new(10_000);
        let now_s = 1_800_000_000;
        let absolute_s = now_s + 100;
        for (key, exptime_s) in [(b"a", 0), (b"b", 10), (b"c", -1), (b"d", absolute_s)] {
            store.put(key, vec![], 0, expires_s(exptime_s, now_s));
        }
        let mut there = |at_s| [b"a", b"b", b"c", b"d"].map(|key| store.get(key, at_s).is_some());
        assert_eq!(there(now_s), [true, true, false, true]);
        assert_eq!(there(now_s + 10), [true, false, false, true]);
        assert_eq!(there(now_s + 100), [true, false, false, false]);
        store.flush(now_s + 200, now_s + 100);
        assert!(store.get(b"a", now_s + 199).is_some() && store.get(b"a", now_s + 200).is_none());
        store.put(b"a", vec![], 0, None);
        assert!(store.get(b"a", now_s + 300).is_some(), "stored after the flush");
    }
}
