import { expect, test } from "bun:test"
import { inflateSync } from "node:zlib"
import { FAVICON } from "../../../src/http/site/mark.ts"

/** An image of an icon: its size in the directory, its PNG file, its unpacked rows of pixels, and where it ends. */
function imageAt(file: Buffer, index: number) {
  const entry = 6 + 16 * index
  const [size, length, offset] = [file.readUInt8(entry), file.readUInt32LE(entry + 8), file.readUInt32LE(entry + 12)]
  const png = file.subarray(offset, offset + length)
  const dataAt = png.indexOf("IDAT")
  const rows = inflateSync(png.subarray(dataAt + 4, dataAt + 4 + png.readUInt32BE(dataAt - 4)))
  return { png, size, rows, end: offset + length }
}

test("the favicon is an ICO file with a PNG image of each usual size, and nothing else", () => {
  const file = Buffer.from(FAVICON)
  expect([file.readUInt16LE(0), file.readUInt16LE(2), file.readUInt16LE(4)]).toEqual([0, 1, 3])
  const images = [0, 1, 2].map(index => imageAt(file, index))
  expect(images.map(({ size }) => size)).toEqual([16, 32, 48])
  for (const { png, size, rows } of images) {
    expect(png.subarray(1, 4).toString()).toBe("PNG")
    expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([size, size])
    expect(rows.length).toBe(size * (1 + size * 4))
  }
  expect(images.at(-1)?.end).toBe(file.length)
  expect(file.length).toBeLessThan(5_000)
})
