// The official Node client of Messages: create, stream, tool runner, parse, errors.
import assert from "node:assert/strict";
import Anthropic from "@anthropic-ai/sdk";
import { betaZodTool } from "@anthropic-ai/sdk/helpers/beta/zod";
import { zodOutputFormat } from "@anthropic-ai/sdk/helpers/zod";
import { z } from "zod";

const clientOf = (name) =>
  new Anthropic({ baseURL: process.env[name], apiKey: "any", maxRetries: 0, timeout: 20_000 });
const client = clientOf("BASE_URL");
const ask = { model: "m", max_tokens: 2000, messages: [{ role: "user", content: "hi" }] };
const textOf = (message) => message.content.map((block) => (block.type === "text" ? block.text : "")).join("");
const WHOLE = "Hello, wörld 👋";

const made = await client.messages.create(ask);
assert.deepEqual([made.type, made.role, made.model, made.stop_reason], ["message", "assistant", "m", "end_turn"]);
assert.equal(textOf(made), WHOLE);
assert.match(made._request_id, /^req_/);
assert.deepEqual(
  [made.usage.input_tokens, made.usage.cache_read_input_tokens, made.usage.output_tokens],
  [8, 4, 7],
);

const types = [];
for await (const event of await client.messages.create({ ...ask, stream: true })) types.push(event.type);
assert.deepEqual([types[0], types.at(-1)], ["message_start", "message_stop"]);

const helper = client.messages.stream(ask);
let seen = "";
helper.on("text", (delta) => (seen += delta));
const final = await helper.finalMessage();
assert.equal(seen, WHOLE);
assert.equal(textOf(final), WHOLE);
assert.deepEqual([final.stop_reason, final.usage.output_tokens], ["end_turn", 7]);

// The runner begins with a thread, and goes on without one when it is told that none is served.
for (const stream of [false, true]) {
  const asked = [];
  const weather = betaZodTool({
    name: "get_weather",
    description: "Weather of a city.",
    inputSchema: z.object({ city: z.string() }),
    run: ({ city }) => {
      asked.push(city);
      return `sun in ${city}`;
    },
  });
  const runner = clientOf(stream ? "TOOL_STREAM_URL" : "TOOL_URL").beta.messages.toolRunner({
    ...ask,
    tools: [weather],
    stream,
  });
  let last;
  for await (const turn of runner) last = stream ? await turn.finalMessage() : turn;
  assert.equal(textOf(last), "It is sunny.");
  assert.deepEqual(asked, ["Paris"]);
}

const Place = z.object({ city: z.string(), people: z.number() });
const parsed = await clientOf("PARSE_URL").messages.parse({ ...ask, output_config: { format: zodOutputFormat(Place) } });
assert.deepEqual(parsed.parsed_output, { city: "Paris", people: 2 });

async function rejects(call, kind, status) {
  await assert.rejects(call, (error) => {
    assert.ok(error instanceof kind, `${error.constructor.name} instead of ${kind.name}: ${error.message}`);
    if (status) assert.equal(error.status, status);
    return true;
  });
}
await rejects(client.messages.create({ ...ask, messages: [] }), Anthropic.BadRequestError, 400);
await rejects(clientOf("LIMIT_URL").messages.create(ask), Anthropic.RateLimitError, 429);
await rejects(clientOf("BROKEN_URL").messages.create(ask), Anthropic.InternalServerError);
await rejects(clientOf("FAIL_URL").messages.stream(ask).finalMessage(), Anthropic.APIError);
// A relayed stream is cut as the upstream cut it, which the client tells in its most general error.
await rejects(clientOf("CUT_URL").messages.stream(ask).finalMessage(), Anthropic.AnthropicError);
console.log("done");
