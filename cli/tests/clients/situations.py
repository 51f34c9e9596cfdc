"""Makes the tool calls of an agent's day with the `mcp` package: situations.py PROGRAM

`situations.json` has the situations, each with the one or two calls that are right in it and words of the last answer. The
server runs as an agent has it: in a project, for an agent of a workspace, with the default tools.
"""

import asyncio
import json
import pathlib
import subprocess
import sys
import tempfile

from mcp import Client, StdioServerParameters

DAY = json.loads((pathlib.Path(__file__).parent / "situations.json").read_text())


async def text(client, name, arguments):
    answer = await client.call_tool(name, arguments)
    assert not answer.is_error, (name, arguments, answer)
    assert answer.structured_content is None, (name, arguments, "the answer is given twice")
    return answer.content[0].text


async def live(client):
    assert len((await client.list_tools()).tools) <= 10
    for name, arguments in DAY["before"]:
        await text(client, name, arguments)
    calls = 0
    for one in DAY["situations"]:
        assert len(one["calls"]) <= 2, one
        for name, arguments in one["calls"]:
            last = await text(client, name, arguments)
        assert one["answer"] in last, (one, last)
        calls += len(one["calls"])
    print(f"mcp package, {len(DAY['situations'])} situations: {calls} calls")


async def main(program):
    with tempfile.TemporaryDirectory() as folder:
        project = pathlib.Path(folder) / "project"
        project.mkdir()
        (pathlib.Path(folder) / "store").mkdir()
        arguments = ["--root", f"{folder}/store", "--project", str(project), "--agent", "main", "--workspace", "team"]
        for name, content in DAY["files"].items():
            place = [program, *arguments, "--scope", "project", "show", "--path", name]
            found = subprocess.run(place, check=True, capture_output=True, text=True)
            path = pathlib.Path(found.stdout.strip())
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        shop = ["--root", f"{folder}/store", "--project", f"{folder}/shop", "remember", *DAY["another_project"]]
        (pathlib.Path(folder) / "shop").mkdir()
        subprocess.run([program, *shop], check=True, capture_output=True)
        async with Client(StdioServerParameters(command=program, args=[*arguments, "mcp"]), mode="auto") as client:
            await live(client)


asyncio.run(main(sys.argv[1]))
