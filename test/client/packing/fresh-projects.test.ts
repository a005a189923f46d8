import { expect, setDefaultTimeout, test } from "bun:test"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { buildServedClient } from "../../../scripts/packages/client.ts"
import { ROUTES } from "../../../src/contract/routes.ts"
import { pythonClient } from "../../../src/http/site/docs/python-client.ts"
import { pythonWheel, WHEEL_NAME } from "../../../src/http/site/docs/python-wheel.ts"
import { serverProcess } from "../../contract/server-process.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { startProgram } from "../../support/program.ts"

setDefaultTimeout(300_000)

const missing = (...programs: readonly string[]) => programs.filter(name => Bun.which(name) === null)
const skipWords = (programs: readonly string[]) =>
  programs.length === 0 ? "" : ` (skipped: ${programs.join(" and ")} not installed)`
const [NODE, PYTHON] = [missing("node", "npm"), missing("python3")]

/** An empty project with an empty home, and a way to run commands in it. */
function freshProject() {
  const directory = mkdtempSync(join(tmpdir(), "mailkind-fresh-"))
  onTestEnd(() => rmSync(directory, { recursive: true, force: true }))
  const ran = async (...command: readonly string[]): Promise<string> => {
    const ended = await startProgram(command, directory, { PATH: process.env["PATH"], HOME: directory }).ended()
    if (ended.code !== 0) throw new Error(`${command.join(" ")}: ${ended.out}${ended.err}`)
    return ended.out
  }
  return { directory, ran, write: (name: string, text: string) => writeFileSync(join(directory, name), text) }
}

/** A server from the checkout, which has made the package. */
async function servedClients() {
  await buildServedClient()
  const server = await serverProcess()
  onTestEnd(server.stop)
  return server
}

const USE = (url: string, key: string) => `
import { createMailkind } from "mailkind-client"
const client = createMailkind({ url: ${JSON.stringify(url)}, key: ${JSON.stringify(key)} })
const answer = await client.checkEmail("a@mailinator.com")
console.log(answer.outcome === "checked" ? answer.result.recommendation : answer.because)
`

test.skipIf(NODE.length > 0)(
  `a fresh project installs the client from any server with npm, calls it with Node and compiles with its types${skipWords(NODE)}`,
  async () => {
    const [server, { directory, ran, write }] = [await servedClients(), freshProject()]
    write("package.json", '{"name":"shop","private":true,"type":"module"}')
    await ran("npm", "install", "--no-audit", "--no-fund", `${server.url}${ROUTES.clientPackage.path}`)
    write("first.mjs", USE(server.url, server.firstKey))
    expect(await ran("node", "first.mjs")).toBe("block\n")
    write("first.ts", USE(server.url, server.firstKey))
    const strict = [
      "--strict",
      "--noEmit",
      "--target",
      "es2022",
      "--module",
      "nodenext",
      "--types",
      "",
      "--ignoreConfig",
    ]
    const tsc = join(import.meta.dir, "../../../node_modules/.bin/tsc")
    await ran(tsc, ...strict, "--lib", "es2022,dom", join(directory, "first.ts"))
  },
)

const PYTHON_USE = `
import asyncio, inspect, sys, typing
import mailkind
client = mailkind.Mailkind(sys.argv[1])
answer = client.check_email("a@mailinator.com")
print(answer.result["recommendation"] if answer.outcome == "checked" else answer.because)
async def main():
    client = mailkind.AsyncMailkind(sys.argv[1])
    answers = await asyncio.gather(*(client.check_email(f"{n}@mailinator.com") for n in range(3)))
    print(*(answer.result["recommendation"] for answer in answers))
    print([each.result["category"] async for each in client.batch(["a@mailinator.com", "b@gmail.com"])])
asyncio.run(main())
def untyped(name, thing):
    hints = typing.get_type_hints(thing)
    wanted = [p.name for p in inspect.signature(thing).parameters.values() if p.name != "self"]
    return [f"{name}.{each}" for each in [*wanted, "return"] if each not in hints]
bare, async_only = [], []
for name, value in vars(mailkind).items():
    if inspect.isclass(value) and value.__module__ == "mailkind":
        for method, function in vars(value).items():
            function = function.fget if isinstance(function, property) else function
            is_ours = inspect.isfunction(function) and function.__code__.co_filename == mailkind.__file__
            bare += untyped(f"{name}.{method}", function) if is_ours else []
    elif inspect.isfunction(value) and value.__module__ == "mailkind":
        bare += untyped(name, value)
members = lambda of: {name: str(inspect.signature(m)) if inspect.isfunction(m) else "" for name, m in vars(of).items() if not name.startswith("_")}
print(bare)
for sync, other in (("Mailkind", "AsyncMailkind"), ("Job", "AsyncJob"), ("_Jobs", "_AsyncJobs")):
    sync, other = (members(getattr(mailkind, each)) for each in (sync, other))
    print([name for name in sync if sync[name].replace("Iterator[", "AsyncIterator[").replace("_Jobs", "_AsyncJobs") != other.get(name, "").replace("AsyncIterator[", "Iterator[").replace("Iterator[", "AsyncIterator[")])
`

test.skipIf(PYTHON.length > 0)(
  `a fresh virtual environment installs the wheel, which knows its server, has asyncio and leaves nothing without a type${skipWords(PYTHON)}`,
  async () => {
    const [server, { ran, write }] = [await servedClients(), freshProject()]
    await ran("python3", "-m", "venv", "venv")
    await ran(
      "venv/bin/python",
      "-m",
      "pip",
      "install",
      "--quiet",
      "--no-index",
      "--no-deps",
      `${server.url}/docs/clients/${WHEEL_NAME}`,
    )
    write("use.py", PYTHON_USE)
    expect((await ran("venv/bin/python", "-W", "error", "use.py", server.firstKey)).trim().split("\n")).toEqual([
      ...["block", "block block block", "['disposable', 'personal']"],
      ...["[]", "[]", "[]", "[]"],
    ])
    expect(await ran("venv/bin/python", "-m", "pip", "show", "--files", "mailkind")).toContain("mailkind/py.typed")
  },
)

test("the same sources give the same packages, and the wheel of no server names none", async () => {
  const { directory } = freshProject()
  const digest = async (path: string) => Bun.SHA256.hash(await Bun.file(path).bytes(), "hex")
  const [first, second] = [await buildServedClient(join(directory, "a")), await buildServedClient(join(directory, "b"))]
  expect(await digest(first)).toBe(await digest(second))
  expect(pythonWheel(pythonClient("https://a.example"))).toEqual(pythonWheel(pythonClient("https://a.example")))
  expect(pythonClient(null)).toContain('SERVER_URL = ""')
})
