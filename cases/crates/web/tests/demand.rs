//! The known demand, the records and the spread of connections.

#[allow(dead_code)]
mod common;

use common::{config, TempFolder, TestShop};
use serde_json::json;
use sojourn_dist::{Distribution, Stream};
use sojourn_record::read;

#[test]
fn connections_are_spread_evenly_and_by_nic() {
    let changes = json!({"listen": ["127.0.0.1:0", "127.0.0.1:0"], "cores": [0, 1, 2, 3], "leading": [0, 1]});
    let shop = TestShop::open(config(changes));
    let clients: Vec<_> = (0..16).map(|i| (shop.client(i % 2), i)).collect();
    for (mut client, i) in clients {
        assert_eq!(client.get(&format!("/item/{i}")).status, 200);
    }
    let summary = shop.close();
    // m/n = 2/4 stays on the NIC's own core, the rest goes evenly to cores 2 and 3
    assert_eq!(summary.connections_per_nic, [[4, 0, 2, 2], [0, 4, 2, 2]]);
    assert_eq!(summary.connections_per_thread, [4, 4, 4, 4]);
    assert!(summary.threads.iter().all(|thread| thread.requests == 4));
}

#[test]
fn the_recorded_demand_is_that_of_the_distribution() {
    let folder = TempFolder::new();
    let demand = Distribution::Exponential { mean: 20e-6 };
    let changes = json!({"demand": demand, "out": folder.0, "cores": [0], "seed": 11});
    let shop = TestShop::open(config(changes));
    let rate = shop.ready.threads[0].rounds_per_s;
    let mut client = shop.client(0);
    const REQUESTS: usize = 2000;
    for n in 0..REQUESTS {
        assert_eq!(client.get(&format!("/item/{}", n % 100)).status, 200);
        if n % 100 == 0 {
            client.get("/health"); // draws nothing
        }
    }
    let summary = shop.close();
    let log = read(&folder.0.join("app.rec")).unwrap();
    let column = |name: &str| log.column(name).unwrap();
    let page = column("page");
    let drawn: Vec<f64> =
        column("drawn_s").into_iter().zip(&page).filter(|(_, p)| **p == 2.0).map(|(d, _)| d).collect();
    // Work is counted in rounds: each drawn demand is the stream's next one to half a round.
    let mut stream = Stream::new(11, "web-demand-0");
    for seconds in &drawn {
        assert!((seconds - demand.sample(&mut stream)).abs() <= 0.51 / rate);
    }
    assert_eq!(drawn.len(), REQUESTS);
    // Four standard errors of the mean of an exponential distribution.
    let mean = drawn.iter().sum::<f64>() / REQUESTS as f64;
    assert!((mean - 20e-6).abs() < 4.0 * 20e-6 / (REQUESTS as f64).sqrt(), "{mean}");
    assert!((summary.drawn_mean_s - mean).abs() < 1e-12);
    assert_eq!(summary.known_demand_s, summary.fixed_median_s + summary.drawn_mean_s);
    assert_eq!(summary.recorded, summary.requests);
}

#[test]
fn rows_are_in_order_and_add_up() {
    let folder = TempFolder::new();
    let demand = Distribution::Deterministic { mean: 50e-6 };
    let shop = TestShop::open(config(json!({"demand": demand, "out": folder.0, "cores": [0]})));
    let mut client = shop.client(0);
    for _ in 0..200 {
        client.get("/");
    }
    client.get("/nothing");
    shop.close();
    let log = read(&folder.0.join("app.rec")).unwrap();
    let column = |name: &str| log.column(name).unwrap();
    let (start, end, received) = (column("start_s"), column("end_s"), column("received_s"));
    let (fixed, work) = (column("fixed_s"), column("work_s"));
    assert_eq!(start.len(), 201);
    for i in 0..start.len() {
        assert!((end[i] - start[i] - fixed[i] - work[i]).abs() < 1e-9);
        assert!(fixed[i] > 0.0 && end[i] > start[i]);
        assert!(i == 0 || start[i] >= end[i - 1]);
    }
    // The kernel starts to stamp a moment after it is first asked to.
    let stamped: Vec<usize> = (0..start.len()).filter(|&i| received[i].is_finite()).collect();
    assert!(stamped.len() > 100, "{}", stamped.len());
    assert!(stamped.iter().all(|&i| (received[i] - start[i]).abs() < 1.0));
    let late = stamped.iter().filter(|&&i| received[i] > end[i]).count();
    assert!(late * 100 <= stamped.len(), "{late} received after they were answered");
    let (status, weight) = (column("status"), column("weight"));
    assert_eq!((status[0], status[200]), (200.0, 404.0));
    assert!(weight.iter().all(|w| *w == 1.0));
    assert_eq!((work[200], column("page")[200]), (0.0, 6.0));
}

#[test]
fn beyond_the_limit_rows_are_sampled_and_weighted() {
    let folder = TempFolder::new();
    let shop = TestShop::open(config(json!({"out": folder.0, "record_limit": 100})));
    let mut client = shop.client(0);
    for _ in 0..400 {
        client.get("/health");
    }
    let summary = shop.close();
    let log = read(&folder.0.join("app.rec")).unwrap();
    let weights = log.column("weight").unwrap();
    assert!(weights.len() < 300 && weights.len() as u64 == summary.recorded);
    // 100 of weight 1, 50 of 2, 50 of 4
    assert_eq!(weights.iter().sum::<f64>(), 400.0);
}
