//! What all of the libraries have in common: flags, linking, names of files.
const std = @import("std");
const Build = std.Build;
const Compile = Build.Step.Compile;
const Module = Build.Module;
const exports = @import("exports.zig");
const upstream = @import("upstream.zig");

pub const Settings = struct {
    b: *Build,
    target: Build.ResolvedTarget,
    optimize: std.builtin.Optimize,
    strip: bool,
    /// ggml-version.h and llama-version.h, which upstream's CMake would write.
    generated: *Build.Step.WriteFile,

    pub fn module(s: Settings, target: Build.ResolvedTarget) *Module {
        const m = s.b.createModule(.{
            .target = target,
            .optimize = s.optimize,
            .link_libc = true,
            .link_libcpp = true,
            .pic = true,
            .strip = s.strip,
            .sanitize_c = .off,
            .unwind_tables = .async,
            .stack_protector = false,
        });
        for ([_][]const u8{ "ggml/include", "ggml/src" }) |dir| m.addIncludePath(upstream.path(s.b, dir));
        return m;
    }

    /// Adds files of the pinned sources.
    pub fn add(s: Settings, m: *Module, files: []const []const u8, flags: []const []const u8) void {
        for (files) |file| m.addCSourceFile(.{ .file = upstream.path(s.b, file), .flags = s.flagsFor(file, flags) });
    }

    /// Adds C++ files as a few large ones: most of the time goes into headers that all of them include.
    /// Only for files that share no name of file scope.
    pub fn addTogether(s: Settings, m: *Module, name: []const u8, files: []const []const u8, flags: []const []const u8) void {
        const batch = 24;
        var start: usize = 0;
        while (start < files.len) : (start += batch) {
            var text: []const u8 = "";
            for (files[start..@min(start + batch, files.len)]) |file| text = s.b.fmt("{s}#include \"{s}\"\n", .{ text, file });
            const file = s.generated.add(s.b.fmt("{s}_{d}.cpp", .{ name, start / batch }), text);
            m.addCSourceFile(.{ .file = file, .flags = s.flagsFor(".cpp", flags) });
        }
    }

    pub fn flagsFor(s: Settings, file: []const u8, extra: []const []const u8) []const []const u8 {
        const target = s.target.result;
        var list: std.ArrayList([]const u8) = .empty;
        const a = s.b.allocator;
        list.append(a, if (std.mem.endsWith(u8, file, ".c")) "-std=c11" else "-std=c++17") catch @panic("OOM");
        list.append(a, optimization(s.optimize)) catch @panic("OOM");
        list.appendSlice(a, &.{
            "-fvisibility=hidden", "-fvisibility-inlines-hidden", "-fno-math-errno", "-ffp-contract=fast", "-w",
            "-D_XOPEN_SOURCE=600", "-DGGML_SCHED_MAX_COPIES=4",   "-DGGML_SHARED",
        }) catch @panic("OOM");
        list.appendSlice(a, switch (target.os.tag) {
            .linux => &.{"-D_GNU_SOURCE"},
            .windows => &.{ "-D_CRT_SECURE_NO_WARNINGS", "-D_WIN32_WINNT=0x0A00" },
            else => &.{"-D_DARWIN_C_SOURCE"},
        }) catch @panic("OOM");
        list.appendSlice(a, extra) catch @panic("OOM");
        return list.items;
    }

    /// A shared library, installed at the top of the prefix under the name by which upstream's loader looks for it.
    pub fn shared(s: Settings, name: []const u8, m: *Module, kind: enum { library, backend }) *Compile {
        const target = s.target.result;
        if (target.os.tag == .windows) m.addCSourceFile(.{ .file = exports.source(s.b, name) });
        m.addRPathSpecial(if (target.os.tag.isDarwin()) "@loader_path" else "$ORIGIN");
        const lib = s.b.addLibrary(.{
            .name = name,
            .linkage = .dynamic,
            .root_module = m,
        });
        lib.each_lib_rpath = false; // else the cache's own folders become rpaths
        lib.linker_allow_shlib_undefined = false;
        lib.link_gc_sections = true;
        lib.link_function_sections = true;
        lib.link_data_sections = true;
        if (target.ofmt == .elf) lib.link_eh_frame_hdr = true;
        if (target.os.tag.isDarwin()) {
            lib.install_name = s.b.fmt("@rpath/{s}", .{lib.out_filename});
            lib.headerpad_max_install_names = true;
        }
        const file = if (target.os.tag == .windows)
            s.b.fmt("{s}.dll", .{name})
        else if (kind == .backend)
            s.b.fmt("lib{s}.so", .{name})
        else
            lib.out_filename;
        s.b.getInstallStep().dependOn(&s.b.addInstallArtifact(lib, .{
            .dest_dir = .{ .override = .prefix },
            .dest_sub_path = file,
            .pdb_dir = .disabled,
            .implib_dir = .disabled,
            .h_dir = .disabled,
            .dylib_symlinks = false,
        }).step);
        return lib;
    }

    /// Links against one of our own libraries. Not by `Module.linkLibrary`, which adds an rpath into the cache.
    pub fn link(s: Settings, m: *Module, libs: []const *Compile) void {
        for (libs) |lib| m.addObjectFile(if (s.target.result.os.tag == .windows) lib.getEmittedImplib() else lib.getEmittedBin());
    }
};

fn optimization(mode: std.builtin.Optimize) []const u8 {
    return switch (mode) {
        .fast => "-O3",
        .safe => "-O2",
        .small => "-Os",
        .debug => "-O0",
    };
}
