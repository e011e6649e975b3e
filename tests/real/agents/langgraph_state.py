"""A graph of LangGraph whose tools read and change its state, with a checkpointer and several users."""

import json
import sys
from typing import Annotated

import gramc
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import InjectedToolCallId, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import InjectedState, ToolNode, ToolRuntime, tools_condition
from langgraph.types import Command, interrupt

CALLS = {
    "valid": [
        [("add", {"items": ["tea", "milk"], "count": 2}), ("total", {"currency": "EUR"})],
        [("pay", {"cents": [100, 250]})],
    ],
    "broken": [
        [("add", {"items": '["tea", "milk"]', "count": "2"}), ("total", {"currency": "EUR"})],
        [("pay", {"cents": "[100, 250]"})],
    ],
}


class Cart(MessagesState):
    user: str
    items: list[str]


@tool
def add(
    items: list[str],
    count: int,
    state: Annotated[Cart, InjectedState],
    tool_call_id: Annotated[str, InjectedToolCallId],
) -> Command:
    """Adds items to the cart."""
    message = ToolMessage(f"added {len(items)} for {state['user']}", tool_call_id=tool_call_id)
    return Command(update={"items": items * count, "messages": [message]})


@tool
def total(currency: str, user: Annotated[str, InjectedState("user")], runtime: ToolRuntime) -> str:
    """Returns the total."""
    runtime.stream_writer({"asked": user})
    return f"7 {currency}"


@tool
def pay(cents: list[int]) -> str:
    """Pays amounts."""
    return f"paid {sum(cents)}, {interrupt({'cents': sum(cents)})}"


def model(state: Cart) -> dict:
    turns = CALLS[sys.argv[1]]
    done = sum(isinstance(message, AIMessage) for message in state["messages"])
    if done == len(turns):
        return {"messages": [AIMessage("Bye")]}
    calls = [
        {"id": f"{done}-{at}", "name": name, "args": arguments}
        for at, (name, arguments) in enumerate(turns[done])
    ]
    return {"messages": [AIMessage("", tool_calls=calls)]}


tools = [add, total, pay]
builder = StateGraph(Cart)
builder.add_node("model", model)
builder.add_node("tools", ToolNode(gramc.guard(tools)))
builder.add_edge(START, "model")
builder.add_conditional_edges("model", tools_condition, {"tools": "tools", END: END})
builder.add_edge("tools", "model")
graph = builder.compile(checkpointer=InMemorySaver())


def serve(user: str) -> list:
    config = {"configurable": {"thread_id": user}}
    start = {"messages": [("user", "Shop")], "user": user, "items": []}
    events = [event for event in graph.stream(start, config, stream_mode="custom")]
    asked = graph.get_state(config).interrupts
    ended = graph.invoke(Command(resume="approved"), config)
    results = sorted((one.tool_call_id, one.content, one.status) for one in ended["messages"] if one.type == "tool")
    return [events, [one.value for one in asked], ended["items"], results]


print(json.dumps([serve(user) for user in ("Ada", "Grace")], indent=1))
