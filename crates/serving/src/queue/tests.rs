use super::*;

#[test]
fn it_holds_so_many_and_gives_them_in_order() {
    let queue = BoundedQueue::new(2);
    assert_eq!([queue.put(1), queue.put_quietly(2), queue.put(3)], [Ok(()), Ok(()), Err(3)]);
    assert_eq!((queue.take(), queue.put(4)), (Some(1), Ok(())));
    queue.close();
    assert_eq!([queue.take(), queue.take(), queue.try_take()], [Some(2), Some(4), None]);
}

#[test]
fn some_are_taken_in_their_order_as_far_as_they_join() {
    let queue = BoundedQueue::new(10);
    (0..7).for_each(|i| queue.put_quietly(i).unwrap());
    let mut batch = Vec::new();
    let mut take = |most| {
        batch.clear();
        (queue.take_some(most, |item| *item != 4, &mut batch), batch.clone())
    };
    assert_eq!([take(3), take(3)], [(true, vec![0, 1, 2]), (true, vec![3])]);
    assert_eq!([take(3), take(3)], [(true, vec![4]), (true, vec![5, 6])]);
    queue.close();
    assert_eq!(take(3), (false, vec![]));
}

/// Every item is taken though nobody is woken for each: one in a hundred thousand would hang the test.
#[test]
fn those_who_are_woken_leave_nothing() {
    let (queue, taken) = (BoundedQueue::new(usize::MAX), std::sync::atomic::AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut batch = Vec::new();
                while queue.take_some(3, |_| true, &mut batch) {
                    taken.fetch_add(batch.len(), std::sync::atomic::Ordering::Relaxed);
                    batch.clear();
                }
            });
        }
        for item in 0..100_000_usize {
            queue.put_quietly(item).unwrap();
            if item % 5 == 0 {
                queue.wake(3);
            }
            while item % 1000 == 0 && taken.load(std::sync::atomic::Ordering::Relaxed) <= item {
                std::thread::yield_now();
            }
        }
        queue.close();
    });
    assert_eq!(taken.into_inner(), 100_000);
}

/// The same where whoever comes takes a batch: nobody is woken for an item while another is on the way.
#[test]
fn those_who_take_batches_leave_nothing() {
    let queue = BoundedQueue::in_batches(usize::MAX, Batches { at_once: 2, least: 3 });
    let taken = std::sync::atomic::AtomicUsize::new(0);
    let count = |batch: &mut Vec<usize>| {
        taken.fetch_add(batch.len(), std::sync::atomic::Ordering::Relaxed);
        batch.clear();
    };
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut batch = Vec::new();
                while queue.take_batch(5, &mut batch) {
                    count(&mut batch);
                    while queue.next_batch(5, &mut batch) {
                        count(&mut batch);
                    }
                }
            });
        }
        for item in 0..100_000_usize {
            queue.put(item).unwrap();
            while item % 100 == 0 && taken.load(std::sync::atomic::Ordering::Relaxed) <= item {
                std::thread::yield_now();
            }
        }
        queue.close();
    });
    assert_eq!(taken.into_inner(), 100_000);
}

#[test]
fn a_batch_beside_another_is_large_and_what_comes_meanwhile_is_the_next() {
    let queue = BoundedQueue::in_batches(10, Batches { at_once: 2, least: 3 });
    (0..2).for_each(|i| queue.put(i).unwrap());
    let (mut first, mut second) = (Vec::new(), Vec::new());
    assert!(queue.take_batch(10, &mut first));
    (2..5).for_each(|i| queue.put(i).unwrap());
    assert!(queue.take_batch(2, &mut second));
    assert_eq!((&first[..], &second[..]), (&[0, 1][..], &[2, 3][..]));
    first.clear();
    assert!(queue.next_batch(10, &mut first) && !queue.next_batch(10, &mut second));
    assert_eq!(first, [4]);
    queue.close();
    assert!(!queue.take_batch(10, &mut first));
}
