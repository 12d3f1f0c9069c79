#include "faults.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static const char * const names[FAULT_COUNT] = {
    [FAULT_ALLOC_AFTER] = "alloc_after", [FAULT_COMPUTE_AFTER] = "compute_after", [FAULT_NO_MEMORY] = "no_memory",
    [FAULT_SLOW_US] = "slow_us",         [FAULT_API_VERSION] = "api_version",     [FAULT_SCORE] = "score",
    [FAULT_LOST] = "lost",
};

#define ALL_OFF { [FAULT_ALLOC_AFTER] = -1, [FAULT_COMPUTE_AFTER] = -1, [FAULT_SCORE] = 1 }

static const int64_t off[FAULT_COUNT] = ALL_OFF;
// Read and written from several threads: each is one aligned word, and only a test changes them.
static _Atomic int64_t values[FAULT_COUNT] = ALL_OFF;

int64_t fault(enum fault which) {
    return values[which];
}

bool fault_due(enum fault which) {
    int64_t left = values[which];
    while (left > 0) {
        if (atomic_compare_exchange_weak(&values[which], &left, left - 1)) {
            return false;
        }
    }
    return left == 0;
}

static int set(const char * name, size_t length, int64_t value) {
    for (int i = 0; i < FAULT_COUNT; i++) {
        if (strlen(names[i]) == length && strncmp(names[i], name, length) == 0) {
            values[i] = value;
            return 0;
        }
    }
    return -1;
}

int reference_set_fault(const char * name, int64_t value) {
    return set(name, strlen(name), value);
}

void reference_clear_faults(void) {
    for (int i = 0; i < FAULT_COUNT; i++) {
        values[i] = off[i];
    }
}

void faults_from_environment(void) {
    static bool done = false;
    if (done) {
        return;
    }
    done = true;
    const char * at = getenv("GGML_REFERENCE_FAULTS");
    while (at != NULL && *at != '\0') {
        const char * equals = strchr(at, '=');
        if (equals == NULL) {
            return;
        }
        char * end = NULL;
        const int64_t value = strtoll(equals + 1, &end, 10);
        set(at, (size_t) (equals - at), value);
        at = *end == ',' ? end + 1 : "";
    }
}
