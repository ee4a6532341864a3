//! The XDP program: burn a drawn time for each request packet, count what was burnt, pass the packet on.

use crate::bpf_assembler::{AccessSize, AluOperation, Assembler, Instruction, JumpCondition};

/// Number of drawn times in the table; a power of two, so that a mask picks one.
pub const TABLE: usize = 1024;

/// Who ends a loop that finds no end by the clock.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum LoopBound {
    /// The kernel, by `may_goto` (Linux 6.9): the verifier looks at one turn, in no time.
    Kernel,
    /// A counter of ours, of which the verifier walks each turn: three quarters of a second of CPU time.
    Counter,
}

/// Clock readings between two checks of the loop counter. The verifier walks each turn of a bounded loop and
/// stops at a million instructions, so turns are few and long.
const CHECKS_A_TURN: usize = 8;
const READS_A_CHECK: usize = 6;
const TURNS: i32 = 11_000;

const MAP_LOOKUP: i32 = 1;
const KTIME_NS: i32 = 5;
const PRANDOM_U32: i32 = 7;
const XDP_PASS: i32 = 2;

/// Offsets in an Ethernet + IPv4 (no options) + TCP frame.
const ETHERTYPE: i16 = 12;
const IP_VERSION: i16 = 14;
const IP_LENGTH: i16 = 16;
const IP_PROTOCOL: i16 = 23;
const TCP_DESTINATION: i16 = 36;
const TCP_DATA_OFFSET: i16 = 46;
const HEADERS: i32 = 54;

/// A packet is a request when it is TCP to `port` and carries data: acknowledgements cost nothing, because
/// under load they coalesce and their number for each request is not constant.
pub fn assemble(port: u16, table_fd: i32, stats_fd: i32, bound: LoopBound) -> Vec<Instruction> {
    let mut a = Assembler::default();
    request_or_pass(&mut a, port);
    draw_deadline(&mut a, table_fd);
    burn(&mut a, bound);
    count(&mut a, stats_fd);
    a.label("pass");
    a.alu(AluOperation::Move, 0, XDP_PASS);
    a.exit();
    a.finish()
}

fn request_or_pass(a: &mut Assembler, port: u16) {
    a.load(AccessSize::U32, 2, 1, 0);
    a.load(AccessSize::U32, 3, 1, 4);
    a.alu_reg(AluOperation::Move, 4, 2);
    a.alu(AluOperation::Add, 4, HEADERS);
    a.jump_reg(JumpCondition::Gt, 4, 3, "pass");
    a.load(AccessSize::U16, 5, 2, ETHERTYPE);
    a.jump(JumpCondition::Ne, 5, i32::from(0x0800_u16.to_be()), "pass");
    a.load(AccessSize::U8, 5, 2, IP_VERSION);
    a.jump(JumpCondition::Ne, 5, 0x45, "pass");
    a.load(AccessSize::U8, 5, 2, IP_PROTOCOL);
    a.jump(JumpCondition::Ne, 5, 6, "pass");
    a.load(AccessSize::U16, 5, 2, TCP_DESTINATION);
    a.jump(JumpCondition::Ne, 5, i32::from(port.to_be()), "pass");
    a.load(AccessSize::U16, 5, 2, IP_LENGTH);
    a.be16(5);
    a.load(AccessSize::U8, 0, 2, TCP_DATA_OFFSET);
    a.alu(AluOperation::ShiftRight, 0, 4);
    a.alu(AluOperation::ShiftLeft, 0, 2);
    a.alu_reg(AluOperation::Sub, 5, 0);
    a.jump(JumpCondition::SignedLe, 5, 20, "pass");
}

fn draw_deadline(a: &mut Assembler, table_fd: i32) {
    a.call(KTIME_NS);
    a.alu_reg(AluOperation::Move, 7, 0);
    a.call(PRANDOM_U32);
    a.alu(AluOperation::And, 0, TABLE as i32 - 1);
    lookup(a, table_fd);
    a.load(AccessSize::U64, 8, 0, 0);
    a.alu_reg(AluOperation::Add, 8, 7);
}

/// r0 holds the key; afterwards it holds the address of the value.
fn lookup(a: &mut Assembler, map_fd: i32) {
    a.store(AccessSize::U32, 10, -4, 0);
    a.map(1, map_fd);
    a.alu_reg(AluOperation::Move, 2, 10);
    a.alu(AluOperation::Add, 2, -4);
    a.call(MAP_LOOKUP);
    a.jump(JumpCondition::Eq, 0, 0, "pass");
}

/// The verifier follows the fall-through first and keeps the jump for later, at most 8192 of them; so the way
/// on is the jump and the way out the fall-through.
fn burn(a: &mut Assembler, bound: LoopBound) {
    const NEXT: [&str; CHECKS_A_TURN] = ["2", "3", "4", "5", "6", "7", "8", "turn end"];
    if bound == LoopBound::Counter {
        a.alu(AluOperation::Move, 9, 0);
    }
    a.label("turn");
    for next in NEXT {
        for _ in 0..READS_A_CHECK {
            a.call(KTIME_NS);
        }
        a.jump_reg(JumpCondition::Lt, 0, 8, next);
        a.goto("done");
        a.label(next);
    }
    match bound {
        LoopBound::Kernel => {
            a.may_go_on("done");
            a.goto("turn");
        }
        LoopBound::Counter => {
            a.alu(AluOperation::Add, 9, 1);
            a.jump(JumpCondition::Lt, 9, TURNS, "turn");
        }
    }
    a.label("done");
}

fn count(a: &mut Assembler, stats_fd: i32) {
    a.call(KTIME_NS);
    a.alu_reg(AluOperation::Sub, 0, 7);
    a.alu_reg(AluOperation::Move, 8, 0);
    a.alu(AluOperation::Move, 0, 0);
    lookup(a, stats_fd);
    a.load(AccessSize::U64, 1, 0, 0);
    a.alu(AluOperation::Add, 1, 1);
    a.store(AccessSize::U64, 0, 0, 1);
    a.load(AccessSize::U64, 1, 0, 8);
    a.alu_reg(AluOperation::Add, 1, 8);
    a.store(AccessSize::U64, 0, 8, 1);
}
