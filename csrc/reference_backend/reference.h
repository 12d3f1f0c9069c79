// A ggml backend that is plain and right, not fast: one thread, one loop an operator, sums in double precision.
// It has memory of its own that other backends can't read, events, and switches that make it fail on purpose (faults.h).
#pragma once

#include "ggml-backend-impl.h"
#include "ggml.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// module.c
ggml_backend_reg_t reference_registration(void);
ggml_backend_dev_t reference_device(void);

// buffers.c
ggml_backend_buffer_type_t reference_buffer_type(void);
// Bytes of all buffers that are there.
size_t reference_allocated(void);
// How many buffers, backends and events are there.
int64_t reference_live(void);
void reference_count(int change);

// backend.c
ggml_backend_t reference_backend_new(void);
void reference_set_abort_callback(ggml_backend_t backend, ggml_abort_callback callback, void * data);
ggml_backend_event_t reference_event_new(ggml_backend_dev_t device);
void reference_event_free(ggml_backend_dev_t device, ggml_backend_event_t event);
void reference_event_synchronize(ggml_backend_dev_t device, ggml_backend_event_t event);

// operators.c
struct operator {
    // Whether these types, shapes and parameters are computed.
    bool (*takes)(const struct ggml_tensor * node);
    enum ggml_status (*compute)(struct ggml_tensor * node);
};
// NULL for an operator that isn't there.
const struct operator * reference_operator(enum ggml_op op);
bool reference_supports(const struct ggml_tensor * node);
