// Says which client runs on which Node.
import { VERSION as anthropic } from "@anthropic-ai/sdk/version";
import { VERSION as openai } from "openai/version";

console.log(JSON.stringify({ anthropic, openai, node: Number(process.versions.node.split(".")[0]) }));
