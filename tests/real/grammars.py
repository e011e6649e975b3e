"""Asks engines that decode with grammars whether texts are sentences of grammars.

Standard input has one JSON object per line: `name`, `gbnf` and `lark`, two grammars of the same calls,
and `valid` and `invalid`, texts that are sentences or not. Each answer that differs is printed as a line.
The engines are llguidance and llama.cpp, whose parser of grammars the package xllamacpp exports.
"""

import ctypes
import importlib.util
import json
import sys

from llguidance import LLMatcher, LLTokenizer


class Llguidance:
    """The matcher of llguidance, over bytes."""

    name = "llguidance"
    notation = "lark"

    def __init__(self):
        self.tokenizer = LLTokenizer("byte")

    def read(self, text):
        grammar = LLMatcher.grammar_from_lark(text)
        failed, messages = LLMatcher.validate_grammar_with_warnings(grammar, self.tokenizer)
        # A matcher is copied for each text: a grammar is read once.
        return None if failed else LLMatcher(self.tokenizer, grammar, log_level=0), " ".join(" ".join(messages).split())

    def accepts(self, grammar, text):
        matcher = grammar.deep_copy()
        tokens = self.tokenizer.tokenize_str(text)
        return matcher.try_consume_tokens(tokens) == len(tokens) and matcher.is_accepting()

    def free(self, grammar):
        pass


class Vector(ctypes.Structure):
    """A vector of C++."""

    _fields_ = [("begin", ctypes.c_void_p), ("end", ctypes.c_void_p), ("room", ctypes.c_void_p)]


class Llama:
    """The grammars of llama.cpp, character by character."""

    name = "llama.cpp"
    notation = "gbnf"

    def __init__(self):
        package = importlib.util.find_spec("xllamacpp.xllamacpp")
        library = ctypes.CDLL(package.origin)
        pointer, size = ctypes.c_void_p, ctypes.c_size_t
        self.init = library["_Z23llama_grammar_init_implPK11llama_vocabPKcS3_bPS3_mPKim"]
        self.init.restype = pointer
        self.init.argtypes = [
            pointer, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_bool, pointer, size, pointer, size,
        ]
        self.clone = library["_Z24llama_grammar_clone_implRK13llama_grammar"]
        self.clone.restype, self.clone.argtypes = pointer, [pointer]
        self.accept = library["_Z20llama_grammar_acceptP13llama_grammarj"]
        self.accept.restype, self.accept.argtypes = None, [pointer, ctypes.c_uint32]
        self.stacks = library["_Z24llama_grammar_get_stacksP13llama_grammar"]
        self.stacks.restype, self.stacks.argtypes = ctypes.POINTER(Vector), [pointer]
        self.free = library["_Z23llama_grammar_free_implP13llama_grammar"]
        self.free.restype, self.free.argtypes = None, [pointer]

    def read(self, text):
        # Messages go to standard error.
        grammar = self.init(None, text.encode(), b"root", False, None, 0, None, 0)
        return grammar, "it is refused"

    def accepts(self, grammar, text):
        grammar = self.clone(grammar)
        try:
            for character in text:
                self.accept(grammar, ord(character))
                if not self.positions(grammar):
                    return False
            # A stack without elements is a sentence that has ended.
            return any(stack.begin == stack.end for stack in self.positions(grammar))
        finally:
            self.free(grammar)

    def positions(self, grammar):
        stacks = self.stacks(grammar).contents
        if not stacks.begin or stacks.begin == stacks.end:
            return []
        count = (stacks.end - stacks.begin) // ctypes.sizeof(Vector)
        return (Vector * count).from_address(stacks.begin)


def main():
    engines = [Llguidance(), Llama()]
    for line in sys.stdin:
        case = json.loads(line)
        for engine in engines:
            grammar, message = engine.read(case[engine.notation])
            if not grammar:
                print(f"{engine.name} refuses the grammar of {case['name']}: {message}")
                continue
            for expected, texts in [(True, case["valid"]), (False, case["invalid"])]:
                for text in texts:
                    if engine.accepts(grammar, text) != expected:
                        verb = "refuses" if expected else "accepts"
                        print(f"{engine.name} {verb} a call of {case['name']}: {text}")
            engine.free(grammar)


main()
