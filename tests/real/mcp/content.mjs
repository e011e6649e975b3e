// What the servers for the MCP conformance suite offer, in every revision of the protocol.

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
const WAV = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=";
export const NOTHING = { type: "object", properties: {} };
export const text = (value) => ({ content: [{ type: "text", text: value }] });
export const pause = (time) => new Promise((resume) => setTimeout(resume, time));
const image = { type: "image", data: PNG, mimeType: "image/png" };
export const one = (name) => ({
  type: "object",
  properties: { [name]: { type: "string" } },
  required: [name],
});

const strings = (names) => ({ type: "string", enum: names });
const titled = (key, word) => ({
  [key]: [1, 2, 3].map((at) => ({ const: `value${at}`, title: `${word} ${at}` })),
});

// The forms with which tools ask for input, each with its question.
export const FORMS = {
  test_elicitation: [
    "Please provide your information",
    {
      type: "object",
      properties: {
        username: { type: "string", description: "User's response" },
        email: { type: "string", description: "User's email address" },
      },
      required: ["username", "email"],
    },
  ],
  test_elicitation_sep1034_defaults: [
    "Please review and update the form fields with defaults",
    {
      type: "object",
      properties: {
        name: { type: "string", description: "User name", default: "John Doe" },
        age: { type: "integer", description: "User age", default: 30 },
        score: { type: "number", description: "User score", default: 95.5 },
        status: { ...strings(["active", "inactive", "pending"]), default: "active" },
        verified: { type: "boolean", description: "Verification status", default: true },
      },
      required: [],
    },
  ],
  test_elicitation_sep1330_enums: [
    "Please select options from the enum fields",
    {
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
    },
  ],
};

// What a tool says about the answer to a form.
export const answered = ({ action, content }) =>
  text(`User response: action=${action}, content=${JSON.stringify(content ?? {})}`);

// Reports the progress of a call in three steps.
export async function report(progressToken, notify) {
  for (const progress of [0, 50, 100]) {
    const params = { progressToken, progress, total: 100, message: `Step ${progress} of 100` };
    await notify({ method: "notifications/progress", params });
    await pause(50);
  }
  return text(String(progressToken));
}

// The tools, each with its schema and what it does.
export const TOOLS = {
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
  test_error_handling: [
    NOTHING,
    () => ({ ...text("This tool intentionally returns an error for testing"), isError: true }),
  ],
  json_schema_2020_12_tool: [
    {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      $defs: {
        address: {
          $anchor: "addressDef",
          type: "object",
          properties: { street: { type: "string" }, city: { type: "string" } },
        },
      },
      properties: {
        name: { type: "string" },
        address: { $ref: "#/$defs/address" },
        contactMethod: { type: "string", enum: ["phone", "email"] },
        phone: { type: "string" },
        email: { type: "string" },
      },
      allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
      if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
      then: { required: ["phone"] },
      else: { required: ["email"] },
      additionalProperties: false,
    },
    (params) => text(JSON.stringify(params)),
  ],
};

export const RESOURCES = [
  { uri: "test://static-text", name: "Static text", mimeType: "text/plain" },
  { uri: "test://static-binary", name: "Static binary", mimeType: "image/png" },
  { uri: "test://watched-resource", name: "Watched", mimeType: "text/plain" },
];

export const TEMPLATES = [
  { uriTemplate: "test://template/{id}/data", name: "Template", mimeType: "application/json" },
];

// The content of a resource, or nothing.
export function read(uri) {
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
  return undefined;
}

const argument = (name) => ({ name, description: name, required: true });
const message = (content) => ({ role: "user", content });
export const say = (value) => message({ type: "text", text: value });
export const PROMPTS = {
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

// The lists as servers answer with them.
export const listed = {
  tools: (tools) =>
    Object.entries(tools).map(([name, [inputSchema]]) => ({
      name,
      description: `The tool ${name}`,
      inputSchema,
    })),
  prompts: (prompts) =>
    Object.entries(prompts).map(([name, [args]]) => ({
      name,
      description: `The prompt ${name}`,
      arguments: args,
    })),
};
