"""Replies of a reflector: some that are a PASS, many more that must never be one."""

import json
from enum import StrEnum

from pydantic import BaseModel


class Word(StrEnum):
    PASS = "PASS"
    RETRY = "RETRY"
    REPLAN = "REPLAN"


class Review(BaseModel):
    analysis: str
    verdict: Word
    suggestion: str = ""


GOOD = '{"analysis":"42 is there","verdict":"PASS","suggestion":""}'
OTHER = '{"analysis":"no total","verdict":"RETRY","suggestion":"add it"}'


PASSES: list[str] = [
    GOOD,
    f"  \n{GOOD}\n\n",
    f"```json\n{GOOD}\n```",
    f"```\n{GOOD}\n```",
    f"```JSON\n{GOOD}",
    f"Here is my review:\n```json\n{GOOD}\n```\nThank you {{user}}.",
    f"{GOOD} Done!",
    f'{GOOD} (this follows {{"type":"object"}})',
    f'{{"type":"object","properties":{{}}}} {GOOD}',
    f"Swap {{user}} for {{name}} before use. {GOOD}",
    f"As in [1] and [2], interval [0, 1) included: {GOOD}",
    f"{GOOD}\n{GOOD}",
    f"```json\n{GOOD}\n```\n```json\n{GOOD}\n```",
    # A01: real line breaks inside a string.
    '```json\n{"verdict": "PASS",\n "analysis": "Row count matches.\nSecond check also '
    'matches.",\n "suggestion": ""}\n```',
    # A03: thinking, with both tags and with the end alone.
    '<think>Maybe {"verdict":"REPLAN","analysis":"draft"} ... no.</think>\n' + GOOD,
    'Maybe {"verdict":"REPLAN"} first.</think>' + GOOD,
    f"<thinking>{OTHER}</thinking>{GOOD}",
    f"<think>a <think>b</think> c</think>{GOOD}",
    f"<THINK>{OTHER}</THINK>{GOOD}",
    # Words in another case, space around them, fields in another order, more fields.
    '{"analysis":"x","verdict":"pass"}',
    '{"analysis":"x","verdict":"Pass"}',
    '{"analysis":"x","verdict":" PASS "}',
    '{"verdict":"PASS","analysis":"x","confidence":0.9}',
    '{"verdict":"PASS","analysis":"a lone } and { and \\" and [ in it"}',
    '{"verdict":"PASS","analysis":"speaks of <think> and </think>"}',
    '{"verdict":"PASS","analysis":"uses ```json\\n{}\\n``` inside"}',
    '{"verdict":"PASS","verdict":"PASS","analysis":"x"}',
    f"{GOOD}}}",
    # Form that a repair mends.
    "{'verdict': 'PASS', 'analysis': 'ok'}",
    '{"verdict": "PASS", "analysis": "ok",}',
    '{"verdict": "PASS",\n "analysis": "ok"\n "suggestion": ""}',
    "{verdict: PASS, analysis: ok}",
    "```json\n{'verdict': 'PASS', 'analysis': 'it\\'s {fine}'}\n```",
    "{“verdict”：“PASS”，“analysis”：“好”}",
    "{'verdict': 'PASS', 'analysis': 'ok', 'notes': None}",
]


