// What every script needs: a client of the server under test, and checks that say what they saw.
import assert from "node:assert/strict";
import OpenAI from "openai";

const options = { apiKey: "any", maxRetries: 0, timeout: 20_000 };

export const client = new OpenAI({ baseURL: process.env.BASE_URL, ...options });

// Several servers: one for each script that the upstream plays.
export const clientOf = (name) => new OpenAI({ baseURL: process.env[name], ...options });

export async function rejects(call, status, fields) {
  await assert.rejects(call, (error) => {
    assert.equal(error.status, status);
    for (const [name, value] of Object.entries(fields)) assert.equal(error[name], value, name);
    return true;
  });
}
