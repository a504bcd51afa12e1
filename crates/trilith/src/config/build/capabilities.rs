//! What models can be asked for.

use trilith_core::Effort;
use trilith_dialect::{Change, Thinking};

use super::super::walk::Section;
use super::Build;

impl Build {
    pub(super) fn capabilities(&self, root: &Section) -> Vec<(String, Change)> {
        let sections = root.sections.get("capabilities").into_iter().flatten();
        sections
            .map(|section| (self.text(section, "model").unwrap_or_default(), self.change(section)))
            .collect()
    }

    fn change(&self, section: &Section) -> Change {
        let thinking = self.text(section, "thinking").map(|word| match word.as_str() {
            "no" => Thinking::No,
            "budget" => Thinking::Budget,
            "always" => Thinking::Always,
            _ => Thinking::Adaptive,
        });
        let efforts = self.list(section, "efforts").map(|words| {
            let mut efforts: Vec<Effort> = words.iter().filter_map(|word| Effort::parse(word)).collect();
            efforts.sort_unstable();
            efforts.into()
        });
        let most = self.number(section, "max_output");
        Change {
            forced_tool_choice: self.said(section, "forced_tool_choice"),
            single_tool_call: self.said(section, "single_tool_call"),
            several_answers: self.said(section, "several_answers"),
            stop_strings: self.number(section, "stop_strings"),
            prefill: self.said(section, "prefill"),
            sampling: self.said(section, "sampling"),
            temperature_with_top_p: self.said(section, "temperature_with_top_p"),
            system_between_turns: self.said(section, "system_between_turns"),
            json_schema: self.said(section, "json_schema"),
            schema_refs: self.said(section, "schema_refs"),
            strict_tools: self.said(section, "strict_tools"),
            pdf: self.said(section, "pdf"),
            image_urls: self.said(section, "image_urls"),
            document_urls: self.said(section, "document_urls"),
            max_output_tokens: most,
            usual_output_tokens: most,
            thinking,
            efforts,
            image_types: self
                .list(section, "image_types")
                .map(|types| types.into_iter().map(Into::into).collect()),
            max_temperature: self.number(section, "max_temperature"),
        }
    }
}