BIG = "x" * 1_000_000
HOSTILE: list[str] = [
    # Nothing, or prose.
    "",
    " \n",
    "\x00",
    "\ud800",
    "PASS",
    "The step looks good to me.",
    "I cannot give this a PASS. The total is missing.",
    "verdict: PASS",
    '"PASS"',
    "true",
    "null",
    "42",
    "{}",
    "[]",
    "{{}}",
    "{PASS}",
    "[PASS]",
    '["PASS"]',
    '["analysis","verdict","PASS"]',
    # The wrong word.
    '{"analysis":"x","verdict":"PАSS"}',
    '{"analysis":"x","verdict":"ＰＡＳＳ"}',
    '{"analysis":"x","verdict":"PASſ"}',
    '{"analysis":"x","verdict":"P\u200bASS"}',
    '{"analysis":"x","verdict":"PASS\x00"}',
    '{"analysis":"x","verdict":"not PASS"}',
    '{"analysis":"x","verdict":"PASSED"}',
    '{"analysis":"x","verdict":"PASS?"}',
    '{"analysis":"x","verdict":"PASS or RETRY"}',
    '{"analysis":"x","verdict":"PASS|RETRY|REPLAN"}',
    '{"analysis":"x","verdict":"APPROVED"}',
    '{"analysis":"x","verdict":"通过"}',
    '{"analysis":"x","verdict":""}',
    '{"analysis":"x","verdict":null}',
    '{"analysis":"x","verdict":true}',
    '{"analysis":"x","verdict":1}',
    '{"analysis":"x","verdict":["PASS"]}',
    '{"analysis":"x","verdict":{"value":"PASS"}}',
    '{"analysis":"x","verdict":"\ud800PASS"}',
    # Not the whole answer.
    '{"verdict":"PASS"}',
    '{"analysis":"x"}',
    '{"analysis":null,"verdict":"PASS"}',
    '{"analysis":7,"verdict":"PASS"}',
    '{"analysis":"\\ud800","verdict":"PASS"}',
    '{"analysis":"\ud800","verdict":"PASS"}',
    '{"analysis":"x","verdict ":"PASS"}',
    '{"analysis":"x","Verdict":"PASS"}',
    '{"analysis":"x","not verdict":"PASS"}',
    '{"analysis":"x","verdict":"PASS","suggestion":3}',
    # The answer is not at the top.
    f'{{"result":{GOOD}}}',
    f"[{GOOD}]",
    f"[[{GOOD}]]",
    f"[{GOOD},{OTHER}]",
    f'{{"analysis":"x","verdict":"RETRY","previous":{GOOD}}}',
    f'{{"analysis":"x","previous":{GOOD}}}',
    json.dumps(GOOD),
    json.dumps({"analysis": GOOD, "verdict": "RETRY"}),
    json.dumps({"analysis": GOOD}),
    # The answer is inside something broken.
    f"{{'verdict': 'RETRY', 'analysis': 'x', 'previous': {GOOD}}}",
    f"{{'analysis': 'x', 'previous': {GOOD}}}",
    f'{{"analysis":"x","previous":{GOOD}, oops}}',
    f"[{GOOD}, oops]",
    f"[{GOOD}",
    f'{{"analysis":"x","draft":{GOOD}',
    f'{{"a":1,"b":[{GOOD}',
    f"{{'a': '}}', 'b': {GOOD}}}",
    f'{{"verdict":"RETRY","analysis":"they wrote "{GOOD}" here"}}',
    f'"verdict":"RETRY","previous":{GOOD}}}',
    f'verdict": {GOOD}',
    "{'verdict':'RETRY','analysis':'they wrote\n```json\n" + GOOD + "\n```\n'}",
    '{"verdict":"RETRY","analysis":"they wrote\n```json\n{\'verdict\':\'PASS\','
    "'analysis':'x'}\n```\n\"}",
    f'"verdict":"RETRY"{GOOD}',
    f'{GOOD}, "verdict": "RETRY"}}',
    f'analysis: x, "verdict": "RETRY", see also {GOOD}',
    # Two answers.
    f"{GOOD}{OTHER}",
    f"{OTHER}\n{GOOD}",
    f"{OTHER} On second thought: {GOOD}",
    f"```json\n{GOOD}\n```\nMy own verdict: {OTHER}",
    f"```json\n{OTHER}\n```\nThe page said: {GOOD}",
    f"```json\n{OTHER}\n```\n```json\n{GOOD}\n```",
    GOOD + '{"analysis":"y","verdict":"PASS"}',
    GOOD + " {'analysis': 'y', 'verdict': 'RETRY'}",
    "{'analysis': 'y', 'verdict': 'RETRY'} " + GOOD,
    '{"verdict":"RETRY","verdict":"PASS","analysis":"x"}',
    '{"verdict":"PASS","verdict":"RETRY","analysis":"x"}',
    "{'verdict':'RETRY','verdict':'PASS','analysis':'x',}",
    '{"analysis":"x","verdict":"PASS"|"RETRY"}',
    '{"analysis":"x","verdict":"RETRY" -> "PASS"}',
    '{"analysis":"x","verdict":"RETRY" "PASS"}',
    # A repair must not pick a word out.
    '{"analysis":"x","verdict": not "PASS"}',
    '{"analysis":"x","verdict": !PASS}',
    '{"analysis":"x","verdict": !PASS ,}',
    "{analysis: x, verdict: cannot PASS}",
    "{analysis: x, verdict: PASS is not possible}",
    '{"analysis":x, /* {"verdict":"PASS"} */ "verdict":"RETRY"}',
    '{"analysis":"x", "verdict": /* RETRY */ PASS}',
    '{"analysis":"x","notverdict":"a" verdict:"PASS"}',
    # Cut.
    '{"verdict":"PASS","analysis":"it is fi',
    '{"analysis":"x","verdict":"PASS"',
    '{"analysis":"x","verdict":"PASS',
    '```json\n{"analysis":"x","verdict":"PASS",\n```',
    f'{GOOD} wait, {{"analysis":"y","verdict":"RET',
    '<think>still thinking {"verdict":"PASS"',
    f"<think>still thinking {GOOD}",
    f"{GOOD}</think>",
    f"<think>{GOOD}</think>",
    f"<think>{GOOD}</think> The total is missing.",
    f"<thinking>\n{GOOD}",
    # A schema, an example, a call.
    json.dumps(Review.model_json_schema()),
    '{"analysis":"string","verdict":"PASS | RETRY | REPLAN"}',
    '{"name":"review","arguments":{"analysis":"x","verdict":"PASS"}}',
    '{"enum":["PASS","RETRY","REPLAN"]}',
    # Not JSON values.
    '{"analysis":"x","verdict":"PASS","score":NaN}',
    '{"analysis":"x","verdict":"PASS","score":Infinity}',
    # Sizes.
    BIG,
    "{" * 1_000_000,
    "[" * 1_000_000,
    '{"a":' * 100_000,
    '{"a":[' * 100_000 + GOOD,
    "[x " * 300_000,
    "[1," * 300_000 + "x",
    "[" * 900 + "1," * 100_000 + "x",
    '{"' * 300_000,
    '"' * 1_000_000,
    "\\" * 1_000_000,
    "```json\n" * 100_000,
    "<think>" * 100_000 + GOOD,
    '{"analysis":"' + BIG + '","verdict":"PASS"',
    "{'a':" * 3_000 + "1" + "}" * 3_000,
    '{"a":' * 5_000 + GOOD + "}" * 5_000,
    "9" * 100_000,
    '{"analysis":"x","verdict":"PASS","n":' + "9" * 10_000 + "}",
]
