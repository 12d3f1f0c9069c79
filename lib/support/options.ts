export * from "../../base/options.ts";
