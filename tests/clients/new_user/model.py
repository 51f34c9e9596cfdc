"""Plays a model of Anthropic's Messages API on the loopback interface, for a client under test."""

import http.server
import json
import threading


class Model:
    """Calls one tool after another, then says that it is done. `told` has every text that the client sent."""

    def __init__(self, steps):
        self.told = []
        model = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_HEAD(self):
                self.answer(b"", "text/plain")

            def do_GET(self):
                self.answer(b'{"data": []}', "application/json")

            def do_POST(self):
                request = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
                if "count_tokens" in self.path or not self.path.startswith("/v1/messages"):
                    return self.answer(b'{"input_tokens": 1}', "application/json")
                model.told.extend(texts(request.get("messages", [])))
                block, reason = reply(request, steps)
                message = {"id": "msg_1", "type": "message", "role": "assistant", "model": request.get("model"),
                           "content": [], "stop_reason": None, "stop_sequence": None,
                           "usage": {"input_tokens": 1, "output_tokens": 1}}
                if not request.get("stream"):
                    message.update(content=[block], stop_reason=reason)
                    return self.answer(json.dumps(message).encode(), "application/json")
                events = [("message_start", {"message": message}), *block_events(block),
                          ("message_delta", {"delta": {"stop_reason": reason}, "usage": {"output_tokens": 1}}),
                          ("message_stop", {})]
                lines = (f"event: {name}\ndata: {json.dumps({'type': name, **data})}\n\n" for name, data in events)
                return self.answer("".join(lines).encode(), "text/event-stream")

            def answer(self, body, kind):
                self.send_response(200)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def parts(messages):
    for message in messages:
        content = message["content"]
        yield from [{"type": "text", "text": content}] if isinstance(content, str) else content


def texts(messages):
    """Returns the texts that the model is given. What tools answered is left out: the client shows it anyway."""
    return [part["text"] for part in parts(messages) if part.get("type") == "text"]


def reply(request, steps):
    """Returns the block that answers a request, and why the answer ends."""
    done = sum(part.get("type") == "tool_result" for part in parts(request.get("messages", [])))
    if request.get("tools") and done < len(steps):
        name, given = steps[done]
        return {"type": "tool_use", "id": f"toolu_{done}", "name": name, "input": given}, "tool_use"
    return {"type": "text", "text": "Done."}, "end_turn"


def block_events(block):
    if block["type"] == "text":
        empty, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": block["text"]}
    else:
        empty, delta = {**block, "input": {}}, {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    yield "content_block_start", {"index": 0, "content_block": empty}
    yield "content_block_delta", {"index": 0, "delta": delta}
    yield "content_block_stop", {"index": 0}
