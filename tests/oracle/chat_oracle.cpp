// Answers what upstream's `common` makes of conversations and of generated text: one JSON request a line in, one JSON answer a line out.
//   {"template": FILE, "messages": [...], "tools": [...], "toolChoice": "auto", "parallel": true, "thinking": true, "addGenerationPrompt": true,
//    "bos": "", "eos": ""}                        gives {"prompt": "...", "generationPrompt": "..."}
//   the same with "text": "..."                   gives {"content": "...", "reasoning": "...", "toolCalls": [{"name", "arguments", "id"}]}
// An exception gives {"error": "..."}.
#include "chat.h"
#include "json.h"
#include "log.h"

#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>

using json = common_json;

static std::string read_file(const std::string & path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) throw std::runtime_error("can't read " + path);
    std::ostringstream all;
    all << in.rdbuf();
    return all.str();
}

static common_chat_templates * templates_of(const json & request) {
    static std::map<std::string, common_chat_templates_ptr> known;
    const std::string path = request.at("template").get<std::string>();
    const std::string bos = request.value("bos", std::string());
    const std::string eos = request.value("eos", std::string());
    auto & entry = known[path + "\n" + bos + "\n" + eos];
    if (!entry) entry = common_chat_templates_init(nullptr, read_file(path), bos, eos);
    return entry.get();
}

static json answer(const json & request) {
    common_chat_templates_inputs inputs;
    inputs.messages = common_chat_msgs_parse_oaicompat(request.at("messages"));
    inputs.tools = common_chat_tools_parse_oaicompat(request.value("tools", json::array()));
    inputs.tool_choice = common_chat_tool_choice_parse_oaicompat(request.value("toolChoice", std::string("auto")));
    inputs.parallel_tool_calls = request.value("parallel", true);
    inputs.enable_thinking = request.value("thinking", true);
    inputs.add_generation_prompt = request.value("addGenerationPrompt", true);
    inputs.reasoning_format = COMMON_REASONING_FORMAT_DEEPSEEK;
    inputs.now = std::chrono::system_clock::from_time_t(0);
    const auto params = common_chat_templates_apply(templates_of(request), inputs);
    if (!request.contains("text")) {
        return json{ { "prompt", params.prompt }, { "generationPrompt", params.generation_prompt } };
    }
    common_chat_parser_params parser(params);
    parser.reasoning_format = COMMON_REASONING_FORMAT_DEEPSEEK;
    parser.parser.load(params.parser);
    const auto message = common_chat_parse(request.at("text").get<std::string>(), false, parser);
    auto calls = json::array();
    for (const auto & call : message.tool_calls) {
        calls.push_back(json{ { "name", call.name }, { "arguments", call.arguments }, { "id", call.id } });
    }
    return json{ { "content", message.content }, { "reasoning", message.reasoning_content }, { "toolCalls", calls } };
}

int main() {
    common_log_set_verbosity_thold(-1);
    std::string line;
    while (std::getline(std::cin, line)) {
        json result;
        try {
            result = answer(json::parse(line));
        } catch (const std::exception & error) {
            result = json{ { "error", std::string(error.what()) } };
        }
        std::cout << result.dump_safe() << "\n" << std::flush;
    }
}
