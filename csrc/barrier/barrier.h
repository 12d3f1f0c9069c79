// How the compute threads of ggml's CPU backend wait for each other: a short spin, then sleep.
//
// Upstream's barrier spins for ever. With as many threads as cores, one busy neighbor then makes a token take up to a hundred times longer, because the
// thread that the others wait for doesn't get a core. build/barrier.zig puts these calls in place of the spin.
#pragma once

#include <stdatomic.h>

#if defined(__linux__)
#    include <limits.h>
#    include <linux/futex.h>
#    include <stddef.h>
#    include <sys/syscall.h>
#    include <unistd.h>
#    define BARRIER_SLEEPS 1
static inline void barrier_sleep(atomic_int * word, int value) {
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}
static inline void barrier_wake(atomic_int * word) {
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}
#elif defined(_WIN32)
#    define WIN32_LEAN_AND_MEAN
#    include <windows.h>
#    define BARRIER_SLEEPS 1
static inline void barrier_sleep(atomic_int * word, int value) {
    WaitOnAddress((volatile void *) word, &value, sizeof(value), INFINITE);
}
static inline void barrier_wake(atomic_int * word) {
    WakeByAddressAll((void *) word);
}
#else
// macOS: upstream's own way, until it can be run there.
#    define BARRIER_SLEEPS 0
#endif

#if BARRIER_SLEEPS
// Spins before a thread sleeps. On an idle machine the others come within a few hundred, so the bound grows with each wait that ends in time; where they
// are kept from their cores, it shrinks to the least.
#    define BARRIER_MIN_SPINS 200
#    define BARRIER_MAX_SPINS 6000
static _Thread_local int barrier_spins = 3000;
#endif

static inline void barrier_pause(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield" ::: "memory");
#endif
}

// Waits until `passed` is no longer `before`.
static inline void barrier_wait(atomic_int * passed, int before, atomic_int * sleeping) {
#if BARRIER_SLEEPS
    for (int left = barrier_spins; left > 0; left--) {
        if (atomic_load_explicit(passed, memory_order_relaxed) != before) {
            if (barrier_spins < BARRIER_MAX_SPINS) barrier_spins += 16 + (barrier_spins >> 4);
            return;
        }
        barrier_pause();
    }
    barrier_spins -= barrier_spins >> 2;
    if (barrier_spins < BARRIER_MIN_SPINS) barrier_spins = BARRIER_MIN_SPINS;
    // Whoever lets the others pass looks for sleepers after that, so a sleeper that it doesn't see finds the number changed.
    atomic_fetch_add_explicit(sleeping, 1, memory_order_seq_cst);
    while (atomic_load_explicit(passed, memory_order_seq_cst) == before) barrier_sleep(passed, before);
    atomic_fetch_sub_explicit(sleeping, 1, memory_order_seq_cst);
#else
    (void) sleeping;
    while (atomic_load_explicit(passed, memory_order_relaxed) == before) barrier_pause();
#endif
}

// Wakes who sleeps, once `passed` was changed.
static inline void barrier_release(atomic_int * passed, atomic_int * sleeping) {
#if BARRIER_SLEEPS
    if (atomic_load_explicit(sleeping, memory_order_seq_cst) > 0) barrier_wake(passed);
#else
    (void) passed;
    (void) sleeping;
#endif
}
