export * from "../base/errors.ts";
