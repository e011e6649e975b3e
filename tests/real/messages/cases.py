"""The cases: what a user wants, the right call, and a wrong one of each class of faults."""

import json
import random

import jsonschema

# The most cases of a class, and how many mended calls a model sees before each.
MOST, EXAMPLES = 50, 2

CITIES = ["Vienna", "Lisbon", "Oslo", "Turin", "Ghent", "Porto", "Basel", "Riga", "Split", "Cork"]
NAMES = ["Ada", "Grace", "Linus", "Barbara", "Alan", "Edsger", "Margaret", "Ken", "Radia", "Tony"]
WORDS = {3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight"}
BUGS = [
    ("The page stays empty", "open the settings", "a list of options"),
    ("Saving takes a minute", "press save", "a saved file"),
    ("The sum is wrong", "add two prices", "the sum of both"),
    ("The window does not close", "press escape", "a closed window"),
]
REMINDERS = ["Bring the keys", "Pay the rent", "Call the dentist", "Water the plants"]
LONG = " with everybody who may want to come and some more"


def tasks(random):
    """A task for each tool: the tool, the wish of the user, and the right arguments."""
    city, name, number = random.choice(CITIES), random.choice(NAMES), random.randint(3, 8)
    month, day = random.randint(1, 12), random.randint(10, 28)
    date, age = f"2026-{month:02}-{day}", random.randint(20, 80)
    board = random.choice(["none", "breakfast", "half"])
    yield (
        "bookRoom",
        f"Book a room in {city} from {date} for {number} nights, board: {board}, for {name}, who is {age}.",
        {"city": city, "arrival": date, "nights": number, "board": board,
         "guest": {"name": name, "age": age}},
    )
    other, minutes = random.choice(CITIES), random.choice([30, 45, 60, 90])
    yield (
        "createEvent",
        f"Put \"Trip to {other}\" into my calendar on {date}, {minutes} minutes, with {name} and Bob.",
        {"title": f"Trip to {other}", "day": date, "minutes": minutes, "guests": [name, "Bob"]},
    )
    customer, status = f"C-{random.randint(1000, 9999)}", random.choice(["open", "paid", "returned"])
    yield (
        "findOrders",
        f"Show me {number} {status} orders of the customer {customer}.",
        {"customer": customer, "status": status, "limit": number},
    )
    color, size = random.choice(["red", "green", "blue"]), random.randint(10, 90)
    kind, key = random.choice([("circle", "radius"), ("square", "side")])
    yield (
        "draw",
        f"Draw a {color} {kind} with a {key} of {size}.",
        {"shape": {"kind": kind, key: size}, "color": color},
    )
    cabin, people = random.choice(["economy", "business"]), random.randint(3, 8)
    yield (
        "searchFlights",
        f"Find direct {cabin} flights from {city} to {other} on {date} for {people} people.",
        {"origin": city, "destination": other, "day": date, "passengers": people, "cabin": cabin,
         "direct": True},
    )
    version, priority = f"{random.randint(1, 9)}.{random.randint(0, 9)}", random.choice(["low", "urgent"])
    fault, action, expected = random.choice(BUGS)
    yield (
        "openTicket",
        f"Report a bug in version {version}, priority {priority}: \"{fault}\". Step: {action}. "
        f"Expected: {expected}.",
        {"title": fault, "version": version, "priority": priority,
         "steps": [{"action": action, "expected": expected}]},
    )
    text, times = random.choice(REMINDERS), random.randint(3, 5)
    way, key, address = random.choice([
        ("mail", "address", f"{name.lower()}@example.org"),
        ("sms", "phone", f"+43660{random.randint(100000, 999999)}"),
    ])
    yield (
        "sendReminder",
        f"Remind {name} by {way} to {address} on {date}, {times} times: \"{text}\".",
        {"to": {"by": way, key: address}, "text": text, "day": date, "repeat": times},
    )


def without(map, *names):
    return {name: value for name, value in map.items() if name not in names}


# The wrong arguments of each class of faults, for the tools that it fits.
FAULTS = {
    "missing": {
        "bookRoom": lambda it: without(it, "board"),
        "createEvent": lambda it: without(it, "minutes"),
        "findOrders": lambda it: without(it, "status"),
        "draw": lambda it: without(it, "color"),
        "searchFlights": lambda it: without(it, "day"),
        "openTicket": lambda it: without(it, "priority"),
        "sendReminder": lambda it: without(it, "text"),
    },
    "missing inside": {
        "bookRoom": lambda it: {**it, "guest": without(it["guest"], "age")},
        "draw": lambda it: {**it, "shape": {"kind": it["shape"]["kind"]}},
        "openTicket": lambda it: {**it, "steps": [without(it["steps"][0], "expected")]},
        "sendReminder": lambda it: {**it, "to": {"by": it["to"]["by"]}},
    },
    "no member": {
        "bookRoom": lambda it: {**it, "board": "everything"},
        "findOrders": lambda it: {**it, "status": "all of them"},
        "draw": lambda it: {**it, "color": "any"},
        "searchFlights": lambda it: {**it, "cabin": "any seat"},
        "openTicket": lambda it: {**it, "priority": "as soon as possible"},
    },
    "out of range": {
        "bookRoom": lambda it: {**it, "nights": it["nights"] * 10},
        "createEvent": lambda it: {**it, "minutes": 1},
        "findOrders": lambda it: {**it, "limit": 1000},
        "searchFlights": lambda it: {**it, "passengers": it["passengers"] * 10},
        "sendReminder": lambda it: {**it, "repeat": 100},
    },
    "a word as a number": {
        "bookRoom": lambda it: {**it, "nights": WORDS[it["nights"]]},
        "findOrders": lambda it: {**it, "limit": WORDS[it["limit"]]},
        "createEvent": lambda it: {**it, "minutes": "a while"},
        "searchFlights": lambda it: {**it, "passengers": WORDS[it["passengers"]]},
        "sendReminder": lambda it: {**it, "repeat": "a few times"},
    },
    "no date": {
        "bookRoom": lambda it: {**it, "arrival": "soon"},
        "createEvent": lambda it: {**it, "day": "that day"},
        "searchFlights": lambda it: {**it, "day": "then"},
        "sendReminder": lambda it: {**it, "day": "in time"},
    },
    "wrong discriminator": {
        "draw": lambda it: {**it, "shape": {**it["shape"], "kind": "shape"}},
        "sendReminder": lambda it: {**it, "to": {**it["to"], "by": "message"}},
    },
    "other name": {
        "bookRoom": lambda it: {**without(it, "arrival"), "when": it["arrival"]},
        "createEvent": lambda it: {**without(it, "minutes"), "how_much_time": it["minutes"]},
        "findOrders": lambda it: {**without(it, "customer"), "who": it["customer"]},
        "searchFlights": lambda it: {**without(it, "origin"), "leave": it["origin"]},
        "openTicket": lambda it: {**without(it, "title"), "bug": it["title"]},
        "sendReminder": lambda it: {**without(it, "text"), "note": it["text"]},
    },
    "other type": {
        "bookRoom": lambda it: {**it, "guest": f"{it['guest']['name']}, {it['guest']['age']}"},
        "draw": lambda it: {**it, "shape": it["shape"]["kind"]},
        "openTicket": lambda it: {**it, "steps": it["steps"][0]["action"]},
        "sendReminder": lambda it: {**it, "to": it["to"]["by"]},
    },
    "too long": {
        "createEvent": lambda it: {**it, "title": it["title"] + LONG},
        "openTicket": lambda it: {**it, "title": it["title"] + LONG},
        "sendReminder": lambda it: {**it, "text": it["text"] + LONG},
    },
    "other form": {
        "findOrders": lambda it: {**it, "customer": it["customer"].removeprefix("C-")},
        "openTicket": lambda it: {**it, "version": "version " + it["version"]},
        "sendReminder": lambda it: {**it, "to": {"by": "sms", "phone": "his phone"}},
    },
    "unreadable": {
        "bookRoom": lambda it: json.dumps(it).replace('"nights":', '"nights"', 1),
        "findOrders": lambda it: json.dumps(it).replace('"status": "', '"status": ""', 1),
        "draw": lambda it: json.dumps(it).replace('"color":', '"color" "is"', 1),
        "searchFlights": lambda it: json.dumps(it).replace('"day":', '"day" =', 1),
    },
    "two faults": {
        "bookRoom": lambda it: {**without(it, "board"), "nights": 100},
        "createEvent": lambda it: {**without(it, "day"), "minutes": "long"},
        "findOrders": lambda it: {**it, "status": "any", "limit": 0},
        "draw": lambda it: {"shape": {**it["shape"], "kind": "thing"}},
        "searchFlights": lambda it: {**without(it, "day"), "passengers": 0},
        "openTicket": lambda it: {**without(it, "priority"), "version": "new"},
        "sendReminder": lambda it: {**without(it, "text"), "day": "soon"},
    },
}


def of(fault, count):
    """The cases of a class."""
    chance, found = random.Random(fault), []
    while len(found) < count:
        for tool, wish, right in tasks(chance):
            spoil = FAULTS[fault].get(tool)
            if spoil and len(found) < count:
                wrong = spoil(right)
                found.append({
                    "id": f"{fault} {len(found) + 1}",
                    "tool": tool,
                    "wish": wish,
                    "right": json.dumps(right),
                    "wrong": wrong if isinstance(wrong, str) else json.dumps(wrong),
                })
    return found


def find(id):
    fault, number = id.rsplit(" ", 1)
    return of(fault, int(number))[-1]


def examples(case):
    """Other cases of the class and the tool. The model sees how they were mended: one of this size does
    not know by itself that it should."""
    fault, number = case["id"].rsplit(" ", 1)
    others = of(fault, MOST + 8 * EXAMPLES)[MOST:]
    return [other for other in others if other["tool"] == case["tool"]][:EXAMPLES]


def problems(arguments, schema):
    """What the package jsonschema says about arguments in JSON."""
    try:
        value = json.loads(arguments)
    except ValueError as error:
        return [str(error)]
    checker = jsonschema.FormatChecker(["date"])
    validator = jsonschema.Draft202012Validator(schema, format_checker=checker)
    return [error.message for error in validator.iter_errors(value)]


def is_valid(arguments, schema):
    return not problems(arguments, schema)
