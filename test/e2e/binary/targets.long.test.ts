import { expect, setDefaultTimeout, test } from "bun:test"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import manifest from "../../../package.json" with { type: "json" }
import { BUILD_TARGETS, type BuildTargetName, executableName } from "../../../src/system/build-targets.ts"
import { ROOT } from "../../architecture/source-files.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { startProgram } from "../../support/program.ts"

setDefaultTimeout(600_000)

const DIST = join(ROOT, "dist")

/** How the executables of each system begin: ELF, Mach-O of 64 bits, and the DOS header of Windows. */
const MAGIC = { linux: "7f454c46", darwin: "cffaedfe", windows: "4d5a" } as const

/** The machines in the headers of ELF and Mach-O files, by architecture: bytes 18 and 19, and 4 to 7. */
const MACHINES = {
  "linux-x64": "3e00",
  "linux-arm64": "b700",
  "darwin-x64": "07000001",
  "darwin-arm64": "0c000001",
} as const

async function headerOf(name: BuildTargetName): Promise<{ readonly magic: string; readonly machine: string }> {
  const bytes = Buffer.from(
    await Bun.file(join(DIST, executableName(manifest.version, name)))
      .slice(0, 20)
      .arrayBuffer(),
  )
  const isLinux = name.startsWith("linux")
  return { magic: bytes.toString("hex", 0, 4), machine: bytes.toString("hex", ...(isLinux ? [18, 20] : [4, 8])) }
}

test("`--target all` builds an executable for each machine, with its bill of materials and its digest", async () => {
  const directory = mkdtempSync(join(tmpdir(), "mailkind-targets-"))
  onTestEnd(() => rmSync(directory, { recursive: true, force: true }))
  const env = { PATH: process.env["PATH"], HOME: directory }
  const build = startProgram([process.execPath, "src/build.ts", "--target", "all"], ROOT, env)
  const { code, err } = await build.ended()
  expect([code, code === 0 ? "" : err]).toEqual([0, ""])
  const sums = (await Bun.file(join(DIST, "SHA256SUMS")).text()).trim().split("\n")
  const names = Object.keys(BUILD_TARGETS) as BuildTargetName[]
  expect(sums).toHaveLength(names.length)
  for (const [at, name] of names.entries()) {
    const file = join(DIST, executableName(manifest.version, name))
    const digest = new Bun.CryptoHasher("sha256").update(await Bun.file(file).bytes()).digest("hex")
    expect(sums[at]).toBe(`${digest}  ${executableName(manifest.version, name)}`)
    expect(JSON.parse(await Bun.file(`${file}.cdx.json`).text()).bomFormat).toBe("CycloneDX")
    const { magic, machine } = await headerOf(name)
    expect([name, Object.entries(MAGIC).find(([system]) => name.startsWith(system))?.[1]]).toEqual([
      name,
      name.startsWith("windows") ? magic.slice(0, 4) : magic,
    ] as never)
    const known = Object.entries(MACHINES).find(([prefix]) => name.startsWith(prefix))
    if (known !== undefined) expect([name, machine]).toEqual([name, known[1]])
    console.log(`${name}: ${(Bun.file(file).size / 1e6).toFixed(1)} MB`)
  }
  const own = join(DIST, executableName(manifest.version, "linux-x64"))
  if (process.platform === "linux" && process.arch === "x64") {
    const { out } = await startProgram([own, "version"], directory, env).ended()
    expect(out).toStartWith(manifest.version)
    const checked = await startProgram(
      [own, "check", "jane@mailinator.com", "--offline", "--json"],
      directory,
      env,
    ).ended()
    expect(JSON.parse(checked.out)).toMatchObject({ category: "disposable" })
  }
})
