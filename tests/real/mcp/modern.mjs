// A server for the MCP conformance suite that speaks revision 2026-07-28 of the protocol and no other,
// made with the SDK for TypeScript: over standard input and output, or with `http` over streamable
// HTTP, whose address is the first line of standard output.
//
//     modern.mjs MODULES [http]
//
// MODULES is the folder `node_modules` with the SDK.

import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { Readable } from "node:stream";
import { setTimeout as sleepFor } from "node:timers/promises";
import { pathToFileURL } from "node:url";

import * as content from "./content.mjs";

const [modules, mode] = process.argv.slice(2);
const sdk = (path) =>
  import(pathToFileURL(`${modules}/@modelcontextprotocol/server/dist/${path}.mjs`));
const {
  MissingRequiredClientCapabilityError,
  ProtocolError,
  Server,
  createMcpHandler,
  createRequestStateCodec,
  inputRequired,
} = await sdk("index");
const { FORMS, NOTHING, RESOURCES, TEMPLATES } = content;
const { answered, listed, one, pause, read, report, say, text } = content;

const EXTENSION = "io.modelcontextprotocol/tasks";
// A schema of the SDK that accepts everything.
const ANYTHING = {
  "~standard": { version: 1, vendor: "none", validate: (value) => ({ value }) },
};
const state = createRequestStateCodec({ key: new Uint8Array(32).fill(7) });
const form = (message, name, type = "string") => ({
  method: "elicitation/create",
  params: {
    mode: "form",
    message,
    requestedSchema: { type: "object", properties: { [name]: { type } }, required: [name] },
  },
});
const sample = (question, maxTokens) => ({
  method: "sampling/createMessage",
  params: { messages: [{ role: "user", content: { type: "text", text: question } }], maxTokens },
});
const roots = { method: "roots/list", params: {} };
const capabilities = (context) =>
  context.mcpReq._meta?.["io.modelcontextprotocol/clientCapabilities"] ??
  context.mcpReq.envelope?.["io.modelcontextprotocol/clientCapabilities"] ??
  {};

// Asks until all questions are answered, then does the rest with the answers.
const asking = (questions, done, withState) => async (_, context) => {
  const answers = context.mcpReq.inputResponses ?? {};
  const open = Object.entries(questions).filter(([key]) => answers[key] === undefined);
  if (open.length === 0) {
    return done(answers, context.mcpReq.requestState());
  }
  const requestState = withState && (await state.mint(withState));
  return inputRequired({ inputRequests: Object.fromEntries(open), requestState });
};

const TOOLS = {
  ...content.TOOLS,
  test_tool_with_progress: [
    NOTHING,
    (_, { mcpReq }) => report(mcpReq._meta?.progressToken ?? 0, (note) => mcpReq.notify(note)),
  ],
  test_logging_tool: [
    NOTHING,
    async (_, { mcpReq }) => {
      await mcpReq.log("info", "it works");
      return text("logged");
    },
  ],
  test_tool_with_logging: [
    NOTHING,
    async (_, { mcpReq }) => {
      for (const step of ["started", "processing data", "completed"]) {
        await mcpReq.log("info", `Tool execution ${step}`);
        await pause(50);
      }
      return text("Tool with logging executed successfully");
    },
  ],
  test_reconnection: [
    NOTHING,
    async () => {
      await pause(100);
      return text("Reconnection test completed successfully");
    },
  ],
  test_sampling: [
    one("prompt"),
    (params, context) =>
      asking({ sample: sample(params.prompt, 100) }, (answers) =>
        text(`LLM response: ${answers.sample.content.text}`),
      )(params, context),
  ],
  ...Object.fromEntries(
    Object.entries(FORMS).map(([name, [message, requestedSchema]]) => [
      name,
      [
        name === "test_elicitation" ? one("message") : NOTHING,
        (params, context) => {
          const asked = { mode: "form", message: params.message ?? message, requestedSchema };
          const question = { method: "elicitation/create", params: asked };
          return asking({ question }, (answers) => answered(answers.question))(params, context);
        },
      ],
    ]),
  ),
  test_streaming_elicitation: [
    NOTHING,
    asking({ name: form("What is your name?", "name") }, () => text("thank you")),
  ],
  test_missing_capability: [
    NOTHING,
    (_, context) => {
      if (capabilities(context).sampling === undefined) {
        throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { sampling: {} } });
      }
      return text("it can");
    },
  ],
  test_input_required_result_elicitation: [
    NOTHING,
    asking({ user_name: form("What is your name?", "name") }, ({ user_name }) =>
      text(`Hello, ${user_name.content.name}!`),
    ),
  ],
  test_input_required_result_sampling: [
    NOTHING,
    asking({ capital_question: sample("What is the capital of France?", 100) }, (answers) =>
      text(answers.capital_question.content.text),
    ),
  ],
  test_input_required_result_list_roots: [
    NOTHING,
    asking({ client_roots: roots }, ({ client_roots }) => text(client_roots.roots[0].uri)),
  ],
  test_input_required_result_request_state: [
    NOTHING,
    asking(
      { confirm: form("Please confirm", "ok", "boolean") },
      (_, kept) => text(kept === undefined ? "state-lost" : "state-ok"),
      { step: 1 },
    ),
  ],
  test_input_required_result_multiple_inputs: [
    NOTHING,
    asking(
      {
        user_name: form("What is your name?", "name"),
        greeting: sample("Generate a greeting", 50),
        client_roots: roots,
      },
      () => text("all there"),
      { step: 1 },
    ),
  ],
  test_input_required_result_multi_round: [
    NOTHING,
    async (_, { mcpReq }) => {
      const step = mcpReq.requestState()?.step ?? 0;
      if (step === 2) {
        return text("all rounds");
      }
      const questions = [
        { step1: form("Step 1: What is your name?", "name") },
        { step2: form("Step 2: What is your favorite color?", "color") },
      ];
      const requestState = await state.mint({ step: step + 1 });
      return inputRequired({ inputRequests: questions[step], requestState });
    },
  ],
  test_input_required_result_tampered_state: [
    NOTHING,
    asking({ confirm: form("Please confirm", "ok", "boolean") }, () => text("fine"), { step: 1 }),
  ],
  test_input_required_result_capabilities: [
    NOTHING,
    (params, context) => {
      const known = capabilities(context);
      const questions = {
        ...(known.elicitation && { name: form("What is your name?", "name") }),
        ...(known.sampling && { greeting: sample("Generate a greeting", 50) }),
      };
      return asking(questions, () => text("asked what can be asked"))(params, context);
    },
  ],
  add: [
    {
      type: "object",
      properties: {
        region: { type: "string", "x-mcp-header": "Region" },
        a: { type: "integer" },
        b: { type: "integer" },
      },
      required: ["region", "a", "b"],
    },
    ({ region, a, b }) => text(`${region}: ${a + b}`),
  ],
};

