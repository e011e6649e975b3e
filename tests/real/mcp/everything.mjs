// A server for the MCP conformance suite, made with the SDK for TypeScript: over standard input and
// output, or with `http` over streamable HTTP, whose address is the first line of standard output.
//
//     everything.mjs MODULES [http]
//
// MODULES is the folder `node_modules` with the SDK.

import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { pathToFileURL } from "node:url";

import * as content from "./content.mjs";

const [modules, mode] = process.argv.slice(2);
const sdk = (path) => import(pathToFileURL(`${modules}/@modelcontextprotocol/sdk/dist/esm/${path}`));
const { Server } = await sdk("server/index.js");
const { StdioServerTransport } = await sdk("server/stdio.js");
const { StreamableHTTPServerTransport } = await sdk("server/streamableHttp.js");
const types = await sdk("types.js");
const { FORMS, NOTHING, PROMPTS, RESOURCES, TEMPLATES } = content;
const { answered, listed, one, pause, read, report, text } = content;

async function elicit(extra, message, requestedSchema) {
  const params = { message, requestedSchema };
  const request = { method: "elicitation/create", params };
  return answered(await extra.sendRequest(request, types.ElicitResultSchema));
}

// The tools, each with its schema and what it does.
const TOOLS = {
  ...content.TOOLS,
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
    (_, extra) => report(extra._meta?.progressToken ?? 0, (note) => extra.sendNotification(note)),
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
  ...Object.fromEntries(
    Object.entries(FORMS).map(([name, [message, form]]) => [
      name,
      [
        name === "test_elicitation" ? one("message") : NOTHING,
        (params, extra) => elicit(extra, params.message ?? message, form),
      ],
    ]),
  ),
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
  on(types.ListToolsRequestSchema, () => ({ tools: listed.tools(TOOLS) }));
  on(types.CallToolRequestSchema, ({ params }, extra) => {
    const tool = TOOLS[params.name];
    if (tool === undefined) {
      throw new types.McpError(-32602, `Unknown tool: ${params.name}`);
    }
    return tool[1](params.arguments ?? {}, extra);
  });
  on(types.ListResourcesRequestSchema, () => ({ resources: RESOURCES }));
  on(types.ListResourceTemplatesRequestSchema, () => ({ resourceTemplates: TEMPLATES }));
  on(types.ReadResourceRequestSchema, ({ params }) => {
    const found = read(params.uri);
    if (found === undefined) {
      throw new types.McpError(-32002, `Resource not found: ${params.uri}`);
    }
    return { contents: [found] };
  });
  on(types.SubscribeRequestSchema, () => ({}));
  on(types.UnsubscribeRequestSchema, () => ({}));
  on(types.ListPromptsRequestSchema, () => ({ prompts: listed.prompts(PROMPTS) }));
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
