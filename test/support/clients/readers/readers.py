"""Python readers: google-genai, openai (both formats), anthropic and litellm (as a Gemini client).

One JSON argument and the reader's name in, one JSON line out, as reader.ts has it.
"""

import json
import sys

QUESTION = "Take three steps."
TURNS_MAX = 6
SCHEMA = {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}
told = {"text": ""}


def step_result(arguments):
    return f"did {arguments['word']}"


def google_genai(task):
    from google import genai
    from google.genai import types

    client = genai.Client(api_key=task["key"], http_options=types.HttpOptions(base_url=task["origin"]))
    declaration = types.FunctionDeclaration(name="step", description="Does a step", parameters_json_schema=SCHEMA)
    config = types.GenerateContentConfig(
        tools=[types.Tool(function_declarations=[declaration])] if task["hasTool"] else None,
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    )
    contents = [types.Content(role="user", parts=[types.Part(text=QUESTION)])]
    for _ in range(TURNS_MAX):
        call = {"model": task["model"], "contents": contents, "config": config}
        if task["isStream"]:
            chunks = client.models.generate_content_stream(**call)
        else:
            chunks = [client.models.generate_content(**call)]
        parts = []
        told["text"] = ""
        for chunk in chunks:
            for candidate in chunk.candidates or []:
                parts.extend((candidate.content and candidate.content.parts) or [])
            told["text"] = "".join(part.text or "" for part in parts if not part.thought)
        calls = [part.function_call for part in parts if part.function_call]
        if not calls:
            return
        results = [
            types.Part(
                function_response=types.FunctionResponse(
                    id=call.id, name=call.name, response={"output": step_result(call.args)}
                )
            )
            for call in calls
        ]
        contents += [types.Content(role="model", parts=parts), types.Content(role="user", parts=results)]


def openai_chat(task):
    import openai

    client = openai.OpenAI(api_key=task["key"], base_url=f"{task['origin']}/v1", max_retries=0)
    chat_turns(task, lambda **call: client.chat.completions.create(**call))


def litellm_gemini(task):
    import litellm

    def complete(**call):
        return litellm.completion(
            **{**call, "model": f"gemini/{call['model']}"},
            api_key=task["key"],
            api_base=f"{task['origin']}/v1beta",
            num_retries=0,
        )

    chat_turns(task, complete)


def chat_turns(task, complete):
    """The loop of turns of a library that speaks chat completions to its user."""
    messages = [{"role": "user", "content": QUESTION}]
    function = {"name": "step", "description": "Does a step", "parameters": SCHEMA}
    tools = {"tools": [{"type": "function", "function": function}]} if task["hasTool"] else {}
    for _ in range(TURNS_MAX):
        reply = complete(model=task["model"], messages=messages, stream=task["isStream"], **tools)
        told["text"] = ""
        calls = {}
        for chunk in reply if task["isStream"] else [reply]:
            if not chunk.choices:
                continue
            message = chunk.choices[0].delta if task["isStream"] else chunk.choices[0].message
            told["text"] += message.content or ""
            for position, call in enumerate(message.tool_calls or []):
                index = call.index if task["isStream"] else position
                whole = calls.setdefault(index, {"id": None, "name": "", "arguments": ""})
                whole["id"] = call.id or whole["id"]
                whole["name"] = call.function.name or whole["name"]
                whole["arguments"] += call.function.arguments or ""
        if not calls:
            return
        tool_calls = [
            {
                "id": call["id"],
                "type": "function",
                "function": {"name": call["name"], "arguments": call["arguments"]},
            }
            for call in calls.values()
        ]
        messages.append({"role": "assistant", "content": told["text"], "tool_calls": tool_calls})
        for call in calls.values():
            result = step_result(json.loads(call["arguments"]))
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})


def openai_responses(task):
    import openai

    client = openai.OpenAI(api_key=task["key"], base_url=f"{task['origin']}/v1", max_retries=0)
    tool = {"type": "function", "name": "step", "description": "Does a step", "parameters": SCHEMA, "strict": False}
    items = [{"role": "user", "content": QUESTION}]
    for _ in range(TURNS_MAX):
        call = {"model": task["model"], "input": items, "store": False}
        if task["hasTool"]:
            call["tools"] = [tool]
        told["text"] = ""
        if task["isStream"]:
            with client.responses.stream(**call) as stream:
                for event in stream:
                    if event.type == "response.output_text.delta":
                        told["text"] += event.delta
                    if event.type == "response.failed":
                        raise RuntimeError(f"response.failed: {event.response.error.code}")
                response = stream.get_final_response()
        else:
            response = client.responses.create(**call)
            told["text"] = response.output_text
        calls = [item for item in response.output if item.type == "function_call"]
        if not calls:
            return
        items += [own_item(item) for item in response.output]
        items += [
            {
                "type": "function_call_output",
                "call_id": item.call_id,
                "output": step_result(json.loads(item.arguments)),
            }
            for item in calls
        ]


def own_item(item):
    """An item of the reply as the next request may hold it: without what the library parsed."""
    kept = item.model_dump(exclude_none=True, exclude={"parsed_arguments"})
    for part in kept.get("content", []):
        part.pop("parsed", None)
    return kept


def anthropic_messages(task):
    import anthropic

    client = anthropic.Anthropic(api_key=task["key"], base_url=task["origin"], max_retries=0)
    messages = [{"role": "user", "content": QUESTION}]
    tools = [{"name": "step", "description": "Does a step", "input_schema": SCHEMA}] if task["hasTool"] else []
    for _ in range(TURNS_MAX):
        call = {"model": task["model"], "max_tokens": 1000, "messages": messages, "tools": tools}
        told["text"] = ""
        if task["isStream"]:
            with client.messages.stream(**call) as stream:
                for text in stream.text_stream:
                    told["text"] += text
                message = stream.get_final_message()
        else:
            message = client.messages.create(**call)
            told["text"] = "".join(block.text for block in message.content if block.type == "text")
        calls = [block for block in message.content if block.type == "tool_use"]
        if not calls:
            return
        messages.append({"role": "assistant", "content": [block.to_dict() for block in message.content]})
        results = [
            {"type": "tool_result", "tool_use_id": block.id, "content": step_result(block.input)} for block in calls
        ]
        messages.append({"role": "user", "content": results})


READERS = {
    "google-genai": google_genai,
    "openai chat": openai_chat,
    "openai responses": openai_responses,
    "anthropic": anthropic_messages,
    "litellm gemini": litellm_gemini,
}

if __name__ == "__main__":
    try:
        READERS[sys.argv[2]](json.loads(sys.argv[1]))
    except Exception as error:
        told["error"] = f"{type(error).__name__}: {error}"
    print(json.dumps(told))
