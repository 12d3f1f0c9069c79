//! libllama: models, contexts, vocabularies, samplers.
const std = @import("std");
const Settings = @import("library.zig").Settings;
const upstream = @import("upstream.zig");

pub const flags = [_][]const u8{ "-DLLAMA_BUILD", "-DLLAMA_SHARED", "-DGGML_BACKEND_SHARED", "-DGGML_BACKEND_DL" };

pub fn library(s: Settings, libs: []const *std.Build.Step.Compile) *std.Build.Step.Compile {
    const m = s.module(s.target);
    for ([_][]const u8{ "include", "src", "" }) |dir| m.addIncludePath(upstream.path(s.b, dir));
    m.addIncludePath(s.generated.getDirectory());
    s.add(m, upstream.sources(s.b, "src", &.{}), &flags);
    s.addTogether(m, "llama_models", upstream.sources(s.b, "src/models", &.{}), &flags);
    s.link(m, libs);
    return s.shared("llama", m, .library);
}
