// A route of a chat, as with Next.js: the AI SDK streams to many users, whose tools know the user.

import assert from "node:assert/strict";

import { convertToModelMessages, simulateReadableStream, stepCountIs, streamText, tool, type UIMessage } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { guard } from "gramc";
import { z } from "zod";

interface Booking {
  user: string;
  nights: number;
  arrival: Date;
  call: string;
}

const bookings: Booking[] = [];

/** The tools of a user. */
function toolsOf(user: string) {
  const tools = {
    book: tool({
      description: "Books a room",
      inputSchema: z.object({
        nights: z.int().min(1).max(30).describe("How long"),
        arrival: z.iso.date().transform((text) => new Date(text)),
        guests: z.array(z.string()).default(["the user"]),
      }),
      execute: async ({ nights, arrival, guests }, { toolCallId, messages, abortSignal }) => {
        assert(arrival instanceof Date && messages.length > 0 && abortSignal instanceof AbortSignal);
        await new Promise((done) => setTimeout(done, 5));
        bookings.push({ user, nights, arrival, call: toolCallId });
        return { confirmed: true, user, nights, guests };
      },
    }),
    cancel: tool({
      description: "Cancels the booking",
      inputSchema: z.object({}),
      execute: async (): Promise<string> => {
        throw new RangeError(`${user} has no booking`);
      },
    }),
  };
  return guard(tools);
}

/** A model that makes calls, one in each reply, and then answers. */
function scripted(calls: [name: string, input: string][]) {
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  };
  let reply = 0;
  return new MockLanguageModelV3({
    doStream: async () => {
      const call = calls[reply];
      reply += 1;
      const id = `c${reply}`;
      const chunks = call
        ? [
            { type: "tool-input-start", id, toolName: call[0] },
            ...(call[1].match(/.{1,7}/g) ?? []).map((delta) => ({ type: "tool-input-delta", id, delta })),
            { type: "tool-input-end", id },
            { type: "tool-call", toolCallId: id, toolName: call[0], input: call[1] },
          ]
        : [
            { type: "text-start", id },
            { type: "text-delta", id, delta: "done" },
            { type: "text-end", id },
          ];
      const unified = call ? "tool-calls" : "stop";
      const finish = { type: "finish", finishReason: { unified, raw: undefined }, usage };
      return { stream: simulateReadableStream({ chunks: [...chunks, finish] as never[] }) };
    },
  });
}

async function POST(request: Request, model: MockLanguageModelV3): Promise<Response> {
  const { user, messages } = (await request.json()) as { user: string; messages: UIMessage[] };
  const result = streamText({
    model,
    messages: await convertToModelMessages(messages),
    tools: toolsOf(user),
    stopWhen: stepCountIs(5),
    abortSignal: request.signal,
  });
  return result.toUIMessageStreamResponse();
}

/** The events that the browser of a user receives. */
async function chat(user: string, calls: [string, string][]) {
  const model = scripted(calls);
  const messages = [{ id: "1", role: "user", parts: [{ type: "text", text: "Book a room" }] }];
  const request = new Request("http://localhost/api/chat", { method: "POST", body: JSON.stringify({ user, messages }) });
  const text = await (await POST(request, model)).text();
  const lines = text.split("\n").filter((line) => line.startsWith("data: {"));
  return { events: lines.map((line) => JSON.parse(line.slice("data: ".length))), model };
}

const good = JSON.stringify({ nights: 3, arrival: "2026-12-01" });
const { events, model } = await chat("ada", [["book", good], ["cancel", "{}"]]);
const output = events.find(({ type }) => type === "tool-output-available")?.output;
assert.deepEqual(output, { confirmed: true, user: "ada", nights: 3, guests: ["the user"] });
assert.equal(events.filter(({ type }) => type === "tool-input-delta").map((it) => it.inputTextDelta).join(""), `${good}{}`);
assert.equal(events.find(({ type }) => type === "tool-output-error")?.toolCallId, "c2");
const [definition] = model.doStreamCalls[0]!.tools as { inputSchema: { properties: Record<string, object> } }[];
assert.deepEqual(definition!.inputSchema.properties["nights"], {
  description: "How long",
  type: "integer",
  minimum: 1,
  maximum: 30,
});
const results = model.doStreamCalls[2]!.prompt.filter(({ role }) => role === "tool");
assert.match(JSON.stringify(results[1]), /ada has no booking/);

// Many users at the same time. The wrong calls of one do not affect the others.
const wrong = JSON.stringify({ nights: 90, arrival: "2026-12-01" });
const users = Array.from({ length: 20 }, (_, at) => `user${at}`);
const chats = await Promise.all(
  users.map((user, at) => chat(user, at === 7 ? [1, 2, 3, 4].map(() => ["book", wrong]) : [["book", good]])),
);
const served = chats.map(({ events }) => events.find(({ type }) => type === "tool-output-available")?.output.user);
assert.deepEqual(served, users.map((user, at) => (at === 7 ? undefined : user)));
assert.equal(bookings.length, 20);

const malformed = await chat("grace", [["book", '{"nights": "3", "arrival": "2026-12-01", "guests": "[\\"Ada\\"]"}']]);
const outcome = malformed.events.find(({ type }) => type === "tool-output-available")?.output;
if (outcome) assert.deepEqual(outcome, { confirmed: true, user: "grace", nights: 3, guests: ["Ada"] });
console.log(`malformed call: ${outcome ? "succeeded" : "failed"}`);
