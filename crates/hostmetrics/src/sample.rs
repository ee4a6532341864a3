//! All readers together: what there is, what is absent and why, one JSON line per sample.

use std::collections::BTreeMap;

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::json;

use crate::core_speed::{CoreSpeedProbe, SpeedSample};
use crate::perf_counters::{self, PerfCounters, PerfCounts};
use crate::{
    sys, topology, CgroupReader, CollectError, Config, Counter, CpuTicks, Disks, Interrupts, KernelFile,
    KernelFileReader, Memory, NamedRows, Nics, PressureReader, ProcStat, ProcessReader, ReadError, Softirqs,
    Softnet,
};

/// Everything that is open.
pub(crate) struct Sampler {
    pub(crate) stat: KernelFileReader<ProcStat>,
    pub(crate) softnet: Option<KernelFileReader<Softnet>>,
    softirqs: Option<KernelFileReader<Softirqs>>,
    interrupts: Option<KernelFileReader<Interrupts>>,
    nics: Option<KernelFileReader<Nics>>,
    disks: Option<KernelFileReader<Disks>>,
    memory: Option<KernelFileReader<Memory>>,
    pressure: Option<PressureReader>,
    processes: Vec<(u32, ProcessReader)>,
    cgroups: Vec<(String, CgroupReader)>,
    counters: Vec<(usize, PerfCounters)>,
    speed: Option<CoreSpeedProbe>,
    absent: Vec<String>,
    hz: f64,
}

impl Sampler {
    pub(crate) fn open(config: &Config) -> Result<Self, CollectError> {
        let (root, hz) = (&config.proc_root, sys::user_hz());
        let mut absent = Vec::new();
        let mut stat = required::<ProcStat>(config)?;
        let cores = cores(stat.read()?);
        let pressure = PressureReader::open(root)?;
        if pressure.is_none() {
            absent.push(format!("psi: {} missing or switched off", root.join("pressure").display()));
        }
        Ok(Self {
            stat,
            softnet: optional(config, "softnet", &mut absent)?,
            softirqs: optional(config, "softirqs", &mut absent)?,
            interrupts: optional(config, "interrupts", &mut absent)?,
            nics: if config.nics { optional(config, "nics", &mut absent)? } else { None },
            disks: if config.disks { optional(config, "disks", &mut absent)? } else { None },
            memory: optional(config, "mem", &mut absent)?,
            pressure,
            processes: processes(config, hz)?,
            cgroups: cgroups(config)?,
            counters: counters(&cores, &mut absent),
            speed: speed(config, &cores)?,
            absent,
            hz,
        })
    }

    /// The first line of the file.
    pub(crate) fn header(&self, config: &Config) -> serde_json::Value {
        let cores = cores(self.stat.now());
        let topology = topology(&config.sys_root, &cores);
        let mut absent = self.absent.clone();
        if topology.iter().all(|core| core.package.is_none()) {
            absent.push(format!("topology: nothing told below {}", config.sys_root.display()));
        }
        json!({
            "format": crate::FORMAT, "version": crate::VERSION, "interval_s": config.interval_s,
            "cores": cores, "hz": self.hz, "absent": absent, "topology": topology,
            "netns_note": config.netns_note, "pids": config.pids, "cgroups": config.cgroups,
        })
    }

    /// Reads everything and appends one line to `line`.
    pub(crate) fn sample(&mut self, line: &mut Vec<u8>) -> Result<(), ReadError> {
        let t_s = sys::monotonic_s();
        self.stat.read()?;
        read(&mut self.softnet)?;
        read(&mut self.softirqs)?;
        read(&mut self.interrupts)?;
        read(&mut self.nics)?;
        read(&mut self.disks)?;
        read(&mut self.memory)?;
        if let Some(pressure) = &mut self.pressure {
            pressure.read()?;
        }
        self.write(t_s, line)
    }

    fn write(&mut self, t_s: f64, line: &mut Vec<u8>) -> Result<(), ReadError> {
        let mut procs = BTreeMap::new();
        for (pid, reader) in &mut self.processes {
            if let Some(process) = reader.read()? {
                procs.insert(*pid, process);
            }
        }
        let mut cgroups = BTreeMap::new();
        for (name, reader) in &mut self.cgroups {
            if let Some(cgroup) = reader.read()? {
                cgroups.insert(name.as_str(), cgroup);
            }
        }
        let mut perf: BTreeMap<usize, PerfCounts> = BTreeMap::new();
        for (core, counters) in &mut self.counters {
            perf.extend(counters.read().ok().map(|counts| (*core, counts)));
        }
        let stat = self.stat.now();
        let now = Sample {
            t_s,
            cpu: CpuTimesInSeconds { cores: &stat.cores, hz: self.hz },
            softirqs: self.softirqs.as_ref().map(|r| &r.now().kinds),
            softnet: self.softnet.as_ref().map(|r| &r.now().cores),
            interrupts: self.interrupts.as_ref().map(|r| &r.now().lines),
            ctxt: stat.context_switches,
            procs_running: stat.running,
            procs_blocked: stat.blocked,
            nics: self.nics.as_ref().map(|r| &r.now().nics),
            disks: self.disks.as_ref().map(|r| &r.now().disks),
            mem: self.memory.as_ref().map(KernelFileReader::now),
            psi: self.pressure.as_ref().map(PressureReader::now),
            procs,
            cgroups,
            perf,
            speed: self.speed.iter().flat_map(CoreSpeedProbe::now).collect(),
        };
        // Writing to memory cannot fail, and every key is a string.
        let _ = serde_json::to_writer(&mut *line, &now);
        line.push(b'\n');
        Ok(())
    }
}

