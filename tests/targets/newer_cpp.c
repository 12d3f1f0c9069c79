// Two functions of libstdc++ 13 that Bun needs; the C++ library that Debian's musl can load is older. Both end the program.
#include <stdlib.h>

void _ZSt28__throw_bad_array_new_lengthv(void) { abort(); }

void _ZSt21__glibcxx_assert_failPKciS0_S0_(const char *file, int line, const char *function, const char *condition) {
    (void) file, (void) line, (void) function, (void) condition;
    abort();
}
