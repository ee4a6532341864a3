//! The few BPF instructions the program needs, as an assembler with labels.
//!
//! Encoding: Linux `include/uapi/linux/bpf.h` (`struct bpf_insn`), one instruction is eight bytes:
//! opcode, dst:4 | src:4, offset:i16, immediate:i32.

use std::collections::HashMap;

/// One encoded instruction.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Instruction {
    opcode: u8,
    registers: u8,
    offset: i16,
    immediate: i32,
}

/// Sizes of a memory access.
#[derive(Clone, Copy)]
pub enum AccessSize {
    U8,
    U16,
    U32,
    U64,
}

impl AccessSize {
    fn bits(self) -> u8 {
        match self {
            AccessSize::U8 => 0x10,
            AccessSize::U16 => 0x08,
            AccessSize::U32 => 0x00,
            AccessSize::U64 => 0x18,
        }
    }
}

/// Conditional jumps against an immediate or a register.
#[derive(Clone, Copy)]
pub enum JumpCondition {
    Eq,
    Ne,
    Gt,
    Lt,
    SignedLe,
}

impl JumpCondition {
    fn bits(self) -> u8 {
        match self {
            JumpCondition::Eq => 0x10,
            JumpCondition::Gt => 0x20,
            JumpCondition::Ne => 0x50,
            JumpCondition::Lt => 0xa0,
            JumpCondition::SignedLe => 0xd0,
        }
    }
}

/// 64-bit arithmetic on a register.
#[derive(Clone, Copy)]
pub enum AluOperation {
    Add,
    Sub,
    And,
    ShiftLeft,
    ShiftRight,
    Move,
}

impl AluOperation {
    fn bits(self) -> u8 {
        match self {
            AluOperation::Add => 0x00,
            AluOperation::Sub => 0x10,
            AluOperation::And => 0x50,
            AluOperation::ShiftLeft => 0x60,
            AluOperation::ShiftRight => 0x70,
            AluOperation::Move => 0xb0,
        }
    }
}

/// Collects instructions; jumps name labels that `finish` resolves.
#[derive(Default)]
pub struct Assembler {
    insns: Vec<Instruction>,
    labels: HashMap<&'static str, usize>,
    jumps: Vec<(usize, &'static str)>,
}

impl Assembler {
    fn push(&mut self, opcode: u8, dst: u8, src: u8, offset: i16, immediate: i32) {
        self.insns.push(Instruction { opcode, registers: dst | (src << 4), offset, immediate });
    }

    /// `dst op= immediate`
    pub fn alu(&mut self, op: AluOperation, dst: u8, immediate: i32) {
        self.push(0x07 | op.bits(), dst, 0, 0, immediate);
    }

    /// `dst op= src`
    pub fn alu_reg(&mut self, op: AluOperation, dst: u8, src: u8) {
        self.push(0x0f | op.bits(), dst, src, 0, 0);
    }

    /// `dst = big-endian 16 bits of dst`
    pub fn be16(&mut self, dst: u8) {
        self.push(0xdc, dst, 0, 0, 16);
    }

    /// `dst = *(size *)(src + offset)`
    pub fn load(&mut self, size: AccessSize, dst: u8, src: u8, offset: i16) {
        self.push(0x61 | size.bits(), dst, src, offset, 0);
    }

    /// `*(size *)(dst + offset) = src`
    pub fn store(&mut self, size: AccessSize, dst: u8, offset: i16, src: u8) {
        self.push(0x63 | size.bits(), dst, src, offset, 0);
    }

    /// `dst = map`, by its file descriptor (two slots).
    pub fn map(&mut self, dst: u8, fd: i32) {
        const PSEUDO_MAP_FD: u8 = 1;
        self.push(0x18, dst, PSEUDO_MAP_FD, 0, fd);
        self.push(0, 0, 0, 0, 0);
    }

    /// Calls a helper by its number; the answer is in r0.
    pub fn call(&mut self, helper: i32) {
        self.push(0x85, 0, 0, 0, helper);
    }

    /// Jumps to `label` if `dst jump immediate`.
    pub fn jump(&mut self, jump: JumpCondition, dst: u8, immediate: i32, label: &'static str) {
        self.jumps.push((self.insns.len(), label));
        self.push(0x05 | jump.bits(), dst, 0, 0, immediate);
    }

    /// Jumps to `label` if `dst jump src`.
    pub fn jump_reg(&mut self, jump: JumpCondition, dst: u8, src: u8, label: &'static str) {
        self.jumps.push((self.insns.len(), label));
        self.push(0x0d | jump.bits(), dst, src, 0, 0);
    }

    /// Jumps to `label`.
    pub fn goto(&mut self, label: &'static str) {
        self.jumps.push((self.insns.len(), label));
        self.push(0x05, 0, 0, 0, 0);
    }

    /// Goes on, or jumps to `label` where the kernel has counted too many turns: the verifier need not count them (Linux 6.9).
    pub fn may_go_on(&mut self, label: &'static str) {
        self.jumps.push((self.insns.len(), label));
        self.push(0xe5, 0, 0, 0, 0);
    }

    /// The next instruction's name.
    pub fn label(&mut self, name: &'static str) {
        self.labels.insert(name, self.insns.len());
    }

    /// Ends the program.
    pub fn exit(&mut self) {
        self.push(0x95, 0, 0, 0, 0);
    }

    /// The finished program; a jump to a label that does not exist is a bug in this crate.
    #[must_use]
    pub fn finish(mut self) -> Vec<Instruction> {
        for (at, label) in &self.jumps {
            let target = self.labels[label];
            self.insns[*at].offset = (target as i64 - *at as i64 - 1) as i16;
        }
        self.insns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Encodings from the kernel's `samples/bpf/bpf_insn.h` macros, worked by hand.
    #[test]
    fn encodes_as_the_kernel_header_does() {
        let mut a = Assembler::default();
        a.alu(AluOperation::Move, 0, 2);
        a.jump(JumpCondition::Ne, 5, 6, "out");
        a.load(AccessSize::U16, 5, 2, 12);
        a.label("out");
        a.exit();
        a.may_go_on("out");
        let code = a.finish();
        assert_eq!((code[0].opcode, code[0].registers, code[0].immediate), (0xb7, 0, 2));
        assert_eq!((code[1].opcode, code[1].registers, code[1].offset), (0x55, 5, 1));
        assert_eq!((code[2].opcode, code[2].registers, code[2].offset), (0x69, 0x25, 12));
        assert_eq!(code[3].opcode, 0x95);
        // `may_goto` by the same header: BPF_JMP | BPF_JCOND, source BPF_MAY_GOTO (0), the jump's offset, no immediate
        assert_eq!((code[4].opcode, code[4].registers, code[4].offset, code[4].immediate), (0xe5, 0, -2, 0));
    }
}
