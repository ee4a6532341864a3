//! What a config must keep; the message names the value, the place and the remedy.

use super::calendar::Calendar;
use super::config::{Class, Config, Discipline, Kind, Limit, OnFull, Row, Station};
use std::fmt;

/// A config that cannot be simulated.
#[derive(Debug, Clone, PartialEq)]
pub struct InvalidConfig {
    pub value: String,
    pub place: String,
    pub remedy: String,
}

impl fmt::Display for InvalidConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.place, self.value, self.remedy)
    }
}

impl std::error::Error for InvalidConfig {}

fn refuse<T>(value: impl Into<String>, place: impl Into<String>, remedy: &str) -> Result<T, InvalidConfig> {
    Err(InvalidConfig { value: value.into(), place: place.into(), remedy: remedy.to_string() })
}

pub fn check(config: &Config) -> Result<(), InvalidConfig> {
    if !(config.batch_s.is_finite() && config.batch_s > 0.0) {
        return refuse(format!("{}", config.batch_s), "batch_s", "give a time above 0, in s");
    }
    if config.period_s.is_some_and(|p| !(p.is_finite() && p > 0.0)) {
        return refuse(format!("{:?}", config.period_s), "period_s", "give a time above 0, in s");
    }
    if config.classes.is_empty() {
        return refuse("no class", "classes", "add a class");
    }
    config.stations.iter().try_for_each(|s| station(config, s))?;
    for (j, c) in config.classes.iter().enumerate() {
        class(config, j, c)?;
    }
    services(config)?;
    config.routes.iter().try_for_each(|r| row(config, r))?;
    config.limits.iter().try_for_each(|l| limit(config, l))?;
    histograms(config)?;
    let servers: usize = config.stations.iter().map(|s| s.servers as usize + 1).sum();
    if servers + 3 * config.classes.len() > Calendar::MOST {
        return refuse(format!("{servers} servers"), "stations", "a simulation has at most 65000 in all");
    }
    Ok(())
}

fn station(config: &Config, s: &Station) -> Result<(), InvalidConfig> {
    let place = |key: &str| format!("stations.{}.{key}", s.name);
    if config.stations.iter().filter(|o| o.name == s.name).count() > 1 {
        return refuse(format!("two are called {:?}", s.name), "stations", "give each a name of its own");
    }
    if s.kind == Kind::Queue && s.servers == 0 {
        return refuse("0", place("servers"), "give at least 1");
    }
    if s.capacity == Some(0) {
        return refuse("0", place("capacity"), "give at least 1, or none for no limit");
    }
    let speeds = s.rates.iter().all(|r| r.is_finite() && *r > 0.0);
    if s.kind == Kind::LoadDependent && (s.rates.is_empty() || !speeds) {
        return refuse(format!("{:?}", s.rates), place("rates"), "give at least one rate, all above 0");
    }
    let told = matches!(s.discipline, Discipline::Fcfs | Discipline::Ps);
    if s.kind == Kind::LoadDependent && !told {
        return refuse("an order of its own", place("discipline"), "a load-dependent station is fcfs or ps");
    }
    if s.kind == Kind::ForkJoin && s.branches == 0 {
        return refuse("0", place("branches"), "give at least 1");
    }
    if s.kind != Kind::Queue && (!s.schedule.is_empty() || s.breakdowns.is_some()) {
        return refuse("servers that come and go", place("kind"), "only a queue has them");
    }
    changes(s)
}

fn changes(s: &Station) -> Result<(), InvalidConfig> {
    let place = format!("stations.{}.schedule", s.name);
    let last = s.schedule.last().map_or(0.0, |x| x.0);
    let ascending = s.schedule.windows(2).all(|p| p[0].0 < p[1].0) && s.schedule.iter().all(|x| x.0 >= 0.0);
    if !ascending || !last.is_finite() {
        return refuse(format!("{:?}", s.schedule), place, "give ascending times from 0, in s");
    }
    if s.period_s.is_some_and(|p| p.is_nan() || p <= last) {
        return refuse(
            format!("period_s {:?}", s.period_s),
            place,
            "give a period that is longer than the schedule",
        );
    }
    let Some(breakdowns) = &s.breakdowns else { return Ok(()) };
    for (what, d) in [("up", &breakdowns.up), ("down", &breakdowns.down)] {
        let place = format!("stations.{}.breakdowns.{what}", s.name);
        d.validate().or_else(|e| refuse(e.to_string(), &place, "see above"))?;
        if d.mean() <= 0.0 {
            return refuse(format!("mean {}", d.mean()), place, "give a mean above 0");
        }
    }
    Ok(())
}

