import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { generateKeyPairSync } from "node:crypto"
import { copyFileSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import manifest from "../../../package.json" with { type: "json" }
import { release } from "../../../scripts/packages/release.ts"
import { ROOT } from "../../architecture/source-files.ts"
import { startProgram } from "../../support/program.ts"
import { build } from "./executable.ts"

setDefaultTimeout(300_000)

let own: Awaited<ReturnType<typeof released>>
beforeAll(async () => {
  await build()
  if (CAN_PACK) own = await released()
})
afterAll(() => {
  if (CAN_PACK) rmSync(own.folder, { recursive: true, force: true })
})

/** Elsewhere there is no `dpkg-deb`, or the executable is for another machine. */
const CAN_PACK = Bun.which("dpkg-deb") !== null && process.arch === "x64"

const EXECUTABLE = `mailkind-${manifest.version}-linux-x64`
const DEB = `mailkind_${manifest.version}_amd64.deb`

/** A folder with the executable of this machine as one for Linux, released with a key of its own. */
async function released() {
  const folder = mkdtempSync(join(tmpdir(), "mailkind-release-"))
  copyFileSync(join(ROOT, "dist/mailkind"), join(folder, EXECUTABLE))
  copyFileSync(join(ROOT, "dist/mailkind.cdx.json"), join(folder, `${EXECUTABLE}.cdx.json`))
  const { privateKey, publicKey } = generateKeyPairSync("ed25519")
  await release(folder, ["linux-x64"], privateKey)
  await Bun.write(join(folder, "key.pub"), publicKey.export({ type: "spki", format: "pem" }))
  const run = (...command: readonly string[]) =>
    startProgram([...command], folder, { PATH: process.env["PATH"], HOME: folder }).ended()
  return { folder, run, privateKey }
}

test.skipIf(!CAN_PACK)(
  "a release has a package for Debian that runs, with a unit, settings that stay, a manual page and completions",
  async () => {
    const { folder, run } = own
    const before = await Bun.file(join(folder, DEB)).bytes()
    expect(
      (await run("dpkg-deb", "--field", DEB, "Package", "Version", "Architecture")).out.trim().split("\n"),
    ).toEqual(["Package: mailkind", `Version: ${manifest.version}`, "Architecture: amd64"])
    expect((await run("dpkg-deb", "--extract", DEB, "installed")).code).toBe(0)
    expect((await run("dpkg-deb", "--control", DEB, "control")).code).toBe(0)
    expect((await run("./installed/usr/bin/mailkind", "version")).out).toStartWith(manifest.version)
    const unit = await Bun.file(join(folder, "installed/usr/lib/systemd/system/mailkind@.service")).text()
    expect(unit).toContain("ExecStart=/usr/bin/mailkind serve --replace\n")
    expect(unit).not.toContain("/usr/local")
    expect(await Bun.file(join(folder, "control/conffiles")).text()).toBe("/etc/mailkind/mailkind.env\n")
    const contents = (await run("dpkg-deb", "--contents", DEB)).out
    expect(contents).toMatch(/^-rw------- root\/root .* \.\/etc\/mailkind\/mailkind\.env$/m)
    for (const path of ["man/man1/mailkind.1.gz", "bash-completion/completions/mailkind", "doc/mailkind/copyright"])
      expect(contents).toContain(`./usr/share/${path}\n`)
    for (const script of ["postinst", "prerm"]) expect((await run("sh", "-n", `control/${script}`)).code).toBe(0)
    await release(folder, ["linux-x64"], own.privateKey)
    expect(Buffer.compare(await Bun.file(join(folder, DEB)).bytes(), before)).toBe(0)
  },
)

test.skipIf(!CAN_PACK || Bun.which("openssl") === null)(
  "the digests of a release are signed: a changed file or a changed digest is found with openssl and sha256sum",
  async () => {
    const { folder, run } = own
    const key = ["-pubin", "-inkey", "key.pub", "-rawin", "-in", "SHA256SUMS", "-sigfile", "SHA256SUMS.sig"]
    const isSigned = async () => (await run("openssl", "pkeyutl", "-verify", ...key)).code === 0
    const areRight = async () => (await run("sha256sum", "--check", "SHA256SUMS")).code === 0
    expect([await isSigned(), await areRight()]).toEqual([true, true])
    await Bun.write(join(folder, DEB), "another package")
    expect([await isSigned(), await areRight()]).toEqual([true, false])
    const digests = await Bun.file(join(folder, "SHA256SUMS")).text()
    const digest = new Bun.CryptoHasher("sha256").update("another package").digest("hex")
    await Bun.write(join(folder, "SHA256SUMS"), digests.replace(/^\w{64}(?= .*\.deb$)/m, digest))
    expect([await isSigned(), await areRight()]).toEqual([false, true])
  },
)
