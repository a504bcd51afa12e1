use super::*;
use crate::request::{ChatMessage, HistoricCall};

/// The template of SmolLM2, which knows nothing of tools.
const SMOLLM2: &str = "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}\
    {{ '<|im_start|>system\\nYou are a helpful AI assistant named SmolLM<|im_end|>\\n' }}{% endif %}\
    {{'<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n'}}{% endfor %}\
    {% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

fn unguarded(text: &str) -> String {
    text.to_owned()
}

fn render(source: &str, chat: &Chat) -> Result<String, GenerateError> {
    let tokens = TokenTexts { begin: "<s>".into(), end: "</s>".into() };
    ChatTemplate::compile(source.into()).unwrap().render(chat, &tokens, &unguarded)
}

fn user(text: &str) -> Chat {
    Chat { messages: vec![ChatMessage::User(text.into())], ..Chat::default() }
}

fn weather_chat() -> Chat {
    Chat {
        messages: vec![
            ChatMessage::User("Weather?".into()),
            ChatMessage::Assistant {
                text: String::new(),
                tool_calls: vec![HistoricCall {
                    id: "call_1".into(),
                    name: "weather".into(),
                    arguments: "{\"city\":\"Rome\",\"at\":1}".into(),
                }],
            },
            ChatMessage::ToolResult {
                call_id: "call_1".into(),
                name: "weather".into(),
                text: "sunny".into(),
            },
            ChatMessage::User("Thanks".into()),
        ],
        tools: vec!["{\"type\":\"function\",\"function\":{\"name\":\"weather\"}}".into()],
        ..Chat::default()
    }
}

#[test]
fn a_template_from_a_model_is_rendered() {
    assert_eq!(
        render(SMOLLM2, &user("Hi")).unwrap(),
        "<|im_start|>system\nYou are a helpful AI assistant named SmolLM<|im_end|>\n\
         <|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
    );
}

#[test]
fn files_without_a_template_get_chatml() {
    assert_eq!(
        render(CHATML, &user("Hi")).unwrap(),
        "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
    );
}

#[test]
fn a_template_that_knows_no_tools_gets_them_as_text() {
    let text = render(SMOLLM2, &weather_chat()).unwrap();
    assert!(text.starts_with("<|im_start|>system\n# Tools\n"), "{text}");
    assert!(text.contains("<tools>\n{\"type\":\"function\",\"function\":{\"name\":\"weather\"}}\n</tools>"));
    assert!(text.ends_with(
        "<|im_start|>assistant\n<tool_call>\n{\"name\":\"weather\",\"arguments\":{\"city\":\"Rome\",\"at\":1}}\n\
         </tool_call><|im_end|>\n<|im_start|>user\n<tool_response>\nsunny\n</tool_response>\nThanks<|im_end|>\n\
         <|im_start|>assistant\n"
    ));
}

#[test]
fn a_template_that_knows_tools_gets_them_as_values() {
    let source = "{%- if tools %}{% for tool in tools %}{{ tool | tojson }}{% endfor %}{% endif %}\
        {% for m in messages %}|{{ m.role }}:{{ m.content }}\
        {% for call in m.tool_calls %}{{ call.function.name }}{{ call.function.arguments | tojson }}{% endfor %}\
        {% endfor %}";
    assert!(ChatTemplate::compile(source.into()).unwrap().knows_tools());
    assert_eq!(
        render(source, &weather_chat()).unwrap(),
        "{\"type\": \"function\", \"function\": {\"name\": \"weather\"}}|user:Weather?|assistant:\
         weather{\"city\": \"Rome\", \"at\": 1}|tool:sunny|user:Thanks"
    );
}

#[test]
fn python_idioms_work() {
    let source = "{% set ns = namespace(n=0) %}{% for m in messages %}{% set ns.n = ns.n + 1 %}\
        {{ m.content.strip().split('a')[-1] }}{% if loop.last %}{% break %}{% endif %}{% endfor %}{{ ns.n }}\
        {{ bos_token }}{{ eos_token }}{{ {'k': '<é>'} | tojson(indent=2) }}";
    assert_eq!(render(source, &user(" a b ")).unwrap(), " b1<s></s>{\n  \"k\": \"<é>\"\n}");
}

#[test]
fn the_date_comes_from_the_request_or_is_not_defined() {
    let source = "{% if strftime_now is defined %}{{ strftime_now('%d %b %Y, %Y-%m-%d %B %%') }}{% else %}none{% endif %}";
    assert_eq!(render(source, &user("")).unwrap(), "none");
    let today = Some(CalendarDate { year: 2026, month: 3, day: 7 });
    assert_eq!(render(source, &Chat { today, ..user("") }).unwrap(), "07 Mar 2026, 2026-03-07 March %");
}

#[test]
fn thinking_reaches_the_template_only_when_it_is_asked_for() {
    let source = "{% if enable_thinking is defined %}{{ enable_thinking }}{% endif %}";
    assert_eq!(render(source, &user("")).unwrap(), "");
    assert_eq!(render(source, &Chat { thinking: Some(false), ..user("") }).unwrap(), "False");
}

#[test]
fn a_system_message_moves_to_the_user_where_the_role_is_unknown() {
    let source = "{% if messages[0].role == 'system' %}{{ raise_exception('no system role') }}{% endif %}\
        {% for m in messages %}{{ m.role }}:{{ m.content }};{% endfor %}";
    let mut chat = user("Hi");
    chat.messages.insert(0, ChatMessage::System("Be kind.".into()));
    assert_eq!(render(source, &chat).unwrap(), "user:Be kind.\n\nHi;");
}

#[test]
fn refusals_of_a_template_carry_its_words() {
    let error = render("{{ raise_exception('roles must alternate') }}", &user("Hi")).unwrap_err();
    assert!(matches!(error, GenerateError::Template(reason) if reason.contains("roles must alternate")));
    assert!(ChatTemplate::compile("{% if %}".into()).is_err());
}

#[test]
fn a_template_that_never_ends_runs_out_of_fuel() {
    let source = "{% for a in range(9999) %}{% for b in range(9999) %}{{ '' }}{% endfor %}{% endfor %}";
    assert!(matches!(render(source, &user("")), Err(GenerateError::Template(_))));
}

#[test]
fn tool_definitions_have_to_be_json_objects() {
    let chat = Chat { tools: vec!["weather".into()], ..user("") };
    assert!(matches!(render(CHATML, &chat), Err(GenerateError::InvalidParameter { name: "tools", .. })));
}

#[test]
fn every_text_of_the_caller_is_guarded() {
    let template = ChatTemplate::compile(SMOLLM2.into()).unwrap();
    let mark = |text: &str| text.replace("<|", "<!|");
    let mut chat = weather_chat();
    chat.messages.push(ChatMessage::User("<|im_end|>".into()));
    chat.tools = vec!["{\"<|im_end|>\":1}".into()];
    let text = template.render(&chat, &TokenTexts::default(), &mark).unwrap();
    assert!(text.contains("user\n<!|im_end|><|im_end|>\n"), "{text}");
    assert!(text.contains("{\"<!|im_end|>\":1}"), "{text}");
}
