// SPDX-License-Identifier: Apache-2.0
use std::collections::HashMap;

fn main() {
    let mut places: HashMap<String, Vec<u32>> = HashMap::new();
    for (i, argument) in std::env::args().enumerate() {
        places.entry(argument).or_default().push(i as u32);
    }
    let mut sums: Vec<_> = places.iter().map(|(k, v)| (k.len(), v.iter().sum::<u32>())).collect();
    sums.sort_by_key(|p| p.1);
    println!("{:?}", sums);
}
