/** Of each DLL of Windows that we lean on: the functions, each of which Windows 10 has since its first release. A new one is looked up before it is added. */
const reviewed: Readonly<Record<string, string>> = {
  "advapi32.dll": "RegCloseKey RegOpenKeyExA RegQueryValueExA",
  "kernel32.dll": `
    AcquireSRWLockExclusive AcquireSRWLockShared AreFileApisANSI CloseHandle CreateEventA CreateFileA
    CreateFileMappingA CreateFileW CreateNamedPipeA CreatePipe CreateProcessW CreateThread
    DeleteCriticalSection DeleteProcThreadAttributeList EnterCriticalSection FindClose FindFirstFileW
    FindNextFileW FlsAlloc FlsSetValue FormatMessageA FreeLibrary GetActiveProcessorCount GetCurrentDirectoryW
    GetCurrentProcess GetCurrentProcessId GetCurrentThread GetCurrentThreadId GetFileInformationByHandle
    GetFileInformationByHandleEx GetLastError GetModuleFileNameW GetModuleHandleW GetProcAddress
    GetProcessWorkingSetSize GetSystemInfo GetSystemTimePreciseAsFileTime GlobalMemoryStatusEx
    InitOnceExecuteOnce InitializeConditionVariable InitializeCriticalSection
    InitializeProcThreadAttributeList InitializeSRWLock LeaveCriticalSection LoadLibraryW LocalFree
    MapViewOfFile MultiByteToWideChar QueryPerformanceCounter QueryPerformanceFrequency RaiseException
    ReadFile ReleaseSRWLockExclusive ReleaseSRWLockShared RtlCaptureContext RtlLookupFunctionEntry
    RtlRestoreContext RtlUnwindEx RtlVirtualUnwind SetErrorMode SetFilePointerEx SetHandleInformation
    SetLastError SetProcessWorkingSetSize SetThreadAffinityMask SetThreadInformation SetThreadPriority Sleep
    SleepConditionVariableSRW TerminateProcess TlsGetValue UnmapViewOfFile UpdateProcThreadAttribute
    VirtualLock VirtualProtect VirtualQuery WaitForSingleObject WaitForSingleObjectEx WakeAllConditionVariable
    WideCharToMultiByte WriteFile`,
  // WaitOnAddress and its like, since Windows 8.
  "api-ms-win-core-synch-l1-2-0.dll": `
    InitializeConditionVariable Sleep SleepConditionVariableSRW WaitOnAddress WakeAllConditionVariable WakeByAddressAll`,
  "ws2_32.dll": `
    WSAStartup accept bind closesocket connect gethostbyname htons inet_addr listen recv send setsockopt
    socket`,
};

/** The functions of a system's DLL that may be imported; `undefined` for a DLL that may not. */
export function windowsImports(library: string): { has(name: string): boolean } | undefined {
  const name = library.toLowerCase();
  // The universal C runtime is a part of Windows 10.
  if (name.startsWith("api-ms-win-crt-")) return { has: () => true };
  return name in reviewed ? new Set(reviewed[name]!.trim().split(/\s+/)) : undefined;
}
