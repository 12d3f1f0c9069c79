// Reading and writing elements and rows of tensors of any type, as floats.
#pragma once

#include "reference.h"

#include <string.h>

// The address of an element; of a type with blocks only the first of a row may be asked for.
static inline char * at(const struct ggml_tensor * t, int64_t i0, int64_t i1, int64_t i2, int64_t i3) {
    return (char *) t->data + (size_t) i0 * t->nb[0] + (size_t) i1 * t->nb[1] + (size_t) i2 * t->nb[2] + (size_t) i3 * t->nb[3];
}

static inline bool is_float(enum ggml_type type) {
    return type == GGML_TYPE_F32 || type == GGML_TYPE_F16 || type == GGML_TYPE_BF16;
}

static inline bool is_index(enum ggml_type type) {
    return type == GGML_TYPE_I32 || type == GGML_TYPE_I64;
}

// Whether rows of this type can be turned into floats.
static inline bool is_readable(enum ggml_type type) {
    return type == GGML_TYPE_F32 || ggml_get_type_traits(type)->to_float != NULL;
}

// Whether rows of this type can be made from floats.
static inline bool is_writable(enum ggml_type type) {
    return type == GGML_TYPE_F32 || ggml_get_type_traits(type)->from_float_ref != NULL;
}

// Whether a row's elements lie one after another.
static inline bool has_rows(const struct ggml_tensor * t) {
    return t->nb[0] == ggml_type_size(t->type);
}

static inline float load(const struct ggml_tensor * t, int64_t i0, int64_t i1, int64_t i2, int64_t i3) {
    const char * p = at(t, i0, i1, i2, i3);
    switch (t->type) {
        case GGML_TYPE_F16: return ggml_fp16_to_fp32(*(const ggml_fp16_t *) p);
        case GGML_TYPE_BF16: return ggml_bf16_to_fp32(*(const ggml_bf16_t *) p);
        case GGML_TYPE_I32: return (float) *(const int32_t *) p;
        default: return *(const float *) p;
    }
}

static inline void store(const struct ggml_tensor * t, int64_t i0, int64_t i1, int64_t i2, int64_t i3, float value) {
    char * p = at(t, i0, i1, i2, i3);
    switch (t->type) {
        case GGML_TYPE_F16: *(ggml_fp16_t *) p = ggml_fp32_to_fp16(value); break;
        case GGML_TYPE_BF16: *(ggml_bf16_t *) p = ggml_fp32_to_bf16(value); break;
        case GGML_TYPE_I32: *(int32_t *) p = (int32_t) value; break;
        default: *(float *) p = value;
    }
}

static inline int64_t load_index(const struct ggml_tensor * t, int64_t i0, int64_t i1, int64_t i2, int64_t i3) {
    const char * p = at(t, i0, i1, i2, i3);
    return t->type == GGML_TYPE_I64 ? *(const int64_t *) p : *(const int32_t *) p;
}

// A row as floats: in place where it lies so, else in `room`.
static inline const float * row(const struct ggml_tensor * t, int64_t i1, int64_t i2, int64_t i3, float * room) {
    if (t->type == GGML_TYPE_F32 && has_rows(t)) {
        return (const float *) at(t, 0, i1, i2, i3);
    }
    if (has_rows(t) && t->type != GGML_TYPE_I32) {
        ggml_get_type_traits(t->type)->to_float(at(t, 0, i1, i2, i3), room, t->ne[0]);
        return room;
    }
    for (int64_t i0 = 0; i0 < t->ne[0]; i0++) {
        room[i0] = load(t, i0, i1, i2, i3);
    }
    return room;
}

// Writes a row of floats.
static inline void store_row(const struct ggml_tensor * t, int64_t i1, int64_t i2, int64_t i3, const float * values) {
    if (has_rows(t) && ggml_get_type_traits(t->type)->from_float_ref != NULL) {
        ggml_get_type_traits(t->type)->from_float_ref(values, at(t, 0, i1, i2, i3), t->ne[0]);
        return;
    }
    for (int64_t i0 = 0; i0 < t->ne[0]; i0++) {
        store(t, i0, i1, i2, i3, values[i0]);
    }
}

static inline float param_f32(const struct ggml_tensor * t, int index) {
    float value;
    memcpy(&value, &t->op_params[index], sizeof value);
    return value;
}

static inline int32_t param_i32(const struct ggml_tensor * t, int index) {
    return t->op_params[index];
}

#define FOR_ROWS(t)                                  \
    for (int64_t i3 = 0; i3 < (t)->ne[3]; i3++)      \
        for (int64_t i2 = 0; i2 < (t)->ne[2]; i2++)  \
            for (int64_t i1 = 0; i1 < (t)->ne[1]; i1++)

#define FOR_ELEMENTS(t) FOR_ROWS(t) for (int64_t i0 = 0; i0 < (t)->ne[0]; i0++)

// How far a head's scores are pushed down with distance; 1 without `max_bias` (ALiBi).
float bias_slope(int64_t head, int64_t heads, float max_bias);
