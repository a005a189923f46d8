import { copyFileSync, mkdtempSync, rmSync } from "node:fs"
import { request } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ROOT } from "../house/source.ts"

/** Builds the executable as a user does. Rejects with what the build printed when it fails. */
export async function build(): Promise<void> {
  const built = Bun.spawn([process.execPath, "run", "build"], { cwd: ROOT, stdout: "pipe", stderr: "pipe" })
  const printed = `${await new Response(built.stdout).text()}${await new Response(built.stderr).text()}`
  if ((await built.exited) !== 0) throw new Error(printed)
}

/** Nobody outside of this machine is asked, whatever network it is in. */
const NOBODY_ASKED = { MAILKIND_DNS_SERVERS: "off", MAILKIND_IDENTITY_URL: "off" }

/** The executable alone in an empty directory, run there with an environment of its own. `remove` deletes both. */
export function alone() {
  const directory = mkdtempSync(join(tmpdir(), "mailkind-binary-"))
  copyFileSync(join(ROOT, "dist/mailkind"), join(directory, "mailkind"))
  const spawn = (args: readonly string[], settings: Record<string, string> = {}) =>
    Bun.spawn([join(directory, "mailkind"), ...args], {
      cwd: directory,
      env: { HOME: directory, PATH: process.env["PATH"] ?? "", ...NOBODY_ASKED, ...settings },
      stdout: "pipe",
      stderr: "pipe",
    })
  const run = async (args: readonly string[], settings: Record<string, string> = {}) => {
    const child = spawn(args, settings)
    const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
    return { out, err, code: await child.exited }
  }
  return { directory, spawn, run, remove: () => rmSync(directory, { recursive: true, force: true }) }
}

/** Starts `serve` and waits for what it prints up to `until`. */
export async function serving(
  child: ReturnType<ReturnType<typeof alone>["spawn"]>,
  until: RegExp,
): Promise<{ readonly url: string; readonly printed: string }> {
  let printed = ""
  const decoder = new TextDecoder()
  for await (const chunk of child.stdout) {
    printed += decoder.decode(chunk, { stream: true })
    if (until.test(printed)) break
  }
  const url = /listens on (\S+)/.exec(printed)?.[1]
  if (url === undefined) throw new Error(`no start line in ${JSON.stringify(printed)}`)
  return { url, printed }
}

/** Asks a server on loopback; `fetch` is shut in tests. */
export function asked(
  url: string,
  { method = "GET", headers = {}, body }: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<{ readonly status: number; readonly body: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers }, answer => {
      const chunks: Buffer[] = []
      answer.on("data", chunk => chunks.push(chunk))
      answer.on("end", () => resolve({ status: answer.statusCode ?? 0, body: Buffer.concat(chunks).toString() }))
    })
    sent.on("error", reject)
    sent.end(body)
  })
}
