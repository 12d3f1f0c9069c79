//! libmtmd: images and audio for models that take them.
const std = @import("std");
const Settings = @import("library.zig").Settings;
const llama_flags = @import("llama.zig").flags;
const upstream = @import("upstream.zig");

const programs = [_][]const u8{ "mtmd-cli.cpp", "deprecation-warning.cpp" };

pub fn library(s: Settings, libs: []const *std.Build.Step.Compile) *std.Build.Step.Compile {
    const b = s.b;
    const m = s.module(s.target);
    for ([_][]const u8{ "include", "tools/mtmd", "vendor", "vendor/hash", "" }) |dir| m.addIncludePath(upstream.path(b, dir));
    const flags = llama_flags ++ .{"-DMTMD_VIDEO"};
    s.add(m, upstream.sources(b, "tools/mtmd", &programs), &flags);
    s.addTogether(m, "mtmd_models", upstream.sources(b, "tools/mtmd/models", &.{}), &flags);
    s.add(m, upstream.sources(b, "vendor/hash", &.{}), &.{});
    s.add(m, upstream.sources(b, "vendor/hash/xxhash", &.{}), &.{});
    s.add(m, upstream.sources(b, "vendor/hash/sha256", &.{}), &.{});
    for (upstream.sources(b, "vendor/hash/sha1", &.{})) |file| {
        // It has a C++ namespace in spite of its name.
        m.addCSourceFile(.{ .file = upstream.path(b, file), .flags = s.flagsFor(".cpp", &.{}), .language = .cpp });
    }
    s.link(m, libs);
    return s.shared("mtmd", m, .library);
}