// The tasks, by their identifiers.
const tasks = new Map();
const now = () => new Date().toISOString();

// Runs work as a task, unless the client does not know tasks and need not.
const task = (work, isRequired) => async (params, context) => {
  if (capabilities(context).extensions?.[EXTENSION] === undefined) {
    if (isRequired) {
      const requiredCapabilities = { extensions: { [EXTENSION]: {} } };
      throw new MissingRequiredClientCapabilityError({ requiredCapabilities });
    }
    return work(params, new AbortController().signal, async () => ({}));
  }
  const stop = new AbortController();
  const made = {
    taskId: randomUUID(),
    status: "working",
    createdAt: now(),
    lastUpdatedAt: now(),
    ttlMs: 600_000,
    pollIntervalMs: 100,
  };
  tasks.set(made.taskId, { made, stop, waiting: new Map() });
  const { waiting } = tasks.get(made.taskId);
  const ask = async (questions) => {
    made.status = "input_required";
    made.inputRequests = questions;
    const answers = Object.keys(questions).map(
      (key) => new Promise((resume) => waiting.set(key, (answer) => resume([key, answer]))),
    );
    const given = Object.fromEntries(await Promise.all(answers));
    made.status = "working";
    delete made.inputRequests;
    return given;
  };
  const begun = { resultType: "task", ...made };
  work(params, stop.signal, ask)
    .then((result) => Object.assign(made, { status: "completed", result }))
    .catch(({ code = -32603, message }) =>
      Object.assign(
        made,
        stop.signal.aborted
          ? { status: "cancelled" }
          : { status: "failed", error: { code, message } },
      ),
    )
    .finally(() => (made.lastUpdatedAt = now()));
  return begun;
};
const find = ({ taskId }, context) => {
  if (capabilities(context).extensions?.[EXTENSION] === undefined) {
    const requiredCapabilities = { extensions: { [EXTENSION]: {} } };
    throw new MissingRequiredClientCapabilityError({ requiredCapabilities });
  }
  const found = tasks.get(taskId);
  if (found === undefined) {
    throw new ProtocolError(-32602, `Unknown task: ${taskId}`);
  }
  return found;
};
const TASK_METHODS = {
  "tasks/get": (params, context) => find(params, context).made,
  "tasks/update": (params, context) => {
    const { made, waiting } = find(params, context);
    for (const [key, answer] of Object.entries(context.mcpReq.inputResponses ?? {})) {
      waiting.get(key)?.(answer);
      waiting.delete(key);
      delete made.inputRequests?.[key];
    }
    return {};
  },
  "tasks/cancel": (params, context) => {
    find(params, context).stop.abort();
    return {};
  },
};

