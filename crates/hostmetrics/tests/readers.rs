//! Each reader on a fake `/proc`. Texts are as a Linux 6.18 prints them, shortened; values read by eye.

mod fake_proc;

use fake_proc::FakeProc;
use sojourn_hostmetrics::*;

const STAT: &str = "cpu  6436 0 3559 256317 574 0 107 45 0 0
cpu0 2266 1 1365 129570 203 2 10 25 0 0
cpu1 4169 0 2194 126746 371 0 96 20 0 0
intr 257422 0 0
ctxt 442907
btime 1795257034
procs_running 2
procs_blocked 1
softirq 180251 0 20426
";

fn open<I: KernelFile>(fake: &FakeProc) -> KernelFileReader<I> {
    KernelFileReader::open(fake.root()).unwrap().expect("the file is there")
}

#[test]
fn stat() {
    let fake = FakeProc::new();
    let mut reader = open::<ProcStat>(fake.write("stat", STAT));
    let stat = reader.read().unwrap();
    let zero = stat.cores.get("0").unwrap();
    let ticks: Vec<u64> = zero.named().iter().map(|(_, ticks)| ticks.0).collect();
    assert_eq!(ticks, [2266, 1, 1365, 129570, 203, 2, 10, 25]);
    assert_eq!(stat.cores.iter().count(), 2);
    assert_eq!((stat.context_switches.0, stat.running, stat.blocked), (442907, 2, 1));
}

#[test]
fn a_core_that_goes_offline_leaves_the_next_sample() {
    let fake = FakeProc::new();
    let mut reader = open::<ProcStat>(fake.write("stat", STAT));
    reader.read().unwrap();
    fake.write("stat", "cpu1 1 2 3 4 5 6 7 8\n");
    let cores: Vec<&str> = reader.read().unwrap().cores.iter().map(|(core, _)| core).collect();
    assert_eq!(cores, ["1"]);
}

#[test]
fn a_line_that_is_cut_off_names_file_line_and_item() {
    let fake = FakeProc::new();
    let mut reader = open::<ProcStat>(fake.write("stat", "cpu 1\ncpu0 2266 1 1365\n"));
    let message = reader.read().unwrap_err().to_string();
    assert!(message.contains("stat: line 2 ends before idle"), "{message}");
    fake.write("stat", "cpu0 2266 x 1365 1 1 1 1 1\n");
    let message = reader.read().unwrap_err().to_string();
    assert!(message.contains("line 1: nice is \"x\""), "{message}");
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let fake = FakeProc::new();
    fake.write("stat/in_a_folder", ""); // opens, but does not read
    let message = open::<ProcStat>(&fake).read().unwrap_err().to_string();
    assert!(message.contains("cannot read") && message.contains("/stat"), "{message}");
}

#[test]
fn softirqs_are_placed_by_the_number_of_the_core() {
    let fake = FakeProc::new();
    let text = "          CPU0       CPU2\n NET_RX:   5446   6855\n  TIMER:  9925  10502\n";
    let mut reader = open::<Softirqs>(fake.write("softirqs", text));
    let kinds = &reader.read().unwrap().kinds;
    assert_eq!(kinds.get("NET_RX").unwrap(), &[Counter(5446), Counter(0), Counter(6855)]);
    fake.write("softirqs", "   CPU0  CPU1\n NET_RX:  5\n");
    let message = reader.read().unwrap_err().to_string();
    assert!(message.contains("line 2 ends before the count of a core"), "{message}");
}

#[test]
fn interrupts_have_number_and_device_and_silent_lines_are_left_out() {
    let fake = FakeProc::new();
    let text = "           CPU0       CPU1
 33:          0          0 PCI-MSIX-0000:00:05.0   0-edge      virtio4-config
 36:          3      80289 PCI-MSIX-0000:00:02.0   1-edge      virtio1-req.0
LOC:      26719      29416   Local timer interrupts
ERR:          7
";
    let mut reader = open::<Interrupts>(fake.write("interrupts", text));
    let lines = &reader.read().unwrap().lines;
    assert_eq!(lines.get("36 virtio1-req.0").unwrap(), &[Counter(3), Counter(80289)]);
    assert_eq!(lines.get("LOC").unwrap(), &[Counter(26719), Counter(29416)]);
    assert_eq!(lines.iter().count(), 2);
}

