"""Tool calls written as text: run only where they stand as calls, and never a result."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from hansei.policies.argument_schema import ToolSchema, fitting_arguments
from hansei.policies.tool_text import TextCall, looks_like_tool_call, read_tool_calls

KNOWN: dict[str, ToolSchema] = {
    "lookup": {
        "type": "object",
        "properties": {"q": {"type": "string"}, "page": {"type": "integer", "default": 1}},
        "required": ["q"],
    },
    "write_file": {
        "type": "object",
        "properties": {"path": {"type": "string"}, "text": {"type": "string"}},
        "required": ["path", "text"],
    },
    "now": {"type": "object", "properties": {}},
    "filter": {
        "type": "object",
        "properties": {
            "limit": {"type": "number"},
            "open": {"type": "boolean"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "kind": {"enum": ["a", "b"]},
            "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "range": {"$ref": "#/$defs/Range"},
        },
        "$defs": {
            "Range": {
                "type": "object",
                "properties": {"from": {"type": "integer"}},
                "required": ["from"],
            }
        },
    },
    "free": {"type": "object", "properties": {}, "additionalProperties": True},
}

TIDES = TextCall("lookup", {"q": "tides"})
MOON = TextCall("lookup", {"q": "moon"})
CALL = '{"name":"lookup","arguments":{"q":"tides"}}'
SECOND = '{"name":"lookup","arguments":{"q":"moon"}}'

CALLS: list[tuple[str, list[TextCall]]] = [
    # Case B08 (a), (b), (c).
    (f"<tool_call>\n{CALL}\n</tool_call>", [TIDES]),
    (
        '{"name":"lookup","parameters":{"q":"tides"}}; {"name":"lookup","parameters":{"q":"moon"}}',
        [TIDES, MOON],
    ),
    ("<function=lookup><parameter=q>tides</parameter></function>", [TIDES]),
    # The same in other wrappings.
    (CALL, [TIDES]),
    (f"  {CALL}\n", [TIDES]),
    (f"{CALL},\n{SECOND}", [TIDES, MOON]),
    (f"{CALL}\n{SECOND}", [TIDES, MOON]),
    (f"[{CALL}, {SECOND}]", [TIDES, MOON]),
    (f"```json\n{CALL}\n```", [TIDES]),
    (f"```\n{CALL}\n```", [TIDES]),
    (f"```JSON\n{CALL}\n```", [TIDES]),
    (f"```tool_call\n{CALL}\n```", [TIDES]),
    (f"```json{CALL}```", [TIDES]),
    (f"```json\n{CALL}", [TIDES]),
    (f"```json\n{CALL}\n{SECOND}\n```", [TIDES, MOON]),
    (f"```json\n{CALL}\n```\n```json\n{SECOND}\n```", [TIDES, MOON]),
    (f"I will look it up.\n```json\n{CALL}\n```", [TIDES]),
    (f"```json\n{CALL}\n```\n```\n```\n```\n\n```", [TIDES]),
    (f"```json\n{CALL}\n```\n```\n\n```json\n{SECOND}\n```", [TIDES, MOON]),
    (f"```python\nx = 1\n```\n```json\n{CALL}\n```", [TIDES]),
    (f"<tool_call>{CALL}</tool_call>\n<tool_call>{SECOND}</tool_call>", [TIDES, MOON]),
    (f"<tool_call>\n{CALL}\n<tool_call>\n{SECOND}", [TIDES, MOON]),
    (f"Let me see.\n<tool_call>\n{CALL}\n</tool_call>", [TIDES]),
    (f"<think>maybe {SECOND}</think>\n{CALL}", [TIDES]),
    (f"<think>\n<tool_call>\n{SECOND}\n</tool_call></think>\n{CALL}", [TIDES]),
    # The same in other shapes.
    ('{"name":"lookup","arguments":"{\\"q\\":\\"tides\\"}"}', [TIDES]),
    ('{"function":{"name":"lookup","arguments":{"q":"tides"}}}', [TIDES]),
    (
        '{"id":"c1","type":"function","function":{"name":"lookup","arguments":"{\\"q\\":\\"tides\\"}"}}',
        [TIDES],
    ),
    ('{"tool_calls":[{"function":{"name":"lookup","arguments":{"q":"tides"}}}]}', [TIDES]),
    ('{"tool":"lookup","args":{"q":"tides"}}', [TIDES]),
    ('{"action":"lookup","action_input":{"q":"tides"}}', [TIDES]),
    ('{"name":"now","arguments":{}}', [TextCall("now", {})]),
    # Said twice is meant once.
    (f"```json\n{CALL}\n```\n```json\n{CALL}\n```", [TIDES]),
    # Tags with arguments one by one.
    (
        "<tool_call>\n<function=lookup>\n<parameter=q>\ntides\n</parameter>\n"
        "<parameter=page>\n2\n</parameter>\n</function>\n</tool_call>",
        [TextCall("lookup", {"q": "tides", "page": 2})],
    ),
    (
        "<function=filter><parameter=limit>2.5</parameter><parameter=open>true</parameter>"
        '<parameter=tags>["x"]</parameter></function>',
        [TextCall("filter", {"limit": 2.5, "open": True, "tags": ["x"]})],
    ),
    (
        "<function=write_file><parameter=path>a.json</parameter>"
        '<parameter=text>{"a": 1}</parameter></function>',
        [TextCall("write_file", {"path": "a.json", "text": '{"a": 1}'})],
    ),
    ("<function=now></function>", [TextCall("now", {})]),
    # Arguments that hold what would confuse a counter of braces or fences.
    (
        '```json\n{"name":"write_file","arguments":'
        '{"path":"a.md","text":"```json\\n{}\\n``` }"}}\n```',
        [TextCall("write_file", {"path": "a.md", "text": "```json\n{}\n``` }"})],
    ),
    (
        '{"name":"write_file","arguments":{"path":"a","text":"line 1\nline 2"}}',
        [TextCall("write_file", {"path": "a", "text": "line 1\nline 2"})],
    ),
    # A number where text is wanted.
    ('{"name":"lookup","arguments":{"q":99999}}', [TextCall("lookup", {"q": "99999"})]),
]


@pytest.mark.parametrize(("text", "calls"), CALLS)
def test_a_call_that_stands_as_one_is_read(text: str, calls: list[TextCall]) -> None:
    assert read_tool_calls(text, KNOWN) == calls
    assert looks_like_tool_call(text, KNOWN)


MARKUP_ONLY: list[str] = [
    # An unknown tool, unknown or missing arguments, a wrong type.
    '{"name":"weather","arguments":{"q":"tides"}}',
    "<function=weather><parameter=q>tides</parameter></function>",
    '{"name":"lookup","arguments":{"query":"tides"}}',
    '{"name":"lookup","arguments":{"q":"tides","depth":3}}',
    '{"name":"lookup","arguments":{}}',
    '{"name":"lookup","arguments":null}',
    '{"name":"lookup","arguments":["tides"]}',
    '{"name":"lookup","arguments":"tides"}',
    '{"name":"lookup","arguments":{"q":null}}',
    '{"name":"lookup","arguments":{"q":["tides"]}}',
    '{"name":"lookup","arguments":{"q":true}}',
    '{"name":"lookup","arguments":{"q":"tides","page":"two"}}',
    '{"name":"lookup","arguments":{"q":"tides","page":"2"}}',
    '{"name":"lookup","arguments":{"q":"tides","page":true}}',
    '{"name":"lookup","parameters":{"query":"tides"}}',
    '{"name":"now","arguments":{"zone":"UTC"}}',
    '{"name":"LOOKUP","arguments":{"q":"tides"}}',
    "<function=lookup><parameter=q>a</parameter><parameter=q>b</parameter></function>",
    "<function=lookup>tides</function>",
    "<function=lookup><parameter=page>2</parameter></function>",
    # One of several is wrong.
    f'{CALL}; {{"name":"lookup","arguments":{{"query":"moon"}}}}',
    f'<tool_call>{CALL}</tool_call>\n<tool_call>{{"name":"gone","arguments":{{}}}}</tool_call>',
    # Cut or broken.
    '{"name":"write_file","arguments":{"path":"a.txt","text":"hel',
    '```json\n{"name":"lookup","arguments":{"q":"tides"}\n```',
    "```json\n{'name': 'lookup', 'arguments': {'q': 'tides'}}\n```",
    "<tool_call>\n{'name':'lookup'",
    "<function=lookup><parameter=q>tides",
    '{"name":"lookup","arguments":{"q":"tides","q":"moon"}}',
    f"```yaml\n{CALL}\n```",
    f"{CALL} I will look this up.",
    f"I will look this up.\n{CALL}",
    f"I will look this up.\n{CALL}\nOne moment.",
    f"<tool_call>{CALL} and then some</tool_call>",
]


@pytest.mark.parametrize("text", MARKUP_ONLY)
def test_a_call_that_does_not_fit_is_not_run_and_not_a_result(text: str) -> None:
    assert read_tool_calls(text, KNOWN) == []
    assert looks_like_tool_call(text, KNOWN)


NO_CALLS: list[str] = [
    "",
    "The tides are high at 6.",
    # Case B08 (d).
    'user asked "show me an example call": The call looks like '
    '{"name":"lookup","arguments":{"q":"x"}}.',
    "Write `<function=lookup>` to call it.",
    "The markup is <tool_call> and then JSON.",
    '{"total": 731}',
    '{"name":"Ada","parameters":{"age":36}}',
    '{"name":"lookup"}',
    '{"results":[{"name":"lookup","score":1}]}',
    '```json\n{"total": 731}\n```',
    "```python\nlookup(q='tides')\n```",
    "[1, 2, 3]",
    "null",
    "\x00\ud800",
    f"<think>{CALL}</think>The tides are high at 6.",
]


@pytest.mark.parametrize("text", NO_CALLS)
def test_talk_and_data_are_no_calls(text: str) -> None:
    assert read_tool_calls(text, KNOWN) == []
    assert not looks_like_tool_call(text, KNOWN)


@pytest.mark.parametrize(
    ("args", "fits"),
    [
        ({}, True),
        ({"limit": 3}, True),
        ({"limit": 3.5}, True),
        ({"limit": "3"}, False),
        ({"open": "yes"}, False),
        ({"tags": ["x", "y"]}, True),
        ({"tags": "x"}, False),
        ({"tags": [["x"]]}, False),
        ({"kind": "a"}, True),
        ({"kind": "c"}, False),
        ({"note": None}, True),
        ({"note": "x"}, True),
        ({"note": []}, False),
        ({"range": {"from": 1}}, True),
        ({"range": {}}, False),
        ({"range": {"from": 1, "to": 2}}, False),
    ],
)
def test_arguments_are_compared_with_the_schema(args: dict[str, JsonValue], fits: bool) -> None:
    assert fitting_arguments(args, KNOWN["filter"]) == (args if fits else None)


def test_what_a_schema_leaves_open_is_open() -> None:
    args: dict[str, JsonValue] = {"any": {"thing": [1, None]}}
    assert fitting_arguments(args, KNOWN["free"]) == args
    assert fitting_arguments(args, {"properties": {"any": {}}}) == args
    assert fitting_arguments(args, {"properties": {"any": {"type": "object"}}}) == args
    assert fitting_arguments(
        {"a": 1}, {"type": "object", "properties": {"a": {"type": ["string", "integer"]}}}
    ) == {"a": 1}


def test_a_schema_that_refers_to_itself_ends() -> None:
    tree: ToolSchema = {
        "type": "object",
        "properties": {"child": {"$ref": "#"}},
    }
    assert fitting_arguments({"child": {"child": {}}}, tree) == {"child": {"child": {}}}
    assert fitting_arguments({"child": {"name": 1}}, tree) is None


@given(text=st.text(st.characters(exclude_categories=()), max_size=200))
@settings(deadline=None, max_examples=200)
def test_any_text_can_be_read(text: str) -> None:
    assert read_tool_calls(text, KNOWN) == []


scalars = st.none() | st.booleans() | st.integers() | st.text(max_size=5)


@given(
    name=st.sampled_from([*KNOWN, "gone"]),
    args=st.dictionaries(st.sampled_from(["q", "page", "path", "x"]), scalars, max_size=3),
    lead=st.sampled_from(["", "Well, ", "```json\n", "<tool_call>"]),
)
@settings(deadline=None, max_examples=300)
def test_what_is_read_is_known_and_fits(name: str, args: dict[str, JsonValue], lead: str) -> None:
    text = lead + json.dumps({"name": name, "arguments": args})
    for call in read_tool_calls(text, KNOWN):
        assert call.name == name != "gone"
        assert lead != "Well, "
        assert fitting_arguments(args, KNOWN[name]) == call.args


@pytest.mark.parametrize(
    "unit",
    [
        "```json\n",
        "<tool_call>\n",
        "<function=a>\n",
        "{",
        "[",
        '{"name":"lookup","arguments":',
        "{}\n",
    ],
)
def test_a_large_text_is_read(unit: str) -> None:
    text = unit * (200_000 // len(unit))
    assert read_tool_calls(text, KNOWN) == []
    looks_like_tool_call(text, KNOWN)
