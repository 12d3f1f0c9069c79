/**
 * Checks of what is given to the functions of grammars.
 *
 * @module
 */

import { InvalidArgumentError } from "../errors.ts";
import { show } from "../../base/check.ts";
import { type CharSet, LAST_POINT } from "./char_set.ts";
import type { Grammar, GrammarElement } from "./parse.ts";

const checked = new WeakSet<object>();

/** Remembers a grammar that is known to be sound. */
export function markSound(grammar: Grammar): Grammar {
  checked.add(grammar);
  return grammar;
}

/** Checks a grammar. Throws {@linkcode InvalidArgumentError}. */
export function checkGrammar(value: unknown): asserts value is Grammar {
  if (typeof value === "object" && value !== null && checked.has(value)) return;
  let sound = false;
  try {
    sound = isGrammar(value);
  } catch {
    // A Proxy that was revoked, or whose handler throws.
  }
  if (!sound) refuse("the grammar", value, "what parseGrammar returns");
  checked.add(value as Grammar);
}

function isGrammar(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { rules, names } = value as Partial<Grammar>;
  if (!Array.isArray(rules) || !(names instanceof Map)) return false;
  const isRule = (rule: unknown) => Number.isInteger(rule) && (rule as number) >= 0 && (rule as number) < rules.length;
  return [...names].every(([name, rule]) => typeof name === "string" && isRule(rule)) &&
    Array.from(rules).every((rule) =>
      Array.isArray(rule) &&
      Array.from(rule).every((sequence) =>
        Array.isArray(sequence) && Array.from(sequence).every((element) => isElement(element, isRule))
      )
    );
}

function isElement(value: unknown, isRule: (rule: unknown) => boolean): boolean {
  if (typeof value !== "object" || value === null) return false;
  const element = value as GrammarElement;
  if (element.kind === "rule") return isRule(element.rule);
  if (element.kind === "chars") return Array.isArray(element.set) && isSet(element.set);
  return element.kind === "token" && ["number", "string"].includes(typeof element.token);
}

function isSet(set: CharSet): boolean {
  return set.length % 2 === 0 && Array.from(set).every((point) => isPoint(point));
}

function isPoint(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= LAST_POINT;
}

/** Checks a text. Throws {@linkcode InvalidArgumentError}. */
export function checkString(name: string, value: unknown): asserts value is string {
  if (typeof value !== "string") refuse(name, value, "a string");
}

/** Checks a code point. Throws {@linkcode InvalidArgumentError}. */
export function checkPoint(name: string, value: unknown): asserts value is number {
  if (!isPoint(value)) refuse(name, value, "a code point from 0 to 0x10FFFF");
}

/** Checks the id of a token. Throws {@linkcode InvalidArgumentError}. */
export function checkToken(name: string, value: unknown): asserts value is number {
  if (!Number.isInteger(value)) refuse(name, value, "the id of a token, an integer");
}

function refuse(name: string, value: unknown, expected: string): never {
  throw new InvalidArgumentError(`${name} is ${show(value)}; give ${expected}`, { value, expected });
}
