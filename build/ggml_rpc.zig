//! libggml-rpc: a backend on another machine.
const std = @import("std");
const Settings = @import("library.zig").Settings;
const backend_flags = @import("ggml.zig").backend_flags;
const upstream = @import("upstream.zig");

pub fn backend(s: Settings, base: *std.Build.Step.Compile) *std.Build.Step.Compile {
    const m = s.module(s.target);
    // RDMA needs a library of the machine's own.
    s.add(m, upstream.sources(s.b, "ggml/src/ggml-rpc", &.{"transport-apple.cpp"}), &backend_flags);
    s.link(m, &.{base});
    if (s.target.result.os.tag == .windows) m.linkSystemLibrary("ws2_32", .{});
    return s.shared("ggml-rpc", m, .backend);
}
