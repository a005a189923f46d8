import { closeSync, existsSync, openSync, writeSync } from "node:fs"
import { join } from "node:path"

const SOURCE = join(import.meta.dir, "shifted-clock.c")
/** Two 64-bit numbers. */
const FILE_BYTES = 16

/** Whether the clocks of a program can be moved here: a C compiler makes the library that does it. */
export const CAN_SHIFT_CLOCKS: boolean = process.platform === "linux" && Bun.which("cc") !== null

/** The clocks of the programs that are started with its settings. All of them are moved at once. */
export class ShiftedClock implements Disposable {
  /** With these in its environment a program has these clocks. */
  readonly settings: Readonly<Record<string, string>>
  readonly #file: number
  #aheadS = 0
  #wallAheadS = 0

  constructor(directory: string) {
    const [library, file] = [join(directory, "shifted-clock.so"), join(directory, "clock-shift")]
    if (!existsSync(library)) {
      const compiled = Bun.spawnSync(["cc", "-O2", "-shared", "-fPIC", "-o", library, SOURCE, "-ldl"])
      if (!compiled.success) throw new Error(compiled.stderr.toString())
    }
    this.#file = openSync(file, "w")
    this.#write()
    this.settings = { LD_PRELOAD: library, CLOCK_SHIFT_FILE: file }
  }

  /** The time of these clocks. */
  get nowMs(): number {
    return Date.now() + (this.#aheadS + this.#wallAheadS) * 1000
  }

  /** So many seconds pass at once, for clocks and for timers. */
  pass(seconds: number): void {
    this.#aheadS += seconds
    this.#write()
  }

  /** Sets the wall clock alone so far ahead of the time that has passed: it jumps. */
  setWallAhead(seconds: number): void {
    this.#wallAheadS = seconds
    this.#write()
  }

  [Symbol.dispose](): void {
    closeSync(this.#file)
  }

  #write(): void {
    const numbers = new BigInt64Array([BigInt(this.#aheadS), BigInt(this.#wallAheadS)])
    writeSync(this.#file, new Uint8Array(numbers.buffer), 0, FILE_BYTES, 0)
  }
}
