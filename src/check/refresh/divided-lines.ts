/** The lines of UTF-8 bytes as they come, without their ends. Calls `refuse`, which throws, for a longer one. */
export async function* dividedLines(
  parts: AsyncIterable<Uint8Array>,
  charactersMax: number,
  refuse: (says: string) => never,
): AsyncGenerator<string, undefined> {
  const decoder = new TextDecoder()
  let rest = ""
  for await (const part of parts) {
    const lines = `${rest}${decoder.decode(part, { stream: true })}`.split("\n")
    rest = lines.pop() ?? ""
    if (rest.length > charactersMax) refuse(`has a line of more than ${charactersMax} characters`)
    yield* lines
  }
  rest += decoder.decode()
  if (rest !== "") yield rest
}
