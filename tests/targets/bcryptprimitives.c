// The one function of Windows' bcryptprimitives.dll that Bun needs. Wine 8 has no such DLL.
#include <stddef.h>

unsigned char __stdcall SystemFunction036(void *buffer, unsigned long length);

__declspec(dllexport) int ProcessPrng(unsigned char *buffer, size_t length) {
    return SystemFunction036(buffer, (unsigned long) length);
}