const sleep = async (seconds, signal) => {
  await sleepFor(seconds * 1000, undefined, { signal });
};
Object.assign(TOOLS, {
  greet: [one("name"), ({ name }) => text(`Hello, ${name}!`)],
  slow_compute: [
    {
      type: "object",
      properties: { seconds: { type: "number" }, label: { type: "string" } },
      required: ["seconds"],
    },
    task(async ({ seconds }, signal) => {
      await sleep(seconds, signal);
      return text("computed");
    }),
  ],
  count_cancelled: [
    NOTHING,
    () => {
      const cancelled = [...tasks.values()].filter(({ stop }) => stop.signal.aborted);
      return text(`${cancelled.length} cancelled`);
    },
  ],
  failing_job: [
    NOTHING,
    task(async (_, signal) => {
      await sleep(1, signal);
      return { ...text("it failed"), isError: true };
    }, true),
  ],
  protocol_error_job: [
    NOTHING,
    task(async (_, signal) => {
      await sleep(0.1, signal);
      throw new ProtocolError(-32603, "it broke");
    }),
  ],
  confirm_delete: [
    { type: "object", properties: { filename: { type: "string" } } },
    task(async (_, signal, ask) => {
      const { confirm } = await ask({ confirm: form("Delete it?", "ok", "boolean") });
      return text(`The answer: ${confirm.action}`);
    }),
  ],
  multi_input: [
    NOTHING,
    task(async (_, signal, ask) => {
      const answers = await ask({ one: form("One?", "one"), two: form("Two?", "two") });
      return text(JSON.stringify(answers));
    }),
  ],
  test_tool_with_task: [
    NOTHING,
    async (params, context) => {
      const { user_name } = context.mcpReq.inputResponses ?? {};
      if (user_name === undefined) {
        return inputRequired({ inputRequests: { user_name: form("What is your name?", "name") } });
      }
      const work = async () => text(`Hello, ${user_name.content.name}!`);
      return task(work, true)(params, context);
    },
  ],
});

const PROMPTS = {
  ...content.PROMPTS,
  test_input_required_result_prompt: [
    [],
    asking({ user_context: form("What context should the prompt use?", "context") }, (answers) => ({
      messages: [say(answers.user_context.content.context)],
    })),
  ],
};

function make() {
  const server = new Server(
    { name: "modern", version: "1" },
    {
      capabilities: {
        tools: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        prompts: { listChanged: true },
        logging: {},
        completions: {},
        extensions: { [EXTENSION]: {} },
      },
      requestState: { verify: state.verify },
    },
  );
  const on = (method, handle) => server.setRequestHandler(method, handle);
  on("tools/list", () => ({ tools: listed.tools(TOOLS) }));
  on("tools/call", ({ params }, context) => {
    const tool = TOOLS[params.name];
    if (tool === undefined) {
      throw new ProtocolError(-32602, `Unknown tool: ${params.name}`);
    }
    return tool[1](params.arguments ?? {}, context);
  });
  on("resources/list", () => ({ resources: RESOURCES }));
  on("resources/templates/list", () => ({ resourceTemplates: TEMPLATES }));
  on("resources/read", ({ params }) => {
    const found = read(params.uri);
    if (found === undefined) {
      throw new ProtocolError(-32602, `Resource not found: ${params.uri}`, { uri: params.uri });
    }
    return { contents: [found] };
  });
  on("prompts/list", () => ({ prompts: listed.prompts(PROMPTS) }));
  on("prompts/get", async ({ params }, context) => {
    const prompt = PROMPTS[params.name];
    if (prompt === undefined) {
      throw new ProtocolError(-32602, `Unknown prompt: ${params.name}`);
    }
    const made = await prompt[1](params.arguments ?? {}, context);
    return Array.isArray(made) ? { messages: made } : made;
  });
  for (const [method, handle] of Object.entries(TASK_METHODS)) {
    server.setRequestHandler(method, { params: ANYTHING }, handle);
  }
  on("completion/complete", () => ({
    completion: { values: ["test-value"], total: 1, hasMore: false },
  }));
  return server;
}

if (mode === "http") {
  const handler = createMcpHandler(make, { legacy: "reject" });
  const http = createServer(async (request, response) => {
    const names = ["127.0.0.1", "localhost"];
    const host = (request.headers.host ?? "").replace(/:\d+$/, "");
    const origin = request.headers.origin && new URL(request.headers.origin).hostname;
    if (!names.includes(host) || (origin && !names.includes(origin))) {
      response.writeHead(403).end();
      return;
    }
    const stop = new AbortController();
    response.on("close", () => stop.abort());
    const { method, headers } = request;
    const body = method === "POST" ? Readable.toWeb(request) : undefined;
    const init = { method, headers, body, duplex: "half", signal: stop.signal };
    const answer = await handler.fetch(new Request(`http://${host}${request.url}`, init));
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    if (answer.body === null) {
      response.end();
    } else {
      Readable.fromWeb(answer.body).on("error", () => response.destroy()).pipe(response);
    }
  });
  http.listen(0, "127.0.0.1", () => {
    console.log(`http://127.0.0.1:${http.address().port}/mcp`);
  });
  // Changes are told to those who listen.
  TOOLS.test_trigger_tool_change = [
    NOTHING,
    () => {
      handler.notify.toolsChanged();
      return text("changed");
    },
  ];
  TOOLS.test_trigger_prompt_change = [
    NOTHING,
    () => {
      handler.notify.promptsChanged();
      return text("changed");
    },
  ];
} else {
  const { serveStdio } = await sdk("stdio");
  serveStdio(make, { legacy: "reject" });
}
