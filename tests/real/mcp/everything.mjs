// A server for the MCP conformance suite, made with the SDK for TypeScript: over standard input and
// output, or with `http` over streamable HTTP, whose address is the first line of standard output.
//
//     everything.mjs MODULES [http]
//
// MODULES is the folder `node_modules` with the SDK.

import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { pathToFileURL } from "node:url";

const [modules, mode] = process.argv.slice(2);
const sdk = (path) => import(pathToFileURL(`${modules}/@modelcontextprotocol/sdk/dist/esm/${path}`));
const { Server } = await sdk("server/index.js");
const { StdioServerTransport } = await sdk("server/stdio.js");
const { StreamableHTTPServerTransport } = await sdk("server/streamableHttp.js");
const types = await sdk("types.js");

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
const WAV = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=";
const NOTHING = { type: "object", properties: {} };
const text = (value) => ({ content: [{ type: "text", text: value }] });
const pause = (time) => new Promise((resume) => setTimeout(resume, time));
const image = { type: "image", data: PNG, mimeType: "image/png" };
const one = (name) => ({
  type: "object",
  properties: { [name]: { type: "string" } },
  required: [name],
});

async function elicit(extra, message, requestedSchema) {
  const params = { message, requestedSchema };
  const request = { method: "elicitation/create", params };
  const { action, content } = await extra.sendRequest(request, types.ElicitResultSchema);
  return text(`User response: action=${action}, content=${JSON.stringify(content ?? {})}`);
}

const strings = (names) => ({ type: "string", enum: names });
const titled = (key, word) => ({
  [key]: [1, 2, 3].map((at) => ({ const: `value${at}`, title: `${word} ${at}` })),
});

// The tools, each with its schema and what it does.
const TOOLS = {
  test_simple_text: [NOTHING, () => text("This is a simple text response for testing.")],
  test_image_content: [NOTHING, () => ({ content: [image] })],
  test_audio_content: [
    NOTHING,
    () => ({ content: [{ type: "audio", data: WAV, mimeType: "audio/wav" }] }),
  ],
  test_embedded_resource: [
    NOTHING,
    () => ({
      content: [
        {
          type: "resource",
          resource: { uri: "test://embedded-resource", mimeType: "text/plain", text: "embedded" },
        },
      ],
    }),
  ],
  test_multiple_content_types: [
    NOTHING,
    () => ({
      content: [
        { type: "text", text: "Multiple content types test:" },
        image,
        {
          type: "resource",
          resource: {
            uri: "test://mixed-content-resource",
            mimeType: "application/json",
            text: '{"test":"data","value":123}',
          },
        },
      ],
    }),
  ],
  test_tool_with_logging: [
    NOTHING,
    async (_, extra) => {
      for (const step of ["started", "processing data", "completed"]) {
        const params = { level: "info", data: `Tool execution ${step}` };
        await extra.sendNotification({ method: "notifications/message", params });
        await pause(50);
      }
      return text("Tool with logging executed successfully");
    },
  ],
  test_tool_with_progress: [
    NOTHING,
    async (_, extra) => {
      const progressToken = extra._meta?.progressToken ?? 0;
      for (const progress of [0, 50, 100]) {
        const params = { progressToken, progress, total: 100, message: `Step ${progress} of 100` };
        await extra.sendNotification({ method: "notifications/progress", params });
        await pause(50);
      }
      return text(String(progressToken));
    },
  ],
  test_error_handling: [
    NOTHING,
    () => ({ ...text("This tool intentionally returns an error for testing"), isError: true }),
  ],
  test_reconnection: [
    NOTHING,
    async (_, extra) => {
      extra.closeSSEStream?.();
      await pause(100);
      return text("Reconnection test completed successfully");
    },
  ],
  test_sampling: [
    one("prompt"),
    async ({ prompt }, extra) => {
      const messages = [{ role: "user", content: { type: "text", text: prompt } }];
      const params = { messages, maxTokens: 100 };
      const request = { method: "sampling/createMessage", params };
      const result = await extra.sendRequest(request, types.CreateMessageResultSchema);
      return text(`LLM response: ${result.content.text}`);
    },
  ],
  test_elicitation: [
    one("message"),
    ({ message }, extra) =>
      elicit(extra, message, {
        type: "object",
        properties: {
          username: { type: "string", description: "User's response" },
          email: { type: "string", description: "User's email address" },
        },
        required: ["username", "email"],
      }),
  ],
  test_elicitation_sep1034_defaults: [
    NOTHING,
    (_, extra) =>
      elicit(extra, "Please review and update the form fields with defaults", {
        type: "object",
        properties: {
          name: { type: "string", description: "User name", default: "John Doe" },
          age: { type: "integer", description: "User age", default: 30 },
          score: { type: "number", description: "User score", default: 95.5 },
          status: { ...strings(["active", "inactive", "pending"]), default: "active" },
          verified: { type: "boolean", description: "Verification status", default: true },
        },
        required: [],
      }),
  ],
  test_elicitation_sep1330_enums: [
    NOTHING,
    (_, extra) =>
      elicit(extra, "Please select options from the enum fields", {
        type: "object",
        properties: {
          untitledSingle: strings(["option1", "option2", "option3"]),
          titledSingle: { type: "string", ...titled("oneOf", "Option") },
          legacyEnum: {
            ...strings(["opt1", "opt2", "opt3"]),
            enumNames: ["Option One", "Option Two", "Option Three"],
          },
          untitledMulti: { type: "array", items: strings(["option1", "option2", "option3"]) },
          titledMulti: { type: "array", items: titled("anyOf", "Choice") },
        },
        required: [],
      }),
  ],
  json_schema_2020_12_tool: [
    {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      $defs: {
        address: {
          type: "object",
          properties: { street: { type: "string" }, city: { type: "string" } },
        },
      },
      properties: { name: { type: "string" }, address: { $ref: "#/$defs/address" } },
      additionalProperties: false,
    },
    (params) => text(JSON.stringify(params)),
  ],
};

