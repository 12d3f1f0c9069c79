// The backend's own memory. It lies in the processor's memory, but says it doesn't, so that nothing but this backend touches it.
#include "faults.h"
#include "reference.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64 };

struct memory {
    void * block; // what malloc gave
    void * base;  // aligned
};

static _Atomic size_t allocated = 0;
static _Atomic int64_t live = 0;

size_t reference_allocated(void) {
    return allocated;
}

int64_t reference_live(void) {
    return live;
}

void reference_count(int change) {
    live += change;
}

static void free_buffer(ggml_backend_buffer_t buffer) {
    struct memory * memory = buffer->context;
    allocated -= buffer->size;
    reference_count(-1);
    free(memory->block);
    free(memory);
}

static void * get_base(ggml_backend_buffer_t buffer) {
    return ((struct memory *) buffer->context)->base;
}

static void memset_tensor(ggml_backend_buffer_t buffer, struct ggml_tensor * tensor, uint8_t value, size_t offset, size_t size) {
    (void) buffer;
    memset((char *) tensor->data + offset, value, size);
}

static void set_tensor(ggml_backend_buffer_t buffer, struct ggml_tensor * tensor, const void * data, size_t offset, size_t size) {
    (void) buffer;
    memcpy((char *) tensor->data + offset, data, size);
}

static void get_tensor(ggml_backend_buffer_t buffer, const struct ggml_tensor * tensor, void * data, size_t offset, size_t size) {
    (void) buffer;
    memcpy(data, (const char *) tensor->data + offset, size);
}

static void set_tensor_2d(ggml_backend_buffer_t buffer, struct ggml_tensor * tensor, const void * data, size_t offset, size_t size,
                          size_t count, size_t tensor_stride, size_t data_stride) {
    for (size_t i = 0; i < count; i++) {
        set_tensor(buffer, tensor, (const char *) data + i * data_stride, offset + i * tensor_stride, size);
    }
}

static void get_tensor_2d(ggml_backend_buffer_t buffer, const struct ggml_tensor * tensor, void * data, size_t offset, size_t size,
                          size_t count, size_t tensor_stride, size_t data_stride) {
    for (size_t i = 0; i < count; i++) {
        get_tensor(buffer, tensor, (char *) data + i * data_stride, offset + i * tensor_stride, size);
    }
}

static bool cpy_tensor(ggml_backend_buffer_t buffer, const struct ggml_tensor * src, struct ggml_tensor * dst) {
    (void) buffer;
    if (ggml_backend_buffer_get_type(src->view_src != NULL ? src->view_src->buffer : src->buffer) != reference_buffer_type()) {
        return false;
    }
    memcpy(dst->data, src->data, ggml_nbytes(src));
    return true;
}

static void clear(ggml_backend_buffer_t buffer, uint8_t value) {
    memset(get_base(buffer), value, buffer->size);
}

static const struct ggml_backend_buffer_i buffer_interface = {
    .free_buffer   = free_buffer,
    .get_base      = get_base,
    .memset_tensor = memset_tensor,
    .set_tensor    = set_tensor,
    .get_tensor    = get_tensor,
    .set_tensor_2d = set_tensor_2d,
    .get_tensor_2d = get_tensor_2d,
    .cpy_tensor    = cpy_tensor,
    .clear         = clear,
};

static const char * type_name(ggml_backend_buffer_type_t type) {
    (void) type;
    return "Reference";
}

static ggml_backend_buffer_t alloc_buffer(ggml_backend_buffer_type_t type, size_t size) {
    if (fault(FAULT_LOST) != 0 || fault_due(FAULT_ALLOC_AFTER) || size > SIZE_MAX - ALIGNMENT) {
        return NULL;
    }
    struct memory * memory = malloc(sizeof *memory);
    if (memory == NULL) {
        return NULL;
    }
    memory->block = malloc(size + ALIGNMENT);
    if (memory->block == NULL) {
        free(memory);
        return NULL;
    }
    memory->base = (void *) (((uintptr_t) memory->block + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    allocated += size;
    reference_count(1);
    return ggml_backend_buffer_init(type, buffer_interface, memory, size);
}

static size_t get_alignment(ggml_backend_buffer_type_t type) {
    (void) type;
    return ALIGNMENT;
}

ggml_backend_buffer_type_t reference_buffer_type(void) {
    static struct ggml_backend_buffer_type type = {
        .iface = { .get_name = type_name, .alloc_buffer = alloc_buffer, .get_alignment = get_alignment },
    };
    type.device = reference_device();
    return &type;
}
