import assert from "node:assert/strict";
import test from "node:test";
import { templateLimits } from "../../../lib/llama/thread/template/limits.ts";
import { renderLocally } from "../../oracle/jinja_render.ts";

type Case = readonly [template: string, error: string, message: string];

/** Each refusal by the shortest template that meets it; what isn't Python's is said so in docs/chat_and_tools.md. */
const refusals: Readonly<Record<string, readonly Case[]>> = {
  "what is no tag, comment or token": [
    ["{% raw %}", "JinjaSyntaxError", "line 1: Missing end of raw directive"],
    ["{# a", "JinjaSyntaxError", "line 1: Missing end of comment tag"],
    ["{{ a² }}", "JinjaSyntaxError", "line 1: Invalid character in identifier"],
    ["{{ a ? b }}", "JinjaSyntaxError", "line 1: unexpected char '?'"],
    ["{{ ) }}", "JinjaSyntaxError", "line 1: unexpected ')'"],
    ["\n{{ (a] }}", "JinjaSyntaxError", "line 2: unexpected ']', expected ')'"],
    ["{{ '\\x1' }}", "JinjaSyntaxError", "line 1: truncated \\x escape"],
    ["{{ '\\N{DIGIT ONE}' }}", "JinjaSyntaxError", "line 1: characters by name (\\N{DIGIT ONE}) aren't supported"],
  ],
  "expressions that end too early or go wrong": [
    ["{{ }}", "JinjaSyntaxError", "line 1: Expected an expression"],
    ["{{ 1 + * }}", "JinjaSyntaxError", "line 1: unexpected '*'"],
    ["{{ a.* }}", "JinjaSyntaxError", "line 1: expected name or number"],
    ["{{ a is b is c }}", "JinjaSyntaxError", "line 1: You cannot chain multiple tests with is"],
    ["{{ f(a=1, 2) }}", "JinjaSyntaxError", "line 1: invalid syntax for function call expression"],
    ["{{ 1", "JinjaSyntaxError", "line 1: unexpected end of template, expected 'end of print statement'"],
    ["{{ 1 2 }}", "JinjaSyntaxError", "line 1: expected token 'end of print statement', got '2'"],
    [
      `{% if false %}{{ ${"(".repeat(400)}1${")".repeat(400)} }}{% endif %}`,
      "JinjaLimitError",
      `it takes more than ${templateLimits.depth} expressions within one another`,
    ],
  ],
  "statements that go wrong": [
    ["{% 1 %}", "JinjaSyntaxError", "line 1: tag name expected"],
    ["{% foo %}", "JinjaSyntaxError", "line 1: Encountered unknown tag 'foo'."],
    [
      "{% if a %}",
      "JinjaSyntaxError",
      "line 1: unexpected end of template; looking for 'elif' or 'else' or 'endif'",
    ],
    ["{% set %}", "JinjaSyntaxError", "line 1: Expected an expression"],
    ["{% set true = 1 %}", "JinjaSyntaxError", "line 1: can't assign to 'const'"],
    ["{% call f %}{% endcall %}", "JinjaSyntaxError", "line 1: expected call"],
    [
      "{% macro f(a=1, b) %}{% endmacro %}",
      "JinjaSyntaxError",
      "line 1: non-default argument follows default argument",
    ],
    ["{% set x = 1 %}{% set x.y = 2 %}", "TemplateRuntimeError", "cannot assign attribute on non-namespace object"],
    ["{% include 'x' %}", "TypeError", "a chat template stands alone: include isn't supported"],
    ["{% import 'x' as y %}", "TypeError", "a chat template stands alone: import isn't supported"],
    ["{% from 'x' import y %}", "TypeError", "a chat template stands alone: from isn't supported"],
    ["{% extends 'x' %}", "TypeError", "a chat template stands alone: extends isn't supported"],
    [
      "{% autoescape true %}{% endautoescape %}",
      "TypeError",
      "a chat template stands alone: autoescape isn't supported",
    ],
  ],
  "what is left out": [
    ["{% block x %}a{% endblock %}{{ self.x() }}", "UndefinedError", "'self' is undefined"],
    ["{% block x %}{{ super() }}{% endblock %}", "UndefinedError", "'super' is undefined"],
    ["{% do x %}", "JinjaSyntaxError", "line 1: Encountered unknown tag 'do'."],
    ["{{ (-1) ** 0.5 }}", "TypeError", "complex numbers aren't supported in chat templates"],
    ["{{ 'a'.encode() }}", "TypeError", "bytes aren't supported in chat templates"],
    ["{{ 'a'.translate({}) }}", "UndefinedError", "'str object' has no attribute 'translate'"],
    ["{{ 'a' | urlize }}", "TemplateRuntimeError", "No filter named 'urlize'."],
    ["{{ lipsum() }}", "UndefinedError", "'lipsum' is undefined"],
    ["{{ 2 ** 70000 }}", "JinjaLimitError", "it takes more than 65536 bits of an integer"],
  ],
  "filters and functions with wrong arguments": [
    ["{{ 1.5 | round(1, 'up') }}", "ValueError", "method must be common, ceil or floor"],
    ["{{ [1] | map(attribute='a', x=1) | list }}", "TypeError", "Unexpected keyword argument 'x'"],
    ["{{ [1] | map | list }}", "TypeError", "map requires a filter argument"],
    ["{{ [1] | selectattr | list }}", "TypeError", "Missing parameter for attribute name"],
    ["{{ {'a': 1} | dictsort(false, 'x') }}", "ValueError", 'You can only sort by either "key" or "value"'],
    ["{{ 5 | reverse }}", "TypeError", "argument must be iterable"],
    ["{{ [1] | slice(0) | list }}", "ZeroDivisionError", "integer division or modulo by zero"],
    [
      "{{ '%s' | format(1, a=2) }}",
      "TypeError",
      "can't handle positional and keyword arguments at the same time",
    ],
    ["{{ cycler() }}", "TypeError", "at least one item has to be provided"],
    ["{{ [].pop() }}", "IndexError", "pop index out of range"],
  ],
  "what is missing in a format": [
    ["{{ '{a}'.format() }}", "KeyError", "'a'"],
    ["{{ '{}'.format() }}", "IndexError", "Replacement index out of range for positional args tuple"],
    ["{{ '%(a)s' % {} }}", "KeyError", "'a'"],
  ],
  "numbers that are too large": [
    ["{{ 10.0 ** 400 }}", "OverflowError", "(34, 'Numerical result out of range')"],
    ["{{ 10 ** 400 + 1.5 }}", "OverflowError", "int too large to convert to float"],
    ["{{ ('inf' | float) | round(none) }}", "OverflowError", "cannot convert float inf to integer"],
    ["{{ ('inf' | float) | round(0, 'ceil') }}", "OverflowError", "cannot convert float infinity to integer"],
  ],
};

for (const [subject, cases] of Object.entries(refusals)) {
  test(`templates are refused: ${subject}`, () => {
    for (const [template, error, message] of cases) {
      assert.deepEqual(renderLocally(template, {}), { error, message }, template);
    }
  });
}
