//! From names to sockets: everything that can fail before the start does so here.

mod connector;

use crate::config::{ClientThreadConfig, Config, ExpectedResponse, TargetConfig};
use crate::config_error::ConfigError;
use crate::encoded_request::EncodedRequest;
use crate::error::LoadError;
use crate::protocol;
use crate::request_template::RequestTemplate;
use crate::tls::Transport;
use crate::url::{Scheme, Url};

use connector::Connector;

pub use connector::Address;

/// A URL of a lane, ready to be sent.
#[derive(Debug)]
pub struct Target {
    /// Its bytes; of a template those of the next one. Of the message service and of sessions as `Url::message_head` says.
    pub request: Vec<u8>,
    pub template: Option<RequestTemplate>,
    /// The answer to a HEAD has no body, whatever it says.
    pub head_only: bool,
    pub expect: ExpectedResponse,
    pub pool: usize,
    pub class: u16,
    /// The sum of the weights up to and with this one, as a share of all.
    pub up_to: f64,
}

/// A lane with its connections open.
#[derive(Debug)]
pub struct PreparedClientThread {
    pub index: usize,
    pub targets: Vec<Target>,
    /// One pool of connections for each.
    pub addresses: Vec<Address>,
    pub links: Vec<(usize, Transport)>,
}

#[derive(Debug)]
pub struct PreparedLoad {
    pub lanes: Vec<PreparedClientThread>,
    pub classes: Vec<String>,
    connector: Connector,
}

impl PreparedLoad {
    /// Resolves all names, then opens all connections.
    pub fn new(config: &Config) -> Result<PreparedLoad, LoadError> {
        let classes = protocol::classes(config);
        let mut plan = PreparedLoad { lanes: Vec::new(), classes, connector: Connector::new(config)? };
        for (index, lane) in config.lanes.iter().enumerate() {
            let lane = plan.lane(config, index, lane)?;
            plan.lanes.push(lane);
        }
        if plan.classes.len() > usize::from(u16::MAX) {
            let (place, value) = ("classes".to_string(), plan.classes.len().to_string());
            return Err(ConfigError::Value { place, value, remedy: "use at most 65535 class names" }.into());
        }
        Ok(plan)
    }

    fn lane(
        &mut self,
        config: &Config,
        index: usize,
        lane: &ClientThreadConfig,
    ) -> Result<PreparedClientThread, LoadError> {
        let total: f64 = lane.targets.iter().map(|t| t.weight).sum();
        let mut planned =
            PreparedClientThread { index, targets: Vec::new(), addresses: Vec::new(), links: Vec::new() };
        let mut hosts: Vec<(String, u16, bool)> = Vec::new();
        let mut weight = 0.0;
        for (number, target) in lane.targets.iter().enumerate() {
            let url = Url::parse(&target.url, &format!("lanes[{index}].targets.url"))?;
            let name = config.own_stream(&format!("lane {index} target {number}"));
            let EncodedRequest { bytes, template } = match url.scheme {
                Scheme::Http if config.sessions.is_none() => {
                    EncodedRequest::new(target, &url, config.seed, &name)?
                }
                _ => EncodedRequest { bytes: url.message_head(), template: None },
            };
            let host = (url.host.clone(), url.port, url.tls);
            let pool = match hosts.iter().position(|known| *known == host) {
                Some(pool) => pool,
                None => {
                    let pool = hosts.len();
                    let (address, links) = self.connector.open(&target.url, &url, lane.connections())?;
                    planned.addresses.push(address);
                    planned.links.extend(links.into_iter().map(|link| (pool, link)));
                    hosts.push(host);
                    pool
                }
            };
            weight += target.weight;
            let is_drawn = url.scheme != Scheme::Http || config.sessions.is_some();
            let class = if !is_drawn { self.class(&target.class) } else { 0 };
            planned.targets.push(Target {
                request: bytes,
                template,
                head_only: target.method == "HEAD",
                expect: expect(&config.expect, target),
                pool,
                class,
                up_to: weight / total,
            });
        }
        Ok(planned)
    }

    fn class(&mut self, name: &str) -> u16 {
        let index = self.classes.iter().position(|known| known == name).unwrap_or_else(|| {
            self.classes.push(name.to_string());
            self.classes.len() - 1
        });
        u16::try_from(index).unwrap_or(u16::MAX)
    }
}

/// What a good answer of this target is.
fn expect(all: &ExpectedResponse, target: &TargetConfig) -> ExpectedResponse {
    ExpectedResponse { status: target.status.clone().or_else(|| all.status.clone()), ..all.clone() }
}
