// SPDX-License-Identifier: Apache-2.0
//
// Rust: closures, boxed functions, sorting with a closure, panics that are caught, a second thread.
// Its activations have no return address, which stable Rust cannot ask for: the judge then goes by
// functions.
use std::cell::Cell;
use std::hint::black_box;
use std::ptr;
use std::sync::atomic::{compiler_fence, Ordering};

const MARK_LOW: u32 = 0x5bd10842;
const MARK_HIGH: u32 = 0x9e1f7a3c;

#[repr(C)]
struct Activation {
    mark_low: u32,
    mark_high: u32,
    function: *const u8,
    return_address: *const u8,
    caller: *const Activation,
}

thread_local!(static TOP: Cell<*const Activation> = const { Cell::new(ptr::null()) });

impl Activation {
    #[inline(always)]
    fn new() -> Activation {
        Activation {
            mark_low: 0,
            mark_high: 0,
            function: ptr::null(),
            return_address: ptr::null(),
            caller: ptr::null(),
        }
    }

    #[inline(always)]
    fn begin(&mut self, function: *const u8) {
        self.function = function;
        self.caller = TOP.with(|top| top.get());
        compiler_fence(Ordering::SeqCst);
        unsafe { ptr::write_volatile(&mut self.mark_low, MARK_LOW) };
        unsafe { ptr::write_volatile(&mut self.mark_high, MARK_HIGH) };
        TOP.with(|top| top.set(self));
    }
}

impl Drop for Activation {
    #[inline(always)]
    fn drop(&mut self) {
        TOP.with(|top| top.set(self.caller));
        unsafe { ptr::write_volatile(&mut self.mark_high, 0) };
        unsafe { ptr::write_volatile(&mut self.mark_low, 0) };
    }
}

macro_rules! truth {
    ($here:ident, $function:expr) => {
        let mut $here = Activation::new();
        $here.begin($function as *const u8);
    };
}

#[inline(always)]
fn work(mut seed: u64, turns: u32) -> u64 {
    for _ in 0..turns {
        seed = black_box(seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407));
    }
    seed
}

#[inline(never)]
#[no_mangle]
fn descend(seed: u64, depth: u64) -> u64 {
    truth!(here, descend as fn(u64, u64) -> u64);
    let seed = work(seed, 200);
    let below = if depth > 0 { descend(seed, depth - 1) } else { 0 };
    work(seed ^ below, 50)
}

#[inline(never)]
#[no_mangle]
fn sort_numbers(seed: u64) -> u64 {
    truth!(here, sort_numbers as fn(u64) -> u64);
    let mut numbers: Vec<u64> = (0..50).map(|i| work(seed + i, 3)).collect();
    numbers.sort_by(|a, b| work(*a, 20).cmp(&work(*b, 20)));
    numbers[7]
}

#[inline(never)]
#[no_mangle]
fn call_boxed(seed: u64, function: &dyn Fn(u64) -> u64) -> u64 {
    truth!(here, call_boxed as fn(u64, &'static dyn Fn(u64) -> u64) -> u64);
    work(function(seed), 30)
}

#[inline(never)]
#[no_mangle]
fn panics(seed: u64) -> u64 {
    truth!(here, panics as fn(u64) -> u64);
    let seed = work(seed, 100);
    if seed != 1 {
        std::panic::resume_unwind(Box::new(seed));
    }
    seed
}

#[inline(never)]
#[no_mangle]
fn catches(seed: u64) -> u64 {
    truth!(here, catches as fn(u64) -> u64);
    match std::panic::catch_unwind(|| panics(seed)) {
        Ok(seed) => seed,
        Err(seed) => work(*seed.downcast::<u64>().unwrap(), 100),
    }
}

#[inline(never)]
#[no_mangle]
fn rounds(count: u64) -> u64 {
    truth!(here, rounds as fn(u64) -> u64);
    let mut seed = 1u64;
    for i in 0..count {
        seed = seed.wrapping_add(call_boxed(seed, &|s| descend(s, i % 9)));
        seed = seed.wrapping_add(sort_numbers(seed >> 1));
        seed = seed.wrapping_add(catches(seed));
    }
    seed
}

fn main() {
    let count = std::env::args().nth(1).and_then(|s| s.parse().ok()).unwrap_or(1u64) * 20000;
    let thread = std::thread::spawn(move || rounds(count));
    let seed = rounds(count) ^ thread.join().unwrap();
    println!("result {:x}", seed);
    print!("{}", std::fs::read_to_string("/proc/self/maps").unwrap());
}
