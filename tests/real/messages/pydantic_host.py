"""What pydantic-ai says to a model about a wrong call."""

from datetime import date
from typing import Annotated, Literal, Optional, Union

from pydantic import BaseModel, Field
from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import FunctionModel


class Guest(BaseModel):
    name: str
    age: Annotated[int, Field(ge=0, le=120)]


class Circle(BaseModel):
    kind: Literal["circle"]
    radius: Annotated[int, Field(ge=1, le=100)]


class Square(BaseModel):
    kind: Literal["square"]
    side: Annotated[int, Field(ge=1, le=100)]


class Mail(BaseModel):
    by: Literal["mail"]
    address: str


class Sms(BaseModel):
    by: Literal["sms"]
    phone: Annotated[str, Field(pattern="^[+][0-9]{8,14}$")]


class Step(BaseModel):
    action: str
    expected: str


def bookRoom(
    city: str,
    arrival: date,
    nights: Annotated[int, Field(ge=1, le=14)],
    board: Literal["none", "breakfast", "half"],
    guest: Guest,
):
    """Books a hotel room"""


def createEvent(
    title: Annotated[str, Field(min_length=1, max_length=40)],
    day: date,
    minutes: Annotated[int, Field(ge=15, le=240)],
    guests: list[str],
):
    """Adds an event to the calendar"""


def findOrders(
    customer: Annotated[str, Field(pattern="^C-[0-9]{4}$")],
    status: Literal["open", "paid", "returned"],
    limit: Annotated[int, Field(ge=1, le=50)],
):
    """Finds orders of a customer"""


def draw(
    shape: Annotated[Union[Circle, Square], Field(discriminator="kind")],
    color: Literal["red", "green", "blue"],
):
    """Draws a shape"""


def searchFlights(
    origin: str,
    destination: str,
    day: date,
    passengers: Annotated[int, Field(ge=1, le=9)] = 1,
    cabin: Literal["economy", "business"] = "economy",
    direct: Optional[bool] = None,
):
    """Searches for flights"""


def openTicket(
    title: Annotated[str, Field(min_length=5, max_length=40)],
    version: Annotated[str, Field(pattern="^[0-9]+[.][0-9]+$")],
    priority: Literal["low", "normal", "urgent"],
    steps: Annotated[list[Step], Field(min_length=1, max_length=5)],
):
    """Reports a bug"""


def sendReminder(
    to: Annotated[Union[Mail, Sms], Field(discriminator="by")],
    text: Annotated[str, Field(min_length=1, max_length=60)],
    day: date,
    repeat: Annotated[int, Field(ge=1, le=5)] = 1,
):
    """Sends a reminder"""


TOOLS = [bookRoom, createEvent, findOrders, draw, searchFlights, openTicket, sendReminder]
ACCEPTED = "accepted"


def told(case, arguments):
    def model(messages, _):
        for part in messages[-1].parts:
            if isinstance(part, ToolReturnPart) and part.outcome == "retried":
                return ModelResponse([TextPart(part.model_response_str())])
        if len(messages) > 1:
            return ModelResponse([TextPart(ACCEPTED)])
        return ModelResponse([ToolCallPart(case["tool"], arguments)])

    output = Agent(FunctionModel(model), tools=TOOLS).run_sync("").output
    return None if output == ACCEPTED else output
