"""Speaks to `saddlebag mcp` with the `mcp` package: python_client.py PROGRAM

Over pipes and over HTTP, with sessions (the handshake `initialize`) and without (`server/discover`), it lists the
tools, calls each once, and reads the resources and prompts. The package checks structured answers against the
schemas that the tools promise.
"""

import asyncio
import sys

from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client

from served import CALLS, CONTEXT, NOTE, TOOLS, served


async def use(client):
    assert client.server_info.name == "saddlebag", client.server_info
    listed = (await client.list_tools()).tools
    assert {tool.name for tool in listed} == TOOLS, listed
    assert all(tool.annotations.open_world_hint is False for tool in listed), listed
    for name, arguments in CALLS:
        result = await client.call_tool(name, arguments)
        assert not result.is_error, (name, result)
        assert result.content[0].text, (name, result)

    wrong = await client.call_tool("memory_write", {"target": "daily", "content": "x", "colour": "red"})
    assert wrong.is_error and "colour" in wrong.content[0].text, wrong

    uris = {str(resource.uri) for resource in (await client.list_resources()).resources}
    assert {CONTEXT, NOTE} <= uris, uris
    for uri in sorted(uris):
        assert (await client.read_resource(uri)).contents, uri
    assert "port 8443" in (await client.read_resource(CONTEXT)).contents[0].text
    assert (await client.read_resource(NOTE)).contents[0].text == "Ship on Monday.\n"
    try:
        await client.read_resource("saddlebag://file/agents/other/entries/core/k.md")
        raise AssertionError("a file of another agent was read")
    except MCPError:
        pass
    templates = (await client.list_resource_templates()).resource_templates
    assert [template.uri_template for template in templates] == ["saddlebag://file/{+path}"], templates

    for prompt in (await client.list_prompts()).prompts:
        assert (await client.get_prompt(prompt.name)).messages, prompt


async def main(program):
    for mode in ["legacy", "auto"]:
        with served(program) as store:
            server = StdioServerParameters(command=store.command[0], args=store.command[1:])
            async with Client(server, mode=mode) as client:
                await use(client)
                version = client.protocol_version
            print(f"mcp package, pipes, {mode}: protocol {version}, {len(TOOLS)} tools called")
        with served(program) as store, store.http() as (url, token):
            async with create_mcp_http_client(headers={"Authorization": f"Bearer {token}"}) as http:
                async with Client(streamable_http_client(url, http_client=http), mode=mode) as client:
                    await use(client)
                    version = client.protocol_version
            print(f"mcp package, HTTP, {mode}: protocol {version}, {len(TOOLS)} tools called")


asyncio.run(main(sys.argv[1]))
