/** The lines of UTF-8 bytes as they come, without their ends. Calls `refuse`, which throws, for a longer one. */
export async function* dividedLines(
  parts: AsyncIterable<Uint8Array>,
  charactersMax: number,
  refuse: (says: string) => never,
): AsyncGenerator<string, undefined> {
  const decoder = new TextDecoder()
  // What came of a line that has not ended, so that no character is looked at twice.
  let open: string[] = []
  let openLength = 0
  for await (const part of parts) {
    const [end = "", ...lines] = decoder.decode(part, { stream: true }).split("\n")
    open.push(end)
    openLength += end.length
    if (openLength > charactersMax || lines.some(line => line.length > charactersMax))
      refuse(`has a line of more than ${charactersMax} characters`)
    const last = lines.pop()
    if (last === undefined) continue
    yield open.join("")
    yield* lines
    open = [last]
    openLength = last.length
  }
  const rest = open.join("") + decoder.decode()
  if (rest !== "") yield rest
}
