// Threads that wait for each other many times, with random delays between: `barrier_test [THREADS] [PASSES]`. Ends with 0 when none went ahead of another.
#include "barrier.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int threads = 8;
static int passes = 100000;
static atomic_int arrived;
static atomic_int passed;
static atomic_int sleeping;
static atomic_int wrong;
static atomic_int * counts;

// As ggml_barrier: the last one lets the others pass.
static void meet(void) {
    int before = atomic_load_explicit(&passed, memory_order_relaxed);
    if (atomic_fetch_add(&arrived, 1) == threads - 1) {
        atomic_store_explicit(&arrived, 0, memory_order_relaxed);
        atomic_fetch_add(&passed, 1);
        barrier_release(&passed, &sleeping);
        return;
    }
    barrier_wait(&passed, before, &sleeping);
    atomic_thread_fence(memory_order_seq_cst);
}

static void * work(void * argument) {
    int own = (int) (size_t) argument;
    unsigned seed = 2463534242u + (unsigned) own * 7919u;
    for (int pass = 0; pass < passes; pass++) {
        seed ^= seed << 13, seed ^= seed >> 17, seed ^= seed << 5;
        // Most go on at once, some are late by more than the others spin.
        for (unsigned left = seed % 64 == 0 ? seed % 20000 : seed % 50; left > 0; left--) barrier_pause();
        atomic_store(&counts[own], pass);
        meet();
        for (int one = 0; one < threads; one++) {
            int count = atomic_load(&counts[one]);
            if (count != pass) atomic_fetch_add(&wrong, 1);
        }
        meet();
    }
    return NULL;
}

int main(int argc, char ** argv) {
    if (argc > 1) threads = atoi(argv[1]);
    if (argc > 2) passes = atoi(argv[2]);
    counts = calloc((size_t) threads, sizeof(atomic_int));
    pthread_t * all = calloc((size_t) threads, sizeof(pthread_t));
    for (int one = 0; one < threads; one++) pthread_create(&all[one], NULL, work, (void *) (size_t) one);
    for (int one = 0; one < threads; one++) pthread_join(all[one], NULL);
    printf("%d threads, %d passes, %d wrong\n", threads, 2 * passes, atomic_load(&wrong));
    return atomic_load(&wrong) == 0 ? 0 : 1;
}