fn class(config: &Config, j: usize, c: &Class) -> Result<(), InvalidConfig> {
    let place = |key: &str| format!("classes.{}.{key}", c.name);
    if c.population.is_some() && c.arrivals.is_some() {
        return refuse("population and arrivals", place("arrivals"), "a class is closed or open");
    }
    let invalid =
        |key: &str, e: sojourn_dist::DistError| refuse(e.to_string(), place(key), "see the model file");
    if let Some(think) = &c.think {
        think.validate().or_else(|e| invalid("think", e))?;
    }
    if let Some(arrivals) = &c.arrivals {
        arrivals.validate().or_else(|e| invalid("arrivals", e))?;
    }
    let outside = config.stations.len();
    let own = |r: &&Row| r.node == outside && r.class == j;
    let starts = c.population.is_some_and(|n| n > 0) || c.arrivals.is_some();
    let Some(begin) = config.routes.iter().find(own) else {
        if starts {
            return refuse("no route from outside", place("routes"), "say where its customers go first");
        }
        return Ok(());
    };
    let instantly = c.population.is_some() && c.think.is_none();
    if instantly && begin.to.iter().any(|t| t.0 == outside && t.2 > 0.0) {
        return refuse("a pass through no station", place("think_s"), "give it a think time above 0");
    }
    let loses = |s: &Station| s.capacity.is_some() && s.on_full == OnFull::Lose;
    let limited = config.limits.iter().any(|l| l.on_full == super::config::LimitPolicy::Lose);
    if instantly && (limited || config.stations.iter().any(loses)) {
        let remedy = "give it a think time above 0: who is lost would come back in no time";
        return refuse("a closed class without think time can be lost", place("think_s"), remedy);
    }
    Ok(())
}

fn services(config: &Config) -> Result<(), InvalidConfig> {
    let square = config.service.len() == config.stations.len()
        && config.service.iter().all(|r| r.len() == config.classes.len());
    if !square {
        return refuse(format!("{} rows", config.service.len()), "service", "give K rows of C");
    }
    for (s, row) in config.stations.iter().zip(&config.service) {
        for (c, d) in config.classes.iter().zip(row) {
            let place = format!("service.{}.{}", s.name, c.name);
            if let Some(d) = d {
                d.validate().or_else(|e| refuse(e.to_string(), place, "see the model file"))?;
            }
        }
    }
    Ok(())
}

fn row(config: &Config, r: &Row) -> Result<(), InvalidConfig> {
    let (k, c) = (config.stations.len(), config.classes.len());
    let place = format!("routes from node {} of class {}", r.node, r.class);
    let mut targets = r.to.iter().map(|t| (t.0, t.1)).collect::<Vec<_>>();
    targets.push((r.node, r.class));
    targets.extend(r.choice.iter().flat_map(|x| x.to.iter().map(|n| (*n, r.class))));
    if let Some(t) = targets.iter().find(|t| t.0 > k || t.1 >= c) {
        return refuse(format!("{t:?}"), place, "name nodes 0 to K and classes 0 to C - 1");
    }
    if let Some(choice) = &r.choice {
        if choice.to.is_empty() || choice.to.contains(&k) || choice.d == 0 {
            return refuse(
                format!("{:?}", choice.to),
                place,
                "choose among stations, at least one, with d ≥ 1",
            );
        }
        return Ok(());
    }
    let sum: f64 = r.to.iter().map(|t| t.2).sum();
    if r.to.iter().any(|t| !(0.0..=1.0 + 1e-9).contains(&t.2)) || (sum - 1.0).abs() > 1e-6 {
        return refuse(format!("probabilities with sum {sum}"), place, "give probabilities that add up to 1");
    }
    Ok(())
}

fn limit(config: &Config, l: &Limit) -> Result<(), InvalidConfig> {
    if l.size == 0 {
        return refuse("0", format!("limits.{}.size", l.name), "give at least 1");
    }
    if l.stations.is_empty() || l.stations.iter().any(|k| *k >= config.stations.len()) {
        return refuse(format!("{:?}", l.stations), format!("limits.{}.stations", l.name), "name stations");
    }
    Ok(())
}

fn histograms(config: &Config) -> Result<(), InvalidConfig> {
    for key in &config.histograms {
        let known = key.split_once('/').is_some_and(|(s, c)| {
            (s.is_empty() || config.stations.iter().any(|x| x.name == s))
                && (c.is_empty() || config.classes.iter().any(|x| x.name == c))
        });
        if !known {
            return refuse(format!("{key:?}"), "histograms", "give station/class, /class, station/ or /");
        }
    }
    Ok(())
}
