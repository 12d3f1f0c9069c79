// What the module exports: its registration, with one device.
#include "faults.h"
#include "reference.h"

#include <string.h>

static const char * device_name(ggml_backend_dev_t device) {
    (void) device;
    return "Reference";
}

static const char * device_description(ggml_backend_dev_t device) {
    (void) device;
    return "Plain operators on one thread";
}

// It has no memory of a size of its own: what is given is the processor's.
static void device_memory(ggml_backend_dev_t device, size_t * free_bytes, size_t * total) {
    (void) device;
    *free_bytes = 0;
    *total      = 0;
}

// A device of another type would be taken for every model that is loaded after this module.
static enum ggml_backend_dev_type device_type(ggml_backend_dev_t device) {
    (void) device;
    return GGML_BACKEND_DEVICE_TYPE_CPU;
}

static void device_props(ggml_backend_dev_t device, struct ggml_backend_dev_props * props) {
    props->name        = device_name(device);
    props->description = device_description(device);
    props->type        = device_type(device);
    device_memory(device, &props->memory_free, &props->memory_total);
    props->caps = (struct ggml_backend_dev_caps) { .events = true };
}

static ggml_backend_t init_backend(ggml_backend_dev_t device, const char * params) {
    (void) device;
    (void) params;
    return reference_backend_new();
}

static ggml_backend_buffer_type_t get_buffer_type(ggml_backend_dev_t device) {
    (void) device;
    return reference_buffer_type();
}

static bool supports_op(ggml_backend_dev_t device, const struct ggml_tensor * node) {
    (void) device;
    return reference_supports(node);
}

static bool supports_buft(ggml_backend_dev_t device, ggml_backend_buffer_type_t type) {
    (void) device;
    return type == reference_buffer_type();
}

// Large products, even if the weights lie elsewhere.
static bool offload_op(ggml_backend_dev_t device, const struct ggml_tensor * node) {
    (void) device;
    return node->op == GGML_OP_MUL_MAT && node->ne[1] >= 32;
}

ggml_backend_dev_t reference_device(void) {
    static struct ggml_backend_device device = {
        .iface = {
            .get_name          = device_name,
            .get_description   = device_description,
            .get_memory        = device_memory,
            .get_type          = device_type,
            .get_props         = device_props,
            .init_backend      = init_backend,
            .get_buffer_type   = get_buffer_type,
            .supports_op       = supports_op,
            .supports_buft     = supports_buft,
            .offload_op        = offload_op,
            .event_new         = reference_event_new,
            .event_free        = reference_event_free,
            .event_synchronize = reference_event_synchronize,
        },
    };
    device.reg = reference_registration();
    return &device;
}

static const char * registration_name(ggml_backend_reg_t registration) {
    (void) registration;
    return "Reference";
}

static size_t device_count(ggml_backend_reg_t registration) {
    (void) registration;
    return 1;
}

static ggml_backend_dev_t get_device(ggml_backend_reg_t registration, size_t index) {
    (void) registration;
    return index == 0 ? reference_device() : NULL;
}

static struct ggml_backend_feature * get_features(ggml_backend_reg_t registration) {
    (void) registration;
    static struct ggml_backend_feature features[] = { { "FAULTS", "1" }, { NULL, NULL } };
    return features;
}

static void * get_proc_address(ggml_backend_reg_t registration, const char * name) {
    (void) registration;
    static const struct {
        const char * name;
        void * address;
    } functions[] = {
        { "ggml_backend_get_features", (void *) get_features },
        { "ggml_backend_set_abort_callback", (void *) reference_set_abort_callback },
        { "ggml_reference_set_fault", (void *) reference_set_fault },
        { "ggml_reference_clear_faults", (void *) reference_clear_faults },
        { "ggml_reference_allocated", (void *) reference_allocated },
        { "ggml_reference_live", (void *) reference_live },
    };
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (strcmp(functions[i].name, name) == 0) {
            return functions[i].address;
        }
    }
    return NULL;
}

ggml_backend_reg_t reference_registration(void) {
    static struct ggml_backend_reg registration = {
        .api_version = GGML_BACKEND_API_VERSION,
        .iface = {
            .get_name         = registration_name,
            .get_device_count = device_count,
            .get_device       = get_device,
            .get_proc_address = get_proc_address,
        },
    };
    return &registration;
}

GGML_BACKEND_API int ggml_backend_score(void);
GGML_BACKEND_API ggml_backend_reg_t ggml_backend_init(void);

int ggml_backend_score(void) {
    faults_from_environment();
    return (int) fault(FAULT_SCORE);
}

ggml_backend_reg_t ggml_backend_init(void) {
    faults_from_environment();
    ggml_backend_reg_t registration = reference_registration();
    const int64_t version = fault(FAULT_API_VERSION);
    registration->api_version = version != 0 ? (int) version : GGML_BACKEND_API_VERSION;
    return registration;
}
