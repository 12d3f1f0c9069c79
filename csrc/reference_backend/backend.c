// Works off a graph, node by node.
#include "faults.h"
#include "reference.h"

#include <stdlib.h>

#ifdef _WIN32
#include <windows.h>
#else
#include <time.h>
#endif

// The layout of a graph is internal to ggml: its nodes come through its own functions.
struct context {
    ggml_abort_callback abort_callback;
    void * abort_data;
    uint64_t done; // nodes computed
};

struct event {
    uint64_t done; // what was computed when it was recorded
};

static bool aborted(const struct context * context) {
    return context->abort_callback != NULL && context->abort_callback(context->abort_data);
}

static void sleep_us(int64_t us) {
#ifdef _WIN32
    Sleep((DWORD) ((us + 999) / 1000));
#else
    struct timespec time = { .tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000 };
    nanosleep(&time, NULL);
#endif
}

// Sleeps in steps of a millisecond, so that cancelling is heard.
static bool slow(const struct context * context) {
    for (int64_t left = fault(FAULT_SLOW_US); left > 0; left -= 1000) {
        if (aborted(context)) {
            return false;
        }
        sleep_us(left < 1000 ? left : 1000);
    }
    return true;
}

static bool is_view(enum ggml_op op) {
    return op == GGML_OP_NONE || op == GGML_OP_RESHAPE || op == GGML_OP_VIEW || op == GGML_OP_PERMUTE || op == GGML_OP_TRANSPOSE;
}

static enum ggml_status compute_node(struct context * context, struct ggml_tensor * node) {
    if (is_view(node->op) || ggml_is_empty(node) || (node->flags & GGML_TENSOR_FLAG_COMPUTE) == 0) {
        return GGML_STATUS_SUCCESS;
    }
    if (fault(FAULT_LOST) != 0 || fault_due(FAULT_COMPUTE_AFTER)) {
        return GGML_STATUS_FAILED;
    }
    if (fault(FAULT_NO_MEMORY) != 0) {
        return GGML_STATUS_ALLOC_FAILED;
    }
    if (aborted(context) || !slow(context)) {
        return GGML_STATUS_ABORTED;
    }
    const struct operator * operator = reference_operator(node->op);
    if (operator == NULL || !operator->takes(node)) {
        return GGML_STATUS_FAILED;
    }
    context->done++;
    return operator->compute(node);
}

static enum ggml_status graph_compute(ggml_backend_t backend, struct ggml_cgraph * graph) {
    const int count = ggml_graph_n_nodes(graph);
    for (int i = 0; i < count; i++) {
        const enum ggml_status status = compute_node(backend->context, ggml_graph_node(graph, i));
        if (status != GGML_STATUS_SUCCESS) {
            return status;
        }
    }
    return GGML_STATUS_SUCCESS;
}

static const char * get_name(ggml_backend_t backend) {
    (void) backend;
    return "Reference";
}

static void free_backend(ggml_backend_t backend) {
    reference_count(-1);
    free(backend->context);
    free(backend);
}

// What this backend is given is done when the call returns, so what comes before a mark is done when the mark is made.
static void event_record(ggml_backend_t backend, ggml_backend_event_t event) {
    ((struct event *) event->context)->done = ((struct context *) backend->context)->done;
}

static void event_wait(ggml_backend_t backend, ggml_backend_event_t event) {
    (void) backend;
    (void) event;
}

ggml_backend_event_t reference_event_new(ggml_backend_dev_t device) {
    struct event * context = calloc(1, sizeof *context);
    ggml_backend_event_t event = malloc(sizeof *event);
    if (context == NULL || event == NULL || fault(FAULT_LOST) != 0) {
        free(context);
        free(event);
        return NULL;
    }
    reference_count(1);
    *event = (struct ggml_backend_event) { .device = device, .context = context };
    return event;
}

void reference_event_free(ggml_backend_dev_t device, ggml_backend_event_t event) {
    (void) device;
    reference_count(-1);
    free(event->context);
    free(event);
}

void reference_event_synchronize(ggml_backend_dev_t device, ggml_backend_event_t event) {
    (void) device;
    (void) event;
}

void reference_set_abort_callback(ggml_backend_t backend, ggml_abort_callback callback, void * data) {
    struct context * context = backend->context;
    context->abort_callback  = callback;
    context->abort_data      = data;
}

ggml_backend_t reference_backend_new(void) {
    static ggml_guid guid = { 0x9e, 0x1c, 0x5a, 0x40, 0x7d, 0x33, 0x4b, 0x0f, 0xa2, 0x16, 0x6f, 0xd8, 0x51, 0xc4, 0x0b, 0x7e };
    struct context * context = calloc(1, sizeof *context);
    ggml_backend_t backend = malloc(sizeof *backend);
    if (context == NULL || backend == NULL || fault(FAULT_LOST) != 0) {
        free(context);
        free(backend);
        return NULL;
    }
    reference_count(1);
    *backend = (struct ggml_backend) {
        .guid = &guid,
        .iface = {
            .get_name      = get_name,
            .free          = free_backend,
            .graph_compute = graph_compute,
            .event_record  = event_record,
            .event_wait    = event_wait,
        },
        .device  = reference_device(),
        .context = context,
    };
    return backend;
}
