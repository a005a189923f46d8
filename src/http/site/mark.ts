import { crc32, deflateSync } from "node:zlib"

/** The mark as an SVG image: an envelope whose flap is a check mark. */
export const MARK_SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#4f46e5"/><path d="M6.5 10.5h19v12h-19z" fill="none" stroke="#fff" stroke-width="2" stroke-linejoin="round"/><path d="M10 14.5l5 4.5 11-12" fill="none" stroke="#a5f3c8" stroke-width="3" stroke-linecap="round" stroke-linejoin="round"/></svg>'

/*
 * The same mark as an icon of the format ICO, drawn from the shapes of the SVG image, for programs that know no SVG:
 *
 *   header     reserved (2) · type 1 (2) · number of images (2)
 *   directory  for each image: width (1) · height (1) · colours, reserved (2) · planes (2) · bits a pixel (2) · length (4) · offset (4)
 *   images     a PNG file each
 */

const SIZES = [16, 32, 48] as const
const HEADER_BYTES = 6
const ENTRY_BYTES = 16

/** The mark as a file `favicon.ico`, with an image for each usual size. */
export function favicon(): Uint8Array<ArrayBuffer> {
  const images = SIZES.map(size => pngFile(size, drawMark(size)))
  const directory = Buffer.alloc(HEADER_BYTES + ENTRY_BYTES * images.length)
  directory.writeUInt16LE(1, 2)
  directory.writeUInt16LE(images.length, 4)
  let offset = directory.length
  for (const [index, image] of images.entries()) {
    const entry = HEADER_BYTES + ENTRY_BYTES * index
    const size = SIZES[index] ?? 0
    directory.writeUInt8(size, entry)
    directory.writeUInt8(size, entry + 1)
    directory.writeUInt16LE(1, entry + 4)
    directory.writeUInt16LE(32, entry + 6)
    directory.writeUInt32LE(image.length, entry + 8)
    directory.writeUInt32LE(offset, entry + 12)
    offset += image.length
  }
  return new Uint8Array(Buffer.concat([directory, ...images]))
}

type Point = readonly [x: number, y: number]
type Colour = readonly [red: number, green: number, blue: number]

/** The side of the square in which the shapes are given. */
const SIDE = 32
const CORNER = 8
const VIOLET: Colour = [0x4f, 0x46, 0xe5]

/** The lines of the mark, each with its width, from the lowest to the topmost. */
const LINES: readonly { readonly colour: Colour; readonly width: number; readonly points: readonly Point[] }[] = [
  {
    colour: [0xff, 0xff, 0xff],
    width: 2,
    points: [
      [6.5, 10.5],
      [25.5, 10.5],
      [25.5, 22.5],
      [6.5, 22.5],
      [6.5, 10.5],
    ],
  },
  {
    colour: [0xa5, 0xf3, 0xc8],
    width: 3,
    points: [
      [10, 14.5],
      [15, 19],
      [26, 7],
    ],
  },
]

/** Each pixel is the mean of so many samples in each direction. */
const SAMPLES = 4

/** The pixels of the mark as red, green, blue and opacity. */
function drawMark(size: number): Uint8Array {
  const pixels = new Uint8Array(size * size * 4)
  for (let y = 0; y < size; y++)
    for (let x = 0; x < size; x++) pixels.set(meanColour(x, y, SIDE / size), (y * size + x) * 4)
  return pixels
}

function meanColour(x: number, y: number, scale: number): readonly number[] {
  const colours: Colour[] = []
  for (let row = 0; row < SAMPLES; row++)
    for (let column = 0; column < SAMPLES; column++) {
      const colour = colourAt([(x + (column + 0.5) / SAMPLES) * scale, (y + (row + 0.5) / SAMPLES) * scale])
      if (colour !== null) colours.push(colour)
    }
  const mean = (channel: 0 | 1 | 2): number =>
    Math.round(colours.reduce((sum, colour) => sum + colour[channel], 0) / Math.max(1, colours.length))
  return [mean(0), mean(1), mean(2), Math.round((255 * colours.length) / SAMPLES ** 2)]
}

/** The colour of a point of the mark. Null: the point is outside the rounded square. */
function colourAt(point: Point): Colour | null {
  const [x, y] = point
  const nearest: Point = [clamp(x, CORNER, SIDE - CORNER), clamp(y, CORNER, SIDE - CORNER)]
  if (Math.hypot(x - nearest[0], y - nearest[1]) > CORNER) return null
  const line = LINES.findLast(({ points, width }) => isNear(point, points, width / 2))
  return line?.colour ?? VIOLET
}

function isNear(point: Point, points: readonly Point[], distance: number): boolean {
  for (let index = 1; index < points.length; index++)
    if (distanceTo(point, points[index - 1] ?? point, points[index] ?? point) <= distance) return true
  return false
}

/** The distance of a point from a straight line between two points. */
function distanceTo([x, y]: Point, [fromX, fromY]: Point, [toX, toY]: Point): number {
  const [width, height] = [toX - fromX, toY - fromY]
  const along = clamp(((x - fromX) * width + (y - fromY) * height) / (width ** 2 + height ** 2), 0, 1)
  return Math.hypot(x - fromX - along * width, y - fromY - along * height)
}

const clamp = (value: number, min: number, max: number): number => Math.min(max, Math.max(min, value))

/** A PNG file (RFC 2083) of a square of pixels with 8 bits for each of red, green, blue and opacity. */
function pngFile(size: number, pixels: Uint8Array): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(size, 0)
  header.writeUInt32BE(size, 4)
  header.set([8, 6], 8)
  const rows = Array.from({ length: size }, (_, y) =>
    Buffer.concat([NO_FILTER, pixels.subarray(y * size * 4, (y + 1) * size * 4)]),
  )
  return Buffer.concat([
    PNG_SIGNATURE,
    pngChunk("IHDR", header),
    pngChunk("IDAT", deflateSync(Buffer.concat(rows), { level: 9 })),
    pngChunk("IEND", Buffer.alloc(0)),
  ])
}

const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const NO_FILTER = Buffer.from([0])

function pngChunk(type: string, data: Buffer): Buffer {
  const content = Buffer.concat([Buffer.from(type, "latin1"), data])
  const frame = Buffer.alloc(content.length + 8)
  frame.writeUInt32BE(data.length, 0)
  content.copy(frame, 4)
  frame.writeUInt32BE(crc32(content), content.length + 4)
  return frame
}
