// An agent of the AI SDK. gramc starts it for each run; GRAMC_MCP_URL is its tools.

import { createInterface } from "node:readline";
import { createMCPClient } from "@ai-sdk/mcp";
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, stepCountIs } from "ai";

const openai = createOpenAI({ baseURL: process.env.OPENAI_BASE_URL });
const client = await createMCPClient({
  transport: { type: "http", url: process.env.GRAMC_MCP_URL },
});
const tools = await client.tools();
const messages = [];

for await (const line of createInterface({ input: process.stdin })) {
  const { input, instruction, model } = JSON.parse(line);
  messages.push({ role: "user", content: input });
  const result = await generateText({
    model: openai.chat(model.replace("openai/", "")),
    system: instruction,
    messages,
    tools,
    stopWhen: stepCountIs(10),
  });
  messages.push(...result.response.messages);
  const usage = {
    input_tokens: result.totalUsage.inputTokens,
    output_tokens: result.totalUsage.outputTokens,
    requests: result.steps.length,
  };
  console.log(JSON.stringify({ output: result.text, usage }));
}
await client.close();
