// The official Node client on /v1/chat/completions: create, stream, helper, parse, tool runner.
import assert from "node:assert/strict";
import { zodFunction, zodResponseFormat } from "openai/helpers/zod";
import { z } from "zod";
import { client, clientOf, rejects } from "./client.mjs";

const messages = [{ role: "user", content: "hi" }];

const made = await client.chat.completions.create({ model: "m", messages });
assert.equal(made.choices[0].message.content, "Hello, wörld 👋");
assert.equal(made.choices[0].finish_reason, "stop");
assert.equal(made.usage.completion_tokens_details.reasoning_tokens, 2);

let text = "";
let usage = null;
const asked = { model: "m", messages, stream: true, stream_options: { include_usage: true } };
for await (const chunk of await client.chat.completions.create(asked)) {
  text += chunk.choices[0]?.delta.content ?? "";
  usage = chunk.usage ?? usage;
}
assert.equal(text, made.choices[0].message.content);
assert.equal(usage.total_tokens, 19);

const helper = client.chat.completions.stream({ model: "m", messages });
assert.equal(await helper.finalContent(), text);

const Place = z.object({ city: z.string(), people: z.number() });
const parsed = await clientOf("PARSE_URL").chat.completions.parse({
  model: "m",
  messages,
  response_format: zodResponseFormat(Place, "place"),
});
assert.deepEqual(parsed.choices[0].message.parsed, { city: "Paris", people: 2 });

for (const stream of [false, true]) {
  const asked = [];
  const get_weather = zodFunction({
    name: "get_weather",
    parameters: z.object({ city: z.string() }),
    function: ({ city }) => {
      asked.push(city);
      return "sunny";
    },
  });
  const runner = clientOf(stream ? "TOOL_STREAM_URL" : "TOOL_URL").chat.completions.runTools({
    model: "m",
    messages: [{ role: "user", content: "Weather?" }],
    tools: [get_weather],
    stream,
  });
  assert.equal(await runner.finalContent(), "It is sunny.");
  assert.deepEqual(asked, ["Paris"]);
}

await rejects(client.chat.completions.create({ model: "m", messages: [{ role: "wizard", content: "hi" }], n: 0 }), 400, {
  type: "invalid_request_error",
});
await assert.rejects(async () => {
  for await (const chunk of await clientOf("CUT_URL").chat.completions.create({ model: "m", messages, stream: true })) {
    assert.notEqual(chunk.choices[0]?.finish_reason, "stop");
  }
});
console.log("done");
