//! Named rows that keep their memory from sample to sample.

use serde::ser::{Serialize, SerializeMap, Serializer};

/// Rows by name, in the order of the file; serialises as a JSON object.
#[derive(Clone, Debug, Default)]
pub struct NamedRows<T> {
    rows: Vec<(String, T)>,
    used: usize,
}

impl<T: Default> NamedRows<T> {
    /// Forgets the rows, keeps their memory.
    pub fn clear(&mut self) {
        self.used = 0;
    }

    /// The next row, named; it holds what an earlier sample left there, for the caller to overwrite.
    pub fn row(&mut self, name: &str) -> &mut T {
        if self.used == self.rows.len() {
            self.rows.push((String::new(), T::default()));
        }
        let (at, value) = &mut self.rows[self.used];
        self.used += 1;
        if at != name {
            at.clear();
            at.push_str(name);
        }
        value
    }

    /// Takes the last row back.
    pub fn drop_last(&mut self) {
        self.used = self.used.saturating_sub(1);
    }

    /// Name and row, in the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &T)> {
        self.rows[..self.used].iter().map(|(name, value)| (name.as_str(), value))
    }

    /// The row of a name.
    pub fn get(&self, name: &str) -> Option<&T> {
        self.iter().find(|(at, _)| *at == name).map(|(_, value)| value)
    }
}

impl<T: Serialize + Default> Serialize for NamedRows<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.used))?;
        for (name, value) in self.iter() {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_reused_and_forgotten() {
        let mut table: NamedRows<u64> = NamedRows::default();
        *table.row("a") = 1;
        *table.row("b") = 2;
        table.clear();
        *table.row("b") = 3;
        assert_eq!(serde_json::to_string(&table).unwrap(), r#"{"b":3}"#);
        assert_eq!((table.get("b"), table.get("a")), (Some(&3), None));
        table.drop_last();
        assert_eq!(table.iter().count(), 0);
    }
}
