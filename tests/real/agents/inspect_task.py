"""A task of Inspect with a tool that keeps state in the store of each sample."""

import json
import sys
import tempfile

import gramc
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import includes
from inspect_ai.solver import generate, use_tools
from inspect_ai.tool import Tool, ToolError, tool
from inspect_ai.util import store

CALLS = {
    "valid": [("note", {"lines": ["milk", "tea"], "important": True}), ("note", {"lines": []})],
    "broken": [("note", {"lines": '["milk", "tea"]', "important": "true"}), ("note", {"lines": []})],
}


@tool
def note() -> Tool:
    async def execute(lines: list[str], important: bool = False) -> str:
        """Writes lines down.

        Args:
            lines: The lines.
            important: Whether they are important.
        """
        if not lines:
            raise ToolError("there are no lines")
        known = store().get("lines", [])
        store().set("lines", [*known, *lines])
        return f"{len(known) + len(lines)} lines, {'important' if important else 'not important'}"

    return execute


tools = [note()]
outputs = []
for _ in range(2):
    outputs += [ModelOutput.for_tool_call("mockllm/model", *call) for call in CALLS[sys.argv[1]]]
    outputs.append(ModelOutput.from_content("mockllm/model", "Done"))
for output in outputs:
    # Otherwise the model downloads the vocabulary that it counts tokens with.
    output.usage = ModelUsage()
model = get_model("mockllm/model", custom_outputs=outputs)
samples = [Sample(input="Write it down", target="Done", id=name) for name in ("a", "b")]
task = Task(dataset=samples, solver=[use_tools(gramc.guard(tools)), generate()], scorer=includes())
with tempfile.TemporaryDirectory() as folder:
    (log,) = eval(task, model=model, log_dir=folder, display="none", max_samples=1, log_format="json")
shown = []
for sample in log.samples or []:
    results = [one for one in sample.messages if one.role == "tool"]
    shown.append([[one.text, one.error.message if one.error else None] for one in results])
    shown.append([sample.store, {name: score.value for name, score in (sample.scores or {}).items()}])
    (event, *_) = [event for event in sample.events if event.event == "model"]
    shown.append([tool.model_dump(mode="json", exclude_none=True) for tool in event.tools])
print(json.dumps([log.status, shown], indent=1))
