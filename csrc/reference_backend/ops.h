// The operators, by the file that has them.
#pragma once

#include "reference.h"

#define OPERATOR(name)                                  \
    bool takes_##name(const struct ggml_tensor * node); \
    enum ggml_status compute_##name(struct ggml_tensor * node)

// elementwise.c
OPERATOR(binary);
OPERATOR(map);
OPERATOR(unary);
OPERATOR(glu);
OPERATOR(scale);
OPERATOR(clamp);

// copies.c
OPERATOR(copy);
OPERATOR(get_rows);
OPERATOR(set_rows);
OPERATOR(repeat);
OPERATOR(concat);
OPERATOR(set);
OPERATOR(pad);
OPERATOR(arange);
OPERATOR(fill);

// sums.c
OPERATOR(sum);
OPERATOR(sum_rows);
OPERATOR(argmax);
OPERATOR(argsort);
OPERATOR(norm);
OPERATOR(soft_max);
OPERATOR(diag_mask);

// products.c
OPERATOR(mul_mat);
OPERATOR(mul_mat_id);
OPERATOR(out_prod);

// attention.c
OPERATOR(rope);
OPERATOR(flash_attention);
