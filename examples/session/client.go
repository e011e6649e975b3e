// Keeps notes with functions of its own, in a session of gramc that checks the calls.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
)

type arguments struct {
	Text   string
	Number int
}

type question struct {
	ID        string
	Name      string
	Arguments arguments
}

// message is a line of gramc: a question, or else a verdict.
type message struct {
	Invoke, Approve *question
	OK              bool
	Result          json.RawMessage
	Error           struct {
		Message string `json:"error_message"`
	}
}

type object = map[string]any

var notes []string

func run(name string, with arguments) (any, error) {
	switch name {
	case "addNote":
		notes = append(notes, with.Text)
		return len(notes), nil
	case "listNotes":
		return notes, nil
	case "deleteNote":
		if with.Number > len(notes) {
			return nil, fmt.Errorf("there is no note %d", with.Number)
		}
		notes[with.Number-1] = "(deleted)"
		return nil, nil
	}
	return nil, fmt.Errorf("there is no function for %s", name)
}

type session struct {
	in  *json.Encoder
	out *json.Decoder
}

func start(gramc string) session {
	command := exec.Command(gramc, "session", "notes.gram", "--library", "host.gram")
	command.Stderr = os.Stderr
	in, err := command.StdinPipe()
	check(err)
	out, err := command.StdoutPipe()
	check(err)
	check(command.Start())
	return session{json.NewEncoder(in), json.NewDecoder(out)}
}

// call makes a call as a model wrote it, and returns its verdict.
func (s session) call(name, arguments string) message {
	check(s.in.Encode(object{"id": 1, "name": name, "arguments": arguments}))
	for {
		var line message
		check(s.out.Decode(&line))
		switch {
		case line.Invoke != nil:
			result, err := run(line.Invoke.Name, line.Invoke.Arguments)
			if err != nil {
				check(s.in.Encode(object{"id": line.Invoke.ID, "error": err.Error()}))
			} else {
				check(s.in.Encode(object{"id": line.Invoke.ID, "result": result}))
			}
		case line.Approve != nil:
			answer := object{"id": line.Approve.ID, "approved": true}
			if line.Approve.Arguments.Number == 1 {
				answer = object{"id": line.Approve.ID, "approved": false, "reason": "note 1 is needed"}
			}
			check(s.in.Encode(answer))
		default:
			return line
		}
	}
}

func check(err error) {
	if err == io.EOF {
		err = fmt.Errorf("the session ended")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	gramc := "gramc"
	if len(os.Args) > 1 {
		gramc = os.Args[1]
	}
	session := start(gramc)
	for _, call := range [][2]string{
		{"addNote", `{"text": "Buy milk"}`},
		{"addNote", `{text: 'Call Ada',}`},
		{"addNote", `{"text": ""}`},
		{"deleteNote", `{"number": 1}`},
		{"deleteNote", `{"number": "2"}`},
		{"deleteNote", `{"number": 3}`},
		{"listNotes", ``},
	} {
		verdict := session.call(call[0], call[1])
		shown := verdict.Result
		if !verdict.OK {
			shown, _ = json.Marshal(verdict.Error.Message)
		}
		fmt.Println(call[0], string(shown))
	}
}
