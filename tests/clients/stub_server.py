"""A server of the Model Context Protocol with one tool, for recording what a hook is told of such a call."""

import json
import sys

SCHEMA = {"type": "object", "properties": {"thing": {"type": "string"}}}
TOOL = {"name": "weigh", "description": "How heavy a thing is", "inputSchema": SCHEMA}
SERVER = {"name": "scales", "version": "1"}
RESULTS = {
    "initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": SERVER},
    "tools/list": {"tools": [TOOL]},
    "tools/call": {"content": [{"type": "text", "text": "Three pounds."}]},
}

for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        result = RESULTS.get(request["method"])
        answer = {"result": result} if result else {"error": {"code": -32601, "message": "No such method"}}
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **answer}), flush=True)
