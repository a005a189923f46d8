import { expect, setDefaultTimeout, test } from "bun:test"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { PROGRAM } from "../../../bench/servers/product.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { startProgram } from "../../support/program.ts"

setDefaultTimeout(60_000)

// A file system of its own is root's to make.
const canMount = process.getuid?.() === 0 && Bun.which("unshare") !== null

test.skipIf(!canMount)(
  "whatever command finds the disk full says where, what the system says, and how much room is left",
  async () => {
    const directory = mkdtempSync(join(tmpdir(), "mailkind-full-disk-"))
    onTestEnd(() => rmSync(directory, { recursive: true, force: true }))
    const room = join(directory, "room")
    mkdirSync(room)
    writeFileSync(
      join(directory, "own.txt"),
      Array.from({ length: 500 }, (_, at) => `junk${at}.example.com\n`).join(""),
    )
    const settings = {
      PATH: process.env["PATH"],
      MAILKIND_DATA_DIR: join(room, "data"),
      MAILKIND_OUTSIDE: "off",
      MAILKIND_LISTS_SOURCES: `own=file://${directory}/own.txt`,
      MAILKIND_WORKERS: "2",
      MAILKIND_DNS_SERVERS: "off",
    }
    const program = PROGRAM.map(word => `'${word}'`).join(" ")
    const commands = {
      "lists update": /ENOSPC/,
      "account create jane@example.com": /The disk is full/,
      "restore ../backup": /The disk is full.*the copy needs up to \d+ bytes/,
      "block add example.com": /The disk is full/,
      "classify ../own.txt --offline --out results.csv": /there is no space left/,
      // There is room for the database, and not for the memory that workers share.
      "serve --port 0": /workers\.\S+: ENOSPC/,
    }
    const script = [
      `mount -t tmpfs -o size=2m tmpfs ${room} && cd ${room}`,
      `${program} account create first@example.com && ${program} backup ../backup`,
      "rm data/*.lock; head -c 2m /dev/zero > filler",
      ...Object.keys(commands).map(
        words =>
          `echo "$ ${words}" >&2; ${words.startsWith("serve") ? "truncate -s -200K filler;" : ""} ${program} ${words} >&2`,
      ),
    ].join("\n")
    const { err } = await startProgram(
      ["unshare", "--mount", "--propagation", "private", "sh", "-c", script],
      directory,
      settings,
    ).ended()
    for (const [words, says] of Object.entries(commands)) {
      const said = err.split("$ ").find(part => part.startsWith(words)) ?? ""
      expect([words, said]).toEqual([words, expect.stringMatching(says)])
      expect([words, said]).toEqual([words, expect.stringMatching(/0 MiB of 2 MiB are free on the disk of \S+\/room/)])
    }
  },
)
