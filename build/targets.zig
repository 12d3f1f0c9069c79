//! The targets that can be built: one table, from any machine. Each name is also the name of the folder with its libraries.
const std = @import("std");
const Query = std.Target.Query;

pub const Name = enum {
    @"x86_64-linux-gnu",
    @"x86_64-linux-musl",
    @"x86_64-macos",
    @"x86_64-windows",
    @"aarch64-linux-gnu",
    @"aarch64-linux-musl",
    @"aarch64-macos",
    @"aarch64-windows",

    /// The target of the machine that builds, null when the table has none.
    pub fn host(h: std.Target) ?Name {
        return for (std.enums.values(Name)) |name| {
            const q = name.query();
            if (q.cpu_arch == h.cpu.arch and q.os_tag == h.os.tag and (h.os.tag != .linux or q.abi == h.abi)) break name;
        } else null;
    }

    /// Always with the oldest CPU of its kind, so that nothing of the building machine leaks into what is built.
    pub fn query(name: Name) Query {
        return switch (name) {
            .@"x86_64-linux-gnu" => linux(.x86_64, .gnu),
            .@"x86_64-linux-musl" => linux(.x86_64, .musl),
            .@"x86_64-macos" => macos(.x86_64),
            .@"x86_64-windows" => windows(.x86_64),
            .@"aarch64-linux-gnu" => linux(.aarch64, .gnu),
            .@"aarch64-linux-musl" => linux(.aarch64, .musl),
            .@"aarch64-macos" => macos(.aarch64),
            .@"aarch64-windows" => windows(.aarch64),
        };
    }
};

fn linux(arch: std.Target.Cpu.Arch, abi: std.Target.Abi) Query {
    return .{
        .cpu_arch = arch,
        .cpu_model = .baseline,
        .os_tag = .linux,
        .abi = abi,
        .glibc_version = if (abi == .gnu) .{ .major = 2, .minor = 17, .patch = 0 } else null,
    };
}

fn macos(arch: std.Target.Cpu.Arch) Query {
    return .{
        .cpu_arch = arch,
        .cpu_model = .baseline,
        .os_tag = .macos,
        .os_version_min = .{ .semver = .{ .major = 11, .minor = 0, .patch = 0 } },
    };
}

fn windows(arch: std.Target.Cpu.Arch) Query {
    return .{ .cpu_arch = arch, .cpu_model = .baseline, .os_tag = .windows, .abi = .gnu };
}
