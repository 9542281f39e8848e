// SPDX-License-Identifier: Apache-2.0

// A program in Go with C in it: its runtime handles every signal by the kernel's own call. It asks to
// receive all of them, computes in both languages in many goroutines, and prints how many it
// received beside the one that it sent itself.
package main

/*
#include <stdint.h>

static uint64_t work_in_c(uint64_t value) {
	for (uint64_t i = 0; i < 20000000; i++) {
		value = value * UINT64_C(6364136223846793005) + 1;
		__asm__("" : "+r"(value));
	}
	return value;
}
*/
import "C"

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

//go:noinline
func workInGo(value uint64, depth int) uint64 {
	if depth > 0 {
		return workInGo(value, depth-1) + 1
	}
	for i := 0; i < 20000000; i++ {
		value = value*6364136223846793005 + 1
	}
	return value
}

func main() {
	received := make(chan os.Signal, 1000)
	signal.Notify(received)
	results := make(chan uint64)
	for i := uint64(0); i < 40; i++ {
		go func(seed uint64) {
			results <- workInGo(uint64(C.work_in_c(C.uint64_t(seed))), int(seed))
		}(i)
	}
	sum := uint64(0)
	for i := 0; i < 40; i++ {
		sum += <-results
	}
	syscall.Kill(os.Getpid(), syscall.SIGUSR1)
	time.Sleep(100 * time.Millisecond)
	expected, others := 0, 0
	for len(received) > 0 {
		switch <-received {
		case syscall.SIGUSR1:
			expected++
		case syscall.SIGURG: // the runtime's own, by which it stops its threads
		default:
			others++
		}
	}
	fmt.Printf("received: %d, others: %d, %016x\n", expected, others, sum)
}
