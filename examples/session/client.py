"""Keeps notes with functions of its own, in a session of gramc that checks the calls."""

import json
import subprocess
import sys

notes = {}


def add_note(text):
    notes[len(notes) + 1] = text
    return len(notes)


def delete_note(number):
    if number not in notes:
        raise KeyError(f"there is no note {number}")
    notes[number] = "(deleted)"


TOOLS = {"addNote": add_note, "listNotes": lambda: list(notes.values()), "deleteNote": delete_note}


class Session:
    def __init__(self, gramc="gramc"):
        command = [gramc, "session", "notes.gram", "--library", "host.gram"]
        pipe = subprocess.PIPE
        self.gramc = subprocess.Popen(command, stdin=pipe, stdout=pipe, encoding="utf-8")

    def send(self, **line):
        print(json.dumps(line), file=self.gramc.stdin, flush=True)

    def call(self, name, arguments):
        """Makes a call as a model wrote it, and returns its verdict."""
        self.send(id=1, name=name, arguments=arguments)
        while True:
            line = json.loads(self.gramc.stdout.readline())
            if question := line.get("invoke"):
                try:
                    result = TOOLS[question["name"]](**question["arguments"])
                    self.send(id=question["id"], result=result)
                except Exception as error:
                    self.send(id=question["id"], error=str(error.args[0]))
            elif question := line.get("approve"):
                keep = question["arguments"] == {"number": 1}
                reason = "note 1 is needed" if keep else None
                self.send(id=question["id"], approved=not keep, reason=reason)
            else:
                return line


session = Session(*sys.argv[1:])
for name, arguments in [
    ("addNote", '{"text": "Buy milk"}'),
    ("addNote", "{text: 'Call Ada',}"),
    ("addNote", '{"text": ""}'),
    ("deleteNote", '{"number": 1}'),
    ("deleteNote", '{"number": "2"}'),
    ("deleteNote", '{"number": 3}'),
    ("listNotes", ""),
]:
    verdict = session.call(name, arguments)
    shown = verdict["result"] if verdict["ok"] else verdict["error"]["error_message"]
    print(name, json.dumps(shown, separators=(",", ":")))
