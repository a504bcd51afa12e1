//! What a newcomer can copy once the server answers.

use std::net::SocketAddr;

/// Three calls, in the order in which they teach something.
pub(crate) fn calls(address: SocketAddr, model: &str, keys: bool) -> String {
    let base = format!("http://{address}/v1");
    let auth = if keys { " -H \"authorization: Bearer $TRILITH_KEY\"" } else { "" };
    let key = if keys { "os.environ[\"TRILITH_KEY\"]" } else { "\"none\"" };
    let import = if keys { "import os\n" } else { "" };
    format!(
        r#"
Try it (in another terminal):

  curl -w '\n' {base}/chat/completions{auth} -H 'content-type: application/json' \
    -d '{{"model":"{model}","max_completion_tokens":200,"messages":[{{"role":"user","content":"Say hello."}}]}}'

  curl -w '\n' {base}/responses{auth} -H 'content-type: application/json' \
    -d '{{"model":"{model}","max_output_tokens":200,"input":"My name is Ada. Say hello."}}'
  # continue it: send the "id" of the answer back
  curl -w '\n' {base}/responses{auth} -H 'content-type: application/json' \
    -d '{{"model":"{model}","max_output_tokens":200,"previous_response_id":"PASTE_THE_ID","input":"What is my name?"}}'

  # pip install openai
{import}from openai import OpenAI
client = OpenAI(base_url="{base}", api_key={key})
first = client.responses.create(
    model="{model}", max_output_tokens=200, input="My name is Ada. Say hello."
)
print(first.output_text)
second = client.responses.create(
    model="{model}", max_output_tokens=200, previous_response_id=first.id, input="What is my name?"
)
print(second.output_text)
"#
    )
}
