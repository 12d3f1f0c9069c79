//! libggml-base (tensors, graphs, allocators, gguf) and libggml (the registry that loads backends).
const std = @import("std");
const Settings = @import("library.zig").Settings;
const upstream = @import("upstream.zig");

const registry = [_][]const u8{ "ggml-backend-dl.cpp", "ggml-backend-reg.cpp" };
pub const backend_flags = [_][]const u8{ "-DGGML_BACKEND_DL", "-DGGML_BACKEND_SHARED", "-DGGML_BACKEND_BUILD" };

pub fn base(s: Settings) *std.Build.Step.Compile {
    const m = s.module(s.target);
    m.addIncludePath(s.generated.getDirectory());
    s.add(m, upstream.sources(s.b, "ggml/src", &registry), &.{ "-DGGML_BUILD", "-DGGML_BACKEND_DL" });
    return s.shared("ggml-base", m, .library);
}

pub fn loader(s: Settings, libs: []const *std.Build.Step.Compile) *std.Build.Step.Compile {
    const m = s.module(s.target);
    for (registry) |file| s.add(m, &.{s.b.fmt("ggml/src/{s}", .{file})}, &(backend_flags ++ .{"-DGGML_BUILD"}));
    s.link(m, libs);
    return s.shared("ggml", m, .library);
}