#[test]
fn softnet_is_hexadecimal_and_wraps_at_32_bits() {
    let line = |processed: &str| {
        format!("{processed} 00000002 00000001 0 0 0 0 0 0 0000000a 00000000 00000000 00000003 0 0\n")
    };
    let fake = FakeProc::new();
    let mut reader = open::<Softnet>(fake.write("net/softnet_stat", &line("fffffff0")));
    let before = *reader.read().unwrap().cores.get("3").expect("the core is in column 13");
    assert_eq!((before.dropped.0, before.time_squeeze.0, before.received_rps.0), (2, 1, 10));
    fake.write("net/softnet_stat", &line("00000010"));
    let after = *reader.read().unwrap().cores.get("3").unwrap();
    assert_eq!(after.processed.since(before.processed, 1.0).unwrap().per_s(), 32.0);
    fake.write("net/softnet_stat", "000000zz\n");
    assert!(reader.read().unwrap_err().to_string().contains("processed is \"000000zz\""));
}

#[test]
fn softnet_of_an_old_kernel_counts_lines() {
    let fake = FakeProc::new();
    let line = "00000126 0 0 0 0 0 0 0 0 00000000 00000000\n";
    let mut reader = open::<Softnet>(fake.write("net/softnet_stat", &line.repeat(2)));
    assert_eq!(reader.read().unwrap().cores.get("1").unwrap().processed, Counter32(0x126));
}

#[test]
fn nics_also_where_a_count_touches_the_colon() {
    let fake = FakeProc::new();
    let text = "Inter-|   Receive  |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs
  eth0: 479078194   10040    0    0    0     0          0         0   521325    5887    0
veth1:12345 17 0 0 0 0 0 0 99 8 0
";
    let mut reader = open::<Nics>(fake.write("net/dev", text));
    let nics = &reader.read().unwrap().nics;
    let eth0 = nics.get("eth0").unwrap();
    assert_eq!((eth0.rx_bytes.0, eth0.rx_packets.0), (479078194, 10040));
    assert_eq!((eth0.tx_bytes.0, eth0.tx_packets.0), (521325, 5887));
    assert_eq!(nics.get("veth1").unwrap().rx_bytes, Counter(12345));
    fake.write("net/dev", "\n\n eth0: 1 2 3\n");
    assert!(reader.read().unwrap_err().to_string().contains("line 3 ends before sent bytes"));
}

#[test]
fn the_namespace_of_the_thread_comes_before_that_of_the_process() {
    let fake = FakeProc::new();
    let text = |name| format!("\n\n{name}: 1 1 0 0 0 0 0 0 1 1 0\n");
    fake.write("net/dev", &text("process")).write("thread-self/net/dev", &text("thread"));
    assert!(open::<Nics>(&fake).read().unwrap().nics.get("thread").is_some());
}

#[test]
fn disks_that_did_something() {
    let fake = FakeProc::new();
    let text = "   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
 254       0 vda 61044 9934 5192058 30710 25650 25241 4136744 10131 0 7916 41437 8075 50 654368
";
    let mut reader = open::<Disks>(fake.write("diskstats", text));
    let disks = &reader.read().unwrap().disks;
    let vda = Disk { reads: Counter(61044), writes: Counter(25650), io_ms: Counter(7916) };
    assert_eq!((disks.get("vda"), disks.get("loop0")), (Some(&vda), None));
}

#[test]
fn memory() {
    let fake = FakeProc::new();
    let text = "MemTotal:       24684096 kB\nMemFree: 1 kB\nMemAvailable:   24321752 kB\n";
    let memory = *open::<Memory>(fake.write("meminfo", text)).read().unwrap();
    assert_eq!((memory.total_bytes, memory.available_bytes), (24684096 * 1024, 24321752 * 1024));
}

