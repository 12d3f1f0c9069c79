"""Renders templates with Python's jinja2 and the settings of Hugging Face's transformers: one JSON request per line of the file given
as the argument, one JSON answer per line out.

{"template": text, "variables": {...}} gives {"text": "..."}, or {"error": "the class", "message": "..."}.
With {"file": path} in place of the template it is read from a file. The date is always 2026-01-02 03:04:05.
"""

import datetime
import json
import sys

import jinja2
import jinja2.ext
from jinja2.sandbox import ImmutableSandboxedEnvironment

NOW = datetime.datetime(2026, 1, 2, 3, 4, 5)


class Generation(jinja2.ext.Extension):
    """The tag `generation`, which marks what an assistant says."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("_written"), [], [], body).set_lineno(line)

    def _written(self, caller):
        return caller()


def raise_exception(message):
    raise jinja2.exceptions.TemplateError(message)


def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def environment():
    env = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols]
    )
    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = lambda format: NOW.strftime(format)
    return env


ENV = environment()
COMPILED = {}


def answer(request):
    source = request.get("template")
    if source is None:
        with open(request["file"], encoding="utf-8", newline="") as file:
            source = file.read()
    if source not in COMPILED:
        COMPILED[source] = ENV.from_string(source)
    return {"text": COMPILED[source].render(**request.get("variables", {}))}


def main(path):
    with open(path, encoding="utf-8") as requests:
        for line in requests:
            try:
                result = answer(json.loads(line))
                result["text"].encode("utf-8")
            except RecursionError:
                result = {"error": "RecursionError", "message": "too deep"}
            except Exception as error:
                result = {"error": type(error).__name__, "message": str(error)}
            print(json.dumps(result))


main(sys.argv[1])
