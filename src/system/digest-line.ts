import { basename } from "node:path"

/** The line of `sha256sum` for a file. */
export async function digestLine(path: string): Promise<string> {
  const hasher = new Bun.CryptoHasher("sha256")
  for await (const chunk of Bun.file(path).stream()) hasher.update(chunk)
  return `${hasher.digest("hex")}  ${basename(path)}\n`
}
