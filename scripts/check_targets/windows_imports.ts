/** Of each DLL of Windows that we lean on: the functions, each of which Windows 10 has since its first release. A new one is looked up before it is added. */
const reviewed: Readonly<Record<string, string>> = {
  "advapi32.dll": "RegCloseKey RegOpenKeyExA RegQueryValueExA",
  "kernel32.dll": `
    AcquireSRWLockExclusive AreFileApisANSI CloseHandle CreateDirectoryW CreateFileA CreateFileMappingA CreateFileW
    CreatePipe CreateProcessA CreateProcessW CreateThread DeleteCriticalSection DeleteFileW EnterCriticalSection FindClose FindFirstFileW
    FindNextFileW FormatMessageA FreeLibrary GetCurrentDirectoryW GetCurrentProcess GetCurrentProcessId GetCurrentThread GetCurrentThreadId
    GetExitCodeProcess GetFileAttributesW GetFileInformationByHandle GetFileInformationByHandleEx GetLastError GetLogicalProcessorInformationEx
    GetModuleFileNameW GetModuleHandleA GetModuleHandleW GetProcAddress GetProcessWorkingSetSize GetSystemInfo GetSystemTimeAsFileTime
    GlobalMemoryStatusEx InitOnceExecuteOnce InitializeConditionVariable InitializeCriticalSection InitializeSRWLock
    IsProcessorFeaturePresent LeaveCriticalSection LoadLibraryW LocalFree MapViewOfFile MultiByteToWideChar PeekNamedPipe
    QueryPerformanceCounter QueryPerformanceFrequency RaiseException ReadFile ReleaseSRWLockExclusive ResumeThread RtlCaptureContext
    RtlLookupFunctionEntry RtlRestoreContext RtlUnwindEx RtlVirtualUnwind SetErrorMode SetHandleInformation SetPriorityClass
    SetProcessWorkingSetSize SetThreadAffinityMask SetThreadInformation SetThreadPriority Sleep SleepConditionVariableSRW SwitchToThread
    TerminateProcess TlsAlloc TlsFree TlsGetValue TlsSetValue TryAcquireSRWLockExclusive UnmapViewOfFile VirtualAlloc VirtualFree VirtualLock
    VirtualProtect VirtualQuery VirtualUnlock WaitForSingleObject WaitForSingleObjectEx WakeAllConditionVariable WakeConditionVariable
    WideCharToMultiByte WriteFile`,
  "ws2_32.dll": `
    WSACleanup WSAGetLastError WSAStartup __WSAFDIsSet accept bind closesocket connect freeaddrinfo getaddrinfo gethostbyname htonl htons
    inet_addr ioctlsocket listen ntohs recv select send setsockopt shutdown socket`,
};

/** The functions of a system's DLL that may be imported; `undefined` for a DLL that may not. */
export function windowsImports(library: string): { has(name: string): boolean } | undefined {
  const name = library.toLowerCase();
  // The universal C runtime is a part of Windows 10.
  if (name.startsWith("api-ms-win-crt-")) return { has: () => true };
  return name in reviewed ? new Set(reviewed[name]!.trim().split(/\s+/)) : undefined;
}
