import { readFileSync } from "node:fs";
import { join } from "node:path";
import { packageVersion } from "../../base/version.ts";
import { SetupError } from "../support/errors.ts";
import { ROOT } from "../support/root.ts";
import { readJson } from "./tools.ts";

/** Throws SetupError unless the three places that have the package's version agree and, for a release, CHANGELOG.md has a section of it. */
export function checkVersions(isRelease: boolean): void {
  const configs = ["deno.json", "package.json"].map((name) => readJson(join(ROOT, name))["version"]);
  if (!configs.every((one) => one === packageVersion)) {
    throw new SetupError(
      `the versions differ: deno.json and package.json have ${
        configs.join(" and ")
      }, base/version.ts has ${packageVersion}`,
    );
  }
  if (isRelease && !hasSection(readFileSync(join(ROOT, "CHANGELOG.md"), "utf8"), packageVersion)) {
    throw new SetupError(`CHANGELOG.md has no section "## ${packageVersion}"; rename "## Unreleased"`);
  }
}

/** Whether a changelog has a section of a version. */
export function hasSection(changelog: string, version: string): boolean {
  return changelog.split("\n").some((line) => line === `## ${version}` || line.startsWith(`## ${version} `));
}
