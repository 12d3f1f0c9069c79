import { absent } from "./absent.ts";
import { type Annotation, annotations, isGraphOperation } from "./annotations.ts";
import type { Api, FunctionDecl } from "./model.ts";
import {
  flagEnums,
  nonNullResults,
  nullableParams,
  nullableResults,
  type ParamRule,
  retainedParams,
} from "./nullability.ts";
import { Types } from "./types.ts";

/** The annotation of a function; `undefined` when no line matches it. */
export function annotationOf(fn: FunctionDecl): Annotation | undefined {
  return annotations.find((line) => matchesAnnotation(line, fn));
}

function matchesAnnotation(line: Annotation, fn: FunctionDecl): boolean {
  return typeof line.match === "function" ? line.match(fn) : line.match.test(fn.name);
}

/** Whether a parameter may be NULL. */
export function isNullableParam(fn: string, param: string): boolean {
  return matches(nullableParams, fn, param);
}

/** Whether C keeps what a parameter points to. */
export function isRetainedParam(fn: string, param: string): boolean {
  return matches(retainedParams, fn, param);
}

/** Whether a pointer result is never NULL. */
export function isNonNullResult(fn: FunctionDecl): boolean {
  return !isListed(nullableResults, fn) && (isGraphOperation(fn) || isListed(nonNullResults, fn));
}

function isListed(rules: readonly RegExp[], fn: FunctionDecl): boolean {
  return rules.some((rule) => rule.test(fn.name));
}

function matches(rules: readonly ParamRule[], fn: string, param: string): boolean {
  return rules.some(([forFunction, forParam]) => forFunction.test(fn) && forParam.test(param));
}

/** The problems of the annotations: functions without one, and lines that match nothing. Empty if there are none. */
export function checkAnnotations(api: Api): string[] {
  const functions = api.functions.filter((fn) => !fn.variadic && absent[fn.name] === undefined);
  return [...missing(api, functions), ...stale(api, functions)];
}

function missing(api: Api, functions: readonly FunctionDecl[]): string[] {
  const types = new Types(api);
  const problems: string[] = [];
  for (const fn of functions) {
    if (annotationOf(fn) === undefined) problems.push(`${fn.name} (${fn.header}) has no line in annotations.ts`);
    const result = types.resolve(fn.result).kind;
    if (result !== "pointer" && result !== "callback") continue;
    const [nullable, nonNull] = [isListed(nullableResults, fn), isListed(nonNullResults, fn)];
    if (nullable && nonNull) problems.push(`${fn.name}: its result is both nullable and not in nullability.ts`);
    if (!nullable && !nonNull && !isGraphOperation(fn)) {
      problems.push(`${fn.name}: nullability.ts doesn't say whether its result may be NULL`);
    }
  }
  return problems;
}

function stale(api: Api, functions: readonly FunctionDecl[]): string[] {
  const problems: string[] = [];
  const used = new Set(functions.map((fn) => annotationOf(fn)));
  for (const line of annotations) {
    if (!used.has(line)) {
      problems.push(`annotations.ts: ${line.match} is for no function, or lines before it take them all`);
    }
  }
  for (const rule of [...nullableResults, ...nonNullResults]) {
    if (!functions.some((fn) => rule.test(fn.name))) problems.push(`nullability.ts: ${rule} is for no function`);
  }
  for (const [forFunction, forParam] of [...nullableParams, ...retainedParams]) {
    const isUsed = functions.some((fn) =>
      forFunction.test(fn.name) && fn.params.some((param) => forParam.test(param.name))
    );
    if (!isUsed) problems.push(`nullability.ts: ${forFunction} ${forParam} is for no parameter`);
  }
  for (const name of flagEnums) {
    if (!api.enums.some((one) => one.name === name)) problems.push(`nullability.ts: there is no enum ${name}`);
  }
  for (const name of Object.keys(absent)) {
    if (!api.functions.some((fn) => fn.name === name)) problems.push(`annotations.ts: there is no function ${name}`);
  }
  return problems;
}
