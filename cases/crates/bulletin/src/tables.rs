//! The board's tables, in memory or in PostgreSQL.

use sojourn_pgsession::{connect, ConnInfo, SessionPool};

use crate::embedded::{self, SharedTables};
use crate::generate::Generator;
use crate::page_offers::PageOffers;
use crate::statements::offers;
use crate::{Config, ServeError};

/// Of every session: statements are planned once, as the loading has checked.
const SETTINGS: &str = "-c plan_cache_mode=force_generic_plan -c jit=off";

/// Where the tables are.
pub(crate) enum Tables {
    Embedded(SharedTables),
    Postgres(SessionPool),
}

impl Tables {
    /// Makes rows, or opens all sessions with the database; and what pages may offer of them.
    pub fn open(config: &Config) -> Result<(Self, PageOffers), ServeError> {
        let Some(database) = &config.database else {
            let generator = Generator::new(config.scale, config.seed);
            let tables = SharedTables::new(embedded::Tables::generate(&generator));
            return Ok((Self::Embedded(tables), generator.offers()));
        };
        let conninfo = ConnInfo::new(database, SETTINGS, config.timeout_s)?;
        let offers = offers(&mut connect(&conninfo.patient())?)?;
        let pool = SessionPool::new(conninfo, config.pool);
        pool.fill()?;
        Ok((Self::Postgres(pool), offers))
    }

    pub fn is_ready(&self) -> Result<(), String> {
        match self {
            Self::Postgres(pool) if !pool.health.is_up() => Err("the database is away".into()),
            _ => Ok(()),
        }
    }
}
