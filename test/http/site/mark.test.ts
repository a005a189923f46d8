import { expect, test } from "bun:test"
import { inflateSync } from "node:zlib"
import { favicon } from "../../../src/http/site/mark.ts"

/** The pixels of an image of an icon as red, green, blue and opacity. */
function imageAt(file: Buffer, index: number) {
  const entry = 6 + 16 * index
  const [size, length, offset] = [file.readUInt8(entry), file.readUInt32LE(entry + 8), file.readUInt32LE(entry + 12)]
  const png = file.subarray(offset, offset + length)
  const dataAt = png.indexOf("IDAT")
  const rows = inflateSync(png.subarray(dataAt + 4, dataAt + 4 + png.readUInt32BE(dataAt - 4)))
  const pixel = (x: number, y: number) => [...rows.subarray(y * (size * 4 + 1) + 1 + x * 4).subarray(0, 4)]
  return { png, size, pixel, end: offset + length }
}

test("the favicon is an ICO file with a PNG image of each usual size, and nothing else", () => {
  const file = Buffer.from(favicon())
  expect([file.readUInt16LE(0), file.readUInt16LE(2), file.readUInt16LE(4)]).toEqual([0, 1, 3])
  const images = [0, 1, 2].map(index => imageAt(file, index))
  expect(images.map(({ size }) => size)).toEqual([16, 32, 48])
  for (const { png, size } of images) {
    expect(png.subarray(1, 4).toString()).toBe("PNG")
    expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([size, size])
  }
  expect(images.at(-1)?.end).toBe(file.length)
  expect(file.length).toBeLessThan(5_000)
})

test("the favicon shows the mark: transparent corners, a violet square, a white envelope and a green check", () => {
  const file = Buffer.from(favicon())
  const { pixel } = imageAt(file, 1)
  expect(pixel(0, 0)).toEqual([0, 0, 0, 0])
  expect(pixel(16, 2)).toEqual([0x4f, 0x46, 0xe5, 255])
  expect(pixel(16, 22)).toEqual([255, 255, 255, 255])
  expect(pixel(14, 18)).toEqual([0xa5, 0xf3, 0xc8, 255])
})
