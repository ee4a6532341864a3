//! Kernels against each other and against closed forms.

use proptest::prelude::*;
use sojourn_solve::closed::{convolution, mva_by_diagonals, mva_multiclass, mva_single_class, open_rates};

fn close(a: f64, b: f64, relative: f64) -> bool {
    (a - b).abs() <= relative * b.abs().max(1e-12)
}

/// Lazowska et al. (1984), 5.4, p. 87: a balanced network has X = N/(D (N + K - 1)).
#[test]
fn balanced_network() {
    let demands = [0.3; 5];
    let (mut x, mut q, mut line) = ([0.0], [0.0; 5], [0.0; 5]);
    mva_single_class::run(
        &[mva_single_class::SingleClassNetwork { demands_s: &demands, think_s: 0.0, population: 7 }],
        &mut x,
        &mut q,
        &mut line,
    );
    assert!(close(x[0], 7.0 / (0.3 * 11.0), 1e-14));
    assert!(q.iter().all(|&n| close(n, 7.0 / 5.0, 1e-14)));
    // who comes finds 6/5 there
    assert!(line.iter().all(|&n| close(n, x[0] * 0.3 * 6.0 / 5.0, 1e-14)));
}

#[test]
fn one_recursion_answers_ascending_populations() {
    let demands = [0.2, 0.5];
    let point =
        |population| mva_single_class::SingleClassNetwork { demands_s: &demands, think_s: 1.0, population };
    let (mut x, mut q, mut line) = ([0.0; 4], [0.0; 8], [0.0; 8]);
    mva_single_class::run(&[point(0), point(3), point(3), point(1)], &mut x, &mut q, &mut line);
    assert_eq!(x[0], 0.0);
    assert_eq!(x[1], x[2]);
    assert_eq!(line[2..4], line[4..6]);
    assert_eq!(line[6..], [0.0, 0.0]);
    assert!(close(x[3], 1.0 / 1.7, 1e-15));
}

/// M/M/m//N without think time at one station: all N are there, and m are served.
#[test]
fn several_servers_and_nothing_else() {
    let (demands, speeds) = (vec![vec![0.5], vec![1e-6]], vec![vec![1.0, 2.0, 3.0], vec![1.0]]);
    let model = open_rates::ClosedModel { demands_s: &demands, speeds: &speeds, think_s: &[0.0] };
    let found = convolution::run(&model, &[vec![4000]], 0);
    let answer = found[0].as_ref().expect("within range");
    assert!(close(answer.throughput[0], 6.0, 1e-12));
    assert!(close(answer.queue[0][0] + answer.queue[1][0], 4000.0, 1e-12));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn recursion_diagonals_and_convolution_agree(
        demands in prop::collection::vec(prop::collection::vec(1e-3f64..2.0, 3), 1..4),
        think in prop::collection::vec(0.0f64..5.0, 3),
        point in prop::collection::vec(1usize..7, 3),
    ) {
        let by_class: Vec<Vec<f64>> = (0..3).map(|r| demands.iter().map(|row| row[r]).collect()).collect();
        let model = mva_multiclass::ClassDemands::new(&by_class, &think);
        let kept = &mva_multiclass::run(&model, std::slice::from_ref(&point))[0];
        let wide = mva_by_diagonals::run(&model, &point);
        let speeds = vec![vec![1.0]; demands.len()];
        let sums = convolution::run(&open_rates::ClosedModel { demands_s: &demands, speeds: &speeds, think_s: &think },
            std::slice::from_ref(&point), 0);
        let sums = sums[0].as_ref().expect("within range");
        for r in 0..3 {
            prop_assert!(close(wide.throughput[r], kept.throughput[r], 1e-13));
            prop_assert!(close(sums.throughput[r], kept.throughput[r], 1e-12));
            for (k, row) in sums.queue.iter().enumerate() {
                prop_assert!(close(row[r], kept.queue[r][k], 1e-11));
            }
        }
    }
}
