#include "ops.h"

static const struct operator operators[GGML_OP_COUNT] = {
    [GGML_OP_ADD] = { takes_binary, compute_binary },
    [GGML_OP_SUB] = { takes_binary, compute_binary },
    [GGML_OP_MUL] = { takes_binary, compute_binary },
    [GGML_OP_DIV] = { takes_binary, compute_binary },
    [GGML_OP_SQR] = { takes_map, compute_map },
    [GGML_OP_SQRT] = { takes_map, compute_map },
    [GGML_OP_LOG] = { takes_map, compute_map },
    [GGML_OP_SIN] = { takes_map, compute_map },
    [GGML_OP_COS] = { takes_map, compute_map },
    [GGML_OP_LEAKY_RELU] = { takes_map, compute_map },
    [GGML_OP_UNARY] = { takes_unary, compute_unary },
    [GGML_OP_GLU] = { takes_glu, compute_glu },
    [GGML_OP_SCALE] = { takes_scale, compute_scale },
    [GGML_OP_CLAMP] = { takes_clamp, compute_clamp },
    [GGML_OP_DUP] = { takes_copy, compute_copy },
    [GGML_OP_CPY] = { takes_copy, compute_copy },
    [GGML_OP_CONT] = { takes_copy, compute_copy },
    [GGML_OP_GET_ROWS] = { takes_get_rows, compute_get_rows },
    [GGML_OP_SET_ROWS] = { takes_set_rows, compute_set_rows },
    [GGML_OP_REPEAT] = { takes_repeat, compute_repeat },
    [GGML_OP_CONCAT] = { takes_concat, compute_concat },
    [GGML_OP_SET] = { takes_set, compute_set },
    [GGML_OP_ACC] = { takes_set, compute_set },
    [GGML_OP_PAD] = { takes_pad, compute_pad },
    [GGML_OP_ARANGE] = { takes_arange, compute_arange },
    [GGML_OP_FILL] = { takes_fill, compute_fill },
    [GGML_OP_SUM] = { takes_sum, compute_sum },
    [GGML_OP_SUM_ROWS] = { takes_sum_rows, compute_sum_rows },
    [GGML_OP_MEAN] = { takes_sum_rows, compute_sum_rows },
    [GGML_OP_CUMSUM] = { takes_sum_rows, compute_sum_rows },
    [GGML_OP_ARGMAX] = { takes_argmax, compute_argmax },
    [GGML_OP_ARGSORT] = { takes_argsort, compute_argsort },
    [GGML_OP_NORM] = { takes_norm, compute_norm },
    [GGML_OP_RMS_NORM] = { takes_norm, compute_norm },
    [GGML_OP_L2_NORM] = { takes_norm, compute_norm },
    [GGML_OP_SOFT_MAX] = { takes_soft_max, compute_soft_max },
    [GGML_OP_DIAG_MASK_INF] = { takes_diag_mask, compute_diag_mask },
    [GGML_OP_DIAG_MASK_ZERO] = { takes_diag_mask, compute_diag_mask },
    [GGML_OP_MUL_MAT] = { takes_mul_mat, compute_mul_mat },
    [GGML_OP_MUL_MAT_ID] = { takes_mul_mat_id, compute_mul_mat_id },
    [GGML_OP_OUT_PROD] = { takes_out_prod, compute_out_prod },
    [GGML_OP_ROPE] = { takes_rope, compute_rope },
    [GGML_OP_ROPE_BACK] = { takes_rope, compute_rope },
    [GGML_OP_FLASH_ATTN_EXT] = { takes_flash_attention, compute_flash_attention },
};

const struct operator * reference_operator(enum ggml_op op) {
    return (unsigned) op < GGML_OP_COUNT && operators[op].takes != NULL ? &operators[op] : NULL;
}

bool reference_supports(const struct ggml_tensor * node) {
    switch (node->op) {
        case GGML_OP_NONE:
        case GGML_OP_RESHAPE:
        case GGML_OP_VIEW:
        case GGML_OP_PERMUTE:
        case GGML_OP_TRANSPOSE: return true;
        default: break;
    }
    const struct operator * operator = reference_operator(node->op);
    return operator != NULL && operator->takes(node);
}
