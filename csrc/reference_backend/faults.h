// Switches that make the backend fail on purpose. Set by the variable GGML_REFERENCE_FAULTS ("alloc_after=3,slow_us=100") before the module is loaded,
// or by the proc address "ggml_reference_set_fault" at any time.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum fault {
    FAULT_ALLOC_AFTER,   // so many more buffers are given, then none; -1 is off
    FAULT_COMPUTE_AFTER, // so many more nodes are computed, then GGML_STATUS_FAILED; -1 is off
    FAULT_NO_MEMORY,     // 1: computing gives GGML_STATUS_ALLOC_FAILED
    FAULT_SLOW_US,       // each node takes so many microseconds longer
    FAULT_API_VERSION,   // what the module says its version is; 0 is the right one
    FAULT_SCORE,         // what ggml_backend_score gives; default 1
    FAULT_LOST,          // 1: the device is lost: nothing is opened, given or computed
    FAULT_COUNT,
};

int64_t fault(enum fault which);
// Counts one down; true when it has run out.
bool fault_due(enum fault which);
// 0, or -1 for a name that isn't known.
int reference_set_fault(const char * name, int64_t value);
// All as they were.
void reference_clear_faults(void);
// Sets what the variable of the environment says, once.
void faults_from_environment(void);