#[derive(serde::Serialize)]
struct Sample<'a> {
    t_s: f64,
    cpu: CpuTimesInSeconds<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    softirqs: Option<&'a NamedRows<Vec<Counter>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    softnet: Option<&'a NamedRows<crate::SoftnetCore>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    interrupts: Option<&'a NamedRows<Vec<Counter>>>,
    ctxt: Counter,
    procs_running: u64,
    procs_blocked: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    nics: Option<&'a NamedRows<crate::Nic>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    disks: Option<&'a NamedRows<crate::Disk>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mem: Option<&'a Memory>,
    #[serde(skip_serializing_if = "Option::is_none")]
    psi: Option<&'a NamedRows<Counter>>,
    procs: BTreeMap<u32, &'a crate::Process>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    cgroups: BTreeMap<&'a str, crate::Cgroup>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    perf: BTreeMap<usize, PerfCounts>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    speed: BTreeMap<usize, SpeedSample>,
}

/// Ticks shown as seconds.
struct CpuTimesInSeconds<'a> {
    cores: &'a NamedRows<CpuTicks>,
    hz: f64,
}

impl Serialize for CpuTimesInSeconds<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (core, ticks) in self.cores.iter() {
            map.serialize_entry(core, &CoreTimesInSeconds { ticks, hz: self.hz })?;
        }
        map.end()
    }
}

struct CoreTimesInSeconds<'a> {
    ticks: &'a CpuTicks,
    hz: f64,
}

impl Serialize for CoreTimesInSeconds<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(8))?;
        for (name, ticks) in self.ticks.named() {
            map.serialize_entry(name, &(ticks.0 as f64 / self.hz))?;
        }
        map.end()
    }
}

fn read<I: KernelFile>(reader: &mut Option<KernelFileReader<I>>) -> Result<(), ReadError> {
    reader.as_mut().map_or(Ok(()), |reader| reader.read().map(|_| ()))
}

fn required<I: KernelFile>(config: &Config) -> Result<KernelFileReader<I>, ReadError> {
    KernelFileReader::open(&config.proc_root)?.ok_or_else(|| ReadError::Open {
        path: config.proc_root.join(I::PATHS[0]),
        source: std::io::Error::from_raw_os_error(libc::ENOENT),
    })
}

fn optional<I: KernelFile>(
    config: &Config,
    name: &str,
    absent: &mut Vec<String>,
) -> Result<Option<KernelFileReader<I>>, ReadError> {
    let reader = KernelFileReader::open(&config.proc_root)?;
    if reader.is_none() {
        let path = I::PATHS[I::PATHS.len() - 1];
        absent.push(format!("{name}: {} missing", config.proc_root.join(path).display()));
    }
    Ok(reader)
}

fn cores(stat: &ProcStat) -> Vec<usize> {
    stat.cores.iter().filter_map(|(core, _)| core.parse().ok()).collect()
}

fn processes(config: &Config, hz: f64) -> Result<Vec<(u32, ProcessReader)>, CollectError> {
    let open = |&pid: &u32| {
        let reader = ProcessReader::open(&config.proc_root, pid, hz)?;
        reader.map(|reader| (pid, reader)).ok_or(CollectError::Process { pid })
    };
    config.pids.iter().map(open).collect()
}

fn cgroups(config: &Config) -> Result<Vec<(String, CgroupReader)>, CollectError> {
    let open = |name: &String| {
        let reader = CgroupReader::open(&config.sys_root, name)?;
        let missing = || CollectError::Cgroup { name: name.clone() };
        reader.map(|reader| (name.clone(), reader)).ok_or_else(missing)
    };
    config.cgroups.iter().map(open).collect()
}

fn speed(config: &Config, cores: &[usize]) -> Result<Option<CoreSpeedProbe>, CollectError> {
    let start = || CoreSpeedProbe::start(cores).map_err(|source| CollectError::Thread { source });
    config.core_speed.then(start).transpose()
}

/// Counters of all cores, or none and the reason.
fn counters(cores: &[usize], absent: &mut Vec<String>) -> Vec<(usize, PerfCounters)> {
    let open = |&core: &usize| PerfCounters::open(core).map(|counters| (core, counters));
    cores.iter().map(open).collect::<Result<_, _>>().unwrap_or_else(|error| {
        absent.push(perf_counters::reason(&error));
        Vec::new()
    })
}
