// The official Node client on /v1/responses: create, stream, helper, parse, chain, reading back.
import assert from "node:assert/strict";
import { zodResponsesFunction, zodTextFormat } from "openai/helpers/zod";
import { z } from "zod";
import { client, clientOf, rejects } from "./client.mjs";

const made = await client.responses.create({ model: "m", input: "one" });
assert.equal(made.output_text, "Hello, wörld 👋");
assert.match(made._request_id, /^req_/);
assert.equal(made.usage.input_tokens_details.cached_tokens, 4);

const types = [];
let text = "";
for await (const event of await client.responses.create({ model: "m", input: "one", stream: true })) {
  types.push(event.type);
  if (event.type === "response.output_text.delta") text += event.delta;
}
assert.equal(text, made.output_text);
assert.equal(types[0], "response.created");
assert.equal(types.at(-1), "response.completed");

const helper = client.responses.stream({ model: "m", input: "two", previous_response_id: made.id });
let seen = "";
helper.on("response.output_text.delta", (event) => (seen = event.snapshot ?? seen + event.delta));
const final = await helper.finalResponse();
assert.equal(final.output_text, made.output_text);
assert.equal(seen, final.output_text);
assert.equal(final.previous_response_id, made.id);

const kept = await client.responses.retrieve(final.id);
assert.deepEqual(kept.output, JSON.parse(JSON.stringify(final.output, (key, value) => (key === "parsed" ? undefined : value))));
const items = [];
for await (const item of client.responses.inputItems.list(final.id, { order: "asc", limit: 1 })) items.push(item);
assert.deepEqual(items.map((item) => item.role), ["user", "assistant", "user"]);
await client.responses.delete(made.id);
await rejects(client.responses.retrieve(made.id), 404, { type: "invalid_request_error" });
await rejects(client.responses.create({ model: "m", input: "x", previous_response_id: made.id }), 400, {
  code: "previous_response_not_found",
  param: "previous_response_id",
});

const Place = z.object({ city: z.string(), people: z.number() });
const parsing = clientOf("PARSE_URL");
const parsed = await parsing.responses.parse({ model: "m", input: "?", text: { format: zodTextFormat(Place, "place") } });
assert.deepEqual(parsed.output_parsed, { city: "Paris", people: 2 });
const streamed = await parsing.responses
  .stream({ model: "m", input: "?", text: { format: zodTextFormat(Place, "place") } })
  .finalResponse();
assert.deepEqual(streamed.output_parsed, { city: "Paris", people: 2 });

const tools = [zodResponsesFunction({ name: "get_weather", parameters: z.object({ city: z.string() }) })];
const calling = clientOf("TOOL_URL");
const first = await calling.responses.parse({ model: "m", input: "Weather?", tools });
const call = first.output.find((item) => item.type === "function_call");
assert.deepEqual(call.parsed_arguments, { city: "Paris" });
const second = await calling.responses.create({
  model: "m",
  previous_response_id: first.id,
  input: [{ type: "function_call_output", call_id: call.call_id, output: "sunny" }],
  tools,
});
assert.equal(second.output_text, "It is sunny.");

const cut = clientOf("CUT_URL");
const broken = cut.responses.stream({ model: "m", input: "hi" });
const ended = [];
broken.on("event", (event) => ended.push(event.type));
await broken.finalResponse().then((response) => ended.push(response.status), () => ended.push("rejected"));
assert.ok(ended.includes("response.failed") || ended.at(-1) === "rejected", String(ended));
assert.ok(!ended.includes("response.completed"));
console.log("done");
