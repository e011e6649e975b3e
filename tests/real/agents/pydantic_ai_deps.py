"""A support agent of Pydantic AI with dependencies, instructions, retries and a structured output."""

import json
import sys
from dataclasses import dataclass, field

import gramc
from pydantic import BaseModel
from pydantic_ai import Agent, ModelRetry, RunContext, Tool
from pydantic_ai.messages import ModelResponse, ToolCallPart
from pydantic_ai.models.function import FunctionModel

CALLS = {
    "valid": [
        ("transfer", '{"to": ["savings"], "cents": 700}'),
        ("transfer", '{"to": ["savings", "rent"], "cents": 50}'),
    ],
    "broken": [
        # A list as text and a comma too many, and a number with its unit and in single quotes.
        ("transfer", '{"to": "[\\"savings\\"]", "cents": 700,}'),
        ("transfer", "{'to': ['savings', 'rent'], 'cents': '50'}"),
    ],
}


@dataclass
class Bank:
    customer: str
    balance: int = 100
    transfers: list = field(default_factory=list)


class Answer(BaseModel):
    advice: str
    risk: int


def balance(ctx: RunContext[Bank]) -> int:
    """Returns the customer's balance in cents."""
    return ctx.deps.balance


async def transfer(ctx: RunContext[Bank], to: list[str], cents: int) -> str:
    """Transfers money.

    Args:
        to: The accounts.
        cents: The amount for each account.
    """
    if cents > ctx.deps.balance:
        raise ModelRetry(f"{ctx.deps.customer} has only {ctx.deps.balance} cents")
    ctx.deps.balance -= cents * len(to)
    ctx.deps.transfers.append((to, cents))
    return f"{ctx.deps.balance} cents left, retry {ctx.retry}"


seen = []


def model(messages, info):
    seen.append([str(part.content) for part in messages[-1].parts])
    seen.append([(tool.name, tool.description, tool.parameters_json_schema) for tool in info.function_tools])
    replies = sum(isinstance(message, ModelResponse) for message in messages)
    calls = [("balance", "{}"), *CALLS[sys.argv[1]]]
    if replies < len(calls):
        return ModelResponse([ToolCallPart(*calls[replies], tool_call_id=str(replies))])
    answer = {"advice": "Save more", "risk": 3}
    return ModelResponse([ToolCallPart(info.output_tools[0].name, answer)])


tools = [Tool(balance), Tool(transfer, max_retries=2)]
agent = Agent(FunctionModel(model), deps_type=Bank, output_type=Answer, tools=gramc.guard(tools))


@agent.instructions
def instructions(ctx: RunContext[Bank]) -> str:
    return f"The customer is {ctx.deps.customer}"


bank = Bank("Ada")
result = agent.run_sync("Save 50 cents for both", deps=bank)
print(json.dumps([seen, bank.transfers, bank.balance, result.output.model_dump()], indent=1))