#[test]
fn pressure_names_resource_and_share() {
    let fake = FakeProc::new();
    let text = "some avg10=0.00 avg60=0.04 avg300=0.13 total=4285625
full avg10=0.00 avg60=0.03 avg300=0.11 total=4038185\n";
    let mut reader = PressureReader::open(fake.write("pressure/io", text).root()).unwrap().unwrap();
    let totals = reader.read().unwrap();
    assert_eq!(totals.get("io_some_us"), Some(&Counter(4285625)));
    assert_eq!(totals.get("io_full_us"), Some(&Counter(4038185)));
    fake.write("pressure/io", "some avg10=0.00 avg60=0 avg300=0 total=none\n");
    assert!(reader.read().unwrap_err().to_string().contains("total is \"total=none\""));
}

#[test]
fn what_a_machine_does_not_have_is_none() {
    let fake = FakeProc::new();
    assert!(KernelFileReader::<Softnet>::open(fake.root()).unwrap().is_none());
    assert!(PressureReader::open(fake.root()).unwrap().is_none());
    assert!(ProcessReader::open(fake.root(), 12, 100.0).unwrap().is_none());
}

#[test]
fn a_process_sums_its_threads_and_keeps_those_that_ended() {
    let stat = |name: &str, core: u32| {
        format!("7 ({name}) S 1 7 7 0 -1 4194304 101 0 0 0 250 50 0 0 20 0 1 0 133860 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 17 {core} 0 0\n")
    };
    let fake = FakeProc::new();
    fake.write("7/stat", &stat("a (b) c", 0));
    fake.write("7/task/7/stat", &stat("a (b) c", 0)).write("7/task/7/schedstat", "1500000000 250000000 9\n");
    fake.write("7/task/8/stat", &stat("worker", 1)).write("7/task/8/schedstat", "500000000 0 9\n");
    let mut reader = ProcessReader::open(fake.root(), 7, 100.0).unwrap().unwrap();
    let process = reader.read().unwrap().unwrap();
    assert_eq!((process.utime_s, process.stime_s), (2.5, 0.5));
    assert_eq!((process.run_s, process.wait_s), (2.0, 0.25));
    let thread = process.threads.get("7").unwrap();
    assert_eq!((thread.name.as_str(), thread.run_s, thread.core), ("a (b) c", 1.5, 0));
    assert_eq!(process.threads.get("8").unwrap().core, 1);
    fake.write("7/task/9/stat", &stat("late", 1)).write("7/task/9/schedstat", "1000000000 0 1\n");
    assert_eq!(reader.read().unwrap().unwrap().run_s, 3.0);
    fake.write("7/task/9/schedstat", "");
    let message = reader.read().unwrap_err().to_string();
    assert!(message.contains("task/9/schedstat: line 1 ends before the run time"), "{message}");
}

#[test]
fn topology_says_what_cores_share_and_none_where_it_is_not_told() {
    let fake = FakeProc::new();
    let cpu = |path: &str| format!("devices/system/cpu/cpu0/{path}");
    fake.write(&cpu("topology/physical_package_id"), "1\n").write(&cpu("topology/core_id"), "4\n");
    fake.write(&cpu("topology/thread_siblings_list"), "0,2\n");
    fake.write(&cpu("cache/index0/level"), "1\n").write(&cpu("cache/index0/shared_cpu_list"), "0\n");
    fake.write(&cpu("cache/index3/level"), "3\n").write(&cpu("cache/index3/shared_cpu_list"), "0-3\n");
    let cores = topology(fake.root(), &[0, 1]);
    assert_eq!((cores[0].package, cores[0].core_id), (Some(1), Some(4)));
    assert_eq!(cores[0].thread_siblings, Some(vec![0, 2]));
    assert_eq!(cores[0].llc_shared_with, Some(vec![0, 1, 2, 3]));
    assert_eq!((cores[1].package, cores[1].llc_shared_with.clone()), (None, None));
}
