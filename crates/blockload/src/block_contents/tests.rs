use super::*;
use crate::operation::OperationKind;

fn operation(kind: OperationKind, block: u64) -> Operation {
    Operation { kind, offset_bytes: block * 4096, length_bytes: 4096, stable: false }
}

struct Disk {
    contents: BlockContents,
    bytes: Vec<u8>,
}

impl Disk {
    fn new() -> Disk {
        Disk { contents: BlockContents::new(1 << 20, 4096, 7), bytes: vec![0; 1 << 20] }
    }

    /// Sends a write; its bytes.
    fn send(&mut self, block: u64) -> Vec<u8> {
        let mut buffer = vec![0; 4096];
        self.contents.begin_write(&operation(OperationKind::Write, block), &mut buffer);
        buffer
    }

    fn store(&mut self, block: u64, bytes: &[u8]) {
        self.bytes[block as usize * 4096..][..bytes.len()].copy_from_slice(bytes);
    }

    fn end(&mut self, block: u64, done: bool) {
        self.contents.end_write(&operation(OperationKind::Write, block), done);
    }

    fn write(&mut self, block: u64) -> Vec<u8> {
        let bytes = self.send(block);
        self.store(block, &bytes);
        self.end(block, true);
        bytes
    }

    fn read(&self, block: u64) -> ReadVerdict {
        let (read, mut promise) = (operation(OperationKind::Read, block), ReadPromise::default());
        self.contents.begin_read(&read, &mut promise);
        self.contents.end_read(&read, &self.bytes[block as usize * 4096..][..4096], &promise)
    }
}

fn wrong(verdict: ReadVerdict, what: &str) {
    assert!(matches!(&verdict, ReadVerdict::Wrong(said) if said.contains(what)), "{verdict:?}");
}

#[test]
fn an_old_block_a_misplaced_one_and_a_damaged_one_are_wrong() {
    let mut disk = Disk::new();
    assert_eq!(disk.read(3), ReadVerdict::NotCompared);
    let old = disk.write(3);
    assert_eq!(disk.read(3), ReadVerdict::Right);
    let new = disk.write(3);
    disk.store(3, &old);
    wrong(disk.read(3), "write 1, but write 2 was acknowledged");
    disk.store(3, &vec![0; 4096]);
    wrong(disk.read(3), "write 2 is not there");
    disk.store(3, &new);
    disk.store(9, &new);
    wrong(disk.read(9), "this is byte 12288");
    disk.bytes[3 * 4096 + 4000] ^= 1;
    wrong(disk.read(3), "write 2 is damaged");
}

#[test]
fn a_write_whose_end_is_not_known_may_be_there_or_not_for_ever() {
    let mut disk = Disk::new();
    let first = disk.write(5);
    let lost = disk.send(5);
    disk.end(5, false);
    assert_eq!(disk.read(5), ReadVerdict::Right);
    // Half of its sectors: only a sector is written whole.
    disk.store(5, &lost[..2048]);
    assert_eq!(disk.read(5), ReadVerdict::Right);
    let third = disk.write(5);
    // A server that was frozen does late what it was asked before.
    disk.store(5, &lost);
    assert_eq!(disk.read(5), ReadVerdict::Right);
    disk.store(5, &first);
    assert_eq!(disk.read(5), ReadVerdict::Right);
    disk.store(5, &third);
    assert_eq!(disk.read(5), ReadVerdict::Right);
}

#[test]
fn a_read_beside_a_write_is_not_compared() {
    let mut disk = Disk::new();
    disk.write(2);
    let (read, mut promise) = (operation(OperationKind::Read, 2), ReadPromise::default());
    disk.contents.begin_read(&read, &mut promise);
    disk.write(2);
    let held = vec![1; 4096];
    assert_eq!(disk.contents.end_read(&read, &held, &promise), ReadVerdict::NotCompared);
    disk.send(2);
    assert!(!disk.contents.is_free(&read) && disk.read(2) == ReadVerdict::NotCompared);
}