const RESOURCES = [
  { uri: "test://static-text", name: "Static text", mimeType: "text/plain" },
  { uri: "test://static-binary", name: "Static binary", mimeType: "image/png" },
  { uri: "test://watched-resource", name: "Watched", mimeType: "text/plain" },
];

function read(uri) {
  if (uri === "test://static-binary") {
    return { uri, mimeType: "image/png", blob: PNG };
  }
  const id = /^test:\/\/template\/(.+)\/data$/.exec(uri)?.[1];
  if (id !== undefined) {
    const data = { id, templateTest: true, data: `Data for ID: ${id}` };
    return { uri, mimeType: "application/json", text: JSON.stringify(data) };
  }
  if (RESOURCES.some((known) => known.uri === uri)) {
    return { uri, mimeType: "text/plain", text: "This is the content of the static text resource." };
  }
  throw new types.McpError(-32002, `Resource not found: ${uri}`);
}

const argument = (name) => ({ name, description: name, required: true });
const message = (content) => ({ role: "user", content });
const say = (value) => message({ type: "text", text: value });
const PROMPTS = {
  test_simple_prompt: [[], () => [say("This is a simple prompt for testing.")]],
  test_prompt_with_arguments: [
    [argument("arg1"), argument("arg2")],
    ({ arg1, arg2 }) => [say(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)],
  ],
  test_prompt_with_embedded_resource: [
    [argument("resourceUri")],
    ({ resourceUri: uri }) => [
      message({ type: "resource", resource: { uri, mimeType: "text/plain", text: "embedded" } }),
      say("Please process the embedded resource above."),
    ],
  ],
  test_prompt_with_image: [[], () => [message(image), say("Please analyze the image above.")]],
};

function make() {
  const server = new Server(
    { name: "everything", version: "1" },
    {
      capabilities: {
        tools: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        prompts: { listChanged: true },
        logging: {},
        completions: {},
      },
    },
  );
  const on = (schema, handle) => server.setRequestHandler(schema, handle);
  on(types.ListToolsRequestSchema, () => ({
    tools: Object.entries(TOOLS).map(([name, [inputSchema]]) => ({
      name,
      description: `The tool ${name}`,
      inputSchema,
    })),
  }));
  on(types.CallToolRequestSchema, ({ params }, extra) => {
    const tool = TOOLS[params.name];
    if (tool === undefined) {
      throw new types.McpError(-32602, `Unknown tool: ${params.name}`);
    }
    return tool[1](params.arguments ?? {}, extra);
  });
  on(types.ListResourcesRequestSchema, () => ({ resources: RESOURCES }));
  on(types.ListResourceTemplatesRequestSchema, () => ({
    resourceTemplates: [
      { uriTemplate: "test://template/{id}/data", name: "Template", mimeType: "application/json" },
    ],
  }));
  on(types.ReadResourceRequestSchema, ({ params }) => ({ contents: [read(params.uri)] }));
  on(types.SubscribeRequestSchema, () => ({}));
  on(types.UnsubscribeRequestSchema, () => ({}));
  on(types.ListPromptsRequestSchema, () => ({
    prompts: Object.entries(PROMPTS).map(([name, [args]]) => ({
      name,
      description: `The prompt ${name}`,
      arguments: args,
    })),
  }));
  on(types.GetPromptRequestSchema, ({ params }) => {
    const prompt = PROMPTS[params.name];
    if (prompt === undefined) {
      throw new types.McpError(-32602, `Unknown prompt: ${params.name}`);
    }
    return { messages: prompt[1](params.arguments ?? {}) };
  });
  on(types.SetLevelRequestSchema, () => ({}));
  on(types.CompleteRequestSchema, () => ({
    completion: { values: ["test-value"], total: 1, hasMore: false },
  }));
  return server;
}

// Keeps the events of streams, so that clients can take them up again.
class EventStore {
  events = [];

  async storeEvent(stream, message) {
    this.events.push({ stream, message });
    return String(this.events.length - 1);
  }

  async getStreamIdForEventId(id) {
    return this.events[Number(id)]?.stream;
  }

  async replayEventsAfter(last, { send }) {
    const { stream } = this.events[Number(last)];
    for (let at = Number(last) + 1; at < this.events.length; at += 1) {
      const event = this.events[at];
      if (event.stream === stream && Object.keys(event.message).length > 0) {
        await send(String(at), event.message);
      }
    }
    return stream;
  }
}

if (mode === "http") {
  const sessions = new Map();
  const http = createServer(async (request, response) => {
    const host = (request.headers.host ?? "").replace(/:\d+$/, "");
    if (!["127.0.0.1", "localhost"].includes(host)) {
      response.writeHead(403).end();
      return;
    }
    let transport = sessions.get(request.headers["mcp-session-id"]);
    if (transport === undefined) {
      transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        eventStore: new EventStore(),
        retryInterval: 100,
        onsessioninitialized: (id) => sessions.set(id, transport),
      });
      await make().connect(transport);
    }
    await transport.handleRequest(request, response);
  });
  http.listen(0, "127.0.0.1", () => {
    console.log(`http://127.0.0.1:${http.address().port}/mcp`);
  });
} else {
  await make().connect(new StdioServerTransport());
}
