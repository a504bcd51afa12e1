// Says which client runs on which Node.
import { VERSION } from "openai/version";

console.log(JSON.stringify({ openai: VERSION, node: Number(process.versions.node.split(".")[0]) }));
