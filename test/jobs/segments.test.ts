import { expect, test } from "bun:test"
import { mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createJobFiles, type JobFile } from "../../src/jobs/job-files.ts"
import { DamagedSegment, readSegments, type SegmentFile, writeSegment } from "../../src/jobs/segments.ts"
import { random } from "../customers/temp-store.ts"
import { onTestEnd } from "../support/on-test-end.ts"

const TEXTS = ["jane@example.com\n", "", "a longer text of several words\n".repeat(40)]

async function written() {
  const folder = mkdtempSync(join(tmpdir(), "mailkind-segments-"))
  onTestEnd(() => rmSync(folder, { recursive: true, force: true }))
  const file = await createJobFiles(folder).create("job_1.list")
  onTestEnd(() => file.close())
  const target: SegmentFile = { file, name: "job_1.list", key: random(32) }
  const ends: number[] = []
  let end = 0
  for (const text of TEXTS) {
    end = await writeSegment(target, end, { meta: Buffer.from("meta"), text: Buffer.from(text) }, random)
    ends.push(end)
  }
  return { folder, target, ends, end }
}

async function textsOf(target: SegmentFile, from: number, to: number): Promise<string[]> {
  const texts: string[] = []
  for await (const { meta, text } of readSegments(target, from, to)) {
    expect(Buffer.from(meta).toString()).toBe("meta")
    texts.push(Buffer.from(text).toString())
  }
  return texts
}

const damageOf = (target: SegmentFile, from: number, to: number): Promise<unknown> =>
  textsOf(target, from, to).catch((error: unknown) => error)

test("segments are read as they were written, from any of them on, and the file shows nothing of them", async () => {
  const { folder, target, ends, end } = await written()
  expect(await textsOf(target, 0, end)).toEqual(TEXTS)
  expect(await textsOf(target, ends[0] ?? 0, end)).toEqual(TEXTS.slice(1))
  expect(Buffer.from(await target.file.read(0, end)).toString("latin1")).not.toContain("longer")
  expect(statSync(join(folder, "job_1.list")).mode & 0o777).toBe(0o600)
})

test("a changed bit anywhere in a file is noticed", async () => {
  const { target, end } = await written()
  for (let at = 0; at < end; at += 7) {
    const flipped: JobFile = {
      ...target.file,
      read: async (from, length) => {
        const bytes = await target.file.read(from, length)
        if (at >= from && at < from + bytes.length) bytes[at - from] = (bytes[at - from] ?? 0) ^ 1
        return bytes
      },
    }
    expect(await damageOf({ ...target, file: flipped }, 0, end)).toBeInstanceOf(DamagedSegment)
  }
})

test("a segment at another place, in another file or with another key cannot be read, and neither can one that is cut off", async () => {
  const { target, ends, end } = await written()
  const [first = 0] = ends
  const moved: JobFile = { ...target.file, read: (at, length) => target.file.read(at + first, length) }
  expect(await damageOf({ ...target, file: moved }, 0, end - first)).toBeInstanceOf(DamagedSegment)
  expect(await damageOf({ ...target, name: "job_2.list" }, 0, end)).toBeInstanceOf(DamagedSegment)
  expect(await damageOf({ ...target, key: random(32) }, 0, end)).toBeInstanceOf(DamagedSegment)
  await target.file.truncate(end - 1)
  for (const to of [end, end - 1]) expect(await damageOf(target, 0, to)).toBeInstanceOf(DamagedSegment)
})
